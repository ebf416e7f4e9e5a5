// No trap but a mirror: a green case that prints what a target is given, one fact a line on stdout: `argv:` and
// `env:` (backslashes, control characters and bytes over 0x7e as \xNN), `cwd:`, `fd: N -> what`, `pid:`, `ppid:`,
// `pgid:`, `sid:`, `rlimit_core: soft hard` (-1 for no limit), and the masks of blocked and ignored signals. It shows
// the whole environment to whoever keeps the output.
#include "zoo.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include <sys/resource.h>

extern char** environ;

static std::string escaped(const std::string& raw) {
    std::string shown;
    char hex[5];
    for (unsigned char byte : raw) {
        std::snprintf(hex, sizeof hex, "\\x%02X", byte);
        if (byte < 0x20 || byte > 0x7e || byte == '\\') shown += hex;
        else shown += static_cast<char>(byte);
    }
    return shown;
}

TEST_CASE("prints what it is given") {
    {
        std::ifstream arguments("/proc/self/cmdline", std::ios::binary);
        for (std::string argument; std::getline(arguments, argument, '\0');) {
            std::cout << "argv: " << escaped(argument) << "\n";
        }
    }
    for (char** entry = environ; *entry; ++entry) std::cout << "env: " << escaped(*entry) << "\n";
    std::cout << "cwd: " << escaped(std::filesystem::current_path().string()) << "\n";
    for (int fd = 0; fd < 1024; ++fd) {  // by number: walking /proc/self/fd would open one more
        std::error_code closed;
        const auto target = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), closed);
        if (!closed) std::cout << "fd: " << fd << " -> " << escaped(target.string()) << "\n";
    }
    std::cout << "pid: " << getpid() << "\nppid: " << getppid() << "\npgid: " << getpgid(0) << "\nsid: " << getsid(0);
    struct rlimit core;
    REQUIRE(getrlimit(RLIMIT_CORE, &core) == 0);
    std::cout << "\nrlimit_core: " << static_cast<long>(core.rlim_cur) << " " << static_cast<long>(core.rlim_max);
    std::cout << "\n";
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("SigBlk:", 0) == 0 || line.rfind("SigIgn:", 0) == 0) std::cout << line << "\n";
    }
    std::cout << std::flush;
    CHECK(std::cout.good());
}
