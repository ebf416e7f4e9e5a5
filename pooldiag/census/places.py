"""Where NaN and infinities are: runs, places modulo 8, and a map of blocks, stitched from chunk to chunk."""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.bits import (
    BITS,
    Bits,
    bits_of,
    count_bits,
    has_run,
    highest,
    lowest,
    moved_down,
    moved_up,
    places_of,
)
from pooldiag.census.marks import Indices, Marks
from pooldiag.model.counts import NanMap, NanRuns

_OFTEN = 64  # runs are many from one in so many elements


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """How fine the map of blocks is: at most `limit` (an even number) of `elements` elements, doubled as need be."""

    elements: int = 1
    limit: int = 4096


@dataclass(slots=True, kw_only=True)
class RunTally:
    """Runs of NaN, stitched where they cross from one chunk to the next."""

    count: int = 0
    longest: int = 0
    first: int | None = None
    alignment: int = 0  # the greatest common divisor of where runs begin and end
    open_length: int = 0  # of the run that the last chunk ended with

    def add(self, marks: Marks | None, *, offset: int, size: int) -> None:
        """Add the NaN in a chunk of `size` elements that starts at `offset`."""
        if marks is None:
            self._close(offset)
        elif marks.flags is not None:
            self._add_many(bits_of(marks.flags), offset=offset, size=size)
        else:
            places = marks.all_places()
            gaps = (places[1:] - places[:-1] != 1).nonzero()[0]
            starts = places[np.concatenate(([0], gaps + 1))]
            ends = places[np.concatenate((gaps, [places.size - 1]))] + 1
            self._add_runs(starts, ends, offset=offset, size=size)

    def add_all(self, *, offset: int, size: int) -> None:
        """Add a chunk that is NaN from end to end."""
        self._add_runs(np.array([0]), np.array([size]), offset=offset, size=size)

    def result(self) -> NanRuns:
        """Return the runs so far; one that goes on to the end ends with the tensor."""
        return NanRuns(count=self.count, longest=self.longest, first=self.first, alignment=self.alignment or None)

    def _add_runs(self, starts: Indices, ends: Indices, *, offset: int, size: int) -> None:
        if self.first is None:
            self.first = offset + int(starts[0])
        joined = self.open_length if starts[0] == 0 else 0
        if not joined:
            self._close(offset)
        lengths = ends - starts
        lengths[0] += joined
        self.count += lengths.size - bool(joined)
        self.longest = max(self.longest, int(lengths.max()))
        self.open_length = int(lengths[-1]) if ends[-1] == size else 0
        self._align(starts[1:] if joined else starts, offset)
        self._align(ends[:-1] if self.open_length else ends, offset)

    def _add_many(self, marked: Bits, *, offset: int, size: int) -> None:
        """Add NaN that are many; runs that are many too, and like the ones before, without a list of them."""
        starts, lasts = marked & ~moved_up(marked), marked & ~moved_down(marked)
        count = count_bits(starts)
        joined = self.open_length if marked[0] & 1 else 0
        if (
            count > 1
            and count * _OFTEN >= size
            and (not joined or joined + lowest(lasts) < self.longest)
            and not has_run(marked, self.longest + 1)
            and self._keeps_alignment(marked, starts, joined=bool(joined), offset=offset, size=size)
        ):
            if not joined:
                self._close(offset)
            self.count += count - bool(joined)
            last = highest(starts)
            self.open_length = size - last if highest(lasts) == size - 1 else 0
        else:
            self._add_runs(places_of(starts), places_of(lasts) + 1, offset=offset, size=size)

    def _keeps_alignment(self, marked: Bits, starts: Bits, *, joined: bool, offset: int, size: int) -> bool:
        """Say whether runs begin and end at multiples of `alignment`, as far as bits can show."""
        if self.alignment == 1:
            return True
        if not self.alignment or BITS % self.alignment:
            return False
        borders = starts | (moved_up(marked) & ~marked)
        if joined:
            borders[0] &= ~np.uint64(1)
        if size % BITS:
            borders[-1] &= np.uint64((1 << size % BITS) - 1)  # an open end is not a border
        others = sum(1 << bit for bit in range(BITS) if (offset + bit) % self.alignment)
        return not (borders & np.uint64(others)).any()

    def _close(self, end: int) -> None:
        if self.open_length:
            self._align(np.array([0]), end)
        self.open_length = 0

    def _align(self, borders: Indices, offset: int) -> None:
        if self.alignment == 1 or not borders.size:
            return
        places = borders + offset
        if self.alignment:
            places = places[places % self.alignment != 0]
        self.alignment = gcd(self.alignment, int(np.gcd.reduce(places))) if places.size else self.alignment


class BlockTally:
    """Counts of places by block; blocks are joined in pairs when there would be too many."""

    def __init__(self, plan: BlockPlan) -> None:
        self._elements = plan.elements
        self._counts = {name: np.zeros(plan.limit, np.int64) for name in ("nan", "inf")}
        self._limit = plan.limit
        self._end = 0

    def extend(self, end: int) -> None:
        """Make room for elements up to `end`."""
        self._end = end
        while end > self._elements * self._limit:
            self._elements *= 2
            for counts in self._counts.values():
                counts[: self._limit // 2] = counts.reshape(-1, 2).sum(axis=1)
                counts[self._limit // 2 :] = 0

    def add(self, name: str, between: Callable[[Indices], NDArray[np.int64]], *, offset: int, size: int) -> None:
        """Add a chunk of `size` elements that starts at `offset`; `between` counts from each border to the next."""
        first, last = offset // self._elements, (offset + size - 1) // self._elements
        inner = np.arange(first + 1, last + 1) * self._elements - offset
        borders = np.concatenate(([0], inner, [size]))  # where in the chunk blocks begin and end
        self._counts[name][first : first + borders.size - 1] += between(borders)

    def add_all(self, name: str, *, offset: int, size: int) -> None:
        """Add every place of a chunk."""
        self.add(name, np.diff, offset=offset, size=size)

    def result(self) -> NanMap:
        """Return the map so far."""
        blocks = -(-self._end // self._elements)
        nan, inf = (tuple(self._counts[name][:blocks].tolist()) for name in ("nan", "inf"))
        return NanMap(elements=self._elements, nan=nan, inf=inf)
