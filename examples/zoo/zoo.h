// What the animals of the zoo share: reading switches from the environment, speaking to stderr without a buffer (so
// that a line is there even when the process dies at once), dying, and waiting for ever.
#pragma once

#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

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

// A forked child inherits doctest's handlers: when it gets SIGTERM it would write a second report.
inline void forget_handlers() {
    for (int number : {SIGINT, SIGILL, SIGFPE, SIGSEGV, SIGTERM, SIGABRT}) std::signal(number, SIG_DFL);
}

}  // namespace zoo
