"""`bisect` of a runner that takes a file of names: a pytest suite, and a harness in plain sh."""

import os
import sys
from pathlib import Path

import pytest

from tests.cli.command import bisect, shell, survey

EXAMPLES = Path(__file__).parents[2] / "examples" / "listfile"
LISTFILE = "--framework=listfile"


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of these tests is the one that the example's first line finds."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.usefixtures("path")
def test_a_pytest_suite_is_bisected_through_the_example(tmp_path: Path) -> None:
    report = bisect(LISTFILE, "--no-arms", EXAMPLES / "run_pytest", EXAMPLES / "suite", cwd=tmp_path)
    assert (report["status"], report["target"]["framework"]) == ("found", "listfile")
    (polluter,) = report["polluters"]
    assert "test_rounding.py::" in polluter
    assert shell(report["reproducer"], cwd=tmp_path).returncode == 1
    assert shell(report["green_command"], cwd=tmp_path).returncode == 0


def test_a_harness_in_plain_sh_is_bisected_too(tmp_path: Path) -> None:
    report = bisect(LISTFILE, "--no-arms", EXAMPLES / "checks.sh", cwd=tmp_path)
    assert (report["status"], len(report["polluters"])) == ("found", 1)
    assert shell(report["reproducer"], cwd=tmp_path).returncode != 0
    assert shell(report["green_command"], cwd=tmp_path).returncode == 0


def test_any_wanted_order_runs_as_it_is_wanted(tmp_path: Path) -> None:
    found = bisect(LISTFILE, "--no-arms", EXAMPLES / "checks.sh", cwd=tmp_path)
    (polluter,), victim = found["polluters"], found["victim"]
    (tmp_path / "backwards").write_text(f"{victim}\n{polluter}\n")
    backwards = bisect(LISTFILE, "--no-arms", "--sequence=backwards", EXAMPLES / "checks.sh", cwd=tmp_path)
    assert (backwards["status"], backwards["victim"]) == ("green", None)
    (tmp_path / "forwards").write_text(f"{polluter}\n{victim}\n")
    forwards = bisect(LISTFILE, "--no-arms", "--sequence=forwards", EXAMPLES / "checks.sh", cwd=tmp_path)
    assert (forwards["polluters"], forwards["victim"], forwards["prefix"]) == ([polluter], victim, 1)


def test_seeds_give_such_a_runner_orders_of_ours(tmp_path: Path) -> None:
    report = survey(LISTFILE, "--orders=file,name", "--seeds=0..5", EXAMPLES / "checks.sh", cwd=tmp_path)
    readings = {entry["reading"] for entry in report["orders"]}
    assert readings == {"green", "red"}
