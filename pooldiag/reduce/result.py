"""What a reduction establishes."""

from collections.abc import Iterable
from dataclasses import dataclass

from pooldiag.model.bisections import BisectStatus
from pooldiag.reduce.probe import Bench, BestKnown, Counts, Positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A selection and how often it read which way."""

    positions: Positions
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Both ends of a claim: what was run with it, and what was run without."""

    red: Observed
    green: tuple[Observed, ...]  # one a polluter left out; for a prefix the one shorter

    @classmethod
    def on(cls, bench: Bench, red: Positions, greens: Iterable[Positions]) -> "Proof":
        """Take what was run on a bench."""
        ends = [Observed(positions=one, counts=bench.used.get(one, Counts())) for one in (red, *greens)]
        return cls(red=ends[0], green=tuple(ends[1:]))

    def now(self, bench: Bench) -> "Proof":
        """Return it with all runs that were made since."""
        return self.on(bench, self.red.positions, [end.positions for end in self.green])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """The answer, and the runs that carry it.

    `prefix` is k: the first k cases, then the victim, are red, the first k-1 green, both run; 0 when it is red alone.
    It is the smallest such k only when `cleaning` is None: with cleaners redness is not monotone.
    """

    status: BisectStatus
    reason: str | None = None  # in words, what is not established and why
    prefix: int | None = None
    polluters: Positions = ()
    cleaners: Positions = ()  # or state-setters, when the victim is red alone
    sets: tuple[Positions, ...] = ()
    red_alone: bool = False
    noisy: bool = False  # a selection disagreed with itself
    cleaning: tuple[Positions, Positions] | None = None  # a red selection, and a green one that contains it
    confidence: float | None = None
    set_proof: Proof | None = None
    prefix_proof: Proof | None = None
    runs: int = 0
    recalled: int = 0  # of these runs, taken from the memory
    known: BestKnown = BestKnown()
    speculative: int = 0  # further runs, made beside these, that turned out not to be needed
