"""One table of a TOML file, read with checks: every error names where it stands and what would be right."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from pooldiag.errors import UsageError
from pooldiag.model.words import nearest

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One TOML table; every error names the profile and the key."""

    where: str
    values: dict[str, object]

    def only(self, keys: Iterable[str]) -> "Table":
        """Refuse a key that is not among `keys`."""
        known = tuple(keys)
        for key in self.values:
            if key not in known:
                raise UsageError(f"{self.where}: unknown key {key!r}", hint=f"nearest: {nearest(key, known)}")
        return self

    def text(self, key: str) -> str:
        """Return a string that must be there and say something."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(key, "a string that is not empty")
        return value

    def text_if_any(self, key: str) -> str | None:
        """Return a string that says something; None when absent."""
        return self.text(key) if key in self.values else None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an array of strings; empty when absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "an array of strings")
        return tuple(value)

    def integer(self, key: str) -> int:
        """Return an integer that must be there."""
        return self.typed(key, int, "an integer")

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return true or false; the default when absent."""
        return self.typed(key, bool, "true or false", default)

    def table(self, key: str) -> "Table":
        """Return a table; empty when absent."""
        return Table(where=f"{self.where}: {key}", values=self.typed(key, dict, "a table", {}))

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return a table of strings as pairs; a number is refused, for 1 and "01" are not the same to a getenv."""
        table = self.table(key)
        return tuple((name, table.typed(name, str, "a string")) for name in table.values)

    def typed(self, key: str, kind: type[_T], expected: str, default: _T | None = None) -> _T:
        """Return a value of this very type; the default when absent. `true` is not an integer."""
        value = self.values.get(key, default)
        if not isinstance(value, kind) or type(value) is not kind:
            raise self._wrong(key, expected)
        return value

    def _wrong(self, key: str, expected: str) -> UsageError:
        if key not in self.values:
            return UsageError(f"{self.where}: {key} is missing", hint=f"expected {expected}")
        return UsageError(f"{self.where}: {key} = {self.values[key]!r}", hint=f"expected {expected}")
