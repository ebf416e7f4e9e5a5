"""What doctest is asked with: flags refused, orders, selections by name and by position."""

import re
from collections.abc import Sequence
from functools import cache
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


def asked(
    cases: tuple[Case, ...],
    *,
    patterns: Sequence[str] = (),
    excluded: Sequence[str] = (),
    first: int | None = None,
    last: int | None = None,
) -> Selection:
    """Select cases in doctest's words: by name, without some names, by position among what is left."""
    words = (
        patterns and f"-dt-test-case={','.join(patterns)}",
        excluded and f"-dt-test-case-exclude={','.join(excluded)}",
        first and f"-dt-first={first}",
        last and f"-dt-last={last}",
    )
    return Selection(cases=cases, words=tuple(str(word) for word in words if word))


def said(selection: Selection, *options: str) -> tuple[str, ...]:
    """Return the patterns that a selection gives to options."""
    values = (word.partition("=")[2] for word in selection.words if word.partition("=")[0] in options)
    return tuple(pattern for value in values for pattern in value.split(","))


def named(selection: Selection) -> tuple[str, ...]:
    return said(selection, "-dt-test-case", "-dt-tc")


def left_out(selection: Selection) -> tuple[str, ...]:
    return said(selection, "-dt-test-case-exclude", "-dt-tce")


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
    selection = asked(cases=(A,), patterns=("a",))
    arguments = DOCTEST.run_arguments(selection, Order(kind=OrderKind.RAND, seed=7), None)
    assert arguments == ("-dt-order-by=rand", "-dt-rand-seed=7", "-dt-case-sensitive=1", "-dt-test-case=a")


def test_a_seed_is_given_in_rand_order_only() -> None:
    for kind in OrderKind:
        arguments = DOCTEST.run_arguments(None, Order(kind=kind, seed=7), REPORT)
        assert f"-dt-order-by={kind}" in arguments
        assert ("-dt-rand-seed=7" in arguments) == (kind is OrderKind.RAND)
    assert not [text for text in DOCTEST.run_arguments(None, Order(kind=OrderKind.RAND), REPORT) if "seed" in text]


def test_all_cases_are_listed_with_the_skipped_ones_and_a_selection_as_it_runs() -> None:
    selection = asked(cases=(B, C), first=2, last=3)
    assert "-dt-no-skip=1" in DOCTEST.list_arguments(None, Order(), REPORT)
    arguments = DOCTEST.list_arguments(selection, Order(), REPORT)
    assert "-dt-no-skip=1" not in arguments
    assert {"-dt-list-test-cases", "-dt-first=2", "-dt-last=3"} < set(arguments)
    assert set(DOCTEST.run_arguments(selection, Order(), None)) < set(arguments)


def test_everything_needs_no_filter() -> None:
    assert DOCTEST.selections(ALL, ALL.cases)[0] == Selection(cases=ALL.cases)


def test_some_are_asked_for_by_name_first_then_by_what_to_leave_out_and_by_position() -> None:
    assert DOCTEST.selections(ALL, (A, C)) == (
        asked(cases=(A, C), patterns=("a", "c")),
        asked(cases=(A, C), excluded=("b", "d")),
        asked(cases=(A, C), excluded=("b",), first=1, last=2),
    )
    assert DOCTEST.selections(ALL, (B, C)) == (
        asked(cases=(B, C), patterns=("b", "c")),
        asked(cases=(B, C), excluded=("a", "d")),
        asked(cases=(B, C), first=2, last=3),
    )


def test_what_is_left_out_is_said_beside_the_position() -> None:
    selection = asked(cases=(B, D), excluded=("c", "e,"), first=2, last=3)
    words = ("-dt-case-sensitive=1", "-dt-test-case-exclude=c,e,", "-dt-first=2", "-dt-last=3")
    assert DOCTEST.run_arguments(selection, Order(), None)[1:] == words


def test_positions_do_not_count_skipped_cases() -> None:
    skipped = Case(name="s", skipped=True)
    cases = Listing(cases=(skipped, A, B))
    assert DOCTEST.selections(cases, (A, B))[0] == Selection(cases=(A, B))
    assert DOCTEST.selections(cases, (B,))[-1] == asked(cases=(B,), first=2, last=2)


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
    assert DOCTEST.selections(cases, (twin,)) == (asked(cases=(twin,), first=2, last=2),)
    assert DOCTEST.selections(cases, (twin, C)) == (asked(cases=(twin, C), excluded=("b",), first=2, last=3),)
    assert DOCTEST.selections(cases, (A, B)) == ()
    assert DOCTEST.selections(cases, (A, twin, C))[:2] == (
        asked(cases=(A, twin, C), patterns=("a", "c")),
        asked(cases=(A, twin, C), excluded=("b",)),
    )


def test_a_position_does_not_count_those_that_are_left_out_far_away() -> None:
    far = Case(name="b", file="f", line=9)
    assert DOCTEST.selections(Listing(cases=(far, A, B, C)), (A, C))[-1] == asked(
        cases=(A, C), excluded=("b",), first=1, last=2
    )


def test_an_empty_name_is_no_way_to_ask() -> None:
    empty = Case(name="", file="f", line=9)
    by_position = asked(cases=(empty,), first=2, last=2)
    assert DOCTEST.selections(Listing(cases=(A, empty)), (empty,)) == (
        asked(cases=(empty,), excluded=("a",)),
        by_position,
    )
    assert DOCTEST.selections(Listing(cases=(empty, A, B)), (empty, B)) == (
        asked(cases=(empty, B), excluded=("a",)),
        asked(cases=(empty, B), excluded=("a",), first=1, last=2),
    )
    assert DOCTEST.selections(Listing(cases=(A, empty, B, C)), (A, C)) == (asked(cases=(A, C), patterns=("a", "c")),)


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
    assert [named(selection) for selection in found if named(selection)] == [(pattern,) for pattern in patterns]
    left = DOCTEST.selections(Listing(cases=(A, case)), (A,))
    assert [left_out(selection) for selection in left if left_out(selection)] == [(pattern,) for pattern in patterns]


def many(count: int, size: int = 60) -> tuple[Case, ...]:
    return tuple(Case(name=f"{number:05d}".ljust(size, "x"), file="f", line=number) for number in range(1, count + 1))


def test_what_takes_fewer_names_comes_first_where_nobody_can_read_them_anyway() -> None:
    cases = many(200)
    most = (*cases[:90], *cases[91:])
    assert DOCTEST.selections(Listing(cases=cases), most)[0] == asked(cases=most, excluded=(cases[90].name,))
    few = (*cases[:5], cases[150])
    assert named(DOCTEST.selections(Listing(cases=cases), few)[0]) == tuple(case.name for case in few)
    assert DOCTEST.selections(Listing(cases=cases), cases[:100])[0] == asked(cases=cases[:100], first=1, last=100)


def test_a_window_and_the_victim_are_asked_for_by_position_without_what_stands_between() -> None:
    cases = many(3000, 200)
    wanted = (*cases[1000:1900], cases[2000])
    best = DOCTEST.selections(Listing(cases=cases), wanted)[0]
    between = tuple(case.name for case in cases[1900:2000])
    assert best == asked(cases=wanted, excluded=between, first=1001, last=1901)
    (other,) = DOCTEST.selections(Listing(cases=cases), wanted)[1:]
    assert (other.cases, named(other), left_out(other)) == (wanted, tuple(case.name for case in wanted), ())


def test_more_names_than_one_argument_holds_are_spread_over_both_spellings() -> None:
    cases = many(2200)
    names = ",".join(case.name for case in cases)
    few = (A, B, C, D)
    for options, wanted, listing in (
        (["-dt-test-case", "-dt-tc"], cases, (A, *cases[:1100], B, *cases[1100:])),
        (["-dt-test-case-exclude", "-dt-tce"], few, (A, *cases[:1100], B, C, *cases[1100:], D)),
    ):
        found = [one.words for one in DOCTEST.selections(Listing(cases=listing), wanted)]
        (words,) = [words for words in found if [word.partition("=")[0] for word in words] == options]
        assert ",".join(word.partition("=")[2] for word in words) == names
        assert len(words[0]) <= 131_071 < len(words[0]) + len(f",{cases[0].name}")


def test_names_that_fit_no_two_arguments_are_not_asked_for_by_name() -> None:
    cases = many(6000, 100)
    assert DOCTEST.selections(Listing(cases=cases), cases[::2]) == ()
    assert DOCTEST.selections(Listing(cases=cases), cases[1:]) == (
        asked(cases=cases[1:], excluded=(cases[0].name,)),
        asked(cases=cases[1:], first=2, last=6000),
    )


def test_the_longest_argument_is_one_that_the_kernel_takes() -> None:
    longest = 131_071 - len("-dt-test-case=")
    case = A
    for size, option in ((longest, "-dt-test-case="), (longest + 1, "-dt-tc="), (131_071 - len("-dt-tc="), "-dt-tc=")):
        case = Case(name="x" * size, file="f", line=9)
        (selection,) = [one for one in DOCTEST.selections(Listing(cases=(A, case)), (case,)) if named(one)]
        assert DOCTEST.run_arguments(selection, Order(), None)[-1] == option + case.name
    longer = Case(name=f"{case.name}x", file="f", line=9)
    assert not [one for one in DOCTEST.selections(Listing(cases=(A, longer)), (longer,)) if named(one)]


def test_seeds_that_are_one_order_are_said_and_tried_once() -> None:
    assert next(DOCTEST.seeds()) == 1
    for seed, same in ((None, True), (0, True), (1, False), (7, False)):
        remark = DOCTEST.remark(Order(kind=OrderKind.RAND, seed=seed))
        assert (remark == "seed 0, seed 1 and no seed are the same order in doctest") is same


@cache
def expression(pattern: bytes) -> re.Pattern[bytes]:
    """Make doctest's pattern a regular one: `*` is any bytes, `?` any one byte, the rest itself."""
    wild = {b"*": b".*", b"?": b"."}
    parts = (pattern[place : place + 1] for place in range(len(pattern)))
    return re.compile(b"".join(wild.get(part, re.escape(part)) for part in parts), re.DOTALL)


def matches(pattern: bytes, name: bytes) -> bool:
    return expression(pattern).fullmatch(name) is not None


@given(st.text(st.sampled_from("ab,\\*? é[-"), min_size=1, max_size=8))
def test_a_names_pattern_selects_that_name_in_every_version(name: str) -> None:
    case = Case(name=name, file="f", line=9)
    for selection in DOCTEST.selections(Listing(cases=(A, case)), (case,)):
        for pattern in named(selection):
            assert not {",", "\\"} & set(pattern)  # so that splitting the list needs no escape
            assert matches(pattern.encode(), name.encode())
            assert "*" not in pattern


def runs(words: tuple[str, ...], cases: tuple[Case, ...]) -> list[Case]:
    """Return what doctest runs for these words: all names in either spelling, then positions among what is left."""
    values: dict[str, str] = dict(word.split("=", 1) for word in words)

    def is_named(case: Case, *options: str) -> bool:
        patterns = [pattern for option in options for pattern in values.get(option, "").split(",") if pattern]
        return any(matches(pattern.encode(), case.name.encode()) for pattern in patterns)

    passing = [case for case in cases if is_named(case, "-dt-test-case", "-dt-tc") or "-dt-test-case" not in values]
    passing = [case for case in passing if not is_named(case, "-dt-test-case-exclude", "-dt-tce")]
    return passing[int(values.get("-dt-first", 1)) - 1 : int(values.get("-dt-last", len(passing)))]


@given(st.lists(st.text(st.sampled_from("ab ,?"), max_size=3), min_size=1, max_size=6), st.data())
def test_every_selection_is_of_the_wanted_cases_and_the_first_is_right_where_names_are_plain(
    names: list[str], data: st.DataObject
) -> None:
    cases = tuple(Case(name=name, line=line, file="f") for line, name in enumerate(names, 1))
    chosen = data.draw(st.sets(st.integers(0, len(cases) - 1), min_size=1))
    wanted = tuple(cases[place] for place in sorted(chosen))
    found = DOCTEST.selections(Listing(cases=cases), wanted)
    assert {selection.cases for selection in found} <= {wanted}
    if len({*names, ""}) > len(names) and not set(",?") & set("".join(names)):
        assert runs(DOCTEST.run_arguments(found[0], Order(), None), cases) == [*wanted]


@given(st.sets(st.integers(0, 19)), st.integers(0, 15))
def test_a_window_and_any_others_can_always_be_asked_for(others: set[int], start: int) -> None:
    cases = many(20, 120)
    wanted = tuple(case for place, case in enumerate(cases) if place in others or start <= place < start + 5)
    for selection in DOCTEST.selections(Listing(cases=cases), wanted):
        assert runs(DOCTEST.run_arguments(selection, Order(), None), cases) == [*wanted]
