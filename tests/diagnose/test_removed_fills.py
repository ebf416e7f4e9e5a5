"""A green of every command says which fills of the user's environment it went without, and no red does."""

from collections.abc import Callable

import pytest

from pooldiag.model.arms import InheritedFill
from pooldiag.model.reports import RunReport
from tests.played.commands import attribute_in, bisect_in, orders_in, seeds
from tests.played.suite import PlayedSuite
from tests.played.world import World

FILL = InheritedFill(name="MALLOC_PERTURB_", value="85", reason="a fill", profile="glibc")
COMMANDS: dict[str, Callable[[World], RunReport]] = {
    "attribute": attribute_in,
    "bisect": bisect_in,
    "orders": lambda world: orders_in(world, *seeds(1, 2)),
}


def said(command: str, suite: PlayedSuite) -> list[str]:
    report = COMMANDS[command](World(suite, facts={"fills": (FILL,)}))
    return [note for note in report.session.notes if "--keep-env" in note or "--profile" in note]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_green_says_so_with_both_commands(command: str) -> None:
    kept, profile = said(command, PlayedSuite(cases=4))
    assert kept == (
        "MALLOC_PERTURB_=85 of the environment was removed, and is perhaps what made it red (a fill); with it: pooldiag"
        f" {command} --keep-env=MALLOC_PERTURB_ ./suite"
    )
    assert profile == f"with arms that do the same: pooldiag {command} --profile=glibc ./suite"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_red_does_not(command: str) -> None:
    assert said(command, PlayedSuite(cases=4, always="2")) == []
