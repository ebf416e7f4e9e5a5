// A suite that mixes two devices in one process, as the real one did. The order of the cases, their devices and their
// block sizes decide what the blind pool does; README.md has the table. Add no case and move none.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "forward.h"
#include "shipped.h"

namespace {

using namespace devicepool;

// Makes 1 + samples assertions. The first comes before the pool is asked for anything.
void CheckForward(Backend& backend, const Shape& shape, std::size_t samples) {
    CHECK(ShapeError(shape) == "");
    const std::vector<float> output = Forward(backend, shape);
    const std::vector<float> reference = ForwardReference(shape);
    const double tolerance = shape.dtype == DType::kF32 ? 1e-5 : 1e-2;
    for (std::size_t sample = 0; sample < samples; ++sample) {
        const std::size_t i = sample * output.size() / samples;
        CHECK(output[i] == doctest::Approx(reference[i]).epsilon(tolerance));
    }
}

TEST_CASE("config parses") {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "layer." + std::to_string(i) + " = " + std::to_string(i * i) + "\n";
    std::size_t line = 0;
    for (int i = 0; i < 50; ++i) {
        char name[16] = "";
        int value = -1;
        std::sscanf(text.c_str() + line, "%15s = %d", name, &value);
        CHECK(std::string(name) == "layer." + std::to_string(i));
        CHECK(value == i * i);
        line = text.find('\n', line) + 1;
    }
}

TEST_CASE("f32 forward matches upstream (CPU backend)") {
    CheckForward(Host(), {DType::kF32, 40000, 2, false}, 32);
}

TEST_CASE("f32 forward matches upstream on CUDA") { CheckForward(Gpu(), {DType::kF32, 80000, 2, false}, 32); }

TEST_CASE("device-resident forward matches upstream (CPU backend)") {
    CheckForward(Host(), {DType::kF32, 1000, 4}, 32);
}

TEST_CASE("rope table") {
    // Turns a unit vector step by step, as the table is built; its angle must be the position's.
    const double step = 0.125;
    double x = 1.0, y = 0.0;
    for (int position = 0; position < 9; ++position) {
        CHECK(std::atan2(y, x) == doctest::Approx(position * step).epsilon(1e-12));
        const double turned = x * std::cos(step) - y * std::sin(step);
        y = x * std::sin(step) + y * std::cos(step);
        x = turned;
    }
}

TEST_CASE("bf16 production forward, one layer (CPU backend)") { CheckForward(Host(), {DType::kBf16, 2000, 1}, 16); }

TEST_CASE("DEVICE-RESIDENT forward matches upstream on CUDA") { CheckForward(Gpu(), {DType::kBf16, 3000, 4}, 16); }

TEST_CASE("refuses a bad shape [negative]") {
    for (int i = 0; i < 25; ++i) {
        const auto step = static_cast<std::size_t>(i);
        CHECK(ShapeError({DType::kF32, 2001 + 4 * step, 1}) == "bytes cut an element");
        CHECK(ShapeError({DType::kBf16, 2000, -i}) == "no layer");
        CHECK(ShapeError({DType::kBf16, 2000, 49 + i}) == "too many layers");
    }
    const Shape shape{DType::kBf16, 2000, 1};
    std::vector<float> input = ForwardInput(shape);
    input.pop_back();
    CHECK_THROWS_AS(ForwardUnguarded(Host(), shape, input), ShapeRefused);
}

TEST_CASE("prompt adaln, F9, on CUDA") { CheckForward(Gpu(), {DType::kBf16, 2000, 2}, 16); }

TEST_CASE("patchify round trip") {
    // 10 x 10 pixels to 2 x 2 patches and back.
    constexpr std::size_t kSide = 10, kPatch = 2, kAcross = kSide / kPatch;
    const auto patch_index = [](std::size_t row, std::size_t column) {
        const std::size_t patch = row / kPatch * kAcross + column / kPatch;
        return patch * kPatch * kPatch + row % kPatch * kPatch + column % kPatch;
    };
    const std::vector<float> image = Noise(10, kSide * kSide, DType::kF32);
    std::vector<float> patches(image.size());
    for (std::size_t i = 0; i < image.size(); ++i) patches[patch_index(i / kSide, i % kSide)] = image[i];
    for (std::size_t p = 0; p < patches.size(); ++p) {
        const std::size_t patch = p / (kPatch * kPatch), inside = p % (kPatch * kPatch);
        const std::size_t row = patch / kAcross * kPatch + inside / kPatch;
        const std::size_t column = patch % kAcross * kPatch + inside % kPatch;
        CHECK(patches[p] == image[row * kSide + column]);
    }
}

TEST_CASE("BF16 PRODUCTION forward, one layer on CUDA") { CheckForward(Gpu(), {DType::kBf16, 2000, 1}, 16); }

TEST_CASE("SHIPPED 21.00B forward is finite on CUDA") {
    const auto seed = CheckpointSeed();
    if (!seed) {
        MESSAGE("no checkpoint in EXAMPLE_CHECKPOINT: nothing checked");
        return;
    }
    const ShippedInput input = DrawShippedInput(*seed);
    REQUIRE(input.decode_input.size() == kShippedLayers * kShippedBiases + kVideoValues + kAudioValues);
    const ShippedOutput output = ShippedForward(Gpu(), input);
    for (std::size_t i = 0; i < input.decode_input.size(); ++i) CHECK(output.decode_input[i] == input.decode_input[i]);
    PrintCensus("video", output.video);
    PrintCensus("audio", output.audio);
    REQUIRE(WriteOutputs(output) == "");
    // Finite and within range is all that can be asked without an upstream of this size.
    std::vector<float> values = output.video;
    values.insert(values.end(), output.audio.begin(), output.audio.end());
    for (const float v : values) REQUIRE(std::isfinite(v));
    CHECK(AbsMax(output.video) == 0.30078125F);
    CHECK(AbsMax(output.audio) == 2.140625F);
}

TEST_CASE("vae encode shape") {
    // Three convolutions of stride 2 and padding 1 halve a side each, rounding up.
    for (int side = 1; side <= 100; ++side) {
        int encoded = side;
        for (int level = 0; level < 3; ++level) encoded = (encoded + 2 - 3) / 2 + 1;
        CHECK(encoded == (side + 7) / 8);
    }
}

}  // namespace
