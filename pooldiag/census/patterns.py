"""Which bit patterns there are, and how often: every one of NaN, and the one that dominates a tensor."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.elements import Patterns
from pooldiag.census.layouts import FloatLayout, Layout
from pooldiag.model.counts import PAGE_BYTES

PATTERN_LIMIT = 65_536
DOMINANT_SHARE = 8  # a pattern is called dominant from one element in so many

_NARROW_BITS = 16  # all patterns of a type this narrow fit a table
_PENDING = 2**18  # patterns that wait to be counted together
_WHOLE = 4096  # elements up to which a chunk is its own sample
_SAMPLE = 256
_OFTEN = 24  # times in the sample: 32 are expected of a pattern that dominates
_ACTIVE = 16  # patterns that are counted at a time


class PatternTable:
    """Counts of patterns, exact for each that is kept: the first 65,536, and no others.

    Where too many come at once, the most frequent of them are kept.
    """

    def __init__(self, layout: Layout) -> None:
        self._narrow = layout.bits <= _NARROW_BITS
        self._quiet = layout.quiet if isinstance(layout, FloatLayout) else 0
        self._patterns: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._counts: NDArray[np.int64] = np.empty(0, np.int64)
        self._uniform: Counter[int] = Counter()
        self._pending: list[Patterns] = []
        self._waiting = 0
        self._dropped = False
        self.signalling = 0  # of all that `ranked` looked at, also of patterns that are not kept

    @property
    def complete(self) -> bool:
        """Whether each pattern that came is kept, as far as is known: those that wait might all be different."""
        waiting = 0 if self._narrow else self._waiting + len(self._uniform)
        return not self._dropped and self._patterns.size + waiting <= PATTERN_LIMIT

    def add(self, patterns: Patterns) -> None:
        """Count patterns."""
        if not patterns.size:
            return
        low = int(patterns.min())
        if low == patterns.max():
            self.add_one(low, patterns.size)
            return
        self._pending.append(patterns)
        self._waiting += patterns.size
        if self._waiting >= _PENDING:
            self._flush()

    def add_one(self, pattern: int, count: int) -> None:
        """Count one pattern `count` times."""
        self._uniform[pattern] += count
        if len(self._uniform) >= _PENDING:
            self._flush()

    def ranked(self) -> list[tuple[int, int]]:
        """Return the patterns and their counts, by falling count, then by pattern."""
        self._flush()
        order = np.lexsort((self._patterns, -self._counts))
        return list(zip(self._patterns[order].tolist(), self._counts[order].tolist(), strict=True))

    def _flush(self) -> None:
        parts = [self._counted(np.concatenate(self._pending))] if self._pending else []
        if self._uniform:
            parts.append((np.array([*self._uniform], np.uint64), np.array([*self._uniform.values()], np.int64)))
        if parts:
            patterns, places = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
            counts = np.zeros(patterns.size, np.int64)
            np.add.at(counts, places.reshape(-1), np.concatenate([part[1] for part in parts]))
            self._merge(patterns, counts)
        self._pending.clear()
        self._uniform.clear()
        self._waiting = 0

    def _counted(self, patterns: Patterns) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        if not self._narrow:
            values, counts = np.unique(patterns, return_counts=True)
            return values.astype(np.uint64), counts
        by_pattern = np.bincount(patterns)
        found = np.flatnonzero(by_pattern)
        return found.astype(np.uint64), by_pattern[found]

    def _merge(self, patterns: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
        """Add rising patterns with their counts; where there is no room for all that are new, for the most frequent."""
        if self._quiet:
            self.signalling += int(counts[patterns & self._quiet == 0].sum())
        places = np.searchsorted(self._patterns, patterns)
        known = np.zeros(patterns.size, np.bool_)
        inside = places < self._patterns.size
        known[inside] = self._patterns[places[inside]] == patterns[inside]
        self._counts[places[known]] += counts[known]
        room = PATTERN_LIMIT - self._patterns.size
        fresh, fresh_counts = patterns[~known], counts[~known]
        if fresh.size > room:
            self._dropped = True
            often = np.argsort(-fresh_counts, kind="stable")[:room]
            fresh, fresh_counts = fresh[often], fresh_counts[often]
        merged = np.concatenate((self._patterns, fresh))
        order = np.argsort(merged)
        self._patterns = merged[order]
        self._counts = np.concatenate((self._counts, fresh_counts))[order]


@dataclass(slots=True, kw_only=True)
class Followed:
    """A pattern that may dominate: its count from element `since` on."""

    pattern: int
    since: int
    count: int = 0
    pages: int = 0

    def look(self, patterns: Patterns, offset: int) -> None:
        """Count the pattern in a chunk that begins at `offset`."""
        found = patterns == self.pattern
        count = int(np.count_nonzero(found))
        self.count += count
        page = PAGE_BYTES // patterns.itemsize
        if count < page:
            return
        start = -offset % page
        whole = (found.size - start) // page
        if whole > 0:
            self.pages += int(np.count_nonzero(found[start : start + whole * page].reshape(whole, page).all(axis=1)))


class DominantSearch:
    """Finds patterns that one element in eight has, in one reading.

    Such a pattern is that frequent in some chunk as well. A sample of each chunk says which patterns are; from there
    on they are counted, as long as they stay above half that share. What came before, `Followed.since`, can be looked
    at in another reading. A chunk of up to 4096 elements is its own sample, so that a small tensor is searched exactly.
    """

    def __init__(self, is_known: Callable[[int], bool]) -> None:
        self._is_known = is_known
        self._followed: dict[int, Followed] = {}

    def add(self, patterns: Patterns, offset: int) -> None:
        """Look for frequent patterns in a chunk, and count those that are followed."""
        if frequent := _frequent(patterns, first=offset == 0):
            self._follow(frequent, offset)
        if self._followed:
            for each in self._followed.values():
                each.look(patterns, offset)
            self._drop(offset + patterns.size)

    def add_constant(self, pattern: int, n: int, *, offset: int, page: int) -> None:
        """Do the same for a chunk that holds nothing but `pattern`."""
        self._follow([pattern], offset)
        if (each := self._followed.get(pattern)) is not None:
            each.count += n
            each.pages += max(0, (n - -offset % page) // page)
        self._drop(offset + n)

    def look_again(self, chunks: Iterable[Patterns]) -> None:
        """Count what was not counted yet; chunks are the same, and in the same order, as they were."""
        offset = 0
        for patterns in chunks:
            for each in self._followed.values():
                if each.since > offset:
                    each.look(patterns, offset)
            offset += patterns.size
        for each in self._followed.values():
            each.since = 0

    def take_over(self, followed: Iterable[Followed]) -> None:
        """Follow patterns that were counted elsewhere."""
        self._followed.update({each.pattern: each for each in followed})

    def pages(self, pattern: int) -> int:
        """Return how many whole pages a pattern that is followed fills; 0 for any other."""
        return self._followed[pattern].pages if pattern in self._followed else 0

    def candidates(self, n: int) -> list[Followed]:
        """Return the patterns that may be one in eight of `n` elements."""
        return [
            each
            for each in self._followed.values()
            if each.count * DOMINANT_SHARE + each.since >= n  # where it was not counted, it was less than dominant
        ]

    def _follow(self, patterns: Iterable[int], offset: int) -> None:
        for pattern in patterns:
            if pattern not in self._followed and not self._is_known(pattern):
                self._followed[pattern] = Followed(pattern=pattern, since=offset)

    def _drop(self, end: int) -> None:
        """Forget what has become rare, and the rarest if too many are left."""
        kept = [each for each in self._followed.values() if each.count * 2 * DOMINANT_SHARE >= end - each.since]
        kept.sort(key=lambda each: each.count / (end - each.since), reverse=True)
        self._followed = {each.pattern: each for each in kept[:_ACTIVE]}


def frequent_in(sample: Patterns, *, share: int = 2 * DOMINANT_SHARE) -> list[int]:
    """Return the patterns that one element of a sample in `share` has, or more."""
    values, counts = np.unique(sample, return_counts=True)
    return [int(value) for value in values[counts * share >= counts.sum()]]


def _frequent(patterns: Patterns, *, first: bool) -> list[int]:
    """Return the patterns that look as if one element in eight of a chunk, or nearly so, had them."""
    whole = patterns.size <= _WHOLE
    if whole or first:
        return frequent_in(_sample(patterns, _WHOLE), share=DOMINANT_SHARE if whole else 2 * DOMINANT_SHARE)
    drawn = _sample(patterns, _SAMPLE).copy()
    drawn.sort()
    often = drawn[_OFTEN - 1 :] == drawn[: 1 - _OFTEN]
    return sorted(set(drawn[_OFTEN - 1 :][often].tolist())) if often.any() else []


def _sample(patterns: Patterns, size: int) -> Patterns:
    return patterns[:: max(1, patterns.size // size) | 1]  # an odd stride: tensors have even rows
