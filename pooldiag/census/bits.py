"""Marked elements of a chunk as bits: 64 in a word, the first one lowest."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.marks import Flags, Indices, flagged

Bits: TypeAlias = NDArray[np.uint64]

BITS = 64


def bits_of(flags: Flags) -> Bits:
    """Pack flags, the first one into the lowest bit; what is left over in the last word is clear."""
    packed = np.packbits(flags, bitorder="little")
    words = np.zeros(-(-flags.size // BITS) * (BITS // 8), np.uint8)
    words[: packed.size] = packed
    return words.view("<u8")


def places_of(bits: Bits) -> Indices:
    """Return which bits are set."""
    return flagged(np.unpackbits(bits.view(np.uint8), bitorder="little").view(np.bool_))


def count_bits(bits: Bits) -> int:
    """Count the bits that are set."""
    return int(np.bitwise_count(bits).sum(dtype=np.int64))


def moved_up(bits: Bits) -> Bits:
    """Return bits one place further on."""
    moved = np.left_shift(bits, np.uint64(1))
    moved[1:] |= bits[:-1] >> np.uint64(BITS - 1)
    return moved


def moved_down(bits: Bits, places: int = 1) -> Bits:
    """Return bits some places back: fewer words, if it is by more than one of them."""
    words, within = divmod(places, BITS)
    bits = bits[words:]
    if not within:
        return bits
    moved = np.right_shift(bits, np.uint64(within))
    moved[:-1] |= bits[1:] << np.uint64(BITS - within)
    return moved


def has_run(bits: Bits, length: int) -> bool:
    """Say whether so many bits in a row are set."""
    known = 1  # a bit of `bits` stands for so many in a row
    while known < length:
        step = min(known, length - known)
        down = moved_down(bits, step)
        bits = bits[: down.size] & down
        known += step
    return bool(bits.any())


def lowest(bits: Bits) -> int:
    """Return where the first bit is set; there is one."""
    word = int(np.argmax(bits != 0))
    found = int(bits[word])
    return word * BITS + (found & -found).bit_length() - 1


def highest(bits: Bits) -> int:
    """Return where the last bit is set; there is one."""
    word = bits.size - 1 - int(np.argmax(bits[::-1] != 0))
    return word * BITS + int(bits[word]).bit_length() - 1
