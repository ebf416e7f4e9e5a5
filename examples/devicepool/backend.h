// A device as the pool sees it: where memory comes from, and who may touch it.
#pragma once

#include <cstddef>

#include "kernel.h"

namespace devicepool {

enum class DeviceType : unsigned char { kHost, kGpu };

class Backend {
  public:
    Backend(DeviceType type, int index) : type_(type), index_(index) {}
    virtual ~Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    virtual void* Alloc(std::size_t bytes) = 0;  // with the pad behind it, zeroed; throws std::bad_alloc
    virtual void Free(void* address) = 0;
    virtual void Quarantine(void*) {}              // instead of Free: the address stays taken; waits for nothing
    virtual void CopyToDevice(void* device, const void* host, std::size_t bytes) = 0;
    virtual void CopyToHost(void* host, const void* device, std::size_t bytes) = 0;
    virtual void Fill(void* device, unsigned char value, std::size_t bytes) = 0;
    virtual void Launch(const Kernel& kernel) = 0;    // may return before the kernel has run; copies wait for it
    virtual bool Owns(const void* address) const = 0;  // also for addresses inside a block

    DeviceType type() const { return type_; }
    int index() const { return index_; }

  private:
    DeviceType type_;
    int index_;
};

// The two devices of the example. Neither is ever destroyed: buffers may go back to a pool while the process exits.
Backend& Host();
Backend& Gpu();

}  // namespace devicepool
