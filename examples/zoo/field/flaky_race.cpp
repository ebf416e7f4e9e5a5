// Seen in the field: an upload is still on its way when its block is given back, and the next case works in it. Whether
// the upload comes too late is chance: red with probability ZOO_RATE (0.5).
//   red:   baseline, exact (the same size), poison-0 (the fill comes before both): in as many runs.
//   green: bypass and poison-n (giving back waits), per-case (the same), serial, isolate.
#include "pool.h"

static field::Pool pool;

TEST_CASE("counts devices") { CHECK(field::switched.poison >= -1); }
TEST_CASE("uploads and does not wait") {
    const field::Scratch<int> block(pool, 900, field::Where::device);
    volatile int* const elements = block.data();
    field::launches.add([elements] { field::set_all(elements, 900, -1); });
    if (!zoo::unlucky()) field::launches.wait();
    CHECK(block.block() != nullptr);
}
TEST_CASE("has nothing to do") { CHECK(field::tally.misses >= 0); }
TEST_CASE("computes in place") {
    const field::Scratch<int> block(pool, 900, field::Where::device);
    field::set_all(block.data(), 900, 6);
    field::launches.wait();
    CHECK(block[450] == 6);
}
