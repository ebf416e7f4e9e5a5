"""`bisect`: finds the red, its victim, what must run before it, and what the arms say about that."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from pooldiag.attribution.reading import sight
from pooldiag.attribution.signatures import as_seen
from pooldiag.diagnose.attribute import MinimalSet, attribute_set
from pooldiag.diagnose.bisection_state import BisectionState
from pooldiag.diagnose.checked_lines import TRIES, CheckedLines
from pooldiag.diagnose.lister import Lister, named_among
from pooldiag.diagnose.prober import Places, Prober, Suite, suite_in
from pooldiag.diagnose.runner import Runner
from pooldiag.diagnose.sequences import sequence_of
from pooldiag.diagnose.tools import Tools
from pooldiag.diagnose.victim_choice import GREENS_OF_A_RED, Chooser, Chosen
from pooldiag.diagnose.wanted_order import find_order
from pooldiag.errors import BlockedError
from pooldiag.model.arms import STATE_ROLES, SWITCHED_ROLES, Acted, Isolation, Role
from pooldiag.model.bisections import BisectReport, BisectStatus, Confirmation, Phase
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.events import Searching
from pooldiag.model.readings import Reading, Sight
from pooldiag.model.reports import ArmResult, AttributeReport
from pooldiag.model.settings import DEFAULT_CONFIDENCE, BisectSettings
from pooldiag.model.words import count
from pooldiag.rates import greens_until
from pooldiag.reduce.probe import SearchLimits, SearchStep, Trust
from pooldiag.reduce.result import Reduction
from pooldiag.reduce.search import SearchPlan
from pooldiag.reduce.speculation import reduce_ahead

_NO_CURE = {Role.BASELINE, Role.PLACEBO, Role.USED_STATE}  # green under them says nothing about the whole order


def bisect(settings: BisectSettings, tools: Tools, keep: Callable[[BisectReport], None]) -> BisectReport:
    """Bisect, as `Diagnosis.drive` does; UsageError when the target or a selection cannot be used as given."""
    return _Bisection(settings, tools, keep).drive()


class _Bisection(BisectionState):
    """Makes the runs of a bisection; every one adds to what is known."""

    def run(self) -> None:
        """Find the red, then its victim, then what it takes; try the lines, and run the arms on that."""
        runner = Runner(self._common, self._tools, side_by_side=self._settings.jobs > 1)
        lister, arm = Lister(self._common, self._tools), self._common.arms[0]
        suite = self._suite(lister)
        self._common = replace(self._common, order=suite.order)
        prober = Prober(runner=runner, lister=lister, suite=suite, arm=arm, save=self._saved, record=self._record)
        prober, self._chosen = self._choose(prober)
        if self._chosen is None:
            if all(run.reading.reading is Reading.GREEN for run in self._record.whole):
                self._block_when_nothing_asserted(self._record.whole)
            return
        if not prober.suite.is_in_file_order:
            prober, self._chosen = self._in_file_order(prober, self._with_alone(prober, self._chosen))
        self._prober = prober
        self._reduction = self._reduce(prober, self._chosen)
        self._show(prober, self._chosen)

    def _choose(self, prober: Prober) -> tuple[Prober, Chosen | None]:
        """Choose what to follow: where a victim is green after all other cases, in file order."""
        if (victim_last := self._victim_last(prober.suite)) is not None:
            chosen = self._choose_in(prober.of(victim_last))
            if chosen is not None:
                return prober.of(victim_last), chosen
            self._record.forget_order()
        return prober, self._choose_in(prober)

    def _choose_in(self, prober: Prober) -> Chosen | None:
        self._prober = prober
        self._chooser = Chooser(settings=self._settings, prober=prober, plan=self._plan())
        return self._chooser.choose()

    def _victim_last(self, suite: Suite) -> Suite | None:
        """Return the suite with the victim behind all other cases, where nobody wants another order; else None."""
        name = self._common.victim
        if name is None or not self._settings.order_is_free or not self._tools.framework.any_order:
            return None
        victim = named_among(suite.cases, name)
        if victim == suite.cases[-1]:
            return None
        self._notes.append(f"no order was asked for: all other cases are run before {name}")
        cases = (*(case for case in suite.cases if case != victim), victim)
        return replace(suite, cases=cases, order=Order(kind=OrderKind.SEQUENCE))

    def _with_alone(self, prober: Prober, chosen: Chosen) -> Chosen:
        """Return it with what the victim is alone, unless nothing ran before it."""
        if () in chosen.memory or chosen.place == 0:
            return chosen
        (alone,) = prober.ask([()], chosen.question)
        return replace(chosen, memory=chosen.memory | {(): (alone,)})

    def _in_file_order(self, prober: Prober, chosen: Chosen) -> tuple[Prober, Chosen]:
        """Look in file order where a victim is red alone: if it is green there, a case before it sets up what it needs.

        The report is then of that order. Where nobody asked for an order, the victim may be red alone in another way.
        """
        alone = chosen.memory.get((), ())
        other = self._record.other_reds.get(()) if self._settings.order_is_free else None
        if other is None and alone[-1:] != (Reading.RED,):
            return prober, chosen
        question = chosen.question if other is None else replace(chosen.question, signature=other)
        suite = suite_in(Order(), prober.lister)
        place = suite.cases.index(chosen.victim)
        beginning = prober.of(replace(suite, cases=suite.cases[: place + 1]))
        if place == 0 or not self._has_time_for(Phase.BASELINE):
            return prober, chosen
        self._record.phase = Phase.BASELINE
        run = beginning.whole()
        if prober.answer(run, question) is not Reading.GREEN:
            self._record.whole.pop()
            return prober, chosen
        self._notes.append(f"in {prober.suite.order} the victim is red, and so it is alone; in file order it is green")
        self._record.forget_order()
        self._record.whole.append(run)
        self._common = replace(self._common, order=Order())
        memory = {tuple(range(place)): (Reading.GREEN,), (): tuple(Reading.RED for _ in alone)}
        return beginning, replace(chosen, question=question, place=place, memory=memory)

    def _suite(self, lister: Lister) -> Suite:
        if not self._settings.sequence:
            return suite_in(self._common.order, lister)
        listing, framework = lister.everything(), self._tools.framework
        wanted, behind = sequence_of(listing, self._settings.sequence, self._common.victim)
        if behind:
            self._notes.append(f"{count(behind, 'case')} of the sequence behind the victim: left out")
        if framework.any_order:
            return Suite(listing=listing, cases=wanted, order=Order(kind=OrderKind.SEQUENCE))

        def watch(number: int, most: int) -> None:
            self._tools.ports.progress.notice(Searching(phase=Phase.SEEDS, most_left=most - number + 1))

        suite, listings = find_order(wanted, lister.everything, framework=framework, watch=watch)
        self._notes.append(f"{suite.order} has the {len(wanted)} cases as wanted; {listings} orders were listed")
        return suite

    def _reduce(self, prober: Prober, chosen: Chosen, *, steady: bool = True) -> Reduction:
        """Search for what must run before the victim; without `steady` no run is believed by itself."""
        self._record.unnamed.clear()  # the search names the phases of the runs from here on
        whole = chosen.memory.get(tuple(range(chosen.place)), ())
        seen = self._settings.wanted is not None or Reading.RED in whole
        most_greens = max(GREENS_OF_A_RED, len(whole)) if seen else 1
        trust = Trust.CONCLUSIONS if steady else Trust.NOTHING
        plan = self._plan(recalled=sum(map(len, chosen.memory.values())))
        plan = replace(plan, most_greens=most_greens, trust=trust)
        ask, jobs = partial(prober.ask, question=chosen.question), self._settings.jobs
        return reduce_ahead(ask, chosen.place, jobs=jobs, plan=plan, memory=chosen.memory, watch=self._watch)

    def _plan(self, *, recalled: int = 0) -> SearchPlan:
        """Return how far a search may go from here, which counts what it recalls as runs."""
        settings, spent = self._settings, len(self._record.probed) - recalled
        limits = SearchLimits(max_runs=max(1, settings.max_runs - spent), spent=self._is_late)
        return SearchPlan(
            confidence=settings.confidence, every_set=settings.every_set, prefix=settings.prefix, limits=limits
        )

    def _watch(self, progress: SearchStep) -> None:
        """Take notice of a step of the search; the run that it made was written down before."""
        self._progress = progress
        if not progress.recalled:
            self._record.name_phase(progress.positions, progress.phase)
            self._tools.ports.progress.notice(self._searching())

    def _saved(self) -> None:
        """Save what is known after a run; the search itself tells of its own."""
        if self._chosen is None:
            self._tools.ports.progress.notice(self._searching())
        self._save()

    def _show(self, prober: Prober, chosen: Chosen) -> None:
        """Try the lines that show it, and run the arms on it; what blocks that changes nothing in what was found."""
        try:
            places = self._lines_that_hold(prober, chosen)
            if places is not None and self._settings.arms and self._arms_tell():
                self._run_arms(prober, chosen, places)
        except BlockedError as error:
            self._notes.append(f"not all that follows a search is done: {error.problem}")

    def _arms_tell(self) -> bool:
        """Tell whether arms can add to what is found: those of an allocator, or state where it takes no other case."""
        roles = {arm.role for arm in self._common.arms[1:] if arm.isolation is Isolation.TOGETHER}
        alone = self._reduction is not None and self._reduction.red_alone and not self._reduction.cleaners
        return not roles.isdisjoint((*SWITCHED_ROLES, *STATE_ROLES) if alone else SWITCHED_ROLES)

    def _lines_that_hold(self, prober: Prober, chosen: Chosen) -> Places | None:
        """Try both lines; where one shows something else than the search saw, search again, believing no single run."""
        for steady in (True, False):
            reduction = self._reduction
            red = None if reduction is None else _red_places(reduction)
            if reduction is None or red is None or not self._has_time_for(Phase.COMMANDS):
                return None
            places = (*red, chosen.place)
            self._lines(prober, chosen, places, noisy=reduction.noisy)
            if not self._contradicted:
                return places
            if reduction.noisy:
                return None
            if steady and reduction.status is BisectStatus.FOUND:
                self._reduction = self._reduce(prober, chosen, steady=False)
        return None

    def _lines(self, prober: Prober, chosen: Chosen, places: Places, *, noisy: bool) -> None:
        """Type the red line and the green one; what does not show what it should contradicts the search."""
        lines = CheckedLines(settings=self._common, tools=self._tools, prober=prober, question=chosen.question)
        self._red_line = lines.showing(Reading.RED, places, tries=TRIES if noisy else 1)
        green = self._green_places(chosen)
        self._green_line = None if green is None else lines.showing(Reading.GREEN, green)
        found = self._reduction is not None and self._reduction.status is BisectStatus.FOUND  # else nothing was claimed
        self._contradicted = found and (self._red_line is None or (green is not None and self._green_line is None))
        self._saved()

    def _green_places(self, chosen: Chosen) -> Places | None:
        """Return what to run to see the victim green; None where no selection of cases makes it so."""
        reduction = self._reduction
        if reduction is None or chosen.anywhere:
            return None
        if not reduction.red_alone:
            alone = self._record.counts.get(())
            return None if alone is not None and alone.other and not alone.green else (chosen.place,)
        return (*reduction.cleaners, chosen.place) if reduction.cleaners else None

    def _run_arms(self, prober: Prober, chosen: Chosen, places: Places) -> None:
        """Run the arms on the cases at these places, then the whole order."""
        if not self._has_time_for(Phase.ARMS):
            return
        cases = tuple(prober.suite.cases[place] for place in places)
        noisy = self._reduction is not None and self._reduction.noisy  # one red run of what is steady tells no rate
        runs = tuple(self._record.made.get(places[:-1], ())) if noisy else ()
        found = MinimalSet(prober=prober, cases=cases, signature=chosen.question.signature, runs=runs)
        budget = self._common.budget_seconds
        left = None if budget is None else budget - self._seconds()
        settings = replace(self._common, victim=None, budget_seconds=left)
        attribute_set(settings, self._tools, found, self._take)
        for result in _green_arms(self._attribution):
            if not self._has_time_for(Phase.CONFIRM):
                return
            self._confirm(result, prober, chosen, places)

    def _take(self, report: AttributeReport) -> None:
        self._attribution = report
        self._save()

    def _confirm(self, result: ArmResult, prober: Prober, chosen: Chosen, places: Places) -> None:
        run = prober.under(result.arm)
        known = frozenset(found for whole in self._record.whole for found in whole.reading.signatures)
        signature = as_seen(chosen.question.signature, known)
        seen = sight(run.outcome, run.reading, signature=signature, known=known)
        needed = self._more_greens(prober, chosen, places) if seen is Sight.GREEN else None
        confirmation = Confirmation(arm=result.arm, run=run, sight=seen, greens_needed=needed)
        self._confirmations = (*self._confirmations, confirmation)
        self._save()

    def _more_greens(self, prober: Prober, chosen: Chosen, places: Places) -> int:
        """Return how many greens an arm needs beside one, at the rate of the runs that could be red.

        Those of the minimal set as it is, and where runs disagree those of the search that held it and more: the few
        of the minimal set may all have been red.
        """
        arms = () if self._attribution is None else self._attribution.arms
        rate = next((arm.rate for arm in arms if arm.arm.role is Role.BASELINE), None)
        red, runs = (0, 0) if rate is None else (rate.red, rate.runs)
        if self._reduction is not None and self._reduction.noisy:
            larger = (*self._record.made_with(places[:-1]), *self._record.whole)
            looks = [prober.answer(run, chosen.question) for run in larger]
            red += looks.count(Reading.RED)
            runs += looks.count(Reading.RED) + looks.count(Reading.GREEN)
        return greens_until(red / runs, 1 - DEFAULT_CONFIDENCE) - 1 if red else 0


def _green_arms(report: AttributeReport | None) -> Iterator[ArmResult]:
    """Yield the arms that share a process among the cases, acted, and were green each time."""
    for result in () if report is None else report.arms:
        clears = bool(result.sights) and set(result.sights) == {Sight.GREEN} and result.acted is not Acted.INERT
        if clears and result.arm.role not in _NO_CURE and result.arm.isolation is Isolation.TOGETHER:
            yield result


def _red_places(reduction: Reduction) -> Places | None:
    """Return the smallest red selection that is known, be the search at its end or not."""
    if reduction.status is BisectStatus.GREEN:
        return None
    return reduction.polluters if reduction.polluters or reduction.red_alone else reduction.known.red
