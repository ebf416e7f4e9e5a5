// Mechanism: access past the end of a block, across cases. `closed` puts a copy of the first element behind the last,
// and takes no room for it: of 64 elements it stores, and then reads, one more than the block has. So "closes a full
// ring" leaves a number behind the block, and "sums a full block in steps", which gets the block, adds it: `sum_by_5`
// walks in steps of 5 without a tail. Both accesses are past the end.
//   red:   baseline, exact (both ask for the same size), serial, poison-0 (the fill ends where the block does).
//   green: bypass, per-case, isolate and quarantine (what lies behind a fresh block is zero), poison-n (on bypass: the
//          same), pad (zero as well).
//   new red: guard, in "closes a full ring", which comes first; in the victim when it is alone.
#include "work.h"

static constexpr std::size_t kFull = 64;  // 256 bytes: the smallest class, without slack

static zoo::Values closed(const zoo::Values& in) {
    const zoo::Scratch<float> ring(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) ring[i] = in[i];
    ring[in.size()] = in[0];  // the bug: one more than asked for
    return zoo::Values(ring.data(), ring.data() + in.size() + 1);
}

static float sum_by_5(const zoo::Values& in) {
    const zoo::Scratch<float> copy(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) copy[i] = in[i];
    float sum = 0.0F;
    for (std::size_t step = 0; step < in.size(); step += 5) {
        for (std::size_t lane = 0; lane < 5; ++lane) sum += copy[step + lane];  // the bug: passes the end
    }
    return sum;
}

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(200)).back() == 20100.0F); }
TEST_CASE("closes a full ring") {
    const zoo::Values ring = closed(zoo::ramp(kFull, 7.0F));
    CHECK(ring.size() == 65);
    CHECK(ring.back() == 7.0F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(200), 100) == std::vector<int>(100, 2)); }
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(100), 2.0F).back() == 200.0F); }
TEST_CASE("sums a full block in steps") {
    const zoo::Values twos(kFull, 2.0F);
    CHECK(twos.size() == 64);
    CHECK(sum_by_5(twos) == 128.0F);
}
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(100);
    CHECK(zoo::transposed(zoo::transposed(matrix, 5), 20) == matrix);
}
