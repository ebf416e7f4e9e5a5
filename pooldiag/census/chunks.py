"""Counts one chunk of elements by integer operations on the bit patterns.

What the extremes of a chunk rule out is not looked for, so that a clean chunk costs four passes at most.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.layouts import FloatLayout, IntegerLayout, Layout, Specials
from pooldiag.census.reading import Patterns

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

_NOWHERE: Indices = np.empty(0, np.intp)
_WORD = 8  # flags that are looked at together


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """Elements that are NaN or infinite: where, in rising order, and their patterns."""

    places: Indices = field(default_factory=lambda: _NOWHERE)
    patterns: Patterns = field(default_factory=lambda: np.empty(0, np.uint8))

    def only(self, flags: Flags) -> "Special":
        """Return those that are flagged."""
        chosen = flags.nonzero()[0]  # much quicker than indexing with flags
        return Special(places=self.places.take(chosen), patterns=self.patterns.take(chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkCounts:
    """What a chunk holds. `lowest` and `highest` are finite patterns, `largest` those of the largest magnitude.

    Of a chunk of one pattern, `constant`, no more is told: `counts_of_constant` does.
    """

    n: int
    constant: int | None = None
    lowest: int | None = None
    highest: int | None = None
    largest: tuple[int, ...] = ()
    places: tuple[int, int, int] | None = None  # of these three, where they are known at once
    zero: int = 0  # of either sign
    negative_zero: int = 0
    subnormal: int = 0
    positive_inf: int = 0
    negative_inf: int = 0
    nan: Special = field(default_factory=Special)
    inf: Special = field(default_factory=Special)


class Counter(Protocol):
    """Counts chunks of one layout; scratch space is used again."""

    def count(self, patterns: Patterns) -> ChunkCounts:
        """Count a chunk that is not empty; it is not changed."""


def counter_of(layout: Layout, chunk_elements: int) -> Counter:
    """Return what counts chunks of up to `chunk_elements` elements of this layout."""
    if isinstance(layout, FloatLayout):
        return FloatCounter(layout, chunk_elements)
    if isinstance(layout, IntegerLayout):
        return IntegerCounter(layout, chunk_elements)
    raise TypeError(f"no counter for {layout!r}")


def flagged(flags: Flags) -> Indices:
    """Return where flags are set; quick where few are."""
    size = flags.size // _WORD * _WORD
    words = flags[:size].view(np.uint64)
    hits = (words != 0).nonzero()[0]
    if hits.size * 4 > words.size * 3:
        return flags.nonzero()[0]
    found = words.take(hits).view(np.bool_).nonzero()[0]  # counted in the words that are hit
    places = (hits * _WORD).take(found // _WORD) + found % _WORD
    return np.concatenate((places, flags[size:].nonzero()[0] + size)) if size < flags.size else places


def counts_of_constant(layout: Layout, pattern: int, n: int) -> ChunkCounts:
    """Return the counts of `n` elements of one pattern."""
    value = layout.value(pattern)
    if not math.isfinite(value):
        return ChunkCounts(n=n, constant=pattern, positive_inf=n * (value > 0), negative_inf=n * (value < 0))
    negative_zero = n * (value == 0 and math.copysign(1, value) < 0)
    subnormal = isinstance(layout, FloatLayout) and 0 < layout.magnitude(pattern) < layout.smallest_normal
    return ChunkCounts(
        n=n,
        constant=pattern,
        lowest=pattern,
        highest=pattern,
        largest=(pattern,),
        zero=n * (value == 0),
        negative_zero=negative_zero,
        subnormal=n * subnormal,
    )


class IntegerCounter:
    """Counts integers: extremes and zeros."""

    def __init__(self, layout: IntegerLayout, chunk_elements: int) -> None:
        """Take the layout, and make the scratch space."""
        self._layout = layout
        self._flags: Flags = np.empty(chunk_elements, np.bool_)

    def count(self, patterns: Patterns) -> ChunkCounts:
        """Count a chunk that is not empty; it is not changed."""
        layout, n = self._layout, patterns.size
        values = _as_signed(patterns) if layout.signed else patterns
        modulus = 1 << layout.width
        low, high = int(values.min()) % modulus, int(values.max()) % modulus
        if low == high:
            return ChunkCounts(n=n, constant=low)
        may_be_zero = layout.value(low) <= 0 <= layout.value(high)
        return ChunkCounts(
            n=n,
            lowest=low,
            highest=high,
            largest=_largest(layout, low, high),
            zero=_count(np.equal(patterns, 0, out=self._flags[:n])) if may_be_zero else 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """Smallest and largest magnitude of one sign."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signs:
    """The range of magnitudes of each sign that occurs."""

    positive: _Range | None = None
    negative: _Range | None = None

    @property
    def constant(self) -> bool:
        """Whether there is one pattern only."""
        (only, *others) = [found for found in (self.positive, self.negative) if found is not None]
        return not others and only.low == only.high


class FloatCounter:
    """Counts floating-point elements, of any layout whose sign is the top bit of what it is stored in."""

    def __init__(self, layout: FloatLayout, chunk_elements: int) -> None:
        """Take the layout, and make the scratch space."""
        self._layout = layout
        self._sign = layout.sign
        self._limit = layout.finite_limit
        self._normal = layout.smallest_normal
        self._infinity = layout.infinity
        self._flags: Flags = np.empty(chunk_elements, np.bool_)
        self._more_flags: Flags = np.empty(chunk_elements, np.bool_)
        self._scratch: Patterns = np.empty(chunk_elements, f"=u{layout.item_bytes}")

    def count(self, patterns: Patterns) -> ChunkCounts:
        """Count a chunk that is not empty; it is not changed."""
        layout, n = self._layout, patterns.size
        signs = self._signs(patterns)
        if signs.constant:
            return ChunkCounts(n=n, constant=int(patterns[0]))
        zero, negative_zero, small = self._small(patterns, signs)
        nan = inf = Special()
        finite: _Signs | None = signs
        if (flags := self._special(patterns, signs)) is not None:
            places = flagged(flags)
            nan, inf = self._sorted_out(Special(places=places, patterns=patterns[places]))
            finite = self._signs_beside(patterns, flags, places)
        if layout.specials is Specials.MINUS_ZERO:
            small -= negative_zero
            negative_zero = 0
        positive_inf = _count(inf.patterns == layout.infinity) if inf.places.size else 0
        lowest, highest, largest = (None, None, ()) if finite is None else self._ends(finite)
        return ChunkCounts(
            n=n,
            lowest=lowest,
            highest=highest,
            largest=largest,
            zero=zero + negative_zero,
            negative_zero=negative_zero,
            subnormal=small - zero - negative_zero,
            positive_inf=positive_inf,
            negative_inf=inf.places.size - positive_inf,
            nan=nan,
            inf=inf,
        )

    def _signs(self, patterns: Patterns) -> _Signs:
        """Find the extremes by integer comparisons: two passes, four when both signs occur."""
        sign = self._sign
        low, high = int(patterns.min()), int(patterns.max())
        if not sign or high < sign:
            return _Signs(positive=_Range(low=low, high=high))
        if low >= sign:
            return _Signs(negative=_Range(low=low - sign, high=high - sign))
        signed = _as_signed(patterns)  # there -0.0 is the lowest, and positives are above it
        return _Signs(
            positive=_Range(low=low, high=int(signed.max())),
            negative=_Range(low=int(signed.min()) + sign, high=high - sign),
        )

    def _ends(self, signs: _Signs) -> tuple[int | None, int | None, tuple[int, ...]]:
        """Return the patterns of the lowest element, of the highest, and those of the largest magnitude."""
        positive, negative, sign = signs.positive, signs.negative, self._sign
        if negative is None or positive is None:
            if positive is not None:
                return positive.low, positive.high, (positive.high,)
            return (
                (None, None, ())
                if negative is None
                else (negative.high | sign, negative.low | sign, (negative.high | sign,))
            )
        lowest, highest = negative.high | sign, positive.high
        if negative.high == highest:
            return lowest, highest, (lowest, highest)
        return lowest, highest, (lowest,) if negative.high > highest else (highest,)

    def _small(self, patterns: Patterns, signs: _Signs) -> tuple[int, int, int]:
        """Count 0.0, -0.0 (or what stands in its place), and all below the smallest normal magnitude."""
        sign, normal = self._sign, self._normal
        positive = signs.positive is not None and signs.positive.low < normal
        negative = signs.negative is not None and signs.negative.low < normal
        zero = negative_zero = small = 0
        if not positive and not negative:
            return 0, 0, 0
        flags = self._flags[: patterns.size]
        if signs.positive is not None and positive and not signs.positive.low:
            zero = _zeros(patterns, flags)
        if signs.negative is not None and negative and not signs.negative.low:
            negative_zero = _count(np.equal(patterns, sign, out=flags))
        if positive and negative and patterns.itemsize == 1:  # for bytes, counting flags is what costs
            exponents = np.bitwise_and(patterns, sign - normal, out=self._scratch[: patterns.size])
            return zero, negative_zero, patterns.size - int(np.count_nonzero(exponents))
        if positive:
            small += _count(np.less(patterns, normal, out=flags))
        if negative:
            small += _count(np.less(_as_signed(patterns), normal - sign, out=flags))
        return zero, negative_zero, small

    def _special(self, patterns: Patterns, signs: _Signs) -> Flags | None:
        """Flag the elements that are not finite; None if the extremes say that there are none."""
        flags, limit = self._flags[: patterns.size], self._limit
        if self._layout.specials is Specials.MINUS_ZERO:
            there = signs.negative is not None and not signs.negative.low
            return np.equal(patterns, self._sign, out=flags) if there else None
        positive = signs.positive is not None and signs.positive.high >= limit
        negative = signs.negative is not None and signs.negative.high >= limit
        if negative:
            np.greater_equal(patterns, self._sign | limit, out=flags)
        if not positive:
            return flags if negative else None
        upper = _as_signed(patterns) if self._sign else patterns
        found = np.greater_equal(upper, limit, out=self._more_flags[: patterns.size])
        return np.logical_or(flags, found, out=flags) if negative else found

    def _sorted_out(self, special: Special) -> tuple[Special, Special]:
        """Tell NaN from infinities."""
        layout = self._layout
        if layout.infinity is None:
            return special, Special()
        infinite = special.patterns & layout.magnitudes == layout.infinity
        if not infinite.any():
            return special, Special()
        return special.only(~infinite), special.only(infinite)

    def _signs_beside(self, patterns: Patterns, flags: Flags, places: Indices) -> _Signs | None:
        """Find the extremes of the elements that are not flagged; None when all are."""
        if places.size == patterns.size:
            return None
        gap = bisect_left(range(places.size), 1, key=lambda place: int(places[place] != place))
        others = self._scratch[: patterns.size]
        np.copyto(others, patterns)
        if places.size * _WORD < patterns.size:
            others[places] = patterns[gap]
        else:
            np.copyto(others, patterns[gap], where=flags)
        return self._signs(others)


def _largest(layout: Layout, low: int, high: int) -> tuple[int, ...]:
    """Return which of two ends have the largest magnitude: one of them, or both."""
    one, other = layout.magnitude(low), layout.magnitude(high)
    if one == other:
        return (low, high)
    return (low,) if one > other else (high,)


def _as_signed(patterns: Patterns) -> NDArray[np.signedinteger]:
    return patterns.view(f"=i{patterns.itemsize}")


def _zeros(patterns: Patterns, flags: Flags) -> int:
    if patterns.itemsize == 1:
        return patterns.size - int(np.count_nonzero(patterns))
    return _count(np.equal(patterns, 0, out=flags))


def _count(flags: Flags) -> int:
    return int(np.count_nonzero(flags))
