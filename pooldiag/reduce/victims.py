"""The victim of a red that no case names: the last case of a red beginning of the order, the one shorter being green.

Such a red is in an output file, the exit or a count. A selection is the first k cases here, the victim among them:
cases that do it now and then make a posterior over the last case of the shortest red beginning, a flake beside it.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import accumulate

from pooldiag.model.bisections import BisectStatus
from pooldiag.reduce.belief import Belief, best_share, channel_bits, single_belief
from pooldiag.reduce.noise import HARDLY_ONE
from pooldiag.reduce.prefix import boundary
from pooldiag.reduce.probe import Bench, DisagreementError, Memory, Positions, Probe, first_cases, nobody
from pooldiag.reduce.result import Proof
from pooldiag.reduce.search import SearchPlan, ended_early

_TESTED_AGAIN = 0.4  # chosen: a flake that looks like a victim meets the search for its polluters next


@dataclass(frozen=True, slots=True, kw_only=True)
class Victim:
    """The answer: the first `size` cases are red, the first `size` - 1 green, both run, and not only once.

    `size` counts the victim, which is the last of them; it is 1 when the first case alone is red, and None unless
    `status` is found.
    """

    status: BisectStatus
    size: int | None = None
    reason: str | None = None  # in words, what is not established and why
    noisy: bool = False
    confidence: float | None = None
    proof: Proof | None = None  # none of a shorter one when the first case alone is red


def search_victim(probe: Probe, length: int, *, plan: SearchPlan, memory: Memory | None = None) -> Victim:
    """Find out which of the `length` cases of an order shows a red that names none, and prove it by runs.

    The probe runs just the cases at the positions, which are always the first so many. Memory, void runs and a spent
    budget are as in `reduce_order`.
    """
    search = _VictimSearch(bench=plan.bench(probe, length, memory, nobody), plan=plan)
    early = ended_early(search.run)
    return search.answer if early is None else replace(search.answer, status=early[0], reason=early[1])


@dataclass(slots=True, kw_only=True)
class _VictimSearch:
    """One search for the victim: the beginnings of an order, the plan, and the answer as far as it is known."""

    bench: Bench
    plan: SearchPlan
    answer: Victim = Victim(status=BisectStatus.UNRESOLVED)

    def run(self) -> None:
        """Bisect; then let a posterior choose the runs, until it is sure."""
        if not self.bench.turns_red(self.bench.everything, self.plan.most_greens):
            self.answer = replace(self.answer, status=BisectStatus.GREEN, reason="all cases together are green")
            return
        try:
            self._plainly()
        except DisagreementError:
            self.answer = replace(self.answer, noisy=True)
        self.bench.doubt_readings()
        self._until_sure()

    def _plainly(self) -> None:
        """Bisect, then look at both ends again."""
        bench = self.bench
        if bench.counts(bench.everything).green:
            raise DisagreementError(bench.everything, bench.everything)
        size = boundary(lambda size: bench.read(first_cases(size)), green=0, red=bench.length)
        for end in (size, size - 1):
            if end:
                bench.clear_again(first_cases(end))

    def _until_sure(self) -> None:
        """Run what tells most, until one case explains the runs well enough, or hardly any does."""
        bench = self.bench
        while True:
            belief = single_belief(bench)
            size = belief.best + 1
            greens = sum(counts.green for _, counts in bench.observed())
            longer, shorter = bench.counts(first_cases(size)), bench.counts(first_cases(size - 1))
            alone = size == 1 and longer.red > 1 and not greens  # whatever else is true, the first case alone is red
            others = sum(belief.singles) + _TESTED_AGAIN * belief.flake
            sure = belief.singles[belief.best] / others  # both ends hold in any case
            if alone or (longer.red and shorter.green and sure >= self.plan.confidence):
                self._note(size, 1.0 if alone else sure)
                return
            if belief.flake + belief.other >= HARDLY_ONE or (size == 1 and longer.red and greens):
                self.answer = replace(self.answer, reason="runs of the same cases disagree, and no case explains it")
                return
            bench.clear_again(_telling(bench, belief))

    def _note(self, size: int, confidence: float) -> None:
        self.answer = replace(
            self.answer,
            status=BisectStatus.FOUND,
            size=size,
            confidence=confidence,
            proof=Proof.on(self.bench, first_cases(size), [first_cases(size - 1)] if size > 1 else []),
        )


def _telling(bench: Bench, belief: Belief) -> Positions:
    """Return the beginning that tells most about which case it is; where one is likely, an end of it."""
    mass, best, target = sum(belief.singles), belief.best, best_share(belief.rate)
    if belief.singles[best] >= target * mass:
        return _end_to_run(bench, best, target)
    sums = [0.0, *accumulate(share / mass for share in belief.singles)]
    near = bisect_left(sums, target, lo=1, hi=bench.length)
    cuts = [size for size in (near - 1, near) if size >= 1]
    return first_cases(max(cuts, key=lambda size: channel_bits(sums[size], belief.rate)))


def _end_to_run(bench: Bench, best: int, target: float) -> Positions:
    """Return the end that was run less often than tells most; the shorter one stands for every run without it."""
    tries = [(len(positions), counts.red + counts.green) for positions, counts in bench.observed()]
    held = sum(count for size, count in tries if size > best)
    if best == 0 or held < target * sum(count for _, count in tries) or not bench.counts(first_cases(best + 1)).red:
        return first_cases(best + 1)
    return first_cases(best)
