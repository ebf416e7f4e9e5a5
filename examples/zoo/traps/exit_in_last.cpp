// Trap: the last of four cases ends the process with _exit(0). Every case was started, the exit status is 0, and
// nothing failed; only the end of the last case is missing from the report. Who compares started cases with the list,
// rather than finished ones, calls this green; what the case would have checked afterwards is red.
#include "zoo.h"

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("second") { CHECK(2 * 2 == 4); }
TEST_CASE("third") { CHECK(3 * 3 == 9); }
TEST_CASE("leaves") {
    CHECK(4 * 4 == 16);
    _exit(0);
    CHECK(4 * 4 == 15);
}
