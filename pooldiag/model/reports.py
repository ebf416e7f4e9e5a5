"""The report of one `attribute` diagnosis: what `--json` prints and every renderer reads."""

from dataclasses import dataclass
from pathlib import Path

from pooldiag.model.arms import Acted, Arm
from pooldiag.model.attributions import Attribution, Mechanism, Rate
from pooldiag.model.cases import Order
from pooldiag.model.outcomes import Outcome
from pooldiag.model.readings import RunReading, Sight
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
    """All runs of one arm. `sights` are the runs as seen from the report's main signature.

    `shown` is the first run that reads as most of the arm's runs do; None while the arm has none. `rate` is
    how often the signature was there; `greens_needed` how many more greens the arm needs before they count.
    """

    arm: Arm
    acted: Acted | None
    why: str  # what the state rests on: `hits=0`, `VT_POOL_EXACT stands in the binary`
    runs: tuple[Run, ...] = ()
    sights: tuple[Sight, ...] = ()
    rate: Rate | None = None
    greens_needed: int | None = None
    shown: Run | None = None


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
    profile: str | None = None


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
    """The command line to type next, and in a few words what it is for."""

    line: str
    purpose: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blockage:
    """Why a diagnosis could not be made or finished, and what to do about it."""

    problem: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What every command that runs a target says of itself, finished or not; each of its reports has one.

    `invocation` is the command that asked for it, such that it can be given again. `notes` are facts that bear on
    the reading: vacuous passes, identical bytes, what is odd about a run. `removed_variables` are inherited ones that
    no run had, with their values. `seconds` is the time from the start of the command.
    """

    partial: bool
    blocked: Blockage | None = None
    target: TargetReport
    invocation: CommandLine | None = None
    evidence: Path
    lock: LockReport | None = None
    disk: DiskReport | None = None
    machine: MachineReport
    notes: tuple[str, ...] = ()
    removed_variables: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeReport:
    """One diagnosis, finished or not.

    `attribution` is about the main signature, `others` about further ones of the baseline, from the same
    runs. `mechanisms` are the rows that the ids in it may name.
    """

    attribution: Attribution
    others: tuple[Attribution, ...] = ()
    arms: tuple[ArmResult, ...] = ()
    witnesses: tuple[str, ...] = ()
    reproducer: str | None = None
    next: NextCommand | None = None
    mechanisms: tuple[Mechanism, ...] = ()
    session: Session
