// Special: independent of every arm, and red by chance, with probability ZOO_RATE (0.5), or in the runs that
// ZOO_COUNTER and ZOO_RED_RUNS say (zoo.h). Every case uses the pool, so that every arm acts; who runs each arm once
// sees one of them "repair" it.
#include "work.h"

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(100)).back() == 5050.0F); }
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(100, 2.0F)) == zoo::Values(100, 2.0F)); }
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(100), 2.0F).back() == 200.0F); }
TEST_CASE("answers in time") {
    const zoo::Values answer = zoo::prefix_sums(zoo::Values(100, 1.0F));
    const bool late = zoo::unlucky();
    CHECK(answer.back() == 100.0F);
    CHECK_FALSE(late);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(100), 4) == std::vector<int>(4, 25)); }
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
