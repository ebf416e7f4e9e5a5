"""The arms of every target on a binary whose first run leaves a cache that makes all later ones red."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import arm, attribute, diagnose, shell

REPEATED = ("--arms=fresh-state,placebo", "--repeat=2")


def homes(folder: Path) -> dict[str, str]:
    """What a user's shell sets, in a folder of the test."""
    home = folder / "home"
    (home / ".cache").mkdir(parents=True)
    return {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}


def counts(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {entry["role"]: (entry["red"], entry["runs"]) for entry in report["arms"]}


def test_a_cache_of_an_earlier_run_is_seen_by_all_but_those_with_fresh_state(zoo: Path, tmp_path: Path) -> None:
    changes = homes(tmp_path)
    shell(str(zoo / "kernel_cache"), cwd=tmp_path, **changes)
    report = diagnose(*REPEATED, zoo / "kernel_cache", cwd=tmp_path, **changes)
    assert counts(report) == {"baseline": (2, 2), "fresh-state": (0, 2), "used-state": (2, 2), "placebo": (2, 2)}
    assert [arm(report, role)["acted"] for role in ("fresh-state", "used-state", "placebo")] == [
        "plausible",
        "plausible",
        "proven",
    ]
    assert not [*tmp_path.glob(".pooldiag/*/*/state")]  # what the target kept there is given back


def test_the_line_that_shows_it_green_makes_its_folders_and_can_be_typed_again(zoo: Path, tmp_path: Path) -> None:
    changes = homes(tmp_path)
    shell(str(zoo / "kernel_cache"), cwd=tmp_path, **changes)
    report = diagnose("--repeat=4", zoo / "kernel_cache", cwd=tmp_path, **changes)
    assert report["answer"] == "outside-state"
    assert report["next_purpose"] == "green under fresh-state"
    for _ in range(2):
        assert shell(report["next"], cwd=tmp_path, **changes).returncode == 0
    assert shell(report["reproducer"], cwd=tmp_path, **changes).returncode == 1


def test_a_black_box_has_these_arms_too(tmp_path: Path) -> None:
    target = tmp_path / "box"
    target.write_text('#!/bin/sh\ntest ! -e "$HOME/kept" && test -d "$TMPDIR" && touch "$HOME/kept"\n')
    target.chmod(0o755)
    changes = homes(tmp_path)
    (tmp_path / "home" / "kept").touch()
    report = diagnose(*REPEATED, target, cwd=tmp_path, TMPDIR=str(tmp_path), **changes)
    assert counts(report) == {"baseline": (2, 2), "fresh-state": (0, 2), "used-state": (2, 2), "placebo": (2, 2)}


def test_the_plan_says_in_short_what_these_arms_change(zoo: Path, tmp_path: Path) -> None:
    plan = attribute("--dry-run", *REPEATED, zoo / "vacuous", cwd=tmp_path).out
    assert "  fresh-state  HOME, TMPDIR, the XDG folders and the caches of kernels empty\n" in plan
    assert "  used-state   the same folders, as the last run of fresh-state left them\n" in plan
    assert "  placebo      a variable that nobody reads, as long as those of an arm\n" in plan


def test_the_second_use_comes_with_the_first_and_is_not_named_by_itself(refused: Callable[..., str], zoo: Path) -> None:
    problem, hint = refused("--arms=used-state", zoo / "vacuous").splitlines()
    assert problem == ("pooldiag: --arms used-state: uses the folder that fresh-state left, and comes along with it")
    assert hint == "  name fresh-state"


@pytest.mark.parametrize("role", ["fresh-state", "used-state", "placebo"])
def test_no_switch_plays_what_every_target_has(refused: Callable[..., str], zoo: Path, role: str) -> None:
    assert f"no switch plays the role {role}" in refused(f"--arm={role}=HOME=x", zoo / "vacuous")


def test_a_file_that_the_first_run_left_is_proposed_to_be_taken_away_by_a_line_that_is_green(tmp_path: Path) -> None:
    target = tmp_path / "box"
    target.write_text("#!/bin/sh\ntest ! -e 'a file' && touch 'a file'\n")
    target.chmod(0o755)
    report = diagnose("--repeat=4", "--arms=placebo", target, cwd=tmp_path)
    assert arm(report, "baseline")["step"] == {"kind": "first", "at": 1, "before": "G", "after": "R"}
    (note,) = (note for note in report["notes"] if note.startswith("the first run left"))
    head, _, line = note.partition("; without it: ")
    assert head == "the first run left a file in the working directory"
    typed = shell(line, cwd=tmp_path)
    assert typed.returncode == 0, typed.stdout
    assert typed.stdout.startswith("Green")
