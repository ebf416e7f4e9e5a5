// Mechanism: uninitialised read that the pool hides. `distinct` counts in scratch that it never clears. Its block is
// the only one of its class, so it is always fresh, and fresh memory is zero.
//   green: baseline; exact, per-case, serial, isolate, bypass, quarantine, guard and pad (fresh as well), poison-0
//          (cleared).
//   new red: poison-n (on bypass): fresh, but filled with ones.
#include "work.h"

static int distinct(const zoo::Values& in) {
    const zoo::Scratch<int> seen(3000);
    int found = 0;
    for (const float value : in) {
        const auto at = static_cast<std::size_t>(value);
        if (seen[at] == 0) ++found;  // the bug: never cleared
        seen[at] = 1;
    }
    return found;
}

TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(7), zoo::ramp(7)) == 140.0F); }
TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(30)).back() == 465.0F); }
TEST_CASE("counts distinct values") {
    const zoo::Values values{5.0F, 9.0F, 5.0F, 2999.0F};
    CHECK(values.size() == 4);
    CHECK(distinct(values) == 3);
}
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(30), 2.0F).back() == 60.0F); }
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(110), 11) == std::vector<int>(11, 10)); }
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(30, 8.0F)) == zoo::Values(30, 8.0F)); }
