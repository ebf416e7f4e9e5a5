// A caching pool of scratch memory: device allocations synchronise the whole device, so blocks are kept and reused.
//
// device_pool.cpp builds twice. Blind (DEVICEPOOL_KEYED=0): one free list for all devices, so that a block that one
// device made can be handed to a buffer of another. Keyed (=1): the device is part of the pool's identity.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "backend.h"

namespace devicepool {

// The pool was used wrongly. An exception rather than an assert, which would vanish in release builds.
class PoolError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

// The size that is really allocated: the 5 leading bits of `bytes`, rounded up, so 4000 and 4096 share a class.
std::size_t SizeClass(std::size_t bytes);

// How many free bytes a pool of this device type keeps before it gives blocks back to the device.
std::size_t ResidencyCap(DeviceType type);

class DevicePool {
  public:
    explicit DevicePool(Backend& backend);
    ~DevicePool();  // every block must have come back
    DevicePool(const DevicePool&) = delete;
    DevicePool& operator=(const DevicePool&) = delete;

    void* Acquire(Backend& backend, std::size_t bytes);
    void Release(Backend& backend, void* address);

    // A buffer that outlives the decode calls and only ever grows. It belongs to the pool; do not release it.
    void* DecodeInput(Backend& backend, std::size_t bytes);

    // Gives the free blocks back to the device. Blocks in use stay valid.
    void Drain(Backend& backend);

    bool Serves(const Backend& backend) const { return backend_ == nullptr || backend_ == &backend; }
    std::size_t free_bytes() const;

  private:
    struct Block {
        void* address;
        Backend* maker;  // who frees it
        std::size_t bytes;
    };

    void Verify(const Backend& backend) const;
    static Block Allocate(Backend& backend, std::size_t bytes);
    static void Prepare(const Block& block);   // the fill and the pad of a block that is handed out
    static void GiveBack(const Block& block);  // never to the free list
    bool TakeFree(std::size_t bytes, Block& block);
    void FreeAll();

    Backend* const backend_;  // bound at construction; null in the blind build: any device
    const std::size_t cap_;
    mutable std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<Block>> free_;  // by size class; a stack, the warmest block on top
    std::size_t free_bytes_ = 0;
    std::unordered_map<const void*, Block> in_use_;
    Block decode_input_{};
};

// The pool that serves `backend` on this thread: the innermost active scope's, else the device's main pool.
DevicePool& Pool(Backend& backend);

// A second pool of the device, for work that must not trade blocks with the main one. Used through a scope.
DevicePool& AuxPool(Backend& backend);

// VT_POOL_PER_CASE: retires all pools; the next call of Pool() makes a new one. Not inside a scope.
void StartCase();

// While it lives, Pool() answers `pool` on this thread for the devices that `pool` serves.
class ActivePoolScope {
  public:
    explicit ActivePoolScope(DevicePool& pool);
    ~ActivePoolScope();
    ActivePoolScope(const ActivePoolScope&) = delete;
    ActivePoolScope& operator=(const ActivePoolScope&) = delete;

  private:
    friend DevicePool& Pool(Backend& backend);
    DevicePool& pool_;
    ActivePoolScope* const outer_;
};

// A scratch buffer. It goes back to the pool that it came from, whatever scope is active by then.
class DBuf {
  public:
    DBuf(Backend& backend, std::size_t bytes);
    ~DBuf();
    DBuf(const DBuf&) = delete;
    DBuf& operator=(const DBuf&) = delete;

    void* data() const { return address_; }

    // Hands the block over to shared owners; the last of them returns it. The buffer is empty afterwards.
    std::shared_ptr<void> ReleaseShared();

  private:
    Backend& backend_;
    DevicePool& pool_;
    void* address_;
};

}  // namespace devicepool
