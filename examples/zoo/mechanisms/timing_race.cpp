// Mechanism: timing race, not the pool. "squares in the background" has the side stream fill a static table and reads
// the table without waiting. The stream falls behind: the table is still empty.
//   red:   baseline, per-case; and, which other races need not show, bypass, exact, poison-n, poison-0 (nothing in the
//          case gives memory back, so nothing waits by accident), quarantine, guard, pad and isolate (the race is
//          within the case).
//   green: serial (the launch waits).
#include "work.h"

static volatile int squares[100];

TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(90), 2.0F).back() == 180.0F); }
TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(40)).back() == 820.0F); }
TEST_CASE("smooths a short signal") { CHECK(zoo::smoothed({6.0F, 0.0F, 6.0F}) == zoo::Values{4.0F, 4.0F, 4.0F}); }
TEST_CASE("squares in the background") {
    const zoo::Scratch<float> scratch(90);
    scratch[0] = 7.0F;
    CHECK(scratch[0] == 7.0F);
    zoo::launch(zoo::Stream::side, [] {
        for (int i = 0; i < 100; ++i) squares[i] = i * i;
    });
    const int sum = std::accumulate(squares, squares + 100, 0);  // the bug: does not wait
    CHECK(sum == 328350);
}
TEST_CASE("scales on the GPU again") { CHECK(zoo::scaled_on_gpu(zoo::ramp(90), 3.0F).back() == 270.0F); }
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(6), zoo::ramp(6)) == 91.0F); }
