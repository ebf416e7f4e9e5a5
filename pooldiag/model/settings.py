"""What the user asked for, from flags and `pooldiag.toml` together."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pooldiag.model.arms import AllocatorProfile, Arm, Role
from pooldiag.model.cases import Order, Target

MIB = 2**20
GIB = 2**30
DEFAULT_LOCK_WAIT_SECONDS = 2700.0
DEFAULT_CONFIDENCE = 0.99
DEFAULT_MAX_RUNS = 64
BASELINE_RUNS = 2  # before any other arm, without `repeat`


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSpec:
    """A declared output: a glob relative to the run's output folder, and the element type of the files."""

    glob: str
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LockSettings:
    """The device lock: files in the order they are taken (none: no lock), and the bound of the whole wait."""

    paths: tuple[Path, ...]
    wait_seconds: float = DEFAULT_LOCK_WAIT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Floors:
    """What must stay free, in bytes; `need_bytes` is asked for before the first run."""

    disk_bytes: int = GIB
    memory_bytes: int = 512 * MIB
    need_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """The words of a pooldiag command, so that a further one can be suggested: options, then the target's words."""

    command: str
    options: tuple[str, ...]
    target: tuple[str, ...]

    def having(self, *options: str) -> str:
        """Return the shell line with `options` (`--name=value` each) in place of earlier ones of their names."""
        return shlex.join(["pooldiag", self.command, *self._without(options), *options, *self.target])

    def _without(self, options: tuple[str, ...]) -> Iterator[str]:
        names = {option.partition("=")[0] for option in options}
        return (word for word in self.options if word.partition("=")[0] not in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSettings:
    """One `pooldiag attribute`, fully decided."""

    invocation: CommandLine
    target: Target
    order: Order = Order()
    case_patterns: tuple[str, ...] = ()
    victim: str | None = None
    profile: AllocatorProfile
    arms: tuple[Arm, ...]
    left_out: tuple[Role, ...] = ()  # roles that could be played and were not asked for
    repeat: int | None = None  # None: as many runs as it takes, chosen one at a time
    confidence: float = DEFAULT_CONFIDENCE
    max_runs: int = DEFAULT_MAX_RUNS
    budget_seconds: float | None = None
    outputs: tuple[OutputSpec, ...] = ()
    requires: tuple[Path, ...] = ()
    before: tuple[str, ...] = ()
    fresh_check: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    grace_seconds: float = 10.0
    keep_environment: tuple[str, ...] = ()
    lock: LockSettings
    floors: Floors = Floors()
