"""Compares two tensors element by element, in chunks, on their bit patterns: values are made only where bits differ.

This module and those it needs import NumPy: import it when a comparison is made, not at start-up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import BinaryIO

import numpy as np

from pooldiag.census.comparison_values import Values, common_type, decode, distances, nan_flags, relative, steps, zeros
from pooldiag.census.elements import ElementReader, Patterns, as_stored
from pooldiag.census.findings import Rule, apply
from pooldiag.census.layouts import ByteOrder, CensusError, FloatLayout, Layout
from pooldiag.census.marks import Flags, Indices, flagged
from pooldiag.model.comparisons import Comparison, Difference, LargestError, NanPlaces, Side
from pooldiag.model.counts import Element
from pooldiag.model.words import count

_WORD = 8
_AT_A_TIME = 2**14  # values that are made at a time: small arrays cost no fresh memory
COMPARED_BYTES = 2**18  # of the side with the larger elements, at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One side: a file that stands at its first element, and what is in it; `count` elements, or all to its end."""

    file: BinaryIO
    path: str
    layout: Layout
    tensor: str | None = None
    shape: tuple[int, ...] | None = None
    byte_order: ByteOrder = "little"
    count: int | None = None


def compare(here: Operand, there: Operand, *, chunk_bytes: int = COMPARED_BYTES) -> Comparison:
    """Compare a tensor with its reference, `there`, as far as both go.

    Two element types are compared by value, if one type holds the numbers of both exactly; CensusError if none does.
    Shapes are not looked at: elements are compared in the order of the files.
    """
    common = common_type(here.layout, there.layout)
    if common is None:
        raise CensusError(
            f"{here.path}: {here.layout.name} and {there.layout.name} ({there.path}) cannot be compared exactly",
            hint="save both as one element type",
        )
    elements = max(2, chunk_bytes // max(here.layout.item_bytes, there.layout.item_bytes) // 2 * 2)
    tally = _ComparisonTally(here.layout, there.layout, common)
    ours = theirs = 0
    for left, right in zip_longest(_chunks(here, elements), _chunks(there, elements)):
        if left is not None and right is not None:
            both = min(left.size, right.size)
            tally.add(left[:both], right[:both], ours)
        ours += 0 if left is None else left.size
        theirs += 0 if right is None else right.size
    comparison = tally.comparison(_side(here, ours), _side(there, theirs))
    comparison = replace(comparison, notes=tuple(_notes(comparison)))
    return replace(comparison, findings=apply(RULES, comparison))


def _chunks(operand: Operand, elements: int) -> Iterator[Patterns]:
    layout = operand.layout
    reader = ElementReader(
        layout, path=operand.path, byte_order=operand.byte_order, chunk_bytes=elements * layout.item_bytes
    )
    return reader.chunks(operand.file, count=operand.count)


def _side(operand: Operand, n: int) -> Side:
    return Side(path=operand.path, tensor=operand.tensor, dtype=operand.layout.name, shape=operand.shape, n=n)


def _notes(comparison: Comparison) -> Iterator[str]:
    here, there = comparison.here, comparison.there
    if here.dtype != there.dtype:
        yield (
            f"{here.dtype} here, {there.dtype} in the reference: values are compared, which are exact in both; bits and"
            " units in the last place are not"
        )
    if here.n != there.n:
        yield f"{count(here.n, 'element')} here, {there.n} in the reference: the first {comparison.n} are compared"
    elif comparison.shapes_differ:
        yield f"shape {here.shape} here, {there.shape} in the reference: compared in the order of the files"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Some elements of both sides, and where they are."""

    indices: Indices
    here: Patterns
    there: Patterns

    def only(self, flags: Flags) -> "_Pairs":
        chosen = flags.nonzero()[0]
        if chosen.size == flags.size:
            return self
        return _Pairs(indices=self.indices.take(chosen), here=self.here.take(chosen), there=self.there.take(chosen))


@dataclass(slots=True, kw_only=True)
class _Differences:
    """Plain counts, the first places, and the largest errors so far."""

    n: int = 0
    bits: int = 0
    nan_here: int = 0
    nan_here_only: int = 0
    nan_there_only: int = 0
    first_nan_here: int | None = None
    first_nan_there: int | None = None
    nan_bits: int = 0
    unequal: int = 0
    zero_sign: int = 0
    infinity: int = 0
    zero_here: int = 0
    zero_there: int = 0
    first_bits: Difference | None = None
    first: Difference | None = None
    absolute: LargestError | None = None
    relative: LargestError | None = None
    ulps: LargestError | None = None


class _ComparisonTally:
    """Compares chunks as they come."""

    def __init__(self, here: Layout, there: Layout, common: np.dtype[np.generic]) -> None:
        self._named = (here, there)
        (self._here, shift), (self._there, other) = as_stored(here), as_stored(there)
        self._shifts = (shift, other)
        self._common = common
        self._alike = here == there
        self._sums = _Differences()

    def add(self, here: Patterns, there: Patterns, offset: int) -> None:
        """Compare two chunks of one size that begin at `offset`."""
        sums = self._sums
        sums.n += here.size
        if (flags := nan_flags(here, self._here)) is not None:
            sums.nan_here += int(np.count_nonzero(flags))
        if self._alike and _equal(here, there):
            return
        differing = flagged(here != there if self._alike else ~self._equal_values(here, there))
        for begin in range(0, differing.size, _AT_A_TIME):
            places = differing[begin : begin + _AT_A_TIME]
            self._add_differing(_Pairs(indices=places + offset, here=here.take(places), there=there.take(places)))

    def _equal_values(self, here: Patterns, there: Patterns) -> Flags:
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
            equal: Flags = self._values(here, self._here) == self._values(there, self._there)
        return equal

    def _values(self, patterns: Patterns, layout: Layout) -> Values:
        return decode(patterns, layout).astype(self._common, copy=False)

    def _add_differing(self, elements: _Pairs) -> None:
        """Take over elements whose bits differ, or, between two types, whose values do: NaN differ from all."""
        sums = self._sums
        if self._alike:
            sums.bits += elements.indices.size
            sums.first_bits = sums.first_bits or self._difference(elements, 0)
        nan_here, nan_there = nan_flags(elements.here, self._here), nan_flags(elements.there, self._there)
        parts = [elements]
        if nan_here is not None or nan_there is not None:
            none = np.zeros(elements.indices.size, np.bool_)
            nan_here, nan_there = none if nan_here is None else nan_here, none if nan_there is None else nan_there
            sums.nan_bits += int(np.count_nonzero(nan_here & nan_there))
            parts = [elements.only(each) for each in (nan_here & ~nan_there, nan_there & ~nan_here)]
            self._add_nan(*parts)
            parts.append(elements.only(~(nan_here | nan_there)))
        parts[-1] = self._unequal(parts[-1])
        self._add_numbers(parts[-1])
        if sums.first is None:
            firsts = [self._difference(part, 0) for part in parts if part.indices.size]
            sums.first = min(firsts, key=lambda place: place.index, default=None)

    def _add_nan(self, here_only: _Pairs, there_only: _Pairs) -> None:
        sums = self._sums
        sums.nan_here_only += here_only.indices.size
        sums.nan_there_only += there_only.indices.size
        sums.zero_here += zeros(there_only.here, self._here)
        sums.zero_there += zeros(here_only.there, self._there)
        if sums.first_nan_here is None and here_only.indices.size:
            sums.first_nan_here = int(here_only.indices[0])
        if sums.first_nan_there is None and there_only.indices.size:
            sums.first_nan_there = int(there_only.indices[0])

    def _unequal(self, numbers: _Pairs) -> _Pairs:
        """Leave out what differs by the sign of zero only."""
        if not self._alike or not isinstance(self._here, FloatLayout):
            return numbers
        some = zeros(numbers.here, self._here)
        if not some:
            return numbers
        unequal = (numbers.here | numbers.there) & self._here.magnitudes != 0
        found = numbers.only(unequal)
        self._sums.zero_sign += numbers.indices.size - found.indices.size
        return found

    def _add_numbers(self, unequal: _Pairs) -> None:
        """Take over elements that are numbers on both sides, and not equal."""
        sums = self._sums
        sums.unequal += unequal.indices.size
        sums.zero_here += zeros(unequal.here, self._here)
        sums.zero_there += zeros(unequal.there, self._there)
        if self._alike and isinstance(self._here, FloatLayout):
            ulps = steps(unequal.here, unequal.there, self._here, self._shifts[0])
            sums.ulps = self._larger(sums.ulps, ulps, unequal)
        here, there = self._values(unequal.here, self._here), self._values(unequal.there, self._there)
        if here.dtype == np.float64:
            finite = np.isfinite(here) & np.isfinite(there)
            if not finite.all():
                sums.infinity += finite.size - int(np.count_nonzero(finite))
                unequal, here, there = unequal.only(finite), here[finite], there[finite]
        absolute = distances(here, there)
        sums.absolute = self._larger(sums.absolute, absolute, unequal)
        divisible = there != 0
        if not divisible.all():
            unequal = unequal.only(divisible)
            here, there, absolute = here[divisible], there[divisible], absolute[divisible]
        sums.relative = self._larger(sums.relative, relative(here, there, absolute), unequal)

    def _larger(self, known: LargestError | None, errors: Values, elements: _Pairs) -> LargestError | None:
        """Return the largest of these errors, if it exceeds all before."""
        if errors.size:
            place = int(errors.argmax())
            error = errors[place].item()
            if known is None or error > known.error:
                return LargestError(error=error, at=self._difference(elements, place))
        return known

    def comparison(self, here: Side, there: Side) -> Comparison:
        """Return what was found, without findings and notes."""
        sums, bits = self._sums, self._alike
        return Comparison(
            here=here,
            there=there,
            n=sums.n,
            value_different=sums.unequal + sums.nan_here_only + sums.nan_there_only,
            bit_different=sums.bits if bits else None,
            nan_bits_different=sums.nan_bits if bits else None,
            zero_sign_different=sums.zero_sign if bits else None,
            first=sums.first,
            first_bits=sums.first_bits,
            nan=NanPlaces(
                both=sums.nan_here - sums.nan_here_only,
                here_only=sums.nan_here_only,
                there_only=sums.nan_there_only,
                first_here_only=sums.first_nan_here,
                first_there_only=sums.first_nan_there,
            ),
            infinity_different=sums.infinity,
            zero_here=sums.zero_here,
            zero_there=sums.zero_there,
            absolute=sums.absolute,
            relative=sums.relative,
            ulps=sums.ulps,
        )

    def _difference(self, elements: _Pairs, place: int) -> Difference:
        here, there = (
            Element(value=layout.value(pattern), bits=layout.text(pattern))
            for layout, patterns, shift in zip(self._named, (elements.here, elements.there), self._shifts, strict=True)
            for pattern in [int(patterns[place]) >> shift]
        )
        return Difference(index=int(elements.indices[place]), here=here, there=there)


def _equal(here: Patterns, there: Patterns) -> bool:
    """Say whether two chunks of one type are the same bytes, in words of 8 bytes as far as they go."""
    whole = here.size * here.itemsize // _WORD * _WORD // here.itemsize
    words = here[:whole].view(np.uint64) == there[:whole].view(np.uint64)
    return bool(words.all()) and bool((here[whole:] == there[whole:]).all())


def _nan_bits(comparison: Comparison) -> str | None:
    if not comparison.nan_bits_different:
        return None
    return (
        f"{comparison.nan_bits_different} of {comparison.nan.both} NaN at the same places have other bits in the"
        " reference: different by bits, equal by value"
    )


def _zeros_here(comparison: Comparison) -> str | None:
    if not comparison.zero_here or comparison.zero_here < comparison.value_different:
        return None
    return f"all {comparison.zero_here} elements that differ are 0 here and not in the reference"


RULES: tuple[Rule[Comparison], ...] = (
    Rule(
        name="nan-bits",
        confidence="high",
        provenance="IEEE 754-2019, 6.2.3 and 6.3: which payload a NaN takes over is open, and its sign means nothing",
        limits="By itself this is no failure: other hardware, another cast or another order of operands does it",
        read=_nan_bits,
    ),
    Rule(
        name="zeros-here",
        confidence="low, a hint",
        provenance="the operating system hands out zeroed pages; unguarded casts from f32 to bf16, by arithmetic",
        limits="An output that was not written looks like this, and a NaN that a cast made 0; so do small values lost",
        read=_zeros_here,
    ),
)
