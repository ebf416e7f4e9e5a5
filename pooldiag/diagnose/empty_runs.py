"""How test runners say that no test ran: a script around them ends with exit code 0 as a rule, as if all was well.

A line counts where the runner itself writes it: from its first byte to its last. One of several runners in a script may
have nothing to do, so what any of them writes of tests that ran outweighs it.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerWords:
    """The lines of a runner that say that no test ran, and those that it writes where one did; from its `source`."""

    runner: str
    nothing_ran: str
    something_ran: str
    source: str


RUNNERS = (
    RunnerWords(
        runner="ctest",
        nothing_ran=r"No tests were found!!!",
        something_ran=r"\s*\d+/\d+ Test +#\d+: .*",
        source="CMake 3.25, Source/CTest/cmCTestTestHandler.cxx, ProcessHandler",
    ),
    RunnerWords(
        runner="gtest",
        nothing_ran=r"\[=+\] (?:Running 0 tests from 0 test (?:suites|cases)\."
        r"|0 tests from 0 test (?:suites|cases) ran\..*)",
        something_ran=r"\[=+\] (?:Running )?[1-9]\d* tests? from .*|\[ RUN +\] .*",
        source="GoogleTest 1.12, googletest/src/gtest.cc, PrettyUnitTestResultPrinter",
    ),
    RunnerWords(
        runner="pytest",
        nothing_ran=r"(?:=+ )?no tests (?:ran|collected)(?: \(\d+ deselected\))? in [\d.]+s(?: \([\d:]+\))?(?: =+)?"
        r"|(?:=+ )?\d+ deselected in [\d.]+s(?: \([\d:]+\))?(?: =+)?",
        something_ran=r"(?:=+ )?(?:.*, )?\d+ (?:passed|failed|errors?|xfailed|xpassed|skipped)\b.* in [\d.]+s.*",
        source="pytest 8, src/_pytest/terminal.py, build_summary_stats_line",
    ),
    RunnerWords(
        runner="unittest",
        nothing_ran=r"Ran 0 tests in [\d.]+s|NO TESTS RAN(?: \(.*\))?",
        something_ran=r"Ran [1-9]\d* tests? in [\d.]+s|FAILED \(.*\)",
        source="CPython 3.12, Lib/unittest/runner.py, TextTestRunner.run",
    ),
    RunnerWords(
        runner="go test",
        nothing_ran=r"\?\s+\S+\s+\[no test files\]|testing: warning: no tests to run"
        r"|ok\s+\S+\s+\S+(?:\s.*)?\s\[no tests to run\]",
        something_ran=r"(?:ok|FAIL)\s+\S+\s+(?:\d[\d.]*s|\(cached\)|\[.* failed\])(?!.*\[no tests to run\]).*"
        r"|=== RUN +.*",
        source="Go 1.19, src/testing/testing.go, M.Run; src/cmd/go/internal/test/test.go, runTestActor",
    ),
    RunnerWords(
        runner="cargo test",
        nothing_ran=r"running 0 tests",
        something_ran=r"running [1-9]\d* tests?",
        source="Rust 1.70, library/test/src/formatters/pretty.rs, write_run_start",
    ),
    RunnerWords(
        runner="cargo nextest",
        nothing_ran=r"error: no tests to run",
        something_ran=r"\s+Starting [1-9]\d* tests? across .*",
        source="nextest 0.9, nextest-runner/src/reporter/displayer, write_event",
    ),
    RunnerWords(
        runner="Catch2",
        nothing_ran=r"No test cases matched '.*'|No tests ran",
        something_ran=r"All tests passed \(.*\)|test cases: +[1-9]\d* \|.*",
        source="Catch2 3.7, src/catch2/reporters/catch_reporter_console.cpp; printTestRunTotals",
    ),
    RunnerWords(
        runner="Boost.Test",
        nothing_ran=r"Test setup error: no test cases matching filter or all test cases were disabled",
        something_ran=r"Running [1-9]\d* test cases?\.\.\.",
        source="Boost 1.74, boost/test/impl/framework.ipp, finalize_setup_phase",
    ),
)

# One pattern for all, for one look at a line; its groups tell whose words they are.
_NOTHING = "|".join(f"(?P<nothing{place}>{one.nothing_ran})" for place, one in enumerate(RUNNERS))
_SOMETHING = "|".join(one.something_ran for one in RUNNERS)
_LINE = re.compile(f"{_NOTHING}|(?P<something>{_SOMETHING})".encode())
_OF_GROUP = {f"nothing{place}": one.runner for place, one in enumerate(RUNNERS)}
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_LONGEST_BYTES = 400  # of a line: no runner writes more about nothing


@dataclass(slots=True)
class EmptyRun:
    """What the runners inside a target say about it; grows line by line."""

    said: str | None = None  # the first words that nothing ran, and whose they are
    something_ran: bool = False

    def see(self, line: bytes) -> None:
        """Look at a line."""
        if len(line) > _LONGEST_BYTES or self.something_ran:
            return
        text = (_COLOUR.sub(b"", line) if b"\x1b" in line else line).rstrip()
        if (found := _LINE.fullmatch(text)) is None:
            return
        runner = _OF_GROUP.get(found.lastgroup or "")
        self.something_ran = runner is None
        if runner is not None and self.said is None:
            self.said = f"no test ran: {runner} says «{text.strip(b' =').decode(errors='backslashreplace')}»"

    @property
    def reason(self) -> str | None:
        """Say that no test ran; None where one did, or nobody says so."""
        return None if self.something_ran else self.said
