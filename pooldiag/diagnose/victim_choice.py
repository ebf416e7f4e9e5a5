"""Which red a bisection follows, and which case is its victim."""

from dataclasses import dataclass, field, replace
from functools import partial

from pooldiag.attribution.cascades import cascades, followers
from pooldiag.attribution.questions import Question, result_of
from pooldiag.attribution.signatures import is_at, not_reached, same_red
from pooldiag.diagnose.lister import named_among
from pooldiag.diagnose.prober import Places, Prober, broken_case
from pooldiag.errors import BlockedError
from pooldiag.model.bisections import NamedBy
from pooldiag.model.cases import Case
from pooldiag.model.outcomes import CaseStatus
from pooldiag.model.readings import PlaceKind, Reading, Signature
from pooldiag.model.reports import Run
from pooldiag.model.settings import BisectSettings
from pooldiag.reduce.search import SearchPlan
from pooldiag.reduce.victims import search_victim

GREENS_OF_A_RED = 5
"""Greens of an order that was seen red once, here or by an earlier diagnosis, until it is believed to be green.

Chosen: a red that shows in half of the runs is missed so once in 32 times, one that shows in 80 % once in 3,000.
"""
_SURE_OF_A_VICTIM = 0.8  # chosen: the search for its polluters tests a flake again
_MOST_ALONE = 8  # reds that are tried alone, until one of them is taken that is red in any company


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The red that is followed, and its victim at `place` (from 0) in the running order.

    `memory` are the readings that are there already, as a search keeps them. `anywhere`: each case alone shows the
    red, so that it is in none of them, and the victim is only one that shows it.
    """

    question: Question
    victim: Case
    place: int
    named_by: NamedBy
    memory: dict[Places, tuple[Reading, ...]] = field(default_factory=dict)
    anywhere: bool = False


@dataclass(slots=True, kw_only=True)
class Chooser:
    """Runs the whole order, and looks for a red in it that other cases may have to do with."""

    settings: BisectSettings
    prober: Prober
    plan: SearchPlan
    red_alone: list[Signature] = field(default_factory=list)  # reds that need no other case, and are not followed
    untried: int = 0  # reds beyond those that were tried alone
    reason: str | None = None  # why nothing is followed

    def choose(self) -> Chosen | None:
        """Return what to follow; None when nothing is red, or the red of an earlier diagnosis does not show."""
        named = self._named()
        self._run_whole(named)
        if named is not None:
            return self._of_user(named)
        alone: list[Chosen] = []
        candidates = self._leading()
        for signature in candidates[:_MOST_ALONE]:
            chosen = self._by_search(signature) if signature.case is None else self._tried_alone(signature)
            if chosen is not None and chosen.memory.get((), ())[-1:] != (Reading.RED,):
                self.reason = None
                self.red_alone = [one.question.signature for one in alone]
                return chosen
            alone += [] if chosen is None else [chosen]
            if chosen is not None and (own := self._own_cause(chosen, alone)) is not None:
                self.red_alone = [one.question.signature for one in alone]
                return own
        self.red_alone = [one.question.signature for one in alone[1:]]
        self.untried = len(candidates[_MOST_ALONE:])
        self.reason = None if alone else self.reason
        return alone[0] if alone else None

    def first_red(self) -> Signature | None:
        """Return the red of the last whole run that is looked at first; None where there is none to be followed."""
        if not self.prober.record.whole:
            return None
        named = self._named()
        if named is None:
            return next(iter(self._leading()), None)
        return next((one for one in self._candidates() if one.case in {None, named.name}), None)

    def _named(self) -> Case | None:
        name, cases = self.settings.common.victim, self.prober.suite.cases
        if self.settings.sequence:
            return cases[-1]
        return None if name is None else named_among(cases, name)

    def _run_whole(self, named: Case | None) -> None:
        """Run the whole order until the red in question shows, or often enough without it."""
        least = 1 if self.settings.wanted is None else GREENS_OF_A_RED
        for _ in range(max(self.settings.repeat, least)):
            run = self.prober.whole()
            if run.reading.reading is Reading.VOID:
                raise BlockedError(run.reading.void_reason or "void")
            if self._shows(run, named):
                return
        if (wanted := self.settings.wanted) is not None:
            self.reason = f"{wanted} did not show in {len(self.prober.record.whole)} runs of the whole order"

    def _shows(self, run: Run, named: Case | None) -> bool:
        """Tell whether a run shows what may be followed; of a victim that passes further runs may show more."""
        found = self._candidates()
        if named is None or self.settings.wanted is not None:
            return bool(found)
        is_missing = result_of(run.outcome, named) is None
        return is_missing or any(one.case in {None, named.name} for one in found)

    def _candidates(self) -> list[Signature]:
        """Return the reds of the last whole run that may be followed, the main one first."""
        wanted = self.settings.wanted
        found = self.prober.record.whole[-1].reading.signatures
        return [one for one in found if wanted is None or same_red(one, wanted)]

    def _leading(self) -> list[Signature]:
        """Return those of them that follow no other: what broke at an earlier red is not theirs to tell."""
        found = self._candidates()
        behind = followers(cascades(found, [case.name for case in self.prober.suite.cases]))
        return [one for one in found if one not in behind]

    def _own_cause(self, first: Chosen, alone: list[Chosen]) -> Chosen | None:
        """Return one that says what a red says that is red alone, and does not need it.

        A message may say little, and so may a place: all that fail may say `is red`, in the helper that compares. The
        first that is green alone tells: where it is green without the red in question it follows that one, and so do
        those behind it. Reds alone join the others.
        """
        for red in self._behind(first):
            if len(alone) >= _MOST_ALONE:
                return None
            chosen = self._tried_alone(red)
            if chosen.memory.get((), ())[-1:] == (Reading.RED,):
                alone.append(chosen)
                continue
            without = tuple(place for place in range(chosen.place) if place != first.place)
            if self.prober.ask([without], chosen.question) != [Reading.RED]:
                return None
            return replace(chosen, memory=chosen.memory | {without: (Reading.RED,)})
        return None

    def _behind(self, first: Chosen) -> tuple[Signature, ...]:
        """Return those that seem to follow a red."""
        red, cases = first.question.signature, [case.name for case in self.prober.suite.cases]
        return next((one.followers for one in cascades(self._candidates(), cases) if one.first == red), ())

    def _of_user(self, victim: Case) -> Chosen | None:
        """Follow the victim that the user names: its red, its output's, its not being reached, or its red alone."""
        last, candidates = self.prober.record.whole[-1], self._candidates()
        if of_victim := [one for one in candidates if one.case == victim.name]:
            return self._chosen(of_victim[0], self._victim(of_victim[0]), NamedBy.USER)
        if result_of(last.outcome, victim) is None and self.settings.wanted is None:
            return self._chosen(not_reached(victim), victim, NamedBy.USER)
        if in_no_case := [one for one in candidates if one.case is None]:
            return self._chosen(in_no_case[0], victim, NamedBy.USER)
        return self._brittle(victim) if self.reason is None else None

    def _brittle(self, victim: Case) -> Chosen | None:
        """Follow a victim that passed in the order, if it is red alone."""
        alone = self.prober.alone(victim)
        if red := [one for one in alone.reading.signatures if one.case == victim.name]:
            chosen = self._chosen(red[0], victim, NamedBy.USER)
            return replace(chosen, memory=chosen.memory | {(): (Reading.RED,)})
        result = result_of(alone.outcome, victim)
        if alone.reading.reading is Reading.VOID or result is None or result.status is not CaseStatus.PASSED:
            said = alone.reading.void_reason or "; ".join(map(str, alone.reading.signatures))
            self.reason = f"the victim, {victim.name}, passes in this order; alone it says nothing: {said}"
        else:
            self.reason = f"the victim, {victim.name}, passes in this order, and alone"
        return None

    def _chosen(self, signature: Signature, victim: Case, named_by: NamedBy) -> Chosen:
        """Follow a red, with what the runs of the whole order say about it."""
        question = Question(signature=signature, victim=victim)
        place = self.prober.suite.cases.index(victim)
        readings = [self.prober.answer(run, question) for run in self.prober.record.whole]
        answers: tuple[Reading, ...] = tuple(reading for reading in readings if reading is not Reading.VOID)
        memory = {tuple(range(place)): answers} if answers else {}
        return Chosen(question=question, victim=victim, place=place, named_by=named_by, memory=memory)

    def _tried_alone(self, signature: Signature) -> Chosen:
        """Follow the red of a case, and run that case alone."""
        chosen = self._chosen(signature, self._victim(signature), NamedBy.STREAM)
        if chosen.place == 0:
            return chosen  # nothing ran before it: that was alone
        (alone,) = self.prober.ask([()], chosen.question)
        return replace(chosen, memory=chosen.memory | {(): (alone,)})

    def _victim(self, signature: Signature) -> Case:
        """Return the case that a signature names, be it one that passed."""
        run = self.prober.record.whole[-1]
        named = (one.case for one in run.outcome.report.results if one.case.name == signature.case)
        return broken_case(run, signature.case) or next(named)

    def _by_search(self, signature: Signature) -> Chosen | None:
        """Look for the case that completes the red: the last one of a red beginning of the order."""
        cases = self.prober.suite.cases
        if is_at(signature, PlaceKind.LACK):
            self.reason = f"{signature}: no beginning of the order shows it; name the case that writes it with --victim"
            return None
        whole: dict[Places, tuple[Reading, ...]] = {tuple(range(len(cases))): (Reading.RED,)}
        probe = partial(self.prober.beginning, signature=signature)
        plan = replace(self.plan, confidence=min(self.plan.confidence, _SURE_OF_A_VICTIM))
        found = search_victim(probe, len(cases), plan=plan, memory=whole)
        if found.size is None:
            self.reason = f"{signature}: no case can be named: {found.reason}"
            return None
        # A red that the first case alone shows may be shown by another one alone, too.
        last = Question(signature=signature, victim=cases[-1])
        anywhere = found.size == 1 < len(cases) and self.prober.ask([()], last) == [Reading.RED]
        chosen = self._chosen(signature, cases[found.size - 1], NamedBy.SEARCH)
        memory: dict[Places, tuple[Reading, ...]] = {tuple(range(found.size - 1)): (Reading.RED,)}
        return replace(chosen, place=found.size - 1, memory=memory, anywhere=anywhere)
