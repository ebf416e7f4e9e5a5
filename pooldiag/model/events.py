"""What a diagnosis tells whoever watches it."""

from dataclasses import dataclass
from pathlib import Path

from pooldiag.model.arms import Arm
from pooldiag.model.reports import AttributeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWait:
    """The lock is not free yet; told again while it lasts. `holder` says who has it, where that can be seen."""

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

    arms: tuple[Arm, ...]
    cases: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run began: the `number`th, from 1."""

    run: str
    number: int
    arm: Arm
    cases: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStarted:
    """A case began in the current run: the `number`th, from 1."""

    name: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A run finished, and this is the report so far."""

    report: AttributeReport


Event = LockWait | LockHeld | Planned | RunStarted | CaseStarted | Reported
