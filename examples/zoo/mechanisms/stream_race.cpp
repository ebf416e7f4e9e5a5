// Mechanism: cross-stream reuse race. `doubled_and_cleared` has the side stream clear its buffer and gives the buffer
// back without waiting. The next case gets the block and works in it on the main stream; the side stream, which falls
// behind, clears the result.
//   red:   baseline, exact (the same size); poison-0 (the fill is done when the block is handed out, so before both);
//          guard and pad (no access leaves its block).
//   green: bypass and poison-n (on bypass: freeing waits for the device), serial (the launch waits), quarantine (the
//          clearing hits a block that nobody has any more); and, which other
//          races need not show, per-case and isolate (the clearing hits a block that nobody has any more).
#include "work.h"

static zoo::Values doubled_and_cleared(const zoo::Values& in) {
    const zoo::Scratch<float> buffer(in.size(), zoo::Place::gpu);
    float* const elements = reinterpret_cast<float*>(zoo::blocks[buffer.address()].view);
    std::copy(in.begin(), in.end(), elements);
    zoo::launch(zoo::Stream::main, [elements, count = in.size()] {
        for (std::size_t i = 0; i < count; ++i) elements[i] *= 2.0F;
    });
    zoo::synchronize();
    const zoo::Values doubled(elements, elements + in.size());
    zoo::launch(zoo::Stream::side, [elements, count = in.size()] { std::fill_n(elements, count, 0.0F); });
    return doubled;  // the bug: the side stream still has the buffer
}

TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(80), 8) == std::vector<int>(8, 10)); }
TEST_CASE("scales a short signal on the GPU") {
    CHECK(zoo::scaled_on_gpu({1.0F, 2.0F, 3.0F}, 5.0F) == zoo::Values{5.0F, 10.0F, 15.0F});
}
TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(4)) == zoo::Values{1.0F, 3.0F, 6.0F, 10.0F}); }
TEST_CASE("doubles and clears on the GPU") {
    const zoo::Values doubled = doubled_and_cleared(zoo::ramp(600));
    CHECK(doubled.front() == 2.0F);
    CHECK(doubled.back() == 1200.0F);
}
TEST_CASE("scales a long signal on the GPU") {
    const zoo::Values tripled = zoo::scaled_on_gpu(zoo::ramp(600), 3.0F);
    CHECK(tripled.size() == 600);
    CHECK(tripled.back() == 1800.0F);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(30), zoo::ramp(30)) == 9455.0F); }
TEST_CASE("transposed once") {
    CHECK(zoo::transposed({1.0F, 2.0F, 3.0F, 4.0F}, 2) == zoo::Values{1.0F, 3.0F, 2.0F, 4.0F});
}
TEST_CASE("smooths a constant to itself") { CHECK(zoo::smoothed(zoo::Values(50, 2.0F)) == zoo::Values(50, 2.0F)); }
