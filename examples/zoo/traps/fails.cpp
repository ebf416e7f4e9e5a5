// Trap: plain failures, beside cases that print errors and are green (may_fail, should_fail, expected_failures) and
// one that prints none and is red (should_fail that did not). A thrown exception fails a case that has 0 failed
// assertions, and the failed assertions in the summary include those of green cases: who counts assertions miscounts
// cases, both ways.
#include "zoo.h"

#include <stdexcept>

static int twice(int n) { return 2 * n; }

TEST_CASE("passes") { CHECK(twice(2) == 4); }
TEST_CASE("check fails and goes on") {
    CHECK(twice(2) == 5);
    CHECK(twice(3) == 6);
    CHECK(twice(4) == 9);
}
TEST_CASE("require fails and stops") {
    CHECK(twice(2) == 4);
    REQUIRE(twice(2) == 5);
    CHECK(twice(3) == 7);
}
TEST_CASE("throws an exception") {
    CHECK(twice(2) == 4);
    throw std::runtime_error("thrown <&> \"text\" [red]x[/red]");
}
TEST_CASE("throws an int") {
    CHECK(twice(2) == 4);
    throw 42;
}
TEST_CASE("a subcase fails") {
    CHECK(twice(1) == 2);
    SUBCASE("green, one") { CHECK(twice(2) == 4); }
    SUBCASE("red [two]") {
        CHECK(twice(2) == 5);
        SUBCASE("inner") { CHECK(twice(3) == 6); }
    }
}
TEST_CASE("may fail, and does" * doctest::may_fail()) { CHECK(twice(2) == 5); }
TEST_CASE("should fail, and does" * doctest::should_fail()) { CHECK(twice(2) == 5); }
TEST_CASE("should fail, and does not" * doctest::should_fail()) { CHECK(twice(2) == 4); }
TEST_CASE("two failures expected" * doctest::expected_failures(2)) {
    CHECK(twice(2) == 5);
    CHECK(twice(2) == 6);
}
TEST_CASE("two failures expected, one came" * doctest::expected_failures(2)) { CHECK(twice(2) == 5); }
TEST_CASE("passes too") { CHECK(twice(5) == 10); }
