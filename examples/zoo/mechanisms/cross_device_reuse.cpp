// Mechanism: cross-device block reuse, the loud way. The pool has one free list for both devices. "scales on the GPU"
// gives a GPU's block of 16000 bytes back; "smooths a long signal" asks for 16000 bytes of the host's memory, gets that
// block, and its first store is a SIGSEGV.
//   red:   baseline; exact (both ask for the same size); poison-0 (the fill reaches the block, whoever made it) and
//          serial (nothing is waited for too late), guard and pad: the block goes the same way.
//   green: bypass, poison-n (on bypass) and quarantine (nothing is reused), per-case and isolate (the block of the
//          other case is not in the pool).
#define ZOO_BLIND_POOL
#include "work.h"

TEST_CASE("prefix sums of a ramp") {
    const zoo::Values sums = zoo::prefix_sums(zoo::ramp(100));
    CHECK(sums.front() == 1.0F);
    CHECK(sums.back() == 5050.0F);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
TEST_CASE("scales on the GPU") {
    const zoo::Values tripled = zoo::scaled_on_gpu(zoo::ramp(4000), 3.0F);
    CHECK(tripled.front() == 3.0F);
    CHECK(tripled.back() == 12000.0F);
}
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(24);
    CHECK(zoo::transposed(zoo::transposed(matrix, 4), 6) == matrix);
}
TEST_CASE("smooths a long signal") {
    const zoo::Values smooth = zoo::smoothed(zoo::ramp(4000));
    CHECK(smooth.size() == 4000);
    CHECK(smooth[7] == 8.0F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(40), 4) == std::vector<int>(4, 10)); }
TEST_CASE("smooths a short signal") { CHECK(zoo::smoothed({3.0F, 6.0F, 9.0F}) == zoo::Values{4.0F, 6.0F, 8.0F}); }
