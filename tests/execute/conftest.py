"""Real processes for real waits: requests, a supervisor that lives for one test, a small file system."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pooldiag.execute.disk import Watched
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.model.runs import Environment, RunLimits, RunRequest
from pooldiag.model.settings import Floors
from tests.execute.helpers import LIMIT_SECONDS, wait_until

Requester = Callable[..., RunRequest]
Mounter = Callable[[str], Path]

UNWATCHED = Watched(folders=(), floors=Floors(disk_bytes=0, memory_bytes=0))


@pytest.fixture
def request_for(tmp_path: Path) -> Requester:
    """Make requests, each with a folder of its own."""
    numbers = iter(range(1000))

    def make(
        *argv: str,
        timeout_seconds: float = LIMIT_SECONDS,
        grace_seconds: float = LIMIT_SECONDS,
        stream_bytes: int = 2**20,
        environment: Environment | None = None,
        report: Path | None = None,
        directory: Path = tmp_path,
        on_report: Callable[[bytes], None] = lambda _: None,
        enough: Callable[[], bool] = lambda: False,
    ) -> RunRequest:
        folder = tmp_path / f"run-{next(numbers)}"
        folder.mkdir()
        return RunRequest(
            argv=argv,
            environment=environment or Environment(),
            directory=directory,
            folder=folder,
            report=report,
            limits=RunLimits(timeout_seconds=timeout_seconds, grace_seconds=grace_seconds, stream_bytes=stream_bytes),
            on_report=on_report,
            enough=enough,
        )

    return make


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    """A supervisor that nothing interrupts."""
    with Supervisor() as started:
        yield started


@pytest.fixture
def executor(supervisor: Supervisor) -> SupervisedExecutor:
    """An executor without floors."""
    return SupervisedExecutor(supervisor, UNWATCHED)


@pytest.fixture
def mount_tmpfs(tmp_path: Path) -> Iterator[Mounter]:
    """Mount small file systems that end with the test."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount the tmpfs that plays the full disk")
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        folder = tmp_path / f"tmpfs-{len(mounted)}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "pooldiag-test", str(folder)], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip(f"this root may not mount a tmpfs: {done.stderr.decode().strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def hold_lock() -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    """Start holders, `flock PATH cat`, that hold until their stdin is closed or the test ends."""
    started: list[subprocess.Popen[bytes]] = []

    def hold(path: Path) -> subprocess.Popen[bytes]:
        with _pipes() as (reading, writing):
            holder = subprocess.Popen(
                ["flock", str(path), "sh", "-c", "echo held >&2; exec cat"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=writing,
            )
            started.append(holder)
            os.set_blocking(reading, False)
            wait_until(lambda: _read(reading) == b"held\n", "the holder has the lock")
        return holder

    yield hold
    for holder in started:
        assert holder.stdin is not None
        holder.stdin.close()
        holder.wait(LIMIT_SECONDS)


@contextmanager
def _pipes() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 100)
    except BlockingIOError:
        return b""


@pytest.fixture
def compile_c(tmp_path: Path) -> Callable[..., Path]:
    """Compile C into a file below the test's folder, with that folder as the compiler's."""

    def compile_(name: str, source: str, *flags: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["gcc", "-x", "c", "-", "-x", "none", *flags, "-o", str(path)],
            cwd=tmp_path,
            input=source.encode(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return path

    return compile_
