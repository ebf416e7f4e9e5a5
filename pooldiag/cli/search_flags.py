"""The flags of `bisect` and `orders`."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from pooldiag.cli.flags import Panel, RunFlags, option_of
from pooldiag.errors import UsageError

_F = TypeVar("_F", bound=RunFlags)


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectFlags(RunFlags):
    """What may be typed after `pooldiag bisect`."""

    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A test binary, a name from pooldiag.toml, or the report of an earlier diagnosis.",
            show_default=False,
        ),
    ]
    victim: Annotated[
        str | None, typer.Option(metavar="NAME", help="The case whose red is bisected.", rich_help_panel=Panel.WHAT)
    ] = None
    sequence: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A running order: names of cases, one a line, the victim last; - is standard input.",
            rich_help_panel=Panel.WHAT,
        ),
    ] = None
    no_arms: Annotated[
        bool, typer.Option("--no-arms", help="Run no arms on the cases that are left.", rich_help_panel=Panel.ARMS)
    ] = False
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="How sure an answer must be where runs disagree (default: 0.8).",
            rich_help_panel=Panel.SEARCH,
        ),
    ] = None
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start no run after that time.", rich_help_panel=Panel.SEARCH)
    ] = None
    max_runs: Annotated[
        int | None, typer.Option(min=1, help="Most runs of the search (default: 1000).", rich_help_panel=Panel.SEARCH)
    ] = None
    repeat: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Run the whole order so often until it is taken for green (default: 2).",
            rich_help_panel=Panel.SEARCH,
        ),
    ] = None
    all: Annotated[
        bool, typer.Option("--all", help="Find every independent set of polluters.", rich_help_panel=Panel.SEARCH)
    ] = False
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Runs at once; more than 1 without a lock only.", rich_help_panel=Panel.SEARCH
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the last interrupted bisection of TARGET.", rich_help_panel=Panel.SEARCH
        ),
    ] = False
    resume_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Go on with the bisection of this evidence folder.", rich_help_panel=Panel.SEARCH
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersFlags(RunFlags):
    """What may be typed after `pooldiag orders`: no arm runs, and no single order is asked for."""

    order: None = field(default=None, init=False)
    seed: None = field(default=None, init=False)
    arm: tuple[()] = field(default=(), init=False)
    stats: None = field(default=None, init=False)
    counter: tuple[()] = field(default=(), init=False)
    arms: None = field(default=None, init=False)
    confidence: None = field(default=None, init=False)
    orders: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Orders without a seed, or none (default: file,name,suite).",
            rich_help_panel=Panel.WHAT,
        ),
    ] = None
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS",
            help="Then the rand orders of these seeds, or none (default: 1..20).",
            rich_help_panel=Panel.WHAT,
        ),
    ] = None
    victim: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The case whose red is looked for first.", rich_help_panel=Panel.WHAT),
    ] = None
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start no run after that time.", rich_help_panel=Panel.SEARCH)
    ] = None
    max_runs: Annotated[
        int | None, typer.Option(min=1, help="Most runs in all (default: 1000).", rich_help_panel=Panel.SEARCH)
    ] = None
    no_prefix: Annotated[
        bool,
        typer.Option("--no-prefix", help="Do not look for the shortest red prefix.", rich_help_panel=Panel.SEARCH),
    ] = False


def with_options_behind(flags: _F) -> _F:
    """Take the options that only this command has from behind TARGET, too, up to a `--`: `TARGET --seeds 1..20`.

    All other words behind TARGET are the target's own.
    """
    own = _own_options(type(flags))
    words = iter(flags.arguments)
    values: dict[str, Any] = {}
    kept: list[str] = []
    for word in words:
        option, given, text = word.partition("=")
        if word == "--":
            kept += (word, *words)
        elif option not in own:
            kept.append(word)
        else:
            name, kind = own[option]
            values[name] = _value(option, kind, text if given else None, words)
    return replace(flags, arguments=tuple(kept), **values)


def _own_options(command: type[RunFlags]) -> dict[str, tuple[str, Any]]:
    """Return the options that no other command has, each with its field and the type of its value."""
    shared = {entry.name for entry in fields(RunFlags)}
    kinds = get_type_hints(command)
    return {
        option_of(entry.name): (entry.name, kinds[entry.name])
        for entry in fields(command)
        if entry.init and entry.name not in shared
    }


def _value(option: str, kind: Any, text: str | None, words: Iterator[str]) -> object:  # noqa: ANN401 - any annotation
    """Read the value of an option, which is the next word where none is given with it."""
    if kind is bool:
        return True
    text = next(words, None) if text is None else text
    if text is None:
        raise UsageError(f"{option}: its value is missing", hint="see --help")
    of, *_ = get_args(kind)
    if of is int and not (text.isdecimal() and int(text)):
        raise UsageError(f"{option}: {text!r} is no number from 1 on", hint="for instance 2")
    return of(text)
