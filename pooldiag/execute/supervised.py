"""Runs and the lock, by way of the supervisor: this side of the pipe."""

import contextlib
import errno
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from pooldiag.errors import BlockedError, InterruptedRunError, LockTimeoutError
from pooldiag.execute import supervisor as supervisor_program
from pooldiag.execute.disk import Watched, shortage_words
from pooldiag.execute.files import open_regular
from pooldiag.execute.guarded import not_run
from pooldiag.execute.holders import holder_words
from pooldiag.execute.interrupts import Interrupts
from pooldiag.execute.supervisor import KILL_SECONDS, Message, become_subreaper, descendants
from pooldiag.model.events import LockHeld, LockWait
from pooldiag.model.reports import LockReport
from pooldiag.model.runs import Completed, Ending, Leftover, RunRequest, Stream
from pooldiag.model.settings import LockSettings
from pooldiag.model.signals import signal_name
from pooldiag.ports import Clock, Progress

TAIL_SECONDS = 0.05
LOCK_NEWS_SECONDS = 1.0
SLACK_SECONDS = 60.0  # beyond every limit of its own: a supervisor that is silent so long hangs
PIECE_BYTES = 2**18
PIECES_A_LOOK = 64  # so that a report that grows without end does not keep us from looking at anything else
HURRY = 2  # interrupts after which nothing is waited for


class Supervisor:
    """The supervisor process, from `with` to its end; what it runs ends with it.

    `interrupts` wake every wait. While it lives this process is the subreaper of its descendants, so
    that what a supervisor leaves behind that was killed itself can be found and ended.
    """

    def __init__(self, interrupts: Interrupts | None = None) -> None:
        """Take the interrupts that shall wake a wait."""
        self.interrupts = interrupts
        self.grace_seconds = 0.0  # of the current run
        self._events: deque[Message] = deque()
        self._unread = b""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start the supervisor in a session of its own, where the terminal's Ctrl-C does not reach it."""
        self._was_subreaper = become_subreaper()
        self._strangers = {(process.pid, process.started) for process in descendants(os.getpid())}
        self._errors = os.memfd_create("errors")  # not a file on a disk that may be full
        its_input, self._input = os.pipe()
        self._output, its_output = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor_program.__file__],
            stdin=its_input,
            stdout=its_output,
            stderr=self._errors,
            start_new_session=True,
        )
        os.close(its_input)
        os.close(its_output)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End what runs, and the supervisor."""
        try:
            self.close()
        finally:
            os.close(self._errors)
            become_subreaper(wanted=self._was_subreaper)

    @property
    def pid(self) -> int | None:
        """The supervisor's pid; None once it has ended."""
        return self._process.pid if self._process else None

    def send(self, do: str, **facts: object) -> None:
        """Send a message; raise BlockedError when the supervisor is dead."""
        process = self._living()
        line = memoryview((json.dumps({"do": do, **facts}) + "\n").encode("ascii"))
        try:
            while line:
                line = line[os.write(self._input, line) :]
        except BrokenPipeError:
            self._bury(process)

    def next_event(self, seconds: float) -> Message | None:
        """Return the next event; None when the time is over, or an interrupt came."""
        process = self._living()
        if not self._events and self._output in self._ready(seconds):
            piece = os.read(self._output, 2**16)
            if not piece:
                self._bury(process)
            *lines, self._unread = (self._unread + piece).split(b"\n")
            self._events.extend(json.loads(line) for line in lines)
        return self._events.popleft() if self._events else None

    def close(self) -> None:
        """End everything and wait for the supervisor's end, within bounds; a second interrupt hurries it."""
        if self._process is None:
            return
        process, self._process = self._process, None
        os.close(self._input)  # its end of file is what ends the supervisor
        try:
            self._wait_for_end()
        finally:
            os.close(self._output)
            self._kill_rest(process)

    def _living(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise BlockedError("the supervisor that starts the runs has ended", hint="run the command again")
        return self._process

    def _ready(self, seconds: float) -> list[int]:
        """Wait for events and interrupts; return the descriptors that have some."""
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        if self.interrupts is not None:
            poll.register(self.interrupts.descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(max(0, seconds * 1000))]
        if self.interrupts is not None:
            self.interrupts.drain()
        return ready

    def _wait_for_end(self) -> None:
        """Wait until the supervisor has closed its events, which it does by ending."""
        deadline = time.monotonic() + self.grace_seconds + KILL_SECONDS + SLACK_SECONDS
        while time.monotonic() < deadline and not (self.interrupts and self.interrupts.count >= HURRY):
            if self._output in self._ready(1.0) and not os.read(self._output, 2**16):
                return

    def _bury(self, process: subprocess.Popen[bytes]) -> NoReturn:
        """End what a dead supervisor left, and raise."""
        self._process = None
        os.close(self._input)
        os.close(self._output)
        self._kill_rest(process)
        how = f"killed by {signal_name(-process.returncode)}" if process.returncode < 0 else "by itself"
        last = os.pread(self._errors, 2**16, 0).decode(errors="replace").strip().splitlines()[-1:]
        raise BlockedError(
            f"the supervisor that starts the runs ended ({': '.join([how, *last])}); the run was ended with it",
            hint="run the command again; if memory was short, the kernel's log says so",
        )

    def _kill_rest(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the supervisor, if need be, and the orphans that the kernel then hands to us."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5)  # it has closed its events: all it does is exit
        process.kill()
        process.wait()
        deadline = time.monotonic() + KILL_SECONDS
        while (orphans := self._orphans()) and time.monotonic() < deadline:
            for pid in orphans:
                supervisor_program.send(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)

    def _orphans(self) -> list[int]:
        """Find descendants in other sessions than ours that came after the supervisor: the runs' processes."""
        session = os.getsid(0)
        return [
            process.pid
            for process in descendants(os.getpid())
            if process.session != session and (process.pid, process.started) not in self._strangers
        ]


class SupervisedExecutor:
    """Runs on this machine, below the supervisor (port `Executor`)."""

    def __init__(self, supervisor: Supervisor, watched: Watched) -> None:
        """Take the supervisor, started, and what it shall watch while a run goes on."""
        self._supervisor = supervisor
        self._watched = watched

    def execute(self, request: RunRequest) -> Completed:
        """Run, wait, and end what is left of it; interrupts end it. BlockedError: the supervisor died."""
        interrupts = self._supervisor.interrupts
        if interrupts and interrupts.count:
            return not_run(request, Ending.INTERRUPTED)
        try:
            return self._execute(request)
        except BaseException:
            self._supervisor.close()  # whatever it was, a Ctrl-C or an error in `on_report`: nothing runs on
            raise

    def _execute(self, request: RunRequest) -> Completed:
        limits = request.limits
        self._supervisor.grace_seconds = limits.grace_seconds
        with Tail(request.report, request.on_report) as tail:
            self._supervisor.send("run", **_run_message(request, self._watched))
            event = self._wait_for_end(tail, limits.timeout_seconds + limits.grace_seconds + KILL_SECONDS)
            tail.read_rest()
        return _completed(request, event, self._watched)

    def _wait_for_end(self, tail: "Tail", seconds: float) -> Message:
        """Read the report while the run goes on, pass interrupts on, and return its end."""
        deadline = time.monotonic() + seconds + SLACK_SECONDS
        told = 0
        while time.monotonic() < deadline:
            event = self._supervisor.next_event(TAIL_SECONDS if tail.is_needed else SLACK_SECONDS)
            if event is not None and event["is"] == "ended":
                return self._checked(event)
            if event is not None and event["is"] == "leftovers":
                tail.end_at(event["report_bytes"])
            told = self._pass_on(told)
            tail.read_some()
        raise BlockedError(
            f"the supervisor that starts the runs (pid {self._supervisor.pid}) is silent", hint="run the command again"
        )

    def _pass_on(self, told: int) -> int:
        """Ask the supervisor to end the run for every new interrupt, the second time without grace."""
        interrupts = self._supervisor.interrupts
        if interrupts is None or interrupts.count == told:
            return told
        self._supervisor.send("end", hard=interrupts.count >= HURRY)
        return interrupts.count

    def _checked(self, event: Message) -> Message:
        """Refuse to go on after a run whose processes could not be ended, or that ended with the supervisor."""
        if event.get("undead"):
            pid, command = event["undead"][0]
            raise BlockedError(
                f"pid {pid} ({command}) does not end, not even by SIGKILL: it hangs in the kernel",
                hint="see its state with `cat /proc/PID/wchan`; a driver that hangs needs a restart of the machine",
            )
        if event["reason"] == "gone":
            raise BlockedError(
                "the supervisor that starts the runs was told to end by a signal; the run was ended with it",
                hint="run the command again",
            )
        return event


class SupervisedLock:
    """The lock files, held by the supervisor and everything it runs (port `DeviceLock`)."""

    def __init__(self, supervisor: Supervisor, settings: LockSettings, *, progress: Progress, clock: Clock) -> None:
        """Take the supervisor, started, the files with the bound of the wait, and who is told of it."""
        self._supervisor = supervisor
        self._paths = tuple(sorted({Path(os.path.abspath(path)) for path in settings.paths}))
        self._limit_seconds = settings.wait_seconds
        self._progress = progress
        self._clock = clock
        self._waited_seconds = 0.0
        self._held_since: float | None = None
        self._held_seconds = 0.0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold all lock files; raise LockTimeoutError when they are not free within the wait."""
        if not self._paths:
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._release()

    def report(self) -> LockReport | None:
        """Say how long the lock was waited for and held so far; None without a lock."""
        if not self._paths:
            return None
        held = 0.0 if self._held_since is None else self._clock.monotonic() - self._held_since
        return LockReport(
            paths=self._paths, waited_seconds=self._waited_seconds, held_seconds=self._held_seconds + held
        )

    def _take(self) -> None:
        began = self._clock.monotonic()
        paths = [_text(path) for path in self._paths]
        self._supervisor.send("lock", paths=paths, seconds=self._limit_seconds)
        try:
            self._wait_for_lock(began)
        finally:
            self._waited_seconds = self._clock.monotonic() - began
        self._held_since = self._clock.monotonic()
        self._progress.told(LockHeld(paths=self._paths, waited_seconds=self._waited_seconds))

    def _wait_for_lock(self, began: float) -> None:
        path, holder = self._paths[0], None
        while True:
            event = self._supervisor.next_event(LOCK_NEWS_SECONDS)
            if event is not None and event["is"] == "locked":
                return
            if event is not None:
                path = _path(event["path"])
                self._refuse(event, path, holder)
            self._stop_if_interrupted()
            holder = holder_words(path) or holder
            seconds = self._clock.monotonic() - began
            self._progress.told(LockWait(path=path, seconds=seconds, limit_seconds=self._limit_seconds, holder=holder))

    def _refuse(self, event: Message, path: Path, holder: str | None) -> None:
        """Raise what the event says, unless it only says that the wait begins."""
        if event["is"] == "busy":
            who = holder_words(path) or holder
            raise LockTimeoutError(
                f"{path} is still held after {self._limit_seconds:g} s" + (f" by {who}" if who else ""),
                hint="run the command again when that has ended, or wait longer with --lock-wait",
            )
        if event["is"] == "lock-failed":
            raise BlockedError(
                f"the lock file {path} cannot be locked: {event['text']}", hint="name another one with --lock PATH"
            )
        if event["is"] == "cancelled":
            raise BlockedError("the supervisor was ended while it waited for the lock", hint="run the command again")

    def _stop_if_interrupted(self) -> None:
        if self._supervisor.interrupts and self._supervisor.interrupts.count:
            self._supervisor.close()
            raise InterruptedRunError("interrupted while waiting for the lock; nothing ran")

    def _release(self) -> None:
        if self._held_since is not None:
            self._held_seconds += self._clock.monotonic() - self._held_since
            self._held_since = None
        if self._supervisor.pid is None:
            return  # it died, and the lock with it
        self._supervisor.send("unlock")
        deadline = time.monotonic() + SLACK_SECONDS
        while time.monotonic() < deadline:  # an interrupt may wake it, and changes nothing here
            event = self._supervisor.next_event(1.0)
            if event is not None and event["is"] == "unlocked":
                return


class Tail:
    """A report that is read while somebody writes it."""

    def __init__(self, path: Path | None, sink: Callable[[bytes], None]) -> None:
        self.is_needed = path is not None
        self._path = path
        self._sink = sink
        self._descriptor: int | None = None
        self._left_bytes = sys.maxsize

    def __enter__(self) -> Self:
        return self

    def end_at(self, size_bytes: int) -> None:
        """Take the report as it is now: what somebody appends later does not belong to it."""
        position = 0 if self._descriptor is None else os.lseek(self._descriptor, 0, os.SEEK_CUR)
        self._left_bytes = max(0, size_bytes - position)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def read_some(self) -> bool:
        """Hand on what is new, up to a bound; return whether there may be more."""
        if self._descriptor is None and self._path is not None:
            self._descriptor = open_regular(self._path)  # None: it is not there yet
        if self._descriptor is None:
            return False
        for _ in range(PIECES_A_LOOK):
            piece = os.read(self._descriptor, min(PIECE_BYTES, self._left_bytes))
            if not piece:
                return False
            self._left_bytes -= len(piece)
            self._sink(piece)
        return True

    def read_rest(self) -> None:
        """Hand on everything that is left."""
        while self.read_some():
            pass


def _run_message(request: RunRequest, watched: Watched) -> Message:
    """Put a request in the supervisor's words; the environment is ours with the request's changes."""
    environment = request.environment.apply(dict(os.environ))
    return {
        "argv": [_text(word) for word in request.argv],
        "env": [(_text(name), _text(value)) for name, value in environment.items()],
        "cwd": _text(request.directory),
        "report": None if request.report is None else _text(request.report),
        "stdout": _text(request.folder / "stdout"),
        "stderr": _text(request.folder / "stderr"),
        "timeout": request.limits.timeout_seconds,
        "grace": request.limits.grace_seconds,
        "cap": request.limits.stream_bytes,
        "watch": {
            "folders": [_text(folder) for folder in watched.folders],
            "bytes": watched.least_bytes,
            "inodes": watched.inodes_floor,
            "memory": watched.memory_floor,
        },
    }


def _completed(request: RunRequest, event: Message, watched: Watched) -> Completed:
    """Read the end of a run."""
    reason = event["reason"]
    if reason == "not-started":
        return not_run(request, Ending.NOT_STARTED, stopped_by=_exec_problem(request, event))
    status: int | None = event["status"]
    short = _shortage(event["shortage"], watched)
    stdout, stderr = (
        Stream(path=request.folder / name, size_bytes=size, dropped_from=start, dropped_bytes=length)
        for name, (size, start, length) in zip(("stdout", "stderr"), event["streams"], strict=True)
    )
    return Completed(
        ending=_ending(reason, status),
        exit_code=status if status is not None and status >= 0 else None,
        signal=-status if status is not None and status < 0 else None,
        stopped_by=short,
        shortage=short,
        seconds=event["seconds"],
        cpu_seconds=event["cpu_seconds"],
        peak_rss_bytes=event["peak_rss_bytes"],
        stdout=stdout,
        stderr=stderr,
        leftovers=tuple(Leftover(pid=pid, command=command) for pid, command in event["leftovers"]),
    )


def _ending(reason: str | None, status: int | None) -> Ending:
    by_us = {"timeout": Ending.TIMED_OUT, "asked": Ending.INTERRUPTED, "shortage": Ending.STOPPED}
    if reason in by_us:
        return by_us[reason]
    return Ending.SIGNALLED if status is not None and status < 0 else Ending.EXITED


def _shortage(facts: Message | None, watched: Watched) -> str | None:
    if facts is None:
        return None
    folder = None if facts["folder"] is None else _path(facts["folder"])
    return shortage_words(watched, kind=facts["kind"], folder=folder, free=facts["free"])


def _exec_problem(request: RunRequest, event: Message) -> str:
    """Say why the system did not start it. A missing `#!` interpreter reads like a missing file: tell them apart."""
    program = request.argv[0]
    path = os.fsdecode(event["path"].encode("latin-1")) or program
    if path != program:  # the working directory, or a file for the output
        return f"cannot start {program}: {path}: {event['text']}"
    if event["errno"] == errno.ENOENT and (request.directory / program).is_file():
        return f"cannot execute {program}: the interpreter that it names is not there"
    return f"cannot execute {program}: {event['text']}"


def _text(name: str | Path) -> str:
    """Carry the exact bytes of a name as Latin-1 text."""
    return os.fsencode(name).decode("latin-1")


def _path(text: str) -> Path:
    return Path(os.fsdecode(text.encode("latin-1")))
