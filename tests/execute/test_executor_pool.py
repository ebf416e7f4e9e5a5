import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pooldiag.errors import RunLostError
from pooldiag.execute.executor_pool import PooledExecutor
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.execute.supervisor import become_subreaper, descendants
from pooldiag.model.runs import Ending
from tests.execute.conftest import UNWATCHED, Requester
from tests.execute.helpers import LIMIT_SECONDS, is_alive, pid_in, wait_until

Two = tuple[Supervisor, Supervisor]

ORPHAN = "(setsid sh -c 'echo $$ > orphan; exec sleep 1000' &); until [ -s orphan ]; do sleep 0.01; done;"
"""Shell words that leave a process in a session of its own, its parent gone, with its pid in the file `orphan`."""
WAIT = "echo $$ > pid; until [ -e go ]; do sleep 0.01; done; exit 7"


def is_subreaper() -> bool:
    was = become_subreaper()
    become_subreaper(wanted=was)
    return was


def executor_of(supervisor: Supervisor) -> SupervisedExecutor:
    return SupervisedExecutor(supervisor, UNWATCHED)


@pytest.fixture
def two() -> Iterator[Two]:
    with Supervisor() as first, Supervisor() as second:
        yield first, second


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=8) as pool:
        yield pool


# --- the pool ---------------------------------------------------------------------------------------------------------


def test_runs_go_on_side_by_side(two: Two, threads: ThreadPoolExecutor, request_for: Requester) -> None:
    pool = PooledExecutor(map(executor_of, two))
    meet = "until [ -e a ] && [ -e b ]; do sleep 0.01; done"
    requests = [request_for("sh", "-c", f"touch {name}; {meet}") for name in ("a", "b")]
    assert [done.exit_code for done in threads.map(pool.execute, requests)] == [0, 0]


def test_no_more_runs_go_on_than_there_are_executors(
    two: Two, threads: ThreadPoolExecutor, request_for: Requester
) -> None:
    pool = PooledExecutor(map(executor_of, two))
    script = "own=a; mkdir a 2>/dev/null || { own=b; mkdir b; } || exit 9; sleep 0.02; rmdir $own"
    requests = [request_for("sh", "-c", script) for _ in range(10)]
    assert [done.exit_code for done in threads.map(pool.execute, requests)] == [0] * 10


def test_a_lost_run_leaves_the_pool_whole(two: Two, threads: ThreadPoolExecutor, request_for: Requester) -> None:
    pool = PooledExecutor(map(executor_of, two))
    for _ in range(3):
        with pytest.raises(RunLostError):
            pool.execute(request_for("sh", "-c", "kill -KILL $PPID; sleep 1000"))
        pool.restore()
    meet = "until [ -e a ] && [ -e b ]; do sleep 0.01; done"
    requests = [request_for("sh", "-c", f"touch {name}; {meet}") for name in ("a", "b")]
    assert [done.exit_code for done in threads.map(pool.execute, requests)] == [0, 0]


# --- several supervisors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_supervisor_takes_its_own_runs_along_and_no_others(
    two: Two, threads: ThreadPoolExecutor, request_for: Requester, tmp_path: Path, victim: int
) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    dying, living = two[victim], two[1 - victim]
    lost = threads.submit(executor_of(dying).execute, request_for("sh", "-c", f"{ORPHAN} {WAIT}", directory=mine))
    kept = threads.submit(executor_of(living).execute, request_for("sh", "-c", f"{ORPHAN} {WAIT}", directory=other))
    pids = [pid_in(mine / "pid"), pid_in(mine / "orphan")]
    others = [pid_in(other / "pid"), pid_in(other / "orphan")]
    assert dying.pid is not None
    os.kill(dying.pid, signal.SIGKILL)
    assert isinstance(lost.exception(LIMIT_SECONDS), RunLostError)
    assert not any(map(is_alive, pids))
    assert all(map(is_alive, others))
    executor_of(dying).restore()
    assert executor_of(dying).execute(request_for("true")).exit_code == 0
    (other / "go").touch()
    done = kept.result(LIMIT_SECONDS)
    assert (done.ending, done.exit_code) == (Ending.EXITED, 7)
    assert {leftover.pid for leftover in done.leftovers} == {others[1]}


def test_a_supervisor_that_comes_and_goes_leaves_the_runs_of_others_alone(
    supervisor: Supervisor, threads: ThreadPoolExecutor, request_for: Requester, tmp_path: Path
) -> None:
    with Supervisor() as before:
        kept = threads.submit(executor_of(supervisor).execute, request_for("sh", "-c", f"{ORPHAN} {WAIT}"))
        pids = [pid_in(tmp_path / "pid"), pid_in(tmp_path / "orphan")]
        executor_of(before).execute(request_for("true"))
    with Supervisor() as after:
        executor_of(after).execute(request_for("true"))
    assert all(map(is_alive, pids))
    (tmp_path / "go").touch()
    assert kept.result(LIMIT_SECONDS).exit_code == 7


def test_the_first_to_go_does_not_make_this_process_forget_its_orphans(request_for: Requester, tmp_path: Path) -> None:
    assert not is_subreaper()
    with Supervisor() as staying:
        with Supervisor():
            assert is_subreaper()
        assert is_subreaper()
        with pytest.raises(RunLostError):
            executor_of(staying).execute(request_for("sh", "-c", f"{ORPHAN} kill -KILL $PPID; sleep 1000"))
        assert not is_alive(pid_in(tmp_path / "orphan"))
    assert not is_subreaper()


def test_supervisors_may_die_and_come_in_any_thread_at_any_time(
    threads: ThreadPoolExecutor, request_for: Requester, tmp_path: Path
) -> None:
    def lose_and_restore(request_number: int) -> int | None:
        with Supervisor() as supervisor:
            executor = executor_of(supervisor)
            for _ in range(4):
                with pytest.raises(RunLostError, match="killed by SIGKILL"):
                    executor.execute(deadly[request_number])
                executor.restore()
            return executor.execute(harmless[request_number]).exit_code

    deadly = [request_for("sh", "-c", "kill -KILL $PPID; sleep 1000") for _ in range(3)]
    harmless = [request_for("sh", "-c", "exit 5") for _ in range(3)]
    with Supervisor() as supervisor:
        kept = threads.submit(executor_of(supervisor).execute, request_for("sh", "-c", WAIT))
        pid_in(tmp_path / "pid")
        assert list(threads.map(lose_and_restore, range(3))) == [5, 5, 5]
        (tmp_path / "go").touch()
        assert kept.result(LIMIT_SECONDS).exit_code == 7
    assert not any(process.session != os.getsid(0) for process in descendants(os.getpid()))


# --- the end of pooldiag ----------------------------------------------------------------------------------------------

CLIENT = """
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from pooldiag.execute.disk import Watched
from pooldiag.execute.interrupts import interruptible
from pooldiag.execute.executor_pool import PooledExecutor
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.model.runs import RunLimits, RunRequest
from pooldiag.model.settings import Floors

watched = Watched(folders=(), floors=Floors(disk_bytes=0, memory_bytes=0))
requests = []
for name in "abc":
    here = Path(name).absolute()
    here.mkdir()
    script = "trap '' TERM; echo $$ > pid; until [ -e ../go ]; do sleep 0.01; done"
    limits = RunLimits(timeout_seconds=1000, grace_seconds=0.2)
    requests.append(RunRequest(argv=("sh", "-c", script), directory=here, folder=here, limits=limits))
with ExitStack() as stack:
    interrupts = stack.enter_context(interruptible())
    supervisors = [stack.enter_context(Supervisor(interrupts)) for _ in requests]
    Path("pids").write_text(" ".join(str(supervisor.pid) for supervisor in supervisors))
    pool = PooledExecutor([SupervisedExecutor(supervisor, watched) for supervisor in supervisors])
    with ThreadPoolExecutor(max_workers=3) as threads:
        print(*(completed.ending for completed in threads.map(pool.execute, requests)))
"""


def start_client(folder: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    """Start a program with three supervisors and a run of each; return all their pids when all run."""
    client = subprocess.Popen([sys.executable, "-c", CLIENT], cwd=folder, stdout=subprocess.PIPE)
    runs = [pid_in(folder / name / "pid") for name in "abc"]
    return client, [*runs, *map(int, (folder / "pids").read_text().split())]


def test_a_killed_pooldiag_takes_all_supervisors_and_runs_along(tmp_path: Path) -> None:
    client, pids = start_client(tmp_path)
    with client:
        client.kill()
    wait_until(lambda: not any(map(is_alive, pids)), "all have ended")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_runs(tmp_path: Path, number: signal.Signals) -> None:
    client, pids = start_client(tmp_path)
    with client:
        client.send_signal(number)
        assert client.stdout is not None
        assert client.stdout.read() == b"interrupted interrupted interrupted\n"
        assert client.wait(LIMIT_SECONDS) == 0
    assert not any(map(is_alive, pids))


def test_the_third_interrupt_leaves_nothing_behind_either(tmp_path: Path) -> None:
    client, pids = start_client(tmp_path)
    with client:
        for _ in range(3):
            client.send_signal(signal.SIGTERM)
            client.send_signal(signal.SIGINT)
        try:
            client.wait(LIMIT_SECONDS)
        finally:
            client.kill()
    wait_until(lambda: not any(map(is_alive, pids)), "all have ended")
