// Seen in the field: a suite that is green, and whose log frightens. FIELD_WORDS chooses what it prints:
//   d: its test of a full disk; f: a pool that logs each free(); r: an error that was caught; n: counts of a logits buffer
//   that is masked with NaN on purpose; t: the same of a reference.
#include "zoo.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

static bool says(char word) { return zoo::text("FIELD_WORDS").find(word) != std::string::npos; }

TEST_CASE("a full disk is an error") {
    std::FILE* const full = std::fopen("/dev/full", "w");
    REQUIRE(full != nullptr);
    std::fputs("checkpoint", full);
    const bool failed = std::fflush(full) != 0;
    if (says('d')) std::fprintf(stderr, "as it should be: %s\n", std::strerror(errno));
    std::fclose(full);
    CHECK(failed);
}
TEST_CASE("a pool logs") {
    if (says('f')) std::fprintf(stderr, "[pool] free(): 8192 bytes go back to class 13\n");
    CHECK(true);
}
TEST_CASE("a wrong shape is refused") {
    bool refused = false;
    try {
        throw std::runtime_error("bad shape [1, negative]");
    } catch (const std::runtime_error& error) {
        refused = true;
        if (says('r')) std::fprintf(stderr, "caught a runtime error: %s\n", error.what());
    }
    CHECK(refused);
}
TEST_CASE("logits are masked") {
    if (says('n')) std::fprintf(stderr, "[census] masked logits n=2048 nan=2048 inf=0 zero=0\n");
    if (says('t')) std::fprintf(stderr, "[reference] expected n=6 nan=6 inf=0 zero=0 absmax=1\n");
    CHECK(true);
}
