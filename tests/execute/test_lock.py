import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pooldiag.errors import BlockedError, ExitCode, InterruptedRunError, LockTimeoutError, RunLostError
from pooldiag.execute.interrupts import Interrupts
from pooldiag.execute.supervision import SupervisedExecutor, SupervisedLock, Supervisor
from pooldiag.model.events import Event, LockHeld, LockWait
from pooldiag.model.settings import LockSettings
from tests.execute.conftest import Mounter, Requester
from tests.execute.helpers import LIMIT_SECONDS, is_alive, is_locked, pid_in, wait_until, waiters
from tests.execute.test_supervision import start_client

Holder = Callable[[Path], subprocess.Popen[bytes]]


class Told:
    """A Progress that remembers, and may act on a wait."""

    def __init__(self, on_wait: Callable[[], object] = lambda: None) -> None:
        self.events: list[Event] = []
        self._on_wait = on_wait

    def notice(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, LockWait):
            self._on_wait()

    @property
    def waits(self) -> list[LockWait]:
        return [event for event in self.events if isinstance(event, LockWait)]


def lock_of(
    supervisor: Supervisor, *paths: Path, wait_seconds: float = LIMIT_SECONDS, told: Told | None = None
) -> SupervisedLock:
    settings = LockSettings(paths=paths, wait_seconds=wait_seconds)
    return SupervisedLock(supervisor, settings, progress=told or Told())


def close(holder: subprocess.Popen[bytes]) -> None:
    assert holder.stdin is not None
    holder.stdin.close()


def test_a_free_lock_is_taken_at_once_and_let_go_at_the_end(supervisor: Supervisor, tmp_path: Path) -> None:
    path, told = tmp_path / "gpu.lock", Told()
    with lock_of(supervisor, path, told=told).hold():
        assert is_locked(path)
    assert not is_locked(path)
    assert [type(event) for event in told.events] == [LockHeld]


def test_the_lock_file_is_neither_changed_nor_replaced(supervisor: Supervisor, tmp_path: Path) -> None:
    path = tmp_path / "gpu.lock"
    path.write_text("someone's notes")
    before = path.stat()
    with lock_of(supervisor, path).hold():
        pass
    after = path.stat()
    assert path.read_text() == "someone's notes"
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)


def test_no_lock_file_is_no_lock(supervisor: Supervisor) -> None:
    told = Told()
    lock = lock_of(supervisor, told=told)
    with lock.hold():
        pass
    assert (lock.report(), told.events) == (None, [])


def test_a_held_lock_is_waited_for_in_vain_and_its_holder_named(
    supervisor: Supervisor, tmp_path: Path, hold_lock: Holder
) -> None:
    path = tmp_path / "gpu.lock"
    holder = hold_lock(path)
    told = Told()
    with (
        pytest.raises(LockTimeoutError, match=rf"is still held after 1 s by pid {holder.pid} \(flock ") as raised,
        lock_of(supervisor, path, wait_seconds=1, told=told).hold(),
    ):
        pytest.fail("ran without the lock")
    assert raised.value.problem.startswith(f"{path} ")
    assert raised.value.exit_code is ExitCode.BLOCKED
    assert raised.value.hint
    assert holder.poll() is None
    first = told.waits[0]
    assert (first.path, first.limit_seconds) == (path, 1)
    assert first.holder
    assert first.holder.startswith(f"pid {holder.pid} ")
    assert not any(isinstance(event, LockHeld) for event in told.events)


def test_no_wait_is_one_try(supervisor: Supervisor, tmp_path: Path, hold_lock: Holder) -> None:
    hold_lock(tmp_path / "gpu.lock")
    with pytest.raises(LockTimeoutError), lock_of(supervisor, tmp_path / "gpu.lock", wait_seconds=0).hold():
        pytest.fail("ran without the lock")


def test_a_wait_is_told_at_once_and_again_while_it_lasts(
    supervisor: Supervisor, tmp_path: Path, hold_lock: Holder
) -> None:
    holder = hold_lock(tmp_path / "gpu.lock")
    told = Told(on_wait=lambda: close(holder) if len(told.waits) == 3 else None)
    lock = lock_of(supervisor, tmp_path / "gpu.lock", told=told)
    with lock.hold():
        report = lock.report()
    assert report is not None
    assert report.paths == (tmp_path / "gpu.lock",)
    assert len(told.waits) >= 3
    assert [wait.seconds for wait in told.waits] == sorted(wait.seconds for wait in told.waits)
    held = told.events[-1]
    assert isinstance(held, LockHeld)
    assert held.waited_seconds == report.waited_seconds >= told.waits[-1].seconds > 0


def test_with_six_waiters_in_the_queue_at_most_six_holds_pass_before_ours(
    supervisor: Supervisor, tmp_path: Path, hold_lock: Holder
) -> None:
    path, holds, stop = tmp_path / "gpu.lock", tmp_path / "holds", tmp_path / "stop"
    holds.touch()
    first = hold_lock(path)
    # The pause: the kernel wakes the first in the queue, but who asks again before that one runs gets the lock.
    loop = f"while [ ! -e {stop} ]; do flock -w 60 {path} sh -c 'echo x >> {holds}'; sleep 1; done"
    shells = [subprocess.Popen(["sh", "-c", loop]) for _ in range(6)]
    wait_until(lambda: waiters(path) == 6, "six shells wait")

    def let_go_when_queued() -> None:
        wait_until(lambda: waiters(path) == 7, "pooldiag waits as well")
        close(first)

    thread = threading.Thread(target=let_go_when_queued)
    thread.start()
    with lock_of(supervisor, path).hold():
        passed = len(holds.read_text().split())
    stop.touch()
    thread.join()
    assert [shell.wait(LIMIT_SECONDS) for shell in shells] == [0] * 6
    assert passed <= 6


def test_two_lock_files_are_taken_in_sorted_order(supervisor: Supervisor, tmp_path: Path, hold_lock: Holder) -> None:
    first, second = tmp_path / "a.lock", tmp_path / "b.lock"
    holder = hold_lock(second)
    told = Told()

    def look() -> None:
        assert told.waits[0].path == second
        assert is_locked(first)
        close(holder)

    told = Told(on_wait=lambda: look() if len(told.waits) == 1 else None)
    with lock_of(supervisor, second, first, told=told).hold():
        assert is_locked(first)
        assert is_locked(second)
    assert not is_locked(first)
    assert not is_locked(second)


def test_a_rival_that_sorts_as_well_cannot_block_us_for_ever(supervisor: Supervisor, tmp_path: Path) -> None:
    first, second, stop = tmp_path / "a.lock", tmp_path / "b.lock", tmp_path / "stop"
    loop = f"while [ ! -e {stop} ]; do flock {first} flock {second} true; done"
    rival = subprocess.Popen(["sh", "-c", loop])
    for _ in range(10):
        with lock_of(supervisor, second, first).hold():
            pass
    stop.touch()
    assert rival.wait(LIMIT_SECONDS) == 0


def test_when_one_of_two_files_is_not_free_neither_is_kept(
    supervisor: Supervisor, tmp_path: Path, hold_lock: Holder
) -> None:
    hold_lock(tmp_path / "b.lock")
    lock = lock_of(supervisor, tmp_path / "a.lock", tmp_path / "b.lock", wait_seconds=0.1)
    with pytest.raises(LockTimeoutError, match=r"b\.lock is still held"), lock.hold():
        pytest.fail("ran without the lock")
    assert not is_locked(tmp_path / "a.lock")


def test_one_file_by_two_names_is_taken_once(supervisor: Supervisor, tmp_path: Path) -> None:
    path, link, twin = tmp_path / "gpu.lock", tmp_path / "link", tmp_path / "twin"
    path.touch()
    link.symlink_to(path)
    twin.hardlink_to(path)
    with lock_of(supervisor, path, link, twin, path, wait_seconds=0).hold():
        assert is_locked(path)


def test_a_lock_file_that_is_replaced_during_the_wait_is_not_mistaken_for_the_new_one(
    supervisor: Supervisor, tmp_path: Path, hold_lock: Holder
) -> None:
    path = tmp_path / "gpu.lock"
    holder = hold_lock(path)

    def replace() -> None:
        wait_until(lambda: waiters(path) == 1, "pooldiag waits")
        (tmp_path / "new").touch()
        (tmp_path / "new").replace(path)
        close(holder)

    thread = threading.Thread(target=replace)
    thread.start()
    with lock_of(supervisor, path).hold():
        assert is_locked(path)
    thread.join()


@pytest.mark.parametrize("name", ["no/such/folder/gpu.lock", "."])
def test_a_lock_file_that_cannot_be_opened_blocks(supervisor: Supervisor, tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(BlockedError, match=r"cannot be locked: (No such file|Is a directory)") as raised,
        lock_of(supervisor, tmp_path / name).hold(),
    ):
        pytest.fail("ran without the lock")
    assert not isinstance(raised.value, LockTimeoutError)


def test_a_lock_file_that_may_only_be_read_is_locked_all_the_same(supervisor: Supervisor, mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=1m")
    (folder / "gpu.lock").touch()
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    with lock_of(supervisor, folder / "gpu.lock").hold():
        assert is_locked(folder / "gpu.lock")


def test_the_lock_lives_as_long_as_any_process_of_the_target(
    executor: SupervisedExecutor, supervisor: Supervisor, request_for: Requester, tmp_path: Path
) -> None:
    path = tmp_path / "gpu.lock"
    look = f"for d in /proc/$$/fd/*; do readlink $d; done; flock --nonblock {path} true; echo $?"
    with lock_of(supervisor, path).hold():
        completed = executor.execute(request_for("sh", "-c", look))
    *descriptors, code = completed.stdout.path.read_text().split()
    assert str(path) in descriptors
    assert code == "1"


def test_a_lock_that_went_with_its_supervisor_is_taken_again(
    executor: SupervisedExecutor, supervisor: Supervisor, request_for: Requester, tmp_path: Path, hold_lock: Holder
) -> None:
    path, told = tmp_path / "gpu.lock", Told(on_wait=lambda: close(holder))
    lock = lock_of(supervisor, path, told=told)
    with lock.hold():
        with pytest.raises(RunLostError):
            executor.execute(request_for("sh", "-c", "kill -KILL $PPID; sleep 1000"))
        assert not is_locked(path)
        holder = hold_lock(path)  # somebody was faster
        executor.restore()
        lock.retake()
        assert is_locked(path)
        assert executor.execute(request_for("true")).exit_code == 0
    assert not is_locked(path)
    report, held = lock.report(), [event for event in told.events if isinstance(event, LockHeld)]
    assert report is not None
    assert len(held) == 2
    assert report.waited_seconds == sum(event.waited_seconds for event in held)
    with lock.hold():
        assert is_locked(path)


def test_a_lock_that_somebody_else_has_meanwhile_is_not_waited_for_beyond_the_bound(
    executor: SupervisedExecutor, supervisor: Supervisor, request_for: Requester, tmp_path: Path, hold_lock: Holder
) -> None:
    lock = lock_of(supervisor, tmp_path / "gpu.lock", wait_seconds=0)
    with lock.hold():
        with pytest.raises(RunLostError):
            executor.execute(request_for("sh", "-c", "kill -KILL $PPID; sleep 1000"))
        holder = hold_lock(tmp_path / "gpu.lock")
        executor.restore()
        with pytest.raises(LockTimeoutError, match=f"by pid {holder.pid}"):
            lock.retake()


def test_nothing_is_taken_again_where_nothing_is_held(supervisor: Supervisor, tmp_path: Path) -> None:
    lock_of(supervisor, tmp_path / "gpu.lock").retake()
    assert not (tmp_path / "gpu.lock").exists()
    lock = lock_of(supervisor)
    with lock.hold():
        lock.retake()
    assert lock.report() is None


def test_an_interrupt_ends_the_wait(tmp_path: Path, hold_lock: Holder) -> None:
    path = tmp_path / "gpu.lock"
    hold_lock(path)
    interrupts = Interrupts()
    told = Told(on_wait=lambda: interrupts.note(signal.SIGINT, None))
    with Supervisor(interrupts) as supervisor:
        with pytest.raises(InterruptedRunError, match="nothing ran"), lock_of(supervisor, path, told=told).hold():
            pytest.fail("ran without the lock")
        assert waiters(path) == 0
    interrupts.close()


def test_a_pooldiag_that_dies_in_the_queue_leaves_it(tmp_path: Path, hold_lock: Holder) -> None:
    path = tmp_path / "gpu.lock"
    hold_lock(path)
    with start_client(tmp_path, "touch ran", grace_seconds=1) as client:
        wait_until(lambda: waiters(path) == 1, "pooldiag waits")
        client.kill()
    wait_until(lambda: waiters(path) == 0, "the queue is empty")
    wait_until(lambda: not is_alive(pid_in(tmp_path / "supervisor")), "the supervisor has ended")
    assert not (tmp_path / "ran").exists()


@contextmanager
def tools_without(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give PATH as a folder of links to all tools but one."""
    folder.mkdir()
    for directory in os.environ["PATH"].split(":"):
        for tool in Path(directory).glob("*"):
            if tool.name != name and not (folder / tool.name).exists():
                (folder / tool.name).symlink_to(tool)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(folder))
        yield


def test_a_machine_without_flock_says_so(tmp_path: Path, hold_lock: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_lock(tmp_path / "gpu.lock")
    with (
        tools_without("flock", tmp_path / "tools", monkeypatch),
        Supervisor() as supervisor,
        pytest.raises(BlockedError, match=r"flock\(1\): No such file"),
        lock_of(supervisor, tmp_path / "gpu.lock").hold(),
    ):
        pytest.fail("ran without the lock")
