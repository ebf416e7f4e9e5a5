"""`attribute` on the zoo's mechanisms: each is named from its runs, and what did not act carries nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import arm, diagnose, diagnose_in_words, shell

NAMED = {
    "cross_device_reuse": "cross-device-reuse",
    "stale_read": "stale-read",
    "stream_race": "stream-race",
    "class_slack": "class-slack",
    "in_case_reuse": "in-case-reuse",
    "timing_race": "timing-race",
    "independent": "independent",
    "hidden_use_after_free": "hidden-use-after-free",
    "hidden_stale_read": "hidden-stale-read",
}


@pytest.fixture
def zoo(examples_build: Path) -> Path:
    return examples_build / "zoo"


@pytest.mark.parametrize("target", NAMED)
def test_every_mechanism_is_named_in_at_most_32_runs(zoo: Path, tmp_path: Path, target: str) -> None:
    report = diagnose(zoo / target, cwd=tmp_path)
    assert (report["status"], report["mechanism"]) == ("established", NAMED[target])
    assert report["confidence"] >= 0.99
    baseline = arm(report, "baseline")
    greens = (
        0 if baseline["red"] else baseline["runs"] - 2
    )  # beyond the two that every diagnosis has: they cost nothing
    assert greens <= 28
    assert len(report["runs"]) - greens <= 32
    assert report["reproducer"] is not None


def test_state_between_cases_is_green_in_file_order_and_never_blamed_on_the_pool(zoo: Path, tmp_path: Path) -> None:
    assert diagnose(zoo / "case_state", cwd=tmp_path)["status"] == "green"
    red = diagnose("--order=rand", "--seed=1", zoo / "case_state", cwd=tmp_path)
    assert (red["status"], red["mechanism"]) == ("established", "case-state")


@pytest.mark.parametrize("target", ["stale_read", "cross_device_reuse"])
def test_three_arms_alone_are_one_of_three_with_the_arms_that_separate(zoo: Path, tmp_path: Path, target: str) -> None:
    report, said = diagnose_in_words("--arms=bypass,exact,per-case", zoo / target, cwd=tmp_path)
    assert report["status"] == "unresolved"
    left = {entry["mechanism"] for entry in report["candidates"]}
    assert left == {"cross-device-reuse", "stale-read", "stream-race"}
    assert {"poison-n", "serial"} <= set(report["separators"])
    assert said.code == 3
    assert "Which way is not settled: " in said.out


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
    assert "(stale-read)" in again.stdout


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
