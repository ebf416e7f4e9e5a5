"""`bisect` on a real suite of a known fault. What the search finds in others is proven in `tests/diagnose`."""

import json
import os
import sys
from math import ceil, log2
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import bisect, shell
from tests.cli.suites import Suite, name, names

OUTPUT = "--outputs=out.bin:f32"


@pytest.fixture
def suite(zoo: Path) -> Path:
    return zoo / "order_dependent"


def searched(shape: Suite, *words: str, suite: Path, cwd: Path) -> dict[str, Any]:
    """Bisect without the arms: the search itself."""
    return bisect("--no-arms", *words, suite, cwd=cwd, **shape.variables)


def test_one_polluter_is_found_within_the_bounds_of_runs_and_cases(suite: Path, tmp_path: Path) -> None:
    cases, before, polluter = 100, 99, 31
    report = searched(Suite(cases=cases, polluters=str(polluter)), suite=suite, cwd=tmp_path)
    assert report["status"] == "found"
    assert (report["victim"], report["position"]) == (name(cases), cases)
    assert (report["prefix"], report["polluters"]) == (polluter, names(polluter))
    proof = [one for one in report["probed"] if one["phase"] == "prefix"]
    assert report["runs"] - len(proof) <= ceil(log2(before)) + 4 + 2
    assert len(proof) <= 2
    assert report["cases_run"] - sum(one["cases"] for one in proof) <= 2 * cases + log2(before) + 5 + 3


@pytest.mark.parametrize(("how", "kind"), [("hang", "hang"), ("output", "nan")])
def test_the_victim_is_found_whatever_it_does(how: str, kind: str, suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=10, polluters="6", victim=9, how=how)
    words = [OUTPUT] if how == "output" else []
    report = searched(shape, "--timeout=1", "--grace=1", *words, suite=suite, cwd=tmp_path)
    assert (report["status"], report["signature"]["kind"]) == ("found", kind)
    assert (report["victim"], report["polluters"], report["prefix"]) == (name(9), names(6), 6)
    assert report["named_by"] == ("search" if how == "output" else "stream")


def test_a_brittle_case_is_found_with_what_sets_it_up(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=40, setters="11")
    report = searched(shape, f"--victim={name(40)}", suite=suite, cwd=tmp_path)
    assert (report["status"], report["red_alone"], report["prefix"]) == ("found", True, 0)
    assert report["state_setters"] == names(11)
    done = shell(report["green_command"], cwd=tmp_path, **shape.variables)
    assert done.returncode == 0


def test_the_same_answer_comes_with_several_runs_at_a_time(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=100, polluters="17,63")
    one = searched(shape, suite=suite, cwd=tmp_path)
    three = searched(shape, "--jobs=3", suite=suite, cwd=tmp_path)
    same = ("status", "victim", "position", "prefix", "polluters", "sets", "reproducer", "green_command")
    assert {key: three[key] for key in same} == {key: one[key] for key in same}


def test_the_next_command_goes_on_where_the_runs_were_spent(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=100, polluters="31")
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # as `shell` has it: it is part of a run
    first = bisect("--no-arms", "--max-runs=5", suite, cwd=tmp_path, **shape.variables, **path)
    line = first["next"].replace("pooldiag bisect", "pooldiag bisect --json", 1)
    done = shell(line, cwd=tmp_path, **shape.variables)
    report = json.loads(done.stdout)
    assert (done.returncode, report["status"], report["polluters"]) == (1, "found", names(31))
    assert report["recalled"] == first["runs"], report["notes"]
    assert report["evidence"] == first["evidence"]


def test_the_next_red_is_followed_by_the_line_that_is_printed_for_it(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=13, polluters="5", victim=7, always="9")
    first = searched(shape, suite=suite, cwd=tmp_path)
    line = first["next"].replace("pooldiag bisect", "pooldiag bisect --json", 1)
    report = json.loads(shell(line, cwd=tmp_path, **shape.variables).stdout)
    assert (report["victim"], report["prefix"], report["red_alone"]) == (name(9), 0, True)


def test_a_set_up_that_is_run_before_stands_in_the_printed_lines(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=9, polluters="4")
    report = searched(shape, "--before=touch ready", suite=suite, cwd=tmp_path)
    assert report["reproducer"].startswith("touch ready && ")
    (tmp_path / "ready").unlink()
    assert shell(report["reproducer"], cwd=tmp_path, **shape.variables).returncode == 1
    assert (tmp_path / "ready").exists()
