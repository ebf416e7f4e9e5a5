"""Counts one chunk of elements by integer operations on the bit patterns.

What the extremes of a chunk rule out is not looked for, so that a clean chunk costs four passes at most.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.elements import Patterns
from pooldiag.census.layouts import FloatLayout, IntegerLayout, Layout, Specials
from pooldiag.census.marks import Flags, Marks, few_places, listed, marks_of

# Quicker than the methods of an array.
_MIN, _MAX = np.minimum.reduce, np.maximum.reduce
_DENSE_FOR = 16  # chunks in which small and special elements are taken to be many once they were
_LONG_DENSE = 1 << 62


@dataclass(slots=True, kw_only=True)
class ChunkCounts:
    """What a chunk holds. `lowest` and `highest` are finite patterns, `largest` those of the largest magnitude.

    Of a chunk of one pattern, `constant`, nothing else is set: `counts_of_constant` does that.
    """

    n: int
    constant: int | None = None
    lowest: int | None = None
    highest: int | None = None
    largest: tuple[int, ...] = ()
    places: tuple[int, int, int] | None = None  # of these three, where they are known at once
    zero: int = 0  # of either sign
    negative_zero: int = 0
    small: int = 0  # below the smallest normal magnitude, so the zeros too
    positive_inf: int = 0
    negative_inf: int = 0
    nan: Marks | None = None
    inf: Marks | None = None

    def add(self, other: "ChunkCounts") -> None:
        """Add what another chunk counts by itself: all but its NaN."""
        self.positive_inf += other.positive_inf
        self.negative_inf += other.negative_inf
        self.zero += other.zero
        self.negative_zero += other.negative_zero
        self.small += other.small


def counts_of_constant(layout: Layout, pattern: int, n: int) -> ChunkCounts:
    """Return the counts of `n` elements of one pattern."""
    value = layout.value(pattern)
    if not math.isfinite(value):
        return ChunkCounts(n=n, constant=pattern, positive_inf=n * (value > 0), negative_inf=n * (value < 0))
    negative_zero = n * (value == 0 and math.copysign(1, value) < 0)
    small = value == 0 or (isinstance(layout, FloatLayout) and layout.magnitude(pattern) < layout.smallest_normal)
    return ChunkCounts(
        n=n,
        constant=pattern,
        lowest=pattern,
        highest=pattern,
        largest=(pattern,),
        zero=n * (value == 0),
        negative_zero=negative_zero,
        small=n * small,
    )


class IntegerCounter:
    """Counts integers: extremes and zeros."""

    def __init__(self, layout: IntegerLayout, chunk_elements: int) -> None:
        self._layout = layout
        self._flags: Flags = np.empty(chunk_elements, np.bool_)

    def count(self, patterns: Patterns) -> ChunkCounts:
        """Count a chunk that is not empty; it is not changed."""
        layout, n = self._layout, patterns.size
        values = _as_signed(patterns) if layout.signed else patterns
        modulus = 1 << layout.bits
        low, high = int(_MIN(values)) % modulus, int(_MAX(values)) % modulus
        if low == high:
            return ChunkCounts(n=n, constant=low)
        may_be_zero = layout.value(low) <= 0 <= layout.value(high)
        zero = _count(np.equal(patterns, 0, out=self._flags[:n])) if may_be_zero else 0
        largest = _largest(layout, low, high)
        return ChunkCounts(n=n, lowest=low, highest=high, largest=largest, zero=zero, small=zero)


_NONE_LOW, _NONE_HIGH = 1 << 64, -1  # where no element has the sign


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signs:
    """The smallest and the largest magnitude of each sign."""

    positive_low: int = _NONE_LOW
    positive_high: int = _NONE_HIGH
    negative_low: int = _NONE_LOW
    negative_high: int = _NONE_HIGH


class FloatCounter:
    """Counts floating-point elements, of any layout whose sign is the top bit of what it is stored in."""

    def __init__(self, layout: FloatLayout, chunk_elements: int) -> None:
        self._layout = layout
        self._sign = layout.sign
        self._limit = layout.finite_limit
        self._normal = layout.smallest_normal
        self._infinity = layout.infinity
        self._minus_zero = layout.specials is Specials.MINUS_ZERO
        self._dense_for = _LONG_DENSE if layout.item_bytes == 1 else 0  # how many chunks are taken to be dense
        self._flags: Flags = np.empty(chunk_elements, np.bool_)
        self._nan_flags: Flags = np.empty(chunk_elements, np.bool_)
        self._inf_flags: Flags = np.empty(chunk_elements, np.bool_)
        self._scratch: Patterns = np.empty(chunk_elements, f"=u{layout.item_bytes}")

    def count(self, patterns: Patterns) -> ChunkCounts:
        """Count a chunk that is not empty; it is not changed."""
        low, high = int(_MIN(patterns)), int(_MAX(patterns))
        if low == high:
            return ChunkCounts(n=patterns.size, constant=low)
        signs = self._signs(patterns, low, high)
        small = signs.positive_low < self._normal or signs.negative_low < self._normal
        special = signs.positive_high >= self._limit or signs.negative_high >= self._limit
        if self._minus_zero:
            special = not signs.negative_low
        counts = ChunkCounts(n=patterns.size)
        if small or special:
            counts = (self._listed(patterns, small=small) if special else None) or self._scanned(patterns, signs)
        finite = self._finite(patterns, signs) if special else signs
        counts.lowest, counts.highest, counts.largest = self._ends(finite)
        return counts

    def _signs(self, patterns: Patterns, low: int, high: int) -> _Signs:
        """Find the extremes by integer comparisons: two more passes when both signs occur."""
        sign = self._sign
        if not sign or high < sign:
            return _Signs(positive_low=low, positive_high=high)
        if low >= sign:
            return _Signs(negative_low=low - sign, negative_high=high - sign)
        signed = _as_signed(patterns)  # there -0.0 is the lowest, and positives are above it
        return _Signs(
            positive_low=low,
            positive_high=int(_MAX(signed)),
            negative_low=int(_MIN(signed)) + sign,
            negative_high=high - sign,
        )

    def _ends(self, signs: _Signs) -> tuple[int | None, int | None, tuple[int, ...]]:
        """Return the patterns of the lowest element, of the highest, and those of the largest magnitude."""
        sign, above, below = self._sign, signs.positive_high, signs.negative_high
        if above == below:
            return (None, None, ()) if above == _NONE_HIGH else (below | sign, above, (below | sign, above))
        lowest = signs.positive_low if below == _NONE_HIGH else below | sign
        highest = signs.negative_low | sign if above == _NONE_HIGH else above
        return lowest, highest, (above,) if above > below else (below | sign,)

    def _listed(self, patterns: Patterns, *, small: bool) -> ChunkCounts | None:
        """Find all elements that are small or special, and look at them alone; None where they are not few.

        Where they are not, they are not looked for in some chunks to come.
        """
        if self._dense_for:
            self._dense_for -= 1
            return None
        layout, normal, limit = self._layout, self._normal, self._limit
        flags, doubled = self._flags[: patterns.size], self._doubled(patterns)
        first = limit
        if small:  # modulo the size of the type, they are on top when the smallest normal number is 0
            np.subtract(doubled, 2 * normal, out=doubled)
            first -= normal
        np.greater_equal(doubled, 2 * first, out=flags)
        if (places := few_places(flags)) is None:
            self._dense_for = _DENSE_FOR
            return None
        found = patterns.take(places)
        magnitudes = found & layout.magnitudes
        counts = ChunkCounts(n=patterns.size, small=_count(magnitudes < normal) if small else 0)
        if counts.small:
            counts.negative_zero = _count(found == layout.sign)
            counts.zero = counts.small - int(np.count_nonzero(magnitudes[magnitudes < normal]))
        counts.nan = listed(places, magnitudes > limit)
        counts.inf = listed(places, magnitudes == limit)
        counts.positive_inf = _count(found == limit)
        counts.negative_inf = (0 if counts.inf is None else counts.inf.count) - counts.positive_inf
        return counts

    def _scanned(self, patterns: Patterns, signs: _Signs) -> ChunkCounts:
        """Count each kind by passing over the whole chunk, if the extremes say that there can be some."""
        counts = ChunkCounts(n=patterns.size)
        flags, sign, normal = self._flags[: patterns.size], self._sign, self._normal
        if not signs.positive_low and normal:
            counts.zero = _zeros(patterns, flags)
        if not signs.negative_low and not self._minus_zero:
            counts.negative_zero = _count(np.equal(patterns, sign, out=flags))
            counts.zero += counts.negative_zero
        doubled = None
        positive, negative = signs.positive_low < normal, signs.negative_low < normal
        if (positive or negative) and patterns.itemsize == 1:  # for bytes, counting flags is what costs
            exponents = np.bitwise_and(patterns, sign - normal, out=self._scratch[: patterns.size])
            counts.small = patterns.size - int(np.count_nonzero(exponents))
        elif positive and negative:
            doubled = self._doubled(patterns)
            counts.small = _count(np.less(doubled, 2 * normal, out=flags))
        elif positive:
            counts.small = _count(np.less(patterns, normal, out=flags))
        elif negative:
            counts.small = _count(np.less(_as_signed(patterns), normal - sign, out=flags))
        if self._minus_zero:
            if not signs.negative_low:
                counts.nan = marks_of(np.equal(patterns, sign, out=self._nan_flags[: patterns.size]))
                counts.small -= 0 if counts.nan is None else counts.nan.count
        elif signs.positive_high >= self._limit or signs.negative_high >= self._limit:
            self._scan_special(counts, patterns, signs, doubled)
        return counts

    def _scan_special(self, counts: ChunkCounts, patterns: Patterns, signs: _Signs, doubled: Patterns | None) -> None:
        """Find NaN and infinities, where the extremes of a sign say that there can be some."""
        limit, infinity = self._limit, self._infinity
        positive, negative = signs.positive_high >= limit, signs.negative_high >= limit
        if not (positive and negative):
            doubled = None
        elif doubled is None:
            doubled = self._doubled(patterns)
        last = limit - (infinity is None)
        if max(signs.positive_high, signs.negative_high) > last:
            counts.nan = marks_of(self._beyond(patterns, doubled, last, positive=positive))
        if infinity is None:
            return
        flags = self._inf_flags[: patterns.size]
        if doubled is not None:
            np.equal(doubled, 2 * infinity, out=flags)
        else:
            np.equal(patterns, infinity if positive else self._sign | infinity, out=flags)
        if count := _count(flags):
            counts.positive_inf = count if positive else 0
            if doubled is not None:
                counts.positive_inf = _count(np.equal(patterns, infinity, out=self._flags[: patterns.size]))
            counts.negative_inf = count - counts.positive_inf
            counts.inf = Marks(count=count, flags=flags)

    def _beyond(self, patterns: Patterns, doubled: Patterns | None, last: int, *, positive: bool) -> Flags:
        """Flag the elements whose magnitude is above `last`: those of both signs with `doubled`, else of one."""
        flags = self._nan_flags[: patterns.size]
        if doubled is not None and last + 1 == self._layout.magnitudes:
            return np.equal(doubled, 2 * last + 2, out=flags)  # for bytes, much quicker
        if doubled is not None:
            return np.greater(doubled, 2 * last, out=flags)
        if not positive:
            return np.greater(patterns, self._sign | last, out=flags)
        return np.greater(_as_signed(patterns) if self._sign else patterns, last, out=flags)

    def _finite(self, patterns: Patterns, signs: _Signs) -> _Signs:
        """Return the ranges of finite magnitudes: of each sign, NaN and infinities are beyond all others.

        Less the smallest such magnitude, modulo the size of the type, the patterns of positive numbers are on top; read
        as signed, those of negative numbers are. Where -0.0 is the NaN, one more than it is subtracted.
        """
        sign, limit = self._sign, self._limit
        if self._minus_zero:
            if not signs.negative_high:
                return replace(signs, negative_low=_NONE_LOW, negative_high=_NONE_HIGH)
            moved = np.subtract(patterns, sign + 1, out=self._scratch[: patterns.size])
            return replace(signs, negative_low=int(_MIN(moved)) + 1)
        moved = np.subtract(patterns, limit, out=self._scratch[: patterns.size])
        ends: dict[str, int] = {}
        if signs.positive_low < limit:
            high = (int(_MAX(moved)) + limit) % (1 << 8 * patterns.itemsize)
            ends |= {"positive_low": signs.positive_low, "positive_high": high}
        if signs.negative_low < limit:
            high = int(_MAX(_as_signed(moved))) + limit - sign
            ends |= {"negative_low": signs.negative_low, "negative_high": high}
        return _Signs(**ends)

    def _doubled(self, patterns: Patterns) -> Patterns:
        """Return the patterns without their signs, times two."""
        return np.add(patterns, patterns, out=self._scratch[: patterns.size])


def counter_of(layout: Layout, chunk_elements: int) -> FloatCounter | IntegerCounter:
    """Return what counts chunks of up to `chunk_elements` elements of this layout; scratch space is used again."""
    if isinstance(layout, FloatLayout):
        return FloatCounter(layout, chunk_elements)
    return IntegerCounter(layout, chunk_elements)


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
