// Trap: a case writes `fill.bin` into ZOO_FILL_DIR (else POOLDIAG_OUTPUT_DIR) until the disk is full, says "No space
// left on device", fails, and keeps the file. Who believes the summary sees a red test; the run says nothing about
// the target, it is void, and what else was written then (the report!) may be cut. ZOO_FILL_KEEP_GREEN=1: the case
// passes all the same, and who believes that has a green run on a full disk. ZOO_FILL_LIMIT_MB (512; 0 for none) ends
// it on a disk that was not meant.
#include "zoo.h"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>

// Writes until an error or the limit; the error's number, 0 for the limit.
static int fill(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return errno;
    const std::vector<char> block(65536, 'f');
    const long limit = zoo::number("ZOO_FILL_LIMIT_MB", 512) * 16;
    int error = 0;
    for (long blocks = 0; error == 0 && (limit == 0 || blocks < limit); ++blocks) {
        if (write(file, block.data(), block.size()) < 0) error = errno;
    }
    close(file);
    return error;
}

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("fills the disk") {
    const std::string folder = zoo::text("ZOO_FILL_DIR", zoo::text("POOLDIAG_OUTPUT_DIR").c_str());
    REQUIRE_MESSAGE(!folder.empty(), "neither ZOO_FILL_DIR nor POOLDIAG_OUTPUT_DIR is set");
    const int error = fill(folder + "/fill.bin");
    std::printf("fill.bin: %s\n", error ? std::strerror(error) : "limit reached");
    std::fflush(stdout);
    const bool written = zoo::flag("ZOO_FILL_KEEP_GREEN");
    CHECK(written);
}
TEST_CASE("third") { CHECK(3 * 3 == 9); }
