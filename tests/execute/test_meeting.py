import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from pooldiag.errors import BlockedError
from pooldiag.execute.evidence import EvidenceFolder
from pooldiag.execute.journal import Journal
from pooldiag.execute.meeting import undisturbed
from tests.execute.conftest import Mounter
from tests.execute.helpers import LIMIT_SECONDS

CLIENT = """
import sys
import time
from pathlib import Path
from pooldiag.execute.meeting import undisturbed

with undisturbed(Path(sys.argv[1])):
    print("here", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_at_work(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have another process at work in a folder."""
    words = [sys.executable, "-c", CLIENT, str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield process
        process.kill()


def make(folder: Path) -> None:
    EvidenceFolder(folder.parent, command="attribute", target="test")


def take_up(folder: Path) -> None:
    Journal(folder).close()


@pytest.mark.parametrize("work", [make, take_up])
def test_one_works_in_a_folder_when_the_other_has_done_so_or_was_killed(
    tmp_path: Path, work: Callable[[Path], None]
) -> None:
    folder = tmp_path / ".pooldiag"
    folder.mkdir()
    with another_at_work(folder) as other, ThreadPoolExecutor(1) as threads:
        working = threads.submit(work, folder)
        with pytest.raises(BlockedError), undisturbed(folder, wait_seconds=0.2):
            pytest.fail("two at once")
        assert os.listdir(folder) == [".lock"]
        other.send_signal(signal.SIGKILL)
        working.result(LIMIT_SECONDS)
    assert len(os.listdir(folder)) > 0
    assert not (folder / ".lock").exists()


def test_who_is_in_between_for_too_long_is_named(tmp_path: Path) -> None:
    with (
        another_at_work(tmp_path) as other,
        pytest.raises(BlockedError, match=rf"/\.lock is held by pid {other.pid} \(.*\) of "),
        undisturbed(tmp_path, wait_seconds=0),
    ):
        pytest.fail("two at once")


def test_a_folder_that_cannot_be_locked_keeps_nobody_away(mount_tmpfs: Mounter) -> None:
    with undisturbed(mount_tmpfs("size=1m,ro"), wait_seconds=0):
        pass


def test_of_many_that_meet_each_is_alone(tmp_path: Path) -> None:
    """The file of the lock comes and goes meanwhile."""
    inside: list[int] = []

    def work(number: int) -> bool:
        with undisturbed(tmp_path):
            inside.append(number)
            time.sleep(0.005)
            alone = inside == [number]
            inside.remove(number)
        return alone

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(work, range(60)))
    assert os.listdir(tmp_path) == []
