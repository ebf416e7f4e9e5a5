// The debug switches of the pool: environment variables, read once.
#pragma once

#include <optional>

namespace devicepool {

struct Switches {
    bool bypass;                          // VT_POOL_BYPASS=1: no free list; sizes are still rounded
    bool exact;                           // VT_POOL_EXACT=1: reuse kept, size rounding gone
    bool per_case;                        // VT_POOL_PER_CASE=1: every test case starts with pools of its own
    bool serial;                          // VT_POOL_SERIAL=1: every launch waits
    bool stats;                           // VT_POOL_STATS=1: counters on stderr at exit
    std::optional<unsigned char> poison;  // VT_POOL_POISON=0..255: fills the whole size class on hand-out
};

const Switches& GetSwitches();

}  // namespace devicepool
