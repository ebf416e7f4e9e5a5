"""A diagnosis that is cut off, in memory: killed, interrupted, taken down by a case; and the one that continues it."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pooldiag.errors import InterruptedRunError
from pooldiag.model.arms import STATE_WORD, Arm, Role
from pooldiag.model.bisections import BisectReport, BisectStatus
from pooldiag.model.events import RunEnded, RunStarted
from pooldiag.model.runs import Environment
from tests.played.commands import BASELINE, bisect_in
from tests.played.suite import PlayedSuite, name, names
from tests.played.world import KilledError, World, interrupt

KILLS = [(what, count) for what in ("began", "finished") for count in range(1, 11)]


def shape() -> PlayedSuite:
    return PlayedSuite(cases=13, polluters="3,7")


def same(report: BisectReport) -> tuple[object, ...]:
    return (report.status, report.found, report.runs, report.cases_run, report.reproducer, report.green_command)


@pytest.fixture(scope="module")
def uninterrupted() -> tuple[object, ...]:
    world = World(shape())
    report = bisect_in(world)
    assert len(world.memo.finished_runs) >= 10
    return same(report)


def killed(what: str, count: int, *, jobs: int = 1, world: World | None = None) -> World:
    """Bisect until so many runs began or were finished, and kill the bisection there; return what is found then."""
    world = world or World(shape())
    world.memo.dies_at = (what, count)
    with pytest.raises(KilledError):
        bisect_in(world, jobs=jobs)
    return world.after_a_kill()


def continued(world: World, **changes: Any) -> BisectReport:  # noqa: ANN401 - fields of the settings
    return bisect_in(world, resume=world.path, **changes)


@pytest.mark.parametrize(("what", "count"), KILLS)
def test_a_killed_bisection_goes_on_to_the_same_answer_and_repeats_no_finished_run(
    what: str, count: int, uninterrupted: tuple[object, ...]
) -> None:
    world = killed(what, count)
    finished = [key for key, _ in world.memo.finished_runs]
    report = continued(world)
    keys = [key for key, _ in world.memo.finished_runs]
    assert same(report) == uninterrupted
    assert max(Counter(keys).values()) == 1
    assert set(finished) <= set(keys)
    assert report.recalled >= min(len(finished), report.runs)
    assert len({one.run for one in world.memo.began}) == len(world.memo.began)


def test_an_interrupt_leaves_a_report_and_a_memory_that_are_enough(uninterrupted: tuple[object, ...]) -> None:
    kept: list[BisectReport] = []
    world = World(shape(), hooks={5: interrupt})
    with pytest.raises(InterruptedRunError):
        bisect_in(world, keep=kept.append)
    assert (kept[-1].session.partial, kept[-1].status) == (True, BisectStatus.UNRESOLVED)
    assert not world.is_locked
    finished = len(world.memo.finished_runs)
    assert finished == 4
    again = replace(world.after_a_kill(), hooks={})
    report = continued(again)
    assert same(report) == uninterrupted
    assert report.recalled == finished


def test_a_run_that_the_user_interrupts_again_and_again_is_made_in_the_end(uninterrupted: tuple[object, ...]) -> None:
    world = World(shape())
    for _ in range(4):
        world.hooks = {len(world.ran) + 1: interrupt}
        with pytest.raises(InterruptedRunError):
            bisect_in(world)
        world = world.after_a_kill()
    assert same(continued(replace(world, hooks={}))) == uninterrupted


def test_runs_side_by_side_that_finished_are_not_made_again(uninterrupted: tuple[object, ...]) -> None:
    world = killed("finished", 3, jobs=3)
    world = killed("finished", 6, jobs=3, world=world)
    report = continued(world, jobs=3)
    assert (report.status, report.found) == uninterrupted[:2]
    assert max(Counter(key for key, _ in world.memo.finished_runs).values()) == 1


def test_what_went_on_when_pooldiag_was_killed_is_made_alone() -> None:
    world = killed("began", 5, jobs=3)
    keys = {one.key for one in world.memo.began if one.run not in world.memo.over}
    assert len(keys) > 1
    began = len(world.memo.began)
    continued(world, jobs=3)
    suspects = {one.run for one in world.memo.began[began:] if one.key in keys}
    events = [event for event in world.events if isinstance(event, RunStarted | RunEnded)]
    after = {one.run: other for one, other in pairwise(events) if isinstance(one, RunStarted)}
    assert len(suspects) == len(keys)
    assert all(after[run] == RunEnded(run=run) for run in suspects)


def test_a_rebuilt_target_takes_nothing_over() -> None:
    world = killed("finished", 4)
    world.built = "2"
    report = continued(world)
    assert (report.status, report.recalled) == (BisectStatus.FOUND, 0)
    assert any("the target, an option or the order is another one" in note for note in report.session.notes)


def test_what_keeps_runs_from_being_taken_over_is_told() -> None:
    world = killed("finished", 4)
    world.facts = {"surroundings": "another", "changed_variables": ("SOME_SWITCH",)}
    report = continued(world)
    assert report.recalled == 0
    assert any("none of the 4 runs" in note and "SOME_SWITCH" in note for note in report.session.notes)


def test_a_run_under_another_limit_is_another_run() -> None:
    suite = PlayedSuite(cases=4, polluters="2", how="hang")
    world = World(suite)
    world.memo.dies_at = ("finished", 3)
    with pytest.raises(KilledError):
        bisect_in(world, timeout_seconds=1.0)
    report = continued(world.after_a_kill(), timeout_seconds=1.5)
    assert (report.status, report.recalled, report.found.polluters) == (BisectStatus.FOUND, 0, names(2))


def test_a_run_whose_printed_lines_are_not_read_is_another_run() -> None:
    assert continued(killed("finished", 4), printed_census=False).recalled == 0
    assert continued(killed("finished", 4)).recalled == 4


def test_a_case_that_took_the_machine_down_is_known_afterwards() -> None:
    world = killed("began", 1, world=World(PlayedSuite(cases=6, polluters="2", victim=5, how="hang")))
    world.memo.boot += 1
    began = "".join(f"begin {name(number)}\npass 1\n" for number in range(1, 5)) + f"begin {name(5)}\n"
    world.content[world.path / "01-baseline" / "report.txt"] = began.encode()
    report = continued(world, max_runs=3)
    assert report.found.signature is not None
    assert (report.found.victim, str(report.found.signature.place)) == (name(5), "took the machine down")
    assert any("took the machine down, 1x" in note for note in report.session.notes)


def test_a_run_that_takes_pooldiag_down_again_and_again_is_not_begun_a_fourth_time() -> None:
    world = World(PlayedSuite(cases=6, polluters="2", victim=5))
    for count in (1, 2, 3):
        world = killed("began", count, world=world)
    report = continued(world)
    assert [one.run for one in world.memo.began][:3] == ["01-baseline", "02-baseline", "03-baseline"]
    assert report.whole is not None
    assert report.whole.id == "03-baseline"
    assert any("it took pooldiag down, 3x" in note for note in report.session.notes)


# --- folders that outlive a kill --------------------------------------------------------------------------------------

FOLDERS = Environment(set=(("XDG_CACHE_HOME", f"{STATE_WORD}/cache"),))
PLACEBO = Arm(role=Role.PLACEBO, environment=Environment(set=(("POOLDIAG_PLACEBO", "1"),)))
STATE = tuple(Arm(role=role, environment=FOLDERS) for role in (Role.FRESH_STATE, Role.USED_STATE))
ARMS = (BASELINE, *STATE, PLACEBO)


def cached() -> World:
    """A target that is red where an earlier run left its cache, as one did before."""
    return World(PlayedSuite(cases=4, keeps="XDG_CACHE_HOME", kept={"/nobody"}))


def second_uses(world: World) -> list[tuple[str, str]]:
    """For each second use of a folder: the run that had left it, and the one that was the last with a fresh one."""
    found, last = [], ""
    for request in world.requests:
        run = request.folder.name
        last = run if run.endswith("-fresh-state") else last
        if run.endswith("-used-state"):
            folder = Path(dict(request.environment.set)["XDG_CACHE_HOME"])
            found.append((folder.parent.parent.name, last))
    return found


def test_a_diagnosis_that_was_killed_between_two_uses_of_a_folder_finds_it_again() -> None:
    whole = cached()
    report = bisect_in(whole, arms=ARMS)
    assert report.attribution is not None
    assert report.attribution.attribution.answer == "outside-state"
    runs = [outcome.run for _, outcome in whole.memo.finished_runs]
    behind_fresh = [number for number, run in enumerate(runs, 1) if run.endswith("-fresh-state")][:3]
    assert runs[behind_fresh[0]].endswith("-used-state")
    for kill in (*(("finished", number) for number in behind_fresh), ("began", behind_fresh[0] + 1)):
        world = cached()
        world.memo.dies_at = kill
        with pytest.raises(KilledError):
            bisect_in(world, arms=ARMS)
        again = world.after_a_kill()
        resumed = continued(again, arms=ARMS)
        assert resumed.attribution is not None
        assert resumed.attribution.attribution == report.attribution.attribution
        assert len(second_uses(again)) == 3
        assert all(left_by == last for left_by, last in second_uses(again))
        assert max(Counter(key for key, _ in again.memo.finished_runs).values()) == 1
