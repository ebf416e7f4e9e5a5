// Trap: the fourth of 13 cases crashes, and the summary beside it says "44 assertions | 44 passed | 0 failed" and "9
// skipped". All 44 are real and true. Who looks for "0 failed" calls this green; who believes "skipped" thinks that
// somebody chose to leave nine cases out, when they were never reached.
#include "zoo.h"

#include <array>
#include <numeric>

// The sum of 1..n by adding, to compare with the closed form.
static int sum(int n) {
    std::array<int, 64> values{};
    std::iota(values.begin(), values.end(), 1);
    return std::accumulate(values.begin(), values.begin() + n, 0);
}
static void check_sums(int count) {
    for (int n = 1; n <= count; ++n) CHECK(sum(n) == n * (n + 1) / 2);
}

TEST_CASE("sums to 9") { check_sums(9); }
TEST_CASE("sums to 17") { check_sums(17); }
TEST_CASE("sums to 17 again") { check_sums(17); }
TEST_CASE("crashes") {
    CHECK(sum(1) == 1);
    zoo::segfault();
    CHECK(sum(2) == 3);
}
TEST_CASE("not reached 5") { check_sums(5); }
TEST_CASE("not reached 6") { check_sums(6); }
TEST_CASE("not reached 7") { check_sums(7); }
TEST_CASE("not reached 8") { check_sums(8); }
TEST_CASE("not reached 9") { check_sums(9); }
TEST_CASE("not reached 10") { check_sums(10); }
TEST_CASE("not reached 11") { check_sums(11); }
TEST_CASE("not reached 12") { check_sums(12); }
TEST_CASE("not reached 13") { check_sums(13); }
