// Special: a pool whose bypass has another name, so that the usual one stands nowhere in this binary. The fault is
// cross-device block reuse, the silent way, as in inert_bypass.
//   red:   baseline, exact, poison-0, serial, guard, pad as for cross_device_reuse; bypass and poison-n as well, with
//          hits > 0.
//   green: per-case, isolate, quarantine; and the bypass by the name that the binary does read, VT_POOL_NO_CACHE.
#define ZOO_BLIND_POOL
#define ZOO_BYPASS_SWITCH "VT_POOL_NO_CACHE"
#include "work.h"

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(100)).back() == 5050.0F); }
TEST_CASE("smooths a long signal") {
    const zoo::Values smooth = zoo::smoothed(zoo::ramp(4000));
    CHECK(smooth.size() == 4000);
    CHECK(smooth[7] == 8.0F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(20), 4) == std::vector<int>(4, 5)); }
TEST_CASE("scales a long signal on the GPU") {
    const zoo::Values tripled = zoo::scaled_on_gpu(zoo::ramp(4000), 3.0F);
    CHECK(tripled.size() == 4000);
    CHECK(tripled.back() == 12000.0F);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(8, 6.0F)) == zoo::Values(8, 6.0F)); }
