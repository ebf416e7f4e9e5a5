"""`scripts/calibrate` plays what it says, the same game for the same seed."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def calibrate(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "calibrate", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_steady_mechanisms_are_all_right_and_stand_on_the_diagonal() -> None:
    words = ("--trials=5", "--real=0", "--rate=1", "--mechanism=stale-read", "--mechanism=independent")
    said = calibrate(*words)
    assert re.search(r"established 10 times, right 100\.00%", said)
    assert re.search(r"^stale-read +\. +5( +\.)+$", said, re.MULTILINE)
    assert calibrate(*words) == said


def test_real_flaky_binaries_are_diagnosed_by_the_command(examples_build: Path) -> None:
    assert (examples_build / "zoo" / "flaky_reuse").exists()
    said = calibrate("--trials=0", "--real=1", "--rate=1")
    assert re.search(r"^independent +1\.00 +100\.0%", said, re.MULTILINE)
    assert re.search(r"^cross-device-reuse +1\.00 +100\.0%", said, re.MULTILINE)
