"""`orders` on suites of a known fault: what is red, what the shortest prefix is, and when it stops."""

from pathlib import Path

import pytest

from tests.cli.command import survey
from tests.cli.suites import Suite, name

PLAIN = ("--orders=file,name", "--seeds=none")


@pytest.fixture
def suite(zoo: Path) -> Path:
    return zoo / "order_dependent"


def test_a_case_that_is_always_red_hides_no_other(suite: Path, tmp_path: Path) -> None:
    report = survey("--orders=file", "--seeds=2..6", suite, cwd=tmp_path, **Suite(polluters="5", always="2").variables)
    assert report["shortest"]["victim"] == name(13)
    assert 1 <= report["shortest"]["prefix"] <= 5
    assert any("red alone, whatever the order" in note for note in report["notes"])


def test_the_same_list_runs_once(suite: Path, tmp_path: Path) -> None:
    report = survey("--orders=file,name", "--seeds=0..1", suite, cwd=tmp_path, **Suite().variables)
    same = [entry["same_as"] for entry in report["orders"]]
    assert same == [None, {"order": "file", "seed": None}, None, {"order": "rand", "seed": 0}]


def test_options_behind_target_are_taken(suite: Path, tmp_path: Path) -> None:
    report = survey(suite, "--seeds", "3..4", "--orders", "none", cwd=tmp_path, **Suite().variables)
    assert [entry["seed"] for entry in report["orders"]] == [3, 4]
