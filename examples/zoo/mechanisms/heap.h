// Memory of the C library, hidden from the compiler: it knows malloc and free, and would reason about what is in a
// block that nobody has written, or that has gone back.
#pragma once

#include "zoo.h"

#include <cstddef>

namespace zoo {

// The first bytes of a free block hold notes of the allocator: what is read wrongly on purpose starts after these.
constexpr std::size_t kNotes = 32 / sizeof(int);

__attribute__((noinline)) inline volatile int* take(std::size_t count) {
    void* block = std::malloc(count * sizeof(int));
    __asm__ volatile("" : "+r"(block) : : "memory");
    if (block == nullptr) std::abort();
    return static_cast<volatile int*>(block);
}

__attribute__((noinline)) inline void give(volatile int* block) {
    void* gone = const_cast<int*>(block);
    __asm__ volatile("" : "+r"(gone) : : "memory");
    std::free(gone);
}

}  // namespace zoo
