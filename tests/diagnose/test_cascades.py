"""Many reds with one message: the first of them is followed, in memory."""

from typing import Any

from pooldiag.model.bisections import BisectReport, BisectStatus
from pooldiag.model.cases import Order
from tests.played.commands import attribute_in, bisect_in, orders_in, seeds
from tests.played.suite import PlayedSuite, name, names
from tests.played.world import World


def loud(**facts: Any) -> PlayedSuite:  # noqa: ANN401 - fields of the suite
    """One that breaks the device is red itself, and so are all behind it."""
    return PlayedSuite(cases=30, poisoner=4, **facts)


def silent() -> PlayedSuite:
    """One that breaks the device passes: it is seen by the next case that touches the device."""
    return PlayedSuite(cases=30, poisoner=2, untouched="2,3")


def searched(suite: PlayedSuite, **changes: Any) -> BisectReport:  # noqa: ANN401 - fields of the settings
    return bisect_in(World(suite), **changes)


def test_the_first_of_many_is_followed_and_none_that_follows_it_is_tried() -> None:
    report = searched(loud())
    assert (report.found.victim, report.found.red_alone) == (name(4), True)
    (cascade,) = report.cascades
    assert cascade.first.case == name(4)
    assert tuple(red.case for red in cascade.followers) == names(*range(5, 31))
    assert tuple(red.case for red in report.others) == names(*range(5, 31))
    assert report.runs <= 4
    assert report.next is None


def test_a_red_with_a_cause_of_its_own_stands_apart_and_is_followed_where_it_needs_another_case() -> None:
    report = searched(loud(polluters="2", victim=9, untouched="9"))
    assert (report.status, report.found.victim, report.found.polluters) == (BisectStatus.FOUND, name(9), names(2))
    (cascade,) = report.cascades
    assert name(9) not in {red.case for red in cascade.followers}


def test_where_what_broke_it_passes_the_next_case_is_the_victim() -> None:
    report = searched(silent())
    assert (report.status, report.found.victim, report.found.polluters) == (BisectStatus.FOUND, name(4), names(2))
    assert report.found.signature is not None
    assert report.found.signature.message == "device error 700: an illegal memory access was encountered"


def test_those_that_follow_at_other_lines_are_asked_once_whether_they_do() -> None:
    report = searched(loud(at_one_line=False))
    assert (report.found.victim, report.found.red_alone) == (name(4), True)
    (cascade,) = report.cascades
    assert len(cascade.followers) == 26
    assert report.runs <= 6


def test_one_that_says_the_same_and_does_not_need_the_first_is_followed() -> None:
    report = searched(PlayedSuite(cases=20, polluters="6", always="2,4,9", victim=15))
    assert (report.status, report.found.victim, report.found.polluters) == (BisectStatus.FOUND, name(15), names(6))
    always = searched(PlayedSuite(cases=30, always=",".join(map(str, range(1, 31)))))
    assert (always.found.victim, always.found.red_alone) == (name(1), True)
    assert always.runs <= 11


def test_one_that_follows_is_the_victim_where_the_user_names_it() -> None:
    report = searched(loud(), victim=name(9))
    assert (report.status, report.found.victim, report.found.polluters) == (BisectStatus.FOUND, name(9), names(4))
    assert report.next is not None
    assert name(4) in report.next.line


def test_many_reds_that_are_red_alone_are_told_apart_from_the_victim() -> None:
    report = searched(PlayedSuite(cases=9, polluters="1", always="2,3,4,5"))
    assert report.found.victim == name(9)
    assert tuple(red.case for red in report.others_red_alone) == names(2, 3, 4, 5)


def test_no_order_is_searched_for_those_that_follow() -> None:
    report = orders_in(World(loud()), Order(), *seeds(1, 2))
    assert [len(one.failing) > 1 for one in report.orders] == [bool(one.cascades) for one in report.orders]
    assert report.runs <= 3 + 3  # the orders, and each first red alone
    assert len([note for note in report.session.notes if "red alone" in note]) == 1
    passes = orders_in(World(silent()), Order())
    assert passes.shortest is not None
    assert (passes.shortest.victim, passes.shortest.prefix) == (name(4), 2)


def test_all_reds_of_a_baseline_have_a_verdict_and_those_that_follow_are_named() -> None:
    report = attribute_in(World(loud()))
    assert len(report.others) == 26
    (cascade,) = report.cascades
    assert report.attribution.signature == cascade.first
    assert len(cascade.followers) == 26
