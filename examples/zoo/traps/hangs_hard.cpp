// Trap: the third of four cases never ends and ignores SIGTERM, and so does a child of it in a session of its own.
// `child#<pid>` and then `hangs#<pid>` on stderr tell that both got there. SIGTERM to the group changes nothing;
// SIGKILL to the group ends the case, leaves the report cut, and misses the child, which lives on and holds the
// descriptors. (The child ends itself after an hour, so that one forgotten by hand does not stay for ever.)
#include "zoo.h"

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("second") { CHECK(2 * 2 == 4); }
TEST_CASE("never ends, whatever is asked") {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    REQUIRE(sigaction(SIGTERM, &ignore, nullptr) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        setsid();
        alarm(3600);
        zoo::announce("child");
        close(ready[1]);
        zoo::linger();
    }
    close(ready[1]);
    char nothing;
    CHECK(read(ready[0], &nothing, 1) == 0);  // end of file: the child has its own session now
    zoo::announce("hangs");
    zoo::linger();
}
TEST_CASE("never reached") { CHECK(4 * 4 == 16); }
