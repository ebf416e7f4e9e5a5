// Trap: the third of four cases never ends. `hangs#<pid>` on stderr tells that it got there. doctest handles SIGTERM:
// it finishes the report and says that the case "CRASHED: SIGTERM", so who believes the report takes the tool's own
// time limit for a crash of the target. stdout is empty until then.
#include "zoo.h"

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("second") { CHECK(2 * 2 == 4); }
TEST_CASE("never ends") {
    CHECK(3 * 3 == 9);
    zoo::announce("hangs");
    zoo::linger();
}
TEST_CASE("never reached") { CHECK(4 * 4 == 16); }
