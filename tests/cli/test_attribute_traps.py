"""Targets whose summary or exit code lies, each read as what it is."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import arm, attribute, bisect, diagnose, diagnose_in_words, pooldiag, survey


@pytest.fixture
def zoo(examples_build: Path) -> Path:
    return examples_build / "zoo"


def signature(report: dict[str, Any]) -> tuple[str, str | None, str | None]:
    found = report["signature"]
    return found["kind"], found["signal"], found["case"]


def test_44_assertions_and_0_failed_beside_a_crash_is_red(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "crash_zero_failed", cwd=tmp_path)
    assert signature(report) == ("crash", "SIGSEGV", "crashes")
    baseline = arm(report, "baseline")
    assert baseline["assertions"] == {"passed": 44, "failed": 0}
    assert baseline["cases"] == {"selected": 13, "started": 4, "passed": 3, "failed": 1, "skipped": 0}
    assert report["status"] == "unresolved"
    assert "independent" in {entry["mechanism"] for entry in report["candidates"]}


@pytest.mark.parametrize(("target", "passed", "selected"), [("exit_in_middle", 2, 5), ("exit_in_last", 3, 4)])
def test_exit_0_inside_a_case_is_red(zoo: Path, tmp_path: Path, target: str, passed: int, selected: int) -> None:
    report = diagnose(zoo / target, cwd=tmp_path)
    assert signature(report) == ("count", None, "leaves")
    cases = arm(report, "baseline")["cases"]
    assert (cases["passed"], cases["selected"]) == (passed, selected)


@pytest.mark.parametrize(("target", "case"), [("hangs", "never ends"), ("hangs_hard", "never ends, whatever is asked")])
def test_a_hang_is_red_with_its_case_named(zoo: Path, tmp_path: Path, target: str, case: str) -> None:
    report = diagnose("--timeout=1", "--grace=200ms", "--repeat=1", zoo / target, cwd=tmp_path)
    assert signature(report) == ("hang", None, case)
    assert arm(report, "isolate")["red"] == 1


def test_everything_skipped_is_void(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "all_skipped", cwd=tmp_path)
    assert report["status"] == "blocked"
    assert "all 3 cases are skipped" in report["blocked_by"]


def test_cases_that_passed_with_zero_assertions_are_named(zoo: Path, tmp_path: Path) -> None:
    report, said = diagnose_in_words(zoo / "vacuous", cwd=tmp_path)
    assert report["status"] == "green"
    named = [note for note in report["notes"] if note.startswith("passed without one assertion")]
    assert len(named) == 5
    assert "5 of 7 cases passed without an assertion" in said.out


def test_nothing_is_green_where_nothing_was_asserted(zoo: Path, tmp_path: Path) -> None:
    silent = ("--case=empty body", "--case=only a *", "--case=empty subcases", zoo / "vacuous")
    report, said = diagnose_in_words(*silent, cwd=tmp_path)
    assert (report["status"], report["blocked_by"], said.code) == ("blocked", "nothing was asserted", 4)
    assert report["excluded"] is None
    assert said.out.startswith("Blocked: nothing was asserted\n")
    found = bisect("--no-arms", *silent, cwd=tmp_path)
    assert (found["status"], found["blocked_by"]) == ("blocked", "nothing was asserted")
    orders = survey("--seeds=1..3", *silent, cwd=tmp_path)
    assert orders["blocked_by"] == "nothing was asserted"
    checks = ("--repeat=1", "--case=empty body", "--case=asserts", zoo / "vacuous")
    assert diagnose(*checks, cwd=tmp_path)["status"] == "green"


def test_a_crash_after_a_green_summary_is_red_outside_any_case(zoo: Path, tmp_path: Path) -> None:
    report, said = diagnose_in_words(zoo / "crash_after_summary", cwd=tmp_path)
    assert signature(report) == ("crash", "SIGSEGV", None)
    assert report["signature"]["place"] == "after the last case"
    assert "outside any case" in said.out


def test_a_crash_before_main_is_red_without_any_listing(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "crash_before_main", cwd=tmp_path)
    assert signature(report) == ("crash", "SIGSEGV", None)
    assert any("no list of cases" in note for note in report["notes"])
    assert "isolate" not in {entry["role"] for entry in report["arms"]}


def test_a_fixture_that_cannot_be_read_blocks_and_a_readable_one_does_not(zoo: Path, tmp_path: Path) -> None:
    fixture = tmp_path / "fixture.bin"
    missing = diagnose(f"--requires={fixture}", zoo / "needs_fixture", cwd=tmp_path, ZOO_FIXTURE=str(fixture))
    assert missing["status"] == "blocked"
    fixture.mkdir()
    folder = diagnose(f"--requires={fixture / 'x'}", zoo / "needs_fixture", cwd=tmp_path)
    assert folder["status"] == "blocked"
    fixture.rmdir()
    fixture.write_bytes(b"fixture\n")
    there = diagnose(f"--requires={fixture}", zoo / "needs_fixture", cwd=tmp_path, ZOO_FIXTURE=str(fixture))
    assert there["status"] == "green"
    assert not [note for note in there["notes"] if "without one assertion" in note]


def test_plain_failures_are_all_listed_and_expected_ones_are_not(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "fails", cwd=tmp_path)
    reds = [report["signature"], *(other["signature"] for other in report["others"])]
    assert len(reds) == arm(report, "baseline")["cases"]["failed"] == 7
    assert not [red for red in reds if "may_fail" in red["case"] or "should_fail" in red["case"]]


@pytest.mark.parametrize(
    ("case", "signal"),
    [("abort", "SIGABRT"), ("fpe", "SIGFPE"), ("ill", "SIGILL"), ("bus", "SIGBUS"), ("stack overflow", "SIGSEGV")],
)
def test_every_signal_is_named_with_its_case(zoo: Path, tmp_path: Path, case: str, signal: str) -> None:
    report = diagnose(f"--case={case}", "--repeat=1", zoo / "signals", cwd=tmp_path)
    assert signature(report) == ("crash", signal, case)


@pytest.mark.parametrize(("case", "signal"), [("segv in a thread", "SIGSEGV"), ("kill", "SIGKILL")])
def test_a_crash_of_a_thread_or_from_outside_is_in_the_case_that_ran(
    zoo: Path, tmp_path: Path, case: str, signal: str
) -> None:
    report = diagnose(f"--case={case}", "--case=green", "--repeat=1", zoo / "signals", cwd=tmp_path)
    assert signature(report) == ("crash", signal, case)


def test_a_child_that_outlives_the_run_is_ended_and_the_run_is_green(zoo: Path, tmp_path: Path) -> None:
    for changes in ({}, {"ZOO_SETSID": "1"}, {"ZOO_KEEP_HANDLERS": "1"}):
        report = diagnose(zoo / "orphan_child", cwd=tmp_path, **changes)
        assert report["status"] == "green"
        assert [note for note in report["notes"] if "left process" in note]


def test_nan_in_an_output_is_red_although_every_case_passes(zoo: Path, tmp_path: Path) -> None:
    report = diagnose("--outputs=*.bin:f32", "--case=*", zoo / "nan_output", cwd=tmp_path, ZOO_NAN="7")
    assert report["signature"]["kind"] == "nan"
    clean = diagnose("--outputs=out.bin:f32", zoo / "nan_output", cwd=tmp_path)
    assert clean["status"] == "green"
    assert arm(clean, "baseline")["outputs"][0]["n"] == 1024


def test_a_run_that_changes_its_working_directory_is_told(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "self_writes", cwd=tmp_path)
    assert report["status"] == "unresolved"
    assert any("zoo_state.txt" in note for note in report["notes"])
    reset = diagnose("--before=rm -f zoo_state.txt", zoo / "self_writes", cwd=tmp_path)
    assert reset["status"] == "green"


def test_a_program_with_embedded_tests_is_run_as_tests(zoo: Path, tmp_path: Path) -> None:
    assert signature(diagnose(zoo / "own_main", cwd=tmp_path)) == ("failure", None, "area, red")
    assert diagnose(zoo / "own_main", cwd=tmp_path, ZOO_GREEN="1")["status"] == "green"


def test_a_program_that_does_not_list_is_a_black_box_and_cases_cannot_be_chosen(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "deaf_main", cwd=tmp_path)
    assert any("no list of cases" in note for note in report["notes"])
    said = attribute("--case=x", zoo / "deaf_main", cwd=tmp_path)
    assert (said.code, "no case can be chosen" in said.err) == (2, True)


def test_a_target_gets_an_empty_output_folder_and_no_core_and_no_stdin(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "prints_env", "--word={out}", cwd=tmp_path)
    folder = Path(report["evidence"]) / "01-baseline"
    text = (folder / "stdout").read_text(errors="replace")
    assert f"--word={folder / 'out'}" in text
    assert f"POOLDIAG_OUTPUT_DIR={folder / 'out'}" in text
    assert "/dev/null" in text
    assert pooldiag("--version", cwd=tmp_path).out.startswith("pooldiag ")
