"""The program: its table of commands, each in a file of its own, as a Typer application."""

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pooldiag import __version__
from pooldiag.cli.problems import in_one_line, tell
from pooldiag.cli.streams import say
from pooldiag.errors import PooldiagError, UsageError
from pooldiag.model.words import nearest

if TYPE_CHECKING:
    from pooldiag.cli.parser import Subcommand

COMMANDS = ("attribute", "bisect", "orders", "census", "profiles")
"""Each is `COMMAND` in the file of its name beside this one; help has them in this order."""


def command_named(name: str) -> "Subcommand[Any]":
    """Import a command: nobody waits for the options of another one."""
    if name not in COMMANDS:
        hint = f"nearest: {nearest(name, COMMANDS)}; `pooldiag --help` tells them all"
        raise UsageError(f"{name!r} is no command", hint=hint)
    command: Subcommand[Any] = import_module(f"pooldiag.cli.{name}").COMMAND
    return command


class _Commands(TyperGroup):
    """The commands, made one at a time."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 - the same in any context
        """Return their names, in the order of the help."""
        return [*COMMANDS]

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand:  # noqa: ARG002 - the same
        """Return one; UsageError for a name of none."""
        return command_named(cmd_name).made()


app = typer.Typer(
    name="pooldiag",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Typer imports Pydantic to read a --help that was not given.
    context_settings={"help_option_names": ["-h", "--help"], "default_map": {"help": False}},
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it with the option's value
    if wanted:
        say(f"pooldiag {__version__}\n")
        raise typer.Exit


@app.callback()
def pooldiag(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find out why a test binary is red: memory pool, stale scratch, race, state between cases, or a plain bug."""


def exit_code_of_words() -> int:
    """Run the command that was typed, print what the user can act on, and return the exit code of it."""
    try:
        return int(app(standalone_mode=False))
    except PooldiagError as error:
        tell(error)
        return error.exit_code
    except typer.TyperException as error:
        if error.format_message().strip():  # without: nothing was typed, and the help is shown
            tell(in_one_line(error, getattr(getattr(error, "ctx", None), "command_path", "pooldiag")))
        return error.exit_code
