"""Which files a census counts, and how each is opened."""

import fcntl
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pooldiag.census.files import recognise
from pooldiag.census.files.base import TensorFile
from pooldiag.census.tensors import RAW, with_head
from pooldiag.execute.file_stamps import FileStamp, stamp_at
from pooldiag.model.censuses import CensusProblem

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = "-"
BUFFER_BYTES = 2**16
PIPE_BYTES = 2**20  # a larger pipe is read in fewer pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One file to count; `named` by the user, and not found in a folder."""

    path: str
    named: bool = True


class Forward(io.RawIOBase):
    """What can only be read on: a device, or a file of which somebody else has read the beginning."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int | None:
        """Fill a buffer with what is there."""
        return self._file.readinto(buffer)


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, FileStamp | None]]:
    """Open a file, and say what marks its content; a stream, which can be read once, has no such marks."""
    with open(0 if path == STDIN else path, "rb", buffering=0, closefd=path != STDIN) as file:
        stamp = stamp_at(file.fileno())
        if stamp is None or (path == STDIN and file.tell()):
            with suppress(OSError):  # no pipe, or more than this user may have
                fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            yield (Forward(file) if file.seekable() else file), None  # type: ignore[misc] # both are read as BinaryIO
        else:
            with io.BufferedReader(file, BUFFER_BYTES) as reader:
                yield reader, stamp


def suffix_of(path: str) -> str:
    """Return the ending of a file's name, with its dot."""
    return os.path.splitext(path)[1]


def natural(path: str) -> list[str | int]:
    """Return what paths are sorted by: numbers in them by value, so that layer 9 comes before layer 10."""
    parts = re.split(r"([0-9]+)", path)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def files_below(folder: str, problems: list[CensusProblem]) -> list[str]:
    """Return the regular files below a folder, by paths relative to it; links to folders are not followed."""

    def tell(error: OSError) -> None:
        where = os.fsdecode(error.filename) if error.filename else folder
        problems.append(CensusProblem(path=where, problem=f"{where}: cannot be read: {error.strerror}"))

    found = []
    for where, _, names in os.walk(folder, onerror=tell):
        paths = (os.path.join(where, name) for name in names)
        found += [os.path.relpath(path, folder) for path in paths if stamp_at(path) is not None]
    return sorted(found, key=natural)


def is_tensor_file(path: str, *, wanted: TensorFile | None, typed: bool) -> bool:
    """Say whether a file that nobody named is to be counted: of a known format or, with a type for it, a raw one."""
    try:
        with opened(path) as (file, _):
            found = recognise(with_head(file)[1], suffix_of(path))
    except OSError:
        return True  # so that it is told
    if found is None or (found is RAW and not typed):
        return False
    return wanted is None or found is wanted


def is_folder(path: str) -> bool:
    """Say whether a path is one of a folder."""
    return path != STDIN and Path(path).is_dir()
