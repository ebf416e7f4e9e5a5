"""A diagnosis from the lock to the last report: what all commands that run a target have in common."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError
from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.events import Reported
from pooldiag.model.reports import AttributeReport, Blockage, DiskReport, Session, TargetReport
from pooldiag.model.settings import CommandLine

_Report = AttributeReport | BisectReport | OrdersReport
_R = TypeVar("_R", bound=_Report)
_R_co = TypeVar("_R_co", bound=_Report, covariant=True)


Save = Callable[[], None]
"""Hands over what is known; a diagnosis calls it after every run that its report knows of."""


class Diagnosis(Protocol[_R_co]):
    """Makes runs, and says at any time what is known."""

    def run(self) -> None:
        """Make all runs, with the lock held."""

    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> _R_co:
        """Say what is known now."""


def drive(begin: Callable[[Save], Diagnosis[_R]], tools: Tools, keep: Callable[[_R], None]) -> _R:
    """Run a diagnosis under the lock; hand over a partial report after every run, and last the whole one.

    Whatever blocks it ends up in the whole report. InterruptedRunError comes after a partial report of all that
    finished; UsageError when the target or a selection cannot be used as given.
    """
    ports = tools.ports

    def save() -> None:
        report = diagnosis.report(partial=True)
        ports.progress.notice(Reported(report=report))
        keep(report)

    diagnosis = begin(save)
    blocked: BlockedError | None = None
    try:
        ports.disk.check_need()
        with ports.lock.hold():
            diagnosis.run()
    except InterruptedRunError:
        keep(diagnosis.report(partial=True))
        raise
    except BlockedError as error:
        blocked = error
    report = diagnosis.report(partial=False, blocked=blocked)
    keep(report)
    return report


class Account:
    """What a diagnosis takes, from its beginning on."""

    def __init__(self, tools: Tools, *, floor: int, invocation: CommandLine) -> None:
        """Begin now; `floor` is what must stay free on the disk, in bytes."""
        self._facts = tools.facts
        self._ports = tools.ports
        self._floor = floor
        self._invocation = invocation
        self._began = tools.ports.clock.monotonic()
        self._free_before = tools.ports.disk.free_bytes()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return self._ports.clock.monotonic() - self._began

    def session(
        self, *, partial: bool, blocked: BlockedError | None, target: TargetReport, notes: Iterable[str]
    ) -> Session:
        """Say what every report says, as it is now."""
        free_after = self._ports.disk.free_bytes()
        return Session(
            partial=partial,
            blocked=None if blocked is None else Blockage(problem=blocked.problem, hint=blocked.hint),
            target=target,
            invocation=self._invocation,
            evidence=self._ports.evidence.path,
            lock=self._ports.lock.report(),
            disk=DiskReport(free_before=self._free_before, free_after=free_after, floor=self._floor),
            machine=self._facts.machine,
            notes=tuple(dict.fromkeys(notes)),
            removed_variables=self._facts.removed,
            seconds=self.seconds,
        )
