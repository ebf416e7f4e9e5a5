"""Runs that go from one thing to another and stay there, in memory: told as a step, with no rate behind it."""

from typing import Any

from pooldiag.model.arms import Role
from pooldiag.model.readings import StepKind
from pooldiag.model.reports import AttributeReport
from pooldiag.render import Page, render
from tests.played.commands import BASELINE, attribute_in, switch
from tests.played.suite import PlayedSuite, in_runs
from tests.played.world import World


def cached() -> PlayedSuite:
    return PlayedSuite(cases=4, keeps="HOME")


def words(report: AttributeReport) -> str:
    return " ".join(render(report, form="table", page=Page(width=400)).split())


def diagnosed(suite: PlayedSuite, *, repeat: int, **facts: Any) -> AttributeReport:  # noqa: ANN401 - of the world
    return attribute_in(World(suite, **facts), arms=(BASELINE,), repeat=repeat)


def test_a_first_run_unlike_all_later_ones_is_a_hint_and_no_rate() -> None:
    report = diagnosed(cached(), repeat=4)
    assert report.arms[0].step is not None
    assert (report.arms[0].step.kind, report.arms[0].step.at) == (StepKind.FIRST, 1)
    (note,) = report.session.notes
    assert note == (
        "baseline: the first run was green, the 3 later ones red: something that the first run left behind may be the"
        " cause; fresh-state or --before can prove it"
    )
    said = words(report)
    assert "baseline green in its first run, red in all later ones" in said
    assert not any(rate in said for rate in ("3/4 runs of the baseline", "interval", "flaky", "disagrees with itself"))


def test_two_later_runs_are_too_few_for_that() -> None:
    report = diagnosed(cached(), repeat=3)
    assert report.arms[0].step is None
    assert report.session.notes == ()
    assert "2/3 runs of the baseline" in words(report)


def test_a_first_run_that_mends_it_is_told_as_well() -> None:
    report = diagnosed(PlayedSuite(cases=3, setters="99", unlucky=in_runs(1)), repeat=4)
    assert (
        "the 3 later ones green: something that the first run left behind may be what mended it"
        in (report.session.notes[0])
    )


def test_a_longer_run_of_one_colour_and_then_of_the_other_is_told_with_its_time() -> None:
    def break_it(world: World) -> None:
        world.suite.always = "2"

    report = diagnosed(PlayedSuite(cases=3, seconds=2.0), repeat=16, hooks={9: break_it})
    (note,) = report.session.notes
    assert note == (
        "baseline: green at first, red from run 9 on, which began after 16 s of runs: something changed at that time,"
        " so no rate is behind it"
    )
    said = words(report)
    assert "baseline green at first, red from run 09 on" in said
    assert "interval" not in said


def test_what_the_first_run_left_in_the_working_directory_is_named_and_to_be_taken_away() -> None:
    def leave(world: World) -> None:
        world.changed, world.new = ["kept.bin", "old.db"], ["kept.bin"]

    report = diagnosed(cached(), repeat=4, hooks={1: leave})
    assert report.session.notes[1] == (
        "the first run left kept.bin in the working directory; without it: pooldiag attribute"
        " '--before=rm -f kept.bin' ./suite"
    )
    assert not any(note.startswith("the first run left") for note in diagnosed(cached(), repeat=4).session.notes)


def test_the_first_run_of_another_arm_is_not_the_first_of_all() -> None:
    arm = switch(Role.BYPASS, "POOL_OFF")
    suite = PlayedSuite(cases=4, setters="99", unlucky=in_runs(1, 2, 3, 4, 6, 7, 8))
    report = attribute_in(World(suite, facts={"names": frozenset({"POOL_OFF"})}), arms=(BASELINE, arm), repeat=4)
    assert [one.step for one in report.arms] == [None, None]
    assert "bypass: red in 3/4 runs" in words(report)
