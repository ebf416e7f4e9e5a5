// The case that all three of bypass_unmaps, bypass_leaks and bypass_protects have: the table of strides is given back
// too early, the output gets its block, and the strides are read again. What differs is what a bypass does with a block
// that is given back: `LEAVES`.
#pragma once

#include "pool.h"

static field::Pool pool({.leaves = field::Leaves::LEAVES});

TEST_CASE("parses a model") { CHECK(std::stoi("17") == 17); }
TEST_CASE("runs a model twice") {
    for (int run = 0; run < 2; ++run) {
        void* const early = pool.take(750 * sizeof(int));
        auto* const strides = static_cast<volatile int*>(early);
        strides[0] = 48;
        pool.give(early);  // the bug: the strides are needed below
        const field::Scratch<int> output(pool, 750);
        output[0] = -5;
        CHECK(strides[0] == 48);
    }
}
TEST_CASE("prints a model") { CHECK(std::to_string(17) == "17"); }
