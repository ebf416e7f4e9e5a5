// Faults of what is not waited for, and of chance. The cases of a fault begin with its name.
#include "../field/pool.h"
#include "chance.h"

#include <array>
#include <atomic>
#include <thread>

using field::Scratch;
using field::Where;

// upload: the host changes what it uploads before the upload was done.
//   red: everywhere but serial.
static field::Pool uploads;
TEST_CASE("upload: reads a file") {
    const Scratch<int> bytes(uploads, 300);
    bytes[0] = 1;
    CHECK(bytes[0] == 1);
}
TEST_CASE("upload: uses its staging buffer twice") {
    static std::array<int, 300> staging;
    const Scratch<int> weights(uploads, 300, Where::device);
    volatile int* const view = weights.data();
    staging.fill(1);
    field::launches.add([view] {
        for (std::size_t i = 0; i < 300; ++i) view[i] = staging[i];
    });
    staging.fill(2);  // the bug: nobody waited
    field::launches.wait();
    CHECK(view[150] == 1);
}

// late writer: a block is given back while the device still has to clear it; the next case gets it.
//   red: baseline, exact, poison-0. green: bypass and poison-n (giving back waits), per-case, serial, isolate.
static void clear_late(field::Pool& pool) {
    const Scratch<int> block(pool, 700, Where::device);
    volatile int* const view = block.data();
    field::launches.add([view] { field::set_all(view, 700, 0); });
}
static int filled_with(field::Pool& pool, int value) {
    const Scratch<int> block(pool, 700, Where::device);
    field::set_all(block.data(), 700, value);
    field::launches.wait();
    return block[350];
}
static field::Pool waiting;
TEST_CASE("late writer: clears when it is too late") {
    clear_late(waiting);
    CHECK(field::tally.misses > 0);
}
TEST_CASE("late writer: fills") { CHECK(filled_with(waiting, 3) == 3); }

// hasty bypass: the same with a bypass that does not wait, and whose addresses come back: it heals nothing.
//   red: everywhere but serial and isolate.
static field::Pool hasty({.waits = false});
TEST_CASE("hasty bypass: clears when it is too late") {
    clear_late(hasty);
    CHECK(field::tally.misses > 0);
}
TEST_CASE("hasty bypass: fills") { CHECK(filled_with(hasty, 3) == 3); }

// threads: a thread of the host is not joined before its result is read. Where each launch waits, it is.
//   red: everywhere but serial.
static field::Pool threaded;
TEST_CASE("threads: sums in the background") {
    const Scratch<int> numbers(threaded, 200);
    field::set_all(numbers.data(), 200, 2);
    static std::atomic<bool> may_start{false};
    static std::atomic<int> sum{0};
    static std::thread worker;
    worker = std::thread([view = numbers.data()] {
        while (!may_start) std::this_thread::yield();
        sum = field::sum_of(view, 200);
    });
    field::launches.add([] {
        may_start = true;
        worker.join();
    });
    const int seen = sum;  // the bug: nobody joined
    field::launches.wait();
    CHECK(seen == 400);
}
TEST_CASE("threads: has none") { CHECK(field::tally.misses >= 0); }

// sometimes late: the late writer, in FAULT_RATE (0.5) of the runs.
static field::Pool sometimes;
TEST_CASE("sometimes late: clears") {
    clear_late(sometimes);
    if (!faults::drawn(faults::rate())) field::launches.wait();
    CHECK(field::tally.misses > 0);
}
TEST_CASE("sometimes late: fills") { CHECK(filled_with(sometimes, 3) == 3); }

// flake: red in FAULT_RATE (0.5) of the runs, whatever else there is.
static field::Pool steady;
TEST_CASE("flake: uses the pool") { CHECK(filled_with(steady, 4) == 4); }
TEST_CASE("flake: answers in time") {
    CHECK(filled_with(steady, 5) == 5);
    const bool is_late = faults::drawn(faults::rate());
    CHECK_FALSE(is_late);
}

// shifted: a race of the host that is lost in 80 % of the runs, and in 30 % where blocks have another size.
static field::Pool shifting;
TEST_CASE("shifted: uses the pool") { CHECK(filled_with(shifting, 4) == 4); }
TEST_CASE("shifted: answers in time") {
    const bool is_late = faults::drawn(field::switched.exact ? 0.3 : 0.8);
    CHECK_FALSE(is_late);
}
