"""Ctrl-C and other ends, and what is left of a diagnosis then; terminals, pipes and streams that are not there."""

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import FLOORS, LIMIT_SECONDS, Said, attribute, checked, environment, shell
from tests.cli.processes import PROGRAM, Pooldiag, Starter, Terminal, on_terminal
from tests.execute.helpers import is_alive, is_locked, pid_in, wait_until, waiters

Holder = Callable[[Path], subprocess.Popen[bytes]]

CTRL_C = b"\x03"
COLOR = re.compile(rb"\x1b\[[0-9;]*m")


def interrupted(said: Said, folder: Path) -> dict[str, Any]:
    """Check that a diagnosis said and saved what it knew, and return that."""
    assert said.code == 130
    report = checked(said.out)
    (saved,) = folder.glob(".pooldiag/*/report.json")
    assert checked(saved.read_text()) == report
    assert report["partial"] is True
    assert report["status"] == "unresolved"
    return report


def hangs_in(process: Pooldiag) -> list[int]:
    """Wait until the target hangs; return its processes."""
    wait_until(lambda: "hangs" in process.pids, "the target hangs")
    return list(process.pids.values())


# --- during a run -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["hangs", "hangs_hard"])
def test_ctrl_c_during_a_run_ends_everything_and_keeps_what_is_known(zoo: Path, tmp_path: Path, target: str) -> None:
    lock = tmp_path / "gpu.lock"
    with on_terminal("--json", f"--lock={lock}", "--grace=100ms", zoo / target, cwd=tmp_path) as terminal:
        pids = hangs_in(terminal.pooldiag)
        assert is_locked(lock)
        terminal.type(CTRL_C)
        said = terminal.pooldiag.said
        assert not any(map(is_alive, pids))
        assert not is_locked(lock)
    report = interrupted(said, tmp_path)
    assert report["runs"] == []  # a run that we ended says nothing
    assert report["lock"]["held_seconds"] > 0
    assert terminal.lines() == ["pooldiag: interrupted"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_pooldiag_alone_does_the_same(
    zoo: Path, tmp_path: Path, start: Starter, number: signal.Signals
) -> None:
    lock = tmp_path / "gpu.lock"
    process = start("--json", f"--lock={lock}", "--grace=100ms", zoo / "hangs_hard")
    pids = hangs_in(process)
    process.kill(number)
    said = process.said
    assert not any(map(is_alive, pids))
    assert not is_locked(lock)
    assert interrupted(said, tmp_path)["runs"] == []
    assert said.err.endswith("pooldiag: interrupted\n")


def test_runs_that_finished_before_are_in_the_partial_report(zoo: Path, tmp_path: Path, start: Starter) -> None:
    hang_at_the_second = "--before=sh -c 'test -e second && echo $$ > pid && exec sleep 60; touch second'"
    process = start("--json", "--no-lock", hang_at_the_second, zoo / "fails")
    pid = pid_in(tmp_path / "pid")
    process.kill(signal.SIGINT)
    report = interrupted(process.said, tmp_path)
    assert not is_alive(pid)
    assert [(run["id"], run["reading"]) for run in report["runs"]] == [("01-baseline", "red")]
    assert report["signature"]["case"] == "check fails and goes on"
    assert report["reproducer"]


def test_the_terminal_is_told_that_it_is_only_a_part(zoo: Path, start: Starter) -> None:
    process = start("--no-lock", "--grace=100ms", zoo / "hangs")
    hangs_in(process)
    process.kill(signal.SIGINT)
    said = process.said
    assert said.code == 130
    assert "nterrupted" in said.out.splitlines()[0]
    assert "Green" not in said.out


@pytest.fixture
def deaf(tmp_path: Path) -> Path:
    """A target that only notes that it was asked to end."""
    path = tmp_path / "deaf"
    path.write_text(
        "#!/bin/sh\ntrap 'touch asked' TERM\necho $$ > pid\ni=0\nwhile [ $((i += 1)) -lt 4000 ]; do sleep 0.05; done\n"
    )
    path.chmod(0o755)
    return path


def test_a_second_ctrl_c_does_not_wait_for_a_target_that_ignores_sigterm(deaf: Path, tmp_path: Path) -> None:
    with on_terminal("--json", "--no-lock", "--grace=1h", deaf, cwd=tmp_path) as terminal:
        pid = pid_in(tmp_path / "pid")
        terminal.type(CTRL_C)
        wait_until((tmp_path / "asked").exists, "the target was asked to end")
        assert terminal.pooldiag.process.poll() is None
        assert is_alive(pid)
        terminal.type(CTRL_C)
        said = terminal.pooldiag.said
        assert not is_alive(pid)
    interrupted(said, tmp_path)
    assert "Traceback" not in "\n".join(terminal.lines())


# --- during a wait for the lock ---------------------------------------------------------------------------------------


def test_ctrl_c_during_a_wait_for_the_lock_leaves_queue_and_holder_alone(
    zoo: Path, tmp_path: Path, hold_lock: Holder
) -> None:
    lock = tmp_path / "gpu.lock"
    holder = hold_lock(lock)
    with on_terminal("--json", f"--lock={lock}", zoo / "vacuous", cwd=tmp_path, columns=140) as terminal:
        wait_until(lambda: waiters(lock) == 1, "pooldiag waits")
        wait_until(lambda: terminal.sees("waiting for lock", f"held by pid {holder.pid}"), "the wait is on screen")
        terminal.type(CTRL_C)
        said = terminal.pooldiag.said
    report = interrupted(said, tmp_path)
    assert report["runs"] == []
    assert report["lock"]["waited_seconds"] > 0
    assert report["lock"]["held_seconds"] == 0
    assert waiters(lock) == 0
    assert holder.poll() is None
    assert terminal.lines() == ["pooldiag: interrupted while waiting for the lock; nothing ran"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_wait_for_the_lock(
    zoo: Path, tmp_path: Path, hold_lock: Holder, start: Starter, number: signal.Signals
) -> None:
    lock = tmp_path / "gpu.lock"
    hold_lock(lock)
    process = start("--json", f"--lock={lock}", zoo / "vacuous")
    wait_until(lambda: waiters(lock) == 1, "pooldiag waits")
    process.kill(number)
    assert interrupted(process.said, tmp_path)["runs"] == []
    assert waiters(lock) == 0


# --- the live view ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 140])
def test_the_live_view_shows_the_case_and_leaves_a_clean_screen(zoo: Path, tmp_path: Path, columns: int) -> None:
    words = ("--no-lock", "--timeout=1", "--grace=100ms", "--repeat=1", zoo / "hangs")
    with on_terminal(*words, cwd=tmp_path, columns=columns) as terminal:
        wait_until(lambda: terminal.sees("run 1: baseline", "case 3/4: never ends"), "the case is on screen")
        said = terminal.pooldiag.said
    assert said.code == 3
    assert "hang in never ends" in said.out
    assert not COLOR.search(said.out.encode())
    assert terminal.lines() == []
    assert terminal.written.rindex(b"\x1b[?25h") > terminal.written.rindex(b"\x1b[?25l")  # the cursor is back


def report_on(terminal: Terminal) -> tuple[int, list[str]]:
    """Wait for the end; return the exit code and the lines of the screen."""
    code = terminal.pooldiag.said.code
    wait_until(lambda: terminal.sees("Evidence:"), "the report is on screen")
    return code, terminal.lines()


@pytest.mark.parametrize("columns", [80, 140])
def test_the_report_stands_alone_on_the_screen(zoo: Path, tmp_path: Path, columns: int) -> None:
    with on_terminal("--no-lock", zoo / "all_skipped", cwd=tmp_path, columns=columns, stdout=True) as terminal:
        code, lines = report_on(terminal)
    assert code == 4
    assert lines[0].startswith("Blocked: ")
    assert not [line for line in lines if "preparing" in line or "running" in line]
    assert COLOR.search(terminal.written)


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_where_no_color_is_wanted_there_is_none(zoo: Path, tmp_path: Path, changes: dict[str, str]) -> None:
    with on_terminal("--no-lock", zoo / "all_skipped", cwd=tmp_path, stdout=True, changes=changes) as terminal:
        code, lines = report_on(terminal)
    assert code == 4
    assert lines[0].startswith("Blocked: ")
    colors = [found for found in COLOR.findall(bytes(terminal.written)) if re.search(rb"[349][0-7]", found)]
    assert not colors
    if "TERM" in changes:
        assert b"\x1b" not in terminal.written


# --- streams that are not there ---------------------------------------------------------------------------------------


def line_of(target: Path, redirection: str, *words: str) -> str:
    return " ".join(["pooldiag", "attribute", "--no-lock", *FLOORS, *words, str(target), redirection])


@pytest.mark.parametrize(("target", "code"), [("fails", 3), ("none", 2)])
def test_streams_that_are_closed_or_full_change_no_exit_code(zoo: Path, tmp_path: Path, target: str, code: int) -> None:
    for redirection in ("2>&-", "<&- >&- 2>&-", "2> /dev/full"):
        done = shell(line_of(zoo / target, redirection, "--repeat=1"), cwd=tmp_path)
        assert (done.returncode, done.stderr) == (code, ""), redirection
        if code == 3 and not redirection.startswith("<"):
            assert "Evidence:" in done.stdout


@pytest.mark.parametrize("shape", ["--quiet", "--json"])
@pytest.mark.parametrize(("target", "code"), [("vacuous", 0), ("fails", 3)])
def test_a_reader_that_has_gone_is_no_error(zoo: Path, tmp_path: Path, target: str, code: int, shape: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # as `| head -1` does once it has its line, but surely before the report comes
    try:
        done = subprocess.run(
            [*PROGRAM, "attribute", "--no-lock", "--repeat=1", *FLOORS, shape, zoo / target],
            cwd=tmp_path,
            env=environment({}),
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode == code
    assert not re.search("Traceback|Broken|Exception", done.stderr)
    assert list(tmp_path.glob(".pooldiag/*/report.json"))


def test_the_first_line_can_be_had_alone(zoo: Path, tmp_path: Path) -> None:
    done = shell(line_of(zoo / "fails", "| head -1"), cwd=tmp_path)
    assert done.stdout.startswith("Red, not settled")
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_report_that_finds_no_room_is_told_and_is_saved_all_the_same(zoo: Path, tmp_path: Path) -> None:
    for shape in ("", "--json"):
        done = shell(line_of(zoo / "vacuous", "> /dev/full", shape), cwd=tmp_path)
        assert done.returncode == 4
        assert "pooldiag: cannot write to stdout: No space left on device\n  the report is saved in " in done.stderr
        assert "Traceback" not in done.stderr


def test_what_is_piped_is_plain(zoo: Path, tmp_path: Path) -> None:
    said = attribute(zoo / "fails", cwd=tmp_path, TERM="xterm-256color")
    assert said.code == 3
    assert "\x1b" not in said.out + said.err
    assert [line.split(":")[0] for line in said.err.splitlines()][:2] == ["arms", "run 01 baseline"]
