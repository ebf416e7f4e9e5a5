// Trap: a case that needs a file skips itself by an early return, which doctest counts as a pass with 0 assertions.
// Without ZOO_FIXTURE (or with a file that cannot be read) the summary says "5 passed" and SUCCESS, though the case
// that matters has checked nothing: who believes it takes a missing fixture for a repair.
#include "zoo.h"

#include <fstream>
#include <iterator>

static int add(int a, int b) { return a + b; }

TEST_CASE("adds") { CHECK(add(2, 3) == 5); }
TEST_CASE("adds negatives") { CHECK(add(-2, -3) == -5); }
TEST_CASE("reads the fixture") {
    std::ifstream file(zoo::text("ZOO_FIXTURE"), std::ios::binary);
    if (!file) {
        MESSAGE("fixture absent: nothing checked");
        return;
    }
    const std::string content(std::istreambuf_iterator<char>(file), {});
    REQUIRE(!content.empty());
    CHECK(content.find('\0') == std::string::npos);
    CHECK(content.back() == '\n');
}
TEST_CASE("adds zero") { CHECK(add(7, 0) == 7); }
TEST_CASE("commutes") { CHECK(add(2, 3) == add(3, 2)); }
