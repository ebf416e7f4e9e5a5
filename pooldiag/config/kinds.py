"""How a kind of value is read: from a word of a command line, and from a value of the file."""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pooldiag.config.quantities import (
    LAST_SEED,
    MOST_BYTES,
    check_words,
    parse_duration,
    parse_output,
    parse_roles,
    parse_seeds,
    parse_size,
    parse_words,
)
from pooldiag.errors import UsageError
from pooldiag.model.cases import OrderKind
from pooldiag.model.words import nearest
from pooldiag.toml_tables import UnexpectedError, as_table, as_text, each

if TYPE_CHECKING:  # `--help` has no use for what is imported where it is read
    from pooldiag.model.arms import Role
    from pooldiag.model.settings import OutputSpec

SEEDLESS = {str(kind): kind for kind in OrderKind if kind not in {OrderKind.RAND, OrderKind.SEQUENCE}}
"""The orders that one name says whole; not every framework has each of them."""

_NONE = "none"

_T_co = TypeVar("_T_co", covariant=True)
_E = TypeVar("_E", bound=str)


def _as_text_of_file(value: object, folder: Path) -> str:  # noqa: ARG001 - other kinds ask where the file stands
    return as_text(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueKind(Generic[_T_co]):
    """A kind of value. `word` reads a text, and is given the option that it stands behind, to name it in an error.

    `value` reads a value of the file, and is given the folder of the file, where relative paths start.
    `at_once`: the file has all values of an option in one. `metavar` is what help has in place of a value.
    """

    word: Callable[[str, str], _T_co]
    value: Callable[[object, Path], object] = _as_text_of_file
    at_once: bool = False
    metavar: str | None = None


def choice(of: Iterable[_E]) -> ValueKind[_E]:
    """Return the kind of one of some names."""
    known = {str(name): name for name in of}

    def read(given: object, names: Iterable[str]) -> _E:
        if not isinstance(given, str) or given not in known:
            raise UnexpectedError(f"one of {', '.join(names)}")
        return known[given]

    return ValueKind(
        word=lambda text, _: read(text, map(repr, known)),
        value=lambda given, _: read(given, known),
        metavar=f"<{'|'.join(known)}>",
    )


def whole(*, least: int, most: int | None = None) -> ValueKind[int]:
    """Return the kind of whole numbers from `least` on; the last one is asked for of a word only."""
    expected = f"a whole number, {least} or more"

    def word(text: str, _: str) -> int:
        try:
            number = int(text)
        except ValueError as error:  # also of more digits than Python reads
            raise UnexpectedError(expected) from error
        if number < least or (most is not None and number > most):
            raise UnexpectedError(expected if most is None else f"a whole number from {least} to {most}")
        return number

    def value(given: object, _: Path) -> int:
        if not isinstance(given, int) or isinstance(given, bool) or given < least:
            raise UnexpectedError(expected)
        return given

    bounds = f"x>={least}" if most is None else f"{least}<=x<={most}"
    return ValueKind(word=word, value=value, metavar=f"<int {bounds}>")


def time_limit(problem: str, hint: str) -> ValueKind[float]:
    """Return the kind of durations above 0; `problem` says of 0 on a command line what would come of it."""

    def word(text: str, option: str) -> float:
        seconds = parse_duration(text, what=option)
        if seconds == 0:
            raise UsageError(f"{option} 0 {problem}", hint=hint)
        return seconds

    def value(given: object, folder: Path) -> float:
        seconds = _duration(given, folder)
        if seconds == 0:
            raise UnexpectedError("a duration above 0, such as '30m'")
        return seconds

    return ValueKind(word=word, value=value, metavar="TIME")


def _share(text: str, _: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UnexpectedError("a number, such as 0.99") from error


def _share_of_file(value: object, _: Path) -> float:
    if not isinstance(value, float) or not 0 < value < 1:
        raise UnexpectedError("a number between 0 and 1, such as 0.99")
    return value


def _duration(value: object, _: Path) -> float:
    expected = "a duration, such as '30m' or '2h', or a number of seconds"
    return parse_duration(_as_typed(value, (int, float, str), expected))


def _size(value: object, _: Path) -> int:
    return parse_size(_as_typed(value, (int, str), "a size, such as '34GB' or '1GiB', or a whole number of bytes"))


def _as_typed(value: object, kinds: tuple[type, ...], expected: str) -> str:
    """Return a quantity as words have it; an integer (TOML has hexadecimal ones) may be too long to be written out."""
    is_endless = isinstance(value, int) and value.bit_length() > MOST_BYTES.bit_length()
    if is_endless or isinstance(value, bool) or not isinstance(value, kinds):
        raise UnexpectedError(expected)
    return str(value)


def path_of_file(value: object, folder: Path) -> Path:
    """Read a path that starts at a folder, with `~` for the home folder."""
    text = as_text(value)
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:  # a user that the system does not know
        raise UnexpectedError("a path; there is no such user after its ~") from error
    if "\0" in text:
        raise UnexpectedError("a path, without a NUL character")
    return folder / path


def command_of_file(value: object, _: Path) -> tuple[str, ...]:
    """Read a string, split as a shell does, or an array of words, taken as they are."""
    if isinstance(value, str):
        return parse_words(value, what="command")
    return check_words(each(str)(value), what="command")


def _one_text(value: object) -> str:
    """Read words into one text that a shell would split into them again."""
    return value if isinstance(value, str) else shlex.join(each(str)(value))


def _arms(value: object, _: Path) -> tuple[str, ...]:
    """Read `{ ROLE = WORDS }` into texts as the option takes them."""
    from pooldiag.model.arms import SWITCHED_ROLES  # noqa: PLC0415 - as said above

    arms = as_table(value)
    known = tuple(map(str, SWITCHED_ROLES))
    for role in arms:
        if role not in known:
            raise UsageError(f"no switch plays the role {role!r}", hint=f"nearest: {nearest(role, known)}")
    return tuple(f"{role}={_one_text(words)}" for role, words in arms.items())


def _properties(value: object, _: Path) -> tuple[str, ...]:
    """Read `{ ROLE = { NAME = VALUE } }` into texts as the option takes them; a number of bytes may be one."""
    return tuple(
        f"{role}.{name}={_as_typed(one, (int, str), 'a string, or a whole number of bytes')}"
        for role, known in as_table(value).items()
        for name, one in as_table(known).items()
    )


def _plain_orders(text: str, option: str) -> tuple[OrderKind, ...]:
    """Read names of orders that need no seed, each once."""
    names = [name.strip() for name in text.split(",")]
    for name in names if names != [_NONE] else ():
        if name not in SEEDLESS:
            raise UsageError(
                f"{option} {text}: {name!r} is no order without a seed",
                hint=f"known: {', '.join(SEEDLESS)}, or {_NONE}; --seeds says which rand orders",
            )
    return tuple(SEEDLESS[name] for name in dict.fromkeys(names) if name != _NONE)


def _seeds(text: str, option: str) -> tuple[int, ...]:
    return () if text.strip() == _NONE else parse_seeds(text, what=option)


def _text(text: str, _: str) -> str:
    return text


TEXT = ValueKind(word=_text)
NAME = ValueKind(word=_text, metavar="NAME")
ARM = ValueKind(word=_text, value=_arms, at_once=True, metavar="ROLE=WORDS")
PROPERTY = ValueKind(word=_text, value=_properties, at_once=True, metavar="ROLE.NAME=VALUE")
SWITCH_WORDS = ValueKind(word=_text, value=lambda value, _: _one_text(value), metavar="WORDS")
COMMAND_WORDS = ValueKind(word=parse_words, value=command_of_file, metavar="CMD")
PATH = ValueKind(word=lambda text, _: Path(text), value=path_of_file, metavar="PATH")
ORDER = choice((*SEEDLESS.values(), OrderKind.RAND))
SEED = whole(least=0, most=LAST_SEED)
COUNT = whole(least=1)
SHARE = ValueKind(word=_share, value=_share_of_file, metavar="SHARE")
DURATION = ValueKind(word=parse_duration, value=_duration, metavar="TIME")
SIZE = ValueKind(word=parse_size, value=_size, metavar="SIZE")
OUTPUT: "ValueKind[OutputSpec]" = ValueKind(
    word=lambda text, _: parse_output(text), value=lambda value, _: parse_output(as_text(value)), metavar="GLOB[:DTYPE]"
)
ROLES: "ValueKind[tuple[Role, ...]]" = ValueKind(
    word=parse_roles,
    value=lambda value, _: parse_roles(",".join(each(as_text)(value))),
    metavar="ROLES",
)
PLAIN_ORDERS: ValueKind[tuple[OrderKind, ...]] = ValueKind(word=_plain_orders, metavar="NAMES")
SEEDS: ValueKind[tuple[int, ...]] = ValueKind(word=_seeds, metavar="SEEDS")
