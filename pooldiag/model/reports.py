"""The report of one `attribute` diagnosis: what `--json` prints and every renderer reads."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.model.arms import Acted, Arm
from pooldiag.model.attributions import ArmsAnswer, Attribution, ExcludedRate, Mechanism, Rate, Status
from pooldiag.model.cases import Order
from pooldiag.model.outcomes import Outcome
from pooldiag.model.readings import Cascade, RunReading, RunStep, Sight
from pooldiag.model.settings import CommandLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One finished run and how it reads; `seconds` is the wall time of all its processes."""

    id: str
    arm: Arm
    outcome: Outcome
    reading: RunReading
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """All runs of one arm."""

    arm: Arm
    acted: Acted | None  # None for the baseline
    why: str  # what the state rests on: `hits=0`, `VT_POOL_EXACT stands in the binary`
    runs: tuple[Run, ...] = ()
    sights: tuple[Sight, ...] = ()  # the runs as seen from the report's main signature
    rate: Rate | None = None  # how often the signature was there
    greens_needed: int | None = None  # how many more greens it needs until chance does not explain them
    step: RunStep | None = None  # from a run on it shows something else, so that no rate is behind it
    shown: Run | None = None  # the first run that reads as most of the arm's runs do


@dataclass(frozen=True, slots=True, kw_only=True)
class LockReport:
    """The device lock: which files, and how long it was waited for and held."""

    paths: tuple[Path, ...]
    waited_seconds: float = 0.0
    held_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskReport:
    """Free bytes of the fullest watched file system, before and after, and the floor."""

    free_before: int
    free_after: int
    floor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReport:
    """The target as it was run."""

    argv: tuple[str, ...]
    directory: Path
    framework: str
    version: str | None = None
    order: Order = Order()
    cases: int | None = None
    sha256: str | None = None
    built_seconds_ago: float | None = None
    commit: str | None = None
    profile: str | None = None  # none where a script runs test cases, and nothing speaks of an allocator


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineReport:
    """The machine it ran on."""

    host: str
    system: str
    cpus: int
    memory_bytes: int
    gpus: tuple[str, ...] = ()
    boot_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCommand:
    """The command to type next."""

    line: str  # a command line that a POSIX shell accepts
    purpose: str  # what it is for, in a few words


@dataclass(frozen=True, slots=True, kw_only=True)
class Blockage:
    """Why a diagnosis could not be made or finished, and what to do about it."""

    problem: str
    hint: str | None = None  # what to do about it


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What every command that runs a target says of itself, finished or not; each of its reports has one."""

    partial: bool  # it did not come to its end
    blocked: Blockage | None = None
    target: TargetReport
    invocation: CommandLine | None = None  # the command that asked for it, such that it can be given again
    evidence: Path
    lock: LockReport | None = None
    disk: DiskReport | None = None
    machine: MachineReport
    notes: tuple[str, ...] = ()  # what bears on the reading: vacuous passes, identical bytes, an odd run
    removed_variables: tuple[tuple[str, str], ...] = ()  # inherited ones that no run had
    seconds: float = 0.0  # from the start of the command


class RunReport(ABC):
    """What a command that runs a target reports, finished or not. Its fields stand where its documents have them."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields of each report: inherited ones would stand first in its documents

        @property
        def next(self) -> NextCommand | None:
            """The command to type next."""

        @property
        def session(self) -> Session:
            """What every such report says of itself."""

    @property
    @abstractmethod
    def verdict(self) -> Status:
        """Say what the command ends with: `established` where it found what it looked for."""

    @abstractmethod
    def runs_shown(self) -> Iterator[Run]:
        """Yield the runs that are reported one by one, some perhaps twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeReport(RunReport):
    """One diagnosis, finished or not."""

    attribution: Attribution
    others: tuple[Attribution, ...] = ()  # about further signatures of the baseline, from the same runs
    cascades: tuple[Cascade, ...] = ()  # those of all signatures of the baseline that say the same
    excluded: ExcludedRate | None = None  # by a baseline that is green; None where something is red
    arms: tuple[ArmResult, ...] = ()
    reproducer: str | None = None  # a command line that a POSIX shell accepts
    next: NextCommand | None = None
    answers: tuple[ArmsAnswer, ...] = ()  # those that ids here may name
    mechanisms: tuple[Mechanism, ...] = ()  # the same
    session: Session

    @property
    def verdict(self) -> Status:
        """Say what is established about the main signature."""
        return self.attribution.status

    def runs_shown(self) -> Iterator[Run]:
        """Yield the runs of all arms."""
        return (run for arm in self.arms for run in arm.runs)
