"""Who holds a lock file, in words. Nobody is ever signalled."""

import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil

COMMAND_CHARACTERS = 200
_OWNER_FIELD = 5  # `lock: 1: FLOCK  ADVISORY  WRITE 8595 fe:00:2180182 0 EOF`


def holders(path: Path) -> dict[int, int]:
    """Find the processes whose descriptors hold an flock on this file, the oldest first: each with who once took it.

    A descriptor is inherited with its lock: /proc/locks names who took it, dead or not, and only
    /proc/PID/fdinfo shows who still holds it. Processes of other users show neither to us.
    """
    try:
        wanted = os.stat(path)
    except OSError:
        return {}
    found = {pid: owner for pid in psutil.pids() for owner in _owners(pid, wanted)}
    living = sorted((since, pid) for pid in found if (since := _started(pid)) is not None)
    return {pid: found[pid] for _, pid in living}


def holder_words(path: Path) -> str | None:
    """Say who holds the lock, and who took it where that was another one; None if nobody is seen.

    `pid 1234 (sleep 600) of ada, started 2026-03-04 05:06, lock taken by pid 1200, which is gone`
    """
    found = holders(path)
    if not found:
        return _owner_words(path)
    pid = next((pid for pid, owner in found.items() if pid == owner), next(iter(found)))
    words = _process_words(pid)
    if (owner := found[pid]) != pid:
        words += f", lock taken by pid {owner}" + ("" if psutil.pid_exists(owner) else ", which is gone")
    return words + (f", and {len(found) - 1} more" if len(found) > 1 else "")


def _process_words(pid: int) -> str:
    try:
        process = psutil.Process(pid)
        since = datetime.fromtimestamp(process.create_time(), UTC).astimezone()
        return f"pid {pid} ({_command(process)}) of {process.username()}, started {since:%Y-%m-%d %H:%M}"
    except psutil.Error:
        return f"pid {pid} (?)"  # it has ended since, or the system hides it


def _command(process: psutil.Process) -> str:
    """Return what a process was started with, in one line; its name in brackets when that is hidden."""
    words = " ".join(process.cmdline()) or f"[{process.name()}]"
    return os.fsencode(" ".join(words.split())).decode(errors="backslashreplace")[:COMMAND_CHARACTERS]


def _started(pid: int) -> float | None:
    """Return when a process was started; None of one that has ended since: a loop's `sleep`, say."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    return None


def _owners(pid: int, wanted: os.stat_result) -> Iterator[int]:
    """Yield who took the flocks that a process holds on the wanted file; none where we may not look into it."""
    with contextlib.suppress(OSError):
        for descriptor in os.listdir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(OSError):  # it is closed by now
                lines = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_bytes().splitlines()
                locks = [line.split() for line in lines if line.startswith(b"lock:") and b"FLOCK" in line]
                # The device in the line itself differs from stat's on btrfs and overlays.
                if locks and os.path.samestat(os.stat(f"/proc/{pid}/fd/{descriptor}"), wanted):
                    yield int(locks[0][_OWNER_FIELD])


def _owner_words(path: Path) -> str | None:
    """Fall back on /proc/locks, which shows the locks of other users as well, but not who inherited them."""
    try:
        wanted = os.stat(path)
        with open("/proc/locks", "rb") as file:
            lines = [line.split() for line in file]
    except OSError:
        return None
    name = f"{os.major(wanted.st_dev):02x}:{os.minor(wanted.st_dev):02x}:{wanted.st_ino}".encode()
    owners = [int(words[4]) for words in lines if words[1] == b"FLOCK" and words[5] == name]  # waiters have `->` there
    if not owners:
        return None
    if owners[0] <= 0:
        return "a process of another container"
    if not psutil.pid_exists(owners[0]):
        return f"a process that cannot be seen; lock taken by pid {owners[0]}, which is gone"
    return _process_words(owners[0])
