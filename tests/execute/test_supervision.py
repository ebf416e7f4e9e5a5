import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from pooldiag.errors import BlockedError, RunLostError
from pooldiag.execute.interrupts import Interrupts
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.execute.supervisor import descendants
from pooldiag.model.runs import Completed, Ending, Environment
from tests.execute.conftest import UNWATCHED, Requester
from tests.execute.helpers import LIMIT_SECONDS, is_alive, pid_in, wait_until

DEAF_CHILD = "(trap '' TERM; exec setsid sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 1000; done') &"
"""A shell line that leaves a child in a session of its own, deaf to SIGTERM, with its pid in the file `child`."""


def out(completed: Completed) -> bytes:
    return completed.stdout.path.read_bytes()


@contextmanager
def elsewhere(work: Callable[[], None]) -> Iterator[None]:
    """Do something in another thread while this one waits for a run."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 - raised again below
            failures.append(failure)

    thread = threading.Thread(target=guarded)
    thread.start()
    yield
    thread.join()
    if failures:
        raise failures[0]


# --- how a run ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 77, 139, 255])
def test_an_exit_code_is_kept_as_it_is(executor: SupervisedExecutor, request_for: Requester, code: int) -> None:
    completed = executor.execute(request_for("sh", "-c", f"exit {code}"))
    assert (completed.ending, completed.exit_code, completed.signal) == (Ending.EXITED, code, None)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM])
def test_a_signal_that_is_not_ours_is_the_targets_own_end(
    executor: SupervisedExecutor, request_for: Requester, number: signal.Signals
) -> None:
    completed = executor.execute(request_for("sh", "-c", f"kill -{number.value} $$"))
    assert (completed.ending, completed.exit_code, completed.signal) == (Ending.SIGNALLED, None, number.value)


def test_output_goes_to_two_files_and_input_is_empty(executor: SupervisedExecutor, request_for: Requester) -> None:
    completed = executor.execute(request_for("sh", "-c", "cat; printf out; printf err >&2"))
    assert out(completed) == b"out"
    assert completed.stderr.path.read_bytes() == b"err"
    assert (completed.stdout.size_bytes, completed.stdout.dropped_bytes) == (3, 0)


def test_seconds_cpu_and_memory_are_those_of_the_target(executor: SupervisedExecutor, request_for: Requester) -> None:
    work = "x = bytearray(200 << 20)\nimport time\nwhile time.process_time() < 0.3: pass"
    completed = executor.execute(request_for(sys.executable, "-c", work))
    assert completed.cpu_seconds >= 0.3
    assert completed.seconds >= 0.3
    assert 200 << 20 <= completed.peak_rss_bytes < 400 << 20


def test_runs_follow_each_other_without_a_trace(executor: SupervisedExecutor, request_for: Requester) -> None:
    endings = [executor.execute(request_for("sh", "-c", f"echo {number}; exit {number}")) for number in range(20)]
    assert [completed.exit_code for completed in endings] == list(range(20))
    assert [out(completed) for completed in endings] == [b"%d\n" % number for number in range(20)]


# --- what the target finds --------------------------------------------------------------------------------------------


def test_bytes_that_are_not_utf_8_arrive_as_they_are(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environb, b"POOLDIAG_TEST_INHERITED", b"a\xff\n\x80=\xc3\xa4")
    directory = tmp_path / os.fsdecode(b"d\xfe")
    directory.mkdir()
    environment = Environment(set=(("POOLDIAG_TEST_SET", os.fsdecode(b"\xf0\x28 $HOME")),))
    script = 'printf "%s|" "$POOLDIAG_TEST_INHERITED" "$POOLDIAG_TEST_SET" "$1" "$PWD"'
    argv = ("sh", "-c", script, "sh", os.fsdecode(b"*\xc0'"))
    completed = executor.execute(request_for(*argv, environment=environment, directory=directory))
    parts = [b"a\xff\n\x80=\xc3\xa4", b"\xf0\x28 $HOME", b"*\xc0'", os.fsencode(directory), b""]
    assert out(completed) == b"|".join(parts)


def test_variables_are_set_and_unset_on_top_of_the_inherited_ones(
    executor: SupervisedExecutor, request_for: Requester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLDIAG_TEST_GONE", "1")
    monkeypatch.setenv("POOLDIAG_TEST_KEPT", "2")
    environment = Environment(set=(("POOLDIAG_TEST_NEW", "3"),), unset=("POOLDIAG_TEST_GONE",))
    completed = executor.execute(request_for("sh", "-c", "env | grep POOLDIAG_TEST | sort", environment=environment))
    assert out(completed) == b"POOLDIAG_TEST_KEPT=2\nPOOLDIAG_TEST_NEW=3\n"


def test_a_target_inherits_nothing_of_ours(executor: SupervisedExecutor, request_for: Requester) -> None:
    look = "ls /proc/self/fd | tr '\\n' ' '; cut -d' ' -f6 /proc/$$/stat; echo $$"
    completed = executor.execute(request_for("sh", "-c", look))
    line, pid = out(completed).split(b"\n")[:2]
    *descriptors, session = line.split()
    assert descriptors == [b"0", b"1", b"2", b"3"]  # 3: the folder that ls reads
    assert session == pid


def test_a_crash_writes_no_core_file(request_for: Requester) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0:
        pytest.skip("this system allows no core files at all")
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        with Supervisor() as supervisor:
            completed = SupervisedExecutor(supervisor, UNWATCHED).execute(request_for("sh", "-c", "ulimit -S -c"))
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    assert out(completed) == b"0\n"


def test_signals_have_their_default_meaning_in_a_target(executor: SupervisedExecutor, request_for: Requester) -> None:
    completed = executor.execute(request_for("cat", "/proc/self/status"))
    lines = [line.split() for line in out(completed).splitlines()]
    masks = [int(words[1], 16) for words in lines if words[0] in {b"SigBlk:", b"SigIgn:", b"SigCgt:"}]
    assert masks == [0, 0, 0]


def test_output_is_appended_so_that_two_writers_do_not_overwrite_each_other(
    executor: SupervisedExecutor, request_for: Requester
) -> None:
    flags = executor.execute(request_for("sh", "-c", "grep flags /proc/self/fdinfo/1"))
    assert int(out(flags).split()[1], 8) & os.O_APPEND
    script = "exec 3>>/proc/self/fd/1; echo one >&3; echo two; echo three >&3"
    assert out(executor.execute(request_for("sh", "-c", script))) == b"one\ntwo\nthree\n"


# --- what cannot be started -------------------------------------------------------------------------------------------


def _script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_target_that_cannot_be_executed_says_why(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    expected = {
        str(tmp_path / "none"): "No such file or directory",
        _script(tmp_path / "plain", "echo", mode=0o644): "Permission denied",
        _script(tmp_path / "bare", "\0\0\0\0"): "Exec format error",
        _script(tmp_path / "lost", "#!/no/such/interpreter\n"): "the interpreter that it names is not there",
    }
    for program, words in expected.items():
        completed = executor.execute(request_for(program))
        assert completed.ending is Ending.NOT_STARTED
        assert completed.stopped_by == f"cannot execute {program}: {words}"


def test_a_working_directory_that_is_not_there_is_named(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    completed = executor.execute(request_for("true", directory=tmp_path / "none"))
    assert completed.ending is Ending.NOT_STARTED
    assert completed.stopped_by == f"cannot start true: {tmp_path / 'none'}: No such file or directory"


def test_an_argument_that_no_system_takes_is_refused_in_words(
    executor: SupervisedExecutor, request_for: Requester
) -> None:
    completed = executor.execute(request_for("true", "a\0b"))
    assert completed.ending is Ending.NOT_STARTED
    assert completed.stopped_by == "cannot execute true: embedded null byte"


def test_a_failed_start_leaves_no_descriptor_behind(
    executor: SupervisedExecutor, supervisor: Supervisor, request_for: Requester
) -> None:
    executor.execute(request_for("true"))
    before = os.listdir(f"/proc/{supervisor.pid}/fd")
    for _ in range(5):
        executor.execute(request_for("/no/such/program"))
        executor.execute(request_for("true", directory=Path("/no/such/folder")))
    assert os.listdir(f"/proc/{supervisor.pid}/fd") == before


# --- what is ended ----------------------------------------------------------------------------------------------------


def test_a_target_may_finish_its_report_at_the_limit(executor: SupervisedExecutor, request_for: Requester) -> None:
    script = "trap 'echo finished; exit 7' TERM; while :; do sleep 0.01; done"
    completed = executor.execute(request_for("sh", "-c", script, timeout_seconds=1))
    assert (completed.ending, completed.exit_code, out(completed)) == (Ending.TIMED_OUT, 7, b"finished\n")
    assert completed.leftovers == ()


def test_a_target_that_ignores_the_limit_is_killed_with_all_its_children(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    script = f"trap '' TERM; {DEAF_CHILD} echo $$ > parent; while :; do sleep 1000; done"
    completed = executor.execute(request_for("sh", "-c", script, timeout_seconds=2, grace_seconds=0.2))
    assert (completed.ending, completed.signal) == (Ending.TIMED_OUT, signal.SIGKILL)
    assert not is_alive(pid_in(tmp_path / "parent"))
    assert not is_alive(pid_in(tmp_path / "child"))


def test_a_stopped_target_is_ended_at_the_limit(executor: SupervisedExecutor, request_for: Requester) -> None:
    completed = executor.execute(request_for("sh", "-c", "kill -STOP $$", timeout_seconds=0.2, grace_seconds=0.2))
    assert (completed.ending, completed.signal) == (Ending.TIMED_OUT, signal.SIGKILL)


def test_what_outlives_a_run_is_named_and_ended(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    script = f"{DEAF_CHILD} until [ -s child ]; do sleep 0.01; done; exit 3"
    completed = executor.execute(request_for("sh", "-c", script, grace_seconds=0.2))
    pid = pid_in(tmp_path / "child")
    assert (completed.ending, completed.exit_code) == (Ending.EXITED, 3)
    assert pid in {leftover.pid for leftover in completed.leftovers}
    assert any("sleep 1000" in leftover.command for leftover in completed.leftovers)
    assert not is_alive(pid)


def test_a_child_that_ends_with_the_run_is_not_left_over(executor: SupervisedExecutor, request_for: Requester) -> None:
    completed = executor.execute(request_for("sh", "-c", "(exec sh -c 'read line < /dev/null') & exit 0"))
    assert completed.leftovers == ()


# --- what a run writes ------------------------------------------------------------------------------------------------

FLOOD_LINES = 60_000_000  # 527 MB
CAP_BYTES = 8 * 2**20


def _peak_bytes(pid: int | None) -> int:
    status = Path(f"/proc/{pid or 'self'}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def test_of_a_flood_only_head_and_tail_are_kept_at_any_moment(
    executor: SupervisedExecutor, supervisor: Supervisor, request_for: Requester
) -> None:
    request = request_for("seq", str(FLOOD_LINES), stream_bytes=CAP_BYTES)
    ended, most = threading.Event(), 0

    def look() -> None:
        nonlocal most
        while not ended.wait(0.002):
            path = request.folder / "stdout"
            most = max(most, path.stat().st_blocks * 512 if path.exists() else 0)

    executor.execute(request_for("true"))
    before = _peak_bytes(supervisor.pid), _peak_bytes(None)
    with elsewhere(look):
        completed = executor.execute(request)
        ended.set()
    after = _peak_bytes(supervisor.pid), _peak_bytes(None)
    stream = completed.stdout
    with stream.path.open("rb") as data:
        head = data.read(stream.dropped_from)
        data.seek(stream.dropped_from + stream.dropped_bytes)
        tail = data.read()
    assert completed.exit_code == 0
    assert stream.size_bytes == stream.path.stat().st_size == 528_888_897
    assert len(head) == CAP_BYTES // 2
    assert CAP_BYTES // 2 <= len(tail) < CAP_BYTES // 2 + 4096
    assert head.startswith(b"1\n2\n3\n")
    assert head == b"".join(b"%d\n" % number for number in range(1, 700_000))[: len(head)]
    assert tail.endswith(b"59999998\n59999999\n60000000\n")
    assert b"\0" not in head + tail
    assert stream.path.stat().st_blocks * 512 < CAP_BYTES + 2**20
    assert most < CAP_BYTES + 80 * 2**20
    assert all(late - early < 4 * 2**20 for early, late in zip(before, after, strict=True))


def test_a_stream_at_its_cap_is_whole(executor: SupervisedExecutor, request_for: Requester) -> None:
    request = request_for("head", "-c", "20000", "/dev/zero", stream_bytes=20000)
    completed = executor.execute(request)
    assert (completed.stdout.size_bytes, completed.stdout.dropped_bytes) == (20000, 0)


def test_a_report_is_read_while_it_grows_and_whole_in_the_end(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    pieces: list[bytes] = []

    def take(piece: bytes) -> None:
        pieces.append(piece)
        (tmp_path / "seen").touch()

    write = "until [ -e seen ]; do sleep 0.01; done; head -c 3000000 /dev/urandom >> report; printf end >> report"
    script = f"printf first > report; {write}"
    executor.execute(request_for("sh", "-c", script, report=tmp_path / "report", on_report=take))
    assert pieces[0] == b"first"
    assert b"".join(pieces) == (tmp_path / "report").read_bytes()
    assert len(b"".join(pieces)) == 3_000_008


def test_what_a_process_left_behind_adds_to_the_report_is_not_part_of_it(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    child = "trap 'echo late >> report; echo > wrote; exit' TERM; echo > ready; while :; do sleep 0.01; done"
    script = f"({child}) & until [ -e ready ]; do sleep 0.01; done; echo early >> report"
    pieces: list[bytes] = []
    executor.execute(request_for("sh", "-c", script, report=tmp_path / "report", on_report=pieces.append))
    assert (tmp_path / "wrote").exists()
    assert (tmp_path / "report").read_bytes() == b"early\nlate\n"
    assert b"".join(pieces) == b"early\n"


def test_a_report_that_is_never_written_is_not_waited_for(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    pieces: list[bytes] = []
    completed = executor.execute(request_for("true", report=tmp_path / "none", on_report=pieces.append))
    assert (completed.exit_code, pieces) == (0, [])


def test_an_error_while_a_report_is_read_ends_the_run(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    def fail(_: bytes) -> None:
        raise ZeroDivisionError

    script = "echo $$ > pid; echo x > report; while :; do sleep 1000; done"
    with pytest.raises(ZeroDivisionError):
        executor.execute(request_for("sh", "-c", script, report=tmp_path / "report", on_report=fail))
    assert not is_alive(pid_in(tmp_path / "pid"))


# --- a report that has told enough ------------------------------------------------------------------------------------


def test_a_run_is_ended_once_its_report_is_enough_and_nothing_more_is_handed_over(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    script = "trap 'echo late >> report; exit 4' TERM; echo early > report; while :; do sleep 0.01; done"
    pieces: list[bytes] = []
    completed = executor.execute(
        request_for(
            "sh", "-c", script, report=tmp_path / "report", on_report=pieces.append, enough=lambda: b"early\n" in pieces
        )
    )
    assert (completed.ending, completed.exit_code) == (Ending.ENOUGH, 4)
    assert (tmp_path / "report").read_bytes() == b"early\nlate\n"
    assert pieces == [b"early\n"]


def test_a_run_that_hangs_after_its_verdict_is_waited_for_neither_until_the_limit_nor_for_the_grace(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    script = f"trap '' TERM; {DEAF_CHILD} until [ -s child ]; do sleep 0.01; done; echo > report; sleep 1000"
    request = request_for("sh", "-c", script, report=tmp_path / "report", enough=lambda: True)
    completed = executor.execute(request)
    assert (completed.ending, completed.signal) == (Ending.ENOUGH, signal.SIGKILL)
    assert completed.seconds < LIMIT_SECONDS  # which is the limit, and the grace
    assert not is_alive(pid_in(tmp_path / "child"))


def test_a_run_that_ended_by_itself_meanwhile_has_its_own_end_and_its_whole_report(
    executor: SupervisedExecutor, request_for: Requester, tmp_path: Path
) -> None:
    script = "echo $$ > pid; echo early > report; until [ -e seen ]; do sleep 0.01; done; echo late >> report; exit 3"
    pieces: list[bytes] = []

    def take(piece: bytes) -> None:
        pieces.append(piece)
        (tmp_path / "seen").touch()

    def enough() -> bool:
        wait_until(lambda: not is_alive(pid_in(tmp_path / "pid")), "the target has ended")
        return True

    request = request_for("sh", "-c", script, report=tmp_path / "report", on_report=take, enough=enough)
    completed = executor.execute(request)
    assert (completed.ending, completed.exit_code) == (Ending.EXITED, 3)
    assert b"".join(pieces) == b"early\nlate\n"
    after = executor.execute(request_for("sh", "-c", "exit 5"))  # it is not the one that was to be ended
    assert (after.ending, after.exit_code) == (Ending.EXITED, 5)


# --- interrupts -------------------------------------------------------------------------------------------------------


def _interruptible_run(
    tmp_path: Path,
    request_for: Requester,
    script: str,
    interrupt: Callable[[Interrupts], None],
    *,
    grace_seconds: float = LIMIT_SECONDS,
) -> tuple[Completed, Completed]:
    """Run a script, interrupt it once it has written `ready`; return its end, and that of a run after it."""
    interrupts = Interrupts()

    def work() -> None:
        wait_until((tmp_path / "ready").exists, "the target is ready")
        interrupt(interrupts)

    with Supervisor(interrupts) as supervisor:
        executor = SupervisedExecutor(supervisor, UNWATCHED)
        with elsewhere(work):
            first = executor.execute(request_for("sh", "-c", script, grace_seconds=grace_seconds))
        second = executor.execute(request_for("touch", "second"))
    interrupts.close()
    return first, second


def test_an_interrupt_ends_the_run_in_good_order_and_no_other_begins(tmp_path: Path, request_for: Requester) -> None:
    script = "trap 'echo finished; exit 0' TERM; touch ready; while :; do sleep 0.01; done"
    first, second = _interruptible_run(tmp_path, request_for, script, lambda it: it.note(signal.SIGINT, None))
    assert (first.ending, first.exit_code, out(first)) == (Ending.INTERRUPTED, 0, b"finished\n")
    assert second.ending is Ending.INTERRUPTED
    assert not (tmp_path / "second").exists()


def test_a_second_interrupt_does_not_wait_for_the_grace(tmp_path: Path, request_for: Requester) -> None:
    def interrupt(interrupts: Interrupts) -> None:
        interrupts.note(signal.SIGINT, None)
        wait_until((tmp_path / "asked").exists, "the target was asked to end")
        interrupts.note(signal.SIGINT, None)

    script = "trap 'touch asked' TERM; touch ready; while :; do sleep 0.01; done"
    first, _ = _interruptible_run(tmp_path, request_for, script, interrupt)
    assert (first.ending, first.signal) == (Ending.INTERRUPTED, signal.SIGKILL)
    assert first.seconds < LIMIT_SECONDS  # which is the grace


def test_sigterm_is_sent_once_to_each(tmp_path: Path, request_for: Requester) -> None:
    counter = tmp_path / "counter.py"
    counter.write_text(
        dedent("""
        import os, signal, sys
        signal.signal(signal.SIGTERM, lambda *_: os.write(1, sys.argv[1].encode()))
        if sys.argv[1] == "c":
            os.setsid()
        open("ready-" + sys.argv[1], "w").close()
        while True:
            signal.pause()
        """)
    )
    run = f"{sys.executable} counter.py"
    ready = "until [ -e ready-a ] && [ -e ready-c ]; do sleep 0.01; done; touch ready"
    script = f"trap 'printf s' TERM; {run} a & {run} c & {ready}; while :; do wait; done"
    first, _ = _interruptible_run(
        tmp_path, request_for, script, lambda it: it.note(signal.SIGINT, None), grace_seconds=0.5
    )
    assert sorted(out(first)) == sorted(b"acs")


def test_two_interrupts_at_once_are_two(tmp_path: Path, request_for: Requester) -> None:
    def interrupt(interrupts: Interrupts) -> None:
        for _ in range(2):
            interrupts.note(signal.SIGINT, None)

    script = "trap '' TERM; touch ready; while :; do sleep 0.01; done"
    first, _ = _interruptible_run(tmp_path, request_for, script, interrupt)
    assert (first.ending, first.signal) == (Ending.INTERRUPTED, signal.SIGKILL)
    assert first.seconds < LIMIT_SECONDS  # which is the grace


# --- deaths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGKILL, "killed by SIGKILL"), (signal.SIGTERM, "told to end by a signal")]
)
def test_a_supervisor_that_is_ended_leaves_nothing_running(
    tmp_path: Path, request_for: Requester, number: signal.Signals, words: str
) -> None:
    with Supervisor() as supervisor:
        executor = SupervisedExecutor(supervisor, UNWATCHED)
        pid = supervisor.pid
        assert pid is not None

        def kill() -> None:
            pid_in(tmp_path / "child")
            os.kill(pid, number)

        script = f"{DEAF_CHILD} echo $$ > parent; while :; do sleep 1000; done"
        with elsewhere(kill), pytest.raises(BlockedError, match=words):
            executor.execute(request_for("sh", "-c", script, grace_seconds=0.2))
        assert not is_alive(pid_in(tmp_path / "child"))
        assert not is_alive(pid_in(tmp_path / "parent"))
        with pytest.raises(BlockedError, match="has ended"):
            executor.execute(request_for("true"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_after_a_target_that_killed_its_parent_other_runs_can_be_made(
    supervisor: Supervisor, request_for: Requester, tmp_path: Path, number: signal.Signals
) -> None:
    executor, pieces, before = SupervisedExecutor(supervisor, UNWATCHED), list[bytes](), supervisor.pid
    kill = f"until [ -s child ]; do sleep 0.01; done; echo guilty > report; kill -{number.value} $PPID"
    script = f"{DEAF_CHILD} echo $$ > parent; {kill}; while :; do sleep 1000; done"
    request = request_for("sh", "-c", script, report=tmp_path / "report", on_report=pieces.append, grace_seconds=0.2)
    with pytest.raises(RunLostError, match="the run was ended with it"):
        executor.execute(request)
    assert not is_alive(pid_in(tmp_path / "parent"))
    assert not is_alive(pid_in(tmp_path / "child"))
    assert b"".join(pieces) == b"guilty\n"
    executor.restore()
    assert supervisor.pid not in {None, before}
    assert executor.execute(request_for("sh", "-c", "exit 6")).exit_code == 6


def test_a_supervisor_that_was_killed_between_runs_lost_none(supervisor: Supervisor, request_for: Requester) -> None:
    executor, pid = SupervisedExecutor(supervisor, UNWATCHED), supervisor.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "the supervisor is dead")
    with pytest.raises(BlockedError, match="killed by SIGKILL") as raised:
        executor.execute(request_for("true"))
    assert not isinstance(raised.value, RunLostError)


def test_a_living_supervisor_is_restored_as_it_is_and_none_after_the_with(request_for: Requester) -> None:
    with Supervisor() as supervisor:
        executor, pid = SupervisedExecutor(supervisor, UNWATCHED), supervisor.pid
        executor.restore()
        assert supervisor.pid == pid
        assert executor.execute(request_for("true")).exit_code == 0
    with pytest.raises(BlockedError, match="has ended"):
        executor.restore()
    assert supervisor.pid is None


def test_the_words_of_a_dead_supervisor_are_not_those_of_the_next_one(
    supervisor: Supervisor, request_for: Requester
) -> None:
    executor = SupervisedExecutor(supervisor, UNWATCHED)
    for _ in range(2):
        with pytest.raises(RunLostError, match=r"ended \(killed by SIGKILL: last words\)"):
            executor.execute(
                request_for("sh", "-c", "echo last words > /proc/$PPID/fd/2; kill -KILL $PPID; sleep 1000")
            )
        executor.restore()
    with pytest.raises(RunLostError, match=r"ended \(killed by SIGKILL\)"):
        executor.execute(request_for("sh", "-c", "kill -KILL $PPID; sleep 1000"))


def test_the_end_of_the_with_ends_what_another_thread_runs(request_for: Requester, tmp_path: Path) -> None:
    script = "echo $$ > pid; while :; do sleep 0.01; done"

    def run() -> None:
        with pytest.raises(BlockedError, match="nothing waits for it"):
            SupervisedExecutor(supervisor, UNWATCHED).execute(request_for("sh", "-c", script, grace_seconds=0.2))
        with pytest.raises(BlockedError, match="has ended"):
            supervisor.restore()

    with Supervisor() as supervisor:
        thread = threading.Thread(target=run)
        thread.start()
        pid = pid_in(tmp_path / "pid")
    assert not is_alive(pid)
    assert supervisor.pid is None
    thread.join()


def test_the_end_of_the_with_ends_the_supervisor(request_for: Requester) -> None:
    with Supervisor() as supervisor:
        pid = supervisor.pid
        assert pid is not None
        SupervisedExecutor(supervisor, UNWATCHED).execute(request_for("true"))
    assert not is_alive(pid)
    assert supervisor.pid is None
    assert pid not in {process.pid for process in descendants(os.getpid())}


CLIENT = """
import sys
from pathlib import Path
from pooldiag.execute.disk import Watched
from pooldiag.execute.interrupts import interruptible
from pooldiag.execute.supervision import SupervisedExecutor, SupervisedLock, Supervisor
from pooldiag.model.runs import RunLimits, RunRequest
from pooldiag.model.settings import Floors, LockSettings

class Silent:
    def notice(self, event):
        Path("told").touch()

here = Path.cwd()
limits = RunLimits(timeout_seconds=1000, grace_seconds=float(sys.argv[2]))
request = RunRequest(argv=("sh", "-c", sys.argv[1]), directory=here, folder=here, limits=limits)
with interruptible() as interrupts, Supervisor(interrupts) as supervisor:
    Path("supervisor").write_text(f"{supervisor.pid}\\n")
    settings = LockSettings(paths=(here / "gpu.lock",), wait_seconds=1000)
    with SupervisedLock(supervisor, settings, progress=Silent()).hold():
        watched = Watched(folders=(), floors=Floors(disk_bytes=0, memory_bytes=0))
        completed = SupervisedExecutor(supervisor, watched).execute(request)
        print(completed.ending, completed.words)
"""


def start_client(folder: Path, script: str, *, grace_seconds: float) -> subprocess.Popen[bytes]:
    """Start a program that takes `gpu.lock` and runs a shell script below a supervisor."""
    argv = [sys.executable, "-c", CLIENT, script, str(grace_seconds)]
    return subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE)


def test_a_killed_pooldiag_takes_target_and_children_along_before_the_lock_is_free(tmp_path: Path) -> None:
    lock = tmp_path / "gpu.lock"
    script = f"trap 'touch asked' TERM; {DEAF_CHILD} echo $$ > parent; while :; do sleep 0.01; done"
    with start_client(tmp_path, script, grace_seconds=0.5) as client:
        child, parent = pid_in(tmp_path / "child"), pid_in(tmp_path / "parent")
        client.kill()
    wait_until((tmp_path / "asked").exists, "the target was asked to end")
    # A waiter in the kernel's queue gets in at the very moment that the lock is free: nothing may be alive then.
    look = f"test ! -e /proc/{child}/exe && test ! -e /proc/{parent}/exe"
    waiter = ["flock", "--timeout", str(LIMIT_SECONDS), str(lock), "sh", "-c", look]
    assert subprocess.run(waiter, check=False).returncode == 0
    wait_until(lambda: not is_alive(pid_in(tmp_path / "supervisor")), "the supervisor has ended")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_pooldiag_ends_the_run_and_frees_the_lock(tmp_path: Path, number: signal.Signals) -> None:
    script = f"{DEAF_CHILD} echo $$ > parent; while :; do sleep 0.01; done"
    with start_client(tmp_path, script, grace_seconds=0.2) as client:
        child = pid_in(tmp_path / "child")
        client.send_signal(number)
        assert client.stdout is not None
        assert client.stdout.read() == b"interrupted interrupted\n"
        assert client.wait(LIMIT_SECONDS) == 0
    assert not is_alive(child)
    assert subprocess.run(["flock", "--nonblock", str(tmp_path / "gpu.lock"), "true"], check=False).returncode == 0


def test_ctrl_c_in_the_terminal_does_not_reach_supervisor_or_target(tmp_path: Path) -> None:
    script = "echo $$ > parent; while :; do sleep 0.01; done"
    with start_client(tmp_path, script, grace_seconds=0.2) as client:
        parent, supervisor = pid_in(tmp_path / "parent"), pid_in(tmp_path / "supervisor")
        groups = {os.getpgid(pid) for pid in (client.pid, parent, supervisor)}
        sessions = {os.getsid(pid) for pid in (client.pid, parent, supervisor)}
        client.send_signal(signal.SIGTERM)
    assert (len(groups), len(sessions)) == (3, 3)
