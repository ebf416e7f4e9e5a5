// Trap: a case leaves `zoo_state.txt` in the current directory, and is red when it finds one there. The first run is
// green and every later one red, whatever the arm: who runs the arms in a row blames, or praises, the arm that came
// after the first.
#include "zoo.h"

#include <fstream>

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("keeps state in the working directory") {
    CHECK_FALSE(std::ifstream("zoo_state.txt").good());
    std::ofstream state("zoo_state.txt", std::ios::app);
    state << "run\n";
    CHECK(state.good());
}
TEST_CASE("third") { CHECK(3 * 3 == 9); }
