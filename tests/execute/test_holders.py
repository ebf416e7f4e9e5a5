import os
import pwd
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from pooldiag.execute.holders import holder_words, holders
from tests.execute.helpers import LIMIT_SECONDS, is_alive, pid_in, wait_until

Holder = Callable[[Path], subprocess.Popen[bytes]]
NOBODY = 65534
ME = pwd.getpwuid(os.geteuid()).pw_name


def test_nobody_holds_a_free_or_missing_file(tmp_path: Path, hold_lock: Holder) -> None:
    (tmp_path / "free").touch()
    hold_lock(tmp_path / "other")
    assert holder_words(tmp_path / "free") is None
    assert holder_words(tmp_path / "none") is None


def test_a_living_owner_is_named_and_those_that_share_its_lock_are_counted(tmp_path: Path, hold_lock: Holder) -> None:
    holder = hold_lock(tmp_path / "gpu.lock")
    command = f"flock {tmp_path / 'gpu.lock'} sh -c echo held >&2; exec cat"
    assert dated(holder_words(tmp_path / "gpu.lock")) == f"pid {holder.pid} ({command}) of {ME}, and 1 more"


def dated(words: str | None) -> str | None:
    """Check that the holder was started within the last minutes, and leave that out."""
    found = re.fullmatch(r"(.*), started (\d{4}-\d\d-\d\d \d\d:\d\d)(.*)", words or "")
    if found is None:
        return words
    assert -2 < time.time() - time.mktime(time.strptime(found[2], "%Y-%m-%d %H:%M")) < 300
    return found[1] + found[3]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], int]]:
    """Start a shell whose child, with its pid in the file `child`, holds the lock; both end when the test does."""
    reading, writing = os.pipe()  # the end of file ends the children
    shells: list[subprocess.Popen[bytes]] = []

    def go(script: str) -> int:
        shells.append(subprocess.Popen(["bash", "-c", script], cwd=tmp_path, stdin=reading, stdout=subprocess.DEVNULL))
        return pid_in(tmp_path / "child")

    yield go
    os.close(reading)
    os.close(writing)
    for shell in shells:
        shell.wait(LIMIT_SECONDS)
    child = pid_in(tmp_path / "child")
    wait_until(lambda: not is_alive(child), "the child has ended")


def test_an_orphan_that_holds_the_lock_of_a_dead_owner_is_named(tmp_path: Path, start: Callable[[str], int]) -> None:
    # flock(1) takes the lock and dies; the shell that gave the descriptor dies; the child has it still.
    script = "exec 9>gpu.lock; flock 9 & echo $! > owner; wait; sh -c 'echo $$ > child; exec cat' <&0 & exit"
    child = start(script)
    owner = pid_in(tmp_path / "owner")
    wait_until(lambda: len(holders(tmp_path / "gpu.lock")) == 1, "the shell has ended")
    words = f"pid {child} (cat) of {ME}, lock taken by pid {owner}, which is gone"
    wait_until(lambda: dated(holder_words(tmp_path / "gpu.lock")) == words, "the orphan is named")
    assert is_alive(child)


def test_a_shell_that_locks_a_descriptor_of_its_own_is_named_before_its_children(
    tmp_path: Path, start: Callable[[str], int]
) -> None:
    start("exec 9>gpu.lock; flock 9; sh -c 'echo $$ > child; exec cat' <&0; true")
    words = holder_words(tmp_path / "gpu.lock")
    assert words is not None
    assert words.startswith(f"pid {next(iter(holders(tmp_path / 'gpu.lock')))} (bash -c exec 9>gpu.lock; ")
    assert words.endswith("which is gone, and 1 more")


def test_a_holder_that_ends_while_it_is_looked_at_is_not_named(tmp_path: Path, start: Callable[[str], int]) -> None:
    loop = "echo $BASHPID > child; while [ ! -e stop ]; do /bin/true; done"  # each `true` has the descriptor too
    shell = start(f"exec 9>gpu.lock; flock 9; {loop}")
    first = {next(iter(holders(tmp_path / "gpu.lock"))) for _ in range(40)}
    (tmp_path / "stop").touch()
    assert first == {shell}


def test_a_holder_of_another_user_is_known_from_the_kernels_list(tmp_path: Path, hold_lock: Holder) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be two users")
    holder = hold_lock(tmp_path / "gpu.lock")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o5 != 0o5:  # one more of them where tests run side by side
            folder.chmod(0o755)
    seen, words = as_another_user(lambda: (holders(tmp_path / "gpu.lock"), holder_words(tmp_path / "gpu.lock")))
    assert seen == {}
    assert isinstance(words, str)
    command = f"flock {tmp_path / 'gpu.lock'} sh -c echo held >&2; exec cat"
    assert dated(words) == f"pid {holder.pid} ({command}) of {ME}"


def test_bytes_that_are_no_text_in_a_holders_command_are_spelled_out(tmp_path: Path) -> None:
    words = [b"flock", os.fsencode(tmp_path / "gpu.lock"), b"sh", b"-c", b": \xff; echo held; exec cat"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert r"sh -c : \xff; echo held; exec cat) of " in (holder_words(tmp_path / "gpu.lock") or "")


def as_another_user(ask: Callable[[], tuple[object, object]]) -> tuple[object, object]:
    """Return what a function returns to a user who may not look into our processes."""
    context = get_context("fork")
    ours, theirs = context.Pipe()

    def answer() -> None:
        os.setuid(NOBODY)
        theirs.send(ask())

    child = context.Process(target=answer)
    child.start()
    theirs.close()  # so that a child that fails is an end of file
    try:
        first, second = ours.recv()
    finally:
        child.join(LIMIT_SECONDS)
    return first, second
