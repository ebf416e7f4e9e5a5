"""A diagnosis from the lock to the last report: what `bisect` and `orders` have in common."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from pooldiag.diagnose.listing import Lister
from pooldiag.diagnose.probing import Suite
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError
from pooldiag.model.cases import Order
from pooldiag.model.reports import DiskReport

_R = TypeVar("_R")
_R_co = TypeVar("_R_co", covariant=True)


class Diagnosis(Protocol[_R_co]):
    """Makes runs, and says at any time what is known."""

    def run(self) -> None:
        """Make all runs, with the lock held."""
        ...

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> _R_co:
        """Say what is known now."""
        ...


def finished(diagnosis: Diagnosis[_R], tools: Tools, keep: Callable[[_R], None]) -> _R:
    """Run a diagnosis under the lock; return its whole report, which is kept as well.

    Whatever blocks it ends up in the report. InterruptedRunError comes after a partial report was kept; UsageError
    when the target or a selection cannot be used as given.
    """
    blocked: BlockedError | None = None
    try:
        tools.disk.check_need()
        with tools.lock.hold():
            diagnosis.run()
    except InterruptedRunError:
        keep(diagnosis.report(partial=True))
        raise
    except BlockedError as error:
        blocked = error
    report = diagnosis.report(partial=False, blocked=blocked)
    keep(report)
    return report


def suite_in(order: Order, lister: Lister) -> Suite:
    """List the target in an order, and choose what the user asked for; BlockedError when nothing is left to run."""
    listing = lister.everything(order)
    cases = lister.chosen(listing)
    if not cases:
        raise BlockedError(f"nothing to run: all {len(listing.cases)} cases are skipped")
    return Suite(listing=listing, cases=cases, order=order)


def disk_report(tools: Tools, *, free_before: int, floor: int) -> DiskReport:
    """Say what is free now, and what was."""
    return DiskReport(free_before=free_before, free_after=tools.disk.free_bytes(), floor=floor)
