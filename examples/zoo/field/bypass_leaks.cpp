// Seen in the field: a block is used after its release, in one case; the bypass never gives anything back, so it is a
// quarantine.
//   red:   baseline, exact (the same size), per-case, poison-0, serial, isolate.
//   green: bypass, poison-n.
#define LEAVES kept
#include "after_release.h"
