"""`scripts/bench` with as little work as it can do: its figures are for reading, and no test has a limit for them."""

import json
import math
import re
import runpy
import subprocess
import sys
import tarfile
import traceback
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from brittle_suite import CASES, FILES, VICTIMS, node_id, write

from pooldiag.census.file_counts import take_census
from pooldiag.census.layouts import LAYOUTS

CHECKOUT = Path(__file__).parent.parent
TOOLS = CHECKOUT / "build" / "bench-tools"
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


@pytest.mark.slow  # the other benchmark of the script runs every time
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
    assert "no benchmark speed; there are: startup, overhead; or bisect or census or suites, alone" in done.stderr


# --- bisect ----------------------------------------------------------------------------------------------------------

# The suite of --quick has 4 cases, the second of which pollutes the last.
BLAMES_AN_INNOCENT_CASE_AFTER_TWO_RUNS = """\
#!/bin/sh
pytest -q "$4"
pytest -q "$4::test_case[0003]"
echo "-> the polluting test is: $4::test_case[0001]"
"""
BREAKS_AT_ONCE = """\
#!/bin/sh
echo "ImportError: half of it is missing" >&2
exit 1
"""
BLAMES_THE_POLLUTER_WITHOUT_A_RUN = """\
#!/bin/sh
echo 'Faulty test: test_suite.py::test_case[0002]'
"""
FINDS_THE_FIRST_RED_COMMIT_ONE_BY_ONE = """\
#!/bin/sh
[ "$1" = run ] || exit 0
for commit in $(git rev-list --reverse prefixes); do
    git checkout --quiet "$commit"
    "$2" >&2 || { echo "Bisection converged to $commit (99.0%)"; exit 0; }
done
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """An environment with three tools that do what is known beforehand."""
    (tmp_path / "bin").mkdir()
    for name, text in {
        "detect-test-pollution": BLAMES_AN_INNOCENT_CASE_AFTER_TWO_RUNS,
        "pytest-bisect-tests": BLAMES_THE_POLLUTER_WITHOUT_A_RUN,
        "git_bayesect": FINDS_THE_FIRST_RED_COMMIT_ONE_BY_ONE,
    }.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def table(output: str) -> dict[str, dict[str, str]]:
    """Return the table as a row a tool."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines() if line[:1] == "|"]
    head, _, *cells = lines
    return {row[head.index("tool")]: dict(zip(head, row, strict=True)) for row in cells}


def test_runs_and_cases_of_every_tool_are_counted_and_its_answer_is_judged(tools: Path) -> None:
    done = bench("bisect", "--quick", "--no-install", "--tools", str(tools))
    assert (done.returncode, done.stderr) == (0, "")
    rows = table(done.stdout)
    wanted = ("runs", "cases", "right")
    assert tuple(rows["detect-test-pollution"][name] for name in wanted) == ("2", "5", "0/1, 1 an innocent case")
    assert tuple(rows["pytest-bisect-tests"][name] for name in wanted) == ("0", "0", "1/1")
    assert tuple(rows["git_bayesect"][name] for name in wanted) == ("3", "6", "1/1")
    ours = rows["pooldiag"]
    assert ours["right"] == "1/1"
    assert int(ours["cases"]) > int(ours["runs"]) > 4
    assert (ours["time"], ours["target"]) == ("1.00", "8 runs, 20 cases")


def test_a_tool_that_is_not_there_is_named_in_the_table(tools: Path) -> None:
    (tools / "bin" / "git_bayesect").unlink()
    done = bench("bisect", "--kinds=flaky", "--trials=0", "--no-install", "--tools", str(tools))
    assert done.returncode == 0
    assert {name: row["target"] for name, row in table(done.stdout).items()} == {"git_bayesect": "not installed"}


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    """What `scripts/bench_bisect` defines, without a compiled file beside it."""
    return runpy.run_path(str(CHECKOUT / "scripts" / "bench_bisect"), run_name="bench_bisect")


def test_each_trial_of_a_place_has_counts_of_its_own(tools: Path, program: dict[str, Any], tmp_path: Path) -> None:
    (tool,) = (tool for tool in program["OTHERS"] if tool.name == "detect-test-pollution")
    folder = tmp_path / "suites"
    folder.mkdir()
    bench = program["Bench"](folder=folder, tools=tools, contenders=(tool,))
    efforts = list(bench.efforts(program["flaky"](4, (50,), 3)))
    assert [(effort.suite.seed, effort.runs, effort.cases) for effort in efforts] == [(0, 2, 5), (1, 2, 5), (2, 2, 5)]


@pytest.mark.skipif(not TOOLS.exists(), reason="scripts/bench bisect was not run here, and a test installs nothing")
def test_the_tools_that_are_installed_here_find_the_polluter(program: dict[str, Any], tmp_path: Path) -> None:
    there = [tool for tool in program["OTHERS"] if program["is_there"](TOOLS, tool)]
    bench = program["Bench"](folder=tmp_path, tools=TOOLS, contenders=there)
    efforts = list(bench.efforts(program["one"](4, (50,), 0)))
    assert [effort.found for effort in efforts] == ["right"] * len(there)
    assert all(effort.cases > effort.runs > 2 for effort in efforts)


def test_a_tool_that_breaks_is_told_from_one_that_finds_nothing(
    tools: Path, program: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tools / "bin" / "pytest-bisect-tests").write_text(BREAKS_AT_ONCE)
    (tool,) = (tool for tool in program["OTHERS"] if tool.name == "pytest-bisect-tests")
    bench = program["Bench"](folder=tmp_path_factory.mktemp("suites"), tools=tools, contenders=(tool,))
    (effort,) = bench.efforts(program["one"](4, (50,), 0))
    assert effort.found == "ended before a run"
    assert effort.line.endswith(": ended before a run (ImportError: half of it is missing)")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, list[list[int]]], list[bool]]:
    """Play runs of a suite, all into one new log, and say which were red."""

    def play(suite: Any, selections: list[list[int]]) -> list[bool]:  # noqa: ANN401 - comes from a script
        log = tmp_path / "log"
        log.write_text("")
        monkeypatch.setenv("SUITE_LOG", str(log))
        return [red(suite.text, numbers) for numbers in selections]

    def red(text: str, numbers: list[int]) -> bool:
        names: dict[str, Any] = {}
        exec(text, names)
        try:
            for number in numbers:
                names["test_case"](number)
        except AssertionError:
            return True
        return False

    return play


def test_the_victim_is_red_after_all_that_is_needed_and_the_log_tells_what_ran(
    program: dict[str, Any], runs: Callable[[Any, list[list[int]]], list[bool]], tmp_path: Path
) -> None:
    suite = program["Suite"](cases=6, needed=(2, 4))
    assert runs(suite, [[6], [1, 2, 3, 4, 5, 6], [2, 6], [4, 6], [2, 4, 6]]) == [False, True, False, False, True]
    assert program["counted"]((tmp_path / "log").read_text()) == (5, 14)


def test_a_flaky_trial_can_be_made_again_and_differs_from_the_next(
    program: dict[str, Any], runs: Callable[[Any, list[list[int]]], list[bool]]
) -> None:
    (group,) = program["Scale"](kinds=("flaky",), sizes=(13,), places=(31, 77), trials=2).groups
    many = [[4, 10, 13]] * 100
    first, second = (runs(suite, many) for suite in group.suites)
    assert first == runs(group.suites[0], many)
    assert first != second
    assert 30 < sum(first) < 70


@pytest.mark.parametrize(
    ("blamed", "verdict"),
    [
        ((3, 8), "right"),
        ((8, 3, 3), "right"),
        ((8,), "a part of it"),
        ((3, 5, 8), "more than it"),
        ((3, 5), "an innocent case"),
        ((), "no answer"),
    ],
)
def test_an_answer_is_right_when_it_names_what_is_needed_and_nothing_else(
    blamed: tuple[int, ...], verdict: str, program: dict[str, Any]
) -> None:
    assert program["judged"](blamed, (3, 8)) == verdict


def test_the_polluter_is_at_every_place_and_in_a_large_suite_at_every_second(program: dict[str, Any]) -> None:
    scale = program["Scale"](kinds=("one", "two", "flaky"), sizes=(100, 1000), places=(5, 31, 50, 77, 95), trials=6)
    needed = {group.title: [suite.needed for suite in group.suites] for group in scale.groups}
    assert needed == {
        "100 cases, one polluter": [(5,), (31,), (50,), (77,), (95,)],
        "1000 cases, one polluter": [(50,), (500,), (950,)],
        "100 cases, two needed together": [(5, 95), (31, 77)],
        "100 cases, one polluter, red in 50%": [(5,), (31,), (50,), (77,), (95,), (5,)],
    }


# --- the brittle suite -----------------------------------------------------------------------------------------------

Play = Callable[[Iterable[str]], dict[str, int | None]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Run cases of the suite as it was written, in this order; say at which line each one failed."""
    write(tmp_path)
    texts = [(tmp_path / file).read_text() for file in FILES]

    def run(names: Iterable[str]) -> dict[str, int | None]:
        chain = ModuleType("chain")
        chain.done = []  # type: ignore[attr-defined] # what the files import
        monkeypatch.setitem(sys.modules, "chain", chain)
        tests: dict[str, Any] = {}
        for text in texts:
            exec(text, tests)
        return {name: failing_line(tests[f"test_{name}"]) for name in names}

    return run


def failing_line(test: Callable[[], None]) -> int | None:
    try:
        test()
    except AssertionError as error:
        return traceback.extract_tb(error.__traceback__)[-1].lineno
    return None


def test_14_cases_are_red_alone_and_all_but_one_of_them_green_in_file_order(play: Play) -> None:
    names = [case.name for case in CASES]
    assert (len(names), len(set(names)), len(VICTIMS)) == (48, 48, 14)
    assert [name for name in names if play([name])[name]] == [victim.name for victim in VICTIMS]
    assert [name for name, line in play(names).items() if line] == ["is_closed"]


def test_the_setters_of_a_victim_make_it_green_and_none_of_them_can_be_left_out(play: Play) -> None:
    for victim in VICTIMS:
        for setters in victim.setters:
            assert play([*setters, victim.name])[victim.name] is None
            for fewer in combinations(setters, len(setters) - 1):
                assert play([*fewer, victim.name])[victim.name]


def test_what_makes_the_suite_hard_is_in_it(play: Play) -> None:
    names = [case.name for case in CASES]
    alone = {victim.name: play([victim.name])[victim.name] for victim in VICTIMS}
    # It fails at one line alone, at another after some other case.
    other_lines = {
        name for name, line in alone.items() if any(play([other, name])[name] not in {line, None} for other in names)
    }
    after_all = {name: play([*(other for other in names if other != name), name])[name] for name in alone}
    assert len(other_lines) >= 8
    assert {name for name, line in after_all.items() if line} == {"has_counted_3"}
    assert after_all["has_counted_3"] != alone["has_counted_3"]
    assert play(["starts", "runs"]) == {"starts": alone["starts"], "runs": None}  # the setter is itself red
    assert len(next(victim for victim in VICTIMS if victim.name == "reads_x").setters) == 2


def test_a_case_is_named_as_pytest_names_it() -> None:
    assert node_id("opens") == "test_first.py::test_opens"
    assert node_id("still_runs") == "test_second.py::test_still_runs"


# --- real suites -----------------------------------------------------------------------------------------------------

# Red in reverse only: a flag that the second case leaves behind, and one that fails whatever ran before it.
OWN_SUITE = """\
seen = []

def test_victim():
    assert "left" not in seen

def test_leaves():
    seen.append("left")

def test_always_red():
    assert not "green"

def test_last():
    pass
"""


@pytest.fixture(scope="module")
def suites_program() -> dict[str, Any]:
    """What `scripts/bench_suites` defines."""
    return runpy.run_path(str(CHECKOUT / "scripts" / "bench_suites"), run_name="bench_suites")


@pytest.fixture
def own_suite(tmp_path: Path) -> Path:
    """A folder with a suite that is red in reverse."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_own.py").write_text(OWN_SUITE)
    return folder


def test_a_suite_of_ones_own_is_bisected_and_the_processes_of_pytest_are_counted(own_suite: Path) -> None:
    done = bench("suites", "--suite", str(own_suite))
    assert (done.returncode, done.stderr) == (0, "")
    assert "victim test_own.py::test_victim, 1 other reds, alone: ('test_own.py::test_leaves',)" in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| own, reverse"))
    found = re.fullmatch(r"\| own, reverse \| 4 \| 4 \| 1 \| right, (\d+) p, \d+\.\d s( \| not installed){3} \|", row)
    assert found is not None, row
    assert 6 <= int(found[1]) <= 40
    assert "pooldiag's processes: " in done.stdout
    assert sorted(path.name for path in own_suite.iterdir()) == ["pytest.ini", "test_own.py"]  # nothing is left in it


def test_a_suite_that_is_not_red_stays_in_the_table_with_the_reason(own_suite: Path) -> None:
    (own_suite / "test_own.py").write_text(OWN_SUITE.replace('append("left")', 'append("other")'))
    done = bench("suites", "--suite", str(own_suite), "--order", "7")
    assert (done.returncode, done.stderr) == (0, "")
    reason = "not measured: of its 4 cases none is red here in this order and green alone"
    assert f"| own, seed 7: {reason} | - | - | - | - | - | - | - |" in done.stdout.splitlines()


@pytest.mark.slow  # a search of a dozen processes, and what it finds is judged quickly in memory
def test_what_a_brittle_case_needs_is_searched_for_and_the_answer_is_run() -> None:
    done = bench("suites", "--brittle", "starts")
    assert (done.returncode, done.stderr) == (0, "")
    row = r"\| starts \| 1 \| found \| \d+ \| \d+\.\d \| prepares \|  \|"
    assert any(re.fullmatch(row, line) for line in done.stdout.splitlines()), done.stdout
    assert "of 1 cases that need earlier ones: found 1, open 0, wrong 0; " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--brittle", "nobody"), "nobody: not a name here; there are: has_a_and_b, starts, "),
        (("--cache", "somewhere", "nobody"), "nobody: not a name here; there are: accessify, base10, "),
        (("--suite", ".", "--order", "back"), "'back' is not an order: give reverse, or a number to shuffle with"),
        (("--suite", ".", "--turns", "0"), "--turns 0: at least 1"),
        ((), "one of the arguments --cache --suite --brittle is required"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = bench("suites", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_an_order_is_the_listing_reversed_or_shuffled_as_python_does(suites_program: dict[str, Any]) -> None:
    ordered = suites_program["ordered"]
    assert ordered("abcde", "reverse") == ("e", "d", "c", "b", "a")
    assert ordered("abcde", "1") == ("c", "d", "e", "a", "b")
    assert ordered("abcde", "2") != ordered("abcde", "1")


def test_a_case_that_did_not_end_has_no_word(suites_program: dict[str, Any]) -> None:
    report = ["begin t::a", "pass", "begin t::b", "fail t.py:3: no", "begin t::c", "skip", "begin t::d"]
    assert suites_program["results"](report) == {"t::a": "pass", "t::b": "fail", "t::c": "skip"}


@pytest.mark.parametrize(
    ("named", "red", "verdict"),
    [
        (["b"], [{"b"}], "right"),
        (["a"], [{"b"}], "wrong"),
        (["a", "b"], [{"b"}], "wrong"),  # one would be enough
        (["a"], [{"a", "b"}], "wrong"),  # one of two
        (["b", "a"], [{"a", "b"}], "right"),
        (["b"], [set()], "wrong"),  # the victim is red alone
        (["nobody"], [{"b"}], "wrong"),
        (["b", "nobody"], [{"b"}], "wrong"),
        (["victim"], [{"b"}], "wrong"),
        ([], [{"b"}], "no answer"),
    ],
)
def test_an_answer_is_judged_by_running_what_it_names_and_that_without_each_of_it(
    named: list[str], red: list[set[str]], verdict: str, suites_program: dict[str, Any]
) -> None:
    asked: list[tuple[str, ...]] = []

    def shows(names: tuple[str, ...]) -> bool:
        asked.append(names)
        return any(needed <= set(names) for needed in red)

    assert suites_program["judged"](named, ("a", "b", "c", "victim"), shows) == verdict
    assert all(list(names) == sorted(names) for names in asked)  # in the order of the sequence


def report(
    status: str = "found", setters: list[str] | None = None, polluters: list[str] | None = None
) -> dict[str, Any]:
    return {"status": status, "state_setters": setters or [], "polluters": polluters or []}


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (report(setters=["a", "b"]), "found"),
        (report("unresolved", setters=["a", "b"]), "open"),
        (report("unresolved"), "open"),
        (report(), "open"),
        ({}, "open"),  # it said nothing that can be read
        (report("unresolved", setters=["a"]), "wrong"),
        (report(setters=["a", "b", "c"]), "wrong"),
        (report("green"), "wrong"),
        (report(polluters=["a"]), "wrong"),
    ],
)
def test_what_is_named_of_a_brittle_case_is_judged_whatever_the_status(
    said: dict[str, Any], answer: str, suites_program: dict[str, Any]
) -> None:
    green = suites_program["searched"](said, ("a", "b", "c", "victim"), lambda names: {"a", "b"} <= set(names))
    assert green == answer


def test_polluters_that_are_named_of_a_brittle_case_are_shown_as_such(suites_program: dict[str, Any]) -> None:
    said = report("unresolved", setters=["t.py::test_a", "t.py::test_b"], polluters=["t.py::test_c"])
    assert suites_program["names"](said, "state_setters") == "a + b"
    assert suites_program["names"](said, "polluters") == "polluters c"
    assert suites_program["names"]({}, "polluters") == ""


def test_the_answer_of_each_tool_is_read(suites_program: dict[str, Any]) -> None:
    given, typed, pbt = suites_program["OTHERS"]
    ours = suites_program["pooldiag"](Path("pooldiag"))
    assert given.blamed("running step 1:\n-> OK!\n-> the polluting test is: t.py::a[x y]\n") == ("t.py::a[x y]",)
    assert typed.blamed("-> expected failure -- but it passed?\n") == ()
    assert pbt.blamed("Running 2 tests.\nFaulty test: t.py::b\n") == ("t.py::b",)
    assert ours.blamed(json.dumps(report(polluters=["t.py::a", "t.py::b"]))) == ("t.py::a", "t.py::b")
    assert ours.blamed(json.dumps(report("unresolved", polluters=["t.py::a"]))) == ()
    assert ours.blamed("Traceback") == ()


def test_all_tools_get_the_victim_and_those_that_take_one_the_order(suites_program: dict[str, Any]) -> None:
    suite = suites_program["Suite"](source=Path("s"), tests="tests", tools=Path("bin"))
    question = suites_program["Question"](suite=suite, sequence=("a", "v"), cases=9, other_reds=0, alone=())
    ours = suites_program["pooldiag"](Path("pooldiag"))
    commands = [" ".join(tool.command(question, Path("order"))) for tool in (ours, *suites_program["OTHERS"])]
    assert commands[0].endswith("--framework=listfile --sequence=order " + f"{suites_program['RUN_PYTEST']} tests")
    assert commands[1:] == [
        "detect-test-pollution --failing-test v --testids-file order",
        "detect-test-pollution --failing-test v --tests tests",
        "pytest-bisect-tests --failing-test v",
    ]


def test_the_cases_that_suffice_alone_are_tried_once_where_a_folder_keeps_them(
    suites_program: dict[str, Any], tmp_path: Path
) -> None:
    tried: list[tuple[str, ...]] = []

    def shows(names: tuple[str, ...]) -> bool:
        tried.append(names)
        return names == ("b",)

    find = suites_program["suffice_alone"]
    assert [find("abcv", shows, tmp_path) for _ in range(2)] == [("b",), ("b",)]
    assert tried == [("a",), ("b",), ("c",)]
    assert find("bav", shows, tmp_path) == ("b",)  # another order is another question
    assert len(tried) == 5


def effort(suites_program: dict[str, Any], title: str, verdict: str, processes: int, seconds: float) -> Any:  # noqa: ANN401 - comes from a script
    verdicts = suites_program["Verdict"]
    return suites_program["Effort"](
        title=title, verdict=verdicts(verdict), processes=processes, seconds=seconds, phases=("search", "noise")
    )


def test_a_cell_says_the_answer_of_all_turns_with_processes_and_the_median_of_seconds(
    suites_program: dict[str, Any],
) -> None:
    cell = suites_program["cell"]
    turns = [effort(suites_program, "PBT", what, *cost) for what, cost in (("right", (7, 3.0)), ("right", (7, 9.0)))]
    assert cell(turns) == "right, 7 p, 6.0 s"
    assert cell([*turns, effort(suites_program, "PBT", "wrong", 9, 1.0)]) == "right 2/3, wrong 1/3, 7-9 p, 3.0 s"
    assert cell([effort(suites_program, "PBT", "not installed", 0, 0.0)]) == "not installed"


def test_the_table_adds_up_and_puts_what_was_reported_beside_what_was_seen(suites_program: dict[str, Any]) -> None:
    suite = suites_program["Suite"](source=Path("s"), tests="tests", tools=Path("bin"))
    question = suites_program["Question"](suite=suite, sequence=("a", "v"), cases=9, other_reds=0, alone=("a",))
    known = suites_program["Known"](cases=10, place=2)
    done = [
        effort(suites_program, "pooldiag", "right", 12, 2.0),
        effort(suites_program, "DTP", "wrong", 4, 1.0),
        effort(suites_program, "PBT", "not installed", 0, 0.0),
    ]
    assert suites_program["row"]("x 1, reverse", question, known, done) == (
        *("x 1, reverse", "9 (10)", "2", "1"),
        *("right, 12 p, 2.0 s", "wrong, 4 p, 1.0 s", "not installed"),
    )
    assert suites_program["total"]([*done, effort(suites_program, "pooldiag", "no answer", 9, 1.5)], 2) == (
        *("all of these 2", "", "", ""),
        *("right 1/2, wrong 0, 21 p, 3.5 s", "right 0/1, wrong 1, 4 p, 1.0 s", "right 0/0, wrong 0, 0 p, 0.0 s"),
    )
    assert suites_program["purposes"](done[:1]) == "1 search, 1 noise, 10 listings and lines"


@pytest.fixture
def distribution(tmp_path: Path, suites_program: dict[str, Any]) -> Callable[[str], Any]:
    """Make a source distribution that holds this test file, as downloaded and installed; return its suite."""

    def make(test: str) -> Any:  # noqa: ANN401 - comes from a script
        home = tmp_path / "x-1"
        (home / "x-1" / test).parent.mkdir(parents=True)
        (home / "x-1" / test).write_text("def test_a(): pass")
        with tarfile.open(home / "x-1.tar.gz", "w:gz") as tar:
            tar.add(home / "x-1", "x-1")
        (home / "installed").touch()
        project = suites_program["Project"](
            name="x",
            version="1",
            order="reverse",
            tests="tests",
            known=suites_program["Known"](cases=1, place=1),
            left_out=("tests/test_broken.py",),
        )
        return suites_program["Store"](folder=tmp_path).suite(project)

    return make


def test_a_suite_comes_from_what_was_downloaded_before(distribution: Callable[[str], Any], tmp_path: Path) -> None:
    suite = distribution("tests/test_x.py")
    assert suite.source == tmp_path / "x-1" / "source" / "x-1"
    assert (suite.source / "tests" / "test_x.py").read_text() == "def test_a(): pass"


def test_tests_that_need_what_the_distribution_lacks_are_left_out(distribution: Callable[[str], Any]) -> None:
    suite = distribution("tests/test_broken.py")
    assert list((suite.source / "tests").iterdir()) == []


def test_a_distribution_without_tests_is_named_as_that(
    distribution: Callable[[str], Any], suites_program: dict[str, Any]
) -> None:
    with pytest.raises(suites_program["NotMeasuredError"], match="its source distribution holds no tests"):
        distribution("x/unit.py")


# --- census ----------------------------------------------------------------------------------------------------------


def cells(output: str) -> list[list[str]]:
    """Return the rows of all tables, without what is above them."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines() if line[:1] == "|"]
    return [row for row in lines if row[0] not in {"data", "command", ":--"}]


@pytest.mark.slow  # the benchmark of searches runs every time
def test_counting_is_compared_with_cat_and_numpy_and_a_start_with_its_imports() -> None:
    done = bench("census", "--quick")
    assert (done.returncode, done.stderr) == (0, "")
    *counted, imports, census = cells(done.stdout)
    assert [row[:2] for row in counted] == [["normal", "f32"], ["normal", "e4m3fn"], ["random bytes", "bf16"]]
    for row in counted:
        ours, theirs, torch, *_ = row[4:]
        assert all(math.isfinite(float(cell)) and float(cell) > 0 for cell in (ours, theirs))
        assert torch == "-" or float(torch) > 0
        assert 0 < int(row[-1]) < 128
    assert [row[0] for row in (imports, census)] == ["python -c 'import typer, numpy'", "pooldiag census, 4 KiB"]
    assert float(imports[-1]) == 1


@pytest.fixture(scope="module")
def census_program() -> dict[str, Any]:
    """What `scripts/bench_census` defines."""
    return runpy.run_path(str(CHECKOUT / "scripts" / "bench_census"), run_name="bench_census")


def test_files_hold_what_their_row_says(census_program: dict[str, Any], tmp_path: Path) -> None:
    found = {}
    for case in census_program["CASES"]:
        layout = LAYOUTS[case.dtype]
        with census_program["written"](case, tmp_path, 100_000) as path, path.open("rb") as file:
            assert path.stat().st_size == 100_000
            found[case.data, case.dtype] = take_census(file, path="x", layout=layout, sha256=False)
        assert not path.exists()
    for (data, dtype), census in found.items():
        if data == "normal":
            assert (census.nan, census.inf) == (0, 0), dtype
            assert 3 < (census.absmax or 0) < 6, dtype
        if data == "random bytes":
            assert census.nan > 0, dtype
    all_nan, zeros, others = (
        found[key] for key in (("all NaN", "f32"), ("half zeros", "f32"), ("every other NaN", "bf16"))
    )
    assert (all_nan.nan, others.nan) == (all_nan.n, others.n // 2)
    assert 0.45 < zeros.zero / zeros.n < 0.55
