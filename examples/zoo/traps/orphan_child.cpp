// Trap: a case forks a child that outlives the run and holds stdout, stderr and the report open; the run is green.
// Who reads a pipe to its end waits for the child and calls a green run a hang; who lets a lock go when the target
// exits lets it go too early. `child#<pid>` on stderr names it; it sleeps ZOO_CHILD_SECONDS (600). ZOO_SETSID=1: in a
// session of its own, where a signal to the group does not reach it. ZOO_KEEP_HANDLERS=1: it keeps the handlers it
// inherited from doctest, as a plain fork() does, and a SIGTERM makes it add a second report, of a crash, to the
// green one.
#include "zoo.h"

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("leaves a child behind") {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (zoo::flag("ZOO_SETSID")) setsid();
        if (!zoo::flag("ZOO_KEEP_HANDLERS")) zoo::forget_handlers();
        zoo::announce("child");
        auto left = static_cast<unsigned>(zoo::number("ZOO_CHILD_SECONDS", 600));
        while (left > 0) left = sleep(left);
        _exit(0);
    }
}
TEST_CASE("third") { CHECK(3 * 3 == 9); }
