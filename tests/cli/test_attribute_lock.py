"""The device lock as other users of the device see it: shells that take turns, holders, orphans, a pooldiag killed."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Said, attribute, checked, pooldiag
from tests.cli.processes import Starter, started
from tests.execute.helpers import LIMIT_SECONDS, is_alive, is_locked, pid_in, wait_until, waiters

Holder = Callable[[Path], subprocess.Popen[bytes]]


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """A lock file that somebody wrote into."""
    path = tmp_path / "gpu.lock"
    path.write_text("someone's notes")
    return path


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A target that leaves a mark whenever it is started, be it to list its cases."""
    path = tmp_path / "marks"
    path.write_text("#!/bin/sh\ntouch started\n")
    path.chmod(0o755)
    return path


def let_go(holder: subprocess.Popen[bytes]) -> None:
    assert holder.stdin is not None
    holder.stdin.close()


def blocked(said: Said) -> dict[str, Any]:
    """Check that a diagnosis was blocked before anything ran, and return its report."""
    report = checked(said.out)
    evidence = Path(report["evidence"])
    assert said.code == 4
    assert (report["status"], report["partial"], report["runs"]) == ("blocked", False, [])
    assert checked((evidence / "report.json").read_text()) == report
    assert sorted(os.listdir(evidence)) == ["environment.json", "journal.jsonl", "report.json"]
    return report


# --- waiting ----------------------------------------------------------------------------------------------------------


@contextmanager
def shells_that_take_turns(number: int, lock: Path, log: Path) -> Iterator[None]:
    """Let shells hold the lock again and again, at most five times each; each hold is a line of the log."""
    stop = log.with_name("stop")
    hold = f"sh -c 'echo foreign >> {log}; sleep 0.1'"
    # The pause: the kernel wakes the first in the queue, but who asks again before that one runs gets the lock. So a
    # shell asks again in the middle of somebody's hold, and not when one ends, as with a multiple of 0.1.
    loop = f"for i in 1 2 3 4 5; do [ -e {stop} ] && break; flock -w {LIMIT_SECONDS:g} {lock} {hold}; sleep 0.25; done"
    shells = [subprocess.Popen(["sh", "-c", loop]) for _ in range(number)]
    try:
        yield
    finally:
        stop.touch()
        assert [shell.wait(LIMIT_SECONDS) for shell in shells] == [0] * number


def test_behind_six_shells_that_take_turns_at_most_six_holds_pass_before_ours(
    zoo: Path, tmp_path: Path, lock: Path, hold_lock: Holder, start: Starter
) -> None:
    log = tmp_path / "log"
    first = hold_lock(lock)
    words = (f"--lock={lock}", f"--before=sh -c 'echo ours >> {log}'")
    with shells_that_take_turns(6, lock, log):
        wait_until(lambda: waiters(lock) == 6, "six shells wait")
        waiting = start("--json", "--repeat=2", *words, zoo / "vacuous")
        wait_until(lambda: waiters(lock) == 7, "pooldiag waits as well")
        let_go(first)
        said = waiting.said
    assert said.code == 0
    holds = log.read_text().split()
    assert holds.index("ours") <= 6
    assert holds.count("ours") == 2
    assert checked(said.out)["lock"]["waited_seconds"] > 0
    both = [number for number, hold in enumerate(holds) if hold == "ours"]
    assert both[1] - both[0] == 1  # one hold for the whole diagnosis


def test_a_wait_in_vain_exits_4_names_the_holder_and_starts_nothing(
    tmp_path: Path, lock: Path, marks: Path, hold_lock: Holder
) -> None:
    holder = hold_lock(lock)
    words = (f"--lock={lock}", "--framework=doctest", "--before=touch started", marks)
    report = blocked(pooldiag("attribute", "--json", "--lock-wait=1", *words, cwd=tmp_path))
    problem = f"{lock} is still held after 1 s by pid {holder.pid} (flock {lock} "
    assert report["blocked_by"].startswith(problem)
    assert report["lock"]["paths"] == [str(lock)]
    assert report["lock"]["held_seconds"] == 0
    said = pooldiag("attribute", "--lock-wait=0.1", *words, cwd=tmp_path)
    assert said.code == 4
    assert f"is still held after 0.1 s by pid {holder.pid}" in " ".join(said.out.split())
    assert said.err.startswith(f"waiting for lock {lock}: ")
    assert f"held by pid {holder.pid}" in said.err
    assert not (tmp_path / "started").exists()
    assert holder.poll() is None


def test_an_orphan_that_holds_the_lock_after_its_owner_died_is_named(tmp_path: Path, lock: Path, marks: Path) -> None:
    child = "echo $$ > child; while :; do sleep 0.05; [ -e stop ] && exit; done"
    owner = subprocess.Popen(["flock", str(lock), "sh", "-c", child], cwd=tmp_path)
    pid = pid_in(tmp_path / "child")
    owner.kill()
    owner.wait()
    try:
        report = blocked(pooldiag("attribute", "--json", f"--lock={lock}", "--lock-wait=0", marks, cwd=tmp_path))
    finally:
        (tmp_path / "stop").touch()
    assert f"by pid {pid} (sh -c " in report["blocked_by"]
    assert f"lock taken by pid {owner.pid}, which is gone" in report["blocked_by"]
    wait_until(lambda: not is_alive(pid), "the orphan is gone")


def test_two_pooldiags_with_two_lock_files_in_opposite_order_do_not_block_each_other(
    zoo: Path, tmp_path: Path, hold_lock: Holder, start: Starter
) -> None:
    low, high = tmp_path / "a.lock", tmp_path / "b.lock"
    for path in (low, high):
        path.touch()
    holder = hold_lock(high)
    first = start("--json", f"--lock={low}", f"--lock={high}", zoo / "vacuous")
    wait_until(lambda: waiters(high) == 1, "one has the first file and waits for the second")
    second = start("--json", f"--lock={high}", f"--lock={low}", zoo / "vacuous")
    wait_until(lambda: waiters(low) == 1, "the other waits for the first file, whatever it was told first")
    assert waiters(high) == 1
    let_go(holder)
    for process in (first, second):
        assert checked(process.said.out)["lock"]["paths"] == [str(low), str(high)]
        assert process.said.code == 0


# --- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_held", [False, True])
def test_the_lock_file_is_never_truncated_replaced_or_removed(
    zoo: Path, tmp_path: Path, lock: Path, hold_lock: Holder, is_held: bool
) -> None:
    before = lock.stat()
    if is_held:
        hold_lock(lock)
    said = pooldiag("attribute", f"--lock={lock}", "--lock-wait=0", zoo / "vacuous", cwd=tmp_path)
    assert said.code == (4 if is_held else 0)
    after = lock.stat()
    assert lock.read_text() == "someone's notes"
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)


def test_a_diagnosis_holds_the_lock_and_says_for_how_long(zoo: Path, tmp_path: Path, lock: Path) -> None:
    look = f"sh -c 'flock --nonblock {lock} true && touch was-free; true'"
    said = pooldiag("attribute", "--json", f"--lock={lock}", f"--before={look}", zoo / "vacuous", cwd=tmp_path)
    assert said.code == 0
    assert not (tmp_path / "was-free").exists()
    report = checked(said.out)
    assert report["lock"]["paths"] == [str(lock)]
    assert 0 < report["lock"]["held_seconds"] <= report["seconds"]
    assert not is_locked(lock)


def test_flag_variable_and_default_say_which_file(zoo: Path, tmp_path: Path, lock: Path, hold_lock: Holder) -> None:
    words = ("--json", "--lock-wait=0", zoo / "vacuous")
    home = {"HOME": str(tmp_path)}
    hold_lock(lock)
    assert "gpu.lock is still held" in blocked(pooldiag("attribute", *words, cwd=tmp_path, **home))["blocked_by"]
    other, third = tmp_path / "other.lock", tmp_path / "third.lock"
    by_variable = pooldiag("attribute", *words, cwd=tmp_path, **home, POOLDIAG_LOCK=f"{third}:{other}")
    assert checked(by_variable.out)["lock"]["paths"] == [str(other), str(third)]
    by_flag = pooldiag("attribute", f"--lock={third}", *words, cwd=tmp_path, **home, POOLDIAG_LOCK=str(lock))
    assert checked(by_flag.out)["lock"]["paths"] == [str(third)]


def test_without_a_lock_nothing_is_waited_for(zoo: Path, tmp_path: Path, lock: Path, hold_lock: Holder) -> None:
    hold_lock(lock)
    words = ("--json", "--no-lock", "--lock-wait=0", zoo / "vacuous")
    for changes in ({"HOME": str(tmp_path)}, {"POOLDIAG_LOCK": str(lock)}):
        said = pooldiag("attribute", *words, cwd=tmp_path, **changes)
        assert (said.code, checked(said.out)["lock"]) == (0, None)
    both = attribute(f"--lock={lock}", zoo / "vacuous", cwd=tmp_path)
    assert (both.code, "contradict each other" in both.err) == (2, True)


def unprivileged() -> tuple[str, ...]:
    """Return what makes a command of root's obey the permissions of files."""
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()


@pytest.mark.parametrize(
    ("name", "mode", "why"),
    [
        (".", None, "Is a directory"),
        ("none/gpu.lock", None, "No such file or directory"),
        ("file/gpu.lock", None, "Not a directory"),
        ("file", 0o000, "Permission denied"),
        ("closed/gpu.lock", 0o500, "Permission denied"),
    ],
)
def test_a_lock_file_that_cannot_be_opened_is_told_in_one_line(
    marks: Path, tmp_path: Path, name: str, mode: int | None, why: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "closed").mkdir()
    path = tmp_path / name
    if mode is not None:
        (path if path.exists() else path.parent).chmod(mode)
    with started("--json", f"--lock={path}", marks, cwd=tmp_path, before=unprivileged()) as process:
        said = process.said
    (tmp_path / "closed").chmod(0o700)
    report = blocked(said)
    assert report["blocked_by"] == f"the lock file {Path(os.path.abspath(path))} cannot be locked: {why}"
    assert "Traceback" not in said.err
    assert not (tmp_path / "started").exists()


# --- a pooldiag that is killed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["hangs", "hangs_hard"])
def test_a_killed_pooldiag_takes_everything_along_and_the_lock_is_free_only_then(
    zoo: Path, lock: Path, start: Starter, target: str
) -> None:
    process = start(f"--lock={lock}", "--grace=300ms", zoo / target)
    wait_until(lambda: "hangs" in process.pids, "the target hangs")
    pids = process.pids.values()
    assert len(pids) == (2 if target == "hangs_hard" else 1)
    assert is_locked(lock)
    process.kill(signal.SIGKILL)
    wait_until(lambda: not is_locked(lock), "the lock is free")
    assert not any(map(is_alive, pids))
    assert process.process.wait(LIMIT_SECONDS) == -signal.SIGKILL


def test_what_a_killed_pooldiag_knew_is_saved_and_marked_partial(
    zoo: Path, tmp_path: Path, lock: Path, start: Starter
) -> None:
    process = start(
        f"--lock={lock}", "--grace=0", "--before=sh -c 'test -e second && sleep 60; touch second'", zoo / "vacuous"
    )
    wait_until(
        lambda: (tmp_path / "second").exists() and list(tmp_path.glob(".pooldiag/*/02-*")), "the second run began"
    )
    process.kill(signal.SIGKILL)
    wait_until(lambda: not is_locked(lock), "the lock is free")
    (saved,) = tmp_path.glob(".pooldiag/*/report.json")
    report = checked(saved.read_text())
    assert (report["partial"], report["status"], len(report["runs"])) == (True, "unresolved", 1)
    assert json.loads(saved.read_text())["lock"]["paths"] == [str(lock)]
