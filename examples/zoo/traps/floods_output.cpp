// Trap: a case writes ZOO_FLOOD_MB (8) megabytes of numbered lines to stdout and is green; 0 means without end. The
// lines say "error" and "FAILED". Who keeps the output in memory, or on disk without a cap, fills one of them; who
// searches it for words calls a green run red; who keeps only its head loses the summary.
#include "zoo.h"

#include <cerrno>
#include <cstring>

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("floods") {
    const long lines = zoo::number("ZOO_FLOOD_MB", 8) * 1024;
    std::string line(1024, '.');
    line.back() = '\n';
    bool open = true;
    for (long n = 1; open && (lines == 0 || n <= lines); ++n) {
        const std::string head = "flood " + std::to_string(n) + " of " + std::to_string(lines) + ": error FAILED ";
        line.replace(0, head.size(), head);
        open = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
    }
    CHECK_MESSAGE(open, std::strerror(errno));
}
TEST_CASE("third") { CHECK(3 * 3 == 9); }
