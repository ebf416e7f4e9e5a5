"""What several formats read out of a report in the same way."""

from typing import TypeAlias

from pooldiag.model.arms import Acted, ProfilesReport, Role
from pooldiag.model.bisections import OrderResult, OrdersReport
from pooldiag.model.censuses import CensusReport
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.reports import ArmResult, AttributeReport, Run, RunReport

Report: TypeAlias = RunReport | CensusReport | ProfilesReport

NO_EVIDENCE = frozenset({Acted.INERT, Acted.UNPROVEN})
"""Of arms in these states runs are shown apart: they do not speak for or against anything."""


def runs_of(report: RunReport) -> tuple[Run, ...]:
    """Return the runs that a report shows, each once, in the order of their ids."""
    return tuple(sorted({run.id: run for run in report.runs_shown()}.values(), key=_order))


def _order(run: Run) -> tuple[int, str]:
    """Sort `10-exact` after `9-bypass`."""
    number = short(run.id)
    return (int(number) if number.isdecimal() else 0, run.id)


def short(run: str) -> str:
    """Return the number of a run, where its id is `03-bypass`: words that name the arm need no more."""
    number, _, _ = run.partition("-")
    return number or run


def baseline_of(report: AttributeReport) -> ArmResult | None:
    """Return the arm that changes nothing; None before it was planned."""
    return next((arm for arm in report.arms if arm.arm.role is Role.BASELINE), None)


def run_of_order(report: OrdersReport, result: OrderResult) -> Run | None:
    """Return the run of an order: its own, or that of the earlier one that is the same list."""
    if result.run is not None or result.same_as is None:
        return result.run
    return next((other.run for other in report.orders if other.order == result.same_as), None)


def seen(arm: ArmResult, sight: Sight) -> tuple[Run, ...]:
    """Return the runs of an arm that look like `sight` from the main signature."""
    return tuple(run for run, look in zip(arm.runs, arm.sights, strict=False) if look is sight)


def shown_signature(arm: ArmResult, main: Signature | None) -> Signature | None:
    """Return what stands for the arm: the main signature where its shown run has it, else that run's first."""
    if arm.shown is None:
        return None
    signatures = arm.shown.reading.signatures
    return main if main in signatures else next(iter(signatures), None)


def name_bytes(report: RunReport) -> dict[str, bytes]:
    """Return the bytes of every case name that is not UTF-8, by the name as it is printed."""
    selections = (run.outcome.selection for run in runs_of(report) if run.outcome.selection is not None)
    once = {id(selection): selection for selection in selections}  # most runs share one, which may be long
    return {
        case.name: case.name_bytes
        for selection in once.values()
        for case in selection.cases
        if case.name_bytes is not None
    }
