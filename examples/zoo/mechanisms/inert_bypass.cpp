// Special: a bypass that does nothing. The help text says VT_POOL_BYPASS, so that the name stands in the binary, but
// the pool reads VT_POOL_BYPAS. The fault is cross-device block reuse, the silent way: "scales a long signal on the
// GPU" gets the host's block of 16000 bytes, and its kernel leaves 0x7fff everywhere.
//   red:   baseline, exact, poison-0, serial, guard, pad as for cross_device_reuse; bypass and poison-n as well, with
//          hits > 0.
//   green: per-case, isolate, quarantine.
#define ZOO_BLIND_POOL
#define ZOO_BYPASS_SWITCH "VT_POOL_BYPAS"
#include "work.h"

static const char* volatile help =
    "VT_POOL_BYPASS=1    no free list\n"
    "VT_POOL_EXACT=1     no size classes\n"
    "VT_POOL_PER_CASE=1  one pool a case\n";

TEST_CASE("help names the switches") {
    const std::string text = help;
    CHECK(text.find("no free list") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(20), 4) == std::vector<int>(4, 5)); }
TEST_CASE("smooths a long signal") {
    const zoo::Values smooth = zoo::smoothed(zoo::ramp(4000));
    CHECK(smooth.size() == 4000);
    CHECK(smooth[7] == 8.0F);
}
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(24);
    CHECK(zoo::transposed(zoo::transposed(matrix, 4), 6) == matrix);
}
TEST_CASE("scales a long signal on the GPU") {
    const zoo::Values tripled = zoo::scaled_on_gpu(zoo::ramp(4000), 3.0F);
    CHECK(tripled.size() == 4000);
    CHECK(tripled.back() == 12000.0F);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
