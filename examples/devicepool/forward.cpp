#include "forward.h"

#include <cmath>

#include "device_pool.h"

namespace devicepool {
namespace {

constexpr std::uint64_t kInputSeed = 20;

Kernel Layer(const Shape& shape, void* scratch) {
    auto* start = static_cast<char*>(scratch);
    const std::size_t element = ElementSize(shape.dtype);
    Kernel kernel{};
    kernel.dtype = shape.dtype;
    kernel.count = shape.activations();
    kernel.out = start;
    kernel.in = start;
    kernel.scale = start + shape.activations() * element;
    kernel.scale_count = shape.scales();
    kernel.bias = start + (shape.activations() + shape.scales()) * element;
    kernel.bias_count = shape.biases();
    return kernel;
}

std::vector<float> RunLayers(Backend& backend, const Shape& shape, void* scratch) {
    std::vector<unsigned char> activations(shape.activations() * ElementSize(shape.dtype));
    for (int layer = 0; layer < shape.layers; ++layer) {
        backend.Launch(Layer(shape, scratch));
        if (shape.resident) continue;
        backend.CopyToHost(activations.data(), scratch, activations.size());
        backend.CopyToDevice(scratch, activations.data(), activations.size());
    }
    backend.CopyToHost(activations.data(), scratch, activations.size());
    return Decode(activations, shape.dtype);
}

}  // namespace

std::string ShapeError(const Shape& shape) {
    if (shape.bytes % ElementSize(shape.dtype) != 0) return "bytes cut an element";
    if (shape.values() < 8) return "too few values";
    if (shape.values() > std::size_t{1} << 20) return "too many values";
    if (shape.layers < 1) return "no layer";
    if (shape.layers > 48) return "too many layers";
    return "";
}

// SplitMix64 of seed and position.
std::vector<float> Noise(std::uint64_t seed, std::size_t count, DType dtype) {
    std::vector<float> values;
    values.reserve(count);
    for (std::size_t i = 1; i <= count; ++i) {
        std::uint64_t bits = seed * 0xd1342543de82ef95u + i * 0x9e3779b97f4a7c15u;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
        bits ^= bits >> 31;
        values.push_back(static_cast<float>(bits >> 40) / 8388608.0F - 1.0F);
    }
    return Decode(Encode(values, dtype), dtype);
}

std::vector<unsigned char> Encode(const std::vector<float>& values, DType dtype) {
    std::vector<unsigned char> bytes(values.size() * ElementSize(dtype));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (dtype == DType::kF32) {
            std::memcpy(&bytes[i * sizeof(float)], &values[i], sizeof(float));
        } else {
            Bf16 narrow{};
            Store(narrow, values[i]);
            std::memcpy(&bytes[i * sizeof narrow], &narrow, sizeof narrow);
        }
    }
    return bytes;
}

std::vector<float> Decode(const std::vector<unsigned char>& bytes, DType dtype) {
    std::vector<float> values(bytes.size() / ElementSize(dtype));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (dtype == DType::kF32) {
            std::memcpy(&values[i], &bytes[i * sizeof(float)], sizeof(float));
        } else {
            Bf16 narrow{};
            std::memcpy(&narrow, &bytes[i * sizeof narrow], sizeof narrow);
            values[i] = Load(narrow);
        }
    }
    return values;
}

std::vector<float> ForwardInput(const Shape& shape) { return Noise(kInputSeed, shape.values(), shape.dtype); }

std::vector<float> Forward(Backend& backend, const Shape& shape) {
    if (const std::string error = ShapeError(shape); !error.empty()) throw ShapeRefused(error);
    const DBuf scratch(backend, shape.bytes);
    const std::vector<unsigned char> input = Encode(ForwardInput(shape), shape.dtype);
    backend.CopyToDevice(scratch.data(), input.data(), input.size());
    return RunLayers(backend, shape, scratch.data());
}

std::vector<float> ForwardReference(const Shape& shape) {
    const std::vector<float> input = ForwardInput(shape);
    std::vector<float> activations(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(shape.activations()));
    const float* scale = input.data() + shape.activations();
    const float* bias = scale + shape.scales();
    for (int layer = 0; layer < shape.layers; ++layer) {
        for (std::size_t i = 0; i < activations.size(); ++i) {
            const double sum = double{activations[i]} * (1.0 + double{scale[i % shape.scales()]}) +
                               double{bias[i % shape.biases()]};
            activations[i] = static_cast<float>(sum / (1.0 + std::abs(sum)));
        }
        activations = Decode(Encode(activations, shape.dtype), shape.dtype);
    }
    return activations;
}

std::vector<float> ForwardUnguarded(Backend& backend, const Shape& shape, const std::vector<float>& input) {
    DevicePool& pool = Pool(backend);
    void* scratch = pool.Acquire(backend, shape.bytes);
    const std::vector<unsigned char> bytes = Encode(input, shape.dtype);
    backend.CopyToDevice(scratch, bytes.data(), bytes.size() < shape.bytes ? bytes.size() : shape.bytes);
    if (input.size() != shape.values()) throw ShapeRefused("input does not fill the scratch block");
    std::vector<float> result = RunLayers(backend, shape, scratch);
    pool.Release(backend, scratch);
    return result;
}

}  // namespace devicepool
