"""`attribute` on the zoo's mechanisms: answers cover the planted faults, and what did not act carries nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import arm, candidates, diagnose, diagnose_in_words, shell

ANSWERS = {  # what the arms answer, None where that is open, and the planted mechanism
    "cross_device_reuse": ("carried-by-pool", "cross-device-reuse"),
    "access_past_end": ("carried-by-pool", "access-past-end"),
    "stale_read": ("unwritten-read", "stale-read"),
    "class_slack": ("unwritten-read", "class-slack"),
    "stream_race": ("race", "stream-race"),
    "timing_race": ("race", "timing-race"),
    "in_case_reuse": ("reused-in-case", "use-after-release"),
    "independent": ("no-arm", "independent"),
    "hidden_use_after_free": (None, "use-after-release"),
    "hidden_stale_read": ("hidden-unwritten-read", "stale-read"),
    "kernel_cache": ("outside-state", "case-state"),
}
MOST_RUNS = 18
FREE_GREENS = 30  # of a baseline that is green, as many as fit into a second


@pytest.fixture
def zoo(examples_build: Path) -> Path:
    return examples_build / "zoo"


@pytest.mark.parametrize("target", ANSWERS)
def test_an_answer_covers_the_planted_fault_which_is_among_its_candidates(
    zoo: Path, tmp_path: Path, target: str
) -> None:
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    if target == "kernel_cache":
        shell(str(zoo / target), cwd=tmp_path, **home)
    report = diagnose(zoo / target, cwd=tmp_path, **home)
    answer, mechanism = ANSWERS[target]
    assert (report["status"], report["answer"]) == ("unresolved" if answer is None else "established", answer)
    assert mechanism in candidates(report)
    hints = [one for one in report["witnesses"] if mechanism in one["for"]]
    assert not hints or candidates(report)[0] == mechanism
    assert answer is None or report["confidence"] >= 0.99
    greens = arm(report, "baseline")["runs"] - arm(report, "baseline")["red"]
    assert len(report["runs"]) - min(greens, FREE_GREENS) <= MOST_RUNS
    assert report["reproducer"] is not None


def test_a_guards_finding_names_the_mechanism_where_a_pad_clears_the_red(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "access_past_end", cwd=tmp_path)
    assert report["mechanism"] == "access-past-end"
    (fact,) = (one for one in report["witnesses"] if one["kind"] == "fact")
    assert (fact["id"], fact["for"]) == ("guard", ["access-past-end"])
    without = diagnose("--no-witness=guard", zoo / "access_past_end", cwd=tmp_path)
    assert (without["answer"], without["mechanism"]) == ("carried-by-pool", None)


def test_sizes_that_meet_only_by_rounding_are_not_settled_in_at_most_12_runs(zoo: Path, tmp_path: Path) -> None:
    report, said = diagnose_in_words(zoo / "two_sizes", cwd=tmp_path)
    assert (report["status"], report["answer"], report["mechanism"]) == ("unresolved", None, None)
    assert said.code == 3
    assert len(report["runs"]) <= 12
    assert "cross-device-reuse" in candidates(report)
    assert {"serial", "poison-n"} <= set(report["separators"])
    assert "most likely" not in said.out.lower()
    assert report["next_purpose"] == "which case leaves it"


def test_state_between_cases_is_green_in_file_order_and_never_blamed_on_the_pool(zoo: Path, tmp_path: Path) -> None:
    assert diagnose(zoo / "case_state", cwd=tmp_path)["status"] == "green"
    red = diagnose("--order=rand", "--seed=1", zoo / "case_state", cwd=tmp_path)
    assert (red["status"], red["answer"]) == ("established", "carried-outside")
    assert "case-state" in candidates(red)


@pytest.mark.parametrize("target", ["stale_read", "cross_device_reuse"])
def test_three_arms_alone_are_open_with_the_arms_that_would_decide(zoo: Path, tmp_path: Path, target: str) -> None:
    report, said = diagnose_in_words("--arms=bypass,exact,per-case", zoo / target, cwd=tmp_path)
    assert report["status"] == "unresolved"
    assert {"cross-device-reuse", "stale-read", "stream-race"} <= set(candidates(report))
    assert {"poison-n", "serial"} <= set(report["separators"])
    assert said.code == 3
    assert "What would decide: " in said.out


def evidence_of(report: dict[str, Any]) -> set[str]:
    return {entry["arm"] for entry in report["ruled_out"]}


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("inert_bypass", "not 0: the pool went on as before"),
        ("unread_switch", "neither the binary nor its libraries name VT_POOL_BYPASS"),
        ("undone_arm", "may have been undone"),
    ],
)
def test_an_arm_that_did_not_act_carries_no_verdict_and_says_why(
    zoo: Path, tmp_path: Path, target: str, reason: str
) -> None:
    report, said = diagnose_in_words(zoo / target, cwd=tmp_path)
    bypass = arm(report, "bypass")
    assert bypass["acted"] == "inert"
    assert reason in bypass["why"]
    assert "bypass" not in evidence_of(report)
    assert reason in " ".join(said.out.split())


def test_what_is_known_of_an_arm_stands_in_the_report_whatever_the_order_of_the_options(
    zoo: Path, tmp_path: Path
) -> None:
    options = ("--property=exact.rounds_to=32", "--arm=exact=VT_POOL_EXACT=1", "--property=bypass.addresses=apart")
    for said in (options, options[::-1]):
        report = diagnose("--arms=bypass,exact", "--repeat=1", *said, zoo / "unread_switch", cwd=tmp_path)
        assert arm(report, "exact")["properties"] == [{"name": "rounds_to", "value": "32", "source": None}]
        addresses, waits = arm(report, "bypass")["properties"]
        assert addresses == {"name": "addresses", "value": "apart", "source": None}
        assert (waits["value"], bool(waits["source"])) == ("yes", True)


def test_an_arm_whose_name_is_nowhere_in_a_closed_target_costs_no_process(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "unread_switch", cwd=tmp_path)
    assert [run["arm"] for run in report["runs"] if run["arm"] in {"bypass", "poison-n"}] == []
    assert [arm(report, role)["runs"] for role in ("bypass", "poison-n")] == [0, 0]
    assert arm(report, "exact")["runs"] > 0
    again = diagnose(zoo / "unread_switch", cwd=tmp_path, LD_PRELOAD="libm.so.6")  # which may bring in anything
    assert arm(again, "bypass")["acted"] in {"unproven", "inert"}
    assert arm(again, "bypass")["runs"] > 0


def test_a_suite_whose_number_of_assertions_varies_is_green_and_the_noise_is_told(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "varying_assertions", cwd=tmp_path)
    assert report["status"] == "green"
    assert any("which is noise" in note for note in report["notes"])
    assert not any("did not make the same number" in note for note in report["notes"])


def test_arms_that_were_left_out_are_the_next_command_and_they_tell(zoo: Path, tmp_path: Path) -> None:
    report = diagnose("--arms=bypass,exact", zoo / "stale_read", cwd=tmp_path)
    assert report["next_purpose"] == "the arms that tell these apart"
    again = shell(report["next"], cwd=tmp_path)
    assert again.returncode == 1
    assert "(unwritten-read)" in again.stdout


def test_a_second_pool_in_the_target_is_told(zoo: Path, tmp_path: Path) -> None:
    target = tmp_path / "two_pools"
    target.write_bytes((zoo / "stale_read").read_bytes() + b"\0PYTORCH_NO_CUDA_MEMORY_CACHING\0")
    target.chmod(0o755)
    report = diagnose(target, cwd=tmp_path)
    assert any("partially bypassed" in note and "pytorch" in note for note in report["notes"])
    assert not [note for note in diagnose(zoo / "stale_read", cwd=tmp_path)["notes"] if "bypassed" in note]


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--arms=bypas", "no arm plays the role 'bypas'"),
        ("--arms=swap", "no arm plays the role 'swap'"),
        ("--confidence=2", "--confidence 2 is no share between"),
        ("--confidence=0.1", "is no share between"),
        ("--budget=0", "--budget 0 leaves no time"),
    ],
)
def test_bounds_that_cannot_be_meant_are_refused(refused: Callable[..., str], zoo: Path, flag: str, words: str) -> None:
    assert words in refused(flag, zoo / "stale_read")


def test_an_arm_without_a_switch_cannot_be_asked_for(refused: Callable[..., str], zoo: Path) -> None:
    assert "no switch plays this role here" in refused("--arms=bypass", zoo / "vacuous")
