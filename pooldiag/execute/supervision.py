"""Runs and the lock, by way of the supervisor: this side of the pipe."""

import contextlib
import errno
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, Self

from pooldiag.errors import BlockedError, InterruptedRunError, LockTimeoutError, RunLostError
from pooldiag.execute import supervisor as supervisor_program
from pooldiag.execute.disk import Watched
from pooldiag.execute.guard import not_run
from pooldiag.execute.holders import holder_words
from pooldiag.execute.interrupts import Interrupts
from pooldiag.execute.local_files import Tail
from pooldiag.execute.siblings import SIBLINGS
from pooldiag.execute.supervisor import KILL_SECONDS, Message, as_name, as_text
from pooldiag.model.events import LockHeld, LockWait
from pooldiag.model.reports import LockReport
from pooldiag.model.runs import Completed, Ending, Leftover, RunRequest, Stream
from pooldiag.model.settings import LockSettings
from pooldiag.model.signals import signal_name
from pooldiag.ports import Progress

TAIL_SECONDS = 0.05
LOCK_NEWS_SECONDS = 1.0
SLACK_SECONDS = 60.0  # beyond every limit of its own: a supervisor that is silent so long hangs
HURRY = 2  # interrupts after which nothing is waited for
_ENDED_BY_US = {
    "enough": Ending.ENOUGH,
    "timeout": Ending.TIMED_OUT,
    "asked": Ending.INTERRUPTED,
    "shortage": Ending.STOPPED,
}


class SupervisorEndedError(BlockedError):
    """The supervisor ended, or was asked to end by somebody else; what ran was ended with it."""


class Supervisor:
    """The supervisor process, from `with` to its end; what it runs ends with it.

    One thread at a time may work with it, and any may leave the `with`: that ends what another one runs.
    `interrupts` wake every wait. `kept` are descriptors that stay open as long as the supervisor lives.
    """

    def __init__(self, interrupts: Interrupts | None = None, *, kept: tuple[int, ...] = ()) -> None:
        self.interrupts = Interrupts() if interrupts is None else interrupts
        self.grace_seconds = 0.0  # of the current run
        self.turn = threading.RLock()  # whoever works with it has it
        self._has_own_interrupts = interrupts is None
        self._kept = kept
        self._is_over = False
        self._events: deque[Message] = deque()
        self._unread = b""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._strangers = SIBLINGS.enter()
        self._bell = self.interrupts.bell()
        self._errors = os.memfd_create("errors")  # not a file on a disk that may be full
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._bell.ring()
        try:
            with self.turn:
                self.close()
        finally:
            os.close(self._errors)
            if self._has_own_interrupts:
                self.interrupts.close()
            SIBLINGS.leave()

    def restore(self) -> None:
        """Start another supervisor when this one has ended; the lock went with it."""
        with self.turn:
            if self._is_over:
                self._living()
            if self._process is None:
                self._start()

    def _start(self) -> None:
        """Start the process in a session of its own, where the terminal's Ctrl-C does not reach it."""
        self._events.clear()
        self._unread = b""
        os.ftruncate(self._errors, os.lseek(self._errors, 0, os.SEEK_SET))
        its_input, self._input = os.pipe()
        self._output, its_output = os.pipe()
        self._process = SIBLINGS.start(
            lambda: subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor_program.__file__],
                stdin=its_input,
                stdout=its_output,
                stderr=self._errors,
                start_new_session=True,
                pass_fds=self._kept,
            )
        )
        os.close(its_input)
        os.close(its_output)

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
        if self._is_over:
            raise BlockedError("the run was ended: nothing waits for it any more", hint="run the command again")
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
        deadline = time.monotonic() + self.grace_seconds + KILL_SECONDS + SLACK_SECONDS
        try:
            while time.monotonic() < deadline and self.interrupts.count < HURRY:
                if self._output in self._ready(1.0) and not os.read(self._output, 2**16):
                    break  # it has closed its events, which it does by ending
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
        poll.register(self._bell.descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(max(0, seconds * 1000))]
        self._bell.drain()
        return ready

    def _bury(self, process: subprocess.Popen[bytes]) -> NoReturn:
        """End what a dead supervisor left, and raise."""
        self._process = None
        os.close(self._input)
        os.close(self._output)
        self._kill_rest(process)
        how = f"killed by {signal_name(-process.returncode)}" if process.returncode < 0 else "by itself"
        last = os.pread(self._errors, 2**16, 0).decode(errors="replace").strip().splitlines()[-1:]
        raise SupervisorEndedError(
            f"the supervisor that starts the runs ended ({': '.join([how, *last])}); the run was ended with it",
            hint="run the command again; if memory was short, the kernel's log says so",
        )

    def _kill_rest(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the supervisor, if need be, and the orphans that the kernel then hands to us."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5)  # it has closed its events: all it does is exit
        process.kill()
        process.wait()
        SIBLINGS.ended(process.pid)
        deadline = time.monotonic() + KILL_SECONDS
        while SIBLINGS.kill_orphans(self._strangers) and time.monotonic() < deadline:
            time.sleep(0.01)


class SupervisedExecutor:
    """Runs on this machine, below the supervisor (port `Executor`)."""

    def __init__(self, supervisor: Supervisor, watched: Watched) -> None:
        """Take the supervisor, started, and what it shall watch while a run goes on."""
        self._supervisor = supervisor
        self._watched = watched

    def execute(self, request: RunRequest) -> Completed:
        """Run, wait, and end what is left of it; interrupts end it. RunLostError: the supervisor died meanwhile."""
        with self._supervisor.turn:
            if self._supervisor.interrupts.count:
                return not_run(request, Ending.INTERRUPTED)
            try:
                return self._execute(request)
            except BaseException:
                self._supervisor.close()  # whatever it was, a Ctrl-C or an error in `on_report`: nothing runs on
                raise

    def restore(self) -> None:
        """Start another supervisor when this one has ended."""
        self._supervisor.restore()

    def _execute(self, request: RunRequest) -> Completed:
        limits = request.limits
        self._supervisor.grace_seconds = limits.grace_seconds
        with Tail(request.report, request.on_report, request.enough) as tail:
            self._supervisor.send("run", **_run_message(request, self._watched))
            try:
                event = self._wait_for_end(tail, limits.timeout_seconds + limits.grace_seconds + KILL_SECONDS)
            except SupervisorEndedError as end:
                tail.read_rest()  # it says which case killed it
                raise RunLostError(end.problem, hint=end.hint) from end
            if event["reason"] != "enough":
                tail.read_rest()
        return _completed(request, event, self._watched)

    def _wait_for_end(self, tail: Tail, seconds: float) -> Message:
        """Read the report while the run goes on, pass interrupts on, and return its end."""
        deadline = time.monotonic() + seconds + SLACK_SECONDS
        passed_on = 0
        while time.monotonic() < deadline:
            event = self._supervisor.next_event(TAIL_SECONDS if tail.is_wanted else SLACK_SECONDS)
            if event is not None and event["is"] == "ended":
                return self._checked(event)
            if event is not None and event["is"] == "leftovers":
                tail.end_at(event["report_bytes"])
            if (count := self._supervisor.interrupts.count) != passed_on:
                self._supervisor.send("end", hard=count >= HURRY)  # for every new interrupt, the second without grace
                passed_on = count
            if tail.is_wanted and tail.read_some():
                self._supervisor.send("enough")
        raise BlockedError(
            f"the supervisor that starts the runs (pid {self._supervisor.pid}) is silent", hint="run the command again"
        )

    def _checked(self, event: Message) -> Message:
        """Refuse to go on after a run whose processes could not be ended, or that ended with the supervisor."""
        if event.get("undead"):
            pid, command = event["undead"][0]
            raise BlockedError(
                f"pid {pid} ({command}) does not end, not even by SIGKILL: it hangs in the kernel",
                hint="see its state with `cat /proc/PID/wchan`; a driver that hangs needs a restart of the machine",
            )
        if event["reason"] == "gone":
            raise SupervisorEndedError(
                "the supervisor that starts the runs was told to end by a signal; the run was ended with it",
                hint="run the command again",
            )
        return event


class SupervisedLock:
    """The lock files, held by the supervisor and everything it runs (port `DeviceLock`)."""

    def __init__(self, supervisor: Supervisor, settings: LockSettings, *, progress: Progress) -> None:
        """Take the supervisor, started, the files with the bound of the wait, and who watches."""
        self._supervisor = supervisor
        self._paths = tuple(sorted({Path(os.path.abspath(path)) for path in settings.paths}))
        self._limit_seconds = settings.wait_seconds
        self._progress = progress
        self._waited_seconds = 0.0
        self._held_since: float | None = None
        self._held_seconds = 0.0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold all lock files; raise LockTimeoutError when they are not free within the wait."""
        if not self._paths:
            yield
            return
        with self._supervisor.turn:
            self._take()
        try:
            yield
        finally:
            with self._supervisor.turn:
                self._release()

    def retake(self) -> None:
        """Hold all lock files again, within `hold`, after the supervisor that held them has ended."""
        if self._held_since is not None:
            self._count_held()
            with self._supervisor.turn:
                self._take()

    def report(self) -> LockReport | None:
        """Say how long the lock was waited for and held so far; None without a lock."""
        if not self._paths:
            return None
        held = self._held_seconds + (0.0 if self._held_since is None else time.monotonic() - self._held_since)
        return LockReport(paths=self._paths, waited_seconds=self._waited_seconds, held_seconds=held)

    def _take(self) -> None:
        began = time.monotonic()
        self._supervisor.send("lock", paths=[*map(as_text, self._paths)], seconds=self._limit_seconds)
        try:
            self._wait_for_lock(began)
        finally:
            waited = time.monotonic() - began
            self._waited_seconds += waited
        self._held_since = time.monotonic()
        self._progress.notice(LockHeld(paths=self._paths, waited_seconds=waited))

    def _wait_for_lock(self, began: float) -> None:
        path, holder = self._paths[0], None
        while True:
            event = self._supervisor.next_event(LOCK_NEWS_SECONDS)
            if event is not None and event["is"] == "locked":
                return
            if event is not None:
                path = Path(as_name(event["path"]))
                self._refuse(event, path, holder)
            if self._supervisor.interrupts.count:
                self._supervisor.close()
                raise InterruptedRunError("interrupted while waiting for the lock; nothing ran")
            holder = holder_words(path) or holder
            wait = LockWait(
                path=path, seconds=time.monotonic() - began, limit_seconds=self._limit_seconds, holder=holder
            )
            self._progress.notice(wait)

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

    def _release(self) -> None:
        self._count_held()
        if self._supervisor.pid is None:
            return  # it died, and the lock with it
        self._supervisor.send("unlock")
        deadline = time.monotonic() + SLACK_SECONDS
        while time.monotonic() < deadline:  # an interrupt may wake it, and changes nothing here
            event = self._supervisor.next_event(1.0)
            if event is not None and event["is"] == "unlocked":
                return

    def _count_held(self) -> None:
        if self._held_since is not None:
            self._held_seconds += time.monotonic() - self._held_since
            self._held_since = None


def _run_message(request: RunRequest, watched: Watched) -> Message:
    """Put a request in the supervisor's words; the environment is ours with the request's changes."""
    environment = request.environment.apply(dict(os.environ))
    return {
        "argv": [as_text(word) for word in request.argv],
        "env": [(as_text(name), as_text(value)) for name, value in environment.items()],
        "cwd": as_text(request.directory),
        "report": None if request.report is None else as_text(request.report),
        "stdout": as_text(request.folder / "stdout"),
        "stderr": as_text(request.folder / "stderr"),
        "timeout": request.limits.timeout_seconds,
        "grace": request.limits.grace_seconds,
        "cap": request.limits.stream_bytes,
        "watch": watched.message,
    }


def _completed(request: RunRequest, event: Message, watched: Watched) -> Completed:
    reason = event["reason"]
    if reason == "not-started":
        return not_run(request, Ending.NOT_STARTED, stopped_by=_exec_problem(request, event))
    status: int | None = event["status"]
    signal = -status if status is not None and status < 0 else None
    short = watched.shortage_words(event["shortage"])
    stdout, stderr = (
        Stream(path=request.folder / name, size_bytes=size, dropped_from=start, dropped_bytes=length)
        for name, (size, start, length) in zip(("stdout", "stderr"), event["streams"], strict=True)
    )
    return Completed(
        ending=_ENDED_BY_US.get(reason) or (Ending.EXITED if signal is None else Ending.SIGNALLED),
        exit_code=None if signal else status,
        signal=signal,
        stopped_by=short,
        shortage=short,
        seconds=event["seconds"],
        cpu_seconds=event["cpu_seconds"],
        peak_rss_bytes=event["peak_rss_bytes"],
        stdout=stdout,
        stderr=stderr,
        leftovers=tuple(Leftover(pid=pid, command=command) for pid, command in event["leftovers"]),
    )


def _exec_problem(request: RunRequest, event: Message) -> str:
    """Say why the system did not start it. A missing `#!` interpreter reads like a missing file: tell them apart."""
    program = request.argv[0]
    path = as_name(event["path"]) or program
    if path != program:  # the working directory, or a file for the output
        return f"cannot start {program}: {path}: {event['text']}"
    if event["errno"] == errno.ENOENT and (request.directory / program).is_file():
        return f"cannot execute {program}: the interpreter that it names is not there"
    return f"cannot execute {program}: {event['text']}"
