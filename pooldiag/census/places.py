"""Where NaN and infinities are: runs, places modulo 8, and a map of blocks, stitched from chunk to chunk."""

from dataclasses import dataclass, field
from math import gcd

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.chunks import Indices
from pooldiag.model.census import RESIDUES, Blocks, NanRuns

_FEW = 4096  # places that are counted one by one


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

    def add(self, places: Indices, *, offset: int, size: int) -> None:
        """Add the rising places of the NaN in a chunk of `size` elements that starts at `offset`."""
        if not places.size:
            self._close(offset)
            return
        gaps = np.flatnonzero(np.diff(places) != 1)
        starts = places[np.concatenate(([0], gaps + 1))]
        ends = places[np.concatenate((gaps, [places.size - 1]))] + 1
        self._add_runs(starts, ends, offset=offset, size=size)

    def add_all(self, *, offset: int, size: int) -> None:
        """Add a chunk that is NaN from end to end."""
        self._add_runs(np.array([0]), np.array([size]), offset=offset, size=size)

    def result(self) -> NanRuns:
        """Return the runs so far; one that goes on to the end ends with the tensor."""
        return NanRuns(
            count=self.count,
            longest=self.longest,
            first=self.first,
            alignment=self.alignment or None,
        )

    def _add_runs(self, starts: Indices, ends: Indices, *, offset: int, size: int) -> None:
        if self.first is None:
            self.first = offset + int(starts[0])
        joined = self.open_length if starts[0] == 0 else 0
        if not joined:
            self._close(offset)
        lengths = ends - starts
        first_length, last_length = joined + int(lengths[0]), int(lengths[-1])
        self.count += lengths.size - bool(joined)
        self.longest = max(self.longest, first_length, int(lengths.max()))
        last_length = first_length if lengths.size == 1 else last_length
        self.open_length = last_length if ends[-1] == size else 0
        self._align(starts[1:] if joined else starts, offset)
        self._align(ends[:-1] if self.open_length else ends, offset)

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


@dataclass(slots=True, kw_only=True)
class ResidueTally:
    """How many places there are of each residue modulo 8."""

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(RESIDUES, np.int64))

    def add(self, places: Indices, *, offset: int) -> None:
        """Add places that count from `offset`."""
        if places.size:
            self.counts += np.bincount((places + offset) & (RESIDUES - 1), minlength=RESIDUES)

    def add_all(self, *, offset: int, size: int) -> None:
        """Add every place of a chunk."""
        self.counts += size // RESIDUES
        self.add(np.arange(size % RESIDUES), offset=offset)


class BlockTally:
    """Counts of places by block; blocks are joined in pairs when there would be too many."""

    def __init__(self, plan: BlockPlan) -> None:
        """Take the plan."""
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

    def add(self, name: str, places: Indices, *, offset: int, size: int) -> None:
        """Add rising places of a chunk of `size` elements that starts at `offset`."""
        if places.size:
            first, borders = self._borders(offset, size)
            cuts = np.searchsorted(places, borders)
            self._counts[name][first : first + cuts.size - 1] += np.diff(cuts)

    def add_all(self, name: str, *, offset: int, size: int) -> None:
        """Add every place of a chunk."""
        first, borders = self._borders(offset, size)
        self._counts[name][first : first + borders.size - 1] += np.diff(borders)

    def result(self) -> Blocks:
        """Return the map so far."""
        blocks = -(-self._end // self._elements)
        nan, inf = (tuple(self._counts[name][:blocks].tolist()) for name in ("nan", "inf"))
        return Blocks(elements=self._elements, nan=nan, inf=inf)

    def _borders(self, offset: int, size: int) -> tuple[int, Indices]:
        """Return the first block that a chunk touches, and where in the chunk blocks begin and end."""
        first, last = offset // self._elements, (offset + size - 1) // self._elements
        inner = np.arange(first + 1, last + 1) * self._elements - offset
        return first, np.concatenate(([0], inner, [size]))
