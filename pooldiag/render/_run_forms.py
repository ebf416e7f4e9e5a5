"""The documents of commands that run a target: runs, arms with their counts, orders with what their runs showed."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pooldiag.model.arms import Arm, Role
from pooldiag.model.attributions import Attribution, Witness
from pooldiag.model.bisections import (
    BisectReport,
    CheckedCommand,
    Confirmation,
    Found,
    OrderResult,
    OrdersReport,
    ShortestPrefix,
)
from pooldiag.model.cases import Order
from pooldiag.model.counts import Census, PrintedCensus
from pooldiag.model.outcomes import Outcome, OutputFile
from pooldiag.model.readings import Cascade, PlaceKind, Reading, RunReading, Sight, Signature
from pooldiag.model.reports import ArmResult, AttributeReport, Blockage, NextCommand, Run, Session, TargetReport
from pooldiag.model.runs import Environment, Leftover
from pooldiag.model.schema import SCHEMA
from pooldiag.model.settings import CommandLine
from pooldiag.render import _census_forms
from pooldiag.render._profile_forms import variables
from pooldiag.render.facts import run_of_order, runs_of, seen, shown_signature
from pooldiag.render.json import DocumentForm, Forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of the environment."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """Cases by how they ended."""

    selected: int | None  # null where no framework tells
    started: int
    passed: int
    failed: int
    skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertions:
    """Assertions by how they ended."""

    passed: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseName:
    """A test case by its name alone."""

    case: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """One run, its counts and its ending."""

    run: Run
    sight: Sight | None  # as seen from a signature; None: from none


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """What a document holds of a run."""

    id: str
    arm: Role
    sight: Sight | None
    ending: str
    exit_code: int | None
    signal: int | None
    seconds: float
    reading: RunReading
    cases: Cases
    assertions: Assertions | None
    outputs: tuple[OutputFile, ...]
    counters: Mapping[str, int]
    leftovers: tuple[Leftover, ...]  # processes that outlived the run and were ended


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFacts:
    """An arm, and what its runs showed."""

    result: ArmResult
    runs: int  # green runs are runs - red - new_red - void
    red: int
    new_red: int
    void: int
    signature: Signature | None
    cases: Cases  # as assertions and outputs, of the run that is shown
    assertions: Assertions | None
    outputs: tuple[Census, ...]
    output_problems: tuple[OutputFile, ...]
    printed: tuple[PrintedCensus, ...]
    seconds: tuple[float, ...]  # one number a run


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFacts:
    """An order, and what its run showed, or that of the earlier one that is the same list."""

    result: OrderResult
    reading: RunReading
    cases: Cases
    assertions: Assertions | None
    run: str | None  # None where there is none: the order is void
    seconds: float | None


def _run_counts(one: RunFacts) -> RunCounts:
    outcome, completed = one.run.outcome, one.run.outcome.completed
    return RunCounts(
        id=one.run.id,
        arm=one.run.arm.role,
        sight=one.sight,
        ending=completed.words,
        exit_code=completed.exit_code,
        signal=completed.signal,
        seconds=one.run.seconds,
        reading=one.run.reading,
        cases=_cases(outcome),
        assertions=_assertions(outcome),
        outputs=outcome.outputs,
        counters=dict(sorted(outcome.counters.items())),
        leftovers=completed.leftovers,
    )


def _vacuous(reading: RunReading) -> tuple[CaseName, ...]:
    return tuple(CaseName(case=name) for name in reading.vacuous)


def _followers(cascade: Cascade) -> tuple[str, ...]:
    return tuple(red.case or "" for red in cascade.followers)


def _digest(output: OutputFile) -> str | None:
    return None if output.census is None else output.census.sha256


def _cases(outcome: Outcome | None) -> Cases:
    if outcome is None:
        return Cases(selected=None, started=0, passed=0, failed=0, skipped=0)
    selection = () if outcome.selection is None else outcome.selection.cases
    return Cases(
        selected=outcome.selected,
        started=outcome.started,
        passed=outcome.passed,
        failed=outcome.failed,
        skipped=sum(case.skipped for case in selection),
    )


def _assertions(outcome: Outcome | None) -> Assertions | None:
    """Count assertions; None where no framework counts."""
    if outcome is None or outcome.selection is None:
        return None
    return Assertions(passed=outcome.report.assertions_passed, failed=outcome.report.assertions_failed)


def _removed(session: Session) -> tuple[Variable, ...]:
    return tuple(Variable(name=name, value=value) for name, value in session.removed_variables)


def _invocation(session: Session) -> CommandLine | None:
    """Return the command that can be given again: one whose relative paths can be read."""
    found = session.invocation
    return None if found is None or found.directory is None else found


def _arms(report: AttributeReport) -> tuple[ArmFacts, ...]:
    return tuple(_arm_facts(arm, report.attribution.signature) for arm in report.arms)


def _runs(report: AttributeReport) -> tuple[RunFacts, ...]:
    sights = {run.id: sight for arm in report.arms for run, sight in zip(arm.runs, arm.sights, strict=False)}
    return tuple(RunFacts(run=run, sight=sights.get(run.id)) for run in runs_of(report))


def _arm_facts(arm: ArmResult, main: Signature | None) -> ArmFacts:
    outcome = None if arm.shown is None else arm.shown.outcome
    outputs = () if outcome is None else outcome.outputs
    return ArmFacts(
        result=arm,
        runs=len(arm.runs),
        red=len(seen(arm, Sight.SAME_RED)),
        new_red=len(seen(arm, Sight.NEW_RED)),
        void=len(seen(arm, Sight.NOTHING)),
        signature=shown_signature(arm, main),
        cases=_cases(outcome),
        assertions=_assertions(outcome),
        outputs=tuple(replace(each.census, path=each.path) for each in outputs if each.census is not None),
        output_problems=tuple(each for each in outputs if each.problem is not None),
        printed=() if outcome is None else outcome.printed,
        seconds=tuple(run.seconds for run in arm.runs),
    )


def _whole(report: BisectReport) -> RunFacts | None:
    return None if report.whole is None else RunFacts(run=report.whole, sight=None)


def _confirmed(one: Confirmation) -> RunFacts:
    return RunFacts(run=one.run, sight=one.sight)


def _orders(report: OrdersReport) -> tuple[OrderFacts, ...]:
    runs = ((result, run_of_order(report, result)) for result in report.orders)
    return tuple(
        OrderFacts(
            result=result,
            reading=RunReading(run="", reading=Reading.VOID) if run is None else run.reading,
            cases=_cases(None if run is None else run.outcome),
            assertions=_assertions(None if run is None else run.outcome),
            run=None if run is None else run.id,
            seconds=None if run is None else run.seconds,
        )
        for result, run in runs
    )


def _head(name: str) -> Mapping[str, str | None]:
    return {"schema": SCHEMA, "command": name, "partial": None}


_FORMS: Forms = {
    AttributeReport: DocumentForm(
        head=_head("attribute"),
        flat={"session": Session, "attribution": Attribution},
        beside={"next": NextCommand},
        made={"arms": _arms, "runs": _runs},
        commands=("reproducer",),
    ),
    ArmFacts: DocumentForm(flat={"result": ArmResult}),
    ArmResult: DocumentForm(flat={"arm": Arm}, without=("runs", "sights", "shown")),
    Arm: DocumentForm(
        names={"environment": "env"},
        without=("proof", "banner", "shared", "source", "confidence", "caveat", "one_sided", "late"),
    ),
    Environment: DocumentForm(made={"set": variables}),
    Witness: DocumentForm(names={"speaks_for": "for", "speaks_against": "against"}, without=("needs",)),
    RunFacts: DocumentForm(without=("run", "sight"), made={"counts": _run_counts}, flat={"counts": RunCounts}),
    RunCounts: DocumentForm(flat={"reading": RunReading}),
    Cascade: DocumentForm(made={"followers": _followers}),
    RunReading: DocumentForm(without=("run",), made={"vacuous": _vacuous}),
    OutputFile: DocumentForm(without=("census",), made={"sha256": _digest}),
    Session: DocumentForm(flat={"blocked": Blockage}, made={"removed_variables": _removed, "invocation": _invocation}),
    Blockage: DocumentForm(names={"problem": "blocked_by"}),
    TargetReport: DocumentForm(flat={"order": Order}),
    Order: DocumentForm(names={"kind": "order"}),
    NextCommand: DocumentForm(commands=("line",)),
    CheckedCommand: DocumentForm(commands=("line",)),
    Found: DocumentForm(names={"setters": "state_setters"}),
    Confirmation: DocumentForm(flat={"arm": Arm}, made={"run": _confirmed}),
    OrderFacts: DocumentForm(flat={"result": OrderResult, "reading": RunReading}),
    OrderResult: DocumentForm(flat={"order": Order}, without=("run",)),
    ShortestPrefix: DocumentForm(flat={"order": Order}, beside={"reproducer": CheckedCommand}),
}


def _place(signature: Signature) -> str | None:
    return None if signature.place is None else signature.place.text


def _place_kind(signature: Signature) -> PlaceKind | None:
    return None if signature.place is None else signature.place.kind


def _place_shown(signature: Signature) -> str | None:
    return None if signature.place is None else signature.place.shown


def _output(signature: Signature) -> str | None:
    return None if signature.place is None else signature.place.output


def forms(raw_names: Mapping[str, bytes]) -> Forms:
    """Return how reports are written in which the names have these bytes: those of them that are not UTF-8."""
    encoded = {name: b64encode(raw).decode("ascii") for name, raw in sorted(raw_names.items())}

    def name_bytes(named: Signature | CaseName) -> str | None:
        return None if named.case is None else encoded.get(named.case)

    def all_bytes(_: BisectReport | OrdersReport) -> Mapping[str, str]:
        return encoded

    return {
        **_census_forms.FORMS,
        **_FORMS,
        Signature: DocumentForm(
            made={
                "place": _place,
                "place_kind": _place_kind,
                "place_shown": _place_shown,
                "output": _output,
                "name_bytes": name_bytes,
            },
            optional=("name_bytes",),
        ),
        CaseName: DocumentForm(made={"name_bytes": name_bytes}, optional=("name_bytes",)),
        BisectReport: DocumentForm(
            head={**_head("bisect"), "status": None},
            flat={"session": Session, "found": Found},
            beside={"reproducer": CheckedCommand, "green_command": CheckedCommand, "next": NextCommand},
            made={"whole": _whole, "name_bytes": all_bytes},
        ),
        OrdersReport: DocumentForm(
            head=_head("orders"),
            flat={"session": Session},
            beside={"next": NextCommand},
            made={"orders": _orders, "name_bytes": all_bytes},
        ),
    }
