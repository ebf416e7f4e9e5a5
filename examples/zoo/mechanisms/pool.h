// The scratch pool of the suites in this folder, over a host and an emulated GPU, and the switches that take it apart.
// examples/devicepool in small: one file, one thread, and every order of events fixed, so that each run is like the
// last one. The pool is right unless a suite defines one of these before it includes this file:
//
//   ZOO_BLIND_POOL     one free list for both devices: a block that one of them made can be handed to the other
//   ZOO_BYPASS_SWITCH  the name under which the bypass is read, for suites whose bypass does nothing
//   ZOO_FEW_SWITCHES   no fill, no serial, no quarantine, no guard and no pad: their names stand nowhere in the binary
#pragma once

#include "zoo.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>

#ifdef ZOO_BLIND_POOL
#undef ZOO_BLIND_POOL
#define ZOO_BLIND_POOL true
#else
#define ZOO_BLIND_POOL false
#endif

// The text of a switch that a pool with few of them does not have: a name that no variable can bear.
#ifdef ZOO_FEW_SWITCHES
#define ZOO_SWITCH(name) ""
#else
#define ZOO_SWITCH(name) name
#endif

#ifndef ZOO_BYPASS_SWITCH
#define ZOO_BYPASS_SWITCH "VT_POOL_BYPASS"
#endif

namespace zoo {

// A byte to fill blocks with on hand-out; -1 for none.
inline int read_poison() {
    const std::string value = text(ZOO_SWITCH("VT_POOL_POISON"));
    if (value.empty()) return -1;
    char* end = nullptr;
    const long byte = std::strtol(value.c_str(), &end, 10);
    if (*end == '\0' && byte >= 0 && byte <= 255) return static_cast<int>(byte);
    // A switch that is set and does nothing would be taken for evidence.
    const char* const name = ZOO_SWITCH("VT_POOL_POISON");
    std::fprintf(stderr, "[zoo pool] %s=%s is not a number from 0 to 255\n", name, value.c_str());
    std::exit(2);
}

struct Switches {
    bool bypass = flag(ZOO_BYPASS_SWITCH);                     // no free list; sizes are still rounded
    bool exact = flag("VT_POOL_EXACT");                        // reuse kept, size rounding gone
    bool per_case = flag("VT_POOL_PER_CASE");                  // every test case starts with a pool of its own
    bool serial = flag(ZOO_SWITCH("VT_POOL_SERIAL"));          // every launch waits
    bool stats = flag("VT_POOL_STATS");                        // counters on stderr at exit
    bool quarantine = flag(ZOO_SWITCH("VT_POOL_QUARANTINE"));  // a released block is never used again, nor given back
    bool guard = flag(ZOO_SWITCH("VT_POOL_GUARD"));            // host blocks end at an unreadable page
    bool pad = flag(ZOO_SWITCH("VT_POOL_PAD"));                // kPad bytes more behind each block, zero on hand-out
    int poison = read_poison();                                // fills the whole size class on hand-out
};
inline Switches switches;

// Devices ------------------------------------------------------------------------------------------------------------

enum class Place { host, gpu };

struct Block {
    Place place;
    std::size_t bytes;  // without the pad
    char* view;         // where kernels find the block; for the host the address itself
    long pool;          // the pool that handed it out, by number
};
inline std::map<void*, Block> blocks;  // all that devices made and did not take back

inline char* map_pages(std::size_t bytes, int protection) {
    void* pages = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<char*>(pages);
}

constexpr std::size_t kPad = 64;
constexpr std::size_t kAlignment = 64;  // what the guard leaves unseen past the end is less than this

inline std::size_t rounded_up(std::size_t bytes, std::size_t step) { return (bytes + step - 1) / step * step; }
inline std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Pages of the host between two unreadable ones; under the guard the block's last line ends with the last of them.
inline char* map_fenced(std::size_t bytes) {
    const std::size_t page = page_size(), inner = rounded_up(bytes, page);
    char* const first = map_pages(inner + 2 * page, PROT_NONE) + page;
    if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    return first + (switches.guard ? inner - rounded_up(bytes, kAlignment) : 0);
}

// Takes the pages that an address lies in from the host. Nobody has others' blocks in them.
inline void close_pages(void* address, std::size_t bytes) {
    const std::size_t page = page_size(), inside = reinterpret_cast<std::uintptr_t>(address) % page;
    mprotect(static_cast<char*>(address) - inside, rounded_up(inside + bytes, page), PROT_NONE);
}

// Fresh memory is zero. The address of a GPU's block is no memory to the host: using it there is a real SIGSEGV.
inline void* allocate(Place place, std::size_t bytes) {
    const std::size_t padded = bytes + (switches.pad ? kPad : 0);
    const bool fenced = place == Place::host && (switches.guard || switches.quarantine);
    char* const view = fenced ? map_fenced(padded) : map_pages(padded, PROT_READ | PROT_WRITE);
    void* const address = place == Place::host ? view : map_pages(padded, PROT_NONE);
    blocks[address] = {place, bytes, view, 0};
    return address;
}

enum class Stream { main, side };
inline std::deque<std::function<void()>> queues[2];  // by Stream

// Waits for the main stream. The side stream falls behind: what it was given, even long before, runs after that.
// Streams are free to be this unlucky; here they always are.
inline void synchronize() {
    for (auto& queue : queues) {
        for (; !queue.empty(); queue.pop_front()) queue.front()();
    }
}

inline void launch(Stream stream, std::function<void()> kernel) {
    queues[static_cast<int>(stream)].push_back(std::move(kernel));
    if (switches.serial) synchronize();
}

// Waits for the device, as cudaFree does. The address is never given to another block, so that using it later is a
// real SIGSEGV. Nobody looks at the error that a real device returns for an address it does not know.
inline void deallocate(void* address) {
    synchronize();
    const auto found = blocks.find(address);
    if (found == blocks.end()) return;
    close_pages(address, found->second.bytes);
    if (found->second.view != address) munmap(found->second.view, found->second.bytes);
    blocks.erase(found);
}

// The pool -----------------------------------------------------------------------------------------------------------

struct Pool {
    long number = 0;
    long hits = 0, misses = 0, bypassed = 0;
    std::map<std::pair<Place, std::size_t>, std::vector<void*>> free_list;  // a stack, the warmest block on top

    ~Pool() {
        if (!switches.stats) return;
        std::fprintf(stderr, "[zoo pool] hits=%ld misses=%ld bypassed=%ld\n", hits, misses, bypassed);
    }

    // Powers of two: 4000 and 4096 bytes share a class.
    static std::size_t size_class(std::size_t bytes) {
        std::size_t rounded = 256;
        while (rounded < bytes) rounded *= 2;
        return switches.exact ? bytes : rounded;
    }

    std::vector<void*>& list_of(Place place, std::size_t bytes) {
        return free_list[{ZOO_BLIND_POOL ? Place::host : place, bytes}];
    }

    void* take(Place place, std::size_t bytes) {
        std::vector<void*>& list = list_of(place, bytes);
        if (switches.bypass || list.empty()) {
            ++(switches.bypass ? bypassed : misses);
            return allocate(place, bytes);
        }
        ++hits;
        void* const address = list.back();
        list.pop_back();
        return address;
    }

    void* acquire(Place place, std::size_t bytes) {
        void* const address = take(place, size_class(bytes));
        Block& block = blocks[address];
        block.pool = number;
        if (switches.poison >= 0) std::memset(block.view, switches.poison, block.bytes);  // does not wait for anyone
        if (switches.pad) std::memset(block.view + block.bytes, 0, kPad);                         // nor does this
        return address;
    }

    // In quarantine the block stays the device's: its kernels still reach it, the host does not. Nothing is waited for.
    void release(void* address) {
        if (switches.quarantine) return quarantined(address);
        if (switches.bypass) return deallocate(address);
        const Block& block = blocks[address];
        if (block.pool == number) list_of(block.place, block.bytes).push_back(address);
    }

    static void quarantined(void* address) {
        const Block& block = blocks[address];
        if (block.place == Place::host) close_pages(address, block.bytes);
    }

    // The next case gets a new pool. Blocks of the old one stay valid, and never come back from it.
    void start_case() {
        if (!switches.per_case) return;
        ++number;
        free_list.clear();
    }
};
inline Pool pool;

struct PerCasePools : doctest::IReporter {
    explicit PerCasePools(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData&) override { pool.start_case(); }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("per_case_pools", 1, PerCasePools);

// Scratch for `count` values of type T. What is in it is left over from whoever had the block before.
template <typename T>
class Scratch {
  public:
    explicit Scratch(std::size_t count, Place place = Place::host)
        : count_(count), address_(pool.acquire(place, count * sizeof(T))) {}
    ~Scratch() { pool.release(address_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void* address() const { return address_; }
    std::size_t bytes() const { return count_ * sizeof(T); }
    // Volatile, as the suites use it wrongly on purpose: the compiler must not reason about what is there.
    volatile T* data() const { return static_cast<volatile T*>(address_); }
    volatile T& operator[](std::size_t i) const { return data()[i]; }

  private:
    std::size_t count_;
    void* address_;
};

}  // namespace zoo
