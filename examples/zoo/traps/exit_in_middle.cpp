// Trap: the third of five cases ends the process with _exit(0). The exit status is 0 and no assertion has failed, but
// two cases never ran, and one of them is red. There is no summary at all (stdout was buffered), and a report file is
// cut: who goes by the exit status alone calls this green.
#include "zoo.h"

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("second") { CHECK(2 * 2 == 4); }
TEST_CASE("leaves") {
    CHECK(3 * 3 == 9);
    _exit(0);
}
TEST_CASE("fourth, red, never reached") { CHECK(4 * 4 == 15); }
TEST_CASE("fifth, never reached") { CHECK(5 * 5 == 25); }
