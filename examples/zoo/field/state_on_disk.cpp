// Seen in the field: a cache of compiled kernels in a file, which is right while it is cold, and returns another kernel
// when it is warm. The file is FIELD_KERNELS (kernels.bin in the working folder).
//   The first run is green, and leaves the file; all later ones are red, under every arm.
#include "pool.h"

static field::Pool pool;

TEST_CASE("scratch holds what was written") {
    const field::Scratch<int> block(pool, 100);
    block[3] = 3;
    CHECK(block[3] == 3);
}
TEST_CASE("compiles a kernel once") {
    const std::string path = zoo::text("FIELD_KERNELS", "kernels.bin");
    const bool is_warm = access(path.c_str(), R_OK) == 0;
    if (!is_warm) {
        std::FILE* const file = std::fopen(path.c_str(), "w");
        REQUIRE(file != nullptr);
        std::fputs("kernel 1\n", file);
        std::fclose(file);
    }
    CHECK_FALSE(is_warm);
}
TEST_CASE("names a kernel") { CHECK(std::string("kernel ") + "1" == "kernel 1"); }
