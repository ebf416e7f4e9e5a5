"""`bisect` on suites of a known fault: the right cases, in few runs, whatever the victim does."""

import json
import os
import sys
from math import ceil, log2
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.cli.command import FLOORS, bisect, pooldiag, shell
from tests.cli.suites import Suite, name, names, runs_of

PLACES = (0.05, 0.31, 0.50, 0.77, 0.95)
SIZES = [*((n, place) for n in (13, 100) for place in PLACES), (1000, 0.31), (1000, 0.95)]
QUICK_SIZES = {(13, 0.31), (100, 0.77), (1000, 0.95)}
OUTPUT = "--outputs=out.bin:f32"


@pytest.fixture
def suite(zoo: Path) -> Path:
    return zoo / "order_dependent"


def every_second_run(seed: int) -> str:
    """About every second of 200 runs, drawn once and for all."""
    drawn = Random(seed)
    return ",".join(str(number) for number in range(1, 200) if drawn.random() < 0.5)


def searched(shape: Suite, *words: str, suite: Path, cwd: Path) -> dict[str, Any]:
    """Bisect without the arms: the search itself."""
    return bisect("--no-arms", *words, suite, cwd=cwd, **shape.variables)


@pytest.mark.parametrize(
    ("cases", "place"),
    [pytest.param(*size, marks=[] if size in QUICK_SIZES else [pytest.mark.slow]) for size in SIZES],
)
def test_one_polluter_is_found_within_the_bounds_of_runs_and_cases(
    cases: int, place: float, suite: Path, tmp_path: Path
) -> None:
    before = cases - 1
    polluter = max(1, ceil(place * before))
    report = searched(Suite(cases=cases, polluters=str(polluter)), suite=suite, cwd=tmp_path)
    assert report["status"] == "found"
    assert (report["victim"], report["position"]) == (name(cases), cases)
    assert (report["prefix"], report["polluters"]) == (polluter, names(polluter))
    proof = [one for one in report["probed"] if one["phase"] == "prefix"]
    assert report["runs"] - len(proof) <= ceil(log2(before)) + 4
    assert len(proof) <= 2
    assert report["cases_run"] - sum(one["cases"] for one in proof) <= 2 * cases + log2(before) + 5


def test_two_polluters_that_act_together_are_found(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=100, polluters="17,63"), suite=suite, cwd=tmp_path)
    assert (report["polluters"], report["prefix"]) == (names(17, 63), 63)
    ends = report["set_proof"]
    assert ends["red"]["cases"] == names(17, 63)
    assert sorted(one["cases"] for one in ends["green"]) == [names(17), names(63)]
    assert all(one["green"] and not one["red"] for one in ends["green"])


def test_three_polluters_that_act_together_are_found(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=100, polluters="5,50,90"), suite=suite, cwd=tmp_path)
    assert (report["polluters"], report["prefix"]) == (names(5, 50, 90), 90)


def test_every_independent_set_is_found_when_all_are_asked_for(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=30, polluters="3,7;20"), "--all", suite=suite, cwd=tmp_path)
    assert sorted(report["sets"]) == [names(3, 7), names(20)]


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("fail", "failure"),
        ("crash", "crash"),
        ("hang", "hang"),
        ("quit", "count"),
        ("exit", "failure"),
        ("output", "nan"),
    ],
)
def test_the_victim_is_found_whatever_it_does(how: str, kind: str, suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=10, polluters="6", victim=9, how=how)
    words = [OUTPUT] if how == "output" else []
    report = searched(shape, "--timeout=1", "--grace=1", *words, suite=suite, cwd=tmp_path)
    assert (report["status"], report["signature"]["kind"]) == ("found", kind)
    assert (report["victim"], report["polluters"], report["prefix"]) == (name(9), names(6), 6)
    in_no_case = how in {"exit", "output"}
    assert report["named_by"] == ("search" if in_no_case else "stream")


def test_a_victim_that_an_earlier_crash_keeps_from_running_is_red_for_that(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=20, polluters="6", victim=15, how="crash")
    report = searched(shape, f"--victim={name(18)}", suite=suite, cwd=tmp_path)
    assert (report["victim"], report["signature"]["place"]) == (name(18), "not reached")
    assert (report["polluters"], report["prefix"]) == (names(6, 15), 15)


@pytest.mark.parametrize("always", ["2", "9", "12", "2,9"])
def test_a_case_that_is_always_red_is_not_taken_for_the_victim(always: str, suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=13, polluters="5", always=always), suite=suite, cwd=tmp_path)
    assert (report["victim"], report["polluters"], report["prefix"]) == (name(13), names(5), 5)
    assert [other["case"] for other in report["others"]] == names(*map(int, always.split(",")))
    assert any("red alone" in note for note in report["notes"])


def test_a_red_that_needs_no_other_case_has_prefix_0(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=13, always="9"), suite=suite, cwd=tmp_path)
    assert (report["status"], report["victim"], report["prefix"], report["polluters"]) == ("found", name(9), 0, [])
    assert report["red_alone"]


def test_a_cleaner_is_named_and_no_smallest_prefix_is_claimed(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=12, polluters="3", cleaners="6", victim=12)
    (tmp_path / "order").write_text("".join(f"{name(number)}\n" for number in (1, 3, 12)))
    report = searched(shape, "--sequence=order", suite=suite, cwd=tmp_path)
    assert (report["status"], report["polluters"], report["smallest"]) == ("found", names(3), True)
    shape = Suite(cases=40, polluters="5;30", cleaners="20")
    report = searched(shape, "--all", suite=suite, cwd=tmp_path)
    assert (report["status"], report["polluters"], report["prefix"]) == ("found", names(30), 30)


def test_a_brittle_case_is_found_with_what_sets_it_up(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=40, setters="11")
    report = searched(shape, f"--victim={name(40)}", suite=suite, cwd=tmp_path)
    assert (report["status"], report["red_alone"], report["prefix"]) == ("found", True, 0)
    assert report["state_setters"] == names(11)
    done = shell(report["green_command"], cwd=tmp_path, **shape.variables)
    assert done.returncode == 0


def test_nothing_red_is_green_and_leads_to_other_orders(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(), suite=suite, cwd=tmp_path)
    assert (report["status"], report["victim"], report["prefix"]) == ("green", None, None)
    assert report["next"].startswith("pooldiag orders ")


def test_cases_after_the_victim_run_once_and_never_again(suite: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    searched(Suite(cases=20, polluters="4", victim=10, log=log), suite=suite, cwd=tmp_path)
    whole, *others = runs_of(log)
    assert whole == tuple(range(1, 21))
    assert others
    assert all(run[-1] == 10 for run in others)


def test_a_budget_of_runs_ends_with_the_best_so_far(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=100, polluters="31"), "--max-runs=5", suite=suite, cwd=tmp_path)
    assert (report["status"], report["victim"], report["prefix"]) == ("unresolved", name(100), None)
    assert report["runs"] <= 5
    assert "--resume" in report["next"]
    assert shell(report["reproducer"], cwd=tmp_path, **Suite(cases=100, polluters="31").variables).returncode == 1


def test_the_same_answer_comes_with_several_runs_at_a_time(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=100, polluters="17,63")
    one = searched(shape, suite=suite, cwd=tmp_path)
    three = searched(shape, "--jobs=3", suite=suite, cwd=tmp_path)
    same = ("status", "victim", "position", "prefix", "polluters", "sets", "reproducer", "green_command")
    assert {key: three[key] for key in same} == {key: one[key] for key in same}


def test_a_red_that_every_case_shows_is_in_none_of_them(zoo: Path, tmp_path: Path) -> None:
    report = bisect("--no-arms", zoo / "crash_after_summary", cwd=tmp_path)
    assert (report["status"], report["victim"], report["prefix"]) == ("found", None, 0)
    assert "none of them" in report["reason"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_flaky_red_is_found_with_its_counts_and_its_confidence(seed: int, suite: Path, tmp_path: Path) -> None:
    chance = {"ZOO_COUNTER": str(tmp_path / "counter"), "ZOO_RED_RUNS": every_second_run(seed)}
    shape = Suite(cases=13, polluters="5", rate=0.5)
    report = bisect("--no-arms", "--repeat=20", suite, cwd=tmp_path, **shape.variables, **chance)
    assert (report["status"], report["polluters"], report["prefix"]) == ("found", names(5), 5)
    assert report["noisy"]
    assert 0.8 <= report["confidence"] <= 1


def test_the_next_command_goes_on_where_the_runs_were_spent(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=100, polluters="31")
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # as `shell` has it: it is part of a run
    first = bisect("--no-arms", "--max-runs=5", suite, cwd=tmp_path, **shape.variables, **path)
    line = first["next"].replace("pooldiag bisect", "pooldiag bisect --json", 1)
    done = shell(line, cwd=tmp_path, **shape.variables)
    report = json.loads(done.stdout)
    assert (done.returncode, report["status"], report["polluters"]) == (1, "found", names(31))
    assert report["recalled"] == first["runs"], report["notes"]
    assert report["evidence"] == first["evidence"]


def test_the_next_red_is_followed_by_the_line_that_is_printed_for_it(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=13, polluters="5", always="9")
    first = searched(shape, suite=suite, cwd=tmp_path)
    line = first["next"].replace("pooldiag bisect", "pooldiag bisect --json", 1)
    report = json.loads(shell(line, cwd=tmp_path, **shape.variables).stdout)
    assert (report["victim"], report["prefix"], report["red_alone"]) == (name(9), 0, True)


def test_a_victim_that_is_green_among_others_that_are_red_is_not_told_as_green(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=13, always="4"), f"--victim={name(9)}", suite=suite, cwd=tmp_path)
    assert (report["status"], [one["case"] for one in report["others"]]) == ("unresolved", names(4))
    assert "passes in this order, and alone" in report["reason"]


def test_an_output_that_is_not_written_is_told_to_need_a_name(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=5), "--outputs=missing.bin:f32", suite=suite, cwd=tmp_path)
    assert report["status"] == "unresolved"
    assert "--victim" in report["reason"]
    assert report["runs"] <= 3


def test_the_time_that_is_allowed_bounds_what_follows_the_search_too(suite: Path, tmp_path: Path) -> None:
    report = bisect("--budget=1ms", suite, cwd=tmp_path, **Suite(polluters="5").variables)
    assert (report["status"], report["attribution"], report["reproducer"]) == ("unresolved", None, None)
    assert any("time is spent" in note for note in report["notes"])


def test_a_victim_that_is_named_is_followed_where_the_red_is_in_no_case(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=9, polluters="4", victim=7, how="exit")
    report = searched(shape, f"--victim={name(7)}", suite=suite, cwd=tmp_path)
    assert (report["status"], report["victim"], report["polluters"]) == ("found", name(7), names(4))


def test_a_victim_that_is_red_in_another_way_with_fewer_cases_is_not_taken_for_green(
    suite: Path, tmp_path: Path
) -> None:
    shape = Suite(cases=20, polluters="3,9", how="two-ways")
    report = searched(shape, suite=suite, cwd=tmp_path)
    assert (report["status"], report["polluters"]) == ("unresolved", names(3, 9))
    assert "red in another way" in report["reason"]
    assert [other["kind"] for other in report["others"]] == ["failure"]


@pytest.mark.parametrize(("trials", "most"), [(2, 0), pytest.param(8, 1, marks=pytest.mark.slow)])
def test_a_flake_without_a_polluter_is_seldom_taken_for_one(
    trials: int, most: int, suite: Path, tmp_path: Path
) -> None:
    shape = Suite(cases=13, setters="99", rate=0.5)
    named = 0
    for seed in range(trials):
        chance = {"ZOO_COUNTER": str(tmp_path / f"counter-{seed}"), "ZOO_RED_RUNS": every_second_run(seed)}
        report = bisect("--no-arms", suite, cwd=tmp_path, **shape.variables, **chance)
        named += report["status"] == "found" and bool(report["polluters"])
    assert named <= most


def test_a_set_up_that_is_run_before_stands_in_the_printed_lines(suite: Path, tmp_path: Path) -> None:
    shape = Suite(cases=9, polluters="4")
    report = searched(shape, "--before=touch ready", suite=suite, cwd=tmp_path)
    assert report["reproducer"].startswith("touch ready && ")
    (tmp_path / "ready").unlink()
    assert shell(report["reproducer"], cwd=tmp_path, **shape.variables).returncode == 1
    assert (tmp_path / "ready").exists()


def test_a_target_that_changes_meanwhile_is_told_as_that(suite: Path, tmp_path: Path) -> None:
    target = tmp_path / "suite"
    target.write_bytes(suite.read_bytes())
    target.chmod(0o755)
    change = f"sh -c 'test -e once && printf x >> {target}; touch once'"
    said = pooldiag("bisect", "--no-lock", *FLOORS, "--no-arms", "--json", f"--before={change}", target, cwd=tmp_path)
    report = json.loads(said.out)
    assert (said.code, report["status"]) == (4, "blocked")
    assert "changed between two runs" in report["blocked_by"]
