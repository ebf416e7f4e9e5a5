// Runs kernel.cu on the CPU, a thread for each of a block, so that its logic is tested where there is no GPU.
// Compiled with -DKERNEL="path of kernel.cu".

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
struct Place {
    unsigned int x = 0;
};

static thread_local Place threadIdx;
static Place blockIdx;
static std::unique_ptr<std::barrier<>> meeting;

#define __device__
#define __global__
#define __shared__ static
static void __syncthreads() { meeting->arrive_and_wait(); }

// Once for each size of an element.
#define BITS 8
#define census census8
namespace of8 {
#include KERNEL
}
#undef BITS
#undef census
#define BITS 16
#define census census16
namespace of16 {
#include KERNEL
}
#undef BITS
#undef census
#define BITS 32
#define census census32
namespace of32 {
#include KERNEL
}
#undef BITS
#undef census
#define BITS 64
#define census census64
namespace of64 {
#include KERNEL
}
#undef census

typedef unsigned long long Wide;

template <typename Word, typename Row>
static void launch(void (*kernel)(const Word *, Wide, Wide, Wide, Wide, Wide, Wide, int, int, Row *), unsigned blocks,
                   const void *words, const Wide *numbers, int has_special, int kind, void *rows) {
    for (unsigned block = 0; block < blocks; ++block) {
        blockIdx.x = block;
        meeting = std::make_unique<std::barrier<>>(THREADS);
        std::vector<std::jthread> threads;
        for (unsigned thread = 0; thread < THREADS; ++thread)
            threads.emplace_back([=] {
                threadIdx.x = thread;
                kernel((const Word *)words, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
                       has_special, kind, (Row *)rows);
            });
    }
}

extern "C" void emulate(int bits, unsigned blocks, const void *words, const Wide *numbers, int has_special, int kind,
                        void *rows) {
    switch (bits) {
        case 8: return launch(of8::census8, blocks, words, numbers, has_special, kind, rows);
        case 16: return launch(of16::census16, blocks, words, numbers, has_special, kind, rows);
        case 32: return launch(of32::census32, blocks, words, numbers, has_special, kind, rows);
        default: return launch(of64::census64, blocks, words, numbers, has_special, kind, rows);
    }
}
