// Faults of what a pool hands out, and to whom. The cases of a fault begin with its name.
#include "../field/pool.h"

using field::Scratch;
using field::Where;

// twice: a block is given back twice, and the next two owners share it.
//   red: baseline, exact, poison-0, serial. green: bypass (the second time is refused), per-case, poison-n, isolate.
static field::Pool lists;
TEST_CASE("twice: gives up early") {
    void* const block = lists.take(4000);
    CHECK(block != nullptr);
    lists.give(block);
    lists.give(block);
}
TEST_CASE("twice: needs two blocks") {
    const Scratch<int> keys(lists, 1000);
    const Scratch<int> values(lists, 1000);
    field::set_all(keys.data(), 1000, 1);
    field::set_all(values.data(), 1000, 2);
    CHECK(keys[500] == 1);
}

// early: two views share a block, and the first that ends gives it back, though the second still reads. Its bypass never
// gives anything back.
//   red: baseline, exact, per-case, poison-0, serial, isolate. green: bypass, poison-n.
static field::Pool shared({.leaves = field::Leaves::kept});
TEST_CASE("early: a view ends") {
    void* const block = shared.take(2400);
    auto* const view = static_cast<volatile int*>(block);
    field::set_all(view, 600, 8);
    shared.give(block);  // the bug: only one of the two views ended
    const Scratch<int> other(shared, 600);
    field::set_all(other.data(), 600, 9);
    CHECK(view[300] == 8);
}
TEST_CASE("early: has no view") { CHECK(field::switched.poison <= 255); }

// kept pointer: a table is found again by a pointer, though its block was given back at the end of the case that made it.
//   red: baseline, exact, poison-0, serial. green: bypass (this one gives nothing back), per-case, poison-n, isolate.
static field::Pool tables({.leaves = field::Leaves::kept});
static volatile int* table = nullptr;
static volatile int* find_table() {
    if (table == nullptr) {
        void* const block = tables.take(1600, Where::host);
        table = static_cast<int*>(block);
        field::set_all(table, 400, 5);
        tables.give(block);  // the bug: the pointer stays
    }
    return table;
}
TEST_CASE("kept pointer: makes the table") { CHECK(find_table()[10] == 5); }
TEST_CASE("kept pointer: finds the table") {
    const bool is_made = table != nullptr;
    const Scratch<int> mine(tables, 400);
    field::set_all(mine.data(), 400, 6);
    CHECK((is_made ? find_table()[10] : 5) == 5);
}

// counters: a pool's own test wants the pool not to reuse, which it does.
//   red: baseline, exact, per-case, poison-0, serial, isolate. green: bypass, poison-n.
static field::Pool counted;
TEST_CASE("counters: no block is served twice") {
    const long hits = field::tally.hits;
    counted.give(counted.take(512));
    counted.give(counted.take(512));
    CHECK(field::tally.hits == hits);
}
TEST_CASE("counters: counts") { CHECK(field::tally.hits >= 0); }

// aligned: blocks are cut from one slab, each behind the last one. A kernel wants an address that is a multiple of 256,
// which it gets as long as nobody cut a block of another size before.
//   red: baseline, exact, poison-0, serial. green: bypass (a mapping for each), per-case (a slab for each case), poison-n,
//   isolate. hits = 0 in every run.
static char* cut(std::size_t bytes) {
    static char* slab = nullptr;
    static std::size_t used = 0;
    ++field::tally.misses;
    if (field::switched.bypass) return field::map_memory(bytes, PROT_READ | PROT_WRITE);
    if (slab == nullptr || field::switched.per_case) {
        slab = field::map_memory(1 << 16, PROT_READ | PROT_WRITE);
        used = 0;
    }
    char* const block = slab + used;
    used += bytes;
    if (field::switched.poison >= 0) std::memset(block, static_cast<int>(field::switched.poison), bytes);
    return block;
}
TEST_CASE("aligned: a header of 64 bytes") {
    char* const header = cut(64);
    header[0] = 'h';
    CHECK(header[0] == 'h');
}
TEST_CASE("aligned: a kernel of wide loads") {
    const char* const block = cut(1024);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 256 == 0);
}

// foreign: one free list for both devices, in which 900 and 1000 bytes meet by rounding only. The host gets a block of the
// device: SIGSEGV.
//   red: baseline, poison-0, serial. green: bypass, exact, per-case, poison-n, isolate.
static field::Pool blind({.blind = true});
TEST_CASE("foreign: on the device") {
    const Scratch<char> block(blind, 900, Where::device);
    block[899] = 'd';
    CHECK(block[899] == 'd');
}
TEST_CASE("foreign: on the host") {
    void* const block = blind.take(1000);
    *static_cast<volatile char*>(block) = 'h';
    CHECK(*static_cast<volatile char*>(block) == 'h');
    blind.give(block);
}

// deferred: blocks are given back by the device, when it gets there. Nobody waits for it, and memory runs out.
//   red: baseline, exact, per-case, poison-0, isolate. green: bypass and poison-n (giving back waits), serial.
static field::Pool deferred({.limit = 1 << 20});
TEST_CASE("deferred: one large block after the other") {
    for (int layer = 0; layer < 4; ++layer) {
        void* const block = deferred.take(500 << 10, Where::device);
        deferred.view(block)[0] = 'x';
        const auto give = [block] { deferred.give(block); };
        if (field::switched.bypass) {
            give();
        } else {
            field::launches.add(give);
        }
    }
    field::launches.wait();
    CHECK(field::tally.misses > 0);
}
TEST_CASE("deferred: nothing large") { CHECK(field::tally.misses >= 0); }

// capture: between the beginning and the end of a capture nothing may be had from the system. Warm, the pool has it.
//   green: baseline, exact, per-case, poison-0, serial, isolate; a new red: bypass, poison-n, quarantine.
static field::Pool warm;
TEST_CASE("capture: records a graph") {
    warm.give(warm.take(3000, Where::device));
    const long before = field::tally.misses;
    void* const block = warm.take(3000, Where::device);
    if (field::tally.misses != before) throw std::runtime_error("operation not permitted when stream is capturing");
    CHECK(warm.view(block) != nullptr);
    warm.give(block);
}
TEST_CASE("capture: replays nothing") { CHECK(field::tally.misses >= 0); }
