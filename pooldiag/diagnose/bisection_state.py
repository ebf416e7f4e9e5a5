"""What is known of a bisection, and the report of it, at any time."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pooldiag.attribution.signatures import same_red
from pooldiag.diagnose.commands import next_of_bisect
from pooldiag.diagnose.notes import notes_of_runs
from pooldiag.diagnose.prober import Prober, Suite
from pooldiag.diagnose.sessions import Account
from pooldiag.diagnose.tools import Tools
from pooldiag.diagnose.victim_choice import Chooser, Chosen
from pooldiag.errors import BlockedError
from pooldiag.model.bisections import (
    BisectReport,
    BisectStatus,
    BothEnds,
    CheckedCommand,
    Confirmation,
    Found,
    Tried,
)
from pooldiag.model.events import Searching
from pooldiag.model.readings import Reading, Signature
from pooldiag.model.reports import AttributeReport, Run
from pooldiag.model.settings import AttributeSettings, BisectSettings
from pooldiag.reduce.probe import Phase, SearchStep
from pooldiag.reduce.result import Observed, Proof, Reduction


@dataclass(slots=True, kw_only=True)
class BisectionState:
    """All that is known of a bisection so far; `common` has the order that is run, once one was found."""

    settings: BisectSettings
    common: AttributeSettings
    tools: Tools
    prober: Prober | None = None
    chooser: Chooser | None = None
    chosen: Chosen | None = None
    progress: SearchStep | None = None  # of the search, as it goes on
    reduction: Reduction | None = None  # of the search, at its end
    red_line: CheckedCommand | None = None
    green_line: CheckedCommand | None = None
    attribution: AttributeReport | None = None
    confirmations: tuple[Confirmation, ...] = ()
    contradicted: bool = False  # what was found did not show when its line was typed
    notes: list[str] = field(default_factory=list)
    account: Account

    @property
    def victim_name(self) -> str | None:
        """The victim; None as long as it is not known, or where the red is in no case."""
        return None if self.chosen is None or self.chosen.anywhere else self.chosen.victim.name

    @property
    def red_with(self) -> int | None:
        """With how few cases before the victim it was red."""
        red = None if self.progress is None else self.progress.known.red
        return None if red is None else len(red)

    @property
    def green_with(self) -> int | None:
        """How many cases the longest prefix below that has which was green."""
        return None if self.progress is None else self.progress.known.green_prefix

    def is_late(self) -> bool:
        """Tell whether the time is spent."""
        budget = self.settings.common.budget_seconds
        return budget is not None and self.account.seconds >= budget

    def has_time_for(self, phase: str) -> bool:
        """Say that the next runs are no longer of the search, and what for; or note that there is no time for them."""
        if self.is_late():
            self.notes.append("the time is spent: what follows a search was left out")
            return False
        self.tools.ports.progress.notice(Searching(phase=phase, victim=self.victim_name))
        return True

    def whole_runs(self) -> list[Run]:
        """Return the runs of the whole order."""
        return [] if self.chooser is None else self.chooser.whole

    def searching(self) -> Searching:
        """Return how far the search is, for whoever watches."""
        probed = [] if self.prober is None else self.prober.probed
        return Searching(
            phase=Phase.BASELINE if self.prober is None else self.prober.phase,
            runs=len(probed),
            cases_run=sum(one.cases for one in probed),
            most_left=None if self.progress is None else self.progress.most_left,
            victim=self.victim_name,
            probed=probed[-1] if probed else None,
            red_with=self.red_with,
            green_with=self.green_with,
        )

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> BisectReport:
        """Say what is known now."""
        status = BisectStatus.BLOCKED if blocked is not None else self._status(partial=partial)
        probed = () if self.prober is None else tuple(self.prober.probed)
        suite, facts = None if self.prober is None else self.prober.suite, self.tools.facts
        target = facts.report if suite is None else facts.report_of(suite.listing, suite.order)
        report = BisectReport(
            session=self.account.session(
                partial=partial, blocked=blocked, target=target, notes=(*self.notes, *self._odd())
            ),
            status=status,
            found=self._found(),
            reason=self._reason(),
            runs=len(probed),
            recalled=0 if self.prober is None else self.prober.recalled,
            speculative=0 if self.reduction is None else self.reduction.speculative,
            cases_run=sum(one.cases for one in probed),
            red_with=self.red_with,
            green_with=self.green_with,
            probed=probed,
            whole=next(iter(self.whole_runs()[-1:]), None),
            others=self.others(),
            reproducer=self.red_line,
            green_command=self.green_line,
            attribution=self.attribution,
            confirmations=self.confirmations,
        )
        return report if partial else replace(report, next=next_of_bisect(self.settings, report))

    def _status(self, *, partial: bool) -> BisectStatus:
        if self.reduction is not None:
            status = BisectStatus(self.reduction.status.value)
            return BisectStatus.UNRESOLVED if status is BisectStatus.FOUND and self._open_end() else status
        red = any(run.reading.reading is Reading.RED for run in self.whole_runs())
        is_open = partial or red or self.settings.wanted is not None
        return BisectStatus.UNRESOLVED if is_open else BisectStatus.GREEN

    def _reason(self) -> str | None:
        if self.chosen is not None and self.chosen.anywhere:
            return "each case alone shows it, so it is in none of them: look at what runs outside the cases"
        if (open_end := self._open_end()) is not None:
            return open_end
        if self.reduction is not None and self.reduction.reason is not None:
            return self.reduction.reason
        return None if self.chooser is None else self.chooser.reason

    def _open_end(self) -> str | None:
        """Say which end of the answer does not hold: where it should be green the victim is red in another way."""
        reduction, prober = self.reduction, self.prober
        if self.contradicted:
            return "what was found does not show again when it is typed: runs disagree, so chance may be all there is"
        if reduction is None or prober is None:
            return None
        proofs = [proof for proof in (reduction.prefix_proof, reduction.set_proof) if proof is not None]
        for end in (end for proof in proofs for end in proof.green if end.positions in prober.other_reds):
            count = len(end.positions)
            return f"with {count} of these cases the victim is red in another way: {prober.other_reds[end.positions]}"
        return None

    def others(self) -> tuple[Signature, ...]:
        """Return the reds of the whole order that are not followed."""
        wanted = None if self.chosen is None else self.chosen.question.signature
        probed = () if self.prober is None else self.prober.other_reds.values()
        found = dict.fromkeys([*(one for run in self.whole_runs() for one in run.reading.signatures), *probed])
        return tuple(one for one in found if wanted is None or not same_red(one, wanted))

    def _odd(self) -> Iterator[str]:
        """Yield what is odd about single runs, each text once, and which of the other reds are red alone."""
        for signature in [] if self.chooser is None else self.chooser.red_alone:
            yield f"{signature}: red alone, no other case has to do with it"
        if self.chooser is not None and self.chooser.untried:
            yield f"{self.chooser.untried} further reds were not tried alone: name one with --victim"
        if self.reduction is not None and 0 < (self.reduction.prefix or 0) <= max(self.reduction.polluters, default=-1):
            yield "the prefix does without the last polluter: there is another set of polluters, which --all finds"
        yield from () if self.prober is None else notes_of_runs(self.prober.readings)
        if self.settings.resume is not None and self.prober is not None:
            yield from self._not_taken_over(self.prober)

    def _not_taken_over(self, prober: Prober) -> Iterator[str]:
        """Say how many runs of the interrupted bisection were of use, and what makes others useless."""
        taken, done = len(prober.runner.memory.recalled), self.tools.ports.memo.done()
        differ = ", ".join(self.tools.facts.changed_variables)
        why = f"these variables differ: {differ}" if differ else "the target, an option or the order is another one"
        if taken < done and not taken:
            yield f"none of the {done} runs that were finished before is taken over: {why}"

    def _found(self) -> Found:
        chosen, reduction, prober = self.chosen, self.reduction, self.prober
        if chosen is None or prober is None:
            return Found()
        found = Found(
            victim=self.victim_name,
            named_by=chosen.named_by,
            signature=chosen.question.signature,
            position=None if chosen.anywhere else chosen.place + 1,
        )
        return found if reduction is None else _with_reduction(found, reduction, prober.suite)


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
