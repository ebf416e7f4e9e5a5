"""`pooldiag` in processes that are forked from one that has imported it: imports are most of what a command costs.

Each is a process of its own, with its own folder, environment and output. What Python or the C library read from the
environment as a process begins is that of the server: `begins_like_others` says when a test needs another one.
"""

import atexit
import gc
import json
import os
import pkgutil
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import pooldiag

READ_AS_A_PROCESS_BEGINS = re.compile("PYTHON.*|LANG|LC_.*|LD_.*|GLIBC_TUNABLES|MALLOC_.*|TZ")
MESSAGE_BYTES = 2**20  # words and environment of one command
MAIN = Path(pooldiag.__file__).parent / "__main__.py"
USUAL = ("attribute", "--dry-run", "--no-lock", "--quiet", sys.executable)  # imports and compiles what others need, too


def begins_like_others(environment: Mapping[str, str]) -> bool:
    """Tell whether a process with this environment may be forked."""
    return _early(environment) == _early(_ENVIRONMENT)


def _early(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if READ_AS_A_PROCESS_BEGINS.fullmatch(name)}


_ENVIRONMENT = dict(os.environ)
_ONE_AT_A_TIME = Lock()  # a test may ask from several threads


def run(
    words: tuple[str, ...], *, cwd: Path, environment: Mapping[str, str], limit_seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run `pooldiag` with these words, its output in files; as `subprocess.run` does it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _ONE_AT_A_TIME:
        message = json.dumps({"words": words, "cwd": str(cwd), "environment": dict(environment)})
        code = server().code(message.encode(), (out.fileno(), err.fileno()), limit_seconds)
        texts = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
    return subprocess.CompletedProcess(words, code, *texts)


# --- this side -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The process that has imported all, and the line to it. It ends when the line does."""

    process: subprocess.Popen[bytes]
    line: socket.socket

    def code(self, message: bytes, output: tuple[int, int], limit_seconds: float) -> int:
        """Have one process forked, and return its exit code; kill it at the limit."""
        assert len(message) < MESSAGE_BYTES
        socket.send_fds(self.line, [message], output)
        pid = int(self.line.recv(100))
        if not select.select([self.line], [], [], limit_seconds)[0]:
            os.kill(pid, signal.SIGKILL)
            self.line.recv(100)
            raise subprocess.TimeoutExpired(str(pid), limit_seconds)
        return int(self.line.recv(100))

    def end(self) -> None:
        """Let go of it."""
        self.line.close()
        self.process.wait()


@cache
def server() -> Server:
    """Start the server, once for all tests of this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=_ENVIRONMENT,
        )
    started = Server(process=process, line=ours)
    atexit.register(started.end)
    return started


# --- the server ------------------------------------------------------------------------------------------------------


def serve(line: socket.socket) -> dict[str, Any] | None:
    """Fork for every message. Return in each child, with what it is to do; in the server itself None, at the end."""
    while True:
        message, files, _, _ = socket.recv_fds(line, MESSAGE_BYTES, 2)
        if not message:
            return None
        if not (pid := os.fork()):
            for number, file in enumerate(files, start=1):
                os.dup2(file, number)
        for file in files:
            os.close(file)
        if not pid:
            line.close()
            asked: dict[str, Any] = json.loads(message)
            return asked
        line.send(b"%d" % pid)
        line.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def main() -> None:
    """Import all, serve, and be `pooldiag` in each child."""
    line = socket.socket(fileno=int(sys.argv[1]))
    for module in pkgutil.walk_packages(pooldiag.__path__, "pooldiag."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    import_module("rich.table")
    sys.argv = [str(MAIN), *USUAL]
    import_module("pooldiag.cli.app").exit_code_of_words()
    gc.freeze()  # a collection in a child would copy all of it
    asked = serve(line)
    if asked is not None:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv = [str(MAIN), *asked["words"]]
        sys.modules["__main__"].__package__ = pooldiag.__name__  # the help says how the program was started
        import_module("pooldiag.cli").main()


if __name__ == "__main__":
    main()
