// Faults that read what nobody wrote. The cases of a fault begin with its name; -dt-tc='stale sum: *' selects them.
#include "../field/pool.h"

using field::Scratch;
using field::Where;

// stale sum: sums are added to scratch that is never cleared. A block of an earlier case holds ones.
//   red: baseline, exact, poison-n, serial. green: bypass, per-case, poison-0, isolate.
static field::Pool sums;
TEST_CASE("stale sum: counts words") {
    const Scratch<float> counts(sums, 800);
    field::set_all(counts.data(), 800, 1.0F);
    CHECK(counts[799] == 1.0F);
}
TEST_CASE("stale sum: adds up rows") {
    const Scratch<float> totals(sums, 800);
    for (std::size_t i = 0; i < 800; ++i) totals[i] = totals[i] + 2.0F;
    bool right = true;
    for (std::size_t i = 0; i < 800; ++i) right = right && totals[i] == 2.0F;
    CHECK(right);
}

// stale size: a length is read from a header that nobody wrote, and so many bytes are asked for: out of memory.
//   red: baseline, exact, poison-n (a larger length), serial. green: bypass, per-case, poison-0, isolate.
static field::Pool lengths({.limit = 1 << 20});
TEST_CASE("stale size: packs a picture") {
    const Scratch<unsigned> pixels(lengths, 600, Where::device);
    field::set_all(pixels.data(), 600, 50'000'000U);
    CHECK(pixels[0] == 50'000'000U);
}
TEST_CASE("stale size: unpacks a text") {
    const Scratch<unsigned> header(lengths, 600, Where::device);
    header[1] = 3;
    const Scratch<char> text(lengths, std::size_t{header[0]} + 10, Where::device);
    CHECK(header[1] == 3);
}

// slack: 250 floats are read as 256, a whole number of registers. The six behind are in the size class, and FIELD_EXACT
// of this pool still rounds to 256 bytes.
//   red: baseline, exact, poison-n, serial. green: bypass, per-case, poison-0, isolate.
static field::Pool registers({.exact_to = 256});
TEST_CASE("slack: whole registers") {
    const Scratch<float> row(registers, 256);
    field::set_all(row.data(), 256, std::nanf(""));
    CHECK(std::isnan(row[255]));
}
TEST_CASE("slack: a short row") {
    const Scratch<float> row(registers, 250);
    field::set_all(row.data(), 250, 1.0F);
    const bool finite = std::isfinite(field::sum_of(row.data(), 256));
    CHECK(finite);
}

// relu: a layer reads activations that nobody wrote. Its maximum with zero heals NaN, and so hides the fill.
//   red: baseline, exact, serial. green: bypass, per-case, poison-n, poison-0, isolate.
static field::Pool activations;
TEST_CASE("relu: a layer before") {
    const Scratch<float> layer(activations, 400, Where::device);
    field::set_all(layer.data(), 400, 3.0F);
    CHECK(layer[1] == 3.0F);
}
TEST_CASE("relu: a layer without input") {
    const Scratch<float> layer(activations, 400, Where::device);
    float sum = 0.0F;
    for (std::size_t i = 0; i < 400; ++i) sum += std::fmax(0.0F, layer[i]);
    CHECK(sum == 0.0F);
}

// hidden read: the block is always fresh, so that nobody notices that it is read before it is written.
//   green: everywhere but poison-n, a new red.
static field::Pool seldom;
TEST_CASE("hidden read: another size") {
    const Scratch<float> small(seldom, 20);
    field::set_all(small.data(), 20, 1.0F);
    CHECK(small[19] == 1.0F);
}
TEST_CASE("hidden read: the only one of its size") {
    const Scratch<float> mask(seldom, 5000);
    CHECK(field::sum_of(mask.data(), 5000) == 0.0F);
}

// heap: the value that is read before it is written is in memory of malloc(), which is another pool.
//   red: everywhere but isolate.
static field::Pool beside;
static void* volatile from_heap;  // keeps the compiler from leaving the allocations out
TEST_CASE("heap: fills a table") {
    const Scratch<int> scratch(beside, 100);
    from_heap = std::malloc(1000);
    field::set_all(static_cast<volatile int*>(from_heap), 250, 7777);
    CHECK(static_cast<volatile int*>(from_heap)[249] == 7777);
    std::free(from_heap);
}
TEST_CASE("heap: asks a new table") {
    const Scratch<int> scratch(beside, 100);
    from_heap = std::malloc(1000);
    const bool is_known = static_cast<volatile int*>(from_heap)[120] == 7777;  // the bug: nobody wrote it
    std::free(from_heap);
    CHECK_FALSE(is_known);
}

// both: two faults in one case. Stale numbers are read, and the copy that should come first is not waited for: it takes
// the end of both to make it green.
//   red: baseline, exact, poison-n (stale in another way), poison-0 and serial (one of the two). green: bypass (nothing is
//   stale, and giving back waits), per-case, isolate.
static field::Pool twofold;
static volatile int copied[10];
TEST_CASE("both: the first to copy") {
    const Scratch<int> source(twofold, 900, Where::device);
    field::set_all(source.data(), 900, 4);
    field::launches.add([] { field::set_all(copied, 10, 1); });
    CHECK(source[899] == 4);
}
TEST_CASE("both: the second to read") {
    const bool is_alone = field::tally.misses == 0;
    const Scratch<int> offsets(twofold, 900, Where::device);
    const int shift = offsets[5];  // the first bug: nobody wrote it
    const int value = is_alone ? 1 : copied[5];  // the second bug: nobody waited
    CHECK((shift == 0 && value == 1));
    field::launches.wait();
}
