import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pooldiag.errors import BlockedError, ExitCode, UsageError
from pooldiag.execute.journal import SCHEMA, Journal
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.model.arms import Arm
from pooldiag.model.cases import Selection
from pooldiag.model.outcomes import CaseStatus, FrameworkReport, Outcome, OutputFile
from pooldiag.model.runs import Completed, Ending, Stream
from tests.builders import cases, completed, green, outcome, result
from tests.execute.conftest import UNWATCHED, Mounter, Requester
from tests.execute.helpers import is_alive, pid_in, wait_until

ELSEWHERE = "00000000-0000-0000-0000-000000000000"  # the boot id of another start of the machine


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path) as opened:
        yield opened


def run_named(run: str) -> Outcome:
    return replace(green(), run=run)


def lines_of(folder: Path) -> list[bytes]:
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def finish(folder: Path, *runs: str) -> None:
    """Leave a journal with finished runs, the key of each its own name."""
    with Journal(folder) as journal:
        for run in runs:
            journal.started(run, run, 0)
            journal.finished(run, 0, run_named(run))


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_a_finished_run_is_recalled_now_and_by_the_next_to_open_the_journal(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.started("01-baseline", "key", 0)
        assert journal.recall("key", 0) is None
        journal.finished("key", 0, green())
        assert journal.recall("key", 0) == green()
    with Journal(tmp_path) as journal:
        assert journal.recall("key", 0) == green()
        assert (journal.recall("key", 1), journal.recall("other", 0)) == (None, None)
        assert journal.lost("key", 0) == ()


def test_of_two_outcomes_of_one_run_the_later_one_counts(tmp_path: Path, journal: Journal) -> None:
    journal.finished("key", 0, run_named("01"))
    journal.finished("key", 0, run_named("02"))
    assert journal.recall("key", 0) == run_named("02")
    journal.close()
    with Journal(tmp_path) as again:
        assert again.recall("key", 0) == run_named("02")
    journal.descriptor = os.open(os.devnull, os.O_RDONLY)  # for the fixture to close


def test_what_no_text_can_say_survives(journal: Journal) -> None:
    hostile = "\udcff\n\x00\x1b[31m\u2028\ud800 ä"
    case = replace(cases()[0], name=hostile, name_bytes=b"\xff\x00")
    end = completed(
        ending=Ending.SIGNALLED, exit_code=None, signal=11, stdout=Stream(path=Path(hostile[:2]), size_bytes=2**60)
    )
    part = outcome(result(case, CaseStatus.CRASHED, message=hostile, seconds=float("inf")), end=end)
    whole = replace(
        green(parts=(part, replace(part, parts=(green(),)))),
        counters={hostile: -(2**60), "hits": 0},
        banners=frozenset({hostile, "a", "b"}),
    )
    journal.finished(hostile, 3, whole)
    assert journal.recall(hostile, 3) == whole


SCALARS = st.builds(
    Completed, stdout=st.builds(Stream, path=st.just(Path("o"))), stderr=st.builds(Stream, path=st.just(Path("e")))
)
OUTCOMES = st.builds(
    Outcome,
    arm=st.from_type(Arm),
    selection=st.none() | st.from_type(Selection),
    completed=SCALARS,
    report=st.from_type(FrameworkReport),
    outputs=st.tuples(st.from_type(OutputFile)),
    parts=st.just(()),
)


@settings(suppress_health_check=list(HealthCheck))
@given(outcome=OUTCOMES)
def test_every_field_of_an_outcome_survives(tmp_path_factory: pytest.TempPathFactory, outcome: Outcome) -> None:
    with Journal(tmp_path_factory.mktemp("journal")) as journal:
        journal.finished("key", 0, outcome)
        recalled = journal.recall("key", 0)
    assert recalled is not None
    assert recalled.banners == outcome.banners
    assert repr(replace(recalled, banners=frozenset())) == repr(replace(outcome, banners=frozenset()))  # NaN != NaN


def test_threads_may_add_at_the_same_time(tmp_path: Path) -> None:
    runs = [f"{number:02d}" for number in range(1, 25)]
    with Journal(tmp_path) as journal:

        def add(mine: list[str]) -> None:
            for run in mine:
                journal.started(run, run, 0)
                journal.finished(run, 0, run_named(run))

        threads = [threading.Thread(target=add, args=(runs[start::4],)) for start in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [journal.recall(run, 0) for run in runs] == [run_named(run) for run in runs]
    with Journal(tmp_path) as journal:
        assert [journal.recall(run, 0) for run in runs] == [run_named(run) for run in runs]
    assert all(json.loads(line) for line in lines_of(tmp_path)), "no line is torn"


# --- what was lost ----------------------------------------------------------------------------------------------------

CLIENT = """
import sys
from pathlib import Path
from pooldiag.execute.interrupts import Interrupts
from pooldiag.execute.journal import Journal
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.execute.disk import Watched
from pooldiag.model.runs import RunLimits, RunRequest
from pooldiag.model.settings import Floors

here = Path.cwd()
limits = RunLimits(timeout_seconds=1000, grace_seconds=0.5)
request = RunRequest(argv=("sh", "-c", sys.argv[1]), directory=here, folder=here, limits=limits)
with Journal(here) as journal, Supervisor(kept=(journal.descriptor,)) as supervisor:
    journal.started("01-baseline", "key", 0)
    SupervisedExecutor(supervisor, Watched(folders=(), floors=Floors(disk_bytes=0, memory_bytes=0))).execute(request)
"""


def start_client(folder: Path, script: str) -> subprocess.Popen[bytes]:
    """Start a program that marks a run as begun, and begins it."""
    return subprocess.Popen([sys.executable, "-c", CLIENT, script], cwd=folder)


def test_a_run_that_was_under_way_at_a_kill_is_known_afterwards_and_no_run_of_the_dead_goes_on(tmp_path: Path) -> None:
    script = "trap 'touch asked' TERM; echo $$ > pid; while :; do sleep 0.01; done"  # deaf, so that it takes the grace
    with start_client(tmp_path, script) as client:
        pid = pid_in(tmp_path / "pid")
        client.kill()
    with Journal(tmp_path) as journal:
        assert not is_alive(pid)
        assert journal.lost("key", 0) == ("01-baseline",)
        assert not journal.died_with_machine("01-baseline")
        assert (journal.lost("key", 1), journal.recall("key", 0)) == ((), None)


def test_runs_are_lost_in_the_order_in_which_they_began_until_one_is_finished(journal: Journal) -> None:
    for run in ("07-baseline", "03-bypass", "05-baseline"):
        journal.started(run, "key", 2)
    assert journal.lost("key", 2) == ("07-baseline", "03-bypass", "05-baseline")
    journal.finished("key", 2, run_named("03-bypass"))
    assert journal.lost("key", 2) == ("07-baseline", "05-baseline")


def test_a_run_that_was_given_up_is_neither_lost_nor_finished(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.started("01", "key", 0)
        journal.given_up("01")
        assert journal.lost("key", 0) == ()
    with Journal(tmp_path) as journal:
        assert (journal.lost("key", 0), journal.recall("key", 0)) == ((), None)


def test_a_run_that_began_on_another_start_of_the_machine_died_with_it(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.started("01", "key", 0)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    path = tmp_path / "journal.jsonl"
    path.write_text(path.read_text().replace(boot, ELSEWHERE))
    with Journal(tmp_path) as journal:
        journal.started("02", "key", 0)
        assert journal.lost("key", 0) == ("01", "02")
        assert [journal.died_with_machine(run) for run in ("01", "02", "none")] == [True, False, False]


# --- what is damaged --------------------------------------------------------------------------------------------------


def test_wherever_the_last_line_is_torn_all_before_it_is_there_and_the_next_is_whole(tmp_path: Path) -> None:
    finish(tmp_path, "01", "02")
    lines = lines_of(tmp_path)
    whole, last = b"".join(lines[:-1]), lines[-1]
    for kept in sorted({*range(0, len(last), 97), 1, len(last) - 2, len(last) - 1}):
        (tmp_path / "journal.jsonl").write_bytes(whole + last[:kept])
        with Journal(tmp_path) as journal:
            assert (journal.recall("01", 0), journal.recall("02", 0)) == (run_named("01"), None)
            assert journal.lost("02", 0) == ("02",)
            journal.finished("02", 0, run_named("02"))
            assert journal.recall("02", 0) == run_named("02")
        with Journal(tmp_path) as journal:
            assert [journal.recall(run, 0) for run in ("01", "02")] == [run_named("01"), run_named("02")]


def test_a_journal_that_is_torn_in_its_first_line_begins_anew(tmp_path: Path) -> None:
    Journal(tmp_path).close()
    (line,) = lines_of(tmp_path)
    for kept in (0, 1, len(line) // 2, len(line) - 1):
        (tmp_path / "journal.jsonl").write_bytes(line[:kept])
        finish(tmp_path, "01")
        with Journal(tmp_path) as journal:
            assert journal.recall("01", 0) == run_named("01")


@pytest.mark.parametrize(
    "damage",
    [
        b"\n",
        b"\xff\x00\xfe\n",
        b"[" * 100_000 + b"\n",
        b"9" * 10_000 + b"\n",
        b"null\n",
        b'{"is": "began"}\n',
        b'{"is": "began", "run": 7, "key": "k", "repeat": 0, "boot": null}\n',
        b'{"is": "finished", "run": "01", "key": "01", "repeat": 0, "outcome": {}}\n',
        b'{"is": "finished", "run": "01", "key": "01", "repeat": 0, "outcome": ' + b"[" * 900 + b"]" * 900 + b"}\n",
        b'{"is": "finished", "run": "01", "key": "01", "repeat": 0}\n',
        b'{"is": "news"}\n',
    ],
)
def test_a_damaged_line_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    finish(tmp_path, "01", "02")
    lines = lines_of(tmp_path)
    (tmp_path / "journal.jsonl").write_bytes(b"".join([*lines[:3], damage, *lines[3:]]))
    with Journal(tmp_path) as journal:
        assert [journal.recall(run, 0) for run in ("01", "02")] == [run_named("01"), run_named("02")]


def test_an_outcome_whose_path_is_no_text_is_passed_over(tmp_path: Path) -> None:
    finish(tmp_path, "01")
    path = tmp_path / "journal.jsonl"
    path.write_text(path.read_text().replace('"path": "stdout"', '"path": [1]'))
    with Journal(tmp_path) as journal:
        assert (journal.recall("01", 0), journal.lost("01", 0)) == (None, ("01",))


@pytest.mark.parametrize("text", [b"not ours\n", b'{"schema": "pooldiag.report/1"}\n', b"\x7fELF\x02\n\xff"])
def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(text)
    with pytest.raises(UsageError, match="is no journal of pooldiag") as raised:
        Journal(tmp_path)
    assert raised.value.problem.startswith(f"{path} ")
    assert path.read_bytes() == text


def test_a_journal_of_another_version_is_refused(tmp_path: Path) -> None:
    finish(tmp_path, "01")
    path = tmp_path / "journal.jsonl"
    path.write_text(path.read_text().replace(SCHEMA, "pooldiag.journal/99"))
    with pytest.raises(UsageError, match="another version of pooldiag"):
        Journal(tmp_path)


# --- who may write ----------------------------------------------------------------------------------------------------


def test_a_journal_that_another_pooldiag_has_open_is_refused_with_its_pid(tmp_path: Path) -> None:
    with start_client(tmp_path, "echo $$ > pid; while :; do sleep 0.01; done") as client:
        pid = pid_in(tmp_path / "pid")
        before = lines_of(tmp_path)
        with pytest.raises(BlockedError, match=rf"another pooldiag is at work in .*: pid {client.pid} ") as raised:
            Journal(tmp_path)
        assert raised.value.exit_code is ExitCode.BLOCKED
        assert raised.value.hint
        assert lines_of(tmp_path) == before
        client.send_signal(signal.SIGTERM)
    wait_until(lambda: not is_alive(pid), "the run has ended")


def test_a_run_does_not_keep_the_journal(request_for: Requester, journal: Journal) -> None:
    with Supervisor(kept=(journal.descriptor,)) as supervisor:
        completed = SupervisedExecutor(supervisor, UNWATCHED).execute(request_for("sh", "-c", "readlink /proc/$$/fd/*"))
    assert str(journal.path) not in completed.stdout.path.read_text()


def test_a_full_disk_blocks_and_what_was_there_stays_whole(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=1m")
    with Journal(folder) as journal:
        journal.finished("key", 0, green())
        with pytest.raises(BlockedError, match="No space left on device") as raised:
            journal.finished("key", 1, green(notes=("x" * 2**21,)))
        assert raised.value.problem.startswith(f"cannot write the journal: {journal.path}: ")
        assert journal.recall("key", 1) is None
        journal.finished("key", 2, green())
    with Journal(folder) as journal:
        assert [journal.recall("key", repeat) for repeat in range(3)] == [green(), None, green()]
    assert all(json.loads(line) for line in lines_of(folder)), "no line is torn"


def test_a_folder_that_may_not_be_written_to_blocks(mount_tmpfs: Mounter) -> None:
    with pytest.raises(BlockedError, match="Read-only file system"):
        Journal(mount_tmpfs("size=1m,ro"))


def test_the_wait_for_what_a_dead_pooldiag_left_is_bounded(tmp_path: Path) -> None:
    script = "exec 9>>journal.jsonl; flock 9; echo $$ > pid; exec cat"  # flock(1) took the lock, and is gone
    with subprocess.Popen(["sh", "-c", script], cwd=tmp_path, stdin=subprocess.PIPE) as holder:
        pid_in(tmp_path / "pid")
        with pytest.raises(
            BlockedError, match=rf": pid {holder.pid} \(cat\) of .*, lock taken by pid \d+, which is gone"
        ):
            Journal(tmp_path, wait_seconds=0)
