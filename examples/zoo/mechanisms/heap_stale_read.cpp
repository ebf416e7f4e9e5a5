// Special: uninitialised read of the C library's heap, no pool. `distinct` marks in memory that it never clears. Just
// before, `marks` gave a block of the same size back, and cleared it: glibc's per-thread cache hands that one out
// again, and all is right by accident. The case does both, so it is the same alone and in any order.
//   green:   plain; glibc.malloc.mmap_threshold=1 (fresh pages are zero); glibc.malloc.perturb alone (blocks from that
//            cache are not filled).
//   new red: GLIBC_TUNABLES=glibc.malloc.perturb=1:glibc.malloc.tcache_count=0, which fills every new block with 0xfe.
//   tcache_count=0 alone gives back some block or other: red or green by the layout of the heap.
#include "heap.h"

#include <algorithm>
#include <numeric>
#include <vector>

constexpr std::size_t kSlots = 200;

static int marks(const std::vector<int>& values) {
    volatile int* const seen = zoo::take(kSlots);
    for (std::size_t i = 0; i < kSlots; ++i) seen[i] = 0;
    for (const int value : values) seen[value] = 1;
    int sum = 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        sum += seen[i];
        seen[i] = 0;
    }
    zoo::give(seen);
    return sum;
}

static int distinct(const std::vector<int>& values) {
    volatile int* const seen = zoo::take(kSlots);
    int found = 0;
    for (const int value : values) {
        if (seen[value] == 0) ++found;  // the bug: never cleared
        seen[value] = 1;
    }
    zoo::give(seen);
    return found;
}

TEST_CASE("sums a vector") {
    std::vector<int> values(1000);
    std::iota(values.begin(), values.end(), 1);
    CHECK(std::accumulate(values.begin(), values.end(), 0) == 500500);
}
TEST_CASE("sorts a vector") {
    std::vector<int> values{5, 3, 9, 1};
    std::sort(values.begin(), values.end());
    CHECK(values == std::vector<int>{1, 3, 5, 9});
}
TEST_CASE("joins words") { CHECK(std::string("left ") + "right" == "left right"); }
TEST_CASE("counts distinct values") {
    const std::vector<int> values{zoo::kNotes, 90, 90, 150, zoo::kNotes};
    const int marked = marks(values);
    const int found = distinct(values);
    CHECK(marked == 3);
    CHECK(found == 3);
}
TEST_CASE("finds a value") {
    const std::vector<int> values{4, 8, 15, 16, 23, 42};
    CHECK(std::find(values.begin(), values.end(), 15) - values.begin() == 2);
}
TEST_CASE("reverses a word") {
    const std::string word = "stale";
    CHECK(std::string(word.rbegin(), word.rend()) == "elats");
}
