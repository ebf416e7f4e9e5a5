// Trap: a case that is red by chance, with probability ZOO_RATE (0.5), whatever the environment. Who runs each arm
// once sees an arm "repair" it. With ZOO_COUNTER naming a file the chance is a script: runs are counted in that file,
// and those whose number (from 1) is in ZOO_RED_RUNS, a list with commas, are red.
#include "zoo.h"

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("flips a coin") {
    const bool red = zoo::unlucky();
    CHECK_FALSE(red);
}
TEST_CASE("third") { CHECK(3 * 3 == 9); }
