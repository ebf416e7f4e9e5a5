// Seen in the field: a tile at the edge is loaded whole, 64 bytes past the end of its row. The pool keeps 64 bytes behind
// each block for that, and nobody ever clears them: what an earlier kernel stored there is multiplied by zero and added,
// and zero times NaN is NaN. There is one device only.
//   red:   baseline, exact (the same size), poison-0 (the fill ends where the block does), serial.
//   green: bypass and poison-n (on bypass; the bytes behind a fresh block are zero), per-case, isolate.
#include "pool.h"

static field::Pool pool({.tail = 64});
constexpr std::size_t count = 2048;
constexpr std::size_t lanes = 16;  // a register's worth of floats

TEST_CASE("adds up a row") {
    const field::Scratch<float> row(pool, count);
    field::set_all(row.data(), count, 0.5F);
    CHECK(field::sum_of(row.data(), count) == 1024.0F);
}
TEST_CASE("masks a row with NaN") {
    const field::Scratch<float> row(pool, count);
    field::set_all(row.data(), count + lanes, std::nanf(""));  // a whole number of registers, and one more
    CHECK(std::isnan(row[0]));
}
TEST_CASE("is associative") { CHECK((1.0F + 2.0F) + 3.0F == 1.0F + (2.0F + 3.0F)); }
TEST_CASE("multiplies the tile at the edge") {
    const field::Scratch<float> row(pool, count);
    field::set_all(row.data(), count, 1.0F);
    float sum = 0.0F;
    for (std::size_t i = 0; i < count + lanes; ++i) sum += row[i] * (i < count ? 1.0F : 0.0F);
    CHECK(sum == 2048.0F);
}
