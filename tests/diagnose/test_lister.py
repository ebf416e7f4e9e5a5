"""A listing that fails: what the target itself says of it is quoted, and what is listed beside an error is not used."""

from dataclasses import dataclass

import pytest

from pooldiag.diagnose.lister import Lister
from pooldiag.errors import BlockedError
from pooldiag.frameworks import FRAMEWORKS
from pooldiag.frameworks.base import ListingError
from pooldiag.model.cases import Listing
from pooldiag.model.runs import Completed, Ending, RunRequest, Stream
from tests.played.commands import settings_of
from tests.played.suite import PlayedSuite
from tests.played.world import World

WHOLE = b"case a\ncase b\nend\n"
DOCTEST_CASES = b'<?xml version="1.0"?>\n<doctest binary="t" version="2.4.9">\n<TestCase name="a" skipped="false"/>\n'
DOCTEST_END = b'<OverallResultsTestCases unskipped="1"/>\n</doctest>\n'


@dataclass(slots=True, kw_only=True)
class ListingWorld(World):
    """A world in which every process writes this listing, prints this, and ends so."""

    listing: bytes
    out: str = ""
    err: str = ""
    code: int | None = 0
    signal: int | None = None

    def execute(self, request: RunRequest) -> Completed:
        stdout, stderr = request.folder / "stdout", request.folder / "stderr"
        assert request.report is not None
        self.content |= {request.report: self.listing, stdout: self.out.encode(), stderr: self.err.encode()}
        return Completed(
            ending=Ending.EXITED if self.signal is None else Ending.SIGNALLED,
            exit_code=self.code if self.signal is None else None,
            signal=self.signal,
            seconds=1,
            stdout=Stream(path=stdout),
            stderr=Stream(path=stderr),
        )


def listed(
    listing: bytes,
    out: str = "",
    err: str = "",
    *,
    code: int = 0,
    signal: int | None = None,
    framework: str = "listfile",
) -> Listing:
    world = ListingWorld(
        suite=PlayedSuite(),
        framework=FRAMEWORKS[framework],
        listing=listing,
        out=out,
        err=err,
        code=code,
        signal=signal,
    )
    return Lister(settings_of(world), world.tools).everything()


def problem_of(listing: bytes, out: str = "", err: str = "", *, code: int = 0, signal: int | None = None) -> str:
    with pytest.raises(ListingError) as raised:
        listed(listing, out, err, code=code, signal=signal)
    assert raised.value.hint
    assert "\n" not in raised.value.problem
    return raised.value.problem


@pytest.mark.parametrize("listing", [b"", WHOLE, b"case a\n"])
def test_a_listing_that_ended_with_an_error_quotes_the_end_of_stderr(listing: bytes) -> None:
    err = "one\ntwo\n\n  three \n\nfour\n"
    assert problem_of(listing, "not this", err, code=2) == (
        "the target could not list its cases (exit code 2): two; three; four"
    )
    assert problem_of(listing, err="no device", signal=11) == "the target could not list its cases (SIGSEGV): no device"


def test_where_stderr_is_empty_the_end_of_stdout_is_quoted() -> None:
    out = (
        "...\n=== short test summary info ===\n\x1b[31mERROR\x1b[0m test_x.py - ImportError: no y\n"
        "!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!\nno tests collected, 1 error in 0.05s\n"
    )
    assert problem_of(b"end\n", out, " \n", code=2) == (
        "the target could not list its cases (exit code 2): ERROR test_x.py - ImportError: no y; "
        "Interrupted: 1 error during collection; no tests collected, 1 error in 0.05s"
    )


def test_a_damaged_listing_is_said_to_be_one_and_the_target_is_quoted_beside_it() -> None:
    assert problem_of(b"", err="usage: x").endswith("was written (the listing ended with exit code 0): usage: x")
    assert problem_of(b"").endswith("was written (the listing ended with exit code 0)")
    assert problem_of(b"", code=3) == (
        "the target could not list its cases (exit code 3): no listing of test cases was written"
    )
    assert problem_of(WHOLE, code=3) == "the target could not list its cases (exit code 3)"


def test_what_is_quoted_is_escaped_and_bounded() -> None:
    problem = problem_of(b"", err="a\x1b[2Jb\x07\n" + "x" * 10_000 + "\n", code=1)
    assert "\x1b" not in problem
    assert "a\\x1B[2Jb\\x07; xxx" in problem
    assert len(problem) < 500


def test_a_target_without_a_case_is_said_to_have_none() -> None:
    with pytest.raises(BlockedError, match=r"^the target has no test case: no tests collected \(3 deselected\)$"):
        listed(b"end\n", "\nno tests collected (3 deselected)\n")
    with pytest.raises(BlockedError, match=r"^the target has no test case$"):
        listed(b"end\n")


@pytest.mark.parametrize(("code", "signal"), [(0, None), (7, None), (0, 11)])
def test_a_whole_listing_of_doctest_counts_whatever_its_program_does_behind_it(code: int, signal: int | None) -> None:
    found = listed(DOCTEST_CASES + DOCTEST_END, err="bye", code=code, signal=signal, framework="doctest")
    assert [case.name for case in found.cases] == ["a"]
    with pytest.raises(ListingError):
        listed(DOCTEST_CASES, code=code, signal=signal, framework="doctest")
