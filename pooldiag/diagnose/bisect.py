"""`bisect`: finds the red, its victim, what must run before it, and what the arms say about that."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from pooldiag.diagnose.bisection_state import BisectionState
from pooldiag.diagnose.checked_lines import CheckedLines
from pooldiag.diagnose.lister import Lister, named_case
from pooldiag.diagnose.prober import Places, Prober, Suite, suite_in
from pooldiag.diagnose.runner import Runner
from pooldiag.diagnose.sessions import Account, Save, drive
from pooldiag.diagnose.set_arms import SetArms
from pooldiag.diagnose.tools import Tools
from pooldiag.diagnose.victim_choice import Chooser, Chosen
from pooldiag.diagnose.wanted_order import find_order
from pooldiag.errors import BlockedError
from pooldiag.model.arms import Isolation
from pooldiag.model.bisections import BisectReport
from pooldiag.model.cases import Case
from pooldiag.model.events import Searching
from pooldiag.model.readings import Reading
from pooldiag.model.settings import BisectSettings
from pooldiag.reduce.probe import SearchLimits, SearchStep, Trust
from pooldiag.reduce.result import Reduction, ReductionStatus
from pooldiag.reduce.search import SearchPlan
from pooldiag.reduce.speculation import reduce_ahead

_GREENS_OF_A_RED = 5  # of the order up to the victim until it is believed to be green, once it was seen red


def bisect(settings: BisectSettings, tools: Tools, keep: Callable[[BisectReport], None]) -> BisectReport:
    """Bisect, as `drive` does; UsageError when the target or a selection cannot be used as given."""
    return drive(partial(_Bisection, settings, tools), tools, keep)


class _Bisection:
    """Makes the runs of a bisection; every one adds to what is known."""

    def __init__(self, settings: BisectSettings, tools: Tools, save: Save) -> None:
        self._settings = settings
        self._tools = tools
        self._save = save
        self._known = BisectionState(
            settings=settings,
            common=settings.common,
            tools=tools,
            account=Account(tools, floor=settings.common.floors.disk_bytes, invocation=settings.repeatable),
            notes=[*tools.facts.notes],
        )

    def run(self) -> None:
        """Find the red, then its victim, then what it takes; try the lines, and run the arms on that."""
        known, common = self._known, self._settings.common
        runner = Runner(common, self._tools, side_by_side=self._settings.jobs > 1)
        lister = Lister(common, self._tools)
        suite = self._suite(lister)
        known.common = replace(common, order=suite.order)
        prober = Prober(runner=runner, lister=lister, suite=suite, arm=common.arms[0], save=self._saved)
        known.prober = prober
        known.chooser = Chooser(settings=self._settings, prober=prober, plan=self._plan())
        known.chosen = known.chooser.choose()
        if known.chosen is None:
            return
        known.reduction = self._reduce(prober, known.chosen)
        if _red_places(known.reduction) is not None:
            self._show(prober, known.chosen)

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> BisectReport:
        """Say what is known now."""
        return self._known.report(partial=partial, blocked=blocked)

    def _suite(self, lister: Lister) -> Suite:
        order = self._settings.common.order
        if not self._settings.sequence:
            return suite_in(order, lister)
        listing = lister.everything()
        wanted = tuple(named_case(listing, name) for name in self._settings.sequence)
        if self._tools.framework.any_order:
            return Suite(listing=listing, cases=wanted, order=order)
        return self._in_wanted_order(lister, wanted)

    def _in_wanted_order(self, lister: Lister, wanted: tuple[Case, ...]) -> Suite:
        """Find an order that has the wanted cases as wanted."""

        def watch(number: int, most: int) -> None:
            self._tools.ports.progress.notice(Searching(phase="seeds", most_left=most - number + 1))

        found = find_order(wanted, lister.everything, framework=self._tools.framework, watch=watch)
        self._known.notes.append(
            f"{found.order} has the {len(wanted)} cases as wanted; {found.listings} orders were listed"
        )
        return Suite(listing=found.listing, cases=wanted, order=found.order)

    def _reduce(self, prober: Prober, chosen: Chosen, *, steady: bool = True) -> Reduction:
        """Search for what must run before the victim; without `steady` no run is believed by itself."""

        def probe(several: Sequence[Places]) -> list[Reading]:
            return prober.ask(several, chosen.question)

        prober.begin_search()
        whole = chosen.memory.get(tuple(range(chosen.place)), ())
        seen = self._settings.wanted is not None or Reading.RED in whole
        plan = self._plan(recalled=sum(map(len, chosen.memory.values())))
        return reduce_ahead(
            probe,
            chosen.place,
            jobs=self._settings.jobs,
            plan=replace(
                plan,
                most_greens=max(_GREENS_OF_A_RED, len(whole)) if seen else 1,
                trust=Trust.CONCLUSIONS if steady else Trust.NOTHING,
            ),
            memory=chosen.memory,
            watch=self._watch,
        )

    def _plan(self, *, recalled: int = 0) -> SearchPlan:
        """Return how far a search may go from here, which counts what it recalls as runs."""
        spent = 0 if self._known.prober is None else len(self._known.prober.probed) - recalled
        return SearchPlan(
            confidence=self._settings.confidence,
            every_set=self._settings.every_set,
            limits=SearchLimits(max_runs=max(1, self._settings.max_runs - spent), spent=self._known.is_late),
        )

    def _watch(self, progress: SearchStep) -> None:
        """Take notice of a step of the search; the run that it made was written down before."""
        self._known.progress = progress
        if self._known.prober is not None and not progress.recalled:
            self._known.prober.name_phase(progress.positions, progress.phase)
            self._tools.ports.progress.notice(self._known.searching())

    def _saved(self) -> None:
        """Save what is known after a run; the search itself tells of its own."""
        if self._known.chosen is None:
            self._tools.ports.progress.notice(self._known.searching())
        self._save()

    def _show(self, prober: Prober, chosen: Chosen) -> None:
        """Try the lines that show it, and run the arms on it; what blocks that changes nothing in what was found."""
        try:
            places = self._lines_that_hold(prober, chosen)
            together = any(arm.isolation is Isolation.TOGETHER for arm in self._known.common.arms[1:])
            if places is not None and self._settings.arms and together:
                SetArms(known=self._known, prober=prober, chosen=chosen, save=self._save).run(places)
        except BlockedError as error:
            self._known.notes.append(f"not all that follows a search is done: {error.problem}")

    def _lines_that_hold(self, prober: Prober, chosen: Chosen) -> Places | None:
        """Try both lines; where one shows something else than the search saw, search again, believing no single run."""
        for steady in (True, False):
            reduction = self._known.reduction
            red = None if reduction is None else _red_places(reduction)
            if reduction is None or red is None or not self._known.has_time_for("commands"):
                return None
            places = (*red, chosen.place)
            self._lines(prober, chosen, places, noisy=reduction.noisy)
            if not self._known.contradicted:
                return places
            if steady and not reduction.noisy and reduction.status is ReductionStatus.FOUND:
                self._known.reduction = self._reduce(prober, chosen, steady=False)
        return None

    def _lines(self, prober: Prober, chosen: Chosen, places: Places, *, noisy: bool) -> None:
        """Type the red line and the green one; what does not show what it should contradicts the search."""
        known = self._known
        lines = CheckedLines(
            settings=known.common, tools=self._tools, runner=prober.runner, signature=chosen.question.signature
        )
        known.red_line = lines.red(prober.selection(places), noisy=noisy)
        green = self._green_places(chosen)
        known.green_line = None if green is None else lines.green(prober.selection(green))
        # Where something outside the cases is always red, no exit code tells how the victim was.
        tells = all(other.case is not None for other in known.others())
        known.contradicted = known.red_line is None or (green is not None and known.green_line is None and tells)
        self._saved()

    def _green_places(self, chosen: Chosen) -> Places | None:
        """Return what to run to see the victim green; None where no selection of cases makes it so."""
        reduction = self._known.reduction
        if reduction is None or chosen.anywhere:
            return None
        if not reduction.red_alone:
            return (chosen.place,)
        return (*reduction.cleaners, chosen.place) if reduction.cleaners else None


def _red_places(reduction: Reduction) -> Places | None:
    """Return the smallest red selection that is known, be the search at its end or not."""
    if reduction.status is ReductionStatus.GREEN:
        return None
    return reduction.polluters if reduction.polluters or reduction.red_alone else reduction.known.red
