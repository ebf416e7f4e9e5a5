"""A report of many reds of one cause can be read at once, and says where they are, by the command."""

import re
import sys
from pathlib import Path

import pytest

from tests.cli.command import FLOORS, bisect, diagnose, pooldiag

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
    path = tmp_path / "engine" / "run_kernels"
    path.parent.mkdir()
    (path.parent / "pyproject.toml").touch()
    path.write_text(RUNNER.format(python=sys.executable, untouched=request.param))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("command", ["attribute", "bisect", "orders"])
def test_thirty_reds_of_one_cause_fit_forty_lines(command: str, runner: Path) -> None:
    words = ("-q", "--no-lock", *FLOORS, "--framework=listfile", f"./{runner.name}")
    text = pooldiag(command, *words, cwd=runner.parent).out
    assert len(text.splitlines()) <= MOST_LINES, text
    assert re.search(r"\d\d more with the same message, the first of them", " ".join(text.split()))
    assert "RuntimeError: CUDA error 700: illegal access" in text
    assert "(tests/kernels/launch.py:5)" in text
    assert not re.search(r"test_step\[bf16-2\d\].*test_step\[bf16-2\d\]", text, re.DOTALL)


@pytest.mark.usefixtures("runner")
def test_a_place_is_a_path_from_where_one_works_or_from_the_project_and_the_red_is_the_same(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ("--framework=listfile", "--arms=isolate", "../engine/run_kernels")
    from_project, from_here = (
        diagnose(*words[:-1], path, cwd=cwd) for path, cwd in ((words[-1], elsewhere), ("engine/run_kernels", tmp_path))
    )
    assert from_project["signature"]["place"] == from_here["signature"]["place"]
    assert from_project["signature"]["place_shown"] == "tests/kernels/launch.py:5"
    assert from_here["signature"]["place_shown"] == "engine/tests/kernels/launch.py:5"
    again = bisect("--no-arms", Path(from_project["evidence"]), cwd=tmp_path)
    assert (again["signature"]["case"], again["reason"]) == (from_project["signature"]["case"], None)
    assert again["signature"]["message"] == from_project["signature"]["message"]
