"""`orders`: runs each order once, and finds the shortest red prefix over all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pooldiag.attribution.probing import Question
from pooldiag.diagnose.commands import next_of_orders
from pooldiag.diagnose.lines import Lines
from pooldiag.diagnose.listing import Lister
from pooldiag.diagnose.probing import Places, Prober, Suite
from pooldiag.diagnose.running import Runner
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError
from pooldiag.model.bisections import BothEnds, OrderResult, OrdersReport, ShortestPrefix, Tried
from pooldiag.model.cases import Case, Order, OrderKind
from pooldiag.model.events import OrderStarted, Reported
from pooldiag.model.outcomes import CaseStatus
from pooldiag.model.readings import Reading
from pooldiag.model.reports import DiskReport, Run, TargetReport
from pooldiag.model.settings import OrdersSettings
from pooldiag.reduce.prefix import boundary
from pooldiag.reduce.probe import ProbeVoidError

Keep = Callable[[OrdersReport], None]
"""Saves a report; called after every run."""

_ENDS_AGAIN = 2  # further runs of both ends of the shortest prefix, so that chance is no answer


def orders(settings: OrdersSettings, tools: Tools, keep: Keep) -> OrdersReport:
    """Run the orders under the lock; keep a partial report after every run, and return the whole one, kept as well.

    What blocks it ends up in the report. InterruptedRunError comes after a partial report was kept; UsageError when
    the target or a selection cannot be used as given.
    """
    survey = _Survey(settings, tools, keep)
    blocked: BlockedError | None = None
    try:
        with tools.lock.hold():
            survey.run()
    except InterruptedRunError:
        keep(survey.report(partial=True))
        raise
    except BlockedError as error:
        blocked = error
    report = survey.report(partial=False, blocked=blocked)
    keep(report)
    return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Red:
    """A red order whose first signature is of a case: what to ask, and where that case stands, from 0."""

    number: int  # of the order among the results
    prober: Prober
    question: Question
    place: int


class _Survey:
    """What is known so far; every run adds to it."""

    def __init__(self, settings: OrdersSettings, tools: Tools, keep: Keep) -> None:
        self._settings = settings
        self._common = settings.common
        self._tools = tools
        self._keep = keep
        self._began = tools.clock.monotonic()
        self._free_before = tools.disk.free_bytes()
        self._results: list[OrderResult] = []
        self._probers: list[Prober] = []
        self._reds: list[_Red] = []
        self._shortest: ShortestPrefix | None = None
        self._closest: _Red | None = None  # the red that the shortest prefix is of
        self._notes: list[str] = [*tools.notes]

    def run(self) -> None:
        """Run every order that is not the same list as an earlier one; then look for the shortest prefix."""
        self._tools.disk.check_need()
        runner, lister = Runner(self._common, self._tools), Lister(self._common, self._tools)
        seen: dict[tuple[Case, ...], Order] = {}
        for number, order in enumerate(self._settings.orders, 1):
            self._tools.progress.told(OrderStarted(order=order, number=number, of=len(self._settings.orders)))
            suite = self._suite(lister, order)
            if (same := seen.setdefault(suite.cases, order)) != order:
                self._results.append(OrderResult(order=order, same_as=same))
                continue
            self._run_order(
                Prober(runner=runner, lister=lister, suite=suite, arm=self._common.arms[0], told=self._saved)
            )
        if self._settings.prefix:
            self._shorten()

    def _suite(self, lister: Lister, order: Order) -> Suite:
        listing = lister.everything(order)
        cases = lister.chosen(listing)
        if not cases:
            raise BlockedError(f"nothing to run: all {len(listing.cases)} cases are skipped")
        return Suite(listing=listing, cases=cases, order=order)

    def _run_order(self, prober: Prober) -> None:
        self._probers.append(prober)
        run = prober.whole()
        if run.reading.reading is Reading.VOID:
            raise BlockedError(run.reading.void_reason or "void")
        result = OrderResult(order=prober.suite.order, run=run, failing=tuple(_failing(run)))
        signature = run.reading.signatures[0] if run.reading.signatures else None
        if signature is not None and (victim := _victim(run, signature.case)) is not None:
            place = prober.suite.cases.index(victim)
            result = replace(result, victim=victim.name, position=place + 1)
            question = Question(signature=signature, victim=victim)
            self._reds.append(_Red(number=len(self._results), prober=prober, question=question, place=place))
        self._results.append(result)
        self._saved()

    def _shorten(self) -> None:
        """Search each red order that may have a shorter red prefix than those before it, the earliest victims first."""
        for red in sorted(self._reds, key=lambda red: red.place):
            try:
                self._shorten_by(red)
            except ProbeVoidError as error:
                self._notes.append(f"{red.prober.suite.order}: no prefix: {error.problem}")
            self._saved()
            if self._shortest is not None and self._shortest.prefix == 0:
                break
        self._type_line()

    def _shorten_by(self, red: _Red) -> None:
        best = None if self._shortest is None else self._shortest.prefix
        size = _prefix(red, best)
        if size is not None and (proven := self._proven(red, size)) is not self._shortest:
            self._results[red.number] = replace(self._results[red.number], prefix=size)
            self._shortest = proven

    def _proven(self, red: _Red, size: int) -> ShortestPrefix | None:
        """Run both ends again; return what holds, or what was the shortest before when these runs disagree."""
        ends = [self._again(red, end) for end in (size, size - 1) if end >= 0]
        if ends[0].green or any(end.red for end in ends[1:]):
            self._notes.append(f"{red.prober.suite.order}: a red prefix of {size} cases does not hold, runs disagree")
            return self._shortest
        order, names = red.prober.suite.order, red.prober.suite.names(tuple(range(size)))
        proof = BothEnds(red=ends[0], green=tuple(ends[1:]))
        self._closest = red
        return ShortestPrefix(
            order=order, prefix=size, cases=names, victim=red.prober.suite.cases[red.place].name, proof=proof
        )

    def _again(self, red: _Red, size: int) -> Tried:
        places = tuple(range(size))
        readings = [reading for _ in range(_ENDS_AGAIN) for reading in red.prober.ask([places], red.question)]
        return Tried(
            cases=red.prober.suite.names(places),
            red=readings.count(Reading.RED),
            green=readings.count(Reading.GREEN),
            void=readings.count(Reading.VOID),
        )

    def _type_line(self) -> None:
        """Try the line that runs the shortest prefix, then the victim."""
        red, shortest = self._closest, self._shortest
        if red is None or shortest is None:
            return
        prober = red.prober
        lines = Lines(
            settings=replace(self._common, order=shortest.order),
            tools=self._tools,
            runner=prober.runner,
            signature=red.question.signature,
        )
        places = (*range(shortest.prefix), red.place)
        self._shortest = replace(shortest, reproducer=lines.red(prober.selection(places)))

    def _saved(self) -> None:
        report = self.report(partial=True)
        self._tools.progress.told(Reported(report=report))
        self._keep(report)

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> OrdersReport:
        """Say what is known now."""
        probed = [one for prober in self._probers for one in prober.probed]
        report = OrdersReport(
            partial=partial,
            asked=len(self._settings.orders),
            orders=tuple(self._results),
            shortest=self._shortest,
            by_accident=self._is_green_by_accident(),
            runs=len(probed),
            cases_run=sum(one.cases for one in probed),
            blocked_by=None if blocked is None else blocked.problem,
            hint=None if blocked is None else blocked.hint,
            notes=(*self._notes, *self._odd()),
            removed_variables=self._tools.removed,
            invocation=self._common.invocation,
            evidence=self._tools.evidence.path,
            lock=self._tools.lock.report(),
            disk=DiskReport(
                free_before=self._free_before,
                free_after=self._tools.disk.free_bytes(),
                floor=self._common.floors.disk_bytes,
            ),
            target=self._target(),
            machine=self._tools.machine,
            seconds=self._tools.clock.monotonic() - self._began,
        )
        return report if partial else replace(report, next=next_of_orders(self._settings, report))

    def _is_green_by_accident(self) -> bool:
        """Tell whether the order that everybody runs is green, and another one is not."""
        readings = {result.order.kind: result.run.reading.reading for result in self._results if result.run}
        reds = any(result.run is not None and result.run.reading.reading is Reading.RED for result in self._results)
        return reds and readings.get(OrderKind.FILE) is Reading.GREEN

    def _odd(self) -> Iterator[str]:
        found: dict[str, list[str]] = {}
        for prober in self._probers:
            for note, runs in prober.notes.items():
                found.setdefault(note, []).extend(runs)
        for note, runs in found.items():
            yield f"{note} ({runs[0] if len(runs) == 1 else f'{len(runs)} runs'})"

    def _target(self) -> TargetReport:
        if not self._probers:
            return self._tools.target
        listing = self._probers[0].suite.listing
        return replace(self._tools.target, version=listing.framework_version, cases=len(listing.cases))


def _failing(run: Run) -> Iterator[str]:
    """Yield the cases that did not pass, in running order."""
    return (one.case.name for one in run.outcome.report.results if one.status is not CaseStatus.PASSED)


def _victim(run: Run, name: str | None) -> Case | None:
    """Return the case that a signature names; None for a red outside the cases."""
    of_name = [one for one in run.outcome.report.results if name is not None and one.case.name == name]
    broken = [one.case for one in of_name if one.status is not CaseStatus.PASSED]
    return next(iter(broken), None)


def _prefix(red: _Red, best: int | None) -> int | None:
    """Return k, k red and k-1 green, if it is below the best one so far; 0 when the victim is red alone."""
    readings = {red.place: Reading.RED}  # the run of the whole order

    def read(size: int) -> Reading:
        if size not in readings:
            places: Places = tuple(range(size))
            readings[size] = red.prober.ask([places], red.question)[0]
        return readings[size]

    longest = red.place if best is None else min(best - 1, red.place)
    if read(longest) is not Reading.RED:
        return None
    return 0 if read(0) is Reading.RED else boundary(read, green=0, red=longest)
