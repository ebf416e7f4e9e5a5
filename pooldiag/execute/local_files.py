"""Reading what a run wrote, and noticing what changed around it."""

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path, PurePath
from typing import BinaryIO

from pooldiag.errors import UsageError
from pooldiag.execute.elf import libraries
from pooldiag.execute.file_stamps import FileStamp, stamp_at
from pooldiag.execute.machine import sha256_of
from pooldiag.model.cases import Target
from pooldiag.model.runs import Stream

LINE_BYTES = 2**16
READ_BYTES = 256 * 2**20
MOST_ENTRIES = 2000
HASHED_BYTES = 64 * 2**20  # a larger library is known by size, time and inode alone
PIECE_BYTES = 2**18
PIECES_A_LOOK = 64  # so that a report that grows without end does not keep us from looking at anything else
_IGNORED = frozenset({".git", ".pooldiag", "__pycache__"})


class Tail(AbstractContextManager["Tail"]):
    """The report of one run, handed on in pieces until it is enough."""

    def __init__(self, path: Path | None, sink: Callable[[bytes], None], enough: Callable[[], bool]) -> None:
        """Take the file, which need not be there yet, who gets the pieces, and who says that it is enough."""
        self.has_enough = False
        self._path = path
        self._sink = sink
        self._enough = enough
        self._descriptor: int | None = None
        self._left_bytes = sys.maxsize

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to look for."""
        return self._path is not None and not self.has_enough

    def end_at(self, size_bytes: int) -> None:
        """Take the report as it is now: what somebody appends later does not belong to it."""
        position = 0 if self._descriptor is None else os.lseek(self._descriptor, 0, os.SEEK_CUR)
        self._left_bytes = max(0, size_bytes - position)

    def read_some(self) -> bool:
        """Hand on what is new, up to a bound and until it is enough; return whether it is."""
        for _ in range(PIECES_A_LOOK):
            if self.has_enough or not self._hand_on():
                break
            self.has_enough = self._enough()
        return self.has_enough

    def read_rest(self) -> None:
        """Hand on everything that is left, also behind what was enough."""
        while self._hand_on():
            pass

    def _hand_on(self) -> bool:
        """Hand on one piece; return whether there was one."""
        if self._descriptor is None and self._path is not None:
            self._descriptor = open_regular(self._path)  # None: it is not there yet
        if self._descriptor is None:
            return False
        piece = os.read(self._descriptor, min(PIECE_BYTES, self._left_bytes))
        self._left_bytes -= len(piece)
        if piece:
            self._sink(piece)
        return bool(piece)


class LocalFiles:
    """The files of one target and its runs (port `Files`)."""

    def __init__(self, target: Target, *, evidence: Path) -> None:
        """Take the target, and the evidence folder, whose files are ours and no change."""
        self._target = target
        self._evidence = evidence
        self._libraries: tuple[Path, ...] | None = None
        self._hashes: dict[tuple[Path, FileStamp], str] = {}
        self._stamps: tuple[tuple[Path, FileStamp | None], ...] = ()
        self._fingerprint: tuple[str, ...] = ()
        self._seen: dict[str, FileStamp] | None = None
        self._appeared: tuple[str, ...] = ()

    def lines(self, stream: Stream) -> Iterator[bytes]:
        """Yield the kept lines of a stream, without their ends; a longer line than 64 KiB comes in pieces."""
        try:
            file = stream.path.open("rb")
        except OSError:
            return
        with file:
            start = 0
            if stream.dropped_bytes:
                yield from _lines(file, stream.dropped_from)
                start = stream.dropped_from + stream.dropped_bytes
                file.seek(start)
            yield from _lines(file, stream.size_bytes - start)

    def matches(self, folder: Path, glob: str) -> tuple[Path, ...]:
        """Return the regular files below `folder` that match, sorted; links that lead out of it are not followed."""
        pattern = PurePath(glob)
        if pattern.is_absolute() or ".." in pattern.parts or not pattern.parts:
            raise UsageError(
                f"the output pattern '{glob}' does not stay in the run's folder",
                hint="give it relative to POOLDIAG_OUTPUT_DIR, without `..`",
            )
        home = folder.resolve()
        try:
            return tuple(sorted(path for path in folder.glob(glob) if _is_file_within(path, home)))
        except ValueError as error:
            raise UsageError(f"the output pattern '{glob}' is not valid: {error}", hint="see the glob rules") from error

    def open(self, path: Path) -> BinaryIO:
        """Open a file for reading; OSError as usual."""
        return path.open("rb")

    def read(self, path: Path) -> bytes:
        """Return a whole small file; empty when there is no regular file, the rest of a huge one left out."""
        descriptor = open_regular(path)
        if descriptor is None:
            return b""
        with os.fdopen(descriptor, "rb") as file:
            return file.read(READ_BYTES)

    def fingerprint(self) -> tuple[str, ...]:
        """Identify the target's binary and libraries as they are now: one entry a file.

        Content counts where it can be hashed quickly: linking the same thing again is no change. Nothing
        is read while sizes, times and inodes stay.
        """
        if self._libraries is None or self._stamps_now() != self._stamps:
            self._libraries = libraries(self._target.path)
            self._stamps = self._stamps_now()
            self._fingerprint = tuple(self._entry(path, stamp) for path, stamp in self._stamps)
        return self._fingerprint

    def unreadable(self, paths: tuple[Path, ...]) -> str | None:
        """Say which required path cannot be read, and why; None when all can."""
        for path in paths:
            try:
                _read_a_little(path)
            except OSError as error:
                return f"{path} cannot be read: {error.strerror}"
        return None

    def changes(self) -> tuple[str, ...]:
        """Name the files of the target's working directory that changed since the last call; none at the first."""
        before, self._seen = self._seen, dict(self._entries())
        if before is None:
            return ()
        now = self._seen
        # Of a folder that is looked at in part nobody knows what was there before.
        whole = max(len(before), len(now)) < MOST_ENTRIES
        self._appeared = tuple(sorted(now.keys() - before.keys())) if whole else ()
        return tuple(sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name)))

    def appeared(self) -> tuple[str, ...]:
        """Name the files that the last call of `changes` found new; none in a folder that is looked at in part."""
        return self._appeared

    def _stamps_now(self) -> tuple[tuple[Path, FileStamp | None], ...]:
        return tuple((path, stamp_at(path)) for path in (self._target.path, *(self._libraries or ())))

    def _entry(self, path: Path, stamp: FileStamp | None) -> str:
        if stamp is None:
            return f"{path}: gone"
        if stamp.size_bytes <= HASHED_BYTES:
            with contextlib.suppress(OSError):
                if (path, stamp) not in self._hashes:
                    self._hashes[path, stamp] = sha256_of(path)
                return f"{path}: sha256 {self._hashes[path, stamp]}"
        return f"{path}: size, time and inode {(stamp.size_bytes, stamp.changed_ns, stamp.inode)}"

    def _entries(self) -> Iterator[tuple[str, FileStamp]]:
        """Look at the working directory and one level below, at most at so many entries."""
        left = MOST_ENTRIES
        folders = [self._target.directory]
        for depth in range(2):
            below: list[Path] = []
            for folder in folders:
                for entry in _scan(folder, left):
                    left -= 1
                    name = entry.name if depth == 0 else f"{folder.name}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _IGNORED and Path(entry.path) != self._evidence:
                            below.append(Path(entry.path))
                    else:
                        with contextlib.suppress(OSError):
                            # The stamp of the entry itself: a link that leads elsewhere now is a change.
                            yield name, FileStamp.of(entry.stat(follow_symlinks=False))
            folders = below


def _lines(file: BinaryIO, left: int) -> Iterator[bytes]:
    """Yield the lines of the next `left` bytes."""
    while left > 0 and (line := file.readline(min(LINE_BYTES, left))):
        left -= len(line)
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def _is_file_within(path: Path, home: Path) -> bool:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a link to nowhere, or to itself
        return False
    return real.is_relative_to(home) and real.is_file()


def _read_a_little(path: Path) -> None:
    """Raise OSError unless a file can be read or a folder listed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe without a writer would block
    try:
        if path.is_dir():
            os.listdir(descriptor)
        else:
            with contextlib.suppress(BlockingIOError):
                os.read(descriptor, 1)
    finally:
        os.close(descriptor)


def _scan(folder: Path, limit: int) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        yield from islice(entries, limit)


def open_regular(path: Path) -> int | None:
    """Open a regular file for reading; None for whatever else a target may have put in its place."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
