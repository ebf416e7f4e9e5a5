// The one kernel of the toy model, and its number formats. Compiled by nvcc too, for the real GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define DEVICEPOOL_HOST_DEVICE __host__ __device__
#else
#define DEVICEPOOL_HOST_DEVICE
#endif

namespace devicepool {

enum class DType : unsigned char { kF32, kBf16 };

inline std::size_t ElementSize(DType dtype) { return dtype == DType::kF32 ? 4 : 2; }

// What a kernel of the GPU was seen to leave behind when it was given another device's block.
constexpr std::uint16_t kForeignBlockPattern = 0x7fff;

struct Bf16 {
    std::uint16_t bits;
};

DEVICEPOOL_HOST_DEVICE inline float Load(float value) { return value; }

DEVICEPOOL_HOST_DEVICE inline float Load(Bf16 value) {
    const std::uint32_t bits = std::uint32_t{value.bits} << 16;
    float wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

DEVICEPOOL_HOST_DEVICE inline void Store(float& slot, float value) { slot = value; }

// Rounds to nearest, ties to even. A NaN must not be rounded: the carry could make an infinity of it.
DEVICEPOOL_HOST_DEVICE inline void Store(Bf16& slot, float value) {
    std::uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const std::uint32_t rounding = value == value ? 0x7fffu + ((bits >> 16) & 1u) : 0u;
    slot.bits = static_cast<std::uint16_t>((bits + rounding) >> 16);
}

// One adaLN-like layer: out = clamp(gain * softsign(in * (1 + scale) + bias), limit). `out` may be `in`.
struct Kernel {
    DType dtype;
    std::size_t count;
    void* out;
    const void* in;
    const void* scale;
    std::size_t scale_count;
    const void* bias;
    std::size_t bias_count;
    float gain = 1.0F;
    float limit = 1e30F;
};

template <typename T>
DEVICEPOOL_HOST_DEVICE inline void RunElement(const Kernel& kernel, std::size_t i) {
    const float scale = Load(static_cast<const T*>(kernel.scale)[i % kernel.scale_count]);
    const float bias = Load(static_cast<const T*>(kernel.bias)[i % kernel.bias_count]);
    const float sum = Load(static_cast<const T*>(kernel.in)[i]) * (1.0F + scale) + bias;
    const float value = kernel.gain * (sum / (1.0F + (sum < 0.0F ? -sum : sum)));
    const float limit = kernel.limit;
    Store(static_cast<T*>(kernel.out)[i], value > limit ? limit : value < -limit ? -limit : value);
}

inline void RunOnHost(const Kernel& kernel) {
    for (std::size_t i = 0; i < kernel.count; ++i) {
        if (kernel.dtype == DType::kF32) {
            RunElement<float>(kernel, i);
        } else {
            RunElement<Bf16>(kernel, i);
        }
    }
}

}  // namespace devicepool
