// Seen in the field: the pool keeps what was released, and gives none of it back when memory runs out. A block of 256 KiB
// is cached, one of 1 MiB is asked for, and that is all that the device has.
//   red:   baseline, exact (neither size changes), poison-0, serial.
//   green: bypass and poison-n (nothing is cached), per-case (the cache is given back), isolate.
// No block is ever handed out twice: hits = 0 in every run.
#include "pool.h"

static field::Pool pool({.limit = 1 << 20});

TEST_CASE("a shape has three sizes") { CHECK(std::string("2x3x4").size() == 5); }
TEST_CASE("convolves a small picture") {
    const field::Scratch<int> picture(pool, (256 << 10) / sizeof(int), field::Where::device);
    picture[7] = 7;
    CHECK(picture[7] == 7);
}
TEST_CASE("convolves a large picture") {
    const field::Scratch<int> picture(pool, (1 << 20) / sizeof(int), field::Where::device);
    picture[7] = 7;
    CHECK(picture[7] == 7);
}
