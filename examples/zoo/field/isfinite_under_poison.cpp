// Seen in the field: an f32 value of the C library's heap is read before it is written, and the test only wants it to be
// finite. The byte that glibc fills with on hand-out, 0x7f, makes it 3.4e38: finite, so its fill cannot show this read.
//   green: everywhere.
#include "zoo.h"

#include <cmath>

static void* volatile kept;  // keeps the compiler from leaving the allocations out

TEST_CASE("warms the heap up") {
    kept = std::calloc(75, 4);
    CHECK(kept != nullptr);
    std::free(kept);
}
TEST_CASE("the bias is finite") {
    kept = std::malloc(300);
    const float bias = static_cast<const volatile float*>(kept)[20];  // the bug: nobody wrote it
    CHECK(std::isfinite(bias));
    std::free(kept);
}
TEST_CASE("one is finite") { CHECK(std::isfinite(1.0F)); }
