// The toy model: inputs drawn from a seed, a forward pass through scratch memory of the pool, and a reference for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend.h"

namespace devicepool {

// A forward pass in one scratch block of `bytes`: first the activations, then the scales, then the biases.
struct Shape {
    DType dtype;
    std::size_t bytes;
    int layers;
    bool resident = true;  // false: the activations visit the host between layers

    std::size_t values() const { return bytes / ElementSize(dtype); }
    std::size_t activations() const { return values() / 2; }
    std::size_t scales() const { return (values() - activations()) / 2; }
    std::size_t biases() const { return values() - activations() - scales(); }
};

class ShapeRefused : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

// Why the shape cannot run; empty when it can.
std::string ShapeError(const Shape& shape);

// `count` values from -1 to 1 as `dtype` holds them, the same on every machine.
std::vector<float> Noise(std::uint64_t seed, std::size_t count, DType dtype);

std::vector<unsigned char> Encode(const std::vector<float>& values, DType dtype);
std::vector<float> Decode(const std::vector<unsigned char>& bytes, DType dtype);

// The whole content of the scratch block, and the activations after the last layer.
std::vector<float> ForwardInput(const Shape& shape);
std::vector<float> Forward(Backend& backend, const Shape& shape);

// The same without backend, pool or kernel: double precision, rounded to the shape's type once a layer.
std::vector<float> ForwardReference(const Shape& shape);

// Forward as it was before DBuf: a raw block, and a refusal between Acquire and Release that loses it for the pool.
std::vector<float> ForwardUnguarded(Backend& backend, const Shape& shape, const std::vector<float>& input);

}  // namespace devicepool
