"""doctest itself, as the example targets are built with it: what is asked for is what runs."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pooldiag.frameworks.base import ListingError, confirms
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.outcomes import CaseStatus
from tests.frameworks.binaries import DOCTEST, Binary

pytestmark = pytest.mark.process


@pytest.fixture
def zoo(examples_build: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Binary:
    return Binary(path=examples_build / "zoo" / request.param, report=tmp_path / "report.xml")


MANY = """
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <deque>
#include <string>
static void passes() { CHECK(true); }
static int add() {
    static std::deque<std::string> names;
    for (unsigned number = 0; number < 2500; ++number) {
        std::string text = std::to_string(number) + ", with a comma; of sixty bytes ";
        names.push_back(text + std::string(60 - text.size(), 'x'));
        doctest::detail::regTest(
            doctest::detail::TestCase(passes, __FILE__, number, doctest::detail::TestSuite() * "")
            * names.back().c_str());
    }
    return 0;
}
static const int added = add();
"""


@pytest.fixture
def many(compiled: Callable[..., Path], tmp_path: Path) -> Binary:
    """2,500 cases with names of 60 bytes: more than one argument holds, and all of them than two."""
    return Binary(path=compiled("many", MANY, "-std=c++17", "-O0"), report=tmp_path / "report.xml")


def on(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("zoo", [name], indirect=True, ids=[name])


def ran(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"ran#(\d+)", text)]


@on("hostile_names")
def test_every_case_with_a_hostile_name_can_be_selected_alone(zoo: Binary) -> None:
    cases = zoo.listing().runnable
    everything, text = zoo.run(None)
    assert [result.case for result in everything.results] == list(cases)
    for case, index in zip(cases, ran(text), strict=True):
        selection = next(zoo.verified((case,)))
        report, alone = zoo.run(selection)
        assert [result.case for result in report.results] == [case]
        assert ran(alone) == [index]


@on("hostile_names")
@pytest.mark.parametrize("order", [Order(), Order(kind=OrderKind.RAND, seed=7), Order(kind=OrderKind.NAME)], ids=str)
def test_a_subset_runs_as_selected_in_every_order(zoo: Binary, order: Order) -> None:
    cases = zoo.listing(order=order).runnable
    everything, _ = zoo.run(None, order)
    assert [(result.case.name, result.case.line) for result in everything.results] == [
        (case.name, case.line) for case in cases
    ]
    chosen = random.Random(3)
    for size in (2, 10, 40):
        plain = [case for case in cases if case.name not in {"", "duplicate", "what? now", "whatX now"}]
        plain = [case for case in plain if "\\x1B" not in case.name and not case.name.startswith("twin")]
        picked = set(chosen.sample(plain, min(size, len(plain))))
        wanted = tuple(case for case in cases if case in picked)
        report, _ = zoo.run(next(zoo.verified(wanted, order)), order)
        assert [result.case for result in report.results] == list(wanted)


@on("hostile_names")
def test_bytes_that_are_not_utf8_select_by_name(zoo: Binary) -> None:
    (case,) = [case for case in zoo.listing().cases if case.name.startswith("invalid")]
    assert case.name_bytes == b"invalid \xff\xfe utf-8 \xc3("
    assert any(word.startswith("-dt-test-case=") for word in next(zoo.verified((case,))).words)


@on("hostile_names")
def test_a_name_that_only_looks_escaped_is_not_mistaken_for_the_real_one(zoo: Binary) -> None:
    real, look_alike = [case for case in zoo.listing().cases if case.name == "\\x1B[31mred\\x1B[0m"]
    assert ran(zoo.run(next(zoo.verified((real,))))[1]) == [18]
    assert ran(zoo.run(next(zoo.verified((look_alike,))))[1]) == [35]


@on("hostile_names")
def test_two_folded_names_apart_from_each_other_are_selected(zoo: Binary) -> None:
    wanted = tuple(case for case in zoo.listing().cases if case.name in {"line one line two", "plain"})
    assert ran(zoo.run(next(zoo.verified(wanted)))[1]) == [1, 23]


@on("all_skipped")
def test_skipped_cases_are_listed_and_do_not_run(zoo: Binary) -> None:
    listing = zoo.listing()
    assert len(listing.cases) == 3
    assert listing.runnable == ()
    assert zoo.run(None)[0].results == ()


@on("deaf_main")
def test_a_main_that_ignores_its_arguments_gives_no_listing(zoo: Binary) -> None:
    with pytest.raises(ListingError, match="no listing"):
        zoo.listing()


@on("crash_before_main")
def test_a_target_that_dies_before_main_gives_no_listing(zoo: Binary) -> None:
    with pytest.raises(ListingError, match="no listing"):
        zoo.listing()


@on("crash_after_summary")
def test_a_target_that_dies_after_its_list_is_listed(zoo: Binary) -> None:
    assert [case.name for case in zoo.listing().cases] == ["first", "second", "third"]
    report, _ = zoo.run(None)
    assert all(result.status is CaseStatus.PASSED for result in report.results)


@on("own_main")
def test_options_reach_a_build_that_takes_the_prefixed_ones_only(zoo: Binary) -> None:
    cases = zoo.listing().runnable
    assert cases
    report, _ = zoo.run(next(zoo.verified(cases[:1])))
    assert [result.case for result in report.results] == [cases[0]]


@on("crash_zero_failed")
def test_the_case_that_crashed_is_told_beside_zero_failed_assertions(zoo: Binary) -> None:
    report, _ = zoo.run(None)
    assert [result.status for result in report.results] == [*[CaseStatus.PASSED] * 3, CaseStatus.CRASHED]
    assert (report.assertions_passed, report.assertions_failed) == (44, 0)
    assert report.results[-1].signal == "SIGSEGV"


@on("exit_in_middle")
def test_the_case_that_left_the_process_is_unfinished(zoo: Binary) -> None:
    report, _ = zoo.run(None)
    assert [result.status for result in report.results] == [*[CaseStatus.PASSED] * 2, CaseStatus.UNFINISHED]


@on("vacuous")
def test_cases_without_an_assertion_are_seen_one_by_one(zoo: Binary) -> None:
    report, _ = zoo.run(None)
    assert sum(result.assertions == 0 for result in report.results) == 5
    assert all(result.status is CaseStatus.PASSED for result in report.results)


@on("fails")
def test_what_doctest_calls_failed_is_failed(zoo: Binary) -> None:
    _, done = zoo.start(())
    summary = re.search(rb"test cases: +\d+ \| +(\d+) passed \| +(\d+) failed", done.stdout)
    assert summary is not None
    report, _ = zoo.run(None)
    statuses = [result.status for result in report.results]
    assert [statuses.count(CaseStatus.PASSED), statuses.count(CaseStatus.FAILED)] == [
        int(text) for text in summary.groups()
    ]
    failed = [result for result in report.results if result.status is CaseStatus.FAILED]
    assert all(result.message for result in failed)
    assert any(result.place for result in failed)


@on("hostile_names")
def test_seeds_zero_and_one_and_none_are_one_order(zoo: Binary) -> None:
    rand = [zoo.listing(order=Order(kind=OrderKind.RAND, seed=seed)).cases for seed in (None, 0, 1, 2)]
    assert rand[0] == rand[1] == rand[2] != rand[3]


PARTS = {
    "a prefix and the victim": [*range(1200), 2400],
    "a long prefix and the victim": [*range(2300), 2400],
    "a window and the victim": [*range(600, 1200), 2499],
    "all but one": [*range(700), *range(701, 2500)],
    "every second one": [*range(0, 2500, 2)],
    "any four fifths": sorted(random.Random(5).sample(range(2500), 2000)),
}


@pytest.mark.parametrize("places", PARTS.values(), ids=PARTS)
def test_any_part_of_thousands_of_cases_is_selected(many: Binary, places: list[int]) -> None:
    cases = many.listing().runnable
    wanted = tuple(cases[place] for place in places)
    best = DOCTEST.selections(many.listing(), wanted)[0]
    assert next(many.verified(wanted)) == best
    report, _ = many.run(best)
    assert [result.case for result in report.results] == list(wanted)


@pytest.mark.parametrize("excluded", [False, True])
def test_more_names_than_one_argument_holds_are_all_taken(many: Binary, excluded: bool) -> None:
    order = Order(kind=OrderKind.RAND, seed=7)
    cases = many.listing(order=order).runnable
    named = cases[:2400]
    assert len(",".join(case.name for case in named)) > 131_071
    option, wanted = ("-dt-test-case-exclude=", cases[2400:]) if excluded else ("-dt-test-case=", named)
    found = DOCTEST.selections(many.listing(order=order), wanted)
    selection = next(one for one in found if one.words[0].startswith(option))
    assert confirms(many.listing(selection, order), selection)
