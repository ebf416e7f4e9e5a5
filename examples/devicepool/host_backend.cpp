#include "host_backend.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

#include "switches.h"

namespace devicepool {
namespace {

constexpr std::size_t kLine = 64;

std::size_t RoundUp(std::size_t bytes, std::size_t step) {
    if (bytes > std::numeric_limits<std::size_t>::max() - step) throw std::bad_alloc();
    return (bytes + step - 1) / step * step;
}

}  // namespace

void* HostBackend::Alloc(std::size_t bytes) {
    const Switches& switches = GetSwitches();
    const std::size_t padded = WithPad(bytes);
    Span span{padded, nullptr, 0};
    const bool fenced = switches.guard || switches.quarantine;
    void* address = fenced ? AllocPages(padded, span) : std::aligned_alloc(kLine, RoundUp(padded, kLine));
    if (address == nullptr) throw std::bad_alloc();
    std::memset(static_cast<char*>(address) + bytes, 0, padded - bytes);
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<const char*>(address)] = span;
    return address;
}

// The block's last line ends where its last page does, so an access past the end faults; what alignment leaves of that
// line, 63 bytes at most, is unseen. Without the guard the block starts where its first page does.
void* HostBackend::AllocPages(std::size_t bytes, Span& span) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = RoundUp(bytes, page);
    if (inner > std::numeric_limits<std::size_t>::max() - 2 * page) throw std::bad_alloc();
    span.mapped = inner + 2 * page;
    void* pages = mmap(nullptr, span.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    span.pages = static_cast<char*>(pages);
    if (mprotect(span.pages + page, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(pages, span.mapped);
        throw std::bad_alloc();
    }
    return span.pages + page + (GetSwitches().guard ? inner - RoundUp(bytes, kLine) : 0);
}

void HostBackend::Free(void* address) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(static_cast<const char*>(address));
    if (block == blocks_.end()) return;
    if (block->second.pages != nullptr) {
        munmap(block->second.pages, block->second.mapped);
    } else {
        std::free(address);
    }
    blocks_.erase(block);
}

// It stays ours, and nobody may touch it any more: a use after release is a SIGSEGV at an address of the block.
void HostBackend::Quarantine(void* address) {
    const std::lock_guard lock(mutex_);
    const Span& span = blocks_.at(static_cast<const char*>(address));
    if (mprotect(span.pages, span.mapped, PROT_NONE) == 0) return;
    std::perror("[devicepool] quarantine");  // a switch that is set and does nothing would be taken for evidence
    std::abort();
}

// The loud direction of the fault ends in this memcpy: the host stores through a device address.
void HostBackend::CopyToDevice(void* device, const void* host, std::size_t bytes) { std::memcpy(device, host, bytes); }

void HostBackend::CopyToHost(void* host, const void* device, std::size_t bytes) { std::memcpy(host, device, bytes); }

void HostBackend::Fill(void* device, unsigned char value, std::size_t bytes) { std::memset(device, value, bytes); }

bool HostBackend::Owns(const void* address) const {
    const auto* byte = static_cast<const char*>(address);
    const std::lock_guard lock(mutex_);
    const auto next = blocks_.upper_bound(byte);
    return next != blocks_.begin() && byte < std::prev(next)->first + std::prev(next)->second.bytes;
}

Backend& Host() {
    static auto* host = new HostBackend(0);
    return *host;
}

}  // namespace devicepool
