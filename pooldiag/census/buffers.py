"""Filling a buffer from any binary file: raw, buffered, a member of a zip, or one that can only `read`."""

from collections.abc import Callable
from functools import partial
from typing import BinaryIO, Protocol, runtime_checkable


@runtime_checkable
class _ReadsInto(Protocol):
    """A file that fills a buffer."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Return how much was filled; 0 at the end."""


def reader_of(file: BinaryIO) -> Callable[[memoryview], int]:
    """Return what fills the beginning of a buffer, and says how much of it: less than all is not the end, 0 is."""
    return partial(_read_into, file) if isinstance(file, _ReadsInto) else partial(_copy, file)


def _read_into(file: _ReadsInto, room: memoryview) -> int:
    got = file.readinto(room)
    if got is None:
        raise BlockingIOError("the file has no data now, and does not wait for it")
    return got


def _copy(file: BinaryIO, room: memoryview) -> int:
    data = file.read(len(room))
    room[: len(data)] = data
    return len(data)
