"""One table of a TOML file, read with checks: every error names where it stands and what would be right."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from pooldiag.errors import UsageError
from pooldiag.model.words import nearest

_SHOWN = 60  # characters of a value in an error

_T = TypeVar("_T")


class UnexpectedError(Exception):
    """A value of the wrong kind; the message says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlTable:
    """One table. `where` says its place, and `gap` stands between that and a key: `pooldiag.toml: lock` `.` `wait`."""

    where: str
    values: dict[str, object]
    gap: str = ": "

    def take(self, key: str, read: Callable[[object], _T]) -> _T | None:
        """Return the value of a key, read and checked; None when it is absent."""
        if key not in self.values:
            return None
        value = self.values[key]
        try:
            return read(value)
        except UnexpectedError as error:
            raise UsageError(f"{self.place(key)} = {shown(value)}", hint=f"expected {error}") from error
        except UsageError as error:
            raise UsageError(f"{self.place(key)}: {error.problem}", hint=error.hint) from error

    def only(self, keys: Iterable[str]) -> "TomlTable":
        """Refuse a key that is not among `keys`."""
        known = tuple(keys)
        for key in self.values:
            if key not in known:
                raise UsageError(f"{self.place(key)}: unknown key", hint=f"nearest: {nearest(key, known)}")
        return self

    def table(self, key: str, *, gap: str | None = None) -> "TomlTable":
        """Return a table of this one, empty when absent."""
        values = self.take(key, as_table) or {}
        return TomlTable(where=self.place(key), gap=self.gap if gap is None else gap, values=values)

    def place(self, key: str) -> str:
        """Say where a key stands: `pooldiag.toml: lock.wait`."""
        return f"{self.where}{self.gap}{key}"

    def text(self, key: str) -> str:
        """Return a string that must be there and say something."""
        return self._needed(key, as_text, "a string that is not empty")

    def text_if_any(self, key: str) -> str | None:
        """Return a string that says something; None when absent."""
        return self.take(key, as_text)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an array of strings; empty when absent."""
        return self.take(key, _as_array) or ()

    def string(self, key: str) -> str:
        """Return a string that must be there, and may be empty."""
        return self._needed(key, _as(str, "a string"), "a string")

    def integer(self, key: str) -> int:
        """Return an integer that must be there."""
        return self._needed(key, _as(int, "an integer"), "an integer")

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return true or false; the default when absent."""
        value = self.take(key, _as(bool, "true or false"))
        return default if value is None else value

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return a table of strings as pairs; a number is refused, for 1 and "01" are not the same to a getenv."""
        table = self.table(key)
        return tuple((name, table.string(name)) for name in table.values)

    def _needed(self, key: str, read: Callable[[object], _T], expected: str) -> _T:
        value = self.take(key, read)
        if value is None:
            raise UsageError(f"{self.where}: {key} is missing", hint=f"expected {expected}")
        return value


def as_table(value: object) -> dict[str, object]:
    """Read a table."""
    if not isinstance(value, dict):
        raise UnexpectedError("a table")
    return value


def as_text(value: object) -> str:
    """Read a string that says something."""
    if not isinstance(value, str) or not value.strip():
        raise UnexpectedError("a string that is not empty")
    return value


def each(read: Callable[[object], _T]) -> Callable[[object], tuple[_T, ...]]:
    """Return a reader of a string, or of an array of strings, by the reader of one."""

    def read_all(value: object) -> tuple[_T, ...]:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise UnexpectedError("a string, or an array of strings")
        return tuple(read(item) for item in items)

    return read_all


def shown(value: object) -> str:
    """Say a value briefly, as TOML has it where Python differs."""
    try:
        text = str(value).lower() if isinstance(value, bool) else repr(value)
    except (ValueError, RecursionError):  # an endless integer, alone or in an array
        return f"a value of type {type(value).__name__}, too long to show"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _as_array(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UnexpectedError("an array of strings")
    return tuple(value)


def _as(kind: type[_T], expected: str) -> Callable[[object], _T]:
    """Return a reader of values of one type."""

    def read(value: object) -> _T:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UnexpectedError(expected)
        return value

    return read
