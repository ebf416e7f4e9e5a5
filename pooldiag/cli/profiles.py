"""`pooldiag profiles`: which allocators are known, and all that is known of one."""

from typing import Annotated

import typer

from pooldiag.cli.streams import complain
from pooldiag.errors import ExitCode, PooldiagError


def profiles(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One profile, whole; without it all of them.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the allocators that pooldiag has switches for, or show one: its arms, what they set, and who says so."""
    raise typer.Exit(int(_exit_code(name, as_json=json)))


def _exit_code(name: str | None, *, as_json: bool) -> ExitCode:
    """Do it; what `--help` does not need is imported only here."""
    try:
        from pooldiag.cli.profile_sheets import show  # noqa: PLC0415

        show(name, as_json=as_json)
    except PooldiagError as error:
        from pooldiag.cli.problems import tell  # noqa: PLC0415

        tell(error)
        return error.exit_code
    except KeyboardInterrupt:
        complain("pooldiag: interrupted\n")
        return ExitCode.INTERRUPTED
    return ExitCode.GREEN
