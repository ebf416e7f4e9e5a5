"""Files of tensors in memory (port `TensorFiles`), and time that stands still but for one step of a script a sleep."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pooldiag.execute.file_stamps import FileStamp
from pooldiag.model.censuses import CensusProblem


class Stream(io.BytesIO):
    """Bytes that can be read once, and a few at a time, as from a pipe."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise io.UnsupportedOperation("seek")

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size if size is None or size < 0 else min(size, 1000))


@dataclass(slots=True, kw_only=True)
class PlayedFiles:
    """Files by path; a folder is there when a file is below it. What is in `streams` can be read once."""

    content: dict[str, bytes] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    streams: set[str] = field(default_factory=set)
    unreadable: dict[str, OSError] = field(default_factory=dict)
    opened: dict[int, str] = field(default_factory=dict)

    def write(self, path: str, data: bytes, *, time: int | None = None) -> None:
        """Write a file, at a time, or after all others."""
        self.content[path] = data
        self.times[path] = max(self.times.values(), default=0) + 1 if time is None else time

    @contextmanager
    def open(self, path: str) -> Iterator[tuple[BinaryIO, FileStamp | None]]:
        """Open a file; FileNotFoundError for one that was not written."""
        if path in self.unreadable:
            raise self.unreadable[path]
        if path not in self.content:
            raise FileNotFoundError(2, "No such file or directory")
        file: BinaryIO = Stream(self.content[path]) if path in self.streams else io.BytesIO(self.content[path])
        self.opened[id(file)] = path
        yield file, self.stamp_of(file)

    def stamp_of(self, file: BinaryIO) -> FileStamp | None:
        """Return the stamp of what an opened file was made of."""
        return self.stamp_at(self.opened[id(file)])

    def stamp_at(self, path: str) -> FileStamp | None:
        """Return the stamp of a file; None of a stream."""
        if path not in self.content or path in self.streams:
            return None
        return FileStamp(size_bytes=len(self.content[path]), changed_ns=self.times[path], inode=0)

    def exists(self, path: str) -> bool:
        """Say whether there is a file or a folder."""
        return path in self.content or self.is_folder(path)

    def is_folder(self, path: str) -> bool:
        """Say whether a file is below."""
        return any(name.startswith(f"{path}/") for name in self.content)

    def below(self, folder: str) -> tuple[tuple[str, ...], tuple[CensusProblem, ...]]:
        """Return the files below a folder, the last ones first."""
        names = [name for name in self.content if name.startswith(f"{folder}/") and name not in self.streams]
        return tuple(name.removeprefix(f"{folder}/") for name in sorted(names, reverse=True)), ()


class Steps:
    """Time that stands still but for one step of a script in each sleep (port `Pace`)."""

    def __init__(self, steps: Iterator[object]) -> None:
        self.steps = steps
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        next(self.steps, None)


def npy(values: NDArray[np.generic]) -> bytes:
    """Return an array as NumPy saves it."""
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def npz(**tensors: NDArray[np.generic]) -> bytes:
    """Return arrays as NumPy saves them together."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **tensors)
    return file.getvalue()
