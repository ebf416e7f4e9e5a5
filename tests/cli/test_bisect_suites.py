"""`bisect` on suites of a known fault: the right cases, in few runs, whatever the victim does."""

from math import ceil, log2
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import bisect, shell
from tests.cli.suites import Suite, name, names, runs_of

PLACES = (0.05, 0.31, 0.50, 0.77, 0.95)
OUTPUT = "--outputs=out.bin:f32"


@pytest.fixture
def suite(zoo: Path) -> Path:
    return zoo / "order_dependent"


def searched(shape: Suite, *words: str, suite: Path, cwd: Path) -> dict[str, Any]:
    """Bisect without the arms: the search itself."""
    return bisect("--no-arms", *words, suite, cwd=cwd, **shape.variables)


@pytest.mark.parametrize(
    ("cases", "place"), [(n, place) for n in (13, 100) for place in PLACES] + [(1000, 0.31), (1000, 0.95)]
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
    shape = Suite(cases=20, polluters="6", victim=15, how=how)
    words = [OUTPUT] if how == "output" else []
    report = searched(shape, "--timeout=1", "--grace=1", *words, suite=suite, cwd=tmp_path)
    assert (report["status"], report["signature"]["kind"]) == ("found", kind)
    assert (report["victim"], report["polluters"], report["prefix"]) == (name(15), names(6), 6)
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
    shape = Suite(cases=40, polluters="5;30", cleaners="20")
    report = searched(shape, suite=suite, cwd=tmp_path)
    assert (report["status"], report["polluters"]) == ("found", names(30))
    assert report["prefix"] == 30


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


def test_a_flaky_red_is_found_with_its_counts_and_its_confidence(suite: Path, tmp_path: Path) -> None:
    report = searched(Suite(cases=13, polluters="5", rate=0.5), "--repeat=20", suite=suite, cwd=tmp_path)
    assert (report["status"], report["polluters"], report["prefix"]) == ("found", names(5), 5)
    assert report["noisy"]
    assert 0.8 <= report["confidence"] <= 1
