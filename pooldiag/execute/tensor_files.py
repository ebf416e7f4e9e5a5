"""The files of a census: how each is opened, and what is below a folder."""

import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from pooldiag.execute.file_stamps import FileStamp, stamp_at
from pooldiag.model.censuses import STDIN, CensusProblem

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER_BYTES = 2**16
PIPE_BYTES = 2**20  # a larger pipe is read in fewer pieces


class LocalTensorFiles:
    """The files of this machine (port `TensorFiles`)."""

    @contextmanager
    def open(self, path: str) -> Iterator[tuple[BinaryIO, FileStamp | None]]:
        """Open a file, or `-`, standard input; what can be read only once has no stamp. OSError as usual."""
        with open(0 if path == STDIN else path, "rb", buffering=0, closefd=path != STDIN) as file:
            stamp = self.stamp_of(file)
            if stamp is None or (path == STDIN and file.tell()):
                with suppress(OSError):  # not a pipe, or more than this user may have
                    fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
                yield (Forward(file) if file.seekable() else file), None  # type: ignore[misc] # both read as BinaryIO
            else:
                with io.BufferedReader(file, BUFFER_BYTES) as reader:
                    yield reader, stamp

    def stamp_of(self, file: BinaryIO | io.FileIO) -> FileStamp | None:
        """Return the stamp of an opened file as it is now."""
        return stamp_at(file.fileno())

    def stamp_at(self, path: str) -> FileStamp | None:
        """Return the stamp of a regular file; None where there is none."""
        return stamp_at(path)

    def exists(self, path: str) -> bool:
        """Say whether there is anything at a path."""
        return os.path.exists(path)

    def is_folder(self, path: str) -> bool:
        """Say whether a path is one of a folder; `-` is not."""
        return path != STDIN and os.path.isdir(path)

    def below(self, folder: str) -> tuple[tuple[str, ...], tuple[CensusProblem, ...]]:
        """Return the regular files below a folder, in any order; links to folders are not followed."""
        problems = []

        def keep(error: OSError) -> None:
            where = os.fsdecode(error.filename) if error.filename else folder
            problems.append(CensusProblem(path=where, problem=f"{where}: cannot be read: {error.strerror}"))

        walk = os.walk(folder, onerror=keep)
        paths = [os.path.join(where, name) for where, _, names in walk for name in names]
        return tuple(os.path.relpath(path, folder) for path in paths if stamp_at(path)), tuple(problems)


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
