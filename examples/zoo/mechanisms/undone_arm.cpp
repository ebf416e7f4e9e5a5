// Special: a case undoes the arm. "starts from clean settings" sets VT_POOL_BYPASS=0 and has the pool read its switches
// again, as fixtures do that want a known environment. Up to there the bypass acts, from there on the counters show
// hits. The fault is cross-device block reuse, the silent way, and both cases that it takes come later.
//   red:   baseline, exact, poison-0, serial, guard, pad as for cross_device_reuse; bypass and poison-n as well, with
//          hits > 0.
//   green: per-case, isolate, quarantine.
#define ZOO_BLIND_POOL
#include "work.h"

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(100)).back() == 5050.0F); }
TEST_CASE("prefix sums of a constant") { CHECK(zoo::prefix_sums(zoo::Values(100, 2.0F)).back() == 200.0F); }
TEST_CASE("starts from clean settings") {
    CHECK(setenv("VT_POOL_BYPASS", "0", 1) == 0);
    zoo::switches = zoo::Switches();
    CHECK_FALSE(zoo::switches.bypass);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(20), 4) == std::vector<int>(4, 5)); }
TEST_CASE("smooths a long signal") {
    const zoo::Values smooth = zoo::smoothed(zoo::ramp(4000));
    CHECK(smooth.size() == 4000);
    CHECK(smooth[7] == 8.0F);
}
TEST_CASE("scales a long signal on the GPU") {
    const zoo::Values tripled = zoo::scaled_on_gpu(zoo::ramp(4000), 3.0F);
    CHECK(tripled.size() == 4000);
    CHECK(tripled.back() == 12000.0F);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
