// Trap: one case a way to die; pick one with -dt-tc. doctest reports most of them, with "0 failed" assertions. SIGBUS
// and SIGKILL leave an empty stdout and a cut report, which who wants a word "CRASHED" takes for no crash. An
// exception that leaves a thread ends as SIGABRT.
#include "zoo.h"

#include <stdexcept>
#include <thread>

#include <sys/mman.h>

static volatile int zero = 0;

// Recursion that the compiler can neither flatten nor bound.
static int dive(volatile int depth) {
    volatile char frame[4096];
    frame[depth % 4096] = 1;
    return depth < 0 ? 0 : dive(depth + 1) + frame[depth % 4096];
}

TEST_CASE("green") { CHECK(1 + 1 == 2); }
TEST_CASE("segv") {
    CHECK(1 + 1 == 2);
    zoo::segfault();
}
TEST_CASE("abort") {
    CHECK(1 + 1 == 2);
    std::abort();
}
TEST_CASE("fpe") {
    CHECK(1 + 1 == 2);
    zero = 1 / zero;
    std::raise(SIGFPE);  // where the division is silent
}
TEST_CASE("ill") {
    CHECK(1 + 1 == 2);
    std::raise(SIGILL);
}
TEST_CASE("bus") {
    CHECK(1 + 1 == 2);
    const int file = memfd_create("empty", 0);
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(page != MAP_FAILED);
    *static_cast<volatile char*>(page) = 1;  // behind the end of the file
}
TEST_CASE("stack overflow") {
    CHECK(1 + 1 == 2);
    CHECK(dive(1) == 0);
}
TEST_CASE("segv in a thread") {
    CHECK(1 + 1 == 2);
    std::thread(zoo::segfault).join();
}
TEST_CASE("exception in a thread") {
    CHECK(1 + 1 == 2);
    std::thread([] { throw std::runtime_error("thrown in a thread"); }).join();
}
TEST_CASE("kill") {
    CHECK(1 + 1 == 2);
    kill(getpid(), SIGKILL);
}
