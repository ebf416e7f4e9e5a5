"""The page that stdout is."""

import sys
from pathlib import Path

from pooldiag.render import Page


def page_of_stdout() -> Page:
    """Say how wide stdout is, and what may be written to it."""
    from rich.console import Console  # noqa: PLC0415 - a machine that reads JSON does not wait for it

    console = Console()
    return Page(
        width=console.width,
        color=console.is_terminal and not console.no_color and not console.is_dumb_terminal,
        unicode=(sys.stdout.encoding or "").lower().startswith("utf"),
        directory=Path.cwd(),
    )
