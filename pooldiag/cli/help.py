"""What `--help` shows, laid out by Rich; names that registries know are read from them."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pooldiag.cli.app import HELP, VERSION
from pooldiag.cli.parser import Argument, Subcommand
from pooldiag.config.kinds import SEEDLESS, ValueKind
from pooldiag.config.options import Option

_SUMMARY = "Find out why a test binary is red: memory pool, stale scratch, race, state between cases, or a plain bug."
_HELP = Option("Show this message and exit.", flag=HELP[0], short=HELP[1])
_VERSION = Option("Print the version.", flag=VERSION)
_STYLES = ("bold cyan", "yellow")
_OPTIONS = "Options"  # the panel of those that have none

_Row = tuple[str, ...]


def show_program(commands: Iterable[Subcommand[Any]]) -> None:
    """Print the help of the program, which has these commands."""
    rows = [(one.name, _paragraphs(one.work)[0]) for one in commands]
    _show(
        "pooldiag [OPTIONS] COMMAND [ARGS]...",
        [_SUMMARY],
        {_OPTIONS: [*map(_row, (_VERSION, _HELP))], "Commands": rows},
    )


def show_command(command: Subcommand[Any]) -> None:
    """Print the help of a command."""
    panels: dict[str, list[_Row]] = {"Arguments": [*map(_argument_row, command.arguments)], _OPTIONS: []}
    for option in command.options:
        panels.setdefault(option.panel or _OPTIONS, []).append(_row(option))
    panels[_OPTIONS].append(_row(_HELP))
    usage = " ".join(("pooldiag", command.name, "[OPTIONS]", *map(_usage, command.arguments)))
    _show(usage, _paragraphs(command.work), panels)


def _show(usage: str, paragraphs: Iterable[str], panels: Mapping[str, Iterable[_Row]]) -> None:
    page = Console(highlight=False)
    page.print(Padding(Text.assemble(("Usage: ", "yellow"), (usage, "bold")), 1))
    page.print(Padding(Text("\n\n".join(paragraphs)), (0, 1, 1, 1)))
    for title, rows in panels.items():
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        for row in rows:
            table.add_row(*map(Text, row, (*_STYLES[: len(row) - 1], "")))
        page.print(Panel(table, title=title, title_align="left", border_style="dim"))
    page.print()


def _paragraphs(work: Callable[..., object]) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in (inspect.getdoc(work) or "").split("\n\n")]


def _usage(argument: Argument) -> str:
    shown = f"{{{argument.metavar}}}" if argument.required else f"[{argument.metavar}]"
    return f"{shown}..." if argument.many else shown


def _argument_row(argument: Argument) -> _Row:
    note = " [required]" if argument.required else ""
    return (argument.metavar, "<list[str]>" if argument.many else "<str>", f"{argument.help}{note}")


def _row(option: Option) -> _Row:
    flags = "  ".join(flag for flag in (option.flag, option.short, option.off) if flag)
    note = "" if option.variable is None else f" [env var: {option.variable}]"
    return (flags, option.metavar or _value(option.kind), f"{_named(option.help)}{note}")


def _value(kind: ValueKind[object] | None) -> str:
    """Say what stands in place of a value: a word for it, its names, or its type and bounds."""
    if kind is None:
        return "<bool>"
    if kind.least is not None:
        return f"<int range> [x>={kind.least}]" if kind.most is None else f"<int range> [{kind.least}<=x<={kind.most}]"
    return kind.metavar or f"<{'|'.join(kind.names)}>"


def _named(text: str) -> str:
    """Fill in what registries know; each is imported for the help that names what is in it."""
    return re.sub(r"\{([a-z]+)\}", lambda place: _names(place[1]), text)


def _names(place: str) -> str:
    match place:
        case "types":
            from pooldiag.census.layouts import LAYOUTS  # noqa: PLC0415 - as said above

            return " ".join(LAYOUTS)
        case "files":
            from pooldiag.census.files import FORMATS  # noqa: PLC0415

            return _choices(FORMATS)
        case "frameworks":
            from pooldiag.frameworks import FRAMEWORKS  # noqa: PLC0415

            return _choices(FRAMEWORKS)
        case "formats":
            from pooldiag.render import FORMAT_NAMES  # noqa: PLC0415

            return _choices(FORMAT_NAMES)
        case "orders":
            return ",".join(SEEDLESS)
    raise KeyError(place)


def _choices(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
