// Trap: a run whose cases are all green and whose exit is 0 writes NaN to its outputs. out.bin (f32), f64.bin,
// f16.bin and bf16.bin, 1024 values each, go into POOLDIAG_OUTPUT_DIR: i/1024 for i from 0, all exact in each type
// (bf16 keeps the upper bits). ZOO_NAN=n: the first n are the quiet NaN. ZOO_SHORT=1: half of each file.
// ZOO_NO_OUTPUT=1: no file. Who believes the summary ships the NaN.
#include "zoo.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

static constexpr int count = 1024;

template <typename Bits, typename Float> static Bits bits_of(Float value) {
    Bits bits;
    static_assert(sizeof bits == sizeof value, "same width");
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
static std::uint64_t f64(float value) { return bits_of<std::uint64_t>(static_cast<double>(value)); }
static std::uint32_t f32(float value) { return bits_of<std::uint32_t>(value); }
static std::uint16_t bf16(float value) { return static_cast<std::uint16_t>(f32(value) >> 16); }
// Exact for 0 and for normal values with 10 bits behind the point.
static std::uint16_t f16(float value) {
    return value == 0 ? 0 : static_cast<std::uint16_t>((f32(value) - (112u << 23)) >> 13);
}

template <typename Bits> static void write(const char* name, Bits (*encode)(float), Bits nan) {
    std::vector<Bits> values(count);
    for (int i = 0; i < count; ++i) values[i] = encode(static_cast<float>(i) / count);
    std::fill_n(values.begin(), std::clamp(zoo::number("ZOO_NAN", 0), 0L, long{count}), nan);
    const std::size_t kept = zoo::flag("ZOO_SHORT") ? count / 2 : count;
    std::ofstream file(zoo::text("POOLDIAG_OUTPUT_DIR") + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(kept * sizeof(Bits)));
    CHECK(file.good());
}

TEST_CASE("first") { CHECK(1 + 1 == 2); }
TEST_CASE("writes its outputs") {
    if (zoo::text("POOLDIAG_OUTPUT_DIR").empty() || zoo::flag("ZOO_NO_OUTPUT")) return;
    write<std::uint32_t>("out.bin", f32, 0x7fc00000u);
    write<std::uint64_t>("f64.bin", f64, 0x7ff8000000000000u);
    write<std::uint16_t>("f16.bin", f16, 0x7e00u);
    write<std::uint16_t>("bf16.bin", bf16, 0x7fc0u);
}
TEST_CASE("third") { CHECK(3 * 3 == 9); }
