"""Every effect that the core asks for, as a Protocol."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from pooldiag.model.censuses import CensusProblem
from pooldiag.model.events import Event
from pooldiag.model.outcomes import Outcome
from pooldiag.model.reports import LockReport
from pooldiag.model.runs import Completed, RunRequest, Stream


class Executor(Protocol):
    """Runs one process to its end."""

    def execute(self, request: RunRequest) -> Completed:
        """Run, wait, and end what is left of it. Never raises for what the target does, but for RunLostError."""

    def restore(self) -> None:
        """Make runs possible again after RunLostError."""


class DeviceLock(Protocol):
    """A bounded exclusive hold of the device."""

    def hold(self) -> AbstractContextManager[None]:
        """Hold all lock files; raise LockTimeoutError when they are not free within the wait."""

    def retake(self) -> None:
        """Hold them again, within `hold`, after RunLostError; raise LockTimeoutError as `hold` does."""

    def report(self) -> LockReport | None:
        """Say how long the lock was waited for and held so far; None without a lock."""


class Disk(Protocol):
    """Free space and free memory, against their floors."""

    def shortage(self) -> str | None:
        """Say in one line what is under its floor; None when nothing is."""

    def full(self) -> str | None:
        """Say which memory-backed or watched file system has nothing left at all; None when none."""

    def check_need(self) -> None:
        """Raise BlockedError unless as much is free as the user said that the runs need."""

    def free_bytes(self) -> int:
        """Free bytes of the watched file system that has the least."""


class Files(Protocol):
    """Reading what a run wrote."""

    def lines(self, stream: Stream) -> Iterator[bytes]:
        """Yield the kept lines of a stream, without their ends; a longer line than 64 KiB comes in pieces."""

    def matches(self, folder: Path, glob: str) -> tuple[Path, ...]:
        """Return the regular files below `folder` that match, sorted."""

    def open(self, path: Path) -> BinaryIO:
        """Open a file for reading; OSError as usual."""

    def read(self, path: Path) -> bytes:
        """Return a whole small file; empty when it is absent."""

    def fingerprint(self) -> tuple[str, ...]:
        """Identify the target's binary and libraries as they are now: one entry a file."""

    def unreadable(self, paths: tuple[Path, ...]) -> str | None:
        """Say which required path cannot be read, and why; None when all can."""

    def changes(self) -> tuple[str, ...]:
        """Name the files of the target's working directory that changed since the last call."""

    def appeared(self) -> tuple[str, ...]:
        """Name those of them that were not there before: for sure, or none."""


class ContentStamp(Protocol):
    """What marks the content of a file: one that was written to or replaced has another stamp."""

    @property
    def size_bytes(self) -> int:
        """How large the file is."""

    @property
    def changed_ns(self) -> int:
        """When it was last written to."""


class TensorFiles(Protocol):
    """Finding and opening the files of a census."""

    def open(self, path: str) -> AbstractContextManager[tuple[BinaryIO, ContentStamp | None]]:
        """Open a file, or `-`, standard input; what can be read only once has no stamp. OSError as usual."""

    def stamp_of(self, file: BinaryIO) -> ContentStamp | None:
        """Return the stamp of an opened file as it is now."""

    def stamp_at(self, path: str) -> ContentStamp | None:
        """Return the stamp of a regular file; None where there is none."""

    def exists(self, path: str) -> bool:
        """Say whether there is anything at a path."""

    def is_folder(self, path: str) -> bool:
        """Say whether a path is one of a folder; `-` is not."""

    def below(self, folder: str) -> tuple[tuple[str, ...], tuple[CensusProblem, ...]]:
        """Return the regular files below a folder, by paths relative to it in any order, and what cannot be read."""


class Evidence(Protocol):
    """The folder that a diagnosis leaves behind."""

    path: Path

    def run_folder(self, run: str) -> Path:
        """Make and return the folder of a run, with an empty `out` in it."""

    def runs_there(self) -> int:
        """Return the number of the last run that an interrupted diagnosis began here; 0 in a new folder."""

    def put(self, path: Path, content: bytes) -> None:
        """Write a file that a run reads, below the folder of that run."""

    def state_folder(self, run: str, folders: Iterable[str]) -> Path:
        """Return the folder in which a run keeps its state, with these folders in it; what is there stays."""

    def drop_state(self, run: str) -> None:
        """Remove what a run left there."""

    def drop_outputs(self, run: str) -> None:
        """Remove what a run that filled the disk left in its `out`."""


class Memo(Protocol):
    """Finished runs, kept where they outlive a crash, so that none is made twice.

    A run is known by its key (what was run: target, arm, selection, order) and by how often that key was asked
    before, its `repeat`, from 0.
    """

    def done(self) -> int:
        """Return how many runs an earlier, interrupted diagnosis finished."""

    def recall(self, key: str, repeat: int) -> Outcome | None:
        """Return the outcome of a run that was finished; None when it was not."""

    def lost(self, key: str, repeat: int) -> tuple[str, ...]:
        """Return the ids of the runs of this key and repeat that began and never finished, the oldest first."""

    def died_with_machine(self, run: str) -> bool:
        """Say whether the machine has been started anew since a run began."""

    def started(self, run: str, key: str, repeat: int) -> None:
        """Mark a run as begun, on the disk before it begins."""

    def given_up(self, run: str) -> None:
        """Mark a run as ended by us, for a reason of our own: it was not lost, and is made again."""

    def finished(self, key: str, repeat: int, outcome: Outcome) -> None:
        """Keep the outcome of a run."""


class Clock(Protocol):
    """Time."""

    def monotonic(self) -> float:
        """Return seconds from any fixed point."""


class Pace(Clock, Protocol):
    """Time for one who looks again and again."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""


class Progress(Protocol):
    """Whoever watches; the core runs the same when nobody does."""

    def notice(self, event: Event) -> None:
        """Take notice of an event. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """One of each: the world of a diagnosis."""

    executor: Executor
    lock: DeviceLock
    disk: Disk
    files: Files
    evidence: Evidence
    memo: Memo
    clock: Clock
    progress: Progress
