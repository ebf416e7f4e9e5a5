"""The arms that every target has: a variable that nobody reads, empty folders for what outlives a run, isolation."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pooldiag.model.arms import STATE_WORD, Arm, Isolation, Role
from pooldiag.model.runs import Environment

PLACEBO = "POOLDIAG_PLACEBO"
"""A variable that nobody reads."""

_POINTER_BYTES = 8  # beside its text a variable has an entry in the array of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFolder:
    """A variable that names where a target keeps something, and the folder of the run that it names under an arm."""

    variable: str
    folder: str
    holds: str
    source: str


@cache
def state_folders() -> tuple[StateFolder, ...]:
    """Return where targets keep what outlives a run."""
    tables = tomllib.loads((files(__package__) / "_state.toml").read_text(encoding="utf-8"))
    return tuple(StateFolder(**folder) for folder in tables["folder"])


def own_arms(others: Iterable[Arm]) -> tuple[Arm, ...]:
    """Return the arms that need no switch, the baseline excepted; `others` are those that the placebo stands for."""
    folders = Environment(set=tuple((one.variable, f"{STATE_WORD}/{one.folder}") for one in state_folders()))
    isolate = Arm(role=Role.ISOLATE, isolation=Isolation.ALONE)
    fresh, used = Arm(role=Role.FRESH_STATE, environment=folders), Arm(role=Role.USED_STATE, environment=folders)
    return isolate, fresh, used, _placebo([*(arm.environment for arm in others), folders], folders)


def _placebo(environments: Iterable[Environment], folders: Environment) -> Arm:
    """Return the arm whose environment is as large as the largest of these.

    The folder of a run stands in it as often as in `folders`: only the run knows how long its name is.
    """
    words = STATE_WORD * len(folders.set)
    missing = max(map(size_bytes, environments)) - size_bytes(Environment(set=((PLACEBO, words),)))
    return Arm(role=Role.PLACEBO, environment=Environment(set=((PLACEBO, words + "x" * max(0, missing)),)))


def size_bytes(environment: Environment) -> int:
    """Return how much larger these variables make the environment of a process."""
    texts = (f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in environment.set)
    return sum(len(text) + 1 + _POINTER_BYTES for text in texts)
