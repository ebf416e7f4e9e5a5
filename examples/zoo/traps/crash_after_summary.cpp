// Trap: all cases are green, the summary says SUCCESS, the report is complete, and then a static destructor crashes.
// Who stops reading at the summary misses the SIGSEGV; who reads only the signal blames a case. It is red, outside
// any case.
#include "zoo.h"

struct Late {
    ~Late() { zoo::segfault(); }
};
static Late late;

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("second") { CHECK(2 * 2 == 4); }
TEST_CASE("third") { CHECK(3 * 3 == 9); }
