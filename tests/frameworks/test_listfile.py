"""The contract of `listfile`: what it asks with, and what it makes of listings and reports."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.errors import UsageError
from pooldiag.frameworks import FRAMEWORKS
from pooldiag.frameworks.base import CaseEvent, InputFile, ListingError, arranged
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection
from pooldiag.model.events import CaseStarted
from pooldiag.model.outcomes import CaseResult, CaseStatus, FrameworkReport

LISTFILE = FRAMEWORKS["listfile"]
REPORT, NAMES = Path("/r/rep"), Path("/r/cases.txt")
FILE, SEED_7 = Order(), Order(kind=OrderKind.RAND, seed=7)
A, B, C, D = (Case(name=name) for name in ("a", "b b", "c", "d"))
ALL = Listing(cases=(A, B, C, D))
MANY = Listing(cases=tuple(Case(name=f"case {number}") for number in range(1, 10)))  # more than anybody types
LINES = st.sampled_from(
    ["begin a", "begin b b", "begin x", "pass", "pass 2", "fail a.c:1: é", "skip", "", "begin", "end"]
)


def select(*wanted: Case, listing: Listing = ALL) -> Selection:
    (selection,) = LISTFILE.selections(listing, wanted)
    return selection


def read(report: str | bytes, selection: Selection | None) -> tuple[list[CaseEvent], FrameworkReport, str | None]:
    reader = LISTFILE.reader(selection)
    events = reader.feed(report if isinstance(report, bytes) else report.encode())
    return [*events], reader.result(), reader.problem()


def statuses(report: str | bytes, *asked: Case) -> list[tuple[str, CaseStatus]]:
    _, result, _ = read(report, Selection(cases=asked))
    return [(one.case.name, one.status) for one in result.results]


@pytest.mark.parametrize("flag", ["--list-cases", "--run-cases", "--report", "--case"])
@pytest.mark.parametrize("value", ["", "=x"])
def test_a_flag_of_the_contract_is_refused_by_name(flag: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"^{flag} ") as raised:
        LISTFILE.refuse(("suite", flag + value))
    assert raised.value.hint
    LISTFILE.refuse((f"{flag}s{value}", f"x{flag}", flag[1:]))


def test_a_listing_is_asked_for_without_a_selection_or_an_order() -> None:
    assert LISTFILE.list_arguments(select(A), SEED_7, REPORT) == ("--list-cases=/r/rep",)


def test_a_run_takes_the_names_from_a_file_in_any_wanted_order() -> None:
    selection = select(*MANY.cases[::-1], listing=MANY)
    assert selection.cases == MANY.cases[::-1]
    assert LISTFILE.run_arguments(selection, FILE, REPORT) == ("--run-cases=/r/cases.txt", "--report=/r/rep")
    text = "".join(f"case {number}\n" for number in range(9, 0, -1)).encode()
    assert LISTFILE.input_files(selection, FILE, REPORT) == (InputFile(path=NAMES, content=text),)
    assert not LISTFILE.runs_as_typed(selection)


def test_the_line_for_people_names_the_cases_itself_and_so_does_a_run_of_a_few() -> None:
    few = select(C, B)
    assert LISTFILE.run_arguments(few, FILE, None) == ("--case=c", "--case=b b")
    assert LISTFILE.run_arguments(few, FILE, REPORT) == ("--case=c", "--case=b b", "--report=/r/rep")
    assert LISTFILE.input_files(few, FILE, REPORT) == ()
    assert LISTFILE.runs_as_typed(few)


def test_everything_as_listed_needs_no_names() -> None:
    for selection in (None, select(*ALL.cases)):
        assert LISTFILE.run_arguments(selection, FILE, REPORT) == ("--report=/r/rep",)
        assert LISTFILE.run_arguments(selection, FILE, None) == ()
        assert LISTFILE.input_files(selection, FILE, REPORT) == ()


def test_everything_in_another_order_is_named() -> None:
    shuffled = arranged(MANY, SEED_7)
    whole = select(*shuffled.cases, listing=shuffled)
    (file,) = LISTFILE.input_files(whole, SEED_7, REPORT)
    in_order = [case.name for case in MANY.cases]
    assert file.content.decode().splitlines() == [case.name for case in shuffled.cases] != in_order
    swapped = select(B, A, C, D)
    assert LISTFILE.run_arguments(swapped, FILE, None) == ("--case=b b", "--case=a", "--case=c", "--case=d")


@pytest.mark.parametrize("wanted", [(), (A, A), (Case(name="x"), A)], ids=["none", "one twice", "a stranger"])
def test_what_cannot_run_like_that_cannot_be_asked_for(wanted: tuple[Case, ...]) -> None:
    assert LISTFILE.selections(ALL, wanted) == ()


def test_a_listing_has_the_names_as_they_are() -> None:
    listing = LISTFILE.parse_listing(b"case  two  blanks \ncase end\ncase tab\t\r\ncase \xc3\xa9\xff\nend\n")
    assert [case.name for case in listing.cases] == [" two  blanks ", "end", "tab\\x09\\x0D", "é\\xFF"]
    assert [case.name_bytes for case in listing.cases] == [None, None, b"tab\t\r", b"\xc3\xa9\xff"]
    more = Listing(cases=(*listing.cases, *MANY.cases))
    (file,) = LISTFILE.input_files(select(*listing.cases[::-1], *MANY.cases, listing=more), FILE, REPORT)
    assert file.content.startswith(b"\xc3\xa9\xff\ntab\t\r\nend\n two  blanks \ncase 1\n")
    report = b"begin \xc3\xa9\xff\npass\nbegin tab\t\r\npass\n"
    assert [name for name, _ in statuses(report, *listing.cases[:1:-1])] == ["é\\xFF", "tab\\x09\\x0D"]


def test_a_listing_of_no_cases_is_one() -> None:
    assert LISTFILE.parse_listing(b"end\n") == Listing(cases=())


@pytest.mark.parametrize(
    ("listing", "problem"),
    [
        (b"", "no listing"),
        (b"case a\ncase b\n", "cut: its 2 lines"),
        (b"case a\nend", "cut: its 1 lines"),
        (b"case a\nen", "cut"),
        (b"\n", "cut"),
        (b"case a\nend\ncase b\n", "cut"),
        (b"a\nend\n", "line 1 of the listing of test cases names none: 'a'"),
        (b"case a\n\nend\n", "line 2 "),
        (b"case \nend\n", "line 1 "),
        (b"case a\0b\nend\n", r"line 1 .*x00"),
        (b"begin a\npass\nend\n", "line 1 .*'begin a'"),
        (b"case a\nend\nend\n", "line 2 .*'end'"),
        (b"case a\ncase b\ncase a\nend\n", "'a' more than once"),
    ],
)
def test_a_listing_that_breaks_the_contract_is_none(listing: bytes, problem: str) -> None:
    with pytest.raises(ListingError, match=problem) as raised:
        LISTFILE.parse_listing(listing)
    assert "case NAME" in (raised.value.hint or "")


def test_a_report_tells_cases_as_they_begin_and_end() -> None:
    events, result, problem = read("begin a\npass 12\nbegin b b\nfail x is 3\nend\n", Selection(cases=(A, B)))
    passed = CaseResult(case=A, status=CaseStatus.PASSED, assertions_passed=12)
    failed = CaseResult(case=B, status=CaseStatus.FAILED, assertions_failed=1, message="x is 3")
    assert events == [CaseStarted(name="a", number=1), passed, CaseStarted(name="b b", number=2), failed]
    assert result == FrameworkReport(results=(passed, failed), assertions_passed=12, assertions_failed=1)
    assert problem is None


@pytest.mark.parametrize(
    ("line", "assertions"),
    [("pass", 1), ("pass 0", 0), ("pass 7", 7), ("pass 0.3 s", 1), ("skip", 0), ("skip no GPU", 0)],
)
def test_a_case_that_skipped_or_says_so_asserted_nothing(line: str, assertions: int) -> None:
    (result,) = read(f"begin a\n{line}\n", Selection(cases=(A,)))[1].results
    assert (result.status, result.assertions) == (CaseStatus.PASSED, assertions)


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("fail", None, None),
        ("fail no luck", None, "no luck"),
        ("fail t/a.py:12: x == 3: no", "t/a.py:12", "x == 3: no"),
        ("fail t/a.py:12", "t/a.py:12", None),
        ("fail in t/a.py:12: no", None, "in t/a.py:12: no"),
        ("fail \xff" + "x" * 400, None, "\xff" + "x" * 298 + "…"),
        (
            r"fail a.py:1: AssertionError: scale\nassert 1.0 == 1.5",
            "a.py:1",
            "AssertionError: scale\nassert 1.0 == 1.5",
        ),
        (r"fail one  \n\n  two\n \nthree\nfour", None, "one\n  two\nthree"),
        (r"fail C:\\new\nat \\\\host\x", None, "C:\\new\nat \\\\host\\x"),
        (r"fail \n", None, None),
        (r"fail my\ tests/a\\b.py:3: no\ \\ ", "my tests/a\\b.py:3", "no \\"),
        (r"fail my tests/a.py:3: no", None, "my tests/a.py:3: no"),
    ],
)
def test_a_failure_has_its_place_and_its_message(line: str, place: str | None, message: str | None) -> None:
    (result,) = read(f"begin a\n{line}\n", Selection(cases=(A,)))[1].results
    assert (result.status, result.place, result.message) == (CaseStatus.FAILED, place, message)


@pytest.mark.parametrize(
    "cut", ["begin b b\n", "begin b b\npas", "begin b b\npass", "begin b b\nunknown\n", "begin b b\nend\n"]
)
def test_a_case_without_a_result_is_unfinished(cut: str) -> None:
    assert statuses("begin a\npass\n" + cut, A, B) == [("a", CaseStatus.PASSED), ("b b", CaseStatus.UNFINISHED)]


def test_the_next_case_ends_the_one_without_a_result() -> None:
    report = "begin a\nbegin b b\npass\npass\n"
    assert statuses(report, A, B) == [("a", CaseStatus.UNFINISHED), ("b b", CaseStatus.PASSED)]


def test_only_a_last_line_completes_a_report_and_nothing_counts_after_it() -> None:
    for line in ("ending", "end "):
        assert statuses(f"begin a\npass\n{line}\nbegin b b\npass\n", A, B)[1:] == [("b b", CaseStatus.PASSED)]
    assert statuses("begin a\npass\nend\nbegin b b\npass\n", A, B) == [("a", CaseStatus.PASSED)]


def test_garbage_is_no_error_and_counts_as_nothing() -> None:
    report = b"\xff\0\nbegin\nbegin \npass\nfail\nBEGIN a\nbegin a\n\xff\npasses\n" + b"x" * 300_000 + b"\npass\nend\n"
    assert statuses(report, A) == [("a", CaseStatus.PASSED)]
    assert read(report, Selection(cases=(A,)))[2] is None


def test_of_a_line_without_end_only_the_head_is_kept() -> None:
    reader = LISTFILE.reader(None)
    for piece in (b"begin ", *[b"x" * 2**16] * 10, b"\npass\n"):
        reader.feed(piece)
    for result in (reader.result(), read("begin " + "x" * 655_360 + "\npass\n", None)[1]):
        assert [len(f"begin {one.case.name}") for one in result.results] == [2**18]


@pytest.mark.parametrize(
    ("report", "problem", "counted"),
    [
        ("begin x\npass\nbegin a\npass\n", "ran 'x' where 'a' was asked for", ["a"]),
        ("begin c\npass\nbegin a\npass\n", "ran 'c' where 'a' was asked for", ["c", "a"]),
        ("begin a\npass\nbegin a\nfail\n", "ran 'a' where 'c' was asked for", ["a"]),
        ("begin a\npass\nbegin c\npass\nbegin d\nfail\n", "ran 'd' where nothing more was asked for", ["a", "c"]),
    ],
)
def test_a_case_out_of_turn_is_the_problem_of_the_run(report: str, problem: str, counted: list[str]) -> None:
    _, result, found = read(report, Selection(cases=(A, C)))
    assert found == f"the target {problem}"
    assert [one.case.name for one in result.results] == counted


def test_without_a_selection_whatever_runs_is_counted() -> None:
    _, result, problem = read("begin x\npass\n", None)
    assert [one.case.name for one in result.results] == ["x"]
    assert problem is None


@given(st.lists(LINES, max_size=12), st.lists(st.integers(0, 60), max_size=6))
def test_a_report_is_read_the_same_however_it_is_cut(lines: list[str], cuts: list[int]) -> None:
    data = "\n".join(["begin a", *lines]).encode()
    reader = LISTFILE.reader(Selection(cases=(A, B)))
    bounds = [0, *sorted(cuts), len(data)]
    events = [event for start, end in pairwise(bounds) for event in reader.feed(data[start:end])]
    assert (events, reader.result(), reader.problem()) == read(data, Selection(cases=(A, B)))


def test_an_order_is_made_of_the_listing() -> None:
    assert arranged(ALL, FILE) == arranged(ALL, Order(kind=OrderKind.SUITE)) == ALL
    named = Listing(cases=(C, A, B))
    assert arranged(named, Order(kind=OrderKind.NAME)).cases == (A, B, C)
    assert arranged(named, Order(kind=OrderKind.REVERSE)).cases == (B, A, C)
    assert LISTFILE.run_arguments(select(*ALL.cases), Order(kind=OrderKind.REVERSE), None) == LISTFILE.run_arguments(
        select(*ALL.cases), Order(kind=OrderKind.NAME), None
    )
    # A seed must mean on every machine, and in every version, what it meant in an old report.
    many = Listing(cases=tuple(Case(name=f"{number}") for number in range(6)))
    assert "".join(case.name for case in arranged(many, SEED_7).cases) == "314205"


@given(st.sets(st.integers(0, 30), min_size=2), st.integers(0, 50))
def test_some_cases_keep_the_order_that_they_have_among_all(chosen: set[int], seed: int) -> None:
    order = Order(kind=OrderKind.RAND, seed=seed)
    every = tuple(Case(name=f"test {number}") for number in range(31))
    some = tuple(every[number] for number in sorted(chosen))
    whole = arranged(Listing(cases=every), order).cases
    assert arranged(Listing(cases=some), order).cases == tuple(case for case in whole if case in some)


def test_seeds_are_different_orders() -> None:
    every = Listing(cases=tuple(Case(name=f"test {number}") for number in range(31)))
    orders = {arranged(every, Order(kind=OrderKind.RAND, seed=seed)).cases for seed in range(20)}
    assert len(orders) == 20
    assert arranged(every, Order(kind=OrderKind.RAND)) == arranged(every, Order(kind=OrderKind.RAND, seed=0))
