// The scratch pool of the field cases and of the faults (../faults): in one file, over the memory of the host and of a
// device that the host cannot look into. All that happens is in a fixed order. Switches are the variables FIELD_BYPASS,
// _EXACT, _PER_CASE, _SERIAL, _QUARANTINE (each `1`) and _POISON (a byte); FIELD_STATS=1 prints the counters.
// What is odd about a pool, and so about what its switches do, are its habits.
#pragma once

#include "zoo.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>

namespace field {

struct Switches {
    bool bypass = zoo::flag("FIELD_BYPASS");          // every block comes from the system, and goes back there
    bool exact = zoo::flag("FIELD_EXACT");            // a class for each size
    bool per_case = zoo::flag("FIELD_PER_CASE");      // what is cached is given back before each test case
    bool serial = zoo::flag("FIELD_SERIAL");          // every launch waits
    bool quarantine = zoo::flag("FIELD_QUARANTINE");  // what is released is neither handed out nor given back
    long poison = zoo::number("FIELD_POISON", -1);    // the byte that fills a block
};
inline const Switches switched;

// Kernels that were launched, and have not run yet: the device is as late as it can be.
class Launches {
  public:
    void add(std::function<void()> kernel) {
        waiting_.push_back(std::move(kernel));
        if (switched.serial) wait();
    }
    void wait() {
        while (!waiting_.empty()) {
            const std::function<void()> kernel = std::move(waiting_.front());
            waiting_.pop_front();
            kernel();
        }
    }

  private:
    std::deque<std::function<void()>> waiting_;
};
inline Launches launches;

struct Tally {
    long hits = 0;    // served from the free list
    long misses = 0;  // served by the system
};
inline Tally tally;

enum class Where { host, device };
enum class Leaves { unmapped, unreadable, kept };      // what becomes of a block that the system gets back
enum class Filled { at_hand_out, at_release, launched };  // when FIELD_POISON fills; `launched`: when the device gets to it

struct Habits {
    bool blind = false;              // one free list for host and device
    bool waits = true;               // giving a block back to the system waits for the device
    Leaves leaves = Leaves::unmapped;
    Filled filled = Filled::at_hand_out;
    std::size_t exact_to = 1;        // FIELD_EXACT still rounds to a multiple of this
    std::size_t tail = 0;            // bytes behind each block, which belong to it and are never filled
    std::size_t limit = SIZE_MAX;    // of all that the pool holds
};

inline char* map_memory(std::size_t bytes, int access) {
    void* const mapped = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    return static_cast<char*>(mapped);
}

class Pool {
  public:
    explicit Pool(const Habits& habits = {}) : habits_(habits) { all().push_back(this); }

    void* take(std::size_t bytes, Where where = Where::host) {
        const std::size_t room = room_for(bytes);
        std::vector<void*>& cached = cached_[{habits_.blind ? Where::host : where, room}];
        void* block = nullptr;
        if (cached.empty()) {
            block = from_system(room, where);
            ++tally.misses;
        } else {
            block = cached.back();
            cached.pop_back();
            ++tally.hits;
        }
        if (habits_.filled != Filled::at_release) fill(blocks_.at(block));
        return block;
    }

    void give(void* block) {
        const auto found = blocks_.find(block);
        if (found == blocks_.end()) return;
        if (habits_.filled == Filled::at_release) fill(found->second);
        if (switched.quarantine) return;
        if (switched.bypass || found->second.made_in != case_) return to_system(block);
        cached_[{habits_.blind ? Where::host : found->second.where, found->second.room}].push_back(block);
    }

    // Where a kernel finds the block. For the host's own blocks it is the address itself.
    char* view(void* block) { return blocks_.at(block).view; }

    static std::vector<Pool*>& all() {
        static std::vector<Pool*> pools;
        return pools;
    }

    void start_case() {
        if (!switched.per_case) return;
        ++case_;
        for (auto& [key, cached] : std::exchange(cached_, {})) {
            for (void* const block : cached) to_system(block);
        }
    }

  private:
    struct Block {
        Where where;
        std::size_t room;
        char* view;
        long made_in;  // the case, where each has a pool of its own
    };

    std::size_t room_for(std::size_t bytes) const {
        if (switched.exact) return (bytes + habits_.exact_to - 1) / habits_.exact_to * habits_.exact_to;
        std::size_t room = 256;
        while (room < bytes) room *= 2;
        return room;
    }

    void* from_system(std::size_t room, Where where) {
        if (room > habits_.limit - held_) {
            throw std::runtime_error("out of memory: tried to allocate " + std::to_string(room) + " bytes");
        }
        held_ += room;
        char* const view = map_memory(room + habits_.tail, PROT_READ | PROT_WRITE);
        void* const block = where == Where::host ? view : map_memory(room, PROT_NONE);
        blocks_[block] = {where, room, view, case_};
        return block;
    }

    void to_system(void* block) {
        const auto found = blocks_.find(block);
        if (found == blocks_.end()) return;
        if (habits_.waits) launches.wait();
        const Block gone = found->second;
        held_ -= gone.room;
        if (habits_.leaves == Leaves::kept) return;
        blocks_.erase(found);
        if (habits_.leaves == Leaves::unreadable) {
            mprotect(gone.view, gone.room + habits_.tail, PROT_NONE);
            return;
        }
        munmap(gone.view, gone.room + habits_.tail);
        if (gone.where == Where::device) munmap(block, gone.room);
    }

    void fill(const Block& block) {
        if (switched.poison < 0) return;
        const auto write = [block] { std::memset(block.view, static_cast<int>(switched.poison), block.room); };
        if (habits_.filled == Filled::launched) {
            launches.add(write);
        } else {
            write();
        }
    }

    Habits habits_;
    std::map<std::pair<Where, std::size_t>, std::vector<void*>> cached_;
    std::map<void*, Block> blocks_;
    std::size_t held_ = 0;
    long case_ = 0;
};

struct Listener : doctest::IReporter {
    explicit Listener(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData&) override {
        for (Pool* const pool : Pool::all()) pool->start_case();
    }
    void test_run_end(const doctest::TestRunStats&) override {
        if (zoo::flag("FIELD_STATS")) std::fprintf(stderr, "[field pool] hits=%ld misses=%ld\n", tally.hits, tally.misses);
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("field_pools", 1, Listener);

// Scratch of `count` values of type T, as kernels see it. Volatile, as it is used wrongly on purpose: the compiler must
// not reason about what is there.
template <typename T>
class Scratch {
  public:
    Scratch(Pool& pool, std::size_t count, Where where = Where::host)
        : pool_(pool), block_(pool.take(count * sizeof(T), where)) {}
    ~Scratch() { pool_.give(block_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void* block() const { return block_; }
    volatile T* data() const { return reinterpret_cast<T*>(pool_.view(block_)); }
    volatile T& operator[](std::size_t i) const { return data()[i]; }

  private:
    Pool& pool_;
    void* block_;
};

template <typename T>
void set_all(volatile T* values, std::size_t count, T value) {
    for (std::size_t i = 0; i < count; ++i) values[i] = value;
}

template <typename T>
T sum_of(const volatile T* values, std::size_t count) {
    T sum{};
    for (std::size_t i = 0; i < count; ++i) sum += values[i];
    return sum;
}

}  // namespace field
