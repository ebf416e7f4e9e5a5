"""The Typer application: every command by name, each in a file of its own."""

from typing import Annotated

import typer

from pooldiag import __version__
from pooldiag.cli.attribute import attribute
from pooldiag.cli.profiles import profiles

app = typer.Typer(
    name="pooldiag",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "default_map": {"help": False},  # else Typer imports Pydantic to read the --help that was not given
    },
)
app.command(
    name="attribute",
    context_settings={"allow_interspersed_args": False},
    no_args_is_help=True,
)(attribute)
app.command(name="profiles")(profiles)


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
