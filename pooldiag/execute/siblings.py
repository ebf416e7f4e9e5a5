"""The supervisors of this process: several may be alive at a time, and none may end what belongs to another."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Container

import psutil

from pooldiag.execute.supervisor import become_subreaper


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

    def enter(self) -> frozenset[psutil.Process]:
        """Count one more user, and return the processes below this one that are none of that user's."""
        with self._changing:
            if self._users == 0:
                self._was_subreaper = become_subreaper()
            self._users += 1
        return frozenset(psutil.Process().children(recursive=True))

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

    def kill_orphans(self, strangers: Container[psutil.Process]) -> bool:
        """Kill what the kernel handed to us from dead supervisors; return whether there was anything."""
        with self._changing:
            orphans = self._orphans(strangers)
            for process in orphans:
                with contextlib.suppress(psutil.Error):
                    process.kill()
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
        return bool(orphans)

    def _orphans(self, strangers: Container[psutil.Process]) -> list[psutil.Process]:
        """Find descendants in other sessions than ours, below no living supervisor: processes of runs."""
        children = [child for child in psutil.Process().children() if child.pid not in self._pids]
        below = [process for child in children for process in (child, *_descendants(child))]
        return [process for process in below if process not in strangers and _is_of_another_session(process)]


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def _is_of_another_session(process: psutil.Process) -> bool:
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(process.pid) != os.getsid(0)
    return False


SIBLINGS = Siblings()
