// Special: a green suite whose number of assertions differs from run to run. "counts down to one" starts from a number
// that chance picks (2 to 2001; with ZOO_COUNTER the number of the run, plus 1) and asserts at every step down: nothing
// is wrong, and no count of assertions can be compared with another run's.
#include "work.h"

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(100)).back() == 5050.0F); }
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(100), 2.0F).back() == 200.0F); }
TEST_CASE("counts down to one") {
    const std::string counter = zoo::text("ZOO_COUNTER");
    long left = 2 + static_cast<long>(zoo::chance() * 2000.0);
    if (!counter.empty()) left = 1 + zoo::count_run(counter);
    for (; left > 1; --left) CHECK(left > 1);
    CHECK(left == 1);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(100), 4) == std::vector<int>(4, 25)); }
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(100, 2.0F)) == zoo::Values(100, 2.0F)); }
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
