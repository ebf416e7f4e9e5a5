"""Probes: what a search may ask, how readings are kept, and what ends a search early.

A probe runs some of the m cases before the victim, then the victim, and reads the run: red when the signature
in question appears, green when every case ran without it and the victim passed, other when the victim is red in another
way, else void. Cases are positions in running order, from 0.
"""

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from pooldiag.errors import BlockedError, ExitCode, PooldiagError
from pooldiag.model.bisections import Phase
from pooldiag.model.readings import Reading
from pooldiag.model.words import count

Positions: TypeAlias = tuple[int, ...]
"""Cases before the victim, ascending, from 0; the victim itself always runs last."""

Memory: TypeAlias = MutableMapping[Positions, tuple[Reading, ...]]
"""The readings of each selection, the oldest first. A caller keeps it where it outlives a crash."""

Probe: TypeAlias = Callable[[Positions], Reading]
"""Runs the cases at these positions, then the victim, and returns how the run reads."""

VOID_TRIES = 2
"""A selection that is void so often is not asked again.

Chosen: once may be an accident of the machine; each further try is a run for every selection that can never be read.
"""


class Trust(StrEnum):
    """What is believed of the readings so far."""

    CONCLUSIONS = "conclusions"  # each by itself, and what follows if more cases never make a red go
    READINGS = "readings"  # each by itself
    NOTHING = "nothing"  # no reading by itself: runs of the same cases may disagree


class ProbeVoidError(BlockedError):
    """A run that the search cannot do without says nothing, each time."""

    def __init__(self, positions: Positions) -> None:
        """Take the selection that stays void."""
        super().__init__(
            f"runs of {count(len(positions), 'case')}, then the victim, say nothing,"
            f" {VOID_TRIES} times out of {VOID_TRIES}"
        )
        self.positions = positions


class BudgetSpentError(PooldiagError):
    """The runs or the time allowed are spent; `Bench.known` is the best so far."""

    exit_code = ExitCode.UNRESOLVED


class DisagreementError(PooldiagError):
    """Two runs disagree: a selection with itself, or a red one with a green one that contains it."""

    exit_code = ExitCode.UNRESOLVED

    def __init__(self, red: Positions, green: Positions) -> None:
        """Take the two selections; they are the same one when it disagrees with itself."""
        super().__init__(f"red with {len(red)} cases, green with {len(green)} that contain them")
        self.red = red
        self.green = green


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often a selection read which way."""

    red: int = 0
    green: int = 0
    other: int = 0  # the victim was red in another way
    void: int = 0

    @property
    def total(self) -> int:
        """All readings."""
        return self.red + self.green + self.other + self.void

    def with_one(self, reading: Reading) -> "Counts":
        """Count one more."""
        return Counts(
            red=self.red + (reading is Reading.RED),
            green=self.green + (reading is Reading.GREEN),
            other=self.other + (reading is Reading.OTHER),
            void=self.void + (reading is Reading.VOID),
        )


_NEVER = Counts()


@dataclass(frozen=True, slots=True, kw_only=True)
class BestKnown:
    """The best so far: the smallest red selection, the shortest red prefix and the longest green one below it."""

    red: Positions | None = None
    red_prefix: int | None = None
    green_prefix: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStep:
    """Where a search is after each of its runs.

    `most_left` is for one polluter and steady readings; it grows when that proves wrong.
    """

    phase: Phase
    positions: Positions
    reading: Reading
    recalled: bool  # taken from the memory, not run
    runs: int
    most_left: int
    known: BestKnown


def bits_of(positions: Positions) -> int:
    """Return a selection as bits, which compare faster than sets."""
    if positions and positions[-1] - positions[0] == len(positions) - 1:
        return ((1 << len(positions)) - 1) << positions[0]
    return sum(1 << position for position in positions)


def first_cases(size: int) -> Positions:
    """Return the selection of the first so many cases."""
    return tuple(range(size))


def without(positions: Positions, one: int) -> Positions:
    """Return the selection without one of its cases."""
    return tuple(other for other in positions if other != one)


def nobody(_progress: SearchStep) -> None:
    """Listen to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """What a search may spend: runs (recalled ones included), and whatever `spent` watches, a clock say."""

    max_runs: int = 1000
    spent: Callable[[], bool] = lambda: False


@dataclass(slots=True, kw_only=True)
class Bench:
    """Where probes are run: asks the memory first, keeps the count, tells of progress, notices disagreement.

    A red in another way counts as `missing`, what is not looked for: green to a search for the red, red to one for
    green. `repeats` greens make a selection green; one red makes it red. What contradicts the `trust` is a
    disagreement: a green selection that contains a red one, or one that disagrees with itself.
    """

    probe: Probe
    length: int  # m: the cases before the victim
    memory: Memory
    limits: SearchLimits = SearchLimits()
    watch: Callable[[SearchStep], None] = nobody
    trust: Trust = Trust.CONCLUSIONS
    missing: Reading = Reading.GREEN
    repeats: int = 1
    phase: Phase = Phase.BASELINE
    most_left: int = 0
    runs: int = 0
    recalled: int = 0
    known: BestKnown = BestKnown()
    used: dict[Positions, Counts] = field(default_factory=dict)  # what this search has taken so far
    _bits: list[int] = field(default_factory=list)  # of each of these, in their order
    _prefixes: dict[Reading, set[int]] = field(default_factory=lambda: {Reading.RED: set(), Reading.GREEN: set()})

    @property
    def everything(self) -> Positions:
        """All cases before the victim."""
        return tuple(range(self.length))

    def counts(self, positions: Positions) -> Counts:
        """Count the readings of a selection that this search has taken, those of the victim red in another way too."""
        return self._folded(self.used.get(positions, _NEVER))

    def observed(self) -> Iterator[tuple[Positions, Counts]]:
        """Yield every selection that was asked, with its counts."""
        return ((positions, self._folded(counts)) for positions, counts in self.used.items())

    def observed_bits(self) -> Iterator[tuple[int, Counts]]:
        """Yield the same, each selection as bits."""
        return zip(self._bits, map(self._folded, self.used.values()), strict=True)

    def was_other(self, positions: Positions) -> bool:
        """Tell whether the victim was red in another way after these cases, and neither green nor red as asked for."""
        seen = self.used.get(positions, _NEVER)
        return seen.other > 0 and not seen.red and not seen.green

    def look_for_green(self) -> None:
        """Count a victim that is red in another way as red from now on."""
        self.missing = Reading.RED

    def read(self, positions: Positions) -> Reading:
        """Return the reading of a selection; run it only as often as that takes.

        Raises BudgetSpentError, and DisagreementError as long as anything is believed.
        """
        while True:
            counts = self.counts(positions)
            if counts.red:
                return Reading.RED
            if counts.green >= self.repeats:
                return Reading.GREEN
            if counts.void >= VOID_TRIES:
                return Reading.VOID
            self.again(positions)

    def demand(self, positions: Positions) -> Reading:
        """Return the reading of a selection; ProbeVoidError when it stays void."""
        reading = self.read(positions)
        if reading is Reading.VOID:
            raise ProbeVoidError(positions)
        return reading

    def again(self, positions: Positions) -> Reading:
        """Take one more reading of a selection: from the memory as long as it has more, else from a run."""
        if self.runs >= self.limits.max_runs:
            raise BudgetSpentError(f"all runs that are allowed are spent, {self.runs} of the search")
        if positions not in self.used:
            self.used[positions] = _NEVER
            self._bits.append(bits_of(positions))
        seen = self.used[positions].total
        recorded = self.memory.get(positions, ())
        recalled = seen < len(recorded)
        reading = recorded[seen] if recalled else self._run(positions, recorded)
        self.used[positions] = self.used[positions].with_one(reading)
        self.runs += 1
        self.recalled += recalled
        self.most_left = max(0, self.most_left - 1)
        said = self.missing if reading is Reading.OTHER else reading
        self._learn(positions, said)
        self.watch(
            SearchStep(
                phase=self.phase,
                positions=positions,
                reading=reading,
                recalled=recalled,
                runs=self.runs,
                most_left=self.most_left,
                known=self.known,
            )
        )
        self._compare(positions, said)
        return said

    def clear_again(self, positions: Positions) -> Reading:
        """Take one more reading that is red or green; ProbeVoidError when too many in a row are void."""
        for _ in range(VOID_TRIES):
            if (reading := self.again(positions)) is not Reading.VOID:
                return reading
        raise ProbeVoidError(positions)

    @contextmanager
    def trusting(self, trust: Trust) -> Iterator[None]:
        """Believe so much for a while."""
        before, self.trust = self.trust, trust
        try:
            yield
        finally:
            self.trust = before

    def doubt_conclusions(self) -> None:
        """Believe from now on that more cases can make a red go."""
        if self.trust is Trust.CONCLUSIONS:
            self.trust = Trust.READINGS

    def doubt_readings(self) -> None:
        """Believe from now on that runs of the same cases can disagree."""
        self.trust = Trust.NOTHING

    def turns_red(self, positions: Positions, tries: int) -> bool:
        """Run a selection until it was red, or `tries` readings are there that are not void."""
        with self.trusting(Trust.NOTHING):
            while not self.counts(positions).red and self.counts(positions).green < tries:
                self.clear_again(positions)
        return self.counts(positions).red > 0

    def reassure(self, positions: Positions) -> None:
        """Run a selection again that must read as before; DisagreementError when it does not."""
        if self.trust is not Trust.NOTHING:
            phase, self.phase = self.phase, Phase.NOISE
            self.clear_again(positions)
            self.phase = phase

    def implied(self, positions: Positions) -> Reading | None:
        """Return what follows from other runs if more cases never make a red go; None when nothing does."""
        if self.trust is not Trust.CONCLUSIONS:
            return None
        bits = bits_of(positions)
        for other, counts in self.observed_bits():
            if counts.red and other & ~bits == 0:
                return Reading.RED
            if counts.green and not counts.red and bits & ~other == 0:
                return Reading.GREEN
        return None

    def begin(self, phase: Phase, most_left: int) -> None:
        """Say what the next runs are for, and how many are left at most."""
        self.phase = phase
        self.most_left = most_left

    def _run(self, positions: Positions, recorded: tuple[Reading, ...]) -> Reading:
        if self.limits.spent():
            raise BudgetSpentError(f"the time that is allowed is spent, after {self.runs} of the search's runs")
        reading = self.probe(positions)
        ahead = self.memory.get(positions, ())[len(recorded) :]  # a probe may leave readings for later there
        self.memory[positions] = (*recorded, reading, *ahead)
        return reading

    def _learn(self, positions: Positions, reading: Reading) -> None:
        known, size = self.known, len(positions)
        if reading is Reading.RED and (known.red is None or size < len(known.red)):
            known = replace(known, red=positions)
        if reading is not Reading.VOID and positions == first_cases(size):
            self._prefixes[reading].add(size)
            red = min(self._prefixes[Reading.RED], default=None)
            greens = (one for one in self._prefixes[Reading.GREEN] if red is None or one < red)
            known = replace(known, red_prefix=red, green_prefix=max(greens, default=None))
        self.known = known

    def _folded(self, counts: Counts) -> Counts:
        """Count a red in another way as what is not looked for."""
        if not counts.other:
            return counts
        if self.missing is Reading.GREEN:
            return replace(counts, green=counts.green + counts.other, other=0)
        return replace(counts, red=counts.red + counts.other, other=0)

    def _compare(self, positions: Positions, reading: Reading) -> None:
        """Raise DisagreementError when this reading contradicts an earlier one."""
        counts = self.counts(positions)
        if self.trust is not Trust.NOTHING and counts.red and counts.green:
            raise DisagreementError(positions, positions)
        if self.trust is not Trust.CONCLUSIONS or reading is Reading.VOID:
            return
        bits = bits_of(positions)
        for (other, seen), held in zip(self.observed(), self._bits, strict=True):
            if reading is Reading.GREEN and seen.red and held & ~bits == 0:
                raise DisagreementError(other, positions)
            if reading is Reading.RED and seen.green and bits & ~held == 0:
                raise DisagreementError(positions, other)
