"""The whole reduction: baselines, polluters, prefix, cleaners, and what to do when runs disagree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pooldiag.model.bisections import BisectStatus, Phase
from pooldiag.model.readings import Reading
from pooldiag.reduce.belief import set_confidence, single_belief
from pooldiag.reduce.noise import (
    SURELY,
    earlier_greens,
    is_steady,
    prefix_confidence,
    repeats_needed,
    unsteady_polluter,
)
from pooldiag.reduce.polluters import SetQuestion, all_sets, cleaners_of, minimal_set
from pooldiag.reduce.prefix import prove_prefix
from pooldiag.reduce.probe import (
    Bench,
    BudgetSpentError,
    DisagreementError,
    Memory,
    Positions,
    Probe,
    ProbeVoidError,
    SearchLimits,
    SearchStep,
    Trust,
    first_cases,
    nobody,
    without,
)
from pooldiag.reduce.result import Proof, Reduction

DEFAULT_CONFIDENCE = 0.99
"""How seldom a flake that is red in 30 to 90 % of runs is taken for a polluter: see `FLAKE_PRIOR`.

A polluter that shows in half of the runs, one of 99 cases, takes 41 runs on average, baselines and the proof of the
prefix included. A steady one takes 14: a flake that is red in half of the runs agrees with a search of n runs,
whichever of 99 cases that names, in 99 / 2^n of trials.
"""
# Chosen: what takes more than these runs is not a steady fault, and is searched for as an unsteady one.
_MOST_TURNS = 24  # further runs of both ends, when the first ones leave too much to chance
_SEVERAL = 0.99  # that several act together, at whatever confidence: one case now and then looks like it
_REDS_FOR_A_RATE = 3  # so that one lucky red does not make the rate
_IN_ORDER = "after all cases"
_RUNS_FOR_A_RATE = 100  # a rate under 3 % is given up as too seldom


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """How far a reduction goes: to every set of polluters, and to the prefix.

    `most_greens`: how many greens of the whole order it takes to believe that it is green. 1 unless a red was seen.
    `trust` is what to begin with: nothing where runs are known to disagree.
    """

    confidence: float = DEFAULT_CONFIDENCE
    most_greens: int = 1
    every_set: bool = False
    prefix: bool = True
    trust: Trust = Trust.CONCLUSIONS
    limits: SearchLimits = SearchLimits()

    def bench(self, probe: Probe, length: int, memory: Memory | None, watch: Callable[[SearchStep], None]) -> Bench:
        """Return where the search makes its runs; without a memory it begins with an empty one."""
        kept = {} if memory is None else memory
        return Bench(probe=probe, length=length, memory=kept, limits=self.limits, watch=watch)


DEFAULT_PLAN = SearchPlan()


def reduce_order(
    probe: Probe,
    length: int,
    *,
    plan: SearchPlan = DEFAULT_PLAN,
    memory: Memory | None = None,
    watch: Callable[[SearchStep], None] = nobody,
) -> Reduction:
    """Find out which of the `length` cases before the victim make it red, and prove it by runs.

    `memory` holds readings of earlier runs, which are not made again, and takes every new one as soon as it is there.
    `watch` is called after each run. Void runs and a spent budget end it with the best so far; what the probe raises
    goes through.
    """
    search = _OrderSearch(bench=plan.bench(probe, length, memory, watch), plan=plan)
    if (early := ended_early(search.run)) is not None:
        search.answer = replace(search.answer, status=early[0], reason=early[1])
    return search.finished()


def ended_early(search: Callable[[], None]) -> tuple[BisectStatus, str] | None:
    """Search; return how it ended and why where it came to no end of its own, None where it did."""
    try:
        search()
    except BudgetSpentError as spent:
        return BisectStatus.UNRESOLVED, spent.problem
    except ProbeVoidError as void:
        return BisectStatus.BLOCKED, void.problem
    return None


@dataclass(slots=True, kw_only=True)
class _OrderSearch:
    """One reduction: the bench, the plan, and the answer as far as it is known."""

    bench: Bench
    plan: SearchPlan
    answer: Reduction = Reduction(status=BisectStatus.UNRESOLVED)

    def run(self) -> None:
        """Take both baselines, then go where they lead."""
        bench = self.bench
        bench.begin(Phase.BASELINE, 2)
        with bench.trusting(Trust.READINGS):  # a victim that is red alone and green in order is not a disagreement
            whole, alone = self.bench.demand(bench.everything), self.bench.demand(())
        if alone is Reading.RED:
            self._red_alone(whole)
        elif whole is Reading.RED and self.plan.trust is not Trust.NOTHING:
            self._plainly()
        elif bench.turns_red(bench.everything, self.plan.most_greens):
            self._unsteadily()
        else:
            self._without_red()

    def finished(self) -> Reduction:
        """Return the answer with all runs of its ends, and what it cost."""
        bench, answer = self.bench, self.answer
        return replace(
            answer,
            set_proof=answer.set_proof and answer.set_proof.now(bench),
            prefix_proof=answer.prefix_proof and answer.prefix_proof.now(bench),
            runs=bench.runs,
            recalled=bench.recalled,
            known=bench.known,
        )

    def _without_red(self) -> None:
        """Say how the victim is where its red does not show: green, or red in another way."""
        bench = self.bench
        other = [where for ran, where in ((bench.everything, _IN_ORDER), ((), "alone")) if bench.was_other(ran)]
        if other:
            reason = f"the red does not show; {' and '.join(other)} the victim is red in another way"
            self.answer = replace(self.answer, reason=reason)
        else:
            reason = f"the victim is green {_IN_ORDER}, and alone"
            self.answer = replace(self.answer, status=BisectStatus.GREEN, reason=reason)

    def _red_alone(self, whole: Reading) -> None:
        """Note that the victim needs no polluter; when it is green in order, find what there sets up what it needs."""
        self._note_red_alone()
        if self.bench.was_other(self.bench.everything):
            self.answer = replace(self.answer, reason=f"{_IN_ORDER} the victim is not green but red in another way")
        if whole is Reading.RED or self.answer.reason is not None:
            return
        try:
            setters = cleaners_of(self.bench, (), self.bench.everything)
            for end in (setters, ()):  # two cheap runs: a search among readings by chance ends somewhere, too
                self.bench.reassure(end)
            if self._until_sure([setters], Reading.GREEN) >= self.plan.confidence:
                self.answer = replace(self.answer, cleaners=setters, set_proof=Proof.on(self.bench, (), [setters]))
                return
        except DisagreementError:
            self.answer = replace(self.answer, noisy=True)
        self.answer = replace(self.answer, reason="the victim is red alone; that it is green at times may be chance")

    def _plainly(self) -> None:
        """Believe each reading until two disagree; a disagreement that stays is a cleaner, one that goes is chance."""
        bench = self.bench
        bench.trust = self.plan.trust
        while True:
            try:
                if not self._sets_and_prefix():
                    self._unsteadily()
                    return
                self._cleaners()
            except DisagreementError as disagreement:
                if not is_steady(bench, disagreement):
                    self._unsteadily()
                    return
                self.answer = replace(self.answer, cleaning=(disagreement.red, disagreement.green))
            else:
                return

    def _sets_and_prefix(self) -> bool:
        """Find what a plain search finds; tell whether it is more than chance."""
        ask = SetQuestion(bench=self.bench)
        found = minimal_set(ask, self.bench.everything)
        self._note_set(found)
        self._prefix(found)
        if self.plan.every_set:
            self.answer = replace(self.answer, sets=all_sets(ask, self.bench.everything, found))
        confidence = self._until_sure(self.answer.sets, Reading.RED)
        if confidence < self._needed(self.answer.sets):
            return False
        self.answer = replace(
            self.answer, status=BisectStatus.FOUND, confidence=confidence, set_proof=self._set_proof(found)
        )
        return True

    def _prefix(self, found: Positions) -> None:
        if not self.plan.prefix:
            return
        try:
            size = prove_prefix(self.bench, found[-1] + 1)
        except ProbeVoidError as void:
            self.answer = replace(self.answer, reason=f"the prefix is open: {void.problem}")
        else:
            self._note_prefix(size)

    def _cleaners(self) -> None:
        """Find what makes the victim green again in the green selection that contains a red one."""
        if self.answer.cleaning is None or self.answer.cleaners:
            return
        red, green = self.answer.cleaning
        polluters = self.answer.polluters
        base = polluters if set(polluters).issubset(green) else red
        self.answer = replace(self.answer, cleaners=cleaners_of(self.bench, base, green))

    def _needed(self, sets: Sequence[Positions]) -> float:
        """Return how sure it takes to be; one case now and then is not to be taken for several that act together."""
        return max(self.plan.confidence, _SEVERAL if len(sets[0]) > 1 else 0.0)

    def _until_sure(self, sets: Sequence[Positions], wanted: Reading) -> float:
        """Run both ends again until the posterior is high enough; DisagreementError when that shows chance."""
        first, needed = sets[0], self._needed(sets)
        ends = (*(without(first, one) for one in first), first)
        for turn in range(_MOST_TURNS):
            confidence = set_confidence(self.bench, sets, wanted)
            if confidence >= needed:
                return confidence
            self.bench.begin(Phase.NOISE, _MOST_TURNS - turn)
            self.bench.clear_again(ends[turn % len(ends)])
        return set_confidence(self.bench, sets, wanted)

    def _unsteadily(self) -> None:
        """Let a posterior choose the runs; when one polluter does not explain them, repeat every green."""
        bench = self.bench
        bench.doubt_readings()
        self.answer = Reduction(status=BisectStatus.UNRESOLVED, noisy=True)
        found = unsteady_polluter(bench, self.plan.confidence, prefix=self.plan.prefix)
        if bench.counts(()).red:
            self._note_red_alone()
        elif found is None or not self._unsteady_ends(*found):
            self._repeatedly()

    def _unsteady_ends(self, polluter: int, confidence: float) -> bool:
        """Run both ends of the prefix again, where it is wanted; tell whether they hold."""
        bench, rate = self.bench, single_belief(self.bench).rate
        self._note_set((polluter,))
        if not self.plan.prefix:
            self.answer = replace(self.answer, status=BisectStatus.FOUND, confidence=confidence)
            return True
        bench.begin(Phase.PREFIX, 2 * earlier_greens(rate, self.plan.confidence))
        if not bench.turns_red(first_cases(polluter + 1), repeats_needed(rate, SURELY, 1)):
            return False
        shorter = first_cases(polluter)
        if bench.turns_red(shorter, earlier_greens(rate, self.plan.confidence)):
            return False
        sure = min(confidence, prefix_confidence(rate, bench.counts(shorter).green))
        self.answer = replace(
            self.answer, status=BisectStatus.FOUND, confidence=sure, set_proof=self._set_proof((polluter,))
        )
        self._note_prefix(polluter + 1)
        return True

    def _repeatedly(self) -> None:
        """Search again as if plain, with every green repeated until chance explains it rarely enough."""
        bench, confidence = self.bench, self.plan.confidence
        rate = self._rate()
        decisions = 3 * bench.length.bit_length() + 6
        bench.repeats = repeats_needed(rate, confidence, decisions)
        if self.bench.demand(()) is Reading.RED:
            self._note_red_alone()
            return
        found = minimal_set(SetQuestion(bench=bench), bench.everything)
        self._note_set(found)
        self._prefix(found)
        sure = min(confidence, set_confidence(bench, [found]))
        if sure < confidence:
            self._note_flake()
            return
        self.answer = replace(self.answer, status=BisectStatus.FOUND, confidence=sure)

    def _rate(self) -> float:
        """Estimate the red rate of the whole order from the runs up to its third red (Haldane 1945, Nature 155:49)."""
        bench = self.bench
        bench.begin(Phase.NOISE, _MOST_TURNS)
        while (counts := bench.counts(bench.everything)).red < _REDS_FOR_A_RATE:
            if counts.total >= _RUNS_FOR_A_RATE:
                raise BudgetSpentError(f"red in {counts.red} of {counts.total} runs of the order: too seldom to search")
            bench.clear_again(bench.everything)
        return (counts.red - 1) / (counts.red + counts.green)  # lower than the estimate, and never 1

    def _note_set(self, found: Positions) -> None:
        self.answer = replace(self.answer, polluters=found, sets=(found,), set_proof=self._set_proof(found))

    def _note_red_alone(self) -> None:
        """Note that the victim is red alone, whatever case was suspected before."""
        self.answer = Reduction(
            status=BisectStatus.FOUND,
            prefix=0,
            red_alone=True,
            noisy=self.answer.noisy,
            confidence=1.0,
            set_proof=self._set_proof(()),
        )

    def _note_flake(self) -> None:
        """Take back what was suspected: the runs look as much like a victim that is red now and then by itself."""
        reason = "runs disagree as those of a flake do: it may be red now and then whatever ran before"
        self.answer = Reduction(status=BisectStatus.UNRESOLVED, noisy=True, reason=reason)

    def _note_prefix(self, size: int) -> None:
        proof = Proof.on(self.bench, first_cases(size), [first_cases(size - 1)])
        self.answer = replace(self.answer, prefix=size, prefix_proof=proof)

    def _set_proof(self, found: Positions) -> Proof:
        return Proof.on(self.bench, found, (without(found, one) for one in found))
