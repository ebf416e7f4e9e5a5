"""Reads elements from a binary file in chunks, into one buffer that is used again: no file is held, or mapped."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.buffers import reader_of
from pooldiag.census.layouts import ByteOrder, CensusError, FloatLayout, Layout, check_whole

CHUNK_BYTES = 2**19  # a multiple of every item size; with its flags it fits a second-level cache

Patterns: TypeAlias = NDArray[np.unsignedinteger]


class ElementReader:
    """Yields the patterns of a file, in native byte order; each chunk is lost when the next one is asked for."""

    def __init__(
        self, layout: Layout, *, path: str, byte_order: ByteOrder = "little", chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        self._layout = layout
        self._path = path
        self._swapped = byte_order != sys.byteorder and layout.item_bytes > 1
        # Unpacked elements take a byte each, so fewer bytes are read at a time.
        self._buffer = memoryview(bytearray(max(layout.item_bytes, chunk_bytes // layout.per_item)))
        self._dtype = np.dtype(f"=u{layout.item_bytes}")

    def chunks(
        self, file: BinaryIO, *, count: int | None = None, seen: Callable[[memoryview], object] | None = None
    ) -> Iterator[Patterns]:
        """Yield the patterns from where the file stands, `count` elements or up to its end; `seen` gets the bytes.

        Elements of less than a byte come as the upper bits of a byte. CensusError: fewer than `count`, or an end
        within an element.
        """
        total = 0
        read = reader_of(file)
        wanted = None if count is None else self._layout.size_bytes(count)
        while wanted is None or total < wanted:
            room = self._buffer if wanted is None else self._buffer[: wanted - total]
            data = room[: _fill(read, room)]
            total += len(data)
            if not data or len(data) % self._layout.item_bytes:
                break
            if seen is not None:
                seen(data)
            yield self._patterns(data, None if count is None else count - (total - len(data)) * self._layout.per_item)
        if wanted is not None and total < wanted:
            raise CensusError(
                f"{self._path}: ends after {total} bytes, {count} {self._layout.name} elements are {wanted}",
                hint="was it cut while it was written, or is its shape another?",
            )
        check_whole(self._layout, total, path=self._path)

    def _patterns(self, data: memoryview, count: int | None) -> Patterns:
        patterns: Patterns = np.frombuffer(data, self._dtype)
        if self._layout.per_item > 1:
            return upper_halves(patterns)[:count]
        return patterns.byteswap(inplace=True) if self._swapped else patterns


def _fill(read: Callable[[memoryview], int], room: memoryview) -> int:
    """Fill `room`, less only at the end: a raw file may return less at any time."""
    filled = 0
    while filled < len(room) and (got := read(room[filled:])):
        filled += got
    return filled


def upper_halves(data: Patterns) -> Patterns:
    """Unpack two elements a byte, the first in the low half, each into the upper half of a byte of its own."""
    codes = np.empty(2 * len(data), np.uint8)
    np.multiply(data, 16, out=codes[0::2])
    np.bitwise_and(data, 0xF0, out=codes[1::2])
    return codes


def as_stored(layout: Layout) -> tuple[Layout, int]:
    """Return a layout that fills what an element is read into, and by how much its patterns are shifted up there."""
    shift = layout.item_bytes * 8 - layout.bits
    if not shift or not isinstance(layout, FloatLayout):
        return layout, 0
    return replace(layout, fraction_bits=layout.fraction_bits + shift), shift
