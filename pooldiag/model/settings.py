"""What the user asked for, from flags and `pooldiag.toml` together."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pooldiag.model.arms import AllocatorProfile, Arm, Role
from pooldiag.model.cases import Order, Target
from pooldiag.model.readings import Signature

MIB = 2**20
GIB = 2**30
DEFAULT_LOCK_WAIT_SECONDS = 2700.0
DEFAULT_CONFIDENCE = 0.99
DEFAULT_MAX_RUNS = 96
DEFAULT_MAX_PROBES = 1000  # of a search: far more than any takes that gets anywhere
BASELINE_RUNS = 2  # before any other arm, without `repeat`


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSpec:
    """A declared output: a glob relative to the run's output folder, and the element type; None: as the files say."""

    glob: str
    dtype: str | None = None


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
    """The words of a pooldiag command, so that a further one can be suggested: options, then the target's words.

    It was typed in `directory`, where its relative paths start.
    """

    command: str
    options: tuple[str, ...]
    target: tuple[str, ...]
    directory: Path | None = None

    def having(self, *options: str) -> str:
        """Return the shell line with `options` (`--name=value` each) in place of earlier ones of their names."""
        return shlex.join(["pooldiag", self.command, *self._without(options), *options, *self.target])

    def without(self, *names: str) -> "CommandLine":
        """Return the command without the options of these names, `--name` each."""
        kept = tuple(word for word in self.options if word.partition("=")[0] not in names)
        return replace(self, options=kept)

    def _without(self, options: tuple[str, ...]) -> Iterator[str]:
        names = {option.partition("=")[0] for option in options}
        return (word for word in self.options if word.partition("=")[0] not in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSettings:
    """One `pooldiag attribute`, fully decided; `bisect_alike` is a `bisect` with the options that it takes, too."""

    invocation: CommandLine
    bisect_alike: CommandLine | None = None
    target: Target
    order: Order = Order()
    case_patterns: tuple[str, ...] = ()
    victim: str | None = None
    profile: AllocatorProfile
    arms: tuple[Arm, ...]
    left_out: tuple[Role, ...] = ()  # roles that could be played and were not asked for
    left_out_witnesses: tuple[str, ...] = ()
    repeat: int | None = None  # None: as many runs as it takes, chosen one at a time
    confidence: float = DEFAULT_CONFIDENCE
    max_runs: int = DEFAULT_MAX_RUNS
    budget_seconds: float | None = None
    outputs: tuple[OutputSpec, ...] = ()
    printed_census: bool = True  # whether census lines that the target prints are read
    requires: tuple[Path, ...] = ()
    before: tuple[str, ...] = ()
    fresh_check: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    grace_seconds: float = 10.0
    keep_environment: tuple[str, ...] = ()
    lock: LockSettings
    floors: Floors = Floors()


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectSettings:
    """One `pooldiag bisect`, fully decided. `common` is how the target is run, and under which arms at the end.

    `invocation` is the command as it was typed, that of `common` an `attribute` of the same target and options, and
    `repeatable` the same bisection, of the target itself where an earlier report of it was named; `orders_alike` is an
    `orders` with the options that it takes, too.
    `sequence` are names of cases in a wanted running order, the victim last; empty: the order of `common`, which is
    free where nobody asked for it: then all other cases go before a victim that is named.
    `wanted` is the red of an earlier report: it is looked for, and no other. `arms` is False without the arms on
    the reproducer. After `repeat` greens the whole order is taken for green.
    """

    invocation: CommandLine = CommandLine(command="bisect", options=(), target=())
    repeatable: CommandLine = CommandLine(command="bisect", options=(), target=())
    orders_alike: CommandLine = CommandLine(command="orders", options=(), target=())
    common: AttributeSettings
    sequence: tuple[str, ...] = ()
    order_is_free: bool = False
    wanted: Signature | None = None
    repeat: int = BASELINE_RUNS
    every_set: bool = False
    arms: bool = True
    confidence: float
    max_runs: int = DEFAULT_MAX_PROBES
    jobs: int = 1
    resume: Path | None = None  # the evidence folder of an interrupted bisection, which is continued


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersSettings:
    """One `pooldiag orders`, fully decided: each order runs once; `prefix`: whether the shortest one is looked for.

    `invocation` is the command as it was typed, that of `common` an `attribute` of the same target and options;
    `bisect_alike` is a `bisect` with the options that it takes, too.
    """

    invocation: CommandLine = CommandLine(command="orders", options=(), target=())
    bisect_alike: CommandLine = CommandLine(command="bisect", options=(), target=())
    common: AttributeSettings
    orders: tuple[Order, ...]
    prefix: bool = True
    max_runs: int = DEFAULT_MAX_PROBES
