"""`scripts/bench` with as little work as it can do: its figures are for reading, and no test has a limit for them."""

import math
import re
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
LIMIT_SECONDS = 300
ROW = re.compile(r"  (?P<label>.*?\S) +(?P<low>-?[\d.]+|nan|inf) +(?P<median>\S+) +(?P<high>\S+)")
LEAST = ("--pairs", "1", "--share", "0.01")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CHECKOUT / "scripts" / "bench", *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def rows(output: str) -> list[tuple[str, tuple[float, ...]]]:
    """Return the label and the figures of every row."""
    found = [match for line in output.splitlines() if (match := ROW.fullmatch(line))]
    return [(row["label"], tuple(float(row[name]) for name in ("low", "median", "high"))) for row in found]


def test_startup_is_compared_with_a_bare_application() -> None:
    done = bench("startup", *LEAST)
    assert (done.returncode, done.stderr) == (0, "")
    blocks = [line for line in done.stdout.splitlines() if line.startswith("pooldiag ")]
    assert [block.partition(":")[0] for block in blocks] == [
        "pooldiag --help",
        "pooldiag --version",
        "pooldiag attribute --help",
        "pooldiag attribute --dry-run target",
    ]
    ratios = [figures for label, figures in rows(done.stdout) if label.startswith("pooldiag / bare")]
    assert len(ratios) == 4
    assert all(math.isfinite(figure) and figure > 0 for figures in ratios for figure in figures)
    assert len(re.findall(r"load average (?:now )?\d+\.\d+", done.stdout)) == 2


@pytest.mark.usefixtures("examples_build")
def test_runs_are_compared_with_the_same_command_lines_in_a_shell() -> None:
    done = bench("overhead", *LEAST)
    assert (done.returncode, done.stderr) == (0, "")
    found = rows(done.stdout)
    for label in (
        "pooldiag",
        "shell script",
        "pooldiag - shell script",
        "pooldiag / shell script",
        "once a diagnosis: start, listing, last report",
    ):
        figures = [figure for name, row in found if name == label for figure in row]
        assert len(figures) == 5 * 3, label
        assert all(map(math.isfinite, figures)), label
    for name in ("nothing, ", "vacuous, ", "test_forward, ", "sleeps, ", "counts, "):
        assert f"\n{name}" in done.stdout


def test_a_name_that_is_no_benchmark_is_refused_by_the_names_that_are() -> None:
    done = bench("speed")
    assert done.returncode == 2
    assert "no benchmark speed; there are: startup, overhead" in done.stderr
