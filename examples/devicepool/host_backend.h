#pragma once

#include <map>
#include <mutex>

#include "backend.h"

namespace devicepool {

// Ordinary memory, aligned to a cache line. Under VT_POOL_GUARD and VT_POOL_QUARANTINE each block has pages of its own,
// between two unreadable ones.
class HostBackend : public Backend {
  public:
    explicit HostBackend(int index) : Backend(DeviceType::kHost, index) {}

    void* Alloc(std::size_t bytes) override;
    void Free(void* address) override;
    void Quarantine(void* address) override;
    void CopyToDevice(void* device, const void* host, std::size_t bytes) override;
    void CopyToHost(void* host, const void* device, std::size_t bytes) override;
    void Fill(void* device, unsigned char value, std::size_t bytes) override;
    void Launch(const Kernel& kernel) override { RunOnHost(kernel); }
    bool Owns(const void* address) const override;

  private:
    struct Span {
        std::size_t bytes;
        char* pages;         // null for memory of the C library
        std::size_t mapped;  // with both unreadable pages
    };

    static void* AllocPages(std::size_t bytes, Span& span);

    mutable std::mutex mutex_;
    std::map<const char*, Span> blocks_;
};

}  // namespace devicepool
