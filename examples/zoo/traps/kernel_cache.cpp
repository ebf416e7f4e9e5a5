// Trap: a cache of kernels that outlives the run. The first run compiles, computes with what it compiled, and keeps it in
// $XDG_CACHE_HOME/zoo_kernels, or below $HOME/.cache; what it keeps is torn, so that every later run that finds it is red.
// One green, then reds: no rate, and no arm of an allocator changes it.
#include "zoo.h"

#include <filesystem>
#include <fstream>

static std::filesystem::path cache() {
    const std::string home = zoo::text("HOME", "/nonexistent") + "/.cache";
    return std::filesystem::path(zoo::text("XDG_CACHE_HOME", home.c_str())) / "zoo_kernels" / "scale.bin";
}

static double compiled() {
    double factor = 3.0;
    std::ifstream kept(cache());
    if (kept >> factor) return factor;
    std::error_code ignored;
    std::filesystem::create_directories(cache().parent_path(), ignored);
    std::ofstream(cache()) << factor / 2;  // not what was compiled
    return factor;
}

TEST_CASE("adds") { CHECK(2 + 3 == 5); }
TEST_CASE("scales with a cached kernel") { CHECK(compiled() * 2.0 == doctest::Approx(6.0)); }
TEST_CASE("commutes") { CHECK(2 + 3 == 3 + 2); }
