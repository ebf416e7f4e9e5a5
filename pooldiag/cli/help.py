"""What `--help` shows, laid out by Typer; names that registries know are read from them."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from inspect import Parameter
from types import GenericAlias
from typing import Annotated, Any

import typer

from pooldiag.cli.parser import HELP, Argument, Subcommand
from pooldiag.config.kinds import SEEDLESS
from pooldiag.config.options import Option


def show_help(commands: Iterable[Subcommand[Any]], *words: str) -> None:
    """Print the help that such words ask for."""
    # Typer would import Pydantic to read a --help that was not given.
    settings = {"help_option_names": [*HELP], "default_map": {"help": False}}
    app = typer.Typer(name="pooldiag", add_completion=False, context_settings=settings)
    app.callback()(pooldiag)
    for command in commands:
        function = _function(command if words else replace(command, arguments=(), options=()))
        app.command(name=command.name, help=inspect.getdoc(command.work))(function)
    app([*words, HELP[0]], prog_name="pooldiag", standalone_mode=False)


def pooldiag(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Find out why a test binary is red: memory pool, stale scratch, race, state between cases, or a plain bug."""


def _function(command: Subcommand[Any]) -> Callable[..., None]:
    """Return a function of which Typer reads arguments and options."""

    def shown(**_: object) -> None: ...

    parameters = [*map(_argument, command.arguments), *map(_option, command.options)]
    vars(shown)["__signature__"] = inspect.Signature(parameters)
    return shown


def _argument(argument: Argument) -> Parameter:
    default = ... if argument.required else None
    info = typer.Argument(default, metavar=argument.metavar, help=argument.help, show_default=False)
    return _parameter(argument.name, str, info, many=argument.many)


def _option(option: Option) -> Parameter:
    kind = option.kind
    flag = option.flag if option.off is None else f"{option.flag}/{option.off}"
    info = typer.Option(
        None,
        *(flag, *([] if option.short is None else [option.short])),
        help=_named(option.help),
        metavar=option.metavar or (None if kind is None else kind.metavar),
        envvar=option.variable,
        rich_help_panel=option.panel,
        min=None if kind is None else kind.least,
        max=None if kind is None else kind.most,
    )
    return _parameter(option.name, bool if kind is None else kind.python, info, many=option.many)


def _parameter(name: str, kind: type, info: object, *, many: bool) -> Parameter:
    annotation = GenericAlias(list, (kind,)) if many else kind
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=info)


def _named(text: str) -> str:
    """Fill in what registries know; each is imported for the help that names what is in it."""
    for place, names in _NAMES.items():
        if place in text:
            text = text.replace(place, names())
    return text


def _types() -> str:
    from pooldiag.census.layouts import LAYOUTS  # noqa: PLC0415 - as said above

    return " ".join(LAYOUTS)


def _files() -> str:
    from pooldiag.census.files import FORMATS  # noqa: PLC0415

    return _choices(FORMATS)


def _frameworks() -> str:
    from pooldiag.frameworks import FRAMEWORKS  # noqa: PLC0415

    return _choices(FRAMEWORKS)


def _formats() -> str:
    from pooldiag.render import RENDERERS  # noqa: PLC0415

    return _choices(RENDERERS)


def _choices(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


_NAMES: Mapping[str, Callable[[], str]] = {
    "{types}": _types,
    "{files}": _files,
    "{frameworks}": _frameworks,
    "{formats}": _formats,
    "{orders}": lambda: ",".join(SEEDLESS),
}
