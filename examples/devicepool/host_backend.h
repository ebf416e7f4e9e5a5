#pragma once

#include <map>
#include <mutex>

#include "backend.h"

namespace devicepool {

// Ordinary memory, aligned to a cache line.
class HostBackend : public Backend {
  public:
    explicit HostBackend(int index) : Backend(DeviceType::kHost, index) {}

    void* Alloc(std::size_t bytes) override;
    void Free(void* address) override;
    void CopyToDevice(void* device, const void* host, std::size_t bytes) override;
    void CopyToHost(void* host, const void* device, std::size_t bytes) override;
    void Fill(void* device, unsigned char value, std::size_t bytes) override;
    void Launch(const Kernel& kernel) override { RunOnHost(kernel); }
    bool Owns(const void* address) const override;

  private:
    mutable std::mutex mutex_;
    std::map<const char*, std::size_t> blocks_;
};

}  // namespace devicepool
