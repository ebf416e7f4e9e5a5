"""A diagnosis from the lock to the last report: what all commands that run a target have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from pooldiag.attribution.greens import asserts_nothing
from pooldiag.diagnose.notes import removed_fills
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError
from pooldiag.model.events import Reported
from pooldiag.model.reports import Blockage, DiskReport, Run, RunReport, Session, TargetReport
from pooldiag.model.settings import AttributeSettings, CommandLine

_R = TypeVar("_R", bound=RunReport)


class Diagnosis(ABC, Generic[_R]):
    """Makes runs, and says at any time what is known, and what it took from its beginning on."""

    def __init__(
        self, common: AttributeSettings, tools: Tools, keep: Callable[[_R], None], *, invocation: CommandLine
    ) -> None:
        """Begin now; `keep` takes every report."""
        self._common = common
        self._tools = tools
        self._keep = keep
        self._invocation = invocation
        self._notes = [*tools.facts.notes]
        self._began = tools.ports.clock.monotonic()
        self._free_before = tools.ports.disk.free_bytes()

    @abstractmethod
    def run(self) -> None:
        """Make all runs, with the lock held."""

    @abstractmethod
    def report(self, *, partial: bool, blocked: BlockedError | None = None) -> _R:
        """Say what is known now."""

    def drive(self) -> _R:
        """Run under the lock; hand over a partial report after every run, and last the whole one.

        Whatever blocks it ends up in the whole report. InterruptedRunError comes after a partial report of all that
        finished; UsageError when the target or a selection cannot be used as given.
        """
        ports = self._tools.ports
        blocked: BlockedError | None = None
        try:
            ports.disk.check_need()
            with ports.lock.hold():
                self.run()
        except InterruptedRunError:
            self._keep(self.report(partial=True))
            raise
        except BlockedError as error:
            blocked = error
        report = self.report(partial=False, blocked=blocked)
        self._keep(report)
        return report

    def _save(self) -> None:
        """Hand over what is known: after every run that the report knows of."""
        report = self.report(partial=True)
        self._tools.ports.progress.notice(Reported(report=report))
        self._keep(report)

    def _block_when_nothing_asserted(self, runs: Iterable[Run]) -> None:
        """Stop where every case that ran passed without an assertion, and the framework would have counted one."""
        if self._tools.framework.counts_assertions and asserts_nothing([run.outcome for run in runs]):
            raise BlockedError(
                "nothing was asserted", hint="every case that ran passed without an assertion: let them check something"
            )

    def _seconds(self) -> float:
        return self._tools.ports.clock.monotonic() - self._began

    def _is_late(self) -> bool:
        budget = self._common.budget_seconds
        return budget is not None and self._seconds() >= budget

    def _removed_fills(self) -> Iterator[str]:
        """Yield what a green leaves open: variables that fill memory were removed."""
        return removed_fills(self._tools.facts.fills, self._common, self._invocation)

    def _session(
        self, *, partial: bool, blocked: BlockedError | None, target: TargetReport, notes: Iterable[str]
    ) -> Session:
        """Say what every report says, as it is now; `notes` come behind those of the diagnosis itself."""
        ports, facts = self._tools.ports, self._tools.facts
        free_after, floor = ports.disk.free_bytes(), self._common.floors.disk_bytes
        return Session(
            partial=partial,
            blocked=None if blocked is None else Blockage(problem=blocked.problem, hint=blocked.hint),
            target=target,
            invocation=self._invocation,
            evidence=ports.evidence.path,
            lock=ports.lock.report(),
            disk=DiskReport(free_before=self._free_before, free_after=free_after, floor=floor),
            machine=facts.machine,
            notes=tuple(dict.fromkeys((*self._notes, *notes))),
            removed_variables=facts.removed,
            seconds=self._seconds(),
        )
