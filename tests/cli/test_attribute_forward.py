"""`attribute` on the example runtime: both directions of the fault, the fix, and the greens that prove nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import arm, attribute, candidates, checked, diagnose, diagnose_in_words, shell

OUTPUTS = ("--outputs=video.bin:f32", "--outputs=audio.bin:f32")
VICTIM = "bf16 production forward, one layer (CPU backend)"
SHIPPED = "SHIPPED 21.00B forward is finite on CUDA"
SEED_7 = ("--order=rand", "--seed=7")


def check_is_carried_by_the_pool(report: dict[str, Any]) -> None:
    """Check that the pool is to blame, and that nothing names the mechanism, which is among the candidates."""
    assert (report["status"], report["answer"], report["mechanism"]) == ("established", "carried-by-pool", None)
    assert "cross-device-reuse" in candidates(report)


def test_the_loud_direction_is_carried_by_the_pool_and_its_crash_puts_the_mechanism_first(
    blind: Path, tmp_path: Path
) -> None:
    report = diagnose(*SEED_7, blind, cwd=tmp_path)
    check_is_carried_by_the_pool(report)
    assert candidates(report)[0] == "cross-device-reuse"
    assert {"crash", "devices-by-name"} <= {entry["id"] for entry in report["witnesses"]}
    signature = report["signature"]
    assert (signature["kind"], signature["signal"], signature["case"]) == ("crash", "SIGSEGV", VICTIM)
    baseline = arm(report, "baseline")
    assert (baseline["runs"], baseline["red"], baseline["acted"]) == (2, 2, None)
    assert baseline["cases"] == {"selected": 13, "started": 4, "passed": 3, "failed": 1, "skipped": 0}
    assert baseline["assertions"] == {"passed": 44, "failed": 0}
    letters = {entry["role"]: "R" if entry["red"] else "G" for entry in report["arms"] if entry["runs"]}
    assert letters == {
        "baseline": "R",
        "bypass": "G",
        "exact": "R",
        "per-case": "G",
        "poison-n": "G",
        "poison-0": "R",
        "serial": "R",
        "isolate": "G",
        "quarantine": "G",
        "guard": "R",
        "placebo": "R",
    }
    assert (arm(report, "bypass")["acted"], arm(report, "isolate")["acted"]) == ("proven", "proven")


def test_the_silent_direction_has_its_census_and_the_green_arms_have_the_same_bytes(
    blind: Path, checkpoint: str, tmp_path: Path
) -> None:
    report = diagnose(f"--requires={checkpoint}", *OUTPUTS, blind, cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint)
    check_is_carried_by_the_pool(report)
    assert (report["signature"]["kind"], report["signature"]["case"]) == ("failure", SHIPPED)
    baseline = arm(report, "baseline")
    assert (baseline["cases"]["passed"], baseline["cases"]["selected"]) == (12, 13)
    assert sum(baseline["assertions"].values()) == 4639
    assert "canonical-nan" in {entry["id"] for entry in report["witnesses"]}
    video, audio = sorted(baseline["outputs"], key=lambda census: -census["n"])
    assert (video["path"], video["n"], video["nan"], video["inf"], video["zero"]) == ("video.bin", 1024, 1024, 0, 0)
    assert video["nan_patterns"] == [{"bits": "0x7fff0000", "count": 1024}]
    assert [element["bits"] for element in video["first"]] == ["0x7fff0000"] * 8
    assert (audio["n"], audio["nan"]) == (512, 512)
    hashes = {
        entry["role"]: {census["path"]: census["sha256"] for census in entry["outputs"]} for entry in report["arms"]
    }
    assert hashes["bypass"] == hashes["per-case"] == hashes["isolate"] != hashes["baseline"]
    assert [sum(arm(report, role)["assertions"].values()) for role in ("bypass", "isolate")] == [6176, 5624]
    assert {other["signature"]["place"] for other in report["others"]} == {"video.bin", "audio.bin"}
    assert all(other["answer"] == "carried-by-pool" for other in report["others"])


def test_the_terminal_says_the_census_and_the_identical_bytes(blind: Path, checkpoint: str, tmp_path: Path) -> None:
    said = attribute(*OUTPUTS, blind, cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint)
    assert said.code == 1
    assert "n=1024 nan=1024 inf=0 zero=0" in said.out
    assert "0x7fff0000" in said.out
    assert "bypass, per-case, poison-n, quarantine, guard, isolate (identical bytes)" in said.out


@pytest.mark.parametrize("words", [SEED_7, (), ("--order=name",)])
def test_the_fix_is_green_in_every_order(keyed: Path, checkpoint: str, tmp_path: Path, words: tuple[str, ...]) -> None:
    report = diagnose(*words, *OUTPUTS, keyed, cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint)
    assert (report["status"], report["mechanism"], report["signature"]) == ("green", None, None)
    assert sum(arm(report, "baseline")["assertions"].values()) == 6176
    assert arm(report, "poison-n")["runs"] == 1


@pytest.mark.parametrize("words", [("--order=name",), ("--order=rand", "--seed=1")])
def test_other_red_orders_have_the_same_answer(blind: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    report = diagnose(*words, blind, cwd=tmp_path)
    check_is_carried_by_the_pool(report)
    assert report["signature"]["signal"] == "SIGSEGV"


def test_without_the_checkpoint_it_is_green_by_accident_and_the_empty_pass_is_named(
    blind: Path, tmp_path: Path
) -> None:
    report, said = diagnose_in_words(blind, cwd=tmp_path)
    assert report["status"] == "green"
    assert sum(arm(report, "baseline")["assertions"].values()) == 552
    assert any("passed without one assertion" in note and SHIPPED in note for note in report["notes"])
    assert "passed without an assertion" in said.out
    assert "552 assertions" in said.out


def test_a_required_checkpoint_that_is_not_there_blocks(blind: Path, tmp_path: Path) -> None:
    report = diagnose("--requires=no.ckpt", blind, cwd=tmp_path)
    assert report["status"] == "blocked"
    assert "no.ckpt" in report["blocked_by"]
    assert [entry["runs"] for entry in report["arms"]] == [0] * len(report["arms"])


def test_what_it_prints_can_be_typed(blind: Path, tmp_path: Path) -> None:
    report = diagnose(*SEED_7, blind, cwd=tmp_path)
    red = shell(report["reproducer"], cwd=tmp_path)
    assert red.returncode in {139, -11}
    assert "9 skipped" in red.stdout
    bisected = shell(report["next"], cwd=tmp_path)
    assert bisected.returncode == 1
    assert "Polluter  BF16 PRODUCTION forward, one layer on CUDA" in bisected.stdout


def test_the_suggestion_after_a_green_can_be_typed_and_finds_the_red(blind: Path, tmp_path: Path) -> None:
    report = diagnose(blind, cwd=tmp_path)
    assert "--seed=1" in report["next"]
    again = shell(report["next"], cwd=tmp_path)
    assert again.returncode == 1
    assert "carried-by-pool" in again.stdout


def test_the_reproducer_of_an_output_writes_the_output(blind: Path, checkpoint: str, tmp_path: Path) -> None:
    words = (*OUTPUTS, "--case=device-resident forward matches upstream (CPU backend)", f"--case={SHIPPED}")
    report = diagnose(*words, blind, cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint)
    check_is_carried_by_the_pool(report)
    assert arm(report, "baseline")["cases"]["selected"] == 2
    red = shell(report["reproducer"], cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint)
    assert red.returncode == 1
    assert "1 failed" in red.stdout


def test_without_a_switch_for_serial_it_says_which_stay_possible_and_what_would_tell(
    blind: Path, tmp_path: Path
) -> None:
    words = ("--profile=vt", "--arm=serial=NOT_A_SWITCH=1", "--arm=poison-0=NOT_A_FILL=1")
    report, said = diagnose_in_words(*SEED_7, *words, blind, cwd=tmp_path)
    assert (report["status"], report["answer"], report["mechanism"]) == ("unresolved", None, None)
    assert {"cross-device-reuse", "stream-race"} <= set(candidates(report))
    assert "serial" in report["separators"]
    assert arm(report, "serial")["acted"] == "inert"
    assert said.code == 3
    assert "NOT_A_SWITCH" in said.out


def test_an_arm_of_ones_own_takes_the_place_of_a_profile(blind: Path, tmp_path: Path) -> None:
    words = (
        "--arm=bypass=VT_POOL_BYPASS=1",
        "--arm=poison-n=VT_POOL_POISON=255",
        "--arm=serial=VT_POOL_SERIAL=1",
        "--stats=VT_POOL_STATS=1",
        r"--counter=hits=(\d+)",
    )
    report = diagnose(*SEED_7, *words, blind, cwd=tmp_path)
    assert (report["status"], report["answer"]) == ("unresolved", None)
    known = [
        words
        for role in ("poison-n",)
        for words in (f"--property={role}.fills_on=hand-out", f"--property={role}.ordered=yes")
    ]
    check_is_carried_by_the_pool(diagnose(*SEED_7, *words, *known, blind, cwd=tmp_path))
    assert arm(report, "poison-n")["env"]["set"]["VT_POOL_BYPASS"] == "1"
    assert arm(report, "bypass")["acted"] == "proven"


def test_inherited_switches_are_removed_and_the_removal_is_told(blind: Path, tmp_path: Path) -> None:
    inherited = {"VT_POOL_BYPASS": "1", "MALLOC_PERTURB_": "85"}
    report, said = diagnose_in_words(*SEED_7, blind, cwd=tmp_path, **inherited)
    check_is_carried_by_the_pool(report)
    assert "VT_POOL_BYPASS" in said.out
    assert "MALLOC_PERTURB_" in said.out
    red = shell(report["reproducer"], cwd=tmp_path, **inherited)
    assert red.returncode in {139, -11}
    kept = diagnose("--keep-env=VT_POOL_BYPASS", *SEED_7, blind, cwd=tmp_path, **inherited)
    assert kept["status"] == "green"


def test_the_evidence_folder_has_every_run(blind: Path, tmp_path: Path) -> None:
    report = diagnose(*SEED_7, blind, cwd=tmp_path)
    folder = Path(report["evidence"])
    assert folder.parent == tmp_path / ".pooldiag"
    assert (folder.parent / ".gitignore").read_text().strip() == "*"
    for run in report["runs"]:
        assert (folder / run["id"] / "stdout").is_file()
        assert (folder / run["id"] / "report.xml").is_file()
        outcome = json.loads((folder / run["id"] / "outcome.json").read_text())
        assert (outcome["id"], outcome["ending"], outcome["cases"]) == (run["id"], run["ending"], run["cases"])
    assert not list(folder.glob("ballast*"))


def test_every_run_of_a_diagnosis_is_saved_before_the_next_one_begins(blind: Path, tmp_path: Path) -> None:
    copy = f"sh -c 'cp $(ls -d {tmp_path}/.pooldiag/2*)/report.json {tmp_path}/seen.$(ls {tmp_path} | wc -l) || true'"
    report = diagnose(f"--before={copy}", *SEED_7, blind, cwd=tmp_path)
    seen = [checked(path.read_text()) for path in sorted(tmp_path.glob("seen.*"))]
    assert len(seen) == len(report["runs"]) - 1
    assert all(part["partial"] for part in seen)
    assert sorted(len(part["runs"]) for part in seen) == list(range(1, len(report["runs"])))


def test_json_is_all_that_stdout_holds(blind: Path, tmp_path: Path) -> None:
    said = attribute("--json", *SEED_7, blind, cwd=tmp_path)
    assert json.loads(said.out)["schema"] == "pooldiag.report/1"
    assert "run 01 baseline" in said.err
    assert attribute("--json", "--quiet", *SEED_7, blind, cwd=tmp_path).err == ""
