// Honest work on scratch from the pool: every element is written before it is read, and nothing outlives its owner.
#pragma once

#include "pool.h"

#include <algorithm>
#include <numeric>

namespace zoo {

using Values = std::vector<float>;

// first, first + 1, ... : small whole numbers, so that sums are exact.
inline Values ramp(std::size_t count, float first = 1.0F) {
    Values values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

inline Values prefix_sums(const Values& in) {
    const Scratch<float> sums(in.size());
    float sum = 0.0F;
    for (std::size_t i = 0; i < in.size(); ++i) sums[i] = sum += in[i];
    return Values(sums.data(), sums.data() + in.size());
}

inline float dot(const Values& a, const Values& b) {
    const Scratch<float> products(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) products[i] = a[i] * b[i];
    return std::accumulate(products.data(), products.data() + a.size(), 0.0F);
}

inline Values transposed(const Values& in, std::size_t rows) {
    const std::size_t columns = in.size() / rows;
    const Scratch<float> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) out[i % columns * rows + i / columns] = in[i];
    return Values(out.data(), out.data() + in.size());
}

inline Values smoothed(const Values& in) {
    const Scratch<float> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        out[i] = (in[i > 0 ? i - 1 : 0] + in[i] + in[std::min(i + 1, in.size() - 1)]) / 3.0F;
    }
    return Values(out.data(), out.data() + in.size());
}

inline std::vector<int> histogram(const Values& in, std::size_t bins) {
    const Scratch<int> counts(bins);
    for (std::size_t i = 0; i < bins; ++i) counts[i] = 0;
    for (const float value : in) counts[static_cast<std::size_t>(value) % bins] += 1;
    return std::vector<int>(counts.data(), counts.data() + bins);
}

// Multiplies on the emulated GPU: upload, kernel, download. A kernel that is given a block of the host leaves 0x7fff in
// every 16-bit word: that is what was seen on a real machine, without an error and without a cause.
inline Values scaled_on_gpu(const Values& in, float factor) {
    const Scratch<float> buffer(in.size(), Place::gpu);
    void* const address = buffer.address();
    std::memcpy(blocks[address].view, in.data(), buffer.bytes());
    launch(Stream::main, [address, factor, count = in.size()] {
        const Block& block = blocks[address];
        auto* const elements = reinterpret_cast<float*>(block.view);
        for (std::size_t i = 0; i < count; ++i) elements[i] *= factor;
        if (block.place == Place::gpu) return;
        for (std::size_t i = 0; i < count * 2; ++i) std::memcpy(block.view + 2 * i, "\xff\x7f", 2);
    });
    synchronize();
    const auto* const elements = reinterpret_cast<const float*>(blocks[address].view);
    return Values(elements, elements + in.size());
}

}  // namespace zoo
