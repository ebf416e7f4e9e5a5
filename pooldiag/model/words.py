"""Small words that every room says alike: counts with nouns, lists, shares, and the name that was perhaps meant."""

import math
from collections.abc import Iterable
from difflib import get_close_matches


def count(number: int, noun: str) -> str:
    """Say `1 run`, `8 runs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(words: Iterable[str]) -> str:
    """Join words as a sentence does: `a, b and c`."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def shortened(names: Iterable[str], shown: int, *, between: str = ", ") -> str:
    """Name the first few, and count the rest: `a, b, and 3 more`."""
    known = tuple(names)
    more = len(known) - shown
    return between.join((*known[:shown], *([f"and {more} more"] if more > 0 else [])))


def capital(text: str) -> str:
    """Return a text with a capital."""
    return text[:1].upper() + text[1:]


def percent(share: float) -> str:
    """Write a probability as it can be promised: 99.97 % is not 100 %."""
    return f"{math.floor(share * 1000) / 10:g} %"


SLIP = 0.3
"""How like what was typed a name must be to be the one that was perhaps meant."""


def nearest(name: str, known: Iterable[str], *, likeness: float = 0.0) -> str | None:
    """Return the known name most like this one, if it is at least so like it: 0 for any, 1 for the same."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=likeness)), None)
