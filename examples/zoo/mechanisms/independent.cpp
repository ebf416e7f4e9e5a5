// Mechanism: independent of every arm. `median` of an even number of values takes the upper one instead of the mean of
// two: plain wrong code, though it sorts in scratch from the pool like all the others.
//   red: every arm, isolate included.
#include "work.h"

static float median(const zoo::Values& in) {
    const zoo::Scratch<float> sorted(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        std::size_t at = i;
        for (; at > 0 && sorted[at - 1] > in[i]; --at) sorted[at] = sorted[at - 1];
        sorted[at] = in[i];
    }
    return sorted[in.size() / 2];  // the bug: not the middle of an even number of values
}

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(60)).back() == 1830.0F); }
TEST_CASE("median of one") { CHECK(median({4.0F}) == 4.0F); }
TEST_CASE("median of an odd number") { CHECK(median({9.0F, 1.0F, 5.0F}) == 5.0F); }
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(60), 2.0F).back() == 120.0F); }
TEST_CASE("median of an even number") {
    CHECK(median({2.0F, 2.0F}) == 2.0F);
    CHECK(median({4.0F, 1.0F, 3.0F, 2.0F}) == 2.5F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(20), 2) == std::vector<int>(2, 10)); }
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(30, 3.0F)) == zoo::Values(30, 3.0F)); }
