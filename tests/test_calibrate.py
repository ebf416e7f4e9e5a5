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


@pytest.mark.parametrize(("words", "polluters"), [((), ("30%", "50%", "80%", "100%")), (("--command",), ("50%",))])
def test_bisections_of_flakes_and_of_seldom_polluters_are_counted(
    words: tuple[str, ...], polluters: tuple[str, ...]
) -> None:
    words = (*words, "--answers=1", "--cases=6")
    said = calibrate(*words, script="calibrate_bisect")
    assert [row[:4] for row in rows(said)] == [
        *(["a flake: a polluter is named", "6", rate, "1"] for rate in ("30%", "50%", "70%", "90%")),
        *(["a polluter: it is named", "6", rate, "1"] for rate in polluters),
    ]
    assert all(row[4] in {"0.00%", "100.00%"} and float(row[6]) >= 3 for row in rows(said))


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
    cell = program["Cell"](flake=flake, cases=6, rate=rate, answers=1, seed=0)
    program["write_suite"](cell, "2", Random(0), tmp_path)
    words = [f"--case={name}" for name in asked.split()]
    done = subprocess.run([tmp_path / "suite", "--report=report", *words], cwd=tmp_path, check=False)
    assert done.returncode == exit_code
    assert (tmp_path / "runs").read_text() == "1\n"
    begun = [line for line in (tmp_path / "report").read_text().splitlines() if line.startswith("begin ")]
    assert begun == [f"begin {name}" for name in asked.split()]


def test_an_answer_holds_where_its_lines_do(program: dict[str, Any]) -> None:
    sure = program["Cell"](flake=False, cases=6, rate=1.0, answers=1, seed=0)
    answer = program["in_memory"](sure, sure.random(0))
    assert (answer.red, answer.named, answer.right) == (True, True, True)
    search, suite = program["reduce_order"], program["Suite"]
    played = suite(5, (frozenset({2}),))
    found = search(played, 5, plan=program["PLAN"])
    assert found.polluters == (2,)
    assert program["lines_hold"](played, found)
    assert not program["lines_hold"](suite(5), found)
    assert not program["lines_hold"](suite(5, flake=1.0), found)
    assert answer.runs >= found.runs + 2
