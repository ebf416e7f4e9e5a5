// Chance for the faults that show in some runs only.
#pragma once

#include "zoo.h"

#include <cstdint>

namespace faults {

// True in this share of the runs. With FAULT_RUNS naming a file, runs are counted in there, and the number of the run
// and FAULT_SEED decide: the same runs are red whenever a test is repeated.
inline bool drawn(double rate) {
    const std::string counter = zoo::text("FAULT_RUNS");
    if (counter.empty()) return zoo::chance() < rate;
    std::uint64_t mixed = static_cast<std::uint64_t>(zoo::number("FAULT_SEED", 1) * 1000003 + zoo::count_run(counter));
    for (int round = 0; round < 3; ++round) {
        mixed += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed ^= mixed >> 31;
    }
    return static_cast<double>(mixed >> 11) / 9007199254740992.0 < rate;
}

inline double rate() { return std::stod(zoo::text("FAULT_RATE", "0.5")); }

}  // namespace faults
