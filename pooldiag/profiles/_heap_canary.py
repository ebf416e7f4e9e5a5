"""A canary: allocates, writes, frees and looks, then prints what the allocator of this process does with blocks.

Run by itself, under the environment of an arm: `python -I -S _heap_canary.py libc`. For each size, in the
main thread and in a second one (which may have an arena of its own), it prints one line:

    blocks of 200 bytes: fresh=0x00 freed=stale handed=stale again=always

fresh: what the first block holds; freed: what a block holds when it was just freed; handed: what the block
that is handed out next holds; again: how often that is the same address. A content is `stale` (what was
written), a byte that all of it has, `mixed`, or `unmapped`. Contents are read through /proc/self/mem, where
an unmapped page is an error and no crash. An address proves nothing by itself: the kernel hands the page
that it just got back out again, too.
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

SIZES = (200, 5000, 3_000_000)
ROUNDS = 16
OLD = 0x5C
SAMPLE = bytearray(48)  # from the middle of a block: allocators keep links at its ends


@dataclass(frozen=True)
class Allocator:
    """The three functions, each taking and returning plain numbers."""

    malloc: Callable[[int], int]
    free: Callable[[int], None]
    memset: Callable[[int, int, int], int]


def allocator(name: str) -> Allocator:
    """Return the C library's functions, or those that CPython's objects come from."""
    libc = ctypes.CDLL(None)
    malloc, free = libc.malloc, libc.free
    if name == "python":
        malloc, free = ctypes.pythonapi.PyObject_Malloc, ctypes.pythonapi.PyObject_Free
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None
    libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    libc.memset.restype = ctypes.c_void_p
    return Allocator(malloc, free, libc.memset)


def main() -> None:
    """Probe every size in both threads, print, and leave without the checks that a sanitizer makes at exit."""
    functions = allocator(sys.argv[1])
    with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123 - nothing is imported that need not be

        def content(address: int, size: int) -> str:
            try:
                memory.seek(address + size // 2)
                memory.readinto(SAMPLE)
            except OSError:
                return "unmapped"
            if SAMPLE.count(SAMPLE[0]) != len(SAMPLE):
                return "mixed"
            return "stale" if SAMPLE[0] == OLD else f"{SAMPLE[0]:#04x}"

        lines = [f"blocks of {size} bytes: {probe(functions, content, size)}" for size in SIZES]
        other = threading.Thread(
            target=lambda: lines.extend(
                f"blocks of {size} bytes in a second thread: {probe(functions, content, size)}" for size in SIZES
            )
        )
        other.start()
        other.join()
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
    ctypes.CDLL(None)["_exit"](0)


def probe(functions: Allocator, content: Callable[[int, int], str], size: int) -> str:
    """Allocate, write, free and look, several times; say what was seen."""
    fresh = content(functions.malloc(size), size)
    freed, handed, again = set(), set(), 0
    for _ in range(ROUNDS):
        first = functions.malloc(size)
        functions.memset(first, OLD, size)
        functions.free(first)
        freed.add(content(first, size))
        second = functions.malloc(size)
        handed.add(content(second, size))
        again += second == first
        functions.free(second)
    often = {0: "never", ROUNDS: "always"}.get(again, "sometimes")
    return f"fresh={fresh} freed={'+'.join(sorted(freed))} handed={'+'.join(sorted(handed))} again={often}"


if __name__ == "__main__":
    main()
