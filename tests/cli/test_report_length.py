"""A report of many reds of one cause stays short enough to be read at once, by the command."""

import re
import sys
from pathlib import Path

import pytest

from tests.cli.command import FLOORS, pooldiag

MOST_LINES = 40

RUNNER = """#!{python}
import sys

NAMES = [f"tests/kernels/test_decode.py::test_step[bf16-{{number}}]" for number in range(1, 33)]
options = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith(("--list", "--run", "--report")))
cases = [word.partition("=")[2] for word in sys.argv[1:] if word.startswith("--case=")]
if "list-cases" in options:
    open(options["list-cases"], "w").write("".join(f"case {{name}}\\n" for name in NAMES) + "end\\n")
    sys.exit()
cases = open(options["run-cases"]).read().splitlines() if "run-cases" in options else cases or NAMES
report = open(options.get("report", "/dev/null"), "a")
broken, failed = False, False
for name in cases:
    print("begin", name, file=report, flush=True)
    broken |= name == NAMES[1]
    red = broken and name not in {untouched}
    failed |= red
    where = "{{}}/tests/kernels/launch.py:5".format(sys.path[0])
    print(f"fail {{where}}: RuntimeError: CUDA error 700: illegal access" if red else "pass", file=report, flush=True)
print("end", file=report)
sys.exit(int(failed))
"""


@pytest.fixture(params=["[]", "NAMES[1:2]"], ids=["loud", "silent"])
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A runner whose second case breaks the device: it fails itself, or passes, and all behind it fail."""
    path = tmp_path / "run_kernels"
    path.write_text(RUNNER.format(python=sys.executable, untouched=request.param))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("command", ["attribute", "bisect", "orders"])
def test_thirty_reds_of_one_cause_fit_forty_lines(command: str, runner: Path, tmp_path: Path) -> None:
    words = ("-q", "--no-lock", *FLOORS, "--framework=listfile", f"./{runner.name}")
    text = pooldiag(command, *words, cwd=tmp_path).out
    assert len(text.splitlines()) <= MOST_LINES, text
    assert re.search(r"\d\d more with the same message, the first of them", " ".join(text.split()))
    assert "RuntimeError: CUDA error 700: illegal access" in text
    assert "(tests/kernels/launch.py:5)" in text
    assert not re.search(r"test_step\[bf16-2\d\].*test_step\[bf16-2\d\]", text, re.DOTALL)
