"""Steps in the runs of an arm, from their sights alone."""

from collections.abc import Iterator
from random import Random

import pytest

from pooldiag.attribution.steps import step_of
from pooldiag.model.readings import RunStep, Sight, StepKind

SIGHTS = {"G": Sight.GREEN, "R": Sight.SAME_RED, "N": Sight.NEW_RED, "-": Sight.NOTHING}


def step(letters: str) -> RunStep | None:
    return step_of([SIGHTS[letter] for letter in letters])


def told(letters: str) -> tuple[StepKind, int, str, str] | None:
    found = step(letters)
    return None if found is None else (found.kind, found.at, str(found.before), str(found.after))


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("GRRR", (StepKind.FIRST, 1, "G", "R")),
        ("RGGG", (StepKind.FIRST, 1, "R", "G")),
        ("-GN-RRNR", (StepKind.FIRST, 4, "G", "R")),
        ("GRR", None),
        ("GRRRG", None),
        ("GGRRR", None),
        ("RRRR", None),
        ("", None),
        ("--", None),
        ("G" * 8 + "R" * 8, (StepKind.LONG, 8, "G", "R")),
        ("R" * 9 + "-" + "G" * 8, (StepKind.LONG, 10, "R", "G")),
        ("G" * 8 + "R" * 7, None),
        ("G" * 7 + "R" * 8, None),
        ("RG" + "R" * 8 + "G" * 8 + "R", (StepKind.LONG, 10, "R", "G")),
        ("G" + "R" * 8 + "G" * 8, (StepKind.LONG, 9, "R", "G")),
    ],
)
def test_a_step_is_a_first_run_unlike_the_others_or_two_long_runs(
    letters: str, expected: tuple[StepKind, int, str, str] | None
) -> None:
    assert told(letters) == expected


def drawn(rate: float, runs: int) -> Iterator[str]:
    random = Random(7)
    for _ in range(2000):
        yield "".join("R" if random.random() < rate else "G" for _ in range(runs))


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_flake_seldom_has_a_long_step(rate: float) -> None:
    found = [told(letters) for letters in drawn(rate, 64)]
    assert sum(one is not None and one[0] is StepKind.LONG for one in found) <= 8
