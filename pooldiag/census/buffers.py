"""Filling a buffer from any binary file: raw, buffered, a member of a zip, or one that can only `read`."""

from collections.abc import Callable
from typing import BinaryIO


def reader_of(file: BinaryIO) -> Callable[[memoryview], int]:
    """Return what fills the beginning of a buffer, and says how much of it: less than all is not the end, 0 is."""
    fill: Callable[[memoryview], int | None] | None = getattr(file, "readinto", None)

    def read(room: memoryview) -> int:
        if fill is None:
            data = file.read(len(room))
            room[: len(data)] = data
            return len(data)
        if (got := fill(room)) is None:
            raise BlockingIOError("the file has no data now, and does not wait for it")
        return got

    return read
