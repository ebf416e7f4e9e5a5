// Mechanism: reuse within one case. `refuse` gives a block back, and so does the owner of the block: it is in the free
// list twice, and the next two owners share it. In "follows a chain" these are a chain of nodes and a row of weights:
// weights stand where a node's next pointer was, and following it is a SIGSEGV.
//   red:   baseline, exact (both ask for 1024 bytes), serial; poison-0 (cleared, then written over all the same);
//          per-case and isolate (all of it happens in one case); guard and pad (no access leaves its block).
//   green: bypass, poison-n (on bypass) and quarantine: there is no list to be in twice; the second free is refused, or
//          changes nothing.
#include "work.h"

struct Node {
    const volatile Node* next;
    float value;
};

// The bug: gives the block back, though its owner will.
static bool refuse(const zoo::Scratch<Node>& nodes) {
    zoo::pool.release(nodes.address());
    return false;
}

TEST_CASE("prefix sums of a ramp") { CHECK(zoo::prefix_sums(zoo::ramp(200)).back() == 20100.0F); }
TEST_CASE("smooths a short signal") { CHECK(zoo::smoothed({0.0F, 3.0F, 6.0F}) == zoo::Values{1.0F, 3.0F, 5.0F}); }
TEST_CASE("scales on the GPU") { CHECK(zoo::scaled_on_gpu(zoo::ramp(300), 2.0F).back() == 600.0F); }
TEST_CASE("follows a chain") {
    {
        const zoo::Scratch<Node> too_small(64);
        CHECK_FALSE(refuse(too_small));
    }
    const zoo::Scratch<Node> nodes(64);
    const zoo::Scratch<float> weights(nodes.bytes() / sizeof(float));
    for (int i = 0; i < 64; ++i) {
        nodes[i].next = i + 1 < 64 ? &nodes[i + 1] : nullptr;
        nodes[i].value = 2.0F;
    }
    for (std::size_t i = 0; i < weights.bytes() / sizeof(float); ++i) weights[i] = 1.5F;
    float sum = 0.0F;
    for (const volatile Node* node = nodes.data(); node != nullptr; node = node->next) sum += node->value;
    CHECK(sum == 128.0F);
}
TEST_CASE("bins are evenly full") { CHECK(zoo::histogram(zoo::ramp(50), 5) == std::vector<int>(5, 10)); }
TEST_CASE("a ramp times itself") { CHECK(zoo::dot(zoo::ramp(9), zoo::ramp(9)) == 285.0F); }
