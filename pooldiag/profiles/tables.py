"""One table of a TOML file, read with checks: every error names where it stands and what would be right."""

from collections.abc import Iterable
from dataclasses import dataclass

from pooldiag.errors import UsageError
from pooldiag.model.words import nearest


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
        value = self.values.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "an integer")
        return value

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return true or false; the default when absent."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def table(self, key: str) -> "Table":
        """Return a table; empty when absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, "a table")
        return Table(where=f"{self.where}: {key}", values=value)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return a table of strings as pairs; a number is refused, for 1 and "01" are not the same to a getenv."""
        table = self.table(key)
        return tuple((name, table.string(name)) for name in table.values)

    def string(self, key: str) -> str:
        """Return a string that must be there, and may be empty."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def _wrong(self, key: str, expected: str) -> UsageError:
        if key not in self.values:
            return UsageError(f"{self.where}: {key} is missing", hint=f"expected {expected}")
        return UsageError(f"{self.where}: {key} = {self.values[key]!r}", hint=f"expected {expected}")
