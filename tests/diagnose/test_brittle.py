"""`bisect` on a victim that needs an earlier case, or is red in several ways: none of them is taken for green."""

from typing import Any

import pytest

from pooldiag.model.bisections import BisectReport, BisectStatus
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.readings import Reading
from tests.played.commands import bisect_in, orders_in, seeds
from tests.played.framework import AnyOrderFramework
from tests.played.suite import PlayedSuite, name, names
from tests.played.world import World

FOUND, GREEN = BisectStatus.FOUND, BisectStatus.GREEN
SEEDED = Order(kind=OrderKind.RAND, seed=2)


def searched(suite: PlayedSuite, **changes: Any) -> BisectReport:  # noqa: ANN401 - fields of the settings
    return bisect_in(World(suite), **changes)


def in_any_order(suite: PlayedSuite, **changes: Any) -> BisectReport:  # noqa: ANN401 - fields of the settings
    return bisect_in(World(suite, framework=AnyOrderFramework()), order_is_free=True, **changes)


@pytest.mark.parametrize("misleads", ["20", "5,20,30", "12,39"])
def test_a_case_after_which_it_fails_at_another_line_is_not_the_state_setter(misleads: str) -> None:
    report = searched(PlayedSuite(cases=40, setters="11", misleads=misleads), victim=name(40))
    assert (report.status, report.found.red_alone, report.found.setters) == (FOUND, True, names(11))
    assert not report.found.noisy
    assert Reading.OTHER in {probed.reading for probed in report.probed}
    (otherwise,) = report.found.otherwise
    assert otherwise.other > 0
    assert set(names(11)).isdisjoint(otherwise.cases)
    assert str(otherwise.other_red) == f"failure in {name(40)} (suite.cpp:1040)"


def test_an_order_after_which_it_fails_at_another_line_is_not_green() -> None:
    report = searched(PlayedSuite(cases=40, setters="99", misleads="5"), victim=name(40))
    assert (report.status, report.found.signature and str(report.found.signature.place)) == (FOUND, "suite.cpp:1040")
    assert (report.found.polluters, report.green_command) == (names(5), None)
    assert [(str(one.other_red), one.cases) for one in report.found.otherwise] == [
        (f"failure in {name(40)} (suite.cpp:40)", ())
    ]


def test_a_state_setter_that_is_itself_red_is_found_and_its_line_says_so() -> None:
    report = searched(PlayedSuite(cases=40, setters="11", always="11"), victim=name(40))
    assert (report.status, report.found.setters) == (FOUND, names(11))
    assert report.green_command is not None
    assert (report.green_command.ended, report.green_command.others_red) == ("exit code 1", True)
    assert report.reproducer is not None
    assert not report.reproducer.others_red


def test_file_order_is_tried_where_the_victim_is_red_alone() -> None:
    suite = PlayedSuite(cases=6, setters="2", victim=5)
    red = [seed for seed in range(1, 40) if searched(suite, order=Order(kind=OrderKind.RAND, seed=seed)).found.victim]
    assert red
    for seed in red[:5]:
        report = searched(suite, order=Order(kind=OrderKind.RAND, seed=seed))
        assert (report.status, report.found.red_alone, report.found.setters) == (FOUND, True, names(2))
        assert report.session.target.order == Order()
        assert report.whole is not None
        assert report.whole.reading.reading is Reading.GREEN
        assert report.green_command is not None
        assert "--order=file 0" in report.green_command.line.replace("'", "")
        assert any("in file order it is green" in note for note in report.session.notes)


def test_a_plain_bug_is_red_in_file_order_too_and_the_order_stays_what_it_was() -> None:
    report = searched(PlayedSuite(cases=6, setters="99", victim=5), order=SEEDED)
    assert (report.status, report.found.red_alone, report.found.setters) == (FOUND, True, ())
    assert report.session.target.order == SEEDED
    assert report.whole is not None
    assert report.whole.reading.reading is Reading.RED
    assert report.reproducer is not None
    assert "rand 2" in report.reproducer.line


def test_a_search_that_is_blocked_says_what_blocks_it_and_claims_nothing_of_lines() -> None:
    """Alone the victim asserts nothing, and so says nothing."""
    report = searched(PlayedSuite(cases=9, polluters="3", vacuous="9"))
    assert report.status is BisectStatus.BLOCKED
    assert "say nothing" in (report.reason or "")
    assert report.reproducer is not None


def test_a_further_red_that_is_red_alone_in_a_drawn_order_is_the_next_to_be_looked_at() -> None:
    suite = PlayedSuite(cases=6, setters="2", victim=5, always="1")
    reports = [searched(suite, order=order) for order in seeds(*range(1, 20))]
    both = [report for report in reports if report.found.victim == name(1) and report.others_red_alone]
    assert both
    for report in both:
        assert [one.case for one in report.others_red_alone] == [name(5)]
        assert report.next is not None
        assert report.next.purpose == "which earlier case it needs"
        assert f"'--victim={name(5)}'" in report.next.line


def test_a_victim_that_is_named_without_an_order_runs_behind_all_others() -> None:
    report = in_any_order(PlayedSuite(cases=10, setters="8", victim=3), victim=name(3))
    assert (report.status, report.found.setters, report.found.position) == (FOUND, names(8), 10)
    assert any(f"all other cases are run before {name(3)}" in note for note in report.session.notes)
    assert in_any_order(PlayedSuite(cases=10, polluters="8", victim=3), victim=name(3)).found.polluters == names(8)


def test_where_it_is_green_behind_all_others_file_order_is_tried() -> None:
    suite = PlayedSuite(cases=12, polluters="2", cleaners="9", victim=5)
    report = in_any_order(suite, victim=name(5))
    assert (report.status, report.found.polluters, report.found.position) == (FOUND, names(2), 5)
    assert in_any_order(PlayedSuite(cases=12, victim=5), victim=name(5)).status is GREEN


def test_orders_sends_a_case_that_needs_an_earlier_one_to_what_finds_it() -> None:
    world = World(PlayedSuite(cases=4, setters="2"))
    report = orders_in(world, Order(), *seeds(2, 3, 4, 5, 6))
    assert (report.by_accident, report.shortest) == (True, None)
    assert any("a case before it sets up what it needs" in note for note in report.session.notes)
    assert report.next is not None
    assert report.next.line == f"pooldiag bisect '--victim={name(4)}' ./suite"
    assert bisect_in(world, victim=name(4)).found.setters == names(2)


def test_where_it_is_red_in_another_way_behind_all_others_file_order_is_tried() -> None:
    suite = PlayedSuite(cases=12, setters="2", polluters="9", misleads="9", victim=5)
    report = in_any_order(suite, victim=name(5))
    assert report.found.signature is not None
    assert (str(report.found.signature.place), report.found.otherwise) == ("suite.cpp:5", ())
    assert (report.status, report.found.red_alone, report.found.setters) == (FOUND, True, names(2))
    assert report.session.target.order == Order()
