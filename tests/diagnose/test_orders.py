"""`orders` on suites of a known fault, in memory: what is red, what the shortest prefix is, and when it stops."""

from typing import Any

import pytest

from pooldiag.errors import UsageError
from pooldiag.model.attributions import Status
from pooldiag.model.bisections import OrderResult, OrdersReport
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.readings import Reading
from pooldiag.rates import excluded_by
from tests.played.commands import orders_in, seeds
from tests.played.suite import PlayedSuite, in_runs, name, names
from tests.played.world import World

FILE, NAME = Order(), Order(kind=OrderKind.NAME)


def surveyed(suite: PlayedSuite, *orders: Order, **changes: Any) -> OrdersReport:  # noqa: ANN401 - fields of the settings
    return orders_in(World(suite), *orders, **changes)


def reading(result: OrderResult) -> Reading | None:
    return None if result.run is None else result.run.reading.reading


def test_a_case_that_is_always_red_hides_no_other() -> None:
    report = surveyed(PlayedSuite(polluters="5", always="2"), FILE, *seeds(2, 3, 4, 5, 6))
    assert report.shortest is not None
    assert report.shortest.victim == name(13)
    assert 1 <= report.shortest.prefix <= 5
    assert report.shortest.reproducer is not None
    assert any("red alone, whatever the order" in note for note in report.session.notes)


def test_only_the_victim_that_is_named_is_looked_for() -> None:
    suite = PlayedSuite(polluters="5", always="2")
    report = surveyed(suite, FILE, NAME, victim=name(2))
    assert (report.shortest, report.orders[0].prefix) == (None, 0)
    with pytest.raises(UsageError) as raised:
        surveyed(suite, FILE, NAME, victim="case 2")
    assert "the nearest is" in (raised.value.hint or "")


def test_runs_and_time_that_are_spent_end_it_and_are_told() -> None:
    suite = PlayedSuite(cases=40, polluters="5")
    few = surveyed(suite, FILE, *seeds(2, 3, 4, 5, 6, 7, 8, 9), max_runs=2)
    assert len([result for result in few.orders if result.same_as is None]) == 2
    assert any("runs are spent" in note for note in few.session.notes)
    late = surveyed(suite, FILE, *seeds(2, 3, 4, 5, 6, 7, 8, 9), budget_seconds=0.001)
    assert any("time is spent" in note for note in late.session.notes)


def test_the_same_list_runs_once() -> None:
    report = surveyed(PlayedSuite(), FILE, NAME, *seeds(0, 1))
    assert [result.same_as for result in report.orders] == [None, FILE, None, *seeds(0)]
    assert [reading(result) for result in report.orders] == [Reading.GREEN, None, Reading.GREEN, None]


def test_green_orders_say_what_they_exclude_by_those_that_ran() -> None:
    assert surveyed(PlayedSuite(), FILE, NAME, *seeds(2, 3)).excluded == excluded_by(3)  # two are the same list
    assert surveyed(PlayedSuite(always="2"), FILE).excluded is None


def test_green_orders_lead_to_more_of_them_until_they_exclude_enough() -> None:
    few = surveyed(PlayedSuite(), FILE, *seeds(2, 3))
    assert few.next is not None
    assert "--orders=none --seeds=4..33" in few.next.line
    assert surveyed(PlayedSuite(), *seeds(*range(2, 32))).next is None
    assert surveyed(PlayedSuite(cases=1), FILE, *seeds(2, 3)).next is None


def test_orders_in_which_nothing_is_asserted_are_not_green() -> None:
    report = surveyed(PlayedSuite(cases=3, vacuous="1,2,3"), FILE, *seeds(2, 3))
    assert (report.verdict, report.excluded) == (Status.BLOCKED, None)
    assert report.session.blocked is not None
    assert report.session.blocked.problem == "nothing was asserted"
    assert surveyed(PlayedSuite(cases=3, vacuous="1,3"), FILE).verdict is Status.GREEN


def test_a_red_in_no_case_is_told_and_left_to_bisect() -> None:
    report = surveyed(PlayedSuite(cases=3, crashes_at_end=True), FILE, NAME)
    assert (reading(report.orders[0]), report.shortest) == (Reading.RED, None)
    assert any("in no case" in note for note in report.session.notes)


def test_the_failing_set_is_named_for_each_order() -> None:
    assert surveyed(PlayedSuite(always="2,9"), FILE).orders[0].failing == names(2, 9)


def test_a_red_that_file_order_hides_is_green_by_accident() -> None:
    report = surveyed(PlayedSuite(cases=6, polluters="5", victim=2), FILE, *seeds(2, 3, 4, 5, 6, 7))
    assert report.by_accident
    assert report.next is not None
    assert report.next.line.startswith("pooldiag bisect --order=rand --seed=")


def test_a_flake_is_no_accident_of_order() -> None:
    # File order is green in the first run and red in the eighth, which is the second one of it.
    suite = PlayedSuite(cases=6, setters="99", unlucky=in_runs(2, 4, 6, 8, 9))
    report = surveyed(suite, FILE, *seeds(2, 3, 4, 5, 6, 7))
    assert (report.by_accident, reading(report.orders[0])) == (False, Reading.GREEN)
    assert any("two runs of it disagree" in note for note in report.session.notes)


def test_a_red_whose_prefix_does_not_hold_is_no_accident_of_order() -> None:
    suite = PlayedSuite(cases=6, polluters="5", victim=2, unlucky=in_runs(1, 2, 3))
    report = surveyed(suite, FILE, *seeds(2, 3, 4, 5))
    assert any("does not hold, runs disagree" in note for note in report.session.notes)
    assert (reading(report.orders[0]), report.by_accident) == (Reading.GREEN, False)


def test_a_prefix_that_does_not_hold_when_it_is_run_again_is_not_claimed() -> None:
    suite = PlayedSuite(cases=6, polluters="2", unlucky=in_runs(1, 2, 3))
    report = surveyed(suite, FILE)
    assert report.shortest is None
    assert any("does not hold, runs disagree" in note for note in report.session.notes)
