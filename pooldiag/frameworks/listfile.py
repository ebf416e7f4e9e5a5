r"""Any runner that can list its cases and run those named in a file: a script around pytest, a bench, a harness.

The target is called in three ways, each time after the arguments that its user gives:

    TARGET ARGS --list-cases=FILE
        Write one line a case into FILE, `case NAME`, then a last line, `end`; exit with 0. Run nothing.
    TARGET ARGS --report=FILE [--run-cases=NAMES]
        Run exactly the cases named in NAMES, one name a line, in that order; without NAMES all, as listed.
        Add to FILE as it goes, each line at once and as a whole: `begin NAME` before a case, after it one of
        `pass`, `pass ASSERTIONS`, `fail MESSAGE`, `fail PATH:LINE: MESSAGE`, `skip REASON`; when all are done, `end`.
    TARGET ARGS --case=NAME --case=NAME
        Run these, in this order, and report nothing: that is the line that people are shown.

A name is any line of bytes that is not empty and holds no NUL; no two cases have the same. A line of the report
that says nothing known is ignored. In PATH and MESSAGE `\n` is the end of a line, `\ ` a blank, and two backslashes
are one; of the lines of a MESSAGE the first are kept. A case that begins and has no result is one that the run ended
in, unless it was killed. A skipped case counts as passed with nothing asserted, a `pass` without a number as one
assertion. The exit code and the output are read as of any target.
"""

import re
from collections import Counter
from pathlib import Path

from pooldiag.frameworks._text import UNPRINTABLE, clipped, escaped
from pooldiag.frameworks.base import NOT_A_RUN, CaseEvent, Framework, InputFile, ListingError, ReportReader
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection
from pooldiag.model.events import CaseStarted
from pooldiag.model.outcomes import CaseResult, CaseStatus, FrameworkReport

_LINE_LIMIT_BYTES = 256 * 1024  # of a longer line the head is read
_FEW = 8  # cases that a run names as the line for people does; chosen: an answer seldom has more
_OWN_FLAGS = {
    "--list-cases": NOT_A_RUN,
    "--run-cases": "select cases with --case PATTERN, before the target",
    "--case": "select cases with --case PATTERN, before the target",
    "--report": "pooldiag makes the target write a report of its own",
}
_FAILURE = re.compile(r"((?:\\ |\S)+:\d+)(?:: (.*))?", re.DOTALL)  # its place and its message
_ESCAPES = {r"\n": "\n", r"\\": "\\", r"\ ": " "}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)))
_MESSAGE_LINES = 3


class ListFile(Framework):
    """A target that lists its cases into a file, and runs those that a file names."""

    name = "listfile"
    markers = (b"--run-cases",)
    any_order = True
    counts_assertions = True
    holds_runners = True
    plain_orders = tuple(Order(kind=kind) for kind in (OrderKind.FILE, OrderKind.NAME, OrderKind.REVERSE))

    def own_flag_hint(self, argument: str) -> str | None:
        """Look the flag up."""
        return _OWN_FLAGS.get(argument.partition("=")[0])

    def list_arguments(self, selection: Selection | None, order: Order, report: Path) -> tuple[str, ...]:
        """List all cases: what a selection runs is not asked, and an order is ours to make."""
        del selection, order
        return (f"--list-cases={report}",)

    def run_arguments(self, selection: Selection | None, order: Order, report: Path | None) -> tuple[str, ...]:
        """Run what the arguments name; where that is much, and nobody types it, what a file beside the report names."""
        names = _names(selection, order)
        named = tuple(f"--case={name}" for name in names or ())
        if report is None:
            return named
        if len(named) > _FEW:
            named = (f"--run-cases={_names_file(report)}",)
        return (*named, *self.report_arguments(report))

    def report_arguments(self, report: Path) -> tuple[str, ...]:
        """Name the file that it reports into."""
        return (f"--report={report}",)

    def runs_as_typed(self, selection: Selection) -> bool:
        """Tell whether so few cases are named that a run has them as arguments, too."""
        return len(selection.cases) <= _FEW

    def input_files(self, selection: Selection | None, order: Order, report: Path) -> tuple[InputFile, ...]:
        """Return the file with the names; none for everything as listed."""
        names = _names(selection, order)
        if names is None or len(names) <= _FEW:
            return ()
        text = "".join(f"{name}\n" for name in names)
        return (InputFile(path=_names_file(report), content=text.encode("utf-8", "surrogateescape")),)

    def parse_listing(self, report: bytes) -> Listing:
        """Read a listing; raise ListingError when a line of it, its end, or the difference of two names is missing."""
        *lines, cut = report.split(b"\n")
        if problem := _damage(lines, cut):
            hint = "it must be `case NAME` a line and a last line `end`; `--framework blackbox` runs it without cases"
            raise ListingError(problem, hint=hint)
        return Listing(cases=tuple(_case(_decoded(line.removeprefix(b"case "))) for line in lines[:-1]))

    def selections(self, listing: Listing, wanted: tuple[Case, ...]) -> tuple[Selection, ...]:
        """Ask for the wanted cases by name, in whatever order; for everything as listed without a word."""
        if not wanted or len(set(wanted)) < len(wanted) or set(wanted) - set(listing.cases):
            return ()
        names = () if wanted == listing.cases else tuple(case.raw_name for case in wanted)
        return (Selection(cases=wanted, words=names),)

    def reader(self, selection: Selection | None) -> ReportReader:
        """Return a reader of the report of one run."""
        return ListFileReader(selection)


class ListFileReader(ReportReader):
    """Reads the report of one run. Strangers, and cases that begin again, count as nothing and are its problem."""

    def __init__(self, selection: Selection | None) -> None:
        self._selection = selection
        self._waiting = {case.raw_name: case for case in (selection.cases if selection else ())}
        self._held = b""
        self._begun = 0
        self._results: list[CaseResult] = []
        self._running: Case | None = None
        self._ended = False
        self._problem: str | None = None

    def feed(self, data: bytes) -> tuple[CaseEvent, ...]:
        """Take the next bytes; return the cases that began and ended in them."""
        *lines, held = (self._held + data).split(b"\n")
        self._held = held[:_LINE_LIMIT_BYTES]
        events = [self._line(line[:_LINE_LIMIT_BYTES]) for line in lines]
        return tuple(event for event in events if event is not None)

    def result(self) -> FrameworkReport:
        """Return what is known so far."""
        return FrameworkReport.of((*self._results, *self._unfinished()))

    def problem(self) -> str | None:
        """Say which case began out of turn; None when none did."""
        return self._problem

    def _line(self, line: bytes) -> CaseEvent | None:
        """Take notice of one line; after `end` of none."""
        word, _, rest = line.partition(b" ")
        if self._ended:
            return None
        if word == b"begin" and rest:
            return self._begin(_decoded(rest))
        if self._running is not None and word in {b"pass", b"fail", b"skip"}:
            self._results.append(_result(self._running, word, rest.decode("utf-8", "backslashreplace").strip()))
            self._running = None
            return self._results[-1]
        self._ended = line == b"end"
        return None

    def _begin(self, text: str) -> CaseStarted | None:
        self._results.extend(self._unfinished())
        self._check_turn(text)
        self._begun += 1
        self._running = _case(text) if self._selection is None else self._waiting.pop(text, None)
        if self._running is None:
            return None
        return CaseStarted(name=self._running.name, number=len(self._results) + 1)

    def _unfinished(self) -> tuple[CaseResult, ...]:
        return () if self._running is None else (CaseResult(case=self._running, status=CaseStatus.UNFINISHED),)

    def _check_turn(self, text: str) -> None:
        """Note the first case that is not the one that was asked for in its place."""
        if self._selection is None or self._problem is not None:
            return
        due = self._selection.cases[self._begun : self._begun + 1]
        if [text] != [case.raw_name for case in due]:
            wanted = _shown(due[0].raw_name) if due else "nothing more"
            self._problem = f"the target ran {_shown(text)} where {wanted} was asked for"


def _names(selection: Selection | None, order: Order) -> tuple[str, ...] | None:
    """Return the names to ask for; None for everything as the target lists it."""
    own_order = order.kind in {OrderKind.FILE, OrderKind.SUITE}
    if selection is None or (own_order and not selection.words):
        return None
    return tuple(case.raw_name for case in selection.cases)


def _names_file(report: Path) -> Path:
    return report.with_name("cases.txt")


def _damage(lines: list[bytes], cut: bytes) -> str | None:
    """Say why these lines are not a listing to rely on; None when they are one."""
    if not lines and not cut:
        return "no listing of test cases was written"
    if cut or lines[-1] != b"end":
        return f"the listing of test cases is cut: its {len(lines)} lines do not stop with `end`"
    for number, line in enumerate(lines[:-1], 1):
        if not line.startswith(b"case ") or line == b"case " or b"\0" in line:
            return f"line {number} of the listing of test cases names none: {_shown(_decoded(line))}"
    if twice := [line for line, count in Counter(lines).items() if count > 1]:
        return f"the listing of test cases has {_shown(_decoded(twice[0].removeprefix(b'case ')))} more than once"
    return None


def _decoded(name: bytes) -> str:
    """Return a name as it is passed on: bytes that are not UTF-8 stand as lone surrogates, as in all arguments."""
    return name.decode("utf-8", "surrogateescape")


def _case(text: str) -> Case:
    """Make the case of a name; what cannot be printed stands escaped in it."""
    name = UNPRINTABLE.sub(escaped, text)
    return Case(name=name, name_bytes=None if name == text else text.encode("utf-8", "surrogateescape"))


def _shown(text: str) -> str:
    return repr(clipped(_case(text).name))


def _result(case: Case, word: bytes, rest: str) -> CaseResult:
    """Make the result of a case out of the word that says it and what follows; a pass asserts something."""
    if word != b"fail":
        asserted = int(rest) if re.fullmatch("[0-9]{1,18}", rest) else 1
        return CaseResult(case=case, status=CaseStatus.PASSED, assertions_passed=asserted if word == b"pass" else 0)
    place, message = found.groups() if (found := _FAILURE.fullmatch(rest)) else (None, rest)
    lines = [line.rstrip() for line in _unescaped(message or "").split("\n")]
    kept = clipped("\n".join([line for line in lines if line][:_MESSAGE_LINES]))
    place = None if place is None else _unescaped(place)
    return CaseResult(case=case, status=CaseStatus.FAILED, assertions_failed=1, place=place, message=kept or None)


def _unescaped(text: str) -> str:
    """Return a text as it was before it was put into one line."""
    return _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text)
