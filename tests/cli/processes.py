"""`pooldiag` beside the test: started, watched while it runs, ended; and the same on a terminal."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyte

from tests.cli.command import FLOORS, LIMIT_SECONDS, Said, environment
from tests.execute.helpers import is_alive, wait_until

PROGRAM = (sys.executable, "-m", "pooldiag")
ROWS = 24
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooldiag:
    """A `pooldiag` that runs, in a folder of its own."""

    process: subprocess.Popen[bytes]
    folder: Path
    output: Path  # two files that the test reads, `out` and `err`

    @property
    def said(self) -> Said:
        """Wait for its end, within bounds; return what it said."""
        code = self.process.wait(LIMIT_SECONDS)
        return Said(
            code=code, out=(self.output / "out").read_text(), err=(self.output / "err").read_text(errors="replace")
        )

    @property
    def pids(self) -> dict[str, int]:
        """The processes of the target that told their pid on stderr: `hangs#4711`."""
        return announced(self.folder)

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to this one process."""
        self.process.send_signal(number)


Starter = Callable[..., Pooldiag]


def announced(folder: Path) -> dict[str, int]:
    """Read what the targets in this folder told on stderr, run by run: `hangs#4711`."""
    texts = (path.read_text(errors="replace") for path in sorted(folder.glob(".pooldiag/*/*/stderr")))
    return {name: int(pid) for text in texts for name, pid in re.findall(r"(?m)^(\w+)#(\d+)$", text)}


@contextmanager
def started(
    *words: str | Path, cwd: Path, command: str = "attribute", before: Sequence[str] = (), **changes: str
) -> Iterator[Pooldiag]:
    """Start `pooldiag attribute`, or another command, in a session of its own, its output in files."""
    output = cwd / f"output-{len(list(cwd.glob('output-*')))}"
    output.mkdir()
    with (output / "out").open("wb") as out, (output / "err").open("wb") as err:
        process = subprocess.Popen(
            [*before, *PROGRAM, command, *FLOORS, *map(str, words)],
            cwd=cwd,
            env=environment(changes),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    yield from _until_done(Pooldiag(process=process, folder=cwd, output=output))


def _until_done(begun: Pooldiag) -> Iterator[Pooldiag]:
    try:
        yield begun
    finally:
        begun.process.kill()
        begun.process.wait()
        wait_until(lambda: not any(map(is_alive, begun.pids.values())), "what it started is gone")


@dataclass(slots=True, kw_only=True)
class Terminal:
    """A terminal with `pooldiag` in its foreground, and what a user sees on it."""

    pooldiag: Pooldiag
    columns: int
    master: int
    written: bytearray = field(default_factory=bytearray)  # all that came to the terminal

    def type(self, keys: bytes) -> None:
        """Press keys; a terminal turns Ctrl-C into SIGINT for its foreground group."""
        os.write(self.master, keys)

    def lines(self) -> list[str]:
        """Return the lines on the screen that are not empty."""
        screen = pyte.Screen(self.columns, ROWS)
        pyte.ByteStream(screen).feed(bytes(self.written))
        return [line.rstrip() for line in screen.display if line.strip()]

    def sees(self, *texts: str) -> bool:
        """Tell whether all texts are on the screen."""
        seen = "\n".join(self.lines())
        return all(text in seen for text in texts)

    def keep_reading(self) -> None:
        """Take what comes, until nobody has the terminal open any more."""
        with suppress(OSError):  # EIO: the last one closed it
            while piece := os.read(self.master, 2**16):
                self.written += piece


@contextmanager
def on_terminal(
    *words: str | Path, cwd: Path, columns: int = 80, stdout: bool = False, changes: Mapping[str, str] = NOTHING
) -> Iterator[Terminal]:
    """Start `pooldiag attribute` as a shell in a terminal would; its stdout is a file unless that is wanted there."""
    output = cwd / "output"
    output.mkdir()
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", ROWS, columns, 0, 0))
    with (output / "out").open("wb") as out, (output / "err").open("wb"):
        process = subprocess.Popen(
            ["setsid", "--ctty", *PROGRAM, "attribute", *FLOORS, *map(str, words)],
            cwd=cwd,
            env=environment({"TERM": "xterm-256color", **changes}),
            stdin=slave,
            stdout=slave if stdout else out,
            stderr=slave,
        )
    os.close(slave)
    terminal = Terminal(pooldiag=Pooldiag(process=process, folder=cwd, output=output), columns=columns, master=master)
    reader = threading.Thread(target=terminal.keep_reading)
    reader.start()
    try:
        for pooldiag in _until_done(terminal.pooldiag):
            assert pooldiag.process.pid
            yield terminal
    finally:
        reader.join()
        os.close(master)
