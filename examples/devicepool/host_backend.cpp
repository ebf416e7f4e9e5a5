#include "host_backend.h"

#include <cstdlib>
#include <limits>
#include <new>

namespace devicepool {

void* HostBackend::Alloc(std::size_t bytes) {
    constexpr std::size_t kLine = 64;
    if (bytes > std::numeric_limits<std::size_t>::max() - kLine) throw std::bad_alloc();
    void* address = std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
    if (address == nullptr) throw std::bad_alloc();
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<const char*>(address)] = bytes;
    return address;
}

void HostBackend::Free(void* address) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(static_cast<const char*>(address));
    std::free(address);
}

// The loud direction of the fault ends in this memcpy: the host stores through a device address.
void HostBackend::CopyToDevice(void* device, const void* host, std::size_t bytes) { std::memcpy(device, host, bytes); }

void HostBackend::CopyToHost(void* host, const void* device, std::size_t bytes) { std::memcpy(host, device, bytes); }

void HostBackend::Fill(void* device, unsigned char value, std::size_t bytes) { std::memset(device, value, bytes); }

bool HostBackend::Owns(const void* address) const {
    const auto* byte = static_cast<const char*>(address);
    const std::lock_guard lock(mutex_);
    const auto next = blocks_.upper_bound(byte);
    return next != blocks_.begin() && byte < std::prev(next)->first + std::prev(next)->second;
}

Backend& Host() {
    static auto* host = new HostBackend(0);
    return *host;
}

}  // namespace devicepool
