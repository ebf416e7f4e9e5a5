// Mechanism: use after free that the pool hides. `largest` keeps an address in scratch that has gone back. In the pool
// the block stays mapped, and nobody has asked for it since, so the value is still there.
//   green: baseline, and every arm that keeps the pool: exact, per-case, poison-0 (blocks are filled when they are
//          handed out, and this one is not), serial, guard, pad; isolate (the pool hides it there as well).
//   new red: bypass and poison-n (on bypass): the block is gone, and reading it is a SIGSEGV; quarantine: the block is
//          there, and unreadable: the same SIGSEGV.
#include "work.h"

static float largest(const zoo::Values& in) {
    const volatile float* found = nullptr;
    {
        const zoo::Scratch<float> copy(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
            copy[i] = in[i];
            if (found == nullptr || *found < copy[i]) found = &copy[i];
        }
    }
    return *found;  // the bug: the scratch has gone back
}

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(80)).back() == 3240.0F); }
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(90), 9) == std::vector<int>(9, 10)); }
TEST_CASE("smooths a short signal") { CHECK(zoo::smoothed({2.0F, 2.0F, 8.0F}) == zoo::Values{2.0F, 4.0F, 6.0F}); }
TEST_CASE("largest of a signal") {
    const zoo::Values signal{1.0F, 8.0F, 3.0F, 5.0F};
    CHECK(signal.size() == 4);
    CHECK(largest(signal) == 8.0F);
}
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(80), 2.0F).back() == 160.0F); }
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(15), zoo::ramp(15)) == 1240.0F); }
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(40);
    CHECK(zoo::transposed(zoo::transposed(matrix, 5), 8) == matrix);
}
