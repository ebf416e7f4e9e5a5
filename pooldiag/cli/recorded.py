"""The flags of an earlier command, from the words that its report keeps, and those of now over them."""

import os
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from pooldiag.cli.flags import AttributeFlags, option_of
from pooldiag.cli.reports import EarlierReport
from pooldiag.cli.search_flags import BisectFlags, OrdersFlags

_make: Callable[..., BisectFlags] = BisectFlags

_REPLACED = {
    "sequence": {"order", "seed", "victim"},
    "order": {"seed", "sequence"},
    "lock": {"no_lock"},
    "no_lock": {"lock"},
}
"""A flag of now, and those of the earlier command that would contradict it."""

_OF_THE_ARMS = {"budget", "max_runs"}
"""What `attribute` may spend is no bound of a search."""


def over(flags: BisectFlags, report: EarlierReport) -> BisectFlags:
    """Return the flags of the command that a report is of, with those of now in their place.

    ValueError for a word that no command of this version understands.
    """
    now = {entry.name: value for entry in fields(flags) if (value := getattr(flags, entry.name)) != entry.default}
    now.pop("target")
    earlier = _values(report.options, report.directory)
    if report.command != "bisect":
        earlier = {name: value for name, value in earlier.items() if name not in _OF_THE_ARMS}
    if earlier.get("no_lock"):  # it outranked a lock that the environment named
        earlier.pop("lock", None)
    named_by_environment = {"lock"} if os.environ.get("POOLDIAG_LOCK") else set()
    for name in now.keys() & _REPLACED.keys() - named_by_environment:
        earlier = {other: value for other, value in earlier.items() if other not in _REPLACED[name]}
    return _make(**{"target": report.target[0], "arguments": report.target[1:]} | earlier | now)


def _values(words: Iterable[str], directory: Path) -> dict[str, object]:
    """Return what words like those of `RunFlags.words` say, by the names of the fields."""
    kinds = {option_of(name): (name, kind) for name, kind in _kinds().items()}
    taken = {entry.name for entry in fields(BisectFlags)}
    values: dict[str, object] = {}
    for word in words:
        option, _, text = word.partition("=")
        if option not in kinds:
            raise ValueError(f"the option {option} is not known")
        name, kind = kinds[option]
        if name in taken:
            values[name] = _value(kind, text, directory, values.get(name))
    return values


def _kinds() -> dict[str, Any]:
    """Return the types of the fields of all commands."""
    return get_type_hints(OrdersFlags) | get_type_hints(AttributeFlags) | get_type_hints(BisectFlags)


def _value(kind: Any, text: str, directory: Path, before: object) -> object:  # noqa: ANN401 - any annotation
    if kind is bool:
        return True
    (of, *_) = [one for one in get_args(kind) if one not in {NoneType, Ellipsis}]
    value = directory / text if of is Path else of(text)
    if get_origin(kind) is not tuple:
        return value
    return (*before, value) if isinstance(before, tuple) else (value,)
