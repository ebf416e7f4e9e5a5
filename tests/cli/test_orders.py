"""`orders` on suites of a known fault: what is red, what the shortest prefix is, and when it stops."""

from pathlib import Path

import pytest

from tests.cli.command import pooldiag, survey
from tests.cli.suites import Suite, name, names

PLAIN = ("--orders=file,name", "--seeds=none")


@pytest.fixture
def suite(zoo: Path) -> Path:
    return zoo / "order_dependent"


def test_a_case_that_is_always_red_hides_no_other(suite: Path, tmp_path: Path) -> None:
    report = survey("--orders=file", "--seeds=2..6", suite, cwd=tmp_path, **Suite(polluters="5", always="2").variables)
    assert report["shortest"]["victim"] == name(13)
    assert 1 <= report["shortest"]["prefix"] <= 5
    assert any("red alone, whatever the order" in note for note in report["notes"])


def test_only_the_victim_that_is_named_is_looked_for(suite: Path, tmp_path: Path) -> None:
    shape = Suite(polluters="5", always="2")
    report = survey(f"--victim={name(2)}", *PLAIN, suite, cwd=tmp_path, **shape.variables)
    assert (report["shortest"], report["orders"][0]["prefix"]) == (None, 0)
    said = pooldiag("orders", "--no-lock", "--victim=case 2", *PLAIN, suite, cwd=tmp_path, **shape.variables)
    assert said.code == 2
    assert "the nearest is" in said.err


def test_runs_and_time_that_are_spent_end_it_and_are_told(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=40, polluters="5")
    few = survey("--orders=file", "--seeds=2..9", "--max-runs=2", suite, cwd=tmp_path, **shape.variables)
    assert len([entry for entry in few["orders"] if entry["same_as"] is None]) == 2
    assert any("runs are spent" in note for note in few["notes"])
    late = survey("--orders=file", "--seeds=2..9", "--budget=1ms", suite, cwd=tmp_path, **shape.variables)
    assert any("time is spent" in note for note in late["notes"])


def test_the_same_list_runs_once(suite: Path, tmp_path: Path) -> None:
    report = survey("--orders=file,name", "--seeds=0..1", suite, cwd=tmp_path, **Suite().variables)
    same = [entry["same_as"] for entry in report["orders"]]
    assert same == [None, {"order": "file", "seed": None}, None, {"order": "rand", "seed": 0}]


def test_options_behind_target_are_taken(suite: Path, tmp_path: Path) -> None:
    report = survey(suite, "--seeds", "3..4", "--orders", "none", cwd=tmp_path, **Suite().variables)
    assert [entry["seed"] for entry in report["orders"]] == [3, 4]


def test_a_red_in_no_case_is_told_and_left_to_bisect(zoo: Path, tmp_path: Path) -> None:
    report = survey(*PLAIN, zoo / "crash_after_summary", cwd=tmp_path)
    assert (report["orders"][0]["reading"], report["shortest"]) == ("red", None)
    assert any("in no case" in note for note in report["notes"])


def test_the_failing_set_is_named_for_each_order(suite: Path, tmp_path: Path) -> None:
    report = survey("--orders=file", "--seeds=none", suite, cwd=tmp_path, **Suite(always="2,9").variables)
    assert report["orders"][0]["failing"] == names(2, 9)


def test_a_flake_is_no_accident_of_order(suite: Path, tmp_path: Path) -> None:
    # File order is green in the first run and red in the eighth, which is the second one of it.
    chance = {"ZOO_COUNTER": str(tmp_path / "counter"), "ZOO_RED_RUNS": "2,4,6,8,9"}
    shape = Suite(cases=6, setters="99", rate=0.5)
    report = survey("--orders=file", "--seeds=2..7", suite, cwd=tmp_path, **shape.variables, **chance)
    assert (report["by_accident"], report["orders"][0]["reading"]) == (False, "green")
    assert any("two runs of it disagree" in note for note in report["notes"])
