"""Who holds a lock file, in words. Nobody is ever signalled."""

import os
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from pooldiag.execute.supervisor import command_line, read_process

_OWNER_FIELD = 5  # `lock: 1: FLOCK  ADVISORY  WRITE 8595 fe:00:2180182 0 EOF`


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process with a descriptor that holds the lock; `owner` is the pid that once took it."""

    pid: int
    owner: int


def holders(path: Path) -> tuple[Holder, ...]:
    """Find the processes whose descriptors hold an flock on this file, the oldest first.

    A descriptor is inherited with its lock: /proc/locks names who took it, dead or not, and only
    /proc/PID/fdinfo shows who still holds it. Processes of other users show neither to us.
    """
    try:
        wanted = os.stat(path)
    except OSError:
        return ()
    found = {holder.pid: holder for pid in _pids() for holder in _held_by(pid, wanted)}
    # One that ended since holds nothing any more: a loop's `sleep`, say.
    seen = [(holder, read_process(holder.pid)) for holder in found.values()]
    living = [(process.started, holder) for holder, process in seen if process is not None and process.state != "Z"]
    return tuple(holder for _, holder in sorted(living, key=itemgetter(0)))


def holder_words(path: Path) -> str | None:
    """Say who holds the lock: `pid 1234 (sleep 600), lock taken by pid 1200, which is gone`; None if nobody is seen."""
    found = holders(path)
    if not found:
        return _owner_words(path)
    first = next((holder for holder in found if holder.pid == holder.owner), found[0])
    words = f"pid {first.pid} ({command_line(first.pid)})"
    if first.owner != first.pid:
        words += f", lock taken by pid {first.owner}" + ("" if read_process(first.owner) else ", which is gone")
    return words + (f", and {len(found) - 1} more" if len(found) > 1 else "")


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _held_by(pid: int, wanted: os.stat_result) -> list[Holder]:
    """Look at every descriptor of a process; one that is gone, or that we may not look into, shows none."""
    try:
        descriptors = os.listdir(f"/proc/{pid}/fdinfo")
    except OSError:
        return []
    owners = [_owner_of_lock(pid, descriptor, wanted) for descriptor in descriptors]
    return [Holder(pid=pid, owner=owner) for owner in owners if owner is not None]


def _owner_of_lock(pid: int, descriptor: str, wanted: os.stat_result) -> int | None:
    """Return who took the flock that this descriptor holds on the wanted file; None when it holds none."""
    try:
        with open(f"/proc/{pid}/fdinfo/{descriptor}", "rb") as file:
            locks = [line.split() for line in file if line.startswith(b"lock:") and b"FLOCK" in line]
        if not locks or not os.path.samestat(os.stat(f"/proc/{pid}/fd/{descriptor}"), wanted):
            return None  # the device in the line itself differs from stat's on btrfs and overlays
    except OSError:
        return None
    return int(locks[0][_OWNER_FIELD])


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
    if read_process(owners[0]) is None:
        return f"a process that cannot be seen; lock taken by pid {owners[0]}, which is gone"
    return f"pid {owners[0]} ({command_line(owners[0])})"
