// Seen in the field: a block is used after its release, in one case; the bypass makes the released pages unreadable, so
// that the same access is a SIGSEGV there.
//   red:   baseline, exact (the same size), per-case, poison-0, serial, isolate; a new red: bypass, poison-n.
#define LEAVES unreadable
#include "after_release.h"
