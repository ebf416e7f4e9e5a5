"""`attribute`: runs the arms and says, after every run, what is known so far."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pooldiag.attribution.acted import Beforehand, acted
from pooldiag.attribution.engine import PROBES_OF_A_GREEN, Spent, Stop, StopRule, conclude, greens_needed, next_step
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.posterior import RoleEvidence
from pooldiag.attribution.reading import read, sight
from pooldiag.attribution.signatures import same_red
from pooldiag.diagnose.canaries import canary_states
from pooldiag.diagnose.commands import next_command, reproducer
from pooldiag.diagnose.listing import Lister, named_among
from pooldiag.diagnose.notes import notes, witnesses
from pooldiag.diagnose.running import Runner, RunPlan
from pooldiag.diagnose.sessions import Account
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError, UsageError
from pooldiag.frameworks.base import ListingError
from pooldiag.model.arms import Acted, Arm, Isolation, Role
from pooldiag.model.attributions import Attribution, Status
from pooldiag.model.cases import Case, Listing, Selection
from pooldiag.model.events import Planned, Reported
from pooldiag.model.readings import Reading, Sight, Signature
from pooldiag.model.reports import ArmResult, AttributeReport, NextCommand, Run, TargetReport
from pooldiag.model.settings import AttributeSettings
from pooldiag.rates import rate_of

_MOST_ALONE = 200


def attribute(settings: AttributeSettings, tools: Tools) -> Iterator[AttributeReport]:
    """Run the arms under the lock; yield a partial report after every run, and last the whole one.

    Whatever blocks the diagnosis ends up in the last report. InterruptedRunError comes after a partial
    report of all that finished; UsageError when the target or a selection cannot be used as given.
    """
    diagnosis = _Diagnosis(settings, tools)
    try:
        with tools.lock.hold():
            yield from diagnosis.runs()
    except UsageError:
        raise
    except InterruptedRunError:
        yield diagnosis.report(partial=True)
        raise
    except BlockedError as error:
        yield diagnosis.report(partial=False, blocked=error)
    else:
        yield diagnosis.report(partial=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What somebody else found out already: the cases to run, how they are run and listed, and the red in question."""

    runner: Runner
    lister: Lister
    listing: Listing
    cases: tuple[Case, ...]
    signature: Signature


def attribute_given(settings: AttributeSettings, tools: Tools, given: Given) -> Iterator[AttributeReport]:
    """Run the arms on the given cases, with the lock held by the caller, to whom all errors go."""
    diagnosis = _Diagnosis(settings, tools, given)
    yield from diagnosis.runs()
    yield diagnosis.report(partial=False)


class _Diagnosis:
    """What is known so far; every run adds to it."""

    def __init__(self, settings: AttributeSettings, tools: Tools, given: Given | None = None) -> None:
        self._settings = settings
        self._tools = tools
        self._given = given
        self._runner: Runner | None = None if given is None else given.runner
        self._lister = Lister(settings, tools) if given is None else given.lister
        self._listing: Listing | None = None
        self._cases: tuple[Case, ...] = ()
        self._arms = settings.arms
        self._selection: Selection | None = None
        self._canaries: Mapping[Role, tuple[Acted, str]] = {}
        self._runs: list[Run] = []
        self._plan = StopRule(
            confidence=settings.confidence,
            max_runs=settings.max_runs,
            budget_seconds=settings.budget_seconds,
            repeat=settings.repeat,
            own_pool=settings.profile.linked is None,
            bisected=given is not None,
        )
        self._stop: Stop | None = None
        self._notes: list[str] = [*tools.notes]
        self._account = Account(tools, floor=settings.floors.disk_bytes, invocation=settings.invocation)

    def runs(self) -> Iterator[AttributeReport]:
        """List, then run whatever arm the strategy asks for, until it asks for none."""
        if self._runner is None:
            self._tools.disk.check_need()
            self._runner = Runner(self._settings, self._tools)
        self._list()
        self._canaries = canary_states(self._settings.profile, self._arms, self._tools)
        self._tools.progress.told(Planned(arms=self._arms, cases=len(self._cases) or None))
        while (role := self._next_role()) is not None:
            run = self._run(self._runner, self._arm(role))
            self._runs.append(run)
            self._block_when_void(run)
            report = self.report(partial=True)
            self._tools.progress.told(Reported(report=report))
            yield report

    def _list(self) -> None:
        if self._given is not None:
            self._listing, self._cases = self._given.listing, self._given.cases
            self._selection = self._lister.select(self._listing, self._cases, order=self._settings.order)
            return
        if not self._tools.framework.lists_cases:
            self._without_cases()
            return
        try:
            self._listing = self._lister.everything()
        except ListingError as error:
            self._without_listing(error)
            return
        self._cases = self._lister.chosen(self._listing)
        if self._settings.victim is not None:
            named_among(self._cases, self._settings.victim)
        if not self._cases:
            raise BlockedError(f"nothing to run: all {len(self._listing.cases)} cases are skipped")
        self._selection = self._lister.select(self._listing, self._cases)

    def _without_listing(self, error: ListingError) -> None:
        """Go on as a black box when nothing was asked for that needs a list of cases."""
        if self._settings.case_patterns or self._settings.victim:
            raise UsageError(f"no case can be chosen: {error.problem}", hint=error.hint)
        self._without_cases()
        self._notes.append(f"no list of cases: {error.problem}; exit code and outputs are all there is to read")

    def _without_cases(self) -> None:
        """Leave out the arm that runs cases alone: there are none to run."""
        self._arms = tuple(arm for arm in self._arms if arm.isolation is Isolation.TOGETHER)

    def _leave_isolation_out(self) -> None:
        """Do without the isolated arm where it would be a process for each of very many cases."""
        signature = self._signature()
        if signature is None or signature.case is not None or len(self._cases) <= _MOST_ALONE:
            return
        if any(arm.isolation is Isolation.ALONE for arm in self._arms):
            self._without_cases()
            self._notes.append(f"isolate is left out: the red is in no case, and {len(self._cases)} would run alone")

    def _next_role(self) -> Role | None:
        self._leave_isolation_out()
        step = next_step(self._evidence(self._signature()), self._plan, self._spent())
        self._stop = step if isinstance(step, Stop) else None
        return None if isinstance(step, Stop) else step

    def _spent(self) -> Spent:
        of_role: dict[Role, list[float]] = {}
        for run in self._runs:
            of_role.setdefault(run.arm.role, []).append(run.seconds)
        return Spent(
            runs=len(self._runs),
            seconds=sum(run.seconds for run in self._runs),
            of_role={role: sum(seconds) / len(seconds) for role, seconds in of_role.items()},
        )

    def _arm(self, role: Role) -> Arm:
        return next(arm for arm in self._arms if arm.role is role)

    def _run(self, runner: Runner, arm: Arm) -> Run:
        outcome = runner.run(RunPlan(arm=arm, selections=self._selections(arm), order=self._settings.order))
        reading = read(outcome)
        if reading.reading is Reading.GREEN and arm.isolation is Isolation.TOGETHER:
            runner.green(outcome)
        processes = outcome.parts or (outcome,)
        seconds = sum(process.completed.seconds for process in processes)
        return Run(id=outcome.run, arm=arm, outcome=outcome, reading=reading, seconds=seconds)

    def _selections(self, arm: Arm) -> tuple[Selection | None, ...]:
        """Return what to run, one process each: everything at once, or the victims, each alone."""
        if arm.isolation is Isolation.TOGETHER or self._listing is None:
            return (self._selection,)
        signature = self._signature()
        red = {found.case for found in (*self._known(), signature) if found is not None}
        victims = [case for case in self._cases if case.name in red]
        alone = victims if victims and signature is not None and signature.case is not None else list(self._cases)
        try:
            order = self._settings.order
            return tuple(self._lister.select(self._listing, (case,), order=order) for case in alone)
        except UsageError as error:
            raise BlockedError(f"the list of cases changes between runs: {error.problem}") from error

    def _block_when_void(self, run: Run) -> None:
        """Stop at a void baseline, which lets nothing be said, and at a lack of space, which does not go away."""
        processes = (run.outcome, *run.outcome.parts)
        lacking = any(process.completed.shortage is not None or process.void_marks for process in processes)
        if run.reading.reading is Reading.VOID and (run.arm.role is Role.BASELINE or lacking):
            if lacking:
                self._tools.evidence.drop_outputs(run.id)
            raise BlockedError(run.reading.void_reason or "void", hint=None)

    def _known(self) -> tuple[Signature, ...]:
        """Return the signatures that baseline runs showed, in the order they were seen."""
        baseline = self._runs_of(Role.BASELINE)
        return tuple(dict.fromkeys(found for run in baseline for found in run.reading.signatures))

    def _runs_of(self, role: Role) -> tuple[Run, ...]:
        return tuple(run for run in self._runs if run.arm.role is role)

    def _sights(self, runs: tuple[Run, ...], signature: Signature | None) -> tuple[Sight, ...]:
        """See runs from a signature."""
        known = frozenset(self._known())
        return tuple(sight(run.outcome, run.reading, signature=signature, known=known) for run in runs)

    def _signature(self) -> Signature | None:
        """Return the signature that the verdict is about: on a green baseline the first red of an arm."""
        known = self._known() or tuple(found for run in self._runs for found in run.reading.signatures)
        if self._given is not None:
            return next((found for found in known if same_red(found, self._given.signature)), self._given.signature)
        of_victim = (found for found in known if found.case is not None and found.case == self._settings.victim)
        return next(of_victim, known[0] if known else None)

    def _evidence(self, signature: Signature | None) -> tuple[RoleEvidence, ...]:
        red = bool(self._known())
        return tuple(
            RoleEvidence(
                role=result.arm.role,
                acted=result.acted,
                runs=tuple(run.id for run in result.runs),
                sights=tuple(_weighed(result.arm, seen, baseline_is_red=red) for seen in result.sights),
            )
            for result in self._results(signature)
        )

    def _results(self, signature: Signature | None) -> tuple[ArmResult, ...]:
        return tuple(self._result(arm, signature) for arm in self._arms)

    def _result(self, arm: Arm, signature: Signature | None) -> ArmResult:
        runs = self._runs_of(arm.role)
        sights = self._sights(runs, signature)
        state, why = acted(
            arm,
            [run.outcome for run in runs],
            baseline=[run.outcome for run in self._runs_of(Role.BASELINE)],
            beforehand=Beforehand(
                names=self._tools.names, searchable=self._tools.searchable, canary=self._canaries.get(arm.role)
            ),
            changed=_changed(sights, baseline_is_red=bool(self._known())),
        )
        return ArmResult(
            arm=arm,
            acted=state,
            why=why,
            runs=runs,
            sights=sights,
            rate=rate_of(sights.count(Sight.SAME_RED), len(sights) - sights.count(Sight.NOTHING)),
            greens_needed=self._greens_needed(arm, sights, signature),
            shown=_shown(runs, sights),
        )

    def _greens_needed(self, arm: Arm, sights: tuple[Sight, ...], signature: Signature | None) -> int | None:
        """Return how many more greens an arm without a red needs; None where that is no question."""
        baseline = self._sights(self._runs_of(Role.BASELINE), signature)
        if arm.role is Role.BASELINE or set(sights) != {Sight.GREEN} or Sight.SAME_RED not in baseline:
            return None
        return greens_needed(baseline, greens=len(sights), confidence=self._plan.confidence)

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> AttributeReport:
        """Say what is known now."""
        signature = self._signature()
        results = self._results(signature)
        attribution = self._attribution(signature, blocked)
        if partial and attribution.status is Status.GREEN:
            attribution = replace(attribution, status=Status.UNRESOLVED)  # nothing red so far is not green
        shown = attribution.signature
        return AttributeReport(
            session=self._account.session(
                partial=partial,
                blocked=blocked,
                target=self._target(),
                notes=(*self._notes, *notes(results, self._settings)),
            ),
            attribution=attribution,
            others=tuple(self._attribution(other, None) for other in self._known() if other != signature),
            mechanisms=MECHANISMS,
            arms=results,
            witnesses=witnesses(results),
            reproducer=None if shown is None else reproducer(self._settings, self._tools, results, shown),
            next=None if blocked else self._next_command(attribution, results),
        )

    def _next_command(self, attribution: Attribution, results: tuple[ArmResult, ...]) -> NextCommand | None:
        return next_command(self._settings, self._tools, attribution, results, cases=len(self._cases))

    def _attribution(self, signature: Signature | None, blocked: BlockedError | None) -> Attribution:
        if blocked is not None:
            return Attribution(signature=signature, status=Status.BLOCKED)
        concluded = conclude(self._evidence(signature), signature=signature, plan=self._plan, stop=self._stop)
        if self._listing is None:
            return replace(concluded, separators=tuple(_switchable(concluded.separators)))
        return concluded

    def _target(self) -> TargetReport:
        listing = self._listing
        return replace(
            self._tools.target,
            version=None if listing is None else listing.framework_version,
            cases=None if listing is None else len(listing.cases),
        )


def _switchable(roles: Iterable[Role]) -> Iterator[Role]:
    """Leave out what cannot be asked of a target without cases."""
    return (role for role in roles if role is not Role.ISOLATE)


def _changed(sights: tuple[Sight, ...], *, baseline_is_red: bool) -> bool:
    """Tell whether runs show something else than the baseline does: its red is gone, or another one came."""
    return Sight.NEW_RED in sights or (Sight.GREEN if baseline_is_red else Sight.SAME_RED) in sights


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
