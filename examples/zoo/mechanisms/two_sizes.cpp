// Special: cross-device block reuse in a pool with few switches, as nearly all pools have: no fill, no serial, no
// quarantine, no guard, no pad. "smooths a long signal" gives the host's block of 15000 bytes back; "scales a long
// signal on the GPU" asks for 16000, and both are rounded to 16384: it gets the host's block, and its kernel leaves
// 0x7fff everywhere.
//   red:   baseline, and whatever this binary does not know.
//   green: bypass, per-case, isolate as for cross_device_reuse; exact: the two sizes meet only by rounding, so a green
//          exact is no sign of a read into class slack.
#define ZOO_BLIND_POOL
#define ZOO_FEW_SWITCHES
#include "work.h"

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(100)).back() == 5050.0F); }
TEST_CASE("smooths a long signal") {
    const zoo::Values smooth = zoo::smoothed(zoo::ramp(3750));
    CHECK(smooth.size() == 3750);
    CHECK(smooth[7] == 8.0F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(20), 4) == std::vector<int>(4, 5)); }
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(100, 2.0F)) == zoo::Values(100, 2.0F)); }
TEST_CASE("scales a long signal on the GPU") {
    const zoo::Values tripled = zoo::scaled_on_gpu(zoo::ramp(4000), 3.0F);
    CHECK(tripled.size() == 4000);
    CHECK(tripled.back() == 12000.0F);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(24);
    CHECK(zoo::transposed(zoo::transposed(matrix, 4), 6) == matrix);
}
