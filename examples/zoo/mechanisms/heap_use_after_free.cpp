// Special: use after free of the C library's heap, no pool. `largest` reads a block that has gone back. glibc keeps
// it, and nobody has asked for it since, so the value is still there.
//   green:   plain; glibc.malloc.perturb alone (small blocks go to the per-thread cache, which does not fill them).
//   new red: GLIBC_TUNABLES=glibc.malloc.perturb=255:glibc.malloc.tcache_count=0 fills the freed block with 0xff;
//            glibc.malloc.mmap_threshold=1 with glibc.malloc.mmap_max raised unmaps it: a SIGSEGV.
#include "heap.h"

#include <algorithm>
#include <numeric>
#include <vector>

static int largest(const std::vector<int>& values) {
    volatile int* const copy = zoo::take(zoo::kNotes + values.size());
    std::size_t found = zoo::kNotes;
    for (std::size_t i = 0; i < values.size(); ++i) {
        copy[zoo::kNotes + i] = values[i];
        if (copy[found] < values[i]) found = zoo::kNotes + i;
    }
    zoo::give(copy);
    return copy[found];  // the bug: the block has gone back
}

TEST_CASE("sums a vector") {
    std::vector<int> values(1000);
    std::iota(values.begin(), values.end(), 1);
    CHECK(std::accumulate(values.begin(), values.end(), 0) == 500500);
}
TEST_CASE("joins words") { CHECK(std::string("left ") + "right" == "left right"); }
TEST_CASE("sorts a vector") {
    std::vector<int> values{5, 3, 9, 1};
    std::sort(values.begin(), values.end());
    CHECK(values == std::vector<int>{1, 3, 5, 9});
}
TEST_CASE("largest of a vector") {
    std::vector<int> values(200, 7);
    values[100] = 40;
    CHECK(values.size() == 200);
    CHECK(largest(values) == 40);
}
TEST_CASE("finds a value") {
    const std::vector<int> values{4, 8, 15, 16, 23, 42};
    CHECK(std::find(values.begin(), values.end(), 15) - values.begin() == 2);
}
TEST_CASE("reverses a word") {
    const std::string word = "freed";
    CHECK(std::string(word.rbegin(), word.rend()) == "deerf");
}
