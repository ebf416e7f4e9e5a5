"""What one run did, as facts: `Completed` and what the framework, the output files and the text add to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pooldiag.model.arms import Arm
from pooldiag.model.cases import Case, Selection
from pooldiag.model.counts import Census, PrintedCensus
from pooldiag.model.runs import Completed


class CaseStatus(StrEnum):
    """How a started case ended, by the framework's events."""

    PASSED = "passed"
    FAILED = "failed"
    CRASHED = "crashed"  # the framework itself reported a signal in it
    UNFINISHED = "unfinished"  # started, and no end was reported


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case that was started. `place` and `message` are of its first failure; `signal` is a name, `SIGSEGV`."""

    case: Case
    status: CaseStatus
    assertions_passed: int = 0
    assertions_failed: int = 0
    seconds: float | None = None
    place: str | None = None
    message: str | None = None
    signal: str | None = None

    @property
    def assertions(self) -> int:
        """Assertions made, passed or failed."""
        return self.assertions_passed + self.assertions_failed


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkReport:
    """What a framework reported about one run: the started cases in order, and whether the report has its end."""

    results: tuple[CaseResult, ...] = ()
    complete: bool = False
    assertions_passed: int = 0
    assertions_failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFile:
    """One declared output of a run. Without a `census` there is a `problem`: absent, short or unreadable."""

    path: str  # relative to the run's output folder; the glob itself when nothing matched
    census: Census | None = None
    problem: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one run did: facts only, read in `attribution`.

    `selection` is None for a black box (no framework told anything). An isolated run is several
    processes, its `parts`: its own fields sum them up, `completed` being of the first one that did not
    end with exit code 0, else of the last.
    """

    run: str
    arm: Arm
    selection: Selection | None
    completed: Completed
    report: FrameworkReport = FrameworkReport()
    outputs: tuple[OutputFile, ...] = ()
    outputs_due: bool = True  # False: the selection is not known to write the declared outputs
    printed: tuple[PrintedCensus, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    banners: frozenset[str] = frozenset()  # the patterns of the profile's banners that a line matched
    text_marks: tuple[str, ...] = ()  # lines of the output that tell an ending: sanitizer reports, aborts
    void_marks: tuple[str, ...] = ()  # why the run says nothing: disk, memory, a changed binary
    no_answer: str | None = None  # why this run says nothing although another one might
    notes: tuple[str, ...] = ()
    parts: tuple["Outcome", ...] = ()

    def count(self, *statuses: CaseStatus) -> int:
        """How many started cases ended in one of `statuses`."""
        return sum(result.status in statuses for result in self.report.results)

    @property
    def selected(self) -> int | None:
        """Cases asked for; None for a black box."""
        return None if self.selection is None else len(self.selection.cases)

    @property
    def started(self) -> int:
        """Cases that began."""
        return len(self.report.results)

    @property
    def passed(self) -> int:
        """Cases that ended well."""
        return self.count(CaseStatus.PASSED)

    @property
    def failed(self) -> int:
        """Cases that failed, crashed or never ended: a hung case counts as failed."""
        return self.started - self.passed

    @property
    def finished(self) -> int:
        """Cases whose end the framework reported."""
        return self.count(CaseStatus.PASSED, CaseStatus.FAILED)
