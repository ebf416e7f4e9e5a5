"""Listings of doctest cases: which are believed, and what names they hold."""

import pytest

from pooldiag.errors import BlockedError
from pooldiag.frameworks import FRAMEWORKS
from pooldiag.frameworks.base import ListingError, confirms
from pooldiag.model.cases import Case, Listing, Selection
from tests.frameworks.reports import HEAD, listing, run, sample

parse = FRAMEWORKS["doctest"].parse_listing


def only(attributes: str) -> Case:
    (case,) = parse(listing(attributes)).cases
    return case


@pytest.mark.parametrize("version", ["2.4.9", "2.5.2"])
def test_a_captured_listing_holds_every_case_in_order(version: str) -> None:
    found = parse(sample(version, "list-xml"))
    assert found.framework_version == version
    assert len(found.cases) == 32
    assert [case.line for case in found.cases] == sorted(case.line or 0 for case in found.cases)
    assert [case.name for case in found.cases if case.skipped] == ["marked skip"]
    assert len(found.runnable) == 31
    assert len(set(found.cases)) == 32


def test_a_listing_of_before_2_4_7_does_not_tell_which_cases_are_skipped() -> None:
    assert parse(listing('name="a" skipped="false"')).tells_skipped
    assert not parse(listing('name="a"')).tells_skipped


def test_a_seeded_listing_is_in_the_seeds_order() -> None:
    names = [case.name for case in parse(sample("2.4.9", "list-xml-rand7")).cases]
    assert len(names) == 13
    assert names.index("bf16 PRODUCTION forward, one layer (CPU backend)") == 3


def test_a_crash_after_the_list_does_not_spoil_it() -> None:
    assert len(parse(sample("2.4.9", "list-then-crash-xml")).cases) == 4
    assert len(parse(listing('name="a"', end='<OverallResultsTestCases unskipped="1"/>')).cases) == 1


def test_no_case_at_all_is_a_listing() -> None:
    assert parse(sample("2.4.9", "list-nothing-matches")).cases == ()


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (b"", "no listing of test cases was written"),
        (b"<?xml", "no listing of test cases was written"),
        (sample("2.4.9", "main-deaf-list"), "no listing of test cases was written"),
        (sample("2.4.9", "main-noisy-list-xml"), "no listing of test cases was written"),
        (b'<?xml version="1.0"?><testsuites></testsuites>', "starts with <testsuites>, not <doctest>"),
        (sample("2.4.9", "fail-xml"), "the target ran them"),
        (sample("2.4.9", "_exit0-xml"), "the target ran them"),
        (listing('name="a"', 'name="b"', end=""), "cut after 2"),
        (run(), "the target ran them"),
        (f"<!DOCTYPE doctest>{HEAD[39:]}".encode(), "the report has a DOCTYPE"),
    ],
)
def test_what_is_no_listing_is_refused_with_the_reason(report: bytes, reason: str) -> None:
    with pytest.raises(ListingError) as raised:
        parse(report)
    assert reason in str(raised.value)
    assert raised.value.hint is not None
    assert isinstance(raised.value, BlockedError)


def test_a_listing_cut_anywhere_before_its_count_is_refused() -> None:
    whole = sample("2.4.9", "list-xml")
    for end in range(0, whole.index(b"<OverallResultsTestCases"), 97):
        with pytest.raises(ListingError):
            parse(whole[:end])


def test_an_empty_name_has_no_attribute() -> None:
    assert only('filename="f" line="3"') == Case(name="", file="f", line=3)


def test_a_suite_and_a_place_are_told() -> None:
    case = only('name="a" testsuite="s" filename="f" line="3" skipped="true"')
    assert case == Case(name="a", suite="s", file="f", line=3, skipped=True)


def test_an_old_listing_has_neither_places_nor_skips() -> None:
    assert only('name="a"') == Case(name="a")
    assert only('name="a" filename="f" line="0"').place is None


def test_line_ends_and_tabs_come_back_as_spaces() -> None:
    assert only('name="a\nb\tc"').name == "a b c"


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("plain", None),
        ("\\x41 is written as such", None),  # doctest never escapes what can be printed
        ("\\xC3\\xA9 is good UTF-8, which doctest does not escape", None),
        ("\\xe9 has small letters, as doctest does not", None),
        ("latin1 \\xE9 byte", b"latin1 \xe9 byte"),
        ("\\x41 beside \\xE9", b"\\x41 beside \xe9"),
        ("ctrl \\x01\\x7F", b"ctrl \x01\x7f"),
        ("\\x1B[31mred\\x1B[0m", b"\x1b[31mred\x1b[0m"),
        ("é \\xFF", "é ".encode() + b"\xff"),
    ],
)
def test_escapes_in_a_name_give_its_bytes(name: str, raw: bytes | None) -> None:
    case = only(f'name="{name}"')
    assert (case.name, case.name_bytes) == (name, raw)


def test_characters_that_doctest_forgets_to_escape_are_escaped() -> None:
    (case,) = parse(listing('name="a@b"').replace(b"@", b"\x0b\x0c\xed\xa0\x80")).cases
    assert case.name == "a\\x0B\\x0C\\xED\\xA0\\x80b"
    assert case.name_bytes == b"a\x0b\x0c\xed\xa0\x80b"


def test_twins_are_numbered() -> None:
    same, other = 'name="a" filename="f" line="1"', 'name="a" filename="f" line="2"'
    assert [case.twin for case in parse(listing(same, same, other, same)).cases] == [0, 1, 0, 2]


def test_a_selection_is_confirmed_by_the_same_cases_in_the_same_order() -> None:
    a, b = Case(name="a"), Case(name="b")
    second = Case(name="a", twin=1)
    assert confirms(Listing(cases=(a, b)), Selection(cases=(a, b)))
    assert confirms(Listing(cases=(a,)), Selection(cases=(second,)))
    assert confirms(Listing(cases=(a, second)), Selection(cases=(a, second)))
    assert not confirms(Listing(cases=(a,)), Selection(cases=(a, second)))
    assert not confirms(Listing(cases=(b, a)), Selection(cases=(a, b)))
    assert not confirms(Listing(cases=()), Selection(cases=(a,)))
