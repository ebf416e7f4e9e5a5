#include "switches.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace devicepool {
namespace {

// Only "1" is on. Off means unset; "0" is off as well, so that nobody is surprised.
bool IsOn(const char* value) { return value != nullptr && std::strcmp(value, "1") == 0; }

std::optional<unsigned char> Byte(const char* value) {
    if (value == nullptr || *value == '\0') return std::nullopt;
    unsigned char byte = 0;
    const char* end = value + std::strlen(value);
    const auto [stop, error] = std::from_chars(value, end, byte);
    if (error == std::errc() && stop == end) return byte;
    // A switch that is set and does nothing would be taken for evidence.
    std::fprintf(stderr, "[devicepool] VT_POOL_POISON=%s is not a number from 0 to 255\n", value);
    std::exit(2);
}

}  // namespace

const Switches& GetSwitches() {
    static const Switches switches{
        IsOn(std::getenv("VT_POOL_BYPASS")), IsOn(std::getenv("VT_POOL_EXACT")), IsOn(std::getenv("VT_POOL_PER_CASE")),
        IsOn(std::getenv("VT_POOL_SERIAL")), IsOn(std::getenv("VT_POOL_STATS")),
        IsOn(std::getenv("VT_POOL_QUARANTINE")), IsOn(std::getenv("VT_POOL_GUARD")), IsOn(std::getenv("VT_POOL_PAD")),
        Byte(std::getenv("VT_POOL_POISON"))};
    return switches;
}

std::size_t WithPad(std::size_t bytes) {
    const std::size_t pad = GetSwitches().pad ? kPadBytes : 0;
    if (bytes > std::numeric_limits<std::size_t>::max() - pad) throw std::bad_alloc();
    return bytes + pad;
}

}  // namespace devicepool
