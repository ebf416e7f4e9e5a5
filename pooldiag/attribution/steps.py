"""Steps: an arm that shows one thing, and from a run on another. That is no rate."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from pooldiag.model.readings import COLOURS, RunStep, Sight, StepKind

LATER_ALIKE = 3
"""Chosen: runs that agree behind a first one that does not. A fault at any rate looks like that, too: it is a hint."""

LONG = 8
"""Chosen: a fault at 50 % shows so many of one colour and then of the other, at one place, once in 32,768 times."""


def step_of(sights: Sequence[Sight], *, begins: bool = True) -> RunStep | None:
    """Return the step in the runs of one arm, in time order; None where they show one thing, or go to and fro.

    What says nothing about the red is passed over. `begins`: these are the first runs of all, so that the first of
    them can have left something behind for the others.
    """
    told = [(at, seen) for at, seen in enumerate(sights) if seen in COLOURS]
    blocks = [list(block) for _, block in groupby(told, key=lambda one: one[1])]
    for before, after in pairwise(blocks):
        if len(before) >= LONG and len(after) >= LONG:
            return _step(StepKind.LONG, before, after)
    match blocks:
        case [[_] as first, later] if begins and len(later) >= LATER_ALIKE:
            return _step(StepKind.FIRST, first, later)
    return None


def _step(kind: StepKind, before: list[tuple[int, Sight]], after: list[tuple[int, Sight]]) -> RunStep:
    return RunStep(kind=kind, at=after[0][0], before=before[0][1], after=after[0][1])
