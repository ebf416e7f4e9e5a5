"""Runs to be made: what each runs, and where it is at work."""

from dataclasses import dataclass
from pathlib import Path

from pooldiag.model.arms import Arm
from pooldiag.model.cases import Case, Order, Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """One run to be made: an arm, what it selects (one process each), and the order.

    Once the report has said how `until` ended, the run is ended. `outputs_due` is False for a selection that is
    not known to write the declared outputs.
    """

    arm: Arm
    selections: tuple[Selection | None, ...]
    order: Order
    until: Case | None = None
    outputs_due: bool = True

    @property
    def cases(self) -> int | None:
        """How many cases it selects; None where no framework knows cases."""
        return None if self.selections[0] is None else sum(len(one.cases) for one in self.selections if one)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """Where a finished run is found again: what was run, and how often that was asked for before."""

    what: str
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBegun:
    """A run under way, in its folder. `beside`: others go on at the same time."""

    plan: RunPlan
    key: RunKey
    run: str
    folder: Path
    beside: bool = False
