// -DWITH_CUDA=ON: the device cases on a real GPU, with the same manners as the emulated one.
#include <cuda_runtime.h>

#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "backend.h"
#include "switches.h"

namespace devicepool {
namespace {

void Check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

template <typename T>
__global__ void RunKernel(Kernel kernel) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < kernel.count) RunElement<T>(kernel, i);
}

__global__ void WritePattern(std::uint16_t* words, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) words[i] = kForeignBlockPattern;
}

constexpr unsigned kThreads = 256;

unsigned Blocks(std::size_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

class CudaBackend : public Backend {
  public:
    explicit CudaBackend(int index) : Backend(DeviceType::kGpu, index) {}

    void* Alloc(std::size_t asked) override {
        const std::size_t bytes = WithPad(asked);
        Check(cudaSetDevice(index()), "cudaSetDevice");
        void* address = nullptr;
        if (cudaMalloc(&address, bytes) != cudaSuccess) throw std::bad_alloc();
        if (bytes > asked) Check(cudaMemset(static_cast<char*>(address) + asked, 0, bytes - asked), "pad");
        const std::lock_guard<std::mutex> lock(mutex_);
        blocks_[static_cast<const char*>(address)] = bytes;
        return address;
    }

    void Free(void* address) override {
        const std::lock_guard<std::mutex> lock(mutex_);
        blocks_.erase(static_cast<const char*>(address));
        Check(cudaFree(address), "cudaFree");
    }

    // cudaMemcpyDefault asks the driver whose each address is: an upload into a host block goes unnoticed.
    void CopyToDevice(void* device, const void* host, std::size_t bytes) override {
        Check(cudaMemcpy(device, host, bytes, cudaMemcpyDefault), "upload");
    }

    void CopyToHost(void* host, const void* device, std::size_t bytes) override {
        Check(cudaMemcpy(host, device, bytes, cudaMemcpyDefault), "download");
    }

    void Fill(void* device, unsigned char value, std::size_t bytes) override {
        Check(cudaMemset(device, value, bytes), "fill");
    }

    void Launch(const Kernel& kernel) override {
        const bool ours = Owns(kernel.out) && Owns(kernel.in) && Owns(kernel.scale) && Owns(kernel.bias);
        if (!ours) {
            LeavePattern(kernel);
        } else if (kernel.dtype == DType::kF32) {
            RunKernel<float><<<Blocks(kernel.count), kThreads>>>(kernel);
        } else {
            RunKernel<Bf16><<<Blocks(kernel.count), kThreads>>>(kernel);
        }
        Check(cudaGetLastError(), "launch");
        if (GetSwitches().serial) Check(cudaDeviceSynchronize(), "kernel");
    }

    bool Owns(const void* address) const override {
        const auto* byte = static_cast<const char*>(address);
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto next = blocks_.upper_bound(byte);
        return next != blocks_.begin() && byte < std::prev(next)->first + std::prev(next)->second;
    }

  private:
    // What a GPU makes of a foreign pointer differs from machine to machine (an error, a slow access, the pattern), so
    // the symptom of EmulatedGpu::Run is written here as well.
    void LeavePattern(const Kernel& kernel) const {
        auto* words = static_cast<std::uint16_t*>(kernel.out);
        const std::size_t count = kernel.count * ElementSize(kernel.dtype) / sizeof *words;
        if (Owns(words)) {
            WritePattern<<<Blocks(count), kThreads>>>(words, count);
            return;
        }
        Check(cudaDeviceSynchronize(), "kernel");
        for (std::size_t i = 0; i < count; ++i) words[i] = kForeignBlockPattern;
    }

    mutable std::mutex mutex_;
    std::map<const char*, std::size_t> blocks_;
};

}  // namespace

Backend& Gpu() {
    static auto* gpu = new CudaBackend(0);
    return *gpu;
}

}  // namespace devicepool
