"""Runs some of the cases, then the victim, and reads each run for one red."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pooldiag.attribution.questions import Question, another_red, answer
from pooldiag.diagnose.lister import Lister
from pooldiag.diagnose.processes import raise_if_lasting
from pooldiag.diagnose.run_memory import RunPlan
from pooldiag.diagnose.runner import Runner
from pooldiag.errors import BlockedError, UsageError
from pooldiag.model.arms import Arm
from pooldiag.model.bisections import BothEnds, Phase, Probed, Tried
from pooldiag.model.cases import Case, Listing, Order, Selection
from pooldiag.model.outcomes import CaseStatus
from pooldiag.model.readings import Reading, RunReading, Signature
from pooldiag.model.reports import Run
from pooldiag.model.runs import Ending
from pooldiag.reduce.probe import Counts
from pooldiag.reduce.result import Proof

Places = tuple[int, ...]
"""Cases by their place in the running order, from 0, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The cases of a diagnosis in running order, and the list that they stand in."""

    listing: Listing
    cases: tuple[Case, ...]
    order: Order

    @property
    def is_in_file_order(self) -> bool:
        """Whether the cases stand as the target lists them by itself."""
        there = set(self.cases)
        return self.order == Order() and self.cases == tuple(case for case in self.listing.runnable if case in there)

    def names(self, places: Places) -> tuple[str, ...]:
        """Return the names of the cases at these places."""
        return tuple(self.cases[place].name for place in places)

    def tried(self, places: Places, counts: Counts, *, other_red: Signature | None = None) -> Tried:
        """Say how often the cases at these places read which way, and in which other way the victim was red."""
        return Tried(
            cases=self.names(places),
            red=counts.red,
            green=counts.green,
            other=counts.other,
            void=counts.void,
            other_red=other_red if counts.other else None,
        )

    def both_ends(self, proof: Proof | None, other_reds: Mapping[Places, Signature]) -> BothEnds | None:
        """Say the same of both ends of a claim."""
        if proof is None:
            return None
        ends = ((one, other_reds.get(one.positions)) for one in (proof.red, *proof.green))
        red, *green = (self.tried(one.positions, one.counts, other_red=other) for one, other in ends)
        return BothEnds(red=red, green=tuple(green))


def suite_in(order: Order, lister: Lister) -> Suite:
    """List the target in an order, and choose what the user asked for."""
    listing = lister.everything(order)
    return Suite(listing=listing, cases=lister.chosen(listing), order=order)


def broken_case(run: Run, name: str | None) -> Case | None:
    """Return the case that a signature names: of several of this name the first that did not pass."""
    results = (one for one in run.outcome.report.results if name is not None and one.case.name == name)
    return next((one.case for one in results if one.status is not CaseStatus.PASSED), None)


_FEW = 8  # cases of a run whose whole end is waited for; chosen: an answer seldom has more


@dataclass(slots=True, kw_only=True)
class ProbeRecord:
    """The runs of a search or of several, as they were made."""

    phase: Phase = Phase.BASELINE
    probed: list[Probed] = field(default_factory=list)
    readings: list[RunReading] = field(default_factory=list)  # of all runs
    whole: list[Run] = field(default_factory=list)  # of the whole order
    other_reds: dict[Places, Signature] = field(default_factory=dict)  # selections that turn the victim red otherwise
    counts: dict[Places, Counts] = field(default_factory=dict)  # of all selections, by what ran before the victim
    made: dict[Places, list[Run]] = field(default_factory=dict)  # by what ran before the victim
    recalled: int = 0  # of the runs probed, made by an earlier, interrupted diagnosis
    unnamed: dict[Places, list[int]] = field(default_factory=dict)  # runs of a selection that no phase was named for

    @property
    def cases_run(self) -> int:
        """How many cases the runs probed selected, all together."""
        return sum(one.cases for one in self.probed)

    def made_with(self, places: Places) -> tuple[Run, ...]:
        """Return the runs of a victim that had all of these cases before it, and others."""
        held = ((ran, runs) for ran, runs in self.made.items() if set(places) < set(ran))
        return tuple(run for _, runs in held for run in runs)

    def forget_order(self) -> None:
        """Keep of what was run only what holds in every order: the victim alone."""
        self.whole.clear()
        self.made = {(): self.made.get((), [])}
        self.counts = {(): self.counts.get((), Counts())}
        self.other_reds = {places: found for places, found in self.other_reds.items() if not places}

    def name_phase(self, places: Places, phase: Phase) -> None:
        """Say what a run was for, which a search tells afterwards."""
        self.phase = phase
        if self.unnamed.get(places):
            number = self.unnamed[places].pop(0)
            self.probed[number] = replace(self.probed[number], phase=phase)


@dataclass(slots=True, kw_only=True)
class Prober:
    """Makes the runs of a search, writes them down, and keeps in mind what is the same in all of them."""

    runner: Runner
    lister: Lister
    suite: Suite
    arm: Arm
    save: Callable[[], None]  # called after every run
    record: ProbeRecord
    _asserting: set[Case] = field(default_factory=set)  # cases that were seen to make assertions
    _selections: dict[Places, Selection] = field(default_factory=dict)

    def of(self, suite: Suite) -> "Prober":
        """Return what makes the runs of another order, with all that is known of the cases."""
        return replace(self, suite=suite, _selections={})

    def whole(self) -> Run:
        """Run the whole order."""
        run = self.under(self.arm)
        self.record.whole.append(run)
        self._write_down(run, len(self.suite.cases), run.reading.reading)
        return run

    def under(self, arm: Arm) -> Run:
        """Run the whole order under an arm; not a step of the search."""
        everything = tuple(range(len(self.suite.cases)))
        run = self._taken(self.runner.run(replace(self._plan(everything), arm=arm)))
        if run.outcome.completed.ending is Ending.EXITED:
            self.runner.processes.learn_whole(run.outcome)  # red or not: so long it takes to its end
        return run

    def beginning(self, places: Places, signature: Signature) -> Reading:
        """Run the first cases of the order, for a red whose victim is not known."""
        run = self._taken(self.runner.run(replace(self._plan(places), outputs_due=False)))
        reading = answer(run.outcome, run.reading, Question(signature=signature))
        self._write_down(run, len(places), reading)
        return reading

    def alone(self, victim: Case) -> Run:
        """Run a case alone, for whatever red it shows."""
        run = self._taken(self.runner.run(self._plan((self.suite.cases.index(victim),))))
        self.record.made.setdefault((), []).append(run)
        self._write_down(run, 1, run.reading.reading)
        return run

    def ask(self, several: Sequence[Places], question: Question) -> list[Reading]:
        """Run the cases at each of these places, then the victim; side by side where there are several."""
        victim = question.victim
        if victim is None:
            raise AssertionError(question)
        place = self.suite.cases.index(victim)
        plans = [self._ending_with(question, (*places, place)) for places in several]
        readings = []
        for places, made in zip(several, self.runner.run_all(plans), strict=True):
            run = self._taken(made)
            readings.append(self.answer(run, question))
            if readings[-1] is Reading.OTHER and (found := another_red(run.reading, question)) is not None:
                self.record.other_reds.setdefault(places, found)
            self.record.made.setdefault(places, []).append(run)
            self.record.counts[places] = self.record.counts.get(places, Counts()).with_one(readings[-1])
            self.record.unnamed.setdefault(places, []).append(len(self.record.probed))
            self._write_down(run, len(places) + 1, readings[-1])
        return readings

    def _ending_with(self, question: Question, places: Places) -> RunPlan:
        """Plan a run that ends with the victim's verdict, but for one that shows how a line ends that is printed."""
        plan, victim = self._plan(places), question.victim
        early = victim is not None and question.signature.case == victim.name and len(places) > _FEW
        return replace(plan, until=victim if early else None)

    def typed(self, places: Places, line: str) -> Run:
        """Type the line that runs the cases at these places; not a step of the search."""
        return self._taken(self.runner.run(replace(self._plan(places), line=line)))

    def answer(self, run: Run, question: Question) -> Reading:
        """Read a run for a red; a pass without an assertion counts only for a victim that never makes one."""
        asserts = question.victim in self._asserting
        return answer(run.outcome, run.reading, replace(question, asserts=asserts))

    def selection(self, places: Places) -> Selection:
        """Return how the framework is asked for these cases, proven by a listing; BlockedError if it cannot be."""
        if places not in self._selections:
            wanted = tuple(self.suite.cases[place] for place in places)
            try:
                self._selections[places] = self.lister.select(self.suite.listing, wanted, order=self.suite.order)
            except UsageError as error:
                self.runner.checks.require_unchanged()
                raise BlockedError(error.problem, hint=error.hint) from error
        return self._selections[places]

    def _plan(self, places: Places) -> RunPlan:
        return RunPlan(arm=self.arm, selections=(self.selection(places),), order=self.suite.order)

    def _taken(self, run: Run) -> Run:
        """Learn from a run."""
        raise_if_lasting(run.outcome)
        self._asserting.update(result.case for result in run.outcome.report.results if result.assertions)
        self.record.readings.append(run.reading)
        return run

    def _write_down(self, run: Run, cases: int, reading: Reading) -> None:
        self.record.recalled += run.id in self.runner.memory.recalled
        self.record.probed.append(Probed(run=run.id, phase=self.record.phase, cases=cases, reading=reading))
        self.save()
