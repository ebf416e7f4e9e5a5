// What the animals of the zoo share: reading switches from the environment, speaking to stderr without a buffer (so
// that a line is there even when the process dies at once), dying, and waiting for ever.
#pragma once

#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace zoo {

// The value of a variable; `fallback` when it is unset.
inline std::string text(const char* name, const char* fallback = "") {
    const char* value = std::getenv(name);
    return value ? value : fallback;
}

inline bool flag(const char* name) { return text(name) == "1"; }

inline long number(const char* name, long fallback) {
    const char* value = std::getenv(name);
    return value ? std::strtol(value, nullptr, 10) : fallback;
}

// Tells on stderr that case `index` is running, as `ran#<index>`.
inline void ran(int index) { dprintf(STDERR_FILENO, "ran#%d\n", index); }

// A marker that others wait for before they send a signal, as `<what>#<pid>`.
inline void announce(const char* what) { dprintf(STDERR_FILENO, "%s#%d\n", what, static_cast<int>(getpid())); }

// A real SIGSEGV: a store through a null pointer that the compiler cannot see.
__attribute__((noinline)) inline void segfault() {
    static int* volatile nowhere = nullptr;
    *nowhere = 1;
}

[[noreturn]] inline void linger() {
    for (;;) pause();
}

// The number of this run, from 1, kept in a file that runs at the same time may share.
inline long count_run(const std::string& path) {
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

// A number from 0 to below 1 that no run can know beforehand.
inline double chance() {
    unsigned drawn = 0;
    REQUIRE(getentropy(&drawn, sizeof drawn) == 0);
    return drawn / 4294967296.0;
}

// True with probability ZOO_RATE (0.5). With ZOO_COUNTER naming a file the chance is a script: runs are counted in that
// file, and those whose number (from 1) is in ZOO_RED_RUNS, a list with commas, are unlucky.
inline bool unlucky() {
    const std::string counter = text("ZOO_COUNTER");
    if (counter.empty()) return chance() < std::stod(text("ZOO_RATE", "0.5"));
    const std::string run = "," + std::to_string(count_run(counter)) + ",";
    return ("," + text("ZOO_RED_RUNS") + ",").find(run) != std::string::npos;
}

// A forked child inherits doctest's handlers: when it gets SIGTERM it would write a second report.
inline void forget_handlers() {
    for (int number : {SIGINT, SIGILL, SIGFPE, SIGSEGV, SIGTERM, SIGABRT}) std::signal(number, SIG_DFL);
}

}  // namespace zoo
