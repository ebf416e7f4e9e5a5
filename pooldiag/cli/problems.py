"""What goes wrong, as the user reads it: one line for the problem, one for what to do."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pooldiag.cli.streams import complain
from pooldiag.errors import PooldiagError, UsageError

if TYPE_CHECKING:
    from typer import TyperException

_T = TypeVar("_T")


def require_directory() -> None:
    """Raise UsageError where every relative path would be lost."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current directory is gone", hint="cd to one that is there") from error


def tell(error: PooldiagError) -> None:
    """Print a problem and its hint on stderr; text from outside cannot move the cursor."""
    from pooldiag.render import visible  # noqa: PLC0415 - nothing is to be said when all goes well

    complain(f"pooldiag: {visible(error.problem)}\n")
    if error.hint is not None:
        complain(f"  {visible(error.hint)}\n")


def registered(registry: Mapping[str, _T], name: str, option: str) -> _T:
    """Return what an option names in a registry."""
    if name not in registry:
        raise UsageError(f"{option} {name!r} is not known", hint=f"known: {', '.join(registry)}")
    return registry[name]


def in_one_line(error: "TyperException", command: str) -> UsageError:
    """Return what Typer says of a command as one of our problems: not a sentence, on one line."""
    message = " ".join(error.format_message().split()).rstrip(".")
    return UsageError(message[:1].lower() + message[1:], hint=f"see {command} --help")
