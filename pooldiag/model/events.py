"""What is reported, as it happens, to whoever watches a diagnosis."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a framework says which case runs, and `--help` which frameworks there are: neither needs a report
    from pooldiag.model.arms import Arm
    from pooldiag.model.bisections import Phase, Probed
    from pooldiag.model.cases import Order
    from pooldiag.model.reports import RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWait:
    """The lock is not free yet; said again while it lasts. `holder` says who has it, where that can be seen."""

    path: Path
    seconds: float
    limit_seconds: float
    holder: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockHeld:
    """The lock was taken after `waited_seconds`."""

    paths: tuple[Path, ...]
    waited_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The arms that can run, and how many cases each of them runs (None: not known)."""

    arms: "tuple[Arm, ...]"
    cases: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run began: the `number`th, from 1."""

    run: str
    number: int
    arm: "Arm"
    cases: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStarted:
    """A case began in the current run, or in `run` where several go on: the `number`th, from 1."""

    name: str
    number: int
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A run is over, and its result follows or is not needed."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """A step of a bisection: before its first run, when a phase begins, and after each run of the search.

    `probed` is the run that just ended; None when only a phase began. `runs` and `cases_run` are spent; `most_left`
    runs are left at most, as far as the search can say. `red_with` is the fewest cases before the victim that were
    red, `green_with` the longest prefix below them that was green.
    """

    phase: "Phase"
    runs: int = 0
    cases_run: int = 0
    most_left: int | None = None
    victim: str | None = None
    probed: "Probed | None" = None
    red_with: int | None = None
    green_with: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStarted:
    """The next order is to be run: the `number`th of `of`, from 1."""

    order: "Order"
    number: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A run finished, and this is the report so far."""

    report: "RunReport"


Event = LockWait | LockHeld | Planned | RunStarted | CaseStarted | RunEnded | Searching | OrderStarted | Reported
