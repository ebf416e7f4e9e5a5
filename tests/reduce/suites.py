"""Suites that exist only as rules: which cases make the victim red, which clean up, how often it shows."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from pooldiag.model.readings import Reading
from pooldiag.reduce.polluters import SetQuestion
from pooldiag.reduce.probe import Bench, Positions

PLACES = (0.05, 0.31, 0.50, 0.77, 0.95)
"""Where a polluter lies, as a share of the cases before the victim."""


@dataclass(slots=True)
class Suite:
    """`length` cases and a victim, which is red after all cases of one of `sets`.

    A case of `cleaners` clears what ran before it. `alone`: the victim is red without `setters`. What is in
    `void` reads void whenever it runs. A red shows at `rate`; `flake` is the rate of a red by chance.
    """

    length: int
    sets: tuple[frozenset[int], ...] = ()
    cleaners: frozenset[int] = frozenset()
    setters: frozenset[int] | None = None
    void: frozenset[int] = frozenset()
    rate: float = 1.0
    flake: float = 0.0
    random: Random = field(default_factory=lambda: Random(1))
    ran: list[Positions] = field(default_factory=list)

    def __call__(self, positions: Positions, /) -> Reading:
        assert list(positions) == sorted(set(positions))
        assert all(0 <= one < self.length for one in positions)
        self.ran.append(positions)
        if self.void.intersection(positions):
            return Reading.VOID
        shown = self.red(positions) and self.random.random() < self.rate
        return Reading.RED if shown or self.random.random() < self.flake else Reading.GREEN

    def red(self, positions: Positions) -> bool:
        """Tell whether the victim is red after these cases, noise aside."""
        if self.setters is not None:
            return not self.setters.issubset(positions)
        since = max((one for one in positions if one in self.cleaners), default=-1)
        dirty = {one for one in positions if one > since}
        return any(one <= dirty for one in self.sets)

    @property
    def cases_run(self) -> int:
        return sum(len(positions) + 1 for positions in self.ran)


def suite(length: int, *sets: Iterable[int]) -> Suite:
    return Suite(length, tuple(frozenset(one) for one in sets))


def bench(suite: Suite) -> Bench:
    """Return a bench on which both baselines have been run."""
    made = Bench(probe=suite, length=suite.length, memory={})
    made.read(made.everything)
    made.read(())
    return made


def asked(suite: Suite) -> SetQuestion:
    return SetQuestion(bench=bench(suite))


def most_runs(length: int) -> int:
    """The target for one polluter, without the two runs that prove the prefix."""
    return math.ceil(math.log2(length)) + 4


def most_cases(length: int) -> float:
    """The target for the cases executed in those runs."""
    return 2 * (length + 1) + math.log2(length) + 5
