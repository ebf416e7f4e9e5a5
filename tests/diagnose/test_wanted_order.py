"""The search for an order in which the wanted cases stand as wanted."""

import random
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.diagnose.wanted_order import find_order
from pooldiag.errors import UsageError
from pooldiag.model.cases import Case, Listing, Order, OrderKind
from pooldiag.model.outcomes import CaseStatus
from tests.frameworks.binaries import DOCTEST, Binary

CASES = tuple(Case(name=name, line=line, file="f") for line, name in enumerate("fbdace", 1))
F, B, D, A, C, E = CASES


def listed(order: Order) -> Listing:
    """List six cases as a framework with seeds would; seeds 0 and 1 are one order."""
    match order.kind:
        case OrderKind.NAME:
            return Listing(cases=tuple(sorted(CASES, key=lambda case: case.name)))
        case OrderKind.RAND:
            shuffled = random.Random(max(1, order.seed or 0)).sample(CASES, len(CASES))
            return Listing(cases=tuple(shuffled))
        case _:
            return Listing(cases=CASES)


def nobody(listing: int, most: int) -> None:
    """Take no notice of a listing."""
    del listing, most


def in_order(wanted: tuple[Case, ...], listing: Listing) -> bool:
    return [case for case in listing.cases if case in wanted] == [*wanted]


@pytest.mark.parametrize(
    ("wanted", "order", "listings"),
    [
        ((), OrderKind.FILE, 1),
        ((C,), OrderKind.FILE, 1),
        ((F, A, E), OrderKind.FILE, 1),
        ((A, D, F), OrderKind.NAME, 2),
    ],
)
def test_orders_without_a_seed_are_tried_first(wanted: tuple[Case, ...], order: OrderKind, listings: int) -> None:
    found, count = find_order(wanted, listed, framework=DOCTEST, watch=nobody)
    assert (found.order, count) == (Order(kind=order), listings)
    assert found.listing == listed(found.order)


@given(st.permutations(CASES), st.integers(2, 4))
def test_some_seed_has_any_few_cases_as_wanted(cases: list[Case], size: int) -> None:
    wanted = tuple(cases[:size])
    found, _ = find_order(wanted, listed, framework=DOCTEST, watch=nobody)
    assert in_order(wanted, found.listing)
    assert found.listing == listed(found.order)


def test_no_order_is_listed_twice() -> None:
    asked: list[Order] = []

    def list_order(order: Order) -> Listing:
        asked.append(order)
        return Listing(cases=CASES)

    with pytest.raises(UsageError):
        find_order((D, B), list_order, framework=DOCTEST, watch=nobody)
    assert len(set(asked)) == len(asked) == 23
    seeds = [order.seed for order in asked if order.kind is OrderKind.RAND]
    assert seeds == [*range(1, 21)]  # no seed, and seed 0, are seed 1


def test_the_caller_is_told_of_each_listing_and_of_the_most_there_will_be() -> None:
    told: list[tuple[int, int]] = []
    _, listings = find_order((E, C, D, F), listed, framework=DOCTEST, watch=lambda *counts: told.append(counts))
    assert told == [(number, 243) for number in range(1, listings + 1)]  # 10 x 4! + 3


def test_very_many_cases_are_not_searched_for_without_end() -> None:
    many = tuple(Case(name=f"{number}") for number in range(30))
    most: set[int] = set()

    def stop(_: int, at_most: int) -> None:
        most.add(at_most)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_order(many, lambda _: Listing(cases=many[::-1]), framework=DOCTEST, watch=stop)
    assert most == {10_000}


def test_none_found_tells_the_seeds_tried_and_the_longest_beginning() -> None:
    wanted = (B, D, F, A)

    def list_order(order: Order) -> Listing:
        near = {5: (B, F, D, A), 9: (B, C, D, A, E, F), 12: (B, D, A, F)}.get(order.seed or 0, (A, F, D, B))
        return Listing(cases=(*near, *(case for case in CASES if case not in near)))

    with pytest.raises(UsageError) as raised:
        find_order(wanted, list_order, framework=DOCTEST, watch=nobody)
    assert "these 4 cases" in raised.value.problem
    assert "240 seeds were tried" in raised.value.problem
    assert raised.value.hint == "rand order, seed 9 comes nearest, and has the first 3 as wanted: 'b', 'd', 'f'"


def test_a_case_that_does_not_run_ends_the_search_at_once() -> None:
    skipped = Case(name="skipped", skipped=True)
    asked: list[Order] = []

    def list_order(order: Order) -> Listing:
        asked.append(order)
        return Listing(cases=(A, skipped, B))

    for stranger in (skipped, C):
        with pytest.raises(UsageError, match=repr(stranger.name)) as raised:
            find_order((B, stranger), list_order, framework=DOCTEST, watch=nobody)
        assert raised.value.hint == "2 of 3 cases run: the others are skipped"
    with pytest.raises(UsageError, match="named twice"):
        find_order((A, B, A), list_order, framework=DOCTEST, watch=nobody)
    assert len(asked) == 2


@pytest.fixture
def forward(examples_build: Path, tmp_path: Path) -> Binary:
    return Binary(path=examples_build / "devicepool" / "blind" / "test_forward", report=tmp_path / "report.xml")


def ordered(target: Binary, numbers: tuple[int, ...]) -> tuple[tuple[Case, ...], Order, int]:
    """Return the cases of these numbers in file order (from 1), an order that has them so, and the listings made."""
    cases = target.listing().runnable
    wanted = tuple(cases[number - 1] for number in numbers)
    found, listings = find_order(wanted, lambda order: target.listing(order=order), framework=DOCTEST, watch=nobody)
    return wanted, found.order, listings


@pytest.mark.process
def test_doctest_runs_a_polluter_before_a_victim_that_stands_before_it_in_the_file(forward: Binary) -> None:
    wanted, order, _ = ordered(forward, (11, 6))
    report, _ = forward.run(next(forward.verified(wanted, order)), order)
    assert [result.case for result in report.results] == [*wanted]
    assert [result.status for result in report.results] == [CaseStatus.PASSED, CaseStatus.CRASHED]
    assert order.kind is OrderKind.NAME  # no seed is needed


@pytest.mark.process
@pytest.mark.parametrize("numbers", [(12, 9, 5, 2), (3, 8, 1, 10)], ids=str)
def test_doctest_runs_four_cases_in_an_order_that_only_a_seed_has(forward: Binary, numbers: tuple[int, ...]) -> None:
    wanted, order, listings = ordered(forward, numbers)
    assert order.kind is OrderKind.RAND
    assert listings <= 243
    report, _ = forward.run(next(forward.verified(wanted, order)), order)
    assert [result.case for result in report.results] == [*wanted]


@pytest.mark.process
def test_every_order_of_three_cases_is_one_of_doctests(forward: Binary) -> None:
    lists = {Order(): forward.listing()}

    def list_order(order: Order) -> Listing:
        lists[order] = lists[order] if order in lists else forward.listing(order=order)
        return lists[order]

    for wanted in permutations(forward.listing().runnable[4:7]):
        found, _ = find_order(wanted, list_order, framework=DOCTEST, watch=nobody)
        assert in_order(wanted, found.listing)
        assert DOCTEST.selections(found.listing, wanted)
