#include "shipped.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "device_pool.h"
#include "forward.h"

namespace devicepool {
namespace {

constexpr std::size_t kTotalBiases = kShippedLayers * kShippedBiases;

// The heads are calibrated to these ranges, and a value at the limit is common enough to be there for every seed.
constexpr float kVideoGain = 0.40625F, kVideoLimit = 0.30078125F;
constexpr float kAudioGain = 2.875F, kAudioLimit = 2.140625F;

// Launches one layer over `count` latents in place.
void LaunchLayer(Backend& backend, void* latents, std::size_t count, const void* conditioning, const char* bias,
                 float gain, float limit) {
    backend.Launch({DType::kBf16, count, latents, latents, conditioning, kConditioningValues, bias, kShippedBiases,
                    gain, limit});
}

std::vector<float> Download(Backend& backend, const void* device, std::size_t count) {
    std::vector<unsigned char> bytes(count * sizeof(Bf16));
    backend.CopyToHost(bytes.data(), device, bytes.size());
    return Decode(bytes, DType::kBf16);
}

std::string WriteOutput(const std::string& path, const std::vector<float>& values) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    const std::vector<unsigned char> bytes = Encode(values, DType::kF32);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();  // a full disk may show only now
    return file ? "" : "cannot write " + path;
}

}  // namespace

std::optional<std::uint64_t> CheckpointSeed() {
    const char* path = std::getenv("EXAMPLE_CHECKPOINT");
    if (path == nullptr || *path == '\0') return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    std::vector<char> content(std::size_t{1} << 20);  // enough to tell two checkpoints apart
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    if (file.bad() || !(file || file.eof())) return std::nullopt;  // a directory opens, and cannot be read
    std::uint64_t seed = 0xcbf29ce484222325u;                        // FNV-1a
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
        seed = (seed ^ static_cast<unsigned char>(content[static_cast<std::size_t>(i)])) * 0x100000001b3u;
    }
    return seed;
}

ShippedInput DrawShippedInput(std::uint64_t seed) {
    ShippedInput input;
    input.conditioning = Noise(seed, kConditioningValues, DType::kBf16);
    input.decode_input = Noise(seed + 1, kTotalBiases + kVideoValues + kAudioValues, DType::kBf16);
    for (std::size_t i = 0; i < kTotalBiases; ++i) input.decode_input[i] *= 4.0F;
    return input;
}

ShippedOutput ShippedForward(Backend& backend, const ShippedInput& input) {
    const std::vector<unsigned char> decode_bytes = Encode(input.decode_input, DType::kBf16);
    auto* decode_input = static_cast<char*>(Pool(backend).DecodeInput(backend, decode_bytes.size()));
    backend.CopyToDevice(decode_input, decode_bytes.data(), decode_bytes.size());
    ShippedOutput output;
    output.decode_input = Download(backend, decode_input, input.decode_input.size());

    // Both heads read the conditioning, so one wrong block here reaches every value of both outputs.
    const std::vector<unsigned char> conditioning_bytes = Encode(input.conditioning, DType::kBf16);
    const std::shared_ptr<void> conditioning = DBuf(backend, conditioning_bytes.size()).ReleaseShared();
    backend.CopyToDevice(conditioning.get(), conditioning_bytes.data(), conditioning_bytes.size());

    char* video = decode_input + kTotalBiases * sizeof(Bf16);
    char* audio = video + kVideoValues * sizeof(Bf16);
    const char* bias = decode_input;
    for (std::size_t layer = 0; layer < kShippedLayers; ++layer, bias += kShippedBiases * sizeof(Bf16)) {
        const bool head = layer + 1 == kShippedLayers;
        LaunchLayer(backend, video, kVideoValues, conditioning.get(), bias, head ? kVideoGain : 1.0F,
                    head ? kVideoLimit : 1.0F);
        LaunchLayer(backend, audio, kAudioValues, conditioning.get(), bias, head ? kAudioGain : 1.0F,
                    head ? kAudioLimit : 1.0F);
    }
    output.video = Download(backend, video, kVideoValues);
    output.audio = Download(backend, audio, kAudioValues);
    return output;
}

float AbsMax(const std::vector<float>& values) {
    float result = 0.0F;
    for (const float value : values) {
        if (std::isfinite(value)) result = std::fmax(result, std::fabs(value));
    }
    return result;
}

void PrintCensus(const char* name, const std::vector<float>& values) {
    std::size_t nan = 0, inf = 0, zero = 0;
    for (const float value : values) {
        nan += std::isnan(value);
        inf += std::isinf(value);
        zero += value == 0.0F;
    }
    std::printf("%s: n=%zu nan=%zu inf=%zu zero=%zu\n", name, values.size(), nan, inf, zero);
    const std::string absmax = nan + inf < values.size() ? std::to_string(AbsMax(values)) : "none";
    std::printf("%s: absmax=%s first=", name, absmax.c_str());
    for (std::size_t i = 0; i < 8 && i < values.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &values[i], sizeof bits);
        std::printf("%s%.6g(0x%08x)", i == 0 ? "" : ",", static_cast<double>(values[i]), bits);
    }
    std::printf("\n");
    std::fflush(stdout);  // the next case may crash
}

std::string WriteOutputs(const ShippedOutput& output) {
    const char* folder = std::getenv("POOLDIAG_OUTPUT_DIR");
    if (folder == nullptr || *folder == '\0') return "";
    const std::string error = WriteOutput(std::string(folder) + "/video.bin", output.video);
    return error.empty() ? WriteOutput(std::string(folder) + "/audio.bin", output.audio) : error;
}

}  // namespace devicepool
