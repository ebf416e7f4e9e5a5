// The debug switches of the pool: environment variables, read once.
#pragma once

#include <cstddef>
#include <optional>

namespace devicepool {

struct Switches {
    bool bypass;                          // VT_POOL_BYPASS=1: no free list; sizes are still rounded
    bool exact;                           // VT_POOL_EXACT=1: reuse kept, size rounding gone
    bool per_case;                        // VT_POOL_PER_CASE=1: every test case starts with pools of its own
    bool serial;                          // VT_POOL_SERIAL=1: every launch waits
    bool stats;                           // VT_POOL_STATS=1: counters on stderr at exit
    bool quarantine;                      // VT_POOL_QUARANTINE=1: a released block is never used again, nor given back
    bool guard;                           // VT_POOL_GUARD=1: host blocks end at an unreadable page
    bool pad;                             // VT_POOL_PAD=1: kPadBytes more behind each block, zeroed
    std::optional<unsigned char> poison;  // VT_POOL_POISON=0..255: fills the whole size class on hand-out
};

const Switches& GetSwitches();

constexpr std::size_t kPadBytes = 64;

// What a device allocates for a block of that size: its pad is behind it. Throws std::bad_alloc.
std::size_t WithPad(std::size_t bytes);

}  // namespace devicepool
