// Trap: a case that is red by chance, with probability ZOO_RATE (0.5), whatever the environment. Who runs each arm
// once sees an arm "repair" it. With ZOO_COUNTER naming a file the chance is a script: runs are counted in that file,
// and those whose number (from 1) is in ZOO_RED_RUNS, a list with commas, are red.
#include "zoo.h"

#include <random>

#include <fcntl.h>
#include <sys/file.h>

// The number of this run, from 1, kept in a file that runs at the same time may share.
static long count_run(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    REQUIRE(file >= 0);
    REQUIRE(flock(file, LOCK_EX) == 0);
    char before[32] = {};
    REQUIRE(pread(file, before, sizeof before - 1, 0) >= 0);
    const long run = std::strtol(before, nullptr, 10) + 1;
    const std::string after = std::to_string(run) + "\n";
    REQUIRE(pwrite(file, after.data(), after.size(), 0) == static_cast<ssize_t>(after.size()));
    close(file);
    return run;
}

static bool unlucky() {
    const std::string counter = zoo::text("ZOO_COUNTER");
    if (counter.empty()) return std::random_device{}() < std::stod(zoo::text("ZOO_RATE", "0.5")) * 4294967296.0;
    const std::string run = "," + std::to_string(count_run(counter)) + ",";
    return ("," + zoo::text("ZOO_RED_RUNS") + ",").find(run) != std::string::npos;
}

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("flips a coin") {
    const bool red = unlucky();
    CHECK_FALSE(red);
}
TEST_CASE("third") { CHECK(3 * 3 == 9); }
