// Trap: a main() that hands no argument to doctest. A request for the list runs every case (`ran#<n>` on stderr), a
// filter filters nothing, a report asked for is never written. Who takes the output for a list, or the run for the
// one case that was asked for, is wrong, and has touched the device. ZOO_FAIL=<n> makes case n red.
#define DOCTEST_CONFIG_IMPLEMENT
#include "zoo.h"

static void check(int index) {
    zoo::ran(index);
    CHECK(zoo::number("ZOO_FAIL", 0) != index);
}

TEST_CASE("first") { check(1); }
TEST_CASE("second") { check(2); }
TEST_CASE("third") { check(3); }

int main() { return doctest::Context().run(); }
