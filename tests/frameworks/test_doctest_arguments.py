"""What doctest is asked with: flags refused, orders, selections by name and by position."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.errors import UsageError
from pooldiag.frameworks import FRAMEWORKS
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection

DOCTEST = FRAMEWORKS["doctest"]
REPORT = Path("/r/rep.xml")
A, B, C, D = (Case(name=name, file="f", line=line) for line, name in enumerate("abcd", 1))
ALL = Listing(cases=(A, B, C, D))


@pytest.mark.parametrize("prefix", ["-", "--", "---", "-dt-", "--dt-"])
@pytest.mark.parametrize(
    "flag",
    [
        *("r=xml", "reporters=junit", "o=x", "out=x", "tc=a", "test-case=a", "tc", "test-case", "q", "quiet=1"),
        *("cs", "cs=0", "case-sensitive", "ob=rand", "order-by=name", "rs=7", "rand-seed=7", "f=2", "first=2"),
        *("l=2", "last=2", "aa=1", "abort-after=1", "ns", "ns=1", "no-skip", "nr", "no-run=true", "e", "exit=0"),
        *("h", "help", "?", "v", "version", "c", "count", "ltc", "list-test-cases", "lts", "list-test-suites"),
        *("lr", "list-reporters"),
    ],
)
def test_a_flag_that_fights_ours_is_refused_by_name(prefix: str, flag: str) -> None:
    with pytest.raises(UsageError) as raised:
        DOCTEST.refuse(("data.bin", f"{prefix}{flag}"))
    assert str(raised.value).startswith(f"{prefix}{flag}".partition("=")[0] + " ")
    assert raised.value.hint


@pytest.mark.parametrize(
    "argument",
    [
        *("-ts=a", "-tse=a", "--dt-test-case-exclude=a", "-tce=a", "-sf=a", "-sfe=a", "-sc=a", "-sce=a", "-scfl=2"),
        *("-s", "-nt", "-ne", "-nc", "-fc", "-nb", "-d", "-nss", "-m", "-npf", "-nln", "-nv"),
        *("tc=a", "x-tc=a", "-x-tc=a", "-help=1", "-c=5", "-o", "-f", "out", "-TC=a", "-tcx=a", "", "-", "--"),
    ],
)
def test_what_doctest_takes_for_something_else_is_not_refused(argument: str) -> None:
    DOCTEST.refuse((argument,))


def test_a_run_is_asked_for_with_prefixed_options_and_values_after_an_equals_sign() -> None:
    arguments = DOCTEST.run_arguments(None, Order(), REPORT)
    assert all(re.fullmatch("-dt-[a-z-]+=.+", argument) for argument in arguments)
    for wanted in ("-dt-reporters=xml", f"-dt-out={REPORT}", "-dt-exit=1", "-dt-duration=1", "-dt-order-by=file"):
        assert wanted in arguments
    assert "-dt-case-sensitive=1" in arguments
    assert "-dt-no-skip=1" not in arguments


def test_the_line_for_people_keeps_the_usual_report() -> None:
    selection = Selection(cases=(A,), patterns=("a",))
    arguments = DOCTEST.run_arguments(selection, Order(kind=OrderKind.RAND, seed=7), None)
    assert arguments == ("-dt-order-by=rand", "-dt-rand-seed=7", "-dt-case-sensitive=1", "-dt-test-case=a")


def test_a_seed_is_given_in_rand_order_only() -> None:
    for kind in OrderKind:
        arguments = DOCTEST.run_arguments(None, Order(kind=kind, seed=7), REPORT)
        assert f"-dt-order-by={kind}" in arguments
        assert ("-dt-rand-seed=7" in arguments) == (kind is OrderKind.RAND)
    assert not [text for text in DOCTEST.run_arguments(None, Order(kind=OrderKind.RAND), REPORT) if "seed" in text]


def test_all_cases_are_listed_with_the_skipped_ones_and_a_selection_as_it_runs() -> None:
    selection = Selection(cases=(B, C), first=2, last=3)
    assert "-dt-no-skip=1" in DOCTEST.list_arguments(None, Order(), REPORT)
    arguments = DOCTEST.list_arguments(selection, Order(), REPORT)
    assert "-dt-no-skip=1" not in arguments
    assert {"-dt-list-test-cases", "-dt-first=2", "-dt-last=3"} < set(arguments)
    assert set(DOCTEST.run_arguments(selection, Order(), None)) < set(arguments)


def test_everything_needs_no_filter() -> None:
    assert DOCTEST.selections(ALL, ALL.cases)[0] == Selection(cases=ALL.cases)


def test_some_are_asked_for_by_name_and_neighbours_by_position_too() -> None:
    assert DOCTEST.selections(ALL, (A, C)) == (Selection(cases=(A, C), patterns=("a", "c")),)
    assert DOCTEST.selections(ALL, (B, C)) == (
        Selection(cases=(B, C), patterns=("b", "c")),
        Selection(cases=(B, C), first=2, last=3),
    )


def test_positions_do_not_count_skipped_cases() -> None:
    skipped = Case(name="s", skipped=True)
    cases = Listing(cases=(skipped, A, B))
    assert DOCTEST.selections(cases, (A, B))[0] == Selection(cases=(A, B))
    assert DOCTEST.selections(cases, (B,))[-1] == Selection(cases=(B,), first=2, last=2)


@pytest.mark.parametrize(
    "wanted",
    [(), (Case(name="s", skipped=True),), (B, A), (A, A), (Case(name="x"),)],
    ids=["none", "a skipped one", "another order", "one twice", "a stranger"],
)
def test_what_cannot_run_like_that_cannot_be_asked_for(wanted: tuple[Case, ...]) -> None:
    cases = Listing(cases=(Case(name="s", skipped=True), *ALL.cases))
    assert DOCTEST.selections(cases, wanted) == ()


def test_a_name_that_another_case_has_is_no_way_to_ask() -> None:
    twin = Case(name="a", file="f", line=1, twin=1)
    cases = Listing(cases=(A, twin, B, C))
    assert DOCTEST.selections(cases, (twin,)) == (Selection(cases=(twin,), first=2, last=2),)
    assert DOCTEST.selections(cases, (twin, C)) == ()
    assert DOCTEST.selections(cases, (A, twin, C)) == (Selection(cases=(A, twin, C), patterns=("a", "c")),)


def test_an_empty_name_is_no_way_to_ask() -> None:
    empty = Case(name="", file="f", line=9)
    assert DOCTEST.selections(Listing(cases=(A, empty)), (empty,)) == (Selection(cases=(empty,), first=2, last=2),)
    assert DOCTEST.selections(Listing(cases=(empty, A, B)), (empty, B)) == ()


@pytest.mark.parametrize(
    ("name", "raw", "patterns"),
    [
        ("a,b\\c*d?e", None, ["a?b?c?d?e"]),
        ("two words", None, ["two words", "two?words"]),  # XML folds a line end into a space
        ("\\xE9", b"\xe9", ["\udce9", "?xE9"]),
        ("\\x01,", b"\x01,", ["\x01?", "?x01?"]),
        ("[a] {b} ~c -d é", None, ["[a] {b} ~c -d é", "[a]?{b}?~c?-d?é"]),
    ],
)
def test_a_name_becomes_a_pattern_that_every_version_understands(
    name: str, raw: bytes | None, patterns: list[str]
) -> None:
    case = Case(name=name, file="f", line=9, name_bytes=raw)
    found = DOCTEST.selections(Listing(cases=(A, case)), (case,))
    assert [selection.patterns for selection in found if selection.patterns] == [(pattern,) for pattern in patterns]


def test_more_names_than_one_argument_holds_are_not_asked_for_by_name() -> None:
    cases = tuple(Case(name=f"{number:05d}" + "x" * 95, file="f", line=number) for number in range(1, 1401))
    wanted = cases[1:]
    found = DOCTEST.selections(Listing(cases=cases), wanted)
    assert found == (Selection(cases=wanted, first=2, last=1400),)
    assert DOCTEST.selections(Listing(cases=cases), cases[::2])[0].patterns  # 70,714 bytes still fit


def test_the_longest_argument_is_one_that_the_kernel_takes() -> None:
    fits = 131_071 - len("-dt-test-case=")
    for size, by_name in ((fits, True), (fits + 1, False)):
        case = Case(name="x" * size, file="f", line=9)
        found = DOCTEST.selections(Listing(cases=(A, case)), (case,))
        assert any(selection.patterns for selection in found) == by_name


def matches(pattern: bytes, name: bytes) -> bool:
    """Match as doctest does: `*` is any bytes, `?` any one byte, the rest itself."""
    wild = {b"*": b".*", b"?": b"."}
    parts = (pattern[place : place + 1] for place in range(len(pattern)))
    return re.fullmatch(b"".join(wild.get(part, re.escape(part)) for part in parts), name, re.DOTALL) is not None


@given(st.text(st.sampled_from("ab,\\*? é[-"), min_size=1, max_size=8))
def test_a_names_pattern_selects_that_name_in_every_version(name: str) -> None:
    case = Case(name=name, file="f", line=9)
    for selection in DOCTEST.selections(Listing(cases=(A, case)), (case,)):
        for pattern in selection.patterns:
            assert not {",", "\\"} & set(pattern)  # so that splitting the list needs no escape
            assert matches(pattern.encode(), name.encode())
            assert "*" not in pattern


@given(st.lists(st.text(st.sampled_from("ab,?"), max_size=3), min_size=1, max_size=6), st.data())
def test_every_selection_is_of_the_wanted_cases_in_their_order(names: list[str], data: st.DataObject) -> None:
    cases = tuple(Case(name=name, line=line, file="f") for line, name in enumerate(names, 1))
    chosen = data.draw(st.sets(st.integers(0, len(cases) - 1), min_size=1))
    wanted = tuple(cases[place] for place in sorted(chosen))
    for selection in DOCTEST.selections(Listing(cases=cases), wanted):
        assert selection.cases == wanted
        if selection.first is not None and selection.last is not None:
            assert cases[selection.first - 1 : selection.last] == wanted
