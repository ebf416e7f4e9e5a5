"""A bisection that is cut off: killed, interrupted, or taken down by a case; and gone on with."""

import json
import signal
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import bisect, pooldiag
from tests.cli.processes import started
from tests.cli.suites import Suite, runs_of
from tests.execute.helpers import wait_until

SHAPE = Suite(cases=13, polluters="3,7")
SAME = ("status", "victim", "position", "prefix", "polluters", "runs", "cases_run", "reproducer", "green_command")
KILLS = [("began", 2), ("began", 7), ("finished", 1), ("finished", 6)]  # all others: tests/diagnose


@pytest.fixture
def suite(zoo: Path) -> Path:
    return zoo / "order_dependent"


def journal(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of the only journal below a folder."""
    lines = [
        line
        for path in folder.glob(".pooldiag/*/journal.jsonl")
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def entries(folder: Path, what: str) -> list[tuple[str, int]]:
    return [(entry["key"], entry["repeat"]) for entry in journal(folder) if entry["is"] == what]


def has_finished(folder: Path, count: int) -> bool:
    return len(entries(folder, "finished")) >= count


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, examples_build: Path) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    report = bisect("--no-arms", examples_build / "zoo" / "order_dependent", cwd=folder, **SHAPE.variables)
    assert len(entries(folder, "finished")) >= 10
    return {key: report[key] for key in SAME}


@pytest.mark.parametrize(("what", "count"), KILLS)
def test_a_killed_bisection_goes_on_to_the_same_answer_and_repeats_no_finished_run(
    what: str, count: int, uninterrupted: dict[str, Any], suite: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    variables = Suite(cases=13, polluters="3,7", log=log).variables
    with started("--no-lock", "--no-arms", suite, command="bisect", cwd=tmp_path, **variables) as begun:
        wait_until(lambda: len(entries(tmp_path, what)) >= count, f"{count} runs {what}")
        begun.process.send_signal(signal.SIGKILL)
        begun.process.wait()
    finished = entries(tmp_path, "finished")
    report = bisect("--no-arms", "--resume", suite, cwd=tmp_path, **variables)
    assert {key: report[key] for key in SAME} == uninterrupted
    assert max(Counter(entries(tmp_path, "finished")).values()) == 1
    assert set(finished) <= set(entries(tmp_path, "finished"))
    assert len(runs_of(log)) <= len(entries(tmp_path, "began"))
    assert report["recalled"] >= min(len(finished), report["runs"])


def test_ctrl_c_leaves_a_report_that_is_gone_on_with(
    uninterrupted: dict[str, Any], suite: Path, tmp_path: Path
) -> None:
    with started("--no-lock", "--no-arms", "--json", suite, command="bisect", cwd=tmp_path, **SHAPE.variables) as begun:
        wait_until(lambda: len(entries(tmp_path, "finished")) >= 4, "four runs finished")
        begun.process.send_signal(signal.SIGINT)
        assert begun.process.wait() == 130
    report = json.loads((begun.output / "out").read_text())
    assert (report["partial"], report["status"]) == (True, "unresolved")
    report = bisect("--no-arms", "--resume", suite, cwd=tmp_path, **SHAPE.variables)
    assert {key: report[key] for key in SAME} == uninterrupted


def test_a_case_that_kills_its_parent_under_the_lock_gets_the_lock_again(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=13, polluters="5", victim=9, how="kill")
    said = pooldiag("bisect", f"--lock={tmp_path / 'lock'}", "--no-arms", suite, cwd=tmp_path, **shape.variables)
    assert said.code == 1, said.err


def test_another_terminal_session_goes_on_as_well(suite: Path, tmp_path: Path) -> None:
    variables = SHAPE.variables
    with started("--no-lock", "--no-arms", suite, command="bisect", cwd=tmp_path, **variables) as begun:
        wait_until(lambda: len(entries(tmp_path, "finished")) >= 4, "four runs finished")
        begun.process.kill()
        begun.process.wait()
    session = {"SSH_CONNECTION": "a", "XDG_SESSION_ID": "7", "TMUX": "b", "TERM": "dumb", "GPG_TTY": "c"}
    report = bisect("--no-arms", "--resume", suite, cwd=tmp_path, **variables, **session)
    assert report["recalled"] >= 4


def test_what_keeps_runs_from_being_taken_over_is_told(suite: Path, tmp_path: Path) -> None:
    with started("--no-lock", "--no-arms", suite, command="bisect", cwd=tmp_path, **SHAPE.variables) as begun:
        wait_until(partial(has_finished, tmp_path, 4), "four runs finished")
        begun.process.kill()
        begun.process.wait()
    report = bisect("--no-arms", "--resume", suite, cwd=tmp_path, **SHAPE.variables, SOME_SWITCH="1")
    assert report["recalled"] == 0
    assert any("SOME_SWITCH" in note for note in report["notes"])


def test_there_is_nothing_to_go_on_with_after_a_bisection_that_ended(suite: Path, tmp_path: Path) -> None:
    bisect("--no-arms", suite, cwd=tmp_path, **SHAPE.variables)
    said = pooldiag("bisect", "--no-lock", "--resume", suite, cwd=tmp_path, **SHAPE.variables)
    assert said.code == 2
    assert "--resume" in said.err
