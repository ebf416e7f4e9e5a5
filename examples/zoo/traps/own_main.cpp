// Trap: a product with its tests inside ("tests in production code"). Its main() runs doctest only when it is asked
// by a -dt- option; without one it does its work and exits 0, which who runs it plainly takes for a green test run.
// Options without the prefix are not doctest's here: `-tc=x` selects nothing. It prints before and, without
// -dt-exit=1, after the tests, so stdout is not only doctest's.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_NO_UNPREFIXED_OPTIONS
#include "zoo.h"

#include <cstring>
#include <iostream>

static int area(int width, int height) { return width * height; }

TEST_CASE("area of a square") { CHECK(area(3, 3) == 9); }
TEST_CASE("area of nothing") { CHECK(area(0, 7) == 0); }
TEST_CASE("area, red") { CHECK(area(2, 3) == (zoo::flag("ZOO_GREEN") ? 6 : 7)); }

static bool asked_for_tests(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], "-dt-", 4) == 0 || std::strncmp(argv[i], "--dt-", 5) == 0) return true;
    }
    return false;
}

int main(int argc, char** argv) {
    std::cout << "product 1.0 <ready> device 0: [emulated]" << std::endl;
    int tests = 0;
    if (asked_for_tests(argc, argv)) {
        doctest::Context context(argc, argv);
        tests = context.run();
        if (context.shouldExit()) return tests;
    }
    std::cout << "product: area " << area(6, 7) << std::endl;
    return tests;
}
