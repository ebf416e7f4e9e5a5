"""What is known of a bisection, and the report of it, at any time."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from pooldiag.attribution.cascades import cascades
from pooldiag.attribution.signatures import same_red
from pooldiag.diagnose.commands import next_of_bisect
from pooldiag.diagnose.notes import notes_of_runs
from pooldiag.diagnose.prober import Places, Prober, ProbeRecord, Suite
from pooldiag.diagnose.sessions import Diagnosis
from pooldiag.diagnose.tools import Tools
from pooldiag.diagnose.victim_choice import Chooser, Chosen
from pooldiag.errors import BlockedError
from pooldiag.model.attributions import ExcludedRate
from pooldiag.model.bisections import (
    BisectReport,
    BisectStatus,
    CheckedCommand,
    Confirmation,
    Found,
    Phase,
    Tried,
)
from pooldiag.model.events import Searching
from pooldiag.model.readings import Cascade, Reading, Signature
from pooldiag.model.reports import AttributeReport
from pooldiag.model.settings import BisectSettings
from pooldiag.rates import excluded_by
from pooldiag.reduce.probe import BestKnown, SearchStep
from pooldiag.reduce.result import Reduction


class BisectionState(Diagnosis[BisectReport]):
    """All that is known of a bisection so far; the common settings have the order that is run, once one was found."""

    def __init__(self, settings: BisectSettings, tools: Tools, keep: Callable[[BisectReport], None]) -> None:
        super().__init__(settings.common, tools, keep, invocation=settings.repeatable)
        self._settings = settings
        self._record = ProbeRecord()
        self._prober: Prober | None = None
        self._chooser: Chooser | None = None
        self._chosen: Chosen | None = None
        self._progress: SearchStep | None = None  # of the search, as it goes on
        self._reduction: Reduction | None = None  # of the search, at its end
        self._red_line: CheckedCommand | None = None
        self._green_line: CheckedCommand | None = None
        self._attribution: AttributeReport | None = None
        self._confirmations: tuple[Confirmation, ...] = ()
        self._contradicted = False  # what was found did not show when its line was typed

    @property
    def _victim_name(self) -> str | None:
        """The victim; None as long as it is not known, or where the red is in no case."""
        return None if self._chosen is None or self._chosen.anywhere else self._chosen.victim.name

    def _has_time_for(self, phase: Phase) -> bool:
        """Say that the next runs are no longer of the search, and what for; or note that there is no time for them."""
        if self._is_late():
            self._notes.append("the time is spent: what follows a search was left out")
            return False
        self._tools.ports.progress.notice(Searching(phase=phase, victim=self._victim_name))
        return True

    def _searching(self) -> Searching:
        probed = self._record.probed
        known = BestKnown() if self._progress is None else self._progress.known
        return Searching(
            phase=self._record.phase,
            runs=len(probed),
            cases_run=self._record.cases_run,
            most_left=None if self._progress is None else self._progress.most_left,
            victim=self._victim_name,
            probed=probed[-1] if probed else None,
            red_with=None if known.red is None else len(known.red),
            green_with=known.green_prefix,
        )

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> BisectReport:
        """Say what is known now."""
        status = BisectStatus.BLOCKED if blocked is not None else self._status(partial=partial)
        suite, facts, step = None if self._prober is None else self._prober.suite, self._tools.facts, self._searching()
        target = facts.report if suite is None else facts.report_of(suite.listing, suite.order)
        followed = self._followed(partial=partial)
        notes = [*self._odd(), *(self._removed_fills() if status is BisectStatus.GREEN else ())]
        report = BisectReport(
            session=self._session(partial=partial, blocked=blocked, target=target, notes=notes),
            status=status,
            found=self._found(followed),
            reason=self._reason(),
            excluded=self._excluded(status),
            runs=step.runs,
            recalled=self._record.recalled,
            speculative=0 if self._reduction is None else self._reduction.speculative,
            cases_run=step.cases_run,
            red_with=step.red_with,
            green_with=step.green_with,
            probed=tuple(self._record.probed),
            whole=next(iter(self._record.whole[-1:]), None),
            others=self._others(followed),
            others_red_alone=() if self._chooser is None else tuple(self._chooser.red_alone),
            cascades=self._cascades(),
            reproducer=self._red_line,
            green_command=self._green_line,
            attribution=self._attribution,
            confirmations=self._confirmations,
        )
        return report if partial else replace(report, next=next_of_bisect(self._settings, report))

    def _status(self, *, partial: bool) -> BisectStatus:
        if self._reduction is not None:
            status = self._reduction.status
            return BisectStatus.UNRESOLVED if status is BisectStatus.FOUND and self._open_end() else status
        red = any(run.reading.reading is Reading.RED for run in self._record.whole)
        is_open = partial or red or self._settings.wanted is not None
        return BisectStatus.UNRESOLVED if is_open else BisectStatus.GREEN

    def _excluded(self, status: BisectStatus) -> ExcludedRate | None:
        return excluded_by(len(self._record.whole)) if status is BisectStatus.GREEN else None

    def _reason(self) -> str | None:
        if self._chosen is not None and self._chosen.anywhere:
            return "each case alone shows it, so it is in none of them: look at what runs outside the cases"
        if (open_end := self._open_end()) is not None:
            return open_end
        if self._reduction is not None and self._reduction.reason is not None:
            return self._reduction.reason
        return None if self._chooser is None else self._chooser.reason

    def _open_end(self) -> str | None:
        """Say that the answer does not hold where its lines were typed."""
        disagree = "what was found does not show again when it is typed: runs disagree, so chance may be all there is"
        return disagree if self._contradicted else None

    def _otherwise(self, suite: Suite) -> tuple[Tried, ...]:
        """Return the fewest cases after which the victim is red in another way, for each such way."""
        fewest: dict[Signature, Places] = {}
        followed = self._followed(partial=False)
        for places, signature in sorted(self._record.other_reds.items(), key=lambda one: (len(one[0]), one[0])):
            if followed is None or not same_red(signature, followed):
                fewest.setdefault(signature, places)
        counted = ((signature, places, self._record.counts[places]) for signature, places in fewest.items())
        return tuple(suite.tried(places, counts, other_red=signature) for signature, places, counts in counted)

    def _followed(self, *, partial: bool) -> Signature | None:
        """Return the red that is followed; in a partial report, as long as none is chosen, the one looked at first."""
        if self._chosen is not None:
            return self._chosen.question.signature
        return self._chooser.first_red() if partial and self._chooser is not None else None

    def _cascades(self) -> tuple[Cascade, ...]:
        """Return which reds of the whole order say the same."""
        if self._prober is None:
            return ()
        reds = (one for run in self._record.whole for one in run.reading.signatures)
        return cascades(reds, [case.name for case in self._prober.suite.cases])

    def _others(self, wanted: Signature | None) -> tuple[Signature, ...]:
        """Return the reds of the whole order that are not followed."""
        found = dict.fromkeys(one for run in self._record.whole for one in run.reading.signatures)
        return tuple(one for one in found if wanted is None or not same_red(one, wanted))

    def _odd(self) -> Iterator[str]:
        """Yield what is odd about single runs, each text once, and which of the other reds are red alone."""
        if self._chooser is not None and self._chooser.untried:
            yield f"{self._chooser.untried} further reds were not tried alone: name one with --victim"
        reduction = self._reduction
        if reduction is not None and 0 < (reduction.prefix or 0) <= max(reduction.polluters, default=-1):
            yield "the prefix does without the last polluter: there is another set of polluters, which --all finds"
        yield from notes_of_runs(self._record.readings)
        resumed = None if self._settings.resume is None else self._prober
        if resumed is not None and not resumed.runner.memory.recalled and (done := self._tools.ports.memo.done()):
            differ = ", ".join(self._tools.facts.changed_variables)
            why = f"these variables differ: {differ}" if differ else "the target, an option or the order is another one"
            yield f"none of the {done} runs that were finished before is taken over: {why}"

    def _found(self, followed: Signature | None) -> Found:
        chosen, prober = self._chosen, self._prober
        if chosen is None or prober is None:
            return Found(signature=followed)
        suite, reduction = prober.suite, self._reduction or Reduction(status=BisectStatus.UNRESOLVED)
        return Found(
            victim=self._victim_name,
            named_by=chosen.named_by,
            signature=followed,
            position=None if chosen.anywhere else chosen.place + 1,
            prefix=reduction.prefix,
            prefix_sought=self._settings.prefix,
            smallest=reduction.cleaning is None and not reduction.noisy,
            polluters=suite.names(reduction.polluters),
            sets=tuple(suite.names(one) for one in reduction.sets),
            cleaners=() if reduction.red_alone else suite.names(reduction.cleaners),
            setters=suite.names(reduction.cleaners) if reduction.red_alone else (),
            red_alone=reduction.red_alone,
            noisy=reduction.noisy,
            confidence=reduction.confidence,
            prefix_proof=suite.both_ends(reduction.prefix_proof, self._record.other_reds),
            set_proof=suite.both_ends(reduction.set_proof, self._record.other_reds),
            otherwise=self._otherwise(suite),
        )
