"""A diagnosis from the lock to the last report: what `bisect` and `orders` have in common."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from pooldiag.diagnose.listing import Lister
from pooldiag.diagnose.probing import Suite
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError
from pooldiag.model.cases import Order
from pooldiag.model.reports import Blockage, DiskReport, Session, TargetReport
from pooldiag.model.settings import CommandLine

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


class Account:
    """What a diagnosis takes, from its beginning on."""

    def __init__(self, tools: Tools, *, floor: int, invocation: CommandLine) -> None:
        """Begin now; `floor` is what must stay free on the disk, in bytes."""
        self._tools = tools
        self._floor = floor
        self._invocation = invocation
        self._began = tools.clock.monotonic()
        self._free_before = tools.disk.free_bytes()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return self._tools.clock.monotonic() - self._began

    def session(
        self, *, partial: bool, blocked: BlockedError | None, target: TargetReport, notes: Iterable[str]
    ) -> Session:
        """Say what every report says, as it is now."""
        tools = self._tools
        return Session(
            partial=partial,
            blocked=None if blocked is None else Blockage(problem=blocked.problem, hint=blocked.hint),
            target=target,
            invocation=self._invocation,
            evidence=tools.evidence.path,
            lock=tools.lock.report(),
            disk=DiskReport(free_before=self._free_before, free_after=tools.disk.free_bytes(), floor=self._floor),
            machine=tools.machine,
            notes=tuple(notes),
            removed_variables=tools.removed,
            seconds=self.seconds,
        )
