"""What one run did, as facts: `Completed` and what the framework, the output files and the text add to it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from pooldiag.model.arms import Arm
from pooldiag.model.cases import Case, Selection
from pooldiag.model.counts import Census, PrintedCensus
from pooldiag.model.runs import Completed, Ending


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
    """What a framework reported about one run: the started cases in order, and all assertions."""

    results: tuple[CaseResult, ...] = ()
    assertions_passed: int = 0
    assertions_failed: int = 0

    @classmethod
    def of(cls, results: Iterable[CaseResult]) -> "FrameworkReport":
        """Report these cases, and the sums of their assertions."""
        kept = tuple(results)
        return cls(
            results=kept,
            assertions_passed=sum(result.assertions_passed for result in kept),
            assertions_failed=sum(result.assertions_failed for result in kept),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFile:
    """One declared output of a run. Without a `census` there is a `problem`: absent, short or unreadable."""

    path: str  # relative to the run's output folder; the glob itself when nothing matched
    census: Census | None = None
    problem: str | None = None
    detail: str | None = None


class SilenceKind(Enum):
    """Why a run says nothing."""

    SPACE = "space"  # the disk or the memory ran out
    CHANGED = "changed"  # the target or a file that it needs is not what it was
    UNASKED = "unasked"  # the target ran something else than it was asked for
    EMPTY = "empty"  # a test runner inside the target says that no test ran
    SLOW = "slow"  # it was cut by a limit that grew from faster runs
    NOT_RUN = "not run"  # it never began, or did not come to an end of its own

    @property
    def lasts(self) -> bool:
        """Whether the next run would say nothing either."""
        return self in {SilenceKind.SPACE, SilenceKind.CHANGED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Why a run says nothing, and what there is to say about that."""

    kind: SilenceKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one run did: facts only, read in `attribution`.

    `selection` is None for a black box (no framework reported anything). `found_silent` is what makes the run say
    nothing and does not stand in `completed`. An isolated run is several processes, its `parts`: its own fields sum
    them up, `completed` being of the first one that did not end with exit code 0, else of the last.
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
    text_marks: tuple[str, ...] = ()  # lines of the output that name an ending: sanitizer reports, aborts
    found_silent: tuple[Silence, ...] = ()
    notes: tuple[str, ...] = ()
    appeared: tuple[str, ...] = ()  # files of the working directory that were not there before
    parts: tuple["Outcome", ...] = ()

    @property
    def silences(self) -> tuple[Silence, ...]:
        """Why the run, or one of its processes, says nothing; empty when all say something."""
        return tuple(silence for process in (self, *self.parts) for silence in process.own_silences())

    def own_silences(self) -> Iterator[Silence]:
        """Yield what makes this one process say nothing, what lasts first."""
        completed = self.completed
        if completed.shortage is not None:
            yield Silence(kind=SilenceKind.SPACE, text=completed.shortage)
        yield from self.found_silent
        if completed.ending in {Ending.STOPPED, Ending.NOT_STARTED, Ending.INTERRUPTED}:
            yield Silence(kind=SilenceKind.NOT_RUN, text=completed.stopped_by or completed.words)

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
