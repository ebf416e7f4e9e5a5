// Does one thing to blocks of the example's pool and says what it saw; what the switches set in its environment do to
// such an access is the caller's question. Each access is a real one: where it is fatal, the last line names it.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <unistd.h>

#include "device_pool.h"
#include "switches.h"

using namespace devicepool;

static char* block;

// Tells where the fault was, counted from the block's first byte.
static void Tell(int number, siginfo_t* info, void*) {
    dprintf(STDERR_FILENO, "signal=%d offset=%ld\n", number, static_cast<char*>(info->si_addr) - block);
    _exit(3);
}

// A read and a store that the compiler must not reason about.
static int Read(const char* at) { return *static_cast<const volatile char*>(at); }
static void Write(char* at, char value) { *static_cast<volatile char*>(at) = value; }

static char* Take(Backend& backend, std::size_t bytes) {
    block = static_cast<char*>(Pool(backend).Acquire(backend, bytes));
    return block;
}

static int ReuseOf(Backend& backend) {
    std::set<void*> seen;
    for (int i = 0; i < 20; ++i) {
        seen.insert(Take(backend, 2000));
        Pool(backend).Release(backend, block);
    }
    std::printf("addresses=%zu kept=%zu\n", seen.size(), Pool(backend).free_bytes());
    return 0;
}

// What a second owner of the block finds right behind it after the first stored there.
static int BehindReused(Backend& backend) {
    const std::size_t bytes = SizeClass(2000);
    const char left[] = "left behind";
    for (int turn = 0; turn < 2; ++turn) {
        Take(backend, bytes);
        char found[kPadBytes];
        backend.CopyToHost(found, block + bytes, sizeof found);
        int set = 0;
        for (const char byte : found) set += byte != 0;
        std::printf("set=%d\n", set);
        backend.CopyToDevice(block + bytes, left, sizeof left);
        Pool(backend).Release(backend, block);
    }
    return 0;
}

static int DecodeTwice() {
    auto* first = static_cast<char*>(block = static_cast<char*>(Pool(Host()).DecodeInput(Host(), 2000)));
    auto* second = static_cast<char*>(Pool(Host()).DecodeInput(Host(), 2000));
    std::printf("same=%d\n", first == second);
    std::fflush(stdout);
    return Read(first) & 0;
}

int main(int argc, char** argv) {
    struct sigaction action{};
    action.sa_sigaction = Tell;
    action.sa_flags = SA_SIGINFO;
    for (int number : {SIGSEGV, SIGBUS}) sigaction(number, &action, nullptr);
    const std::string what = argc > 1 ? argv[1] : "";
    const std::size_t bytes = argc > 2 ? std::stoul(argv[2]) : 2000;
    const long offset = argc > 3 ? std::stol(argv[3]) : 0;
    Backend& backend = what.find("gpu") == std::string::npos ? Host() : Gpu();
    if (what == "reuse" || what == "reuse-gpu") return ReuseOf(backend);
    if (what == "behind" || what == "behind-gpu") return BehindReused(backend);
    if (what == "decode") return DecodeTwice();
    Take(backend, bytes);
    if (what == "released" || what == "released-gpu") Pool(backend).Release(backend, block);
    if (what == "released-gpu") backend.Fill(block, 7, bytes);  // by the device, which may
    if (what == "address") std::printf("aligned=%d\n", reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    if (what == "released" || what == "read") return Read(block + offset) & 0;
    if (what == "write") Write(block + offset, 1);
    return 0;
}
