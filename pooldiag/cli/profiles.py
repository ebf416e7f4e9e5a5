"""`pooldiag profiles`: which allocators are known, and all that is known of one."""

from typing import Annotated

import typer

from pooldiag.cli.problems import exit_code_of
from pooldiag.errors import ExitCode


def profiles(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One profile, whole; without it all of them.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the allocators that pooldiag has switches for, or show one: its arms, what they set, and who says so."""
    raise typer.Exit(int(exit_code_of(lambda: _profiles(name, as_json=json))))


def _profiles(name: str | None, *, as_json: bool) -> ExitCode:
    """Do it; what `--help` does not need is imported only here."""
    from pooldiag.cli.profile_sheets import show  # noqa: PLC0415

    show(name, as_json=as_json)
    return ExitCode.GREEN
