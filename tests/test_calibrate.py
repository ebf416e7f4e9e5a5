"""`scripts/calibrate` and `scripts/calibrate_bisect` play what they say, the same game for the same seed."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def calibrate(*words: str, script: str = "calibrate") -> str:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_steady_faults_of_a_named_answer_are_answered_rightly() -> None:
    words = ("--trials=20", "--real=0", "--rate=1", "--world=named", "--world=flakes")
    said = calibrate(*words)
    assert re.search(r"^\| named \| 1 \| 20 \| 100\.0% \| 0\.00% ", said, re.MULTILINE)
    assert re.search(r"^\| flakes \| 1 \| 20 \| 100\.0% \| 0\.00% ", said, re.MULTILINE)
    assert calibrate(*words) == said


def test_real_flaky_binaries_are_diagnosed_by_the_command(examples_build: Path) -> None:
    assert (examples_build / "zoo" / "flaky_reuse").exists()
    said = calibrate("--trials=0", "--real=1", "--rate=1")
    assert re.search(r"^\| flaky_independent \| 1 \| 1 \| 100\.0% ", said, re.MULTILINE)
    assert re.search(r"^\| flaky_reuse \| 1 \| 1 \| 100\.0% ", said, re.MULTILINE)


# --- bisections of what is red now and then --------------------------------------------------------------------------


def rows(said: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in said.splitlines()[2:]]


FLAKES = [("a flake", "6", rate) for rate in ("30%", "50%", "70%", "90%")]
POLLUTERS = [
    *(("one polluter", "6", rate) for rate in ("20%", "50%", "80%", "100%")),
    *(("two needed together", "6", rate) for rate in ("50%", "100%")),
    *(("one polluter, 60 runs at most", "8", rate) for rate in ("10%", "20%", "30%")),
]


@pytest.mark.parametrize(("words", "polluters"), [((), POLLUTERS), (("--command",), [("one polluter", "6", "50%")])])
def test_bisections_of_flakes_and_of_seldom_polluters_are_counted(
    words: tuple[str, ...], polluters: list[tuple[str, ...]]
) -> None:
    words = (*words, "--answers=1", "--cases=6", "--jobs=1")
    said = rows(calibrate(*words, script="calibrate_bisect"))
    assert [tuple(row[:4]) for row in said] == [(*cell, "1") for cell in (*FLAKES, *polluters)]
    for _, _, rate, _, wrong, _, right, unknown, runs in said:
        assert {wrong, right, unknown} <= {"0.00%", "100.00%"}
        assert right == "100.00%" or rate != "100%"
        assert float(runs) >= 2


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    """What `scripts/calibrate_bisect` defines."""
    path = [*sys.path]
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        return runpy.run_path(str(ROOT / "scripts" / "calibrate_bisect"), run_name="calibrate_bisect")
    finally:
        sys.path[:] = path


@pytest.mark.parametrize(
    ("flake", "asked", "rate", "exit_code"),
    [(True, "6", 1, 1), (True, "6", 0, 0), (False, "6", 1, 0), (False, "2 6", 1, 1), (False, "2 6", 0, 0)],
)
def test_the_program_in_sh_is_red_after_its_polluter_or_whatever_ran(
    program: dict[str, Any], tmp_path: Path, *, flake: bool, asked: str, rate: float, exit_code: int
) -> None:
    cell = program["Cell"](polluters=0 if flake else 1, cases=6, rate=rate, answers=1, seed=0)
    program["write_suite"](cell, "2", Random(0), tmp_path)
    words = [f"--case={name}" for name in asked.split()]
    done = subprocess.run([tmp_path / "suite", "--report=report", *words], cwd=tmp_path, check=False)
    assert done.returncode == exit_code
    assert (tmp_path / "runs").read_text() == "1\n"
    begun = [line for line in (tmp_path / "report").read_text().splitlines() if line.startswith("begin ")]
    assert begun == [f"begin {name}" for name in asked.split()]


@pytest.mark.parametrize("polluters", [1, 2])
def test_every_run_of_a_search_is_counted(program: dict[str, Any], polluters: int) -> None:
    sure = program["Cell"](polluters=polluters, cases=6, rate=1.0, answers=1, seed=0)
    answer = program["in_memory"](sure, sure.random(0))
    random = sure.random(0)
    played = program["Suite"](5, (frozenset(random.sample(range(5), polluters)),))
    program["reduce_order"](played, 5)
    assert (answer.said, answer.runs) == ("right", len(played.ran))


@pytest.mark.parametrize(
    ("status", "named", "needed", "said"),
    [
        ("green", (), (1,), None),
        ("unresolved", (1,), (1,), "open"),
        ("blocked", (), (), "open"),
        ("found", (1,), (1,), "right"),
        ("found", (1,), (1, 2), "wrong"),
        ("found", (1, 2), (1,), "wrong"),
        ("found", (), (), "right"),
        ("found", (2,), (), "wrong"),
    ],
)
def test_only_what_is_needed_is_right(
    program: dict[str, Any], status: str, named: tuple[int, ...], needed: tuple[int, ...], said: str | None
) -> None:
    assert program["judged"](program["BisectStatus"](status), named, needed, runs=1, setter=False).said == said


def test_what_makes_a_flake_green_is_named_neither_rightly_nor_wrongly(program: dict[str, Any]) -> None:
    flake = program["Cell"](polluters=0, cases=6, rate=0.5, answers=2, seed=0)
    answers = iter([program["Answer"](said="right", runs=3, setter=True), program["Answer"](said="right", runs=5)])
    row = program["row"](flake, lambda _cell, _random: next(answers))
    assert (row[4], *row[6:]) == ("0.00%", "50.00%", "0.00%", "4.0")
