// Faults outside of the pool: threads, files, ports, limits, variables. The cases of a fault begin with its name, and all
// of them use the pool, so that its arms act.
#include "../field/pool.h"

#include <atomic>
#include <cfenv>
#include <ctime>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

using field::Scratch;

static field::Pool pool;

static int use_pool(int value) {
    const Scratch<int> block(pool, 350);
    field::set_all(block.data(), 350, value);
    return block[175];
}

static bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

static void write_file(const std::string& path, const std::string& contents) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    REQUIRE(file != nullptr);
    std::fputs(contents.c_str(), file);
    std::fclose(file);
}

// thread: the worker of an earlier case still runs.
//   red: everywhere but isolate.
static std::atomic<int> workers{0};
TEST_CASE("thread: starts a worker") {
    std::thread([] {
        ++workers;
        zoo::linger();
    }).detach();
    while (workers == 0) std::this_thread::yield();
    CHECK(use_pool(1) == 1);
}
TEST_CASE("thread: nobody works") {
    CHECK(use_pool(2) == 2);
    CHECK(workers == 0);
}

// file: the last case leaves a file in the working folder, and the first one takes it for a checkpoint.
//   green in the first run, red in all later ones, everywhere.
TEST_CASE("file: starts without a checkpoint") {
    CHECK(use_pool(3) == 3);
    CHECK_FALSE(exists("checkpoint.part"));
}
TEST_CASE("file: writes a checkpoint") {
    write_file("checkpoint.part", "half of it");
    CHECK(use_pool(4) == 4);
}

// cache: what was compiled is kept in XDG_CACHE_HOME. Cold it is right, warm it is not.
//   red: everywhere, once the cache is warm; green where the cache is new and empty.
static std::string cache_file() { return zoo::text("XDG_CACHE_HOME", ".") + "/field-kernels"; }
TEST_CASE("cache: multiplies") {
    CHECK(use_pool(5) == 5);
    const bool is_warm = exists(cache_file());
    if (!is_warm) write_file(cache_file(), "kernel 1\n");
    CHECK_FALSE(is_warm);
}
TEST_CASE("cache: adds") { CHECK(use_pool(6) == 6); }

// settings: a file of the user, in HOME, that says something the suite does not expect. Nobody writes it anew.
//   red: everywhere while the file is there; green in an empty HOME.
TEST_CASE("settings: has none") {
    CHECK(use_pool(7) == 7);
    CHECK_FALSE(exists(zoo::text("HOME", ".") + "/.fieldrc"));
}
TEST_CASE("settings: needs none") { CHECK(use_pool(8) == 8); }

// port: somebody else on this machine has the port FAULT_PORT.
//   red: everywhere.
TEST_CASE("port: listens") {
    CHECK(use_pool(9) == 9);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(listener >= 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<in_port_t>(zoo::number("FAULT_PORT", 0)));
    const int bound = bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    close(listener);
    CHECK(bound == 0);
}
TEST_CASE("port: is silent") { CHECK(use_pool(10) == 10); }

// open socket: an earlier case of the same process never closes what it listens on.
//   red: everywhere but isolate.
static bool listen_on_own_name() {
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(listener >= 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "field-%d", static_cast<int>(getpid()));
    return bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}
TEST_CASE("open socket: serves") {
    CHECK(use_pool(11) == 11);
    CHECK(listen_on_own_name());
}
TEST_CASE("open socket: serves again") {
    CHECK(use_pool(12) == 12);
    CHECK(listen_on_own_name());
}

// leak: an earlier case leaks memory of the device that the pool never had, and the pool gets none.
//   red: everywhere but isolate: out of memory.
static long leaked = 0;
TEST_CASE("leak: loads a driver") {
    leaked += 700 << 10;
    CHECK(use_pool(13) == 13);
}
TEST_CASE("leak: needs memory") {
    CHECK(use_pool(14) == 14);
    if (leaked + (512 << 10) > 1 << 20) throw std::runtime_error("out of memory: tried to allocate 524288 bytes");
    CHECK(leaked == 0);
}

// plug-in: another case loads a plug-in, which changes how the process rounds. Alone, the victim loads less.
//   red: everywhere but isolate.
TEST_CASE("plug-in: is loaded") {
    CHECK(std::fesetround(FE_UPWARD) == 0);
    CHECK(use_pool(15) == 15);
}
TEST_CASE("plug-in: a third is a third") {
    CHECK(use_pool(16) == 16);
    volatile float three = 3.0F;
    CHECK(std::lrint(1.0F / three) == 0);
}

// variables: red while the environment is not longer than in the first run, whose length is kept in the file FAULT_SIZE:
// as a stack that happens to lie where it does. Any variable more makes it green.
extern char** environ;
static long environment_bytes() {
    long bytes = 0;
    for (char** variable = environ; *variable != nullptr; ++variable) bytes += static_cast<long>(std::strlen(*variable)) + 1;
    return bytes;
}
TEST_CASE("variables: uses the pool") { CHECK(use_pool(17) == 17); }
TEST_CASE("variables: lies where it does") {
    CHECK(use_pool(18) == 18);
    const std::string path = zoo::text("FAULT_SIZE", "environment-size");
    if (!exists(path)) write_file(path, std::to_string(environment_bytes()));
    std::FILE* const file = std::fopen(path.c_str(), "r");
    REQUIRE(file != nullptr);
    long first = 0;
    CHECK(std::fscanf(file, "%ld", &first) == 1);
    std::fclose(file);
    const bool is_unlucky = environment_bytes() <= first + 8;
    CHECK_FALSE(is_unlucky);
}

// expired: a date of the past in the suite's own data.
//   red: everywhere.
TEST_CASE("expired: uses the pool") { CHECK(use_pool(19) == 19); }
TEST_CASE("expired: the certificate is valid") {
    CHECK(use_pool(20) == 20);
    const bool is_valid = std::time(nullptr) < 1'500'000'000;
    CHECK(is_valid);
}
