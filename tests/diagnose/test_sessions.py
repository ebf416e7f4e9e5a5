"""From the lock to the last report: the same for every command that runs a target."""

from collections.abc import Callable
from typing import Any

import pytest

from pooldiag.errors import InterruptedRunError
from pooldiag.model.cases import Order
from pooldiag.model.events import Reported, RunEnded, RunStarted
from tests.played.commands import attribute_in, bisect_in, orders_in
from tests.played.suite import PlayedSuite
from tests.played.world import World, interrupt

Command = Callable[..., Any]


def orders_of_file(world: World, **changes: Any) -> Any:  # noqa: ANN401 - any report
    return orders_in(world, Order(), **changes)


@pytest.fixture(params=[attribute_in, bisect_in, orders_of_file], ids=["attribute", "bisect", "orders"])
def command(request: pytest.FixtureRequest) -> Command:
    found: Command = request.param
    return found


def suite(**facts: Any) -> PlayedSuite:  # noqa: ANN401 - its fields
    return PlayedSuite(cases=6, polluters="2", **facts)


def test_a_partial_report_is_handed_over_after_every_run_and_the_whole_one_last(command: Command) -> None:
    kept: list[Any] = []
    world = World(suite())
    last = command(world, keep=kept.append)
    assert kept[-1] is last
    assert [report.session.partial for report in kept] == [True] * (len(kept) - 1) + [False]
    assert len(kept) > 3
    shown = [event.report for event in world.events if isinstance(event, Reported)]
    assert shown == kept[:-1]
    begun = [event.run for event in world.events if isinstance(event, RunStarted)]
    assert begun == [event.run for event in world.events if isinstance(event, RunEnded)]


def test_the_lock_is_held_for_all_runs_and_no_longer(command: Command) -> None:
    seen: list[bool] = []
    world = World(suite(), hooks={number: lambda world: seen.append(world.is_locked) for number in range(1, 100)})
    command(world)
    assert seen
    assert all(seen)
    assert not world.is_locked


def test_a_lock_that_is_not_free_blocks_before_anything_runs(command: Command) -> None:
    world = World(suite(), held_by_others=True)
    report = command(world)
    assert report.session.blocked.problem == "gpu.lock is still held after 1 s"
    assert (report.session.partial, world.requests) == (False, [])


def test_too_little_space_blocks_before_anything_runs(command: Command) -> None:
    world = World(suite(), needed="/ has 1 MiB free; needed are 44.0 MiB")
    report = command(world)
    assert report.session.blocked.problem == "/ has 1 MiB free; needed are 44.0 MiB"
    assert report.session.blocked.hint == "free space there"
    assert world.requests == []


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_interrupt_leaves_a_partial_report_of_all_that_finished(command: Command, number: int) -> None:
    kept: list[Any] = []
    world = World(suite(), hooks={number: interrupt})
    with pytest.raises(InterruptedRunError, match=r"^interrupted$"):
        command(world, keep=kept.append)
    assert kept[-1].session.partial
    assert len(world.memo.finished_runs) == number - 1
    assert not world.is_locked


def test_the_lock_is_taken_again_after_a_case_that_killed_what_started_it(command: Command) -> None:
    seen: list[bool] = []
    hooks = {number: lambda world: seen.append(world.is_locked) for number in range(1, 100)}
    world = World(suite(how="kill"), hooks=hooks)
    command(world)
    assert world.restored
    assert all(seen)


def test_a_target_that_changes_meanwhile_blocks(command: Command) -> None:
    def rebuild(world: World) -> None:
        world.built = "2"

    report = command(World(suite(), hooks={2: rebuild}))
    assert "changed between two runs" in report.session.blocked.problem


def test_all_skipped_blocks(command: Command) -> None:
    report = command(World(PlayedSuite(cases=2, skipped="1,2")))
    assert report.session.blocked.problem == "nothing to run: all 2 cases are skipped"


def test_what_the_reader_must_know_stands_once_in_the_notes(command: Command) -> None:
    world = World(suite(), facts={"notes": ("a note", "a note"), "removed": (("MALLOC_PERTURB_", "7"),)})
    report = command(world)
    assert report.session.notes.count("a note") == 1
    assert report.session.removed_variables == (("MALLOC_PERTURB_", "7"),)
    assert all(request.argv[0] == "sh" or "MALLOC_PERTURB_" in request.environment.unset for request in world.requests)
