"""The Typer application: every command by name, each in a file of its own."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from pooldiag import __version__
from pooldiag.cli.late import check_late
from pooldiag.cli.problems import tell
from pooldiag.errors import UsageError

_RUN_TARGETS = ("attribute", "bisect", "orders")
_COMMANDS = (*_RUN_TARGETS, "census", "profiles")


def _imported(name: str) -> Callable[..., None]:
    """Import a command: its options alone take milliseconds, so nobody waits for those of another command."""
    match name:
        case "attribute":
            from pooldiag.cli.attribute import attribute as command  # noqa: PLC0415
        case "bisect":
            from pooldiag.cli.bisect import bisect as command  # noqa: PLC0415
        case "orders":
            from pooldiag.cli.orders import orders as command  # noqa: PLC0415
        case "census":
            from pooldiag.cli.census import census as command  # noqa: PLC0415
        case "profiles":
            from pooldiag.cli.profiles import profiles as command  # noqa: PLC0415
        case _:
            nearest = get_close_matches(name, _COMMANDS, n=1, cutoff=0)[0]
            raise UsageError(f"{name!r} is no command", hint=f"nearest: {nearest}; `pooldiag --help` tells them all")
    return command


class _Commands(TyperGroup):
    """The commands, made one at a time."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 - the same in any context
        """Return their names, in the order of the help."""
        return [*_COMMANDS]

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand:  # noqa: ARG002 - the same
        """Return one; UsageError for a name of none."""
        alone = typer.Typer(add_completion=False)
        runs_target = cmd_name in _RUN_TARGETS
        # What follows TARGET is the target's own. Typer imports Pydantic to read a --help that was not given.
        settings = {"allow_interspersed_args": not runs_target, "default_map": {"help": False}}
        alone.command(name=cmd_name, context_settings=settings, no_args_is_help=runs_target)(_imported(cmd_name))
        command = get_command(alone)
        if not isinstance(command, TyperCommand):
            raise TypeError(command)
        return check_late(command)


app = typer.Typer(
    name="pooldiag",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "default_map": {"help": False},  # as said above
    },
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it with the option's value
    if wanted:
        typer.echo(f"pooldiag {__version__}")
        raise typer.Exit


@app.callback()
def pooldiag(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find out why a test binary is red: memory pool, stale scratch, race, state between cases, or a plain bug."""


def exit_code_of_words() -> int:
    """Run the command that was typed, and return its exit code; what Typer cannot read gets one line, as all else."""
    try:
        return int(app(standalone_mode=False))
    except UsageError as error:
        tell(error)
        return error.exit_code
    except typer.TyperException as error:
        if error.format_message().strip():  # without: nothing was typed, and the help is shown
            command = getattr(getattr(error, "ctx", None), "command_path", "pooldiag")
            tell(UsageError(_said(error), hint=f"see {command} --help"))
        return error.exit_code


def _said(error: typer.TyperException) -> str:
    """Return Typer's message as one of ours: no sentence, on one line."""
    message = " ".join(error.format_message().split()).rstrip(".")
    return message[:1].lower() + message[1:]
