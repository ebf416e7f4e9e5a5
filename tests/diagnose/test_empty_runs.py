"""What the runners inside a target say where no test ran, as they were seen to say it."""

import pytest

from pooldiag.diagnose.empty_runs import RUNNERS
from pooldiag.diagnose.observations import TextFacts, scan

CATCH2 = 'Filters: "nope"\nNo test cases matched \'"nope"\'\n' + "=" * 79 + "\nNo tests ran\n\n"
GO_EMPTY = "testing: warning: no tests to run\nPASS\nok  \texample.com/zoo\t0.002s [no tests to run]\n"

SAID = {
    "ctest": ("Test project /build\nNo tests were found!!!", "No tests were found!!!"),
    "gtest": (
        "[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test suites ran. (0 ms total)",
        "[==========] Running 0 tests from 0 test suites.",
    ),
    "pytest": (f"collected 0 items\n\n{'=' * 28} no tests ran in 0.06s {'=' * 29}", "no tests ran in 0.06s"),
    "pytest -q": ("no tests ran in 0.01s", "no tests ran in 0.01s"),
    "pytest -k": (f"{'=' * 26} 24 deselected in 0.05s {'=' * 27}", "24 deselected in 0.05s"),
    "unittest": (f"\n{'-' * 70}\nRan 0 tests in 0.000s\n\nNO TESTS RAN", "Ran 0 tests in 0.000s"),
    "go test": (GO_EMPTY, "testing: warning: no tests to run"),
    "go test ./...": (
        "?   \texample.com/zoo\t[no test files]\nok  \texample.com/a\t0.01s [no tests to run]",
        "?   \texample.com/zoo\t[no test files]",
    ),
    "cargo test": (
        "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 17 filtered out",
        "running 0 tests",
    ),
    "cargo nextest": ("    Starting 0 tests across 2 binaries (18 tests skipped)\nerror: no tests to run", None),
    "Catch2": (CATCH2, "No test cases matched '\"nope\"'"),
    "Boost.Test": ("Test setup error: no test cases matching filter or all test cases were disabled", None),
}

RAN = {
    "ctest": "1/1 Test #1: a_pass ...........................   Passed    0.01 sec",
    "gtest": "[==========] Running 3 tests from 1 test suite.",
    "pytest": "========================= 2 passed, 22 deselected in 0.05s =========================",
    "pytest -q": "1 failed in 0.20s",
    "unittest": "Ran 1 test in 0.001s",
    "unittest, in setUpClass": "FAILED (errors=1)",
    "go test": "ok  \texample.com/zoo\t0.002s",
    "go test, cached": "ok  \texample.com/zoo\t(cached)",
    "go test, not built": "FAIL\texample.com/zoo [build failed]",
    "cargo test": "running 17 tests",
    "cargo nextest": "    Starting 18 tests across 2 binaries",
    "Catch2": "All tests passed (3 assertions in 1 test case)",
    "Catch2, red": "test cases: 2 | 1 passed | 1 failed",
    "Boost.Test": "Running 2 test cases...",
}


def reason(text: str, *, runners: bool = True) -> str | None:
    found = TextFacts()
    scan(text.encode().split(b"\n"), (), found, runners=runners)
    return found.empty.reason


@pytest.mark.parametrize("runner", SAID)
def test_that_no_test_ran_is_read_in_the_words_of_the_runner(runner: str) -> None:
    text, words = SAID[runner]
    said = reason(text)
    assert said is not None
    assert said.startswith(f"no test ran: {runner.partition(' -')[0].removesuffix(' ./...')} says «")
    assert words is None or words.strip() in said or words.strip("[=] ") in said
    assert reason(text, runners=False) is None


@pytest.mark.parametrize("runner", RAN)
@pytest.mark.parametrize("empty", ["ctest", "cargo test"])
def test_a_test_that_ran_in_any_runner_outweighs_another_that_had_nothing_to_do(runner: str, empty: str) -> None:
    for text in (f"{SAID[empty][0]}\n{RAN[runner]}", f"{RAN[runner]}\n{SAID[empty][0]}"):
        assert reason(text) is None


def test_the_words_count_only_as_the_whole_line_that_a_runner_writes() -> None:
    for said in SAID:
        words = SAID[said][1] or SAID[said][0].rpartition("\n")[2]
        assert reason(f"checking that it prints {words}") is None, said
        assert reason(f"{words} was printed") is None, said


def test_colour_and_the_line_ends_of_windows_are_not_part_of_the_words() -> None:
    assert reason("\x1b[33m===== \x1b[33mno tests ran\x1b[0m\x1b[33m in 0.01s\x1b[0m\x1b[33m =====\x1b[0m") is not None
    assert reason("\x1b[0;32m[==========] \x1b[mRunning 0 tests from 0 test suites.\r") is not None


def test_a_line_longer_than_any_of_theirs_is_not_looked_at() -> None:
    assert reason("No test cases matched '" + "x" * 5000 + "'") is None


def test_every_runner_has_its_source_and_its_own_words() -> None:
    assert len({one.runner for one in RUNNERS}) == len(RUNNERS)
    assert all(one.source for one in RUNNERS)
    assert {said.partition(" -")[0].removesuffix(" ./...") for said in SAID} == {one.runner for one in RUNNERS}
