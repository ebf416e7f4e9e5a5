import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from pooldiag.errors import BlockedError
from pooldiag.execute.evidence import EvidenceFolder
from pooldiag.execute.journal import Journal
from pooldiag.execute.meeting import undisturbed
from tests.execute.conftest import Mounter
from tests.execute.helpers import LIMIT_SECONDS, is_locked, wait_until

CLIENT = """
import sys
from pathlib import Path
from pooldiag.execute.meeting import undisturbed

with undisturbed(Path(sys.argv[1])):
    print("here", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_at_work(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have another process among the evidence folders."""
    words = [sys.executable, "-c", CLIENT, str(home)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield process
        process.kill()


def test_a_folder_is_made_and_taken_up_when_no_other_pooldiag_is_in_between_even_one_that_was_killed(
    tmp_path: Path,
) -> None:
    home = tmp_path / ".pooldiag"
    (home / "old").mkdir(parents=True)
    with another_at_work(home) as other, ThreadPoolExecutor(2) as threads:
        made = threads.submit(EvidenceFolder, tmp_path, command="attribute", target="test")
        taken_up = threads.submit(Journal, home / "old")
        with pytest.raises(BlockedError), undisturbed(home, wait_seconds=0.2):
            pytest.fail("two at once")
        assert sorted(path.name for path in home.iterdir()) == [".lock", "old"]
        assert not list((home / "old").iterdir())
        other.send_signal(signal.SIGKILL)
        assert made.result(LIMIT_SECONDS).path.is_dir()
        taken_up.result(LIMIT_SECONDS).close()
    wait_until(lambda: not is_locked(home / ".lock"), "the lock is free")


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
