"""`attribute`: runs the arms and says, after every run, what is known so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pooldiag.attribution.acted import Beforehand, acted
from pooldiag.attribution.answers import ALL_ANSWERS, Circumstances
from pooldiag.attribution.cascades import cascades
from pooldiag.attribution.conclusions import conclude
from pooldiag.attribution.engine import Spent, Stop, StopRule, circumstances, greens_needed, next_step
from pooldiag.attribution.fresh_state import no_answer
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.reading import sight
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.attribution.signatures import as_seen
from pooldiag.attribution.steps import step_of
from pooldiag.attribution.witnesses import out_of_memory, read_witnesses, scene_of
from pooldiag.diagnose.canaries import canary_findings
from pooldiag.diagnose.commands import next_command, reproducer
from pooldiag.diagnose.lister import Lister, named_among
from pooldiag.diagnose.notes import notes, witnesses
from pooldiag.diagnose.prober import Prober
from pooldiag.diagnose.run_memory import RunPlan
from pooldiag.diagnose.runner import Runner
from pooldiag.diagnose.sessions import Diagnosis
from pooldiag.diagnose.tools import TargetFacts, Tools
from pooldiag.errors import BlockedError, UsageError
from pooldiag.frameworks.base import ListingError
from pooldiag.model.arms import PROBES_OF_A_GREEN, Acted, Arm, Isolation, Role
from pooldiag.model.attributions import Attribution, Rate, Status, UnaskedRole
from pooldiag.model.cases import Case, Listing, Selection
from pooldiag.model.events import Planned
from pooldiag.model.readings import Reading, Sight, Signature
from pooldiag.model.reports import ArmResult, AttributeReport, Run
from pooldiag.model.settings import AttributeSettings
from pooldiag.rates import excluded_by, rate_of

# Cases that run alone for a red that is in none of them; chosen: at 1 s a process that is 3 min for one run of the arm.
_MOST_ALONE = 200
_Keep = Callable[[AttributeReport], None]


def attribute(settings: AttributeSettings, tools: Tools, keep: _Keep) -> AttributeReport:
    """Run the arms, as `Diagnosis.drive` does; UsageError when the target or a selection cannot be used as given."""
    return _ArmsDiagnosis(settings, tools, keep).drive()


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalSet:
    """What a bisection found: the cases to run, how they are run and listed, and the red in question.

    `runs` are those that it made of just these cases: the baseline's first ones, which cost the arms nothing.
    """

    prober: Prober
    cases: tuple[Case, ...]
    signature: Signature
    runs: tuple[Run, ...] = ()


def attribute_set(settings: AttributeSettings, tools: Tools, found: MinimalSet, keep: _Keep) -> None:
    """Run the arms on these cases, with the lock held by the caller, to whom all errors go."""
    diagnosis = _ArmsDiagnosis(settings, tools, keep, found)
    diagnosis.run()
    keep(diagnosis.report(partial=False))


class _ArmsDiagnosis(Diagnosis[AttributeReport]):
    """Runs whatever arm the strategy asks for; every run adds to what is known."""

    def __init__(self, settings: AttributeSettings, tools: Tools, keep: _Keep, found: MinimalSet | None = None) -> None:
        super().__init__(settings, tools, keep, invocation=settings.invocation)
        self._found = found
        self._lister = Lister(settings, tools) if found is None else found.prober.lister
        self._listing: Listing | None = None
        self._cases: tuple[Case, ...] = ()
        self._selection: Selection | None = None
        wanted = None if found is None else found.signature
        handed = () if found is None else found.runs
        self._known = _ArmRuns(
            facts=tools.facts,
            settings=settings,
            arms=settings.arms,
            wanted=wanted,
            handed=len(handed),
            runs=[*handed],
        )
        self._plan = StopRule(
            confidence=settings.confidence,
            max_runs=settings.max_runs,
            budget_seconds=settings.budget_seconds,
            repeat=settings.repeat,
            bisected=found is not None,
        )
        self._stop: Stop | None = None

    def run(self) -> None:
        """List, then run whatever arm the strategy asks for, until it asks for none."""
        runner = Runner(self._common, self._tools) if self._found is None else self._found.prober.runner
        self._list()
        found = canary_findings(self._common.profile, self._known.arms, self._tools)
        self._known.canaries = found.states
        self._known.arms = tuple(map(found.known, self._known.arms))
        self._tools.ports.progress.notice(Planned(arms=self._known.arms, cases=len(self._cases) or None))
        while isinstance(step := self._next_step(), Role):
            arm = next(arm for arm in self._known.arms if arm.role is step)
            began = self._seconds()
            run = runner.run(RunPlan(arm=arm, selections=self._selections(arm), order=self._common.order))
            if step is Role.BASELINE:
                self._known.baseline_seconds += self._seconds() - began
            if run.reading.reading is Reading.GREEN and arm.isolation is Isolation.TOGETHER:
                runner.processes.learn_whole(run.outcome)
            self._known.runs.append(run)
            self._block_when_void(run)
            if self._found is None:
                self._save()
            else:
                self._keep(self.report(partial=True))  # the report to be shown is that of the bisection
        if self._known.signature() is None:
            self._block_when_nothing_asserted(self._known.of(Role.BASELINE))
        self._stop = step

    def _list(self) -> None:
        if self._found is not None:
            self._listing, self._cases = self._found.prober.suite.listing, self._found.cases
            self._selection = self._lister.select(self._listing, self._cases, order=self._common.order)
            return
        if not self._tools.framework.lists_cases:
            self._leave_isolation_out()
            return
        try:
            self._listing = self._lister.everything()
        except ListingError as error:  # a black box, where nothing was asked for that needs a list of cases
            if self._common.case_patterns or self._common.victim:
                raise UsageError(f"no case can be chosen: {error.problem}", hint=error.hint) from error
            self._leave_isolation_out()
            self._notes.append(f"no list of cases: {error.problem}; exit code and outputs are all there is to read")
            return
        self._cases = self._lister.chosen(self._listing)
        if self._common.victim is not None:
            named_among(self._cases, self._common.victim)
        self._selection = self._lister.select(self._listing, self._cases)

    def _leave_isolation_out(self) -> None:
        self._known.arms = tuple(arm for arm in self._known.arms if arm.isolation is Isolation.TOGETHER)

    def _next_step(self) -> Role | Stop:
        """Ask for a role; the isolated arm is left out where it would be a process for each of very many cases."""
        signature = self._known.signature()
        in_no_case = signature is not None and signature.case is None
        alone = any(arm.isolation is Isolation.ALONE for arm in self._known.arms)
        if alone and in_no_case and len(self._cases) > _MOST_ALONE:
            self._leave_isolation_out()
            self._notes.append(f"isolate is left out: the red is in no case, and {len(self._cases)} would run alone")
        evidence = self._known.evidence(signature)
        return next_step(evidence, self._plan, self._known.spent(), self._circumstances(signature, evidence))

    def _circumstances(self, signature: Signature | None, evidence: Sequence[RoleEvidence]) -> Circumstances:
        """Gather what is known beside the runs' sights."""
        results = self._known.results(signature)
        scene = scene_of(signature, results)
        known = circumstances(
            evidence,
            out_of_memory=scene is not None and out_of_memory(scene) is not None,
            loads_alike=self._tools.framework.loads_alike,
        )
        spoken = (*read_witnesses(scene, without=self._common.left_out_witnesses), *witnesses(results))
        return replace(known, witnesses=spoken)

    def _selections(self, arm: Arm) -> tuple[Selection | None, ...]:
        """Return what to run, one process each: everything at once, or the victims, each alone; a guard first alone."""
        signature = self._known.signature()
        if self._listing is None:
            return (self._selection,)
        if arm.isolation is Isolation.TOGETHER:
            first_guard = arm.role is Role.GUARD and not self._known.of(Role.GUARD)
            victim = signature.case if first_guard and signature is not None else None
            return self._alone(self._listing, [case for case in self._cases if case.name == victim][:1])
        red = {found.case for found in (*self._known.known(), signature) if found is not None}
        victims = [case for case in self._cases if case.name in red]
        alone = victims if victims and signature is not None and signature.case is not None else self._cases
        return self._alone(self._listing, alone)

    def _alone(self, listing: Listing, cases: Sequence[Case]) -> tuple[Selection | None, ...]:
        """Return each of these by itself; all that is selected where there are none."""
        try:
            order = self._common.order
            found = tuple(self._lister.select(listing, (case,), order=order) for case in cases)
        except UsageError as error:
            raise BlockedError(f"the list of cases changes between runs: {error.problem}") from error
        return found or (self._selection,)

    def _block_when_void(self, run: Run) -> None:
        """Stop at a void baseline, which lets nothing be said, and at what does not go away."""
        lasts = any(silence.kind.lasts for silence in run.outcome.silences)
        if run.reading.reading is Reading.VOID and (run.arm.role is Role.BASELINE or lasts):
            if lasts:
                self._tools.ports.evidence.drop_outputs(run.id)
            raise BlockedError(run.reading.void_reason or "void", hint=None)

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> AttributeReport:
        settings, tools, signature = self._common, self._tools, self._known.signature()
        results = self._known.results(signature)
        attribution = self._attribution(signature, blocked)
        if partial and attribution.status is Status.GREEN:
            attribution = replace(attribution, status=Status.UNRESOLVED)  # nothing red so far is not green
        cases, shown, target = len(self._cases), attribution.signature, tools.facts.report_of(self._listing)
        said = [*notes(results, settings, tools.framework)]
        if attribution.status is Status.GREEN:
            said += self._removed_fills()
        return AttributeReport(
            session=self._session(partial=partial, blocked=blocked, target=target, notes=said),
            attribution=attribution,
            others=tuple(self._attribution(other, None) for other in self._known.known() if other != signature),
            cascades=cascades(self._known.known(), [case.name for case in self._cases]),
            answers=ALL_ANSWERS,
            mechanisms=MECHANISMS,
            excluded=None if blocked or signature else excluded_by(len(self._known.of(Role.BASELINE))),
            arms=results,
            reproducer=None if shown is None else reproducer(settings, tools, results, shown),
            next=None if blocked else next_command(settings, tools, attribution, results, cases=cases),
        )

    def _attribution(self, signature: Signature | None, blocked: BlockedError | None) -> Attribution:
        if blocked is not None:
            return Attribution(signature=signature, status=Status.BLOCKED)
        evidence = self._known.evidence(signature)
        known = self._circumstances(signature, evidence)
        concluded = conclude(evidence, signature=signature, plan=self._plan, known=known, stop=self._stop)
        left_out = (UnaskedRole(role=role, reason="--arms leaves it out") for role in self._common.left_out)
        concluded = replace(concluded, not_asked=(*concluded.not_asked, *left_out))
        if self._listing is None:  # what cannot be asked of a target without cases separates nothing
            separators = tuple(role for role in concluded.separators if role is not Role.ISOLATE)
            return replace(concluded, separators=separators)
        return concluded


@dataclass(slots=True, kw_only=True)
class _ArmRuns:
    """The arms and all their runs so far.

    The verdict is about the red of the named victim, if that is red, or about `wanted`, if that was found before.
    """

    facts: TargetFacts
    settings: AttributeSettings
    arms: tuple[Arm, ...]
    wanted: Signature | None = None
    canaries: Mapping[Role, tuple[Acted, str]] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    handed: int = 0  # of the runs, the first ones: a search made them, and paid for them
    baseline_seconds: float = 0.0  # with all that belongs to its runs

    def of(self, role: Role) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.arm.role is role)

    def known(self) -> tuple[Signature, ...]:
        """Return the signatures that baseline runs showed, in the order they were seen."""
        return tuple(dict.fromkeys(found for run in self.of(Role.BASELINE) for found in run.reading.signatures))

    def signature(self) -> Signature | None:
        """Return the signature that the verdict is about: on a green baseline the first red of an arm."""
        known = self.known() or tuple(found for run in self.runs for found in run.reading.signatures)
        if self.wanted is not None:
            return as_seen(self.wanted, known)
        of_victim = (found for found in known if found.case is not None and found.case == self.settings.victim)
        return next(of_victim, known[0] if known else None)

    def spent(self) -> Spent:
        seconds = {arm.role: [run.seconds for run in self.of(arm.role)] for arm in self.arms}
        of_role = {role: sum(each) / len(each) for role, each in seconds.items() if each}
        own = self.runs[self.handed :]
        return Spent(
            runs=len(own),
            seconds=sum(run.seconds for run in own),
            of_role=of_role,
            baseline_seconds=self.baseline_seconds,
        )

    def evidence(self, signature: Signature | None) -> tuple[RoleEvidence, ...]:
        """Return what the roles show, and what is known of their arms."""
        red = bool(self.known())
        return tuple(
            RoleEvidence(
                role=result.arm.role,
                acted=result.acted,
                properties=result.arm.properties,
                runs=tuple(run.id for run in result.runs),
                sights=tuple(
                    Sight.NOTHING
                    if no_answer(run, seen, self.of(Role.BASELINE))
                    else _weighed(result.arm, seen, baseline_is_red=red)
                    for run, seen in zip(result.runs, result.sights, strict=True)
                ),
            )
            for result in self.results(signature)
        )

    def results(self, signature: Signature | None) -> tuple[ArmResult, ...]:
        return tuple(self._result(arm, signature) for arm in self.arms)

    def _result(self, arm: Arm, signature: Signature | None) -> ArmResult:
        runs = self.of(arm.role)
        sights = self._sights(runs, signature)
        canary, facts = self.canaries.get(arm.role), self.facts
        beforehand = Beforehand(names=facts.names, searchable=facts.searchable, closed=facts.closed, canary=canary)
        state, why = acted(
            arm,
            [run.outcome for run in runs],
            baseline=[run.outcome for run in self.of(Role.BASELINE)],
            beforehand=beforehand,
            # The runs show something else than the baseline does: its red is gone, or another one came.
            changed=Sight.NEW_RED in sights or (Sight.GREEN if self.known() else Sight.SAME_RED) in sights,
        )
        return ArmResult(
            arm=arm,
            acted=state,
            why=why,
            runs=runs,
            sights=sights,
            rate=None if arm.role is Role.GUARD else _rate(sights),  # its runs select not the same
            step=step_of(sights, begins=arm.role is Role.BASELINE),
            greens_needed=self._greens_needed(arm, sights, signature),
            shown=_shown(runs, sights),
        )

    def _sights(self, runs: tuple[Run, ...], signature: Signature | None) -> tuple[Sight, ...]:
        known = frozenset(self.known())
        return tuple(sight(run.outcome, run.reading, signature=signature, known=known) for run in runs)

    def _greens_needed(self, arm: Arm, sights: tuple[Sight, ...], signature: Signature | None) -> int | None:
        """Return how many more greens an arm without a red needs; None where nothing red is compared with it."""
        if set(sights) != {Sight.GREEN}:
            return None
        red = self._sights(self.of(Role.BASELINE), signature)
        if arm.role is Role.BASELINE:  # that is green: the arms that are red are what it is compared with
            others = (self._sights(self.of(other.role), signature) for other in self.arms)
            red = tuple(sight for seen in others if Sight.SAME_RED in seen for sight in seen)
        if Sight.SAME_RED not in red:
            return None
        return greens_needed(red, greens=len(sights), confidence=self.settings.confidence)


def _rate(sights: Sequence[Sight]) -> Rate | None:
    return rate_of(sights.count(Sight.SAME_RED), len(sights) - sights.count(Sight.NOTHING))


def _weighed(arm: Arm, seen: Sight, *, baseline_is_red: bool) -> Sight:
    """Weigh one run: a fill that cannot clear has no green, and on a green baseline any red is what the pool hides."""
    if arm.one_sided and seen is Sight.GREEN:
        return Sight.NOTHING
    hidden = not baseline_is_red and arm.role in PROBES_OF_A_GREEN
    return Sight.SAME_RED if hidden and seen is Sight.NEW_RED else seen


def _shown(runs: tuple[Run, ...], sights: tuple[Sight, ...]) -> Run | None:
    """Return the first run that reads as most of them do."""
    if not runs:
        return None
    majority = max(dict.fromkeys(sights), key=sights.count)
    return runs[sights.index(majority)]
