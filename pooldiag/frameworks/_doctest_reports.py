"""doctest's XML, listings and runs (measured on 2.4.9 and 2.5.2, with what is known of versions down to 2.3)."""

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pooldiag.frameworks._text import UNPRINTABLE, clipped
from pooldiag.frameworks._xml import XmlElements
from pooldiag.frameworks.base import CaseEvent, ListingError, ReportReader
from pooldiag.model.cases import Case, Listing, Selection
from pooldiag.model.events import CaseStarted
from pooldiag.model.outcomes import CaseResult, CaseStatus, FrameworkReport

CASE_IN_LISTING = ("doctest", "TestCase")
CASE_IN_RUN = ("doctest", "TestSuite", "TestCase")

# The bytes that doctest writes as `\x1B`: control characters and what is not UTF-8. `\x0B` and `\x0C` are ours.
_ESCAPED_BYTE = re.compile(rb"\\x(0[0-8BCEF]|1[0-9A-F]|7F|[89A-F][0-9A-F])")
_SIGNAL = re.compile(r"(SIG[A-Z]+) - ")
_TRANSLATED_LATER = "exception thrown in subcase - will translate later"


def parse_listing(report: bytes) -> Listing:
    """Read what doctest wrote for `-dt-list-test-cases`; the program may have died after it."""
    found = _ListingListener()
    elements = XmlElements(began=found.began, ended=found.ended)
    elements.feed(report)
    if problem := found.problem():
        raise ListingError(
            problem + (f" ({elements.problem})" if elements.problem else ""),
            hint="does its main() pass the command line to doctest? `--framework blackbox` runs it without cases",
        )
    return Listing(cases=tuple(found.cases), framework_version=found.version, tells_skipped=found.tells_skipped)


class _ListingListener:
    """Collects the cases of a listing, and what speaks against its being one."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.version: str | None = None
        self.tells_skipped = True  # doctest does from 2.4.7 on
        self._seen: Counter[Case] = Counter()
        self._root: str | None = None
        self._ran = False
        self._complete = False

    def began(self, path: tuple[str, ...], attributes: Mapping[str, str]) -> None:
        if self._root is None:
            self._root = path[0]
            self.version = attributes.get("version")
        if "TestSuite" in path:
            self._ran = True
        elif path == CASE_IN_LISTING:
            self.cases.append(_as_twin(_case(attributes, attributes.get("testsuite", "")), self._seen))
            self.tells_skipped &= "skipped" in attributes

    def ended(self, path: tuple[str, ...], text: str) -> None:
        del text
        self._complete |= path == ("doctest", "OverallResultsTestCases")

    def problem(self) -> str | None:
        """Say why this is not a listing to rely on; None when it is one."""
        if self._root is None:
            return "no listing of test cases was written"
        if self._root != "doctest":
            return f"the listing of test cases starts with <{self._root}>, not <doctest>"
        if self._ran:
            return "asked to list its test cases, the target ran them"
        if not self._complete:
            return f"the listing of test cases is cut after {len(self.cases)}"
        return None


class DoctestReader(ReportReader):
    """Reads the report of one run. Counts are those of cases: doctest's summary of cases is wrong after `-dt-last`."""

    def __init__(self, selection: Selection | None) -> None:
        self._known = _KnownCases(selection.cases if selection else ())
        self._elements = XmlElements(began=self._began, ended=self._ended)
        self._suite = ""
        self._results: list[CaseResult] = []
        self._running: _RunningCase | None = None
        self._events: list[CaseEvent] = []

    def feed(self, data: bytes) -> tuple[CaseEvent, ...]:
        """Take the next bytes; return the cases that began and ended in them."""
        self._elements.feed(data)
        events, self._events = tuple(self._events), []
        return events

    def result(self) -> FrameworkReport:
        """Return what is known so far."""
        return FrameworkReport.of((*self._results, *([self._running.result()] if self._running else [])))

    def _began(self, path: tuple[str, ...], attributes: Mapping[str, str]) -> None:
        if path == CASE_IN_RUN[:2]:
            self._suite = attributes.get("name", "")
        elif path == CASE_IN_RUN:
            self._start(attributes)
        elif self._running and path[:3] == CASE_IN_RUN:
            self._running.began(path[3:], attributes)

    def _ended(self, path: tuple[str, ...], text: str) -> None:
        if self._running and path[:3] == CASE_IN_RUN:
            self._running.ended(path[3:], text)
            if self._running.totals is not None:
                self._results.append(self._running.result())
                self._events.append(self._results[-1])
                self._running = None

    def _start(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("skipped") == "true":  # filtered out, or decorated with skip()
            return
        case = self._known.take(_case(attributes, self._suite))
        self._running = _RunningCase(case=case, decorators=attributes)
        self._events.append(CaseStarted(name=case.name, number=len(self._results) + 1))


class _KnownCases:
    """The cases that were asked for, given out in running order to those that start."""

    def __init__(self, cases: tuple[Case, ...]) -> None:
        self._waiting: defaultdict[tuple[object, ...], deque[Case]] = defaultdict(deque)
        self._strangers: Counter[Case] = Counter()
        for case in cases:
            self._waiting[_identity(case)].append(case)

    def take(self, started: Case) -> Case:
        """Return the case that was asked for and started now; a stranger is returned as it is."""
        for identity in (_identity(started), (started.name,)):
            if waiting := self._waiting.get(identity):
                return waiting.popleft()
        return _as_twin(started, self._strangers)


def _identity(case: Case) -> tuple[object, ...]:
    """Return what a listing and a run both say; the listings of doctest 2.3.0 have the name only."""
    return (case.name, case.suite, case.file, case.line) if case.file else (case.name,)


@dataclass(slots=True, kw_only=True)
class _RunningCase:
    """What the report says of one case until its end. Paths are below the case's own element."""

    case: Case
    decorators: Mapping[str, str]
    totals: Mapping[str, str] | None = None
    passed: int = 0
    failed: int = 0
    threw: bool = False
    crashed: bool = False
    signal: str | None = None
    place: str | None = None
    message: str | None = None
    in_failure: bool = False  # inside the element of the first failure
    parts: dict[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)

    def began(self, path: tuple[str, ...], attributes: Mapping[str, str]) -> None:
        match path:
            case ["OverallResultsAsserts"]:
                self.totals = attributes
            case [*_, "Expression"] if not attributes.get("type", "").startswith("WARN"):
                self._assertion(attributes, success=attributes.get("success") == "true")
            case [*_, "Message"] if attributes.get("type", "WARNING") != "WARNING":
                self._assertion(attributes, success=False)
            case [*above, "Exception"] if "Expression" not in above:
                self.crashed |= attributes.get("crash") == "true"
                self.threw = True

    def ended(self, path: tuple[str, ...], text: str) -> None:
        match path:
            case [*_, "Expression" | "Message"] if self.in_failure:
                self.message = clipped(_failure(self.attributes, self.parts))
                self.in_failure = False
            case [*_, "Expression" | "Message", part] if self.in_failure:
                self.parts[part] = " ".join(text.split())
            case [*above, "Exception"] if "Expression" not in above:
                self._exception(" ".join(text.split()))

    def _assertion(self, attributes: Mapping[str, str], *, success: bool) -> None:
        self.passed += success
        self.failed += not success
        if not success and self.place is None and self.message is None:
            self.place = _place(attributes)
            self.attributes = attributes
            self.in_failure = True

    def _exception(self, text: str) -> None:
        if self.crashed and self.signal is None and (found := _SIGNAL.match(text)):
            self.signal = found[1]
        if self.message is None and not text.startswith(_TRANSLATED_LATER):
            self.message = clipped(text if self.crashed else f"exception: {text}")

    def result(self) -> CaseResult:
        """Return the case as far as it is known."""
        totals = self.totals or {}
        failed = _count(totals.get("failures"), self.failed)
        status = self._status(failed)
        red = status is not CaseStatus.PASSED
        return CaseResult(
            case=self.case,
            status=status,
            assertions_passed=_count(totals.get("successes"), self.passed),
            assertions_failed=failed,
            seconds=_seconds(totals.get("duration")),
            place=self.place if red else None,
            message=self.message or self._decorated(failed) if red else None,
            signal=self.signal,
        )

    def _status(self, failed: int) -> CaseStatus:
        if self.crashed:
            return CaseStatus.CRASHED
        if self.totals is None:
            return CaseStatus.UNFINISHED
        success = self.totals.get("test_case_success")
        passed = self._success(failed) if success is None else success == "true"
        return CaseStatus.PASSED if passed else CaseStatus.FAILED

    def _success(self, failed: int) -> bool:
        """Decide as doctest does; before 2.4.7 it did not say."""
        bad = bool(failed) or self.threw or self._late()
        if self.decorators.get("should_fail") == "true":
            return bad
        if self.decorators.get("may_fail") == "true" and bad:
            return True
        expected = self._expected_failures()
        return failed == expected if expected else not bad

    def _late(self) -> bool:
        limit = _seconds(self.decorators.get("timeout"))
        seconds = _seconds((self.totals or {}).get("duration"))
        return limit is not None and seconds is not None and 0 < limit < seconds

    def _expected_failures(self) -> int:
        return _count((self.totals or {}).get("expected_failures"), 0)

    def _decorated(self, failed: int) -> str | None:
        """Say which decorator made a case fail in which nothing else did."""
        if self.totals is None:
            return None
        if self._late():
            return f"took longer than its timeout({self.decorators['timeout']})"
        if self.decorators.get("should_fail") == "true":
            return "did not fail, and is marked should_fail"
        expected = self._expected_failures()
        return f"{failed} failed assertions, and is marked expected_failures({expected})" if expected else None


def _case(attributes: Mapping[str, str], suite: str) -> Case:
    """Make the case of a `<TestCase>`; an empty name has no attribute."""
    name = attributes.get("name", "")
    return Case(
        name=name,
        suite=suite,
        file=attributes.get("filename", ""),
        line=_count(attributes.get("line"), 0) or None,
        skipped=attributes.get("skipped") == "true",
        name_bytes=_name_bytes(name),
    )


def _name_bytes(name: str) -> bytes | None:
    """Undo doctest's escapes; None when the name holds none that it can have written.

    A name may hold the characters of an escape itself: nothing in the XML distinguishes the two.
    """
    data, escapes = _ESCAPED_BYTE.subn(
        lambda found: bytes.fromhex(found[1].decode()), name.encode("utf-8", "surrogateescape")
    )
    return data if escapes and UNPRINTABLE.search(data.decode("utf-8", "surrogateescape")) else None


def _as_twin(case: Case, seen: Counter[Case]) -> Case:
    """Return the case, numbered among those seen that agree with it in everything."""
    seen[case] += 1
    return replace(case, twin=seen[case] - 1)


def _place(attributes: Mapping[str, str]) -> str | None:
    file, line = attributes.get("filename"), _count(attributes.get("line"), 0)
    return f"{file}:{line}" if file and line else None


def _failure(attributes: Mapping[str, str], parts: Mapping[str, str]) -> str:
    """Say a failed assertion or message in one line."""
    if "Original" not in parts:
        return parts.get("Text", "")
    asserted = f"{attributes.get('type', 'CHECK')}( {parts['Original']} )"
    if "Exception" in parts:
        return f"{asserted} threw {parts['Exception']}"
    values = parts.get("Expanded", parts["Original"])
    return f"{asserted} is false" + (f": {values}" if values != parts["Original"] else "")


def _count(text: str | None, otherwise: int) -> int:
    """Read a number that another program wrote; `otherwise` when it is not one."""
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,18}", text) else otherwise


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text) if text else math.nan
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None
