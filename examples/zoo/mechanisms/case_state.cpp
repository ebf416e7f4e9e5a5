// Mechanism: state between cases, outside the pool. "rounds to whole numbers" leaves a static at 0 digits; "rounds to
// two digits by default" believes that it is still 2. In file order the believer comes first and all is green; it is
// red at the seeds that put it after the other one. The table is about such a seed.
//   red:   every arm: the static does not come from the pool, though every case uses the pool.
//   green: isolate (each process has a static of its own).
#include "work.h"

#include <cmath>

static int digits = 2;

static float rounded(float value) {
    const float scale = std::pow(10.0F, static_cast<float>(digits));
    const zoo::Values scaled = zoo::scaled_on_gpu({value}, scale);
    return std::round(scaled.front()) / scale;
}

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(50)).back() == 1275.0F); }
TEST_CASE("rounds to two digits by default") {
    CHECK(rounded(2.0F) == 2.0F);
    CHECK(rounded(2.75F) == 2.75F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(70), 7) == std::vector<int>(7, 10)); }
TEST_CASE("rounds to whole numbers") {
    digits = 0;  // the bug: stays so
    CHECK(rounded(2.75F) == 3.0F);
    CHECK(rounded(-0.75F) == -1.0F);
}
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(35);
    CHECK(zoo::transposed(zoo::transposed(matrix, 5), 7) == matrix);
}
TEST_CASE("rounds to four digits") {
    digits = 4;
    CHECK(rounded(0.5F) == 0.5F);
    digits = 2;
}
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(20, 4.0F)) == zoo::Values(20, 4.0F)); }
