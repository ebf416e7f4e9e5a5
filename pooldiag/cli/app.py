"""The program: its table of commands, and the words that were typed on their way to one of them."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pooldiag import __version__
from pooldiag.cli.problems import exit_code_of, require_directory
from pooldiag.cli.streams import say
from pooldiag.errors import ExitCode, UsageError
from pooldiag.model.words import nearest

if TYPE_CHECKING:
    from pooldiag.cli.parser import Subcommand

COMMANDS = ("attribute", "bisect", "orders", "census", "profiles")
"""Each is `COMMAND` in the file of its name beside this one; help has them in this order."""

HELP = ("--help", "-h")
VERSION = "--version"


def exit_code_of_words() -> int:
    """Run the command that was typed, and return its exit code."""
    return int(exit_code_of(lambda: _run(sys.argv[1:])))


def command_named(name: str) -> "Subcommand[Any]":
    """Import a command: nobody waits for the options of another one."""
    if name not in COMMANDS:
        hint = f"nearest: {nearest(name, COMMANDS)}; `pooldiag --help` tells them all"
        raise UsageError(f"{name!r} is no command", hint=hint)
    command: Subcommand[Any] = import_module(f"pooldiag.cli.{name}").COMMAND
    return command


def _run(words: Sequence[str]) -> ExitCode:
    match words:
        case []:
            return _help(None, ExitCode.USAGE)
        case [first, *_] if first in HELP:
            return _help(None, ExitCode.GREEN)
        case [first, *_] if first == VERSION:
            say(f"pooldiag {__version__}\n")
            return ExitCode.GREEN
        case [first, *_] if first.startswith("-") and first != "-":
            raise UsageError(f"no such option: {first.partition('=')[0]}", hint="see pooldiag --help")
        case [name, *rest]:
            return _run_command(command_named(name), rest)
    raise TypeError(words)


def _run_command(command: "Subcommand[Any]", words: Sequence[str]) -> ExitCode:
    from pooldiag.cli.parser import HelpAskedError  # noqa: PLC0415 - `--version` needs no options

    if command.runs_target and not words:
        return _help(command, ExitCode.USAGE)
    try:
        flags = command.read(words)
    except HelpAskedError:
        return _help(command, ExitCode.GREEN)
    require_directory()
    return command.work(flags)


def _help(command: "Subcommand[Any] | None", code: ExitCode) -> ExitCode:
    from pooldiag.cli.help import show_command, show_program  # noqa: PLC0415 - for those who ask

    if command is None:
        show_program(map(command_named, COMMANDS))
    else:
        show_command(command)
    return code
