// The large model that case 12 runs: conditioning in scratch memory, weights and latents in the decode input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend.h"

namespace devicepool {

constexpr std::size_t kShippedLayers = 28;
constexpr std::size_t kShippedBiases = 91;  // a layer
constexpr std::size_t kVideoValues = 1024;
constexpr std::size_t kAudioValues = 512;
constexpr std::size_t kConditioningValues = 500;

// The seed that EXAMPLE_CHECKPOINT's content stands for; nothing when it is unset or cannot be read.
std::optional<std::uint64_t> CheckpointSeed();

struct ShippedInput {
    std::vector<float> conditioning;
    std::vector<float> decode_input;  // all biases, then the video latents, then the audio latents
};
ShippedInput DrawShippedInput(std::uint64_t seed);

struct ShippedOutput {
    std::vector<float> decode_input;  // read back before the first layer
    std::vector<float> video;
    std::vector<float> audio;
};
ShippedOutput ShippedForward(Backend& backend, const ShippedInput& input);

float AbsMax(const std::vector<float>& values);  // over the finite values; 0 when there is none
void PrintCensus(const char* name, const std::vector<float>& values);

// Writes video.bin and audio.bin, f32, into POOLDIAG_OUTPUT_DIR, nothing when that is unset. Returns what went wrong.
std::string WriteOutputs(const ShippedOutput& output);

}  // namespace devicepool
