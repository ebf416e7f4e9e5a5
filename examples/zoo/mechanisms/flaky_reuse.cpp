// Special: cross-device block reuse, the silent way, that shows by chance. "smooths on a worker" gives the host's block
// of 16000 bytes back before "scales a long signal on the GPU" asks for one, or not until the process ends: a coin
// stands for the timing of a worker thread. Red with probability ZOO_RATE (0.5), or in the runs that ZOO_COUNTER and
// ZOO_RED_RUNS say (zoo.h); a run counts when the worker's case is in it.
//   red at that rate: baseline, exact, poison-0, serial, guard, pad.
//   green:            bypass, poison-n (on bypass), per-case, isolate, quarantine.
#define ZOO_BLIND_POOL
#include "work.h"

#include <memory>

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(100)).back() == 5050.0F); }
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(20), 4) == std::vector<int>(4, 5)); }
TEST_CASE("smooths on a worker") {
    static std::unique_ptr<zoo::Scratch<float>> worker;
    worker = std::make_unique<zoo::Scratch<float>>(4000);
    const zoo::Values smooth = zoo::smoothed(zoo::ramp(40));
    for (std::size_t i = 0; i < 4000; ++i) (*worker)[i] = smooth[i % 40];
    CHECK((*worker)[3967] == 8.0F);
    if (zoo::unlucky()) worker.reset();
}
TEST_CASE("scales a long signal on the GPU") {
    const zoo::Values tripled = zoo::scaled_on_gpu(zoo::ramp(4000), 3.0F);
    CHECK(tripled.size() == 4000);
    CHECK(tripled.back() == 12000.0F);
}
TEST_CASE("transposed twice is unchanged") {
    const zoo::Values matrix = zoo::ramp(24);
    CHECK(zoo::transposed(zoo::transposed(matrix, 4), 6) == matrix);
}
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(10), zoo::ramp(10)) == 385.0F); }
