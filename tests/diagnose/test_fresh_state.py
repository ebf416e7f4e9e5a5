"""The arms of every target, in memory: empty folders, their second use, and a variable that nobody reads."""

from dataclasses import replace

import pytest

from pooldiag.diagnose.commands import shell_line
from pooldiag.model.arms import STATE_WORD, Acted, Arm, Role
from pooldiag.model.readings import Reading
from pooldiag.model.reports import ArmResult, AttributeReport
from pooldiag.model.runs import Environment
from tests.played.commands import BASELINE, attribute_in, settings_of
from tests.played.suite import PlayedSuite
from tests.played.world import EVIDENCE, World

FOLDERS = Environment(set=(("HOME", f"{STATE_WORD}/home"), ("XDG_CACHE_HOME", f"{STATE_WORD}/home/.cache")))
FRESH, USED = Arm(role=Role.FRESH_STATE, environment=FOLDERS), Arm(role=Role.USED_STATE, environment=FOLDERS)
PLACEBO = Arm(role=Role.PLACEBO, environment=Environment(set=(("POOLDIAG_PLACEBO", STATE_WORD),)))
ARMS = (BASELINE, FRESH, USED, PLACEBO)


def cached(**facts: object) -> PlayedSuite:
    """A suite that is red where an earlier run left its cache."""
    return PlayedSuite(**{"cases": 4, "keeps": "XDG_CACHE_HOME", **facts})  # type: ignore[arg-type] # its fields


def readings(report: AttributeReport, role: Role) -> list[Reading]:
    return [run.reading.reading for run in result(report, role).runs]


def homes(world: World) -> list[tuple[Role, str]]:
    """The runs that had a home of their own, and which."""
    requests = [(request.folder.name.partition("-")[2], dict(request.environment.set)) for request in world.requests]
    return [(Role(role), variables["HOME"]) for role, variables in requests if "HOME" in variables]


def result(report: AttributeReport, role: Role) -> ArmResult:
    return next(one for one in report.arms if one.arm.role is role)


def test_each_run_with_fresh_state_begins_with_empty_folders_and_used_state_in_those_it_left() -> None:
    world = World(cached(kept={"/nobody"}))
    report = attribute_in(world, arms=ARMS)
    assert report.attribution.answer == "outside-state"
    assert readings(report, Role.FRESH_STATE) == [Reading.GREEN] * len(result(report, Role.FRESH_STATE).runs)
    assert readings(report, Role.USED_STATE) == [Reading.RED] * 3
    assert set(readings(report, Role.PLACEBO)) == {Reading.RED}
    runs = homes(world)
    assert [role for role, _ in runs[:6]] == [Role.FRESH_STATE, Role.USED_STATE] * 3
    fresh = [home for role, home in runs if role is Role.FRESH_STATE]
    assert [home for role, home in runs if role is Role.USED_STATE] == fresh[:3]
    assert len(set(fresh)) == len(fresh)


def test_a_fixed_number_of_runs_uses_each_folder_again_before_the_next_one_is_made() -> None:
    report = attribute_in(World(cached(kept={"/nobody"})), arms=ARMS, repeat=3)
    assert readings(report, Role.FRESH_STATE) == [Reading.GREEN] * 3
    assert readings(report, Role.USED_STATE) == [Reading.RED] * 3
    order = [run.arm.role for run in sorted(report.runs_shown(), key=lambda run: run.id)]
    assert [role for role in order if role in {Role.FRESH_STATE, Role.USED_STATE}] == [
        Role.FRESH_STATE,
        Role.USED_STATE,
    ] * 3


def test_the_folders_of_an_earlier_run_are_given_back_and_only_those_of_the_last_are_there() -> None:
    world = World(cached())
    attribute_in(world, arms=ARMS, repeat=2)
    assert world.made == {EVIDENCE / "05-fresh-state/state/home", EVIDENCE / "05-fresh-state/state/home/.cache"}


def test_these_arms_act_whatever_the_target_reads() -> None:
    report = attribute_in(World(cached()), arms=ARMS, repeat=1)
    acted = {one.arm.role: one.acted for one in report.arms}
    assert acted == {
        Role.BASELINE: None,
        Role.FRESH_STATE: Acted.PLAUSIBLE,
        Role.USED_STATE: Acted.PLAUSIBLE,
        Role.PLACEBO: Acted.PROVEN,
    }


def test_another_red_in_empty_folders_is_no_answer_and_the_report_says_why() -> None:
    def lack_a_model(world: World) -> None:
        world.suite.always = "1"

    suite = PlayedSuite(cases=3, setters="99", cures=frozenset({"HOME"}))
    report = attribute_in(World(suite, hooks={2: lack_a_model}), arms=(BASELINE, FRESH), repeat=1)
    assert "02-fresh-state: another red, which is no answer" in " ".join(report.session.notes)
    assert not any("show another red" in one for one in report.attribution.not_established)


@pytest.mark.parametrize(("seconds", "is_told"), [(300.0, True), (20.0, False)])
def test_a_run_in_empty_folders_that_takes_much_longer_is_no_answer(seconds: float, is_told: bool) -> None:
    def be_slow(world: World) -> None:
        world.suite.seconds = seconds

    hooks = {2: be_slow}
    report = attribute_in(World(PlayedSuite(cases=3, always="2"), hooks=hooks), arms=(BASELINE, FRESH), repeat=1)
    told = [note for note in report.session.notes if "may have got anew" in note]
    reason = "it may have got anew what lived in the folders that were empty"
    line = f"02-fresh-state: 300 s, the baseline at most 0.01 s, which is no answer: {reason}"
    assert told == ([line] if is_told else [])


def test_a_line_for_people_makes_the_folders_first_and_uses_them_twice_where_that_is_meant() -> None:
    world = World(cached())
    settings = replace(settings_of(world), arms=ARMS)
    fresh, used = (shell_line(settings, world.tools, arm, None, out=None) for arm in (FRESH, USED))
    start = 'state="$(mktemp -d)" && mkdir -p "$state"/home "$state"/home/.cache && '
    call = 'env HOME="$state"/home XDG_CACHE_HOME="$state"/home/.cache ./suite \'--order=file 0\''
    assert fresh == start + call
    assert used == f"{start}{{ {call}; {call}; }}"
