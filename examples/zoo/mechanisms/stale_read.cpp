// Mechanism: read of stale scratch. `column_sums` adds to scratch that it never clears. Fresh memory is zero, so the
// sums are right until another case has left numbers in the block: here "prefix sums of a long ramp", of the same size.
//   red:   baseline; exact (the same size), serial, guard and pad: the same block comes with the same numbers; poison-n
//          (on bypass: fresh, but filled with NaN), which tells this from every other kind of reuse.
//   green: bypass, quarantine, per-case and isolate (the block is fresh, so zero), poison-0 (the pool clears it).
#include "work.h"

static zoo::Values column_sums(const zoo::Values& matrix, std::size_t columns) {
    const zoo::Scratch<float> sums(columns);
    for (std::size_t i = 0; i < matrix.size(); ++i) sums[i % columns] += matrix[i];  // the bug: never cleared
    return zoo::Values(sums.data(), sums.data() + columns);
}

TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(20), zoo::ramp(20)) == 2870.0F); }
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(60), 6) == std::vector<int>(6, 10)); }
TEST_CASE("prefix sums of a long ramp") {
    const zoo::Values sums = zoo::prefix_sums(zoo::ramp(500));
    CHECK(sums.front() == 1.0F);
    CHECK(sums.back() == 125250.0F);
}
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu({1.0F, 2.0F}, 4.0F) == zoo::Values{4.0F, 8.0F}); }
TEST_CASE("sums of columns") {
    const zoo::Values sums = column_sums(zoo::Values(1500, 2.0F), 500);
    CHECK(sums.size() == 500);
    CHECK(sums == zoo::Values(500, 6.0F));
}
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(30);
    CHECK(zoo::transposed(zoo::transposed(matrix, 5), 6) == matrix);
}
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(9, 5.0F)) == zoo::Values(9, 5.0F)); }
