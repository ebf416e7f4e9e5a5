"""Variables of the user's that fill memory: removed, they are told on a green; kept, they are told as a fill."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cli.command import diagnose, shell
from tests.cli.test_attribute_glibc import program

FILLED = {"MALLOC_PERTURB_": "85"}
SOURCE = """
#include <stdlib.h>
static int *volatile fresh;
int main(void) {
    fresh = malloc(80000);
    return fresh[100] != 0;  /* never written */
}
"""


def reading(folder: Path) -> Path:
    """A program that reads memory that nobody wrote."""
    return program(folder, source=SOURCE)


def lines(report: dict[str, Any]) -> Iterator[str]:
    """The commands in the notes, as they are to be typed."""
    for note in report["notes"]:
        yield from re.findall(r": (pooldiag .*)$", note)


def test_a_green_says_that_a_fill_was_removed_and_both_commands_show_the_red(tmp_path: Path) -> None:
    target = reading(tmp_path)
    report = diagnose(target, cwd=tmp_path, **FILLED)
    assert report["status"] == "green"
    (note,) = (note for note in report["notes"] if note.startswith("MALLOC_PERTURB_=85 of the environment was removed"))
    assert "is perhaps what made it red (glibc malloc fills what it hands out and takes back)" in note
    kept, profile = lines(report)
    assert "--keep-env=MALLOC_PERTURB_" in kept
    assert "--profile=glibc" in profile
    assert report["next"] == kept
    for line in (kept, profile):
        again = shell(line, cwd=tmp_path, **FILLED)
        assert again.returncode in {1, 3}
        assert again.stdout.startswith(("Red", "Green as it is, red under"))


def test_a_fill_that_is_kept_is_told_as_one_and_nothing_is_said_to_be_removed(tmp_path: Path) -> None:
    report = diagnose("--keep-env=MALLOC_PERTURB_", reading(tmp_path), cwd=tmp_path, **FILLED)
    assert report["arms"][0]["red"] == report["arms"][0]["runs"] > 0
    assert (
        "the baseline runs with MALLOC_PERTURB_=85, kept: it is a fill itself (glibc malloc fills what it hands out and"
        " takes back)"
    ) in report["notes"]
    assert not [*lines(report)]


def test_other_variables_stay_kept_in_the_command(tmp_path: Path) -> None:
    changes = {**FILLED, "PYTHONMALLOC": "debug"}
    report = diagnose("--keep-env=PYTHONMALLOC", reading(tmp_path), cwd=tmp_path, **changes)
    assert "--keep-env=PYTHONMALLOC --keep-env=MALLOC_PERTURB_" in report["next"]


def test_what_fills_nothing_is_removed_without_a_word(tmp_path: Path) -> None:
    report = diagnose(reading(tmp_path), cwd=tmp_path, MALLOC_PERTURB_="0", MALLOC_ARENA_MAX="1")
    assert {entry["name"] for entry in report["removed_variables"]} == {"MALLOC_PERTURB_", "MALLOC_ARENA_MAX"}
    assert not [*lines(report)]
