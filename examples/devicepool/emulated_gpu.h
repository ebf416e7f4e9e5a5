#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backend.h"

namespace devicepool {

// Memory with a device's manners. Each block is one memfd mapped twice: the address that Alloc hands out is PROT_NONE,
// so a host that dereferences it dies of a real SIGSEGV (SEGV_ACCERR); the second, writable mapping is known to the
// copies and kernels of this class only.
class EmulatedGpu : public Backend {
  public:
    explicit EmulatedGpu(int index) : Backend(DeviceType::kGpu, index) {}

    void* Alloc(std::size_t asked) override;
    void Free(void* address) override;
    void CopyToDevice(void* device, const void* host, std::size_t bytes) override;
    void CopyToHost(void* host, const void* device, std::size_t bytes) override;
    void Fill(void* device, unsigned char value, std::size_t bytes) override;
    void Launch(const Kernel& kernel) override;
    bool Owns(const void* address) const override;

  private:
    struct Mapping {
        char* kernel_view;
        std::size_t bytes;
    };

    // All three need the mutex held.
    void* KernelView(const void* address) const;  // null for an address that is not ours
    void Synchronize();
    void Run(Kernel kernel) const;

    mutable std::mutex mutex_;
    std::map<const char*, Mapping> blocks_;  // by the address handed out
    std::vector<Kernel> stream_;             // launched and not yet run, oldest first
};

}  // namespace devicepool
