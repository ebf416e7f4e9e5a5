"""A running order that the user wrote down, and what pytest prints behind one."""

import re

import pytest

from pooldiag.diagnose.sequences import names_in, sequence_of
from pooldiag.errors import UsageError
from pooldiag.model.cases import Case, Listing

CASES = tuple(Case(name=name) for name in ("t.py::a", "t.py::b", "t.py::c", "1 test collected in 0.01s", "d"))
A, B, C, ODD, D = CASES
LISTING = Listing(cases=CASES)
WARNINGS = (
    "=============================== warnings summary ===============================",
    "t.py:1",
    "  /x/t.py:1: PytestUnknownMarkWarning: Unknown pytest.mark.foo",
    "    @pytest.mark.foo",
    "-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html",
)


@pytest.mark.parametrize(
    "summary",
    [
        "3 tests collected in 0.02s",
        "3/5 tests collected (2 deselected) in 0.01s",
        "2 tests collected, 1 error in 0.10s",
        "no tests collected in 0.00s",
        "3 tests collected in 65.01s (0:01:05)",
        "========================= 3 tests collected in 0.02s ==========================",
        " \t",
    ],
)
def test_what_pytest_prints_behind_the_cases_is_left_out(summary: str) -> None:
    lines = (A.name, C.name, *WARNINGS, summary)
    assert names_in(lines) == (A.name, C.name)
    assert sequence_of(LISTING, lines, None) == ((A, C), 0)
    assert sequence_of(LISTING, lines[::-1], None) == ((C, A), 0)


def test_a_case_of_such_a_name_is_one() -> None:
    assert sequence_of(LISTING, (A.name, ODD.name), None) == ((A, ODD), 0)
    among = (*WARNINGS[:2], B.name, *WARNINGS[2:], D.name)
    assert sequence_of(LISTING, among, None) == ((B, D), 0)


def test_the_victim_may_stand_anywhere() -> None:
    lines = (C.name, A.name, D.name, B.name)
    assert sequence_of(LISTING, lines, A.name) == ((C, A), 2)
    assert sequence_of(LISTING, lines, C.name) == ((C,), 3)
    assert sequence_of(LISTING, lines, B.name) == sequence_of(LISTING, lines, None) == ((C, A, D, B), 0)


@pytest.mark.parametrize(
    ("lines", "victim", "problem", "hint"),
    [
        ((A.name, "t.py::bb"), None, "'t.py::bb' is no case that runs", "'t.py::b'"),
        ((A.name, "3 tests collected"), None, "'3 tests collected' is no case that runs", ""),
        ((A.name, "<Module t.py>"), None, "'<Module t.py>' is no case that runs", ""),
        ((A.name, *WARNINGS, "t.py:1"), None, "'t.py:1' is no case that runs", ""),
        ((A.name, B.name), "t.py::bb", "--victim 't.py::bb' is not in --sequence", "'t.py::b'"),
        (("3 tests collected in 0.02s",), None, "--sequence names no case", "one a line"),
    ],
)
def test_any_other_line_that_names_no_case_is_an_error(
    lines: tuple[str, ...], victim: str | None, problem: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(problem)}$") as raised:
        sequence_of(LISTING, lines, victim)
    assert hint in (raised.value.hint or "")
