"""Runs side by side: those that a search asks for next, whichever way the readings turn out.

A search is a function of its memory. Replayed on a copy of it with supposed readings, it tells what it would ask for;
so its answer is the same as that of one run after the other, whatever the search is and wherever it stands.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TypeAlias

from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import BudgetSpentError, Memory, Positions, Probe, SearchLimits, SearchStep, bits_of, nobody
from pooldiag.reduce.result import Reduction
from pooldiag.reduce.search import DEFAULT_PLAN, SearchPlan, reduce_order

Replayable: TypeAlias = Callable[[Probe, Memory], object]
"""Any search: it makes its runs by the probe, and takes from the memory what was run before."""

# Chosen; they decide what runs cost, and no answer.
_SURE = 0.95  # of a reading that follows from others
_LOOKS = 6  # ways for the search to go on that are looked at, for each run that is wanted
_Step = tuple[Positions, Reading]


def next_asked(search: Replayable, memory: Memory, count: int) -> tuple[Positions, ...]:
    """Return the runs that a search asks for next, `count` at most: the first one for sure, then the likely ones.

    A selection stands there as often as it is to be run. Empty when the search needs no further run.
    """
    asked: list[Positions] = []
    open_: list[tuple[float, int, tuple[_Step, ...]]] = [(-1.0, 0, ())]
    for look in range(1, _LOOKS * count + 1):
        if not open_ or len(asked) == count:
            break
        chance, _, steps = heappop(open_)
        supposed = dict(memory)
        for positions, reading in steps:
            supposed[positions] = (*supposed.get(positions, ()), reading)
        wanted = _asked(search, supposed)
        if wanted is None:
            continue
        if sum(positions == wanted for positions, _ in steps) == asked.count(wanted):
            asked.append(wanted)
        red = _chance_of_red(wanted, supposed)
        for reading, share in ((Reading.RED, red), (Reading.GREEN, 1 - red)):
            heappush(open_, (chance * share, 2 * look + (reading is Reading.RED), (*steps, (wanted, reading))))
    return tuple(asked)


def reduce_ahead(  # noqa: PLR0913  # those of `reduce_order`, and how many at a time
    probe_many: Callable[[Sequence[Positions]], Sequence[Reading]],
    length: int,
    *,
    jobs: int,
    plan: SearchPlan = DEFAULT_PLAN,
    memory: Memory | None = None,
    watch: Callable[[SearchStep], None] = nobody,
) -> Reduction:
    """Do what `reduce_order` does, with the same answer, `jobs` runs at a time.

    `probe_many` runs several selections side by side and returns their readings in that order; one can be there
    more than once. The memory takes every reading as soon as it is there, those that turn out not to be needed as well
    (`Reduction.speculative`). `watch` is called for the runs that the search takes, in the order in which it does.
    """
    kept = {} if memory is None else memory
    unbounded = replace(plan, limits=SearchLimits(max_runs=plan.limits.max_runs))  # time is for the runs that are made
    runs = Speculation(
        search=lambda probe, seen: reduce_order(probe, length, plan=unbounded, memory=seen),
        probe_many=probe_many,
        memory=kept,
        jobs=jobs,
        known={positions: len(readings) for positions, readings in kept.items()},
    )
    answer = reduce_order(runs, length, plan=plan, memory=kept, watch=lambda step: watch(runs.seen(step)))
    taken = answer.runs - runs.recalled
    return replace(answer, recalled=runs.recalled, speculative=runs.made - taken)


@dataclass(slots=True, kw_only=True)
class Speculation:
    """A probe that makes the run asked for, and beside it those that are likely to be asked for next.

    `search` is the search that asks, `memory` the one it uses.
    """

    search: Replayable
    probe_many: Callable[[Sequence[Positions]], Sequence[Reading]]
    memory: Memory
    jobs: int
    known: dict[Positions, int]  # how many readings that were in the memory from the start are still to be taken
    made: int = 0
    recalled: int = 0  # how many of these were taken

    def __call__(self, positions: Positions, /) -> Reading:
        """Return the reading of this selection; the others go into the memory, for later."""
        batch = next_asked(self.search, self.memory, self.jobs) if self.jobs > 1 else ()
        if batch[:1] != (positions,):
            batch = (positions,)  # a search that is not the same twice is not run ahead of
        first, *others = self.probe_many(batch)
        self.made += len(batch)
        for other, reading in zip(batch[1:], others, strict=True):
            self.memory[other] = (*self.memory.get(other, ()), reading)
        return first

    def seen(self, step: SearchStep) -> SearchStep:
        """Count a run that the search takes; say whether it was there before the search began."""
        if left := self.known.get(step.positions, 0):
            self.known[step.positions] = left - 1
            self.recalled += 1
        return replace(step, recalled=left > 0)


def _asked(search: Replayable, memory: Memory) -> Positions | None:
    """Return the first selection that a search asks for beyond its memory; None when it ends without."""
    wanted: list[Positions] = []

    def probe(positions: Positions, /) -> Reading:
        wanted.append(positions)
        raise BudgetSpentError("a replay makes no run")

    with suppress(BudgetSpentError):
        search(probe, memory)
    return wanted[0] if wanted else None


def _chance_of_red(positions: Positions, memory: Memory) -> float:
    """Return how likely a red is if a single case is the polluter and readings are steady."""
    able, bits = -1, bits_of(positions)
    for other, readings in memory.items():
        if Reading.RED in readings:
            able &= bits_of(other)
        elif Reading.GREEN in readings:
            able &= ~bits_of(other)
    if able <= 0:
        return 0.5 if able == 0 else _SURE  # the first run is the whole order, which is known to be red
    return min(max((able & bits).bit_count() / able.bit_count(), 1 - _SURE), _SURE)
