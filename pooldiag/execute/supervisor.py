"""The process that starts every run, holds the lock and outlives pooldiag.

A program of its own: it is started once a diagnosis as `python -I -S supervisor.py`, so it imports the standard
library only. Messages come as JSON lines on stdin, events go as JSON lines to stdout; bytes that the system gave
(arguments, environment, paths) travel as Latin-1 text, so that no locale can change them. When stdin ends, pooldiag
is gone, and everything that runs is ended before the lock is let go.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import math
import os
import resource
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Collection
from typing import Any, NamedTuple

SETTLE_SECONDS = 0.05  # what ends together with the run's own process is not left over
LEFTOVER_GRACE_SECONDS = 1.0
ENOUGH_GRACE_SECONDS = 2.0  # what is still to be written is not read
KILL_SECONDS = 30.0  # a process that SIGKILL does not end by then hangs in the kernel
LOOK_SECONDS = 0.02  # how often a stream is looked at: 2 GB/s write 40 MB in this time
HURRIED_LOOK_SECONDS = 0.005
RESOURCE_SECONDS = 1.0
PUNCH_BYTES = 2**20  # the middle of a stream is given back in pieces of at least this size
BLOCK_BYTES = 4096
NAMED_LEFTOVERS = 20
COMMAND_CHARACTERS = 200
CONFLICT_EXIT_CODE = 75

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_KEEP_SIZE_AND_PUNCH_HOLE = 0x01 | 0x02
_ENDING = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGINT})
_libc = ctypes.CDLL(None, use_errno=True)

Message = dict[str, Any]


class Process(NamedTuple):
    """One process as /proc shows it; `started` (clock ticks since boot) tells it from a later one of the same pid."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    started: int


def read_process(pid: int) -> Process | None:
    """Read one process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # the name before may hold anything
    except OSError:
        return None
    parent, group, session = (int(field) for field in fields[1:4])
    return Process(pid, parent, group, session, fields[0].decode(), int(fields[19]))


def descendants(ancestor: int, *, without: Collection[int] = ()) -> list[Process]:
    """Find all living or dead processes below `ancestor`, whatever group or session they moved to.

    Those of `without` are left out, and all below them.
    """
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := read_process(int(name))) is not None:
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [ancestor]
    while parents:
        below = [process for process in children.pop(parents.pop(), []) if process.pid not in without]
        found += below
        parents += [process.pid for process in below]
    return found


def command_line(pid: int) -> str:
    """Return what a process was started with, in one line; its name in brackets when that is hidden."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(4 * COMMAND_CHARACTERS).rstrip(b"\0").replace(b"\0", b" ")
        if not words:
            with open(f"/proc/{pid}/comm", "rb") as file:
                words = b"[" + file.read().rstrip(b"\n") + b"]"
        return words.decode(errors="backslashreplace")[:COMMAND_CHARACTERS]
    return "?"


def become_subreaper(*, wanted: bool = True) -> bool:
    """Ask the kernel to hand this process all its orphaned descendants; return whether it did so before."""
    before = ctypes.c_int()
    if _libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0) or _libc.prctl(
        _PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(wanted), 0, 0, 0
    ):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    return bool(before.value)


def tell(event: str, **facts: object) -> None:
    """Write one event. A pooldiag that is gone cannot read it: its end is noticed on stdin."""
    line = json.dumps({"is": event, **facts}) + "\n"
    with contextlib.suppress(OSError):
        os.write(1, line.encode("ascii"))


class Control:
    """What wakes the supervisor: messages from pooldiag, its end, signals, and the end of a child."""

    def __init__(self) -> None:
        self.gone = False  # pooldiag is, or this process was asked to end
        self.messages: deque[Message] = deque()
        self._unread = b""
        self._signals, wakeup = os.pipe()
        for descriptor in (self._signals, wakeup):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, *_ENDING):
            signal.signal(number, lambda *_: None)  # the byte in the pipe is what counts
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)
        self._poll.register(self._signals, select.POLLIN)

    def wait(self, seconds: float | None) -> None:
        """Sleep until something happens, at most so long."""
        for descriptor, _ in self._poll.poll(None if seconds is None else math.ceil(max(0.0, seconds) * 1000)):
            if descriptor == self._signals:
                self.gone |= not _ENDING.isdisjoint(os.read(self._signals, 4096))
            else:
                self._read_messages()

    def take(self) -> list[Message]:
        """Return the messages that came meanwhile: while something goes on, they can only be about that."""
        taken = list(self.messages)
        self.messages.clear()
        return taken

    def _read_messages(self) -> None:
        piece = os.read(0, 2**16)
        if not piece:
            self.gone = True
            self._poll.unregister(0)
        *lines, self._unread = (self._unread + piece).split(b"\n")
        self.messages.extend(json.loads(line) for line in lines)


class CappedStream:
    """A regular file that a run appends to. Past the cap its head and tail are kept, the middle is punched out."""

    def __init__(self, path: bytes, cap: int) -> None:
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)
        self._cap = cap
        self._head = cap // 2
        self._dropped_to = self._head
        self._size = 0
        self._can_punch = True

    def trim(self, *, finally_: bool = False) -> bool:
        """Give back what lies between head and tail; return whether the stream grows fast."""
        before, self._size = self._size, os.fstat(self.descriptor).st_size
        end = (self._size - (self._cap - self._head)) // BLOCK_BYTES * BLOCK_BYTES
        due = end - self._dropped_to
        if self._can_punch and self._size > self._cap and due >= (1 if finally_ else PUNCH_BYTES):
            middle = ctypes.c_int64(self._dropped_to), ctypes.c_int64(due)
            self._can_punch = _libc.fallocate(self.descriptor, _KEEP_SIZE_AND_PUNCH_HOLE, *middle) == 0
            self._dropped_to += due if self._can_punch else 0
        return self._size - before >= PUNCH_BYTES

    def facts(self) -> list[int]:
        """Return size, start of the hole, length of the hole; all that was ever written counts."""
        dropped = self._dropped_to - self._head
        return [self._size, self._head if dropped else 0, dropped]


def as_text(name: str | bytes | os.PathLike[str]) -> str:
    """Carry the exact bytes of a name as Latin-1 text."""
    return os.fsencode(name).decode("latin-1")


def as_name(text: str) -> str:
    """Return the name that was carried as Latin-1 text."""
    return os.fsdecode(text.encode("latin-1"))


def shortage_of(watched: Message, memory: int | None) -> Message | None:
    """Return what is under its floor, the available memory included; None when nothing is."""
    for folder in watched["folders"]:
        for kind, free in free_in(folder):
            if free < watched[kind]:
                return {"kind": kind, "folder": folder, "free": free}
    if memory is not None and memory < watched["memory"]:
        return {"kind": "memory", "folder": None, "free": memory}
    return None


def free_in(folder: str) -> list[tuple[str, int]]:
    """Return the free `bytes` and `inodes` of a folder's file system; inodes only where it counts them."""
    try:
        status = os.statvfs(folder.encode("latin-1"))
    except OSError:
        return []  # the folder went away; another one will tell
    if status.f_flag & os.ST_RDONLY:
        return []  # nothing is written there, and an image of a disk has nothing free
    inodes = [("inodes", status.f_favail)] if status.f_files else []
    return [("bytes", status.f_bavail * status.f_frsize), *inodes]


def available_memory() -> int | None:
    """Return MemAvailable in bytes; None where the system does not say."""
    with contextlib.suppress(OSError), open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


class Execution:
    """One execution under way, and everything that descends from it."""

    def __init__(self, control: Control, message: Message, *, streams: list[CappedStream], locks: list[int]) -> None:
        self.reason: str | None = None  # why it was ended by us
        self.shortage: Message | None = None
        self.status: int | None = None  # of its own process
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.peak_rss_bytes = 0
        self.leftovers: list[tuple[int, str]] = []
        self._control = control
        self._grace: float = message["grace"]
        self._watched: Message = message["watch"]
        self._report: str | None = message["report"]
        self._asked_to_end = 0
        self._has_enough = False
        self._streams = streams
        self._began = time.monotonic()
        self._deadline = self._began + message["timeout"]
        self._next_look = self._began + RESOURCE_SECONDS  # at free space and memory
        self._process = subprocess.Popen(
            [word.encode("latin-1") for word in message["argv"]],
            cwd=message["cwd"].encode("latin-1"),
            env={name.encode("latin-1"): value.encode("latin-1") for name, value in message["env"]},
            stdin=subprocess.DEVNULL,
            stdout=streams[0].descriptor,
            stderr=streams[1].descriptor,
            start_new_session=True,
            pass_fds=locks,
        )

    def finish(self) -> None:
        """Wait for the end of the run or bring it about, and leave no process of it."""
        while self.status is None and self.reason is None:
            self._sleep(self._deadline)
            self._reap()
            self.reason = self._reason_to_end()
        if self.reason is not None:
            self._end(min(ENOUGH_GRACE_SECONDS, self._grace) if self.reason == "enough" else self._grace)
        elif not self._is_empty_by(time.monotonic() + SETTLE_SECONDS):
            # A forked child has the framework's signal handlers, and would write into the finished report.
            tell("leftovers", report_bytes=size_of(self._report))
            living = [process for process in descendants(os.getpid()) if process.state not in "ZX"]
            self.leftovers = [(process.pid, command_line(process.pid)) for process in living[:NAMED_LEFTOVERS]]
            self._end(min(LEFTOVER_GRACE_SECONDS, self._grace))
        self._process.returncode = self.status
        for stream in self._streams:
            stream.trim(finally_=True)

    def facts(self) -> Message:
        """Return all that is known of the run after its end."""
        return {
            "reason": self.reason,
            "shortage": self.shortage,
            "status": self.status,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_rss_bytes": self.peak_rss_bytes,
            "leftovers": self.leftovers,
            # What even SIGKILL did not end.
            "undead": [(one.pid, command_line(one.pid)) for one in descendants(os.getpid())] if self._reap() else [],
        }

    def _reason_to_end(self) -> str | None:
        if self.status is not None:
            return None
        self._listen()
        if self._control.gone:
            return "gone"
        if self._has_enough:
            return "enough"
        if self._asked_to_end:
            return "asked"
        now = time.monotonic()
        if now >= self._deadline:
            return "timeout"
        if now >= self._next_look:
            self._next_look = now + RESOURCE_SECONDS
            self.shortage = shortage_of(self._watched, available_memory())
        return "shortage" if self.shortage else None

    def _listen(self) -> None:
        messages = self._control.take()
        self._asked_to_end += times_asked_to_end(messages)
        self._has_enough |= any(message["do"] == "enough" for message in messages)

    def _sleep(self, until: float) -> None:
        hurried = max([stream.trim() for stream in self._streams])
        look = HURRIED_LOOK_SECONDS if hurried else LOOK_SECONDS
        self._control.wait(min(until - time.monotonic(), look))

    def _reap(self) -> bool:
        """Reap every child that ended; return whether there are others."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.cpu_seconds += usage.ru_utime + usage.ru_stime
            self.peak_rss_bytes = max(self.peak_rss_bytes, usage.ru_maxrss * 1024)
            if pid == self._process.pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.seconds = time.monotonic() - self._began

    def _is_empty_by(self, deadline: float) -> bool:
        """Wait until no process is left, or the deadline is there, or pooldiag is in a hurry."""
        while self._reap():
            self._listen()
            if time.monotonic() >= deadline or self._asked_to_end > 1:
                return False
            self._sleep(deadline)
        return True

    def _end(self, grace: float) -> None:
        """End every process: SIGTERM once, so that a report can be finished, then SIGKILL until none is left.

        Each gets SIGTERM exactly once: a second one kills a framework that is writing its report.
        """
        group = self._process.pid
        below = descendants(os.getpid())
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGTERM)
        for process in below:
            if process.group != group:
                send(process.pid, signal.SIGTERM)
        if self._is_empty_by(time.monotonic() + grace):
            return
        deadline = time.monotonic() + KILL_SECONDS
        while self._reap() and time.monotonic() < deadline:  # what forks meanwhile is found the next time
            for process in descendants(os.getpid()):
                send(process.pid, signal.SIGKILL)
            self._sleep(deadline)


def times_asked_to_end(messages: list[Message]) -> int:
    """Count how often pooldiag asks to end what goes on: once is in good order, twice at once."""
    return sum(2 if message.get("hard") else 1 for message in messages if message["do"] == "end")


def size_of(path: str | None) -> int:
    """Return the bytes of a file; 0 when it is not there."""
    try:
        return os.stat(path.encode("latin-1")).st_size if path is not None else 0
    except OSError:
        return 0


def send(pid: int, number: int) -> None:
    """Send a signal; a process that is gone, or changed its user, is left alone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def execute(control: Control, message: Message, locks: list[int]) -> None:
    """Carry out one run and tell how it ended."""
    streams: list[CappedStream] = []
    try:
        streams.extend(CappedStream(message[name].encode("latin-1"), message["cap"]) for name in ("stdout", "stderr"))
        run = Execution(control, message, streams=streams, locks=locks)
    except OSError as error:
        path = as_text(error.filename or b"")
        facts: Message = {"reason": "not-started", "errno": error.errno, "text": error.strerror, "path": path}
    except ValueError as error:
        facts = {"reason": "not-started", "errno": None, "text": str(error), "path": ""}
    else:
        run.finish()
        facts = {**run.facts(), "streams": [stream.facts() for stream in streams]}
    for stream in streams:
        os.close(stream.descriptor)
    tell("ended", **facts)


def open_lock(path: bytes) -> int:
    """Open a lock file without changing it, read-only where it is another user's; make it where it is missing."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise
        with contextlib.suppress(OSError):
            return os.open(path, os.O_RDONLY)
        raise  # what the first try said: a file that cannot be made is "not there" for the second


class LockRefusedError(Exception):
    """A lock file was not taken; the facts say why."""

    def __init__(self, event: str, **facts: object) -> None:
        super().__init__(event)
        self.event = event
        self.facts = facts


def take_locks(control: Control, message: Message, held: list[int]) -> None:
    """Take all lock files in sorted order, so that two programs that do so cannot block each other; or none."""
    began = time.monotonic()
    deadline = began + message["seconds"]
    try:
        for path in sorted({path.encode("latin-1") for path in message["paths"]}):
            take_lock(control, path, deadline, held)
    except LockRefusedError as refusal:
        release_locks(held)
        tell(refusal.event, **refusal.facts)
    else:
        tell("locked", seconds=time.monotonic() - began)


def take_lock(control: Control, path: bytes, deadline: float, held: list[int]) -> None:
    """Take one lock file and add its descriptor to `held`; the same file by another name is taken once."""
    name = path.decode("latin-1")
    try:
        while True:
            held.append(open_lock(path))
            if any(os.path.sameopenfile(held[-1], other) for other in held[:-1]):
                os.close(held.pop())
                return
            lock(control, held[-1], deadline, name)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(held[-1])):
                    return
            os.close(held.pop())  # somebody replaced the file while we waited: others lock the new one
    except OSError as error:
        raise LockRefusedError("lock-failed", path=name, text=error.strerror) from error


def lock(control: Control, descriptor: int, deadline: float, name: str) -> None:
    """Lock an open file, at once or from the queue.

    flock(1) waits in the kernel's queue and locks our own open file description. A poller starves there.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        tell("queueing", path=name)
    else:
        return
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise LockRefusedError("busy", path=name)
    options = ["--timeout", f"{seconds:.3f}", "--conflict-exit-code", str(CONFLICT_EXIT_CODE)]
    try:
        waiter = subprocess.Popen(
            ["flock", *options, str(descriptor)],
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise LockRefusedError("lock-failed", path=name, text=f"flock(1): {error.strerror}") from error
    while waiter.poll() is None:
        control.wait(None)
        if control.gone or times_asked_to_end(control.take()):
            waiter.kill()
            waiter.wait()
            raise LockRefusedError("cancelled", path=name)
    if waiter.returncode == CONFLICT_EXIT_CODE:
        raise LockRefusedError("busy", path=name)
    if waiter.returncode != 0:
        raise LockRefusedError("lock-failed", path=name, text=f"flock(1) ended with {waiter.returncode}")


def release_locks(held: list[int]) -> None:
    """Let go. A lock is free once no process of a run has its descriptor either."""
    while held:
        os.close(held.pop())


def main() -> None:
    """Prepare this process, and do what the messages ask for, until pooldiag is gone."""
    become_subreaper()
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    control = Control()
    held: list[int] = []
    while not control.gone:
        if not control.messages:
            control.wait(None)
            continue
        message = control.messages.popleft()
        match message["do"]:
            case "run":
                execute(control, message, held)
            case "lock":
                take_locks(control, message, held)
            case "unlock":
                release_locks(held)
                tell("unlocked")


if __name__ == "__main__":
    main()
