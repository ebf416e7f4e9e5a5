"""One execution: what is asked for, and how the operating system says that it ended."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pooldiag.model.signals import signal_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Changes to the inherited environment: variables set and variables removed."""

    set: tuple[tuple[str, str], ...] = ()
    unset: tuple[str, ...] = ()

    def merged(self, later: "Environment") -> "Environment":
        """Apply `later` on top of this one; where both name a variable, `later` wins."""
        values = {name: value for name, value in self.set if name not in later.unset} | dict(later.set)
        unset = dict.fromkeys(name for name in (*self.unset, *later.unset) if name not in values)
        return Environment(set=tuple(values.items()), unset=tuple(unset))

    def apply(self, inherited: dict[str, str]) -> dict[str, str]:
        """Return `inherited` with the changes made."""
        kept = {name: value for name, value in inherited.items() if name not in self.unset}
        return kept | dict(self.set)

    def command_line(self, argv: Sequence[str]) -> str:
        """Return the line that runs `argv` with these changes, as a POSIX shell accepts it."""
        unset = [word for name in self.unset for word in ("-u", name)]
        pairs = [f"{name}={value}" for name, value in self.set]
        return shlex.join([*(["env", *unset, *pairs] if unset or pairs else []), *argv])


class Ending(StrEnum):
    """How a process ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed-out"  # ended by us at the limit
    INTERRUPTED = "interrupted"  # ended by us because the user asked for it
    STOPPED = "stopped"  # ended by us because a resource ran out; `Completed.stopped_by` says which
    ENOUGH = "enough"  # ended by us because its report had said all that was asked for
    LOST = "lost"  # ended with what started it, which was killed meanwhile: by the run itself, it seems
    NOT_STARTED = "not-started"  # the system could not execute it; `Completed.stopped_by` says why


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Bounds of one execution: seconds, and bytes kept of each stream."""

    timeout_seconds: float
    grace_seconds: float = 10.0
    stream_bytes: int = 64 * 2**20


def _ignore(_: bytes) -> None:
    """Ignore a report."""


def _never() -> bool:
    """Let a run go on to its end."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One planned execution.

    `environment` changes the inherited one. `folder` receives `stdout` and `stderr`; `report` is the file
    the framework writes, handed to `on_report` in pieces while it grows; all of it is handed over. `enough` is
    asked after each piece: once it is true the run is ended, and nothing more is handed over.
    """

    argv: tuple[str, ...]
    environment: Environment = Environment()
    directory: Path
    folder: Path
    report: Path | None = None
    limits: RunLimits
    on_report: Callable[[bytes], None] = field(default=_ignore, compare=False, repr=False)
    enough: Callable[[], bool] = field(default=_never, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What a process wrote to one descriptor; `dropped_bytes` from `dropped_from` on were given back to the disk."""

    path: Path
    size_bytes: int = 0
    dropped_from: int = 0
    dropped_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A process that outlived the run's own, and was then ended by us."""

    pid: int
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How the operating system says that an execution ended, and where its output is."""

    ending: Ending
    exit_code: int | None = None
    signal: int | None = None
    stopped_by: str | None = None
    shortage: str | None = None  # what was under its floor before, during or after: the run says nothing
    seconds: float
    cpu_seconds: float = 0.0
    peak_rss_bytes: int = 0
    stdout: Stream
    stderr: Stream
    leftovers: tuple[Leftover, ...] = ()

    @property
    def ended_well(self) -> bool:
        """Whether it came to its end by itself, with exit code 0."""
        return self.ending is Ending.EXITED and self.exit_code == 0

    @property
    def words(self) -> str:
        """Say the ending in words: `exit code 1`, `SIGSEGV`, `time limit`."""
        if self.ending is Ending.SIGNALLED and self.signal is not None:
            return signal_name(self.signal)
        if self.ending is Ending.EXITED:
            return f"exit code {self.exit_code}"
        return {
            Ending.TIMED_OUT: "time limit",
            Ending.INTERRUPTED: "interrupted",
            Ending.ENOUGH: "ended at the victim's verdict",
            Ending.LOST: self.stopped_by or "killed its parent process",
        }.get(self.ending, self.stopped_by or str(self.ending))
