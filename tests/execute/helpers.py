"""Waiting for what a test needs, within a bound; looking at processes and locks."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from pooldiag.execute.supervisor import read_process

LIMIT_SECONDS = 60.0  # bounds every wait; nothing here takes long
LOOK_SECONDS = 0.005


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Look again and again until the condition holds."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"still waiting after {LIMIT_SECONDS:g} s until {what}"
        time.sleep(LOOK_SECONDS)


def pid_in(path: Path) -> int:
    """Wait for a file that a process writes its pid and a line end to, and return it."""
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"), f"{path.name} holds a pid")
    return int(path.read_text())


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    process = read_process(pid)
    return process is not None and process.state != "Z"


def is_locked(path: Path) -> bool:
    """Whether flock(1), asked as a shell script would, finds the file locked."""
    return subprocess.run(["flock", "--nonblock", str(path), "true"], check=False).returncode != 0


def waiters(path: Path) -> int:
    """How many stand in the kernel's queue for a lock on this file."""
    inode = f":{path.stat().st_ino} "
    return sum(" -> " in line and inode in line for line in Path("/proc/locks").read_text().splitlines())
