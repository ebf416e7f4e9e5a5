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
