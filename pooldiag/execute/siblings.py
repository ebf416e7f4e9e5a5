"""The supervisors of this process: several may be alive at a time, and none may end what belongs to another."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Container

from pooldiag.execute.supervisor import become_subreaper, descendants, send

ProcessIdentity = tuple[int, int]
"""A pid, and when that process was started."""


class Siblings:
    """Who is alive; safe to be used from several threads.

    While there is one, this process is the subreaper of its descendants, so that what a supervisor leaves
    behind that was killed itself can be found and ended.
    """

    def __init__(self) -> None:
        self._changing = threading.RLock()
        self._pids: set[int] = set()
        self._users = 0
        self._was_subreaper = False

    def enter(self) -> frozenset[ProcessIdentity]:
        """Count one more user, and return the processes below this one that are none of that user's."""
        with self._changing:
            if self._users == 0:
                self._was_subreaper = become_subreaper()
            self._users += 1
        # psutil has no answer at all where one process of another user is closed to us (`hidepid=1`).
        return frozenset((process.pid, process.started) for process in descendants(os.getpid()))

    def leave(self) -> None:
        """Count one user less."""
        with self._changing:
            self._users -= 1
            if self._users == 0:
                become_subreaper(wanted=self._was_subreaper)

    def start(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Start a supervisor: nobody looks for orphans until it is known to be none."""
        with self._changing:
            process = start()
            self._pids.add(process.pid)
            return process

    def ended(self, pid: int) -> None:
        """Take notice that a supervisor has ended and was waited for: what was below it is orphaned."""
        with self._changing:
            self._pids.discard(pid)

    def kill_orphans(self, strangers: Container[ProcessIdentity]) -> bool:
        """Kill what the kernel handed to us from dead supervisors; return whether there was anything.

        These are descendants in other sessions than ours, below no living supervisor: processes of runs.
        """
        session = os.getsid(0)
        with self._changing:
            orphans = [
                process
                for process in descendants(os.getpid(), without=self._pids)
                if process.session != session and (process.pid, process.started) not in strangers
            ]
            for process in orphans:
                send(process.pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
        return bool(orphans)


SIBLINGS = Siblings()
