// Mechanism: read past the logical size into class slack. `sum_by_32` walks in steps of 32 without a tail: of 1000
// elements it reads 1024. Blocks of 4000 and of 4096 bytes share a class, so the last 24 are what "prefix sums of a
// full block" left there.
//   red:   baseline, serial; poison-n (on bypass: the slack is filled with NaN as well); guard and pad (both stand
//          behind the slack).
//   green: bypass, quarantine, per-case and isolate (the slack is fresh, so zero, and adds nothing), exact (4000 and
//          4096 bytes do not share blocks), poison-0 (the pool clears the slack too).
#include "work.h"

static float sum_by_32(const zoo::Values& in) {
    const zoo::Scratch<float> copy(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) copy[i] = in[i];
    float sum = 0.0F;
    for (std::size_t step = 0; step < in.size(); step += 32) {
        for (std::size_t lane = 0; lane < 32; ++lane) sum += copy[step + lane];  // the bug: passes the end
    }
    return sum;
}

TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(42);
    CHECK(zoo::transposed(zoo::transposed(matrix, 6), 7) == matrix);
}
TEST_CASE("sums a short vector") { CHECK(sum_by_32(zoo::ramp(64)) == 2080.0F); }
TEST_CASE("prefix sums of a full block") {
    const zoo::Values sums = zoo::prefix_sums(zoo::ramp(1024));
    CHECK(sums.front() == 1.0F);
    CHECK(sums.back() == 524800.0F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(30), 3) == std::vector<int>(3, 10)); }
TEST_CASE("sums a long vector") {
    const zoo::Values twos(1000, 2.0F);
    CHECK(twos.size() == 1000);
    CHECK(sum_by_32(twos) == 2000.0F);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(12), zoo::ramp(12)) == 650.0F); }
