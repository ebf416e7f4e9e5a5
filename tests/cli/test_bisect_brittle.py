"""`bisect` and `orders` on cases that need an earlier one, or that fail in several ways: real runners, real lines."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import bisect, pooldiag, shell, survey
from tests.cli.suites import Suite, name, names

EXAMPLES = Path(__file__).parents[2] / "examples" / "listfile"
LISTFILE = "--framework=listfile"
HARNESS = """\
#!/bin/sh
# Cases that append to a state. One is a function; what it prints is where it failed, and why.
{cases}
list='' report=/dev/null asked=''
for word; do
    case $word in
    --list-cases=*) list=${{word#*=}} ;;
    --report=*) report=${{word#*=}} ;;
    --run-cases=*) asked=$(cat "${{word#*=}}") ;;
    --case=*) asked="$asked ${{word#*=}}" ;;
    esac
done
[ "$list" ] && {{ printf 'case %s\\n' {names}; echo end; }} >"$list" && exit
state='' code=0
for one in ${{asked:-{names}}}; do
    echo "begin $one"
    why=''
    "$one"
    if [ "$why" ]; then echo "fail $why"; code=1; else echo pass; fi
done >>"$report"
echo end >>"$report"
exit $code
"""


def harness(folder: Path, **cases: str) -> Path:
    """Write a suite in sh: the body of each case, which may set `why`."""
    functions = "\n".join(f"{case}() {{ {body}; }}" for case, body in cases.items())
    target = folder / "checks"
    target.write_text(HARNESS.format(cases=functions, names=" ".join(cases)))
    target.chmod(0o755)
    return target


def has(what: str, line: int) -> str:
    return f'case $state in *{what}*) ;; *) : "${{why:=checks:{line}: no {what}}}" ;; esac'


def searched(target: Path, *words: str) -> dict[str, Any]:
    return bisect("--no-arms", *words, LISTFILE, target, cwd=target.parent)


def test_a_case_that_fails_at_another_line_is_red_in_another_way(tmp_path: Path) -> None:
    victim = f"[ \"$state\" ] || why='checks:1: empty'; {has('b', 2)}"
    target = harness(tmp_path, makes_b="state=${state}b", makes_a="state=${state}a", victim=victim)
    report = searched(target, "--victim=victim")
    assert (report["status"], report["red_alone"], report["state_setters"]) == ("found", True, ["makes_b"])
    assert report["signature"]["place"] == "checks:1"
    (otherwise,) = report["otherwise"]
    assert (otherwise["cases"], otherwise["other_red"]["place"]) == (["makes_a"], "checks:2")
    assert {probed["reading"] for probed in report["probed"]} == {"red", "green", "other"}
    assert shell(report["green_command"], cwd=tmp_path).returncode == 0
    words = pooldiag("bisect", "--no-lock", "--victim=victim", LISTFILE, target, cwd=tmp_path).out
    assert "after makes_a: failure in victim (checks:2): no b" in words


def test_a_state_setter_that_is_itself_red_is_named_and_its_line_shows_the_victim_green(tmp_path: Path) -> None:
    setter = f"{has('ready', 1)}; state=${{state}}set"
    target = harness(tmp_path, prepares="state=${state}ready", sets=setter, victim=has("set", 2))
    report = searched(target, "--victim=victim")
    assert (report["status"], report["state_setters"]) == ("found", ["sets"])
    assert shell(report["green_command"], cwd=tmp_path).returncode == 1
    words = " ".join(pooldiag("bisect", "--no-lock", "--victim=victim", LISTFILE, target, cwd=tmp_path).out.split())
    assert "Shows it green (run as printed: exit code 1, as other cases are red)" in words


def test_a_case_that_is_red_alone_in_another_way_is_not_green_alone(tmp_path: Path) -> None:
    victim = "[ \"$state\" ] || why='checks:1: alone'; case $state in *x*) why='checks:2: after the polluter' ;; esac"
    target = harness(tmp_path, pollutes="state=${state}x", victim=victim)
    report = searched(target, "--victim=victim")
    assert (report["status"], report["polluters"], report["red_alone"]) == ("found", ["pollutes"], False)
    assert report["signature"]["place"] == "checks:2"
    assert [(one["cases"], one["other_red"]["place"]) for one in report["otherwise"]] == [([], "checks:1")]
    assert report["green_command"] is None
    words = " ".join(pooldiag("bisect", "--no-lock", "--victim=victim", LISTFILE, target, cwd=tmp_path).out.split())
    assert "after the polluter pollutes; red in another way without it" in words
    assert "the victim alone other red 0/" in words


def test_what_fails_in_the_same_helper_as_a_plain_bug_may_have_a_polluter_of_its_own(tmp_path: Path) -> None:
    polluted = "case $state in *x*) why='checks:9: values differ' ;; esac"
    target = harness(
        tmp_path, plain_bug="why='checks:9: values differ'", other=":", pollutes="state=${state}x", victim=polluted
    )
    report = searched(target)
    assert (report["victim"], report["polluters"]) == ("victim", ["pollutes"])
    assert [one["case"] for one in report["others_red_alone"]] == ["plain_bug"]


def test_a_victim_that_is_named_without_an_order_runs_behind_all_others(tmp_path: Path) -> None:
    target = harness(tmp_path, victim=has("set", 1), other=":", sets="state=${state}set")
    report = searched(target, "--victim=victim")
    assert (report["state_setters"], report["position"], report["target"]["order"]) == (["sets"], 3, "sequence")
    assert searched(target, "--victim=victim", "--order=file")["state_setters"] == []


def test_a_suite_that_is_green_by_accident_leads_to_the_case_that_is_needed(zoo: Path, tmp_path: Path) -> None:
    shape = Suite(cases=4, setters="2")
    target = zoo / "order_dependent"
    report = survey("--orders=file,name", "--seeds=1..8", target, cwd=tmp_path, **shape.variables)
    assert report["by_accident"]
    line = report["next"].replace("pooldiag bisect", "pooldiag bisect --json --no-arms", 1)
    found = json.loads(shell(line, cwd=tmp_path, **shape.variables).stdout)
    assert (found["status"], found["victim"], found["state_setters"]) == ("found", name(4), names(2))
    assert shell(found["green_command"], cwd=tmp_path, **shape.variables).returncode == 0
    assert shell(found["reproducer"], cwd=tmp_path, **shape.variables).returncode == 1


def test_a_red_order_of_a_brittle_case_is_bisected_in_file_order(zoo: Path, tmp_path: Path) -> None:
    shape, target = Suite(cases=4, setters="2"), zoo / "order_dependent"
    orders = survey("--orders=none", "--seeds=1..8", target, cwd=tmp_path, **shape.variables)["orders"]
    seed = next(one["seed"] for one in orders if one["victim"] == name(4))
    found = bisect("--no-arms", "--order=rand", f"--seed={seed}", target, cwd=tmp_path, **shape.variables)
    assert (found["state_setters"], found["target"]["order"], found["red_alone"]) == (names(2), "file", True)


def test_a_pytest_case_that_only_moves_the_failing_line_is_no_state_setter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (tmp_path / "test_it.py").write_text(
        "made = set()\n"
        "def test_full(): made.update(('first', 'second'))\n"
        "def test_half(): made.add('first')\n"
        "def test_needs():\n"
        "    assert 'first' in made\n"
        "    assert 'second' in made\n"
    )
    report = searched_in_pytest(tmp_path, "test_it.py::test_needs")
    assert (report["status"], report["state_setters"]) == ("found", ["test_it.py::test_full"])
    assert [one["other_red"]["place"] for one in report["otherwise"]] == ["test_it.py:6"]
    assert shell(report["green_command"], cwd=tmp_path).returncode == 0


def searched_in_pytest(folder: Path, victim: str) -> dict[str, Any]:
    target = (EXAMPLES / "run_pytest", "test_it.py")
    return bisect("--no-arms", f"--victim={victim}", LISTFILE, *target, cwd=folder)
