// Seen in the field: a cache of keys is laid out for the longest text, and only its first cells are written. Attention
// multiplies the rest by zero, which heals any number but NaN: the block held logits before, in the same case.
//   red:   baseline, exact (the same size), per-case and isolate (all of it happens in one case), serial, poison-n.
//   green: bypass (fresh memory is zero), poison-0.
#include "pool.h"

static field::Pool pool;
constexpr std::size_t cells = 1500;
constexpr std::size_t written = 12;

TEST_CASE("splits a text into words") { CHECK(std::string("one two").find(' ') == 3); }
TEST_CASE("generates twelve words") {
    {
        const field::Scratch<float> logits(pool, cells, field::Where::device);
        field::set_all(logits.data(), cells, std::nanf(""));
    }
    const field::Scratch<float> keys(pool, cells, field::Where::device);
    field::set_all(keys.data(), written, 2.0F);
    float attention = 0.0F;
    for (std::size_t i = 0; i < cells; ++i) attention += keys[i] * (i < written ? 1.0F : 0.0F);
    CHECK(attention == 24.0F);
}
TEST_CASE("joins words to a text") { CHECK(std::string("one") + "two" == "onetwo"); }
