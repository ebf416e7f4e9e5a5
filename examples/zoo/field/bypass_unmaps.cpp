// Seen in the field: a block is used after its release, in one case, and the bypass cannot show it: it unmaps the block,
// and the next one that is mapped has the same address.
//   red:   everywhere.
#define LEAVES unmapped
#include "after_release.h"
