// Seen in the field: the test of a pool takes its counters for its own. It wants its first block to be new, which it is
// only while no other case has given one of this size back.
//   red:   baseline, exact (the same size), poison-0, serial.
//   green: bypass and poison-n (every block is new), per-case, isolate.
#include "pool.h"

static field::Pool pool;

TEST_CASE("copies to the device and back") {
    const field::Scratch<int> copy(pool, 500, field::Where::device);
    copy[499] = 4;
    CHECK(copy[499] == 4);
}
TEST_CASE("knows its devices") { CHECK(field::Where::host != field::Where::device); }
TEST_CASE("memory pool: the first allocation is a miss") {
    const long misses = field::tally.misses;
    const field::Scratch<int> first(pool, 500, field::Where::device);
    CHECK(field::tally.misses == misses + 1);
}
