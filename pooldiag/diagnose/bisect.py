"""`bisect`: finds the red, its victim, what must run before it, and what the arms say about that."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pooldiag.attribution.reading import sight
from pooldiag.attribution.signatures import same_red
from pooldiag.diagnose.attribute import Given, attribute_given
from pooldiag.diagnose.choosing import Chooser, Chosen
from pooldiag.diagnose.commands import next_of_bisect
from pooldiag.diagnose.lines import Lines
from pooldiag.diagnose.listing import Lister, named_case
from pooldiag.diagnose.probing import Places, Prober, Suite
from pooldiag.diagnose.running import Runner
from pooldiag.diagnose.sequences import find_order
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError
from pooldiag.model.arms import Acted, Isolation, Role
from pooldiag.model.bisections import (
    BisectReport,
    BisectStatus,
    BothEnds,
    CheckedCommand,
    Confirmation,
    Found,
    Tried,
)
from pooldiag.model.cases import Case
from pooldiag.model.events import Planned, Reported, Searching
from pooldiag.model.readings import Reading, Sight, Signature
from pooldiag.model.reports import ArmResult, AttributeReport, DiskReport, Run, TargetReport
from pooldiag.model.settings import BisectSettings
from pooldiag.reduce.ahead import reduce_ahead
from pooldiag.reduce.probe import Limits, Progress
from pooldiag.reduce.result import Observed, Proof, Reduction, ReductionStatus
from pooldiag.reduce.search import Plan

_GREENS_OF_A_RED = 5  # of the order up to the victim until it is believed to be green, once it was seen red
_STATUS = {
    ReductionStatus.FOUND: BisectStatus.FOUND,
    ReductionStatus.GREEN: BisectStatus.GREEN,
    ReductionStatus.UNRESOLVED: BisectStatus.UNRESOLVED,
    ReductionStatus.BLOCKED: BisectStatus.BLOCKED,
}

Keep = Callable[[BisectReport], None]
"""Saves a report; called after every run."""


def bisect(settings: BisectSettings, tools: Tools, keep: Keep) -> BisectReport:
    """Bisect under the lock; keep a partial report after every run, and return the whole one, which is kept as well.

    Whatever blocks the bisection ends up in the report. InterruptedRunError comes after a partial report was kept;
    UsageError when the target or a selection cannot be used as given.
    """
    bisection = _Bisection(settings, tools, keep)
    blocked: BlockedError | None = None
    try:
        with tools.lock.hold():
            bisection.run()
    except InterruptedRunError:
        keep(bisection.report(partial=True))
        raise
    except BlockedError as error:
        blocked = error
    report = bisection.report(partial=False, blocked=blocked)
    keep(report)
    return report


@dataclass(slots=True, kw_only=True)
class _Shown:
    """What the minimal set was good for: the lines that show it, the arms on it, and on the whole order."""

    red: CheckedCommand | None = None
    green: CheckedCommand | None = None
    attribution: AttributeReport | None = None
    confirmations: tuple[Confirmation, ...] = ()


class _Bisection:
    """What is known so far; every run adds to it."""

    def __init__(self, settings: BisectSettings, tools: Tools, keep: Keep) -> None:
        self._settings = settings
        self._common = settings.common  # its order is replaced once a wanted order was found
        self._tools = tools
        self._keep = keep
        self._began = tools.clock.monotonic()
        self._free_before = tools.disk.free_bytes()
        self._runner: Runner | None = None
        self._prober: Prober | None = None
        self._chooser: Chooser | None = None
        self._chosen: Chosen | None = None
        self._reduction: Reduction | None = None
        self._progress: Progress | None = None
        self._shown = _Shown()
        self._notes: list[str] = [*tools.notes]

    def run(self) -> None:
        """Find the red, then its victim, then what it takes; try the lines, and run the arms on that."""
        self._tools.disk.check_need()
        runner, lister = Runner(self._common, self._tools), Lister(self._common, self._tools)
        self._runner = runner
        suite = self._suite(lister)
        self._common = replace(self._common, order=suite.order)
        prober = Prober(runner=runner, lister=lister, suite=suite, arm=self._common.arms[0], told=self._saved)
        self._prober = prober
        self._tools.progress.told(Planned(arms=self._common.arms[:1], cases=len(suite.cases)))
        self._chooser = Chooser(settings=self._settings, prober=prober, plan=self._plan())
        self._chosen = self._chooser.choose()
        if self._chosen is None:
            return
        self._reduction = self._reduce(prober, self._chosen)
        if (red := self._red_places()) is not None:
            self._show(prober, self._chosen, red)

    def _suite(self, lister: Lister) -> Suite:
        listing = lister.everything()
        if self._settings.sequence:
            return self._in_wanted_order(lister, tuple(named_case(listing, name) for name in self._settings.sequence))
        cases = lister.chosen(listing)
        if not cases:
            raise BlockedError(f"nothing to run: all {len(listing.cases)} cases are skipped")
        return Suite(listing=listing, cases=cases, order=self._common.order)

    def _in_wanted_order(self, lister: Lister, wanted: tuple[Case, ...]) -> Suite:
        """Find an order that has the wanted cases as wanted; a framework that runs any order needs none."""
        if self._tools.framework.any_order:
            return Suite(listing=lister.everything(), cases=wanted, order=self._common.order)
        found = find_order(wanted, lister.everything)
        self._notes.append(f"{found.order} has the {len(wanted)} cases as wanted; {found.listings} orders were listed")
        return Suite(listing=found.listing, cases=wanted, order=found.order)

    def _reduce(self, prober: Prober, chosen: Chosen) -> Reduction:
        """Search for what must run before the victim."""

        def probe(several: Sequence[Places]) -> list[Reading]:
            return prober.ask(several, chosen.question)

        prober.begin_search()
        whole = chosen.memory.get(tuple(range(chosen.place)), ())
        seen = self._settings.wanted is not None or Reading.RED in whole
        return reduce_ahead(
            probe,
            chosen.place,
            jobs=self._settings.jobs,
            plan=replace(
                self._plan(recalled=sum(map(len, chosen.memory.values()))),
                most_greens=max(_GREENS_OF_A_RED, len(whole)) if seen else 1,
            ),
            memory=chosen.memory,
            watch=self._watch,
        )

    def _plan(self, *, recalled: int = 0) -> Plan:
        """Return how far a search may go from here, which counts what it recalls as runs."""
        spent = 0 if self._prober is None else len(self._prober.probed) - recalled
        return Plan(
            confidence=self._settings.confidence,
            every_set=self._settings.every_set,
            limits=Limits(max_runs=max(1, self._settings.max_runs - spent), spent=self._time_is_over),
        )

    def _time_is_over(self) -> bool:
        budget = self._common.budget_seconds
        return budget is not None and self._tools.clock.monotonic() - self._began >= budget

    def _watch(self, progress: Progress) -> None:
        """Take notice of a step of the search; the run that it made was written down before."""
        self._progress = progress
        if self._prober is not None and not progress.recalled:
            self._prober.name_phase(progress.positions, progress.phase)
        self._tell()

    def _saved(self) -> None:
        """Save what is known after a run; the search itself tells of its own."""
        if self._chosen is None:
            self._tell()
        self._keep(self.report(partial=True))

    def _tell(self) -> None:
        if self._prober is None:
            return
        self._tools.progress.told(
            Searching(
                phase=self._prober.phase,
                runs=len(self._prober.probed),
                cases_run=sum(one.cases for one in self._prober.probed),
                most_left=None if self._progress is None else self._progress.most_left,
                victim=self._victim_name(),
                probed=self._prober.probed[-1] if self._prober.probed else None,
                red_with=self._red_with(),
                green_with=None if self._progress is None else self._progress.known.green_prefix,
            )
        )

    def _red_with(self) -> int | None:
        """Return with how few cases before the victim it was red."""
        red = None if self._progress is None else self._progress.known.red
        return None if red is None else len(red)

    def _begin(self, phase: str) -> None:
        """Tell what the next runs are for, which are no longer of the search."""
        self._tools.progress.told(Searching(phase=phase, victim=self._victim_name()))

    def _red_places(self) -> Places | None:
        """Return the smallest red selection that is known, be the search at its end or not."""
        reduction = self._reduction
        if reduction is None or reduction.status is ReductionStatus.GREEN:
            return None
        if reduction.polluters or reduction.red_alone:
            return reduction.polluters
        return reduction.known.red

    def _show(self, prober: Prober, chosen: Chosen, red: Places) -> None:
        """Try the lines that show it, and run the arms on it."""
        self._begin("commands")
        places = (*red, chosen.place)
        lines = Lines(
            settings=self._common, tools=self._tools, runner=prober.runner, signature=chosen.question.signature
        )
        self._shown.red = lines.red(prober.selection(places))
        if self._shown.red is None:
            self._notes.append("the line that runs the minimal set did not show the red when it was typed as it stands")
        if (green := self._green_places(chosen)) is not None:
            self._shown.green = lines.green(prober.selection(green))
        self._saved()
        if self._settings.arms and any(arm.isolation is Isolation.TOGETHER for arm in self._common.arms[1:]):
            self._arms(prober, chosen, places)

    def _green_places(self, chosen: Chosen) -> Places | None:
        """Return what to run to see the victim green; None where no selection of cases makes it so."""
        reduction = self._reduction
        if reduction is None or chosen.anywhere:
            return None
        if not reduction.red_alone:
            return (chosen.place,)
        return (*reduction.cleaners, chosen.place) if reduction.cleaners else None

    def _arms(self, prober: Prober, chosen: Chosen, places: Places) -> None:
        """Run the arms on the minimal set, then the whole order under those that are green there."""
        given = Given(
            runner=prober.runner,
            lister=prober.lister,
            listing=prober.suite.listing,
            cases=tuple(prober.suite.cases[place] for place in places),
            signature=chosen.question.signature,
        )
        self._begin("arms")
        try:
            for report in attribute_given(replace(self._common, victim=None), self._tools, given):
                self._shown.attribution = report
                self._saved_whole(report)
            self._begin("confirm")
            for result in _green_arms(self._shown.attribution):
                self._confirm(prober, chosen, result)
        except BlockedError as error:
            self._notes.append(f"the arms are not done: {error.problem}")

    def _saved_whole(self, report: AttributeReport) -> None:
        self._tools.progress.told(Reported(report=report))
        self._keep(self.report(partial=True))

    def _confirm(self, prober: Prober, chosen: Chosen, result: ArmResult) -> None:
        """Run the whole order under an arm once."""
        run = prober.under(result.arm)
        known = frozenset(found for whole in self._whole_runs() for found in whole.reading.signatures)
        wanted = chosen.question.signature
        signature = next((found for found in known if same_red(found, wanted)), wanted)
        seen = sight(run.outcome, run.reading, signature=signature, known=known)
        confirmation = Confirmation(arm=result.arm, run=run, sight=seen)
        self._shown.confirmations = (*self._shown.confirmations, confirmation)
        self._keep(self.report(partial=True))

    # Everything below only says what is known.

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> BisectReport:
        """Say what is known now."""
        status = BisectStatus.BLOCKED if blocked is not None else self._status(partial=partial)
        probed = () if self._prober is None else tuple(self._prober.probed)
        report = BisectReport(
            partial=partial,
            status=status,
            found=self._found(),
            reason=self._reason(),
            blocked_by=None if blocked is None else blocked.problem,
            hint=None if blocked is None else blocked.hint,
            runs=len(probed),
            recalled=0 if self._runner is None else self._runner.recalled,
            speculative=0 if self._reduction is None else self._reduction.speculative,
            cases_run=sum(one.cases for one in probed),
            red_with=self._red_with(),
            green_with=None if self._progress is None else self._progress.known.green_prefix,
            probed=probed,
            whole=next(iter(self._whole_runs()[-1:]), None),
            others=self._others(),
            reproducer=self._shown.red,
            green_command=self._shown.green,
            attribution=self._shown.attribution,
            confirmations=self._shown.confirmations,
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
        return report if partial else replace(report, next=next_of_bisect(self._settings, report))

    def _whole_runs(self) -> list[Run]:
        return [] if self._chooser is None else self._chooser.whole

    def _status(self, *, partial: bool) -> BisectStatus:
        if self._reduction is not None:
            return _STATUS[self._reduction.status]
        reds = any(run.reading.reading is Reading.RED for run in self._whole_runs())
        open_red = self._settings.wanted is not None or (reds and self._common.victim is None)
        return BisectStatus.UNRESOLVED if partial or open_red else BisectStatus.GREEN

    def _reason(self) -> str | None:
        if self._chosen is not None and self._chosen.anywhere:
            return "each case alone shows it, so it is in none of them: look at what runs outside the cases"
        if self._reduction is not None and self._reduction.reason is not None:
            return self._reduction.reason
        return None if self._chooser is None else self._chooser.reason

    def _victim_name(self) -> str | None:
        return None if self._chosen is None or self._chosen.anywhere else self._chosen.victim.name

    def _others(self) -> tuple[Signature, ...]:
        """Return the reds of the whole order that are not followed."""
        wanted = None if self._chosen is None else self._chosen.question.signature
        found = dict.fromkeys(one for run in self._whole_runs() for one in run.reading.signatures)
        return tuple(one for one in found if wanted is None or not same_red(one, wanted))

    def _odd(self) -> Iterator[str]:
        """Yield what is odd about single runs, each text once, and which of the other reds are red alone."""
        for signature in [] if self._chooser is None else self._chooser.red_alone:
            yield f"{signature}: red alone, no other case has to do with it"
        for note, runs in ({} if self._prober is None else self._prober.notes).items():
            yield f"{note} ({runs[0] if len(runs) == 1 else f'{len(runs)} runs'})"

    def _found(self) -> Found:
        chosen, reduction, prober = self._chosen, self._reduction, self._prober
        if chosen is None or prober is None:
            return Found()
        found = Found(
            victim=self._victim_name(),
            named_by=chosen.named_by,
            signature=chosen.question.signature,
            position=None if chosen.anywhere else chosen.place + 1,
        )
        return found if reduction is None else _with_reduction(found, reduction, prober.suite)

    def _target(self) -> TargetReport:
        if self._prober is None:
            return self._tools.target
        suite = self._prober.suite
        return replace(
            self._tools.target,
            version=suite.listing.framework_version,
            order=suite.order,
            cases=len(suite.listing.cases),
        )


def _with_reduction(found: Found, reduction: Reduction, suite: Suite) -> Found:
    return replace(
        found,
        prefix=reduction.prefix,
        smallest=reduction.cleaning is None and not reduction.noisy,
        polluters=suite.names(reduction.polluters),
        sets=tuple(suite.names(one) for one in reduction.sets),
        cleaners=() if reduction.red_alone else suite.names(reduction.cleaners),
        setters=suite.names(reduction.cleaners) if reduction.red_alone else (),
        red_alone=reduction.red_alone,
        noisy=reduction.noisy,
        confidence=reduction.confidence,
        prefix_proof=_ends(reduction.prefix_proof, suite),
        set_proof=_ends(reduction.set_proof, suite),
    )


def _ends(proof: Proof | None, suite: Suite) -> BothEnds | None:
    if proof is None:
        return None
    return BothEnds(red=_tried(proof.red, suite), green=tuple(_tried(one, suite) for one in proof.green))


def _tried(observed: Observed, suite: Suite) -> Tried:
    counts = observed.counts
    return Tried(cases=suite.names(observed.positions), red=counts.red, green=counts.green, void=counts.void)


def _green_arms(report: AttributeReport | None) -> Iterator[ArmResult]:
    """Yield the arms that share a process among the cases, acted, and were green each time."""
    for result in () if report is None else report.arms:
        clears = bool(result.sights) and set(result.sights) == {Sight.GREEN} and result.acted is not Acted.INERT
        if clears and result.arm.role is not Role.BASELINE and result.arm.isolation is Isolation.TOGETHER:
            yield result
