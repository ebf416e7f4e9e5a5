"""`orders`: runs each order once, and finds the shortest red prefix over all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pooldiag.attribution.cascades import cascades, followers
from pooldiag.attribution.questions import Question
from pooldiag.diagnose.checked_lines import CheckedLines
from pooldiag.diagnose.commands import next_of_orders
from pooldiag.diagnose.lister import Lister, named_among
from pooldiag.diagnose.notes import notes_of_runs
from pooldiag.diagnose.prober import Places, Prober, ProbeRecord, broken_case, suite_in
from pooldiag.diagnose.runner import Runner
from pooldiag.diagnose.sessions import Diagnosis
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError
from pooldiag.model.attributions import ExcludedRate
from pooldiag.model.bisections import BothEnds, OrderResult, OrdersReport, ShortestPrefix, Tried
from pooldiag.model.cases import Case, Order, OrderKind
from pooldiag.model.events import OrderStarted
from pooldiag.model.outcomes import CaseStatus
from pooldiag.model.readings import Reading
from pooldiag.model.reports import Run
from pooldiag.model.settings import OrdersSettings
from pooldiag.rates import excluded_by
from pooldiag.reduce.prefix import boundary
from pooldiag.reduce.probe import Counts, ProbeVoidError

_ENDS_AGAIN = 2  # further runs of both ends of the shortest prefix, so that chance is not an answer


def orders(settings: OrdersSettings, tools: Tools, keep: Callable[[OrdersReport], None]) -> OrdersReport:
    """Run the orders, as `Diagnosis.drive` does; UsageError when the target or a selection cannot be used as given."""
    return _OrdersSurvey(settings, tools, keep).drive()


@dataclass(frozen=True, slots=True, kw_only=True)
class _OrderRed:
    """A red of a case in an order: what to ask, and where that case stands, from 0; `number` is the order's."""

    number: int
    prober: Prober
    question: Question
    victim: Case
    place: int

    def prefix_below(self, best: int | None) -> int | None:
        """Return k, k red and k-1 green, if it is below the best one so far; the victim alone is green."""
        readings = {self.place: Reading.RED, 0: Reading.GREEN}  # the run of the whole order; the victim alone

        def read(size: int) -> Reading:
            if size not in readings:
                readings[size] = self._ask(tuple(range(size)))
            return readings[size]

        longest = self.place if best is None else min(best - 1, self.place)
        return boundary(read, green=0, red=longest) if read(longest) is Reading.RED else None

    def proven(self, size: int) -> ShortestPrefix | None:
        """Run both ends again; None when these runs disagree with the first ones."""
        longer, shorter = (self._again(tuple(range(end))) for end in (size, size - 1))
        if longer.green or longer.other or shorter.red or not (longer.red and shorter.green + shorter.other):
            return None
        suite, proof = self.prober.suite, BothEnds(red=longer, green=(shorter,))
        return ShortestPrefix(order=suite.order, prefix=size, cases=longer.cases, victim=self.victim.name, proof=proof)

    def _again(self, places: Places) -> Tried:
        counts = Counts()
        for _ in range(_ENDS_AGAIN):
            counts = counts.with_one(self._ask(places))
        return self.prober.suite.tried(places, counts)

    def _ask(self, places: Places) -> Reading:
        return self.prober.ask([places], self.question)[0]


class _OrdersSurvey(Diagnosis[OrdersReport]):
    """What is known so far; every run adds to it."""

    def __init__(self, settings: OrdersSettings, tools: Tools, keep: Callable[[OrdersReport], None]) -> None:
        super().__init__(settings.common, tools, keep, invocation=settings.invocation)
        self._settings = settings
        self._record = ProbeRecord()
        self._results: list[OrderResult] = []
        self._probers: dict[Order, Prober] = {}
        self._reds: list[_OrderRed] = []
        self._alone: dict[Case, Reading] = {}  # how a victim read alone, the same in every order
        self._disagreed = False  # two runs of the same cases did not read alike
        self._shortest: ShortestPrefix | None = None
        self._closest: _OrderRed | None = None  # the red that the shortest prefix is of

    def run(self) -> None:
        """Run every order that is not the same list as an earlier one; then look for the shortest prefix."""
        runner, lister = Runner(self._common, self._tools), Lister(self._common, self._tools)
        seen: dict[tuple[Case, ...], Order] = {}
        for number, order in enumerate(self._settings.orders, 1):
            if self._is_spent():
                return
            self._tools.ports.progress.notice(OrderStarted(order=order, number=number, of=len(self._settings.orders)))
            suite = suite_in(order, lister)
            if self._common.victim is not None:
                named_among(suite.cases, self._common.victim)
            if (same := seen.setdefault(suite.cases, order)) != order:
                self._results.append(OrderResult(order=order, same_as=same))
                continue
            arm, record = self._common.arms[0], self._record
            self._run_order(Prober(runner=runner, lister=lister, suite=suite, arm=arm, save=self._save, record=record))
        ran = [result.run for result in self._results if result.run is not None]
        if all(run.reading.reading is Reading.GREEN for run in ran):
            self._block_when_nothing_asserted(ran)
        self._look_again()
        if self._settings.prefix:
            self._shorten()
            self._type_line()

    def _look_again(self) -> None:
        """Run file order and the first red order once more, before anything is said about orders: it may be chance."""
        ran = [result for result in self._results if result.run is not None]
        reds = [result for result in ran if result.run is not None and result.run.reading.reading is Reading.RED]
        greens = [result for result in ran if result.order.kind is OrderKind.FILE and result not in reds]
        for result in (*greens[:1], *reds[:1]) if reds and greens else ():
            if self._is_spent():
                return
            again = self._probers[result.order].whole().reading
            if result.run is not None and again.signatures != result.run.reading.signatures:
                self._disagreed = True
                self._notes.append(f"{result.order}: two runs of it disagree, so chance has a part in what is red")

    def _is_spent(self) -> bool:
        """Tell whether the runs or the time allowed are spent, and say so."""
        runs, late = len(self._record.probed), self._is_late()
        if runs >= self._settings.max_runs or late:
            what = "time is" if late else "runs are"
            self._notes.append(f"the {what} spent after {runs} runs: the rest was left out")
        return runs >= self._settings.max_runs or late

    def _run_order(self, prober: Prober) -> None:
        self._probers[prober.suite.order] = prober
        run = prober.whole()
        failing = tuple(one.case.name for one in run.outcome.report.results if one.status is not CaseStatus.PASSED)
        same = cascades(run.reading.signatures, [case.name for case in prober.suite.cases])
        result = OrderResult(order=prober.suite.order, run=run, failing=failing, cascades=same)
        behind = followers(same) if self._common.victim is None else frozenset()
        reds = [red for red in self._reds_of(run, prober) if red.question.signature not in behind]
        if reds and reds[0].question.signature == run.reading.signatures[0]:
            result = replace(result, victim=reds[0].victim.name, position=reds[0].place + 1)
        self._reds += reds
        self._results.append(result)
        self._save()

    def _reds_of(self, run: Run, prober: Prober) -> Iterator[_OrderRed]:
        """Yield the reds of cases; of a red in no case it is only said that nothing is searched for."""
        for signature in run.reading.signatures:
            victim = broken_case(run, signature.case)
            if victim is None:
                self._notes.append(f"{signature}: in no case, so no prefix is looked for; bisect the order for that")
            elif self._common.victim in {None, victim.name}:
                number, place = len(self._results), prober.suite.cases.index(victim)
                question = Question(signature=signature, victim=victim)
                yield _OrderRed(number=number, prober=prober, question=question, victim=victim, place=place)

    def _shorten(self) -> None:
        """Search each red that may have a shorter red prefix than those before it, the earliest victims first."""
        for red in sorted(self._reds, key=lambda red: red.place):
            if self._is_spent():
                return
            try:
                self._shorten_by(red)
            except ProbeVoidError as error:
                self._notes.append(f"{red.prober.suite.order}: no prefix: {error.problem}")
            self._save()
            if self._shortest is not None and self._shortest.prefix == 1:
                return

    def _shorten_by(self, red: _OrderRed) -> None:
        """Look for a shorter prefix; a case that is red alone has one of 0 in every order, and hides no other red."""
        if red.victim not in self._alone:
            self._alone[red.victim] = red.prober.ask([()], red.question)[0]
        if self._alone[red.victim] is Reading.RED:
            self._notes.append(f"{red.question.signature}: {self._alone_words()}")
            self._note_prefix(red, 0)
            return
        size = red.prefix_below(None if self._shortest is None else self._shortest.prefix)
        if size is None:
            return
        if (proven := red.proven(size)) is not None:
            self._note_prefix(red, size)
            self._shortest, self._closest = proven, red
        else:
            self._disagreed = True
            self._notes.append(f"{red.prober.suite.order}: a red prefix of {size} cases does not hold, runs disagree")

    def _alone_words(self) -> str:
        if self._is_green_by_accident():
            return "red alone; where it is green, a case before it sets up what it needs"
        return "red alone, whatever the order"

    def _note_prefix(self, red: _OrderRed, size: int) -> None:
        """Write the prefix down where it is of the red that the order's line is about."""
        result = self._results[red.number]
        if result.victim == red.victim.name:
            self._results[red.number] = replace(result, prefix=size)

    def _type_line(self) -> None:
        """Try the line that runs the shortest prefix, then the victim."""
        red, shortest = self._closest, self._shortest
        if red is None or shortest is None:
            return
        prober, settings = red.prober, replace(self._common, order=shortest.order)
        lines = CheckedLines(settings=settings, tools=self._tools, prober=prober, question=red.question)
        line = lines.showing(Reading.RED, (*range(shortest.prefix), red.place))
        self._shortest = replace(shortest, reproducer=line)

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> OrdersReport:
        target = self._tools.facts.report_of(next((prober.suite.listing for prober in self._probers.values()), None))
        odd = [*notes_of_runs(self._record.readings)]
        ran = [result.run.reading.reading for result in self._results if result.run is not None]
        if ran and set(ran) == {Reading.GREEN} and not partial and blocked is None:
            odd += self._removed_fills()
        report = OrdersReport(
            session=self._session(partial=partial, blocked=blocked, target=target, notes=odd),
            asked=len(self._settings.orders),
            orders=tuple(self._results),
            shortest=self._shortest,
            by_accident=self._is_green_by_accident(),
            excluded=None if blocked else self._excluded(),
            runs=len(self._record.probed),
            cases_run=self._record.cases_run,
        )
        return report if partial else replace(report, next=next_of_orders(self._settings, report))

    def _excluded(self) -> ExcludedRate | None:
        """Return what the green orders exclude; None where one is red, and where none says anything."""
        readings = [result.run.reading.reading for result in self._results if result.run is not None]
        return None if Reading.RED in readings else excluded_by(readings.count(Reading.GREEN))

    def _is_green_by_accident(self) -> bool:
        """Tell whether the order that everybody runs is green, and another one is not."""
        readings = {result.order.kind: result.run.reading.reading for result in self._results if result.run}
        reds = any(result.run is not None and result.run.reading.reading is Reading.RED for result in self._results)
        return reds and readings.get(OrderKind.FILE) is Reading.GREEN and not self._disagreed
