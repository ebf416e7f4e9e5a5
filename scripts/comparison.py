"""What the comparisons with other tools share: undisturbed processes with a limit, and a table of their figures."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

LIMIT_SECONDS = 900.0
INSTALL_LIMIT_SECONDS = 600.0


def undisturbed(variables: Mapping[str, str]) -> dict[str, str]:
    """Return these variables without what would change a tool, or belongs to a git or a pytest around us."""
    switches = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "POOLDIAG_LOCK"}
    kept = {name: value for name, value in variables.items() if not name.startswith(("GIT_", "PYTEST_"))}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return {name: value for name, value in kept.items() if name not in switches} | settings


def run(argv: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command, ended with all its children at the limit; return its standard output, whatever it ends with."""
    with (folder / "stdout").open("w+", encoding="utf-8") as stdout, (folder / "stderr").open("w") as stderr:
        child = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            child.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            pass  # its log and what it said so far are judged
        finally:
            end(child)
        stdout.seek(0)
        return stdout.read()


def end(child: subprocess.Popen[bytes]) -> None:
    """End a command that still runs, and its children."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def failure(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str | None:
    """Run a command that prepares something; return the last line that it said when it fails."""
    done = subprocess.run(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=INSTALL_LIMIT_SECONDS,
        check=False,
    )
    return None if done.returncode == 0 else (done.stdout.strip().splitlines() or [f"exit {done.returncode}"])[-1]


def table(head: Sequence[str], cells: Iterable[Sequence[str]], *, words: Collection[str]) -> Iterator[str]:
    """Yield the lines of a Markdown table; columns of words are set left, all others are figures."""
    marks = [":--" if name in words else "--:" for name in head]
    for row in (head, marks, *cells):
        yield f"| {' | '.join(row)} |"
