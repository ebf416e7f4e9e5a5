"""The counts of a tensor so far, chunk by chunk, and the census that they make."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.chunks import ChunkCounts, counter_of, counts_of_constant
from pooldiag.census.elements import Patterns, as_stored
from pooldiag.census.layouts import FloatLayout, Layout
from pooldiag.census.marks import Marks
from pooldiag.census.patterns import DOMINANT_SHARE, DominantSearch, PatternTable
from pooldiag.census.places import BlockPlan, BlockTally, RunTally
from pooldiag.model.counts import PAGE_BYTES, RESIDUES, Census, Element, PatternCount

FIRST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extreme:
    """An extreme element: what orders it, its value, its index. Without a key there is none yet."""

    key: int | None = None
    value: float | None = None
    index: int | None = None


@dataclass(slots=True, kw_only=True)
class _Extremes:
    """The extremes so far. A place is looked for only in a chunk that has a new one."""

    layout: Layout
    lowest: _Extreme = _Extreme()
    highest: _Extreme = _Extreme()
    largest: _Extreme = _Extreme()

    def add(self, counts: ChunkCounts, patterns: Patterns, offset: int) -> None:
        """Take over what in a chunk is more extreme than all before."""
        if counts.lowest is None or counts.highest is None:
            return
        places = counts.places or (None, None, None)
        key = self.layout.key(counts.lowest)
        if self.lowest.key is None or key < self.lowest.key:
            self.lowest = self._found(key, (counts.lowest,), places[0], patterns, offset)
        key = self.layout.key(counts.highest)
        if self.highest.key is None or key > self.highest.key:
            self.highest = self._found(key, (counts.highest,), places[1], patterns, offset)
        key = self.layout.magnitude(counts.largest[0])
        if self.largest.key is None or key > self.largest.key:
            self.largest = self._found(key, counts.largest, places[2], patterns, offset)

    def _found(self, key: int, wanted: tuple[int, ...], place: int | None, patterns: Patterns, offset: int) -> _Extreme:
        """Find the first of the wanted patterns, unless it is known where it is."""
        pattern = wanted[0]
        if place is None:
            place, pattern = min((int(np.argmax(patterns == pattern)), pattern) for pattern in wanted)
        return _Extreme(key=key, value=self.layout.value(pattern), index=offset + place)


class Tally:
    """Counts chunks as they come."""

    def __init__(
        self, layout: Layout, *, chunk_elements: int, blocks: BlockPlan | None = None, searching: bool = True
    ) -> None:
        """Take the layout and how large a chunk can be; `blocks` asks for a map.

        Without `searching`, somebody else says to `dominant` which patterns are frequent.
        """
        self._searching = searching
        self._named = layout
        self._layout, self._shift = as_stored(layout)
        self._counter = counter_of(self._layout, chunk_elements)
        self._extremes = _Extremes(layout=self._layout)
        self._first: list[int] = []
        self._sums = ChunkCounts(n=0)  # of all chunks so far
        self._nan = 0
        self._nans = PatternTable(self._layout)
        self._runs = RunTally()
        self._residues = np.zeros(RESIDUES, np.int64)
        self._blocks = None if blocks is None else BlockTally(blocks)
        self.dominant = DominantSearch(self._is_known)
        self._constant: int | None = None
        self._constant_n = 0
        self._page = PAGE_BYTES // self._layout.item_bytes
        self.n = 0

    def add(self, patterns: Patterns) -> None:
        """Count one chunk, which is not empty."""
        self.add_counted(self._counter.count(patterns), patterns)

    def add_counted(self, counts: ChunkCounts, patterns: Patterns) -> None:
        """Take over the counts of a chunk; without `searching`, and with `places`, `patterns` may be the first few."""
        if counts.constant is not None:
            self.add_constant(counts.constant, counts.n)
            return
        self._end_constant()
        self._begin(counts, patterns)
        self._add_special(counts, patterns)
        if self._searching:
            self.dominant.add(patterns, self.n)
        self.n += counts.n

    def add_constant(self, pattern: int, n: int) -> None:
        """Count `n` elements of one pattern; as long as it stays the same, no more than their number is kept."""
        if self._constant != pattern:
            self._end_constant()
        self._constant = pattern
        self._constant_n += n

    def _begin(self, counts: ChunkCounts, patterns: Patterns) -> None:
        """Take over what is counted in the same way in every chunk; `patterns` may be the first ones only."""
        if len(self._first) < FIRST:
            self._first += [int(pattern) for pattern in patterns[: FIRST - len(self._first)]]
        self._extremes.add(counts, patterns, self.n)
        self._sums.add(counts)
        if self._blocks is not None:
            self._blocks.extend(self.n + counts.n)

    def _end_constant(self) -> None:
        pattern, n = self._constant, self._constant_n
        self._constant, self._constant_n = None, 0
        if pattern is not None:
            self._begin(counts_of_constant(self._layout, pattern, n), np.full(min(n, FIRST), pattern, np.uint64))
            self._add_constant(pattern, n)
            self.n += n

    def _add_special(self, counts: ChunkCounts, patterns: Patterns) -> None:
        nan, at = counts.nan, {"offset": self.n, "size": counts.n}
        self._runs.add(nan, **at)
        if nan is not None:
            self._nan += nan.count
            self._add_residues(nan.residues())
            self._add_nan_patterns(nan, patterns)
        if self._blocks is not None and nan is not None:
            self._blocks.add("nan", nan.between, **at)
        if self._blocks is not None and counts.inf is not None:
            self._blocks.add("inf", counts.inf.between, **at)

    def _add_nan_patterns(self, nan: Marks, patterns: Patterns) -> None:
        if nan.flags is not None:  # many, so it may pay to see whether they are all the same
            first = int(patterns[np.argmax(nan.flags)])
            if np.count_nonzero(patterns == first) == nan.count:
                self._nans.add_one(first, nan.count)
                return
        self._nans.add(patterns.take(nan.all_places()))

    def _add_constant(self, pattern: int, n: int) -> None:
        value, at = self._layout.value(pattern), {"offset": self.n, "size": n}
        if self._searching:
            self.dominant.add_constant(pattern, n, offset=self.n, page=self._page)
        if self._blocks is not None and not math.isfinite(value):
            self._blocks.add_all("nan" if math.isnan(value) else "inf", **at)
        if not math.isnan(value):
            self._runs.add(None, **at)
            return
        self._runs.add_all(**at)
        self._nan += n
        self._nans.add_one(pattern, n)
        self._add_residues(np.array([len(range(place, n, RESIDUES)) for place in range(RESIDUES)]))

    def _add_residues(self, residues: NDArray[np.int64]) -> None:
        """Add the counts of a chunk by places that count from its first element."""
        shift = self.n % RESIDUES
        self._residues += np.roll(residues, shift) if shift else residues

    def _is_known(self, pattern: int) -> bool:
        """Say whether a pattern is counted anyway, from the first element on."""
        value = self._layout.value(pattern)
        return value == 0 or math.isinf(value) or (math.isnan(value) and self._nans.complete)

    @property
    def uncounted(self) -> int:
        """How many elements have to be looked at again to count each pattern that may dominate."""
        self._end_constant()
        return max((each.since for each in self.dominant.candidates(self.n)), default=0)

    def census(self, path: str) -> Census:
        """Return the counts as a census, without its findings."""
        self._end_constant()
        extremes, sums, ranked = self._extremes, self._sums, self._nans.ranked()
        named, first = self._named, [bits >> self._shift for bits in self._first]
        dominant = self._dominant_of(ranked)
        return Census(
            path=path,
            dtype=self._named.name,
            sha256="",
            n=self.n,
            nan=self._nan,
            positive_inf=sums.positive_inf,
            negative_inf=sums.negative_inf,
            zero=sums.zero,
            negative_zero=sums.negative_zero,
            subnormal=sums.small - sums.zero,
            minimum=extremes.lowest.value,
            maximum=extremes.highest.value,
            absmax=None if extremes.largest.value is None else abs(extremes.largest.value),
            minimum_index=extremes.lowest.index,
            maximum_index=extremes.highest.index,
            absmax_index=extremes.largest.index,
            first=tuple(Element(value=named.value(bits), bits=named.text(bits)) for bits in first),
            nan_patterns=self._counted(ranked),
            nan_patterns_complete=self._nans.complete,
            nan_signalling=self._nans.signalling,
            nan_residues=tuple(self._residues.tolist()),
            nan_runs=self._runs.result(),
            dominant=None if dominant is None else self._counted([dominant])[0],
            dominant_exact=not self.uncounted,
            dominant_pages=0 if dominant is None else self.dominant.pages(dominant[0]),
            blocks=None if self._blocks is None else self._blocks.result(),
        )

    def _dominant_of(self, nans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """Return the most frequent pattern and its count, if it is one element in eight or more."""
        found = {**dict(self._common(nans)), **{each.pattern: each.count for each in self.dominant.candidates(self.n)}}
        pattern, count = min(found.items(), key=lambda item: (-item[1], item[0]))
        return (pattern, count) if count and count * DOMINANT_SHARE >= self.n else None

    def _common(self, nans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the patterns that are counted anyway."""
        layout, sums = self._layout, self._sums
        yield 0, sums.zero - sums.negative_zero
        if isinstance(layout, FloatLayout):
            yield layout.sign, sums.negative_zero
        if isinstance(layout, FloatLayout) and layout.infinity is not None:
            yield layout.infinity, sums.positive_inf
            yield layout.infinity | layout.sign, sums.negative_inf
        yield from nans[:1]  # the most frequent one

    def _counted(self, counts: Iterable[tuple[int, int]]) -> tuple[PatternCount, ...]:
        digits, shift = self._named.bits // 4, self._shift  # once: there may be many
        return tuple(PatternCount(bits=f"0x{bits >> shift:0{digits}x}", count=count) for bits, count in counts)
