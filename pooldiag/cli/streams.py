"""The standard streams, and in which format reports go there.

They are there when the caller closed them, and not a reason to fail when nobody reads them.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.errors import BlockedError, UsageError

if TYPE_CHECKING:
    from pooldiag.render import Page
    from pooldiag.render.facts import Report


TABLE = "table"
JSON = "json"


def open_standard_streams() -> None:
    """Open what the caller closed (`2>&-`): else a file of ours would get its number, and what others print there."""
    opened = os.open(os.devnull, os.O_RDWR)
    while opened <= 2:  # noqa: PLR2004 - the system hands out the lowest number that is free
        os.set_inheritable(opened, True)  # noqa: FBT003 - its own signature
        opened = os.dup(opened)
    os.close(opened)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the same


def settle_standard_streams() -> None:
    """Flush at the end what can be flushed: Python would replace the exit code by 120 for what cannot."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _give_up(stream.fileno())


def complain(text: str) -> None:
    """Write to stderr. When that cannot be done there is nobody who reads it, and the exit code has to say it all."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr.fileno())


def say(text: str, *, hint: str | None = None) -> None:
    """Write to stdout; a reader that has gone (`| head`) is not an error. BlockedError when the text finds no room."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up(sys.stdout.fileno())
    except OSError as error:
        _give_up(sys.stdout.fileno())
        raise BlockedError(f"cannot write to stdout: {error.strerror}", hint=hint) from error


def form_of(said_format: str | None, *, json: bool) -> str:
    """Return the name of the format that a report is printed in."""
    from pooldiag.render import FORMAT_NAMES  # noqa: PLC0415 - most take the first

    if said_format is not None and said_format not in FORMAT_NAMES:
        raise UsageError(f"--format {said_format!r} is not known", hint=f"known: {', '.join(FORMAT_NAMES)}")
    if json and said_format not in {None, JSON}:
        raise UsageError(f"--json and --format {said_format} contradict each other", hint="give one of them")
    return JSON if json else said_format or TABLE


def say_report(report: "Report", form: str, *, hint: str | None = None) -> None:
    """Write a report to stdout, in a format."""
    from pooldiag.render import Page, render  # noqa: PLC0415 - a problem in two lines does not need it

    say(render(report, form=form, page=Page() if form == JSON else _page_of_stdout()), hint=hint)


def _page_of_stdout() -> "Page":
    """Say how wide stdout is, and what may be written to it."""
    from rich.console import Console  # noqa: PLC0415 - a machine that reads JSON does not wait for it

    from pooldiag.render import Page  # noqa: PLC0415 - the same

    console = Console()
    return Page(
        width=console.width,
        color=console.is_terminal and not console.no_color and not console.is_dumb_terminal,
        unicode=(sys.stdout.encoding or "").lower().startswith("utf"),
        directory=Path.cwd(),
    )


def _give_up(descriptor: int) -> None:
    """Lead a stream to nowhere, so that what it still holds fails no second time at the end of the program."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
