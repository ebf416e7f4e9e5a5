"""Values of a tensor in words."""

import math

from pooldiag.model.counts import Element

PATTERNS_SHOWN = 8


def element(one: Element) -> str:
    """Say a value with its bits."""
    return f"{number(one.value)}({one.bits})"


def elements(found: tuple[Element, ...]) -> str:
    """Say values with their bits; equal ones once."""
    words = list(map(element, found))
    return f"all {words[0]}" if len(set(words)) == 1 and len(words) > 1 else ", ".join(words)


def number(value: float) -> str:
    """Say a value of a tensor; a NaN or an infinity is named, an integer is exact."""
    return str(value) if isinstance(value, int) or not math.isfinite(value) else f"{value:.7g}"
