"""Counts one tensor file, in chunks, by integer operations on the bit patterns: no conversion, no whole-file read.

The one module that imports NumPy: import it when a census is taken, not at start-up.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.findings import findings
from pooldiag.census.layouts import FloatLayout
from pooldiag.errors import PooldiagError
from pooldiag.model.census import Census, Element, NanRuns, PatternCount

CHUNK_BYTES = 2**20  # a multiple of every item size; flat from 512 KiB to 2 MiB
FIRST = 8
PATTERN_LIMIT = 65_536
SAMPLE = 4096  # elements of a chunk that are asked for the dominant pattern
DOMINANT_SHARE = 8  # a pattern is called dominant from one element in so many

Patterns = NDArray[np.unsignedinteger]


class CensusError(PooldiagError):
    """A file cannot be counted as the type that was named."""


def take_census(file: BinaryIO, *, path: str, layout: FloatLayout) -> Census:
    """Count the elements of a raw little-endian file, from where it stands to its end.

    `nan_patterns` holds the first 65,536 patterns at most (then their counts add up to less than `nan`).
    `dominant` is the most frequent pattern of a sample, counted exactly, if it is one in eight elements or more;
    None in a file that cannot be read twice.
    """
    start = file.tell() if file.seekable() else None
    tally = _Tally(layout=layout)
    digest = hashlib.sha256(usedforsecurity=False)
    for data in _chunks(file, path=path, layout=layout):
        digest.update(data)
        tally.add(np.frombuffer(data, layout.dtype))
    dominant = None
    if start is not None and (candidate := tally.candidate()) is not None:
        file.seek(start)
        dominant = _dominant(file, candidate, path=path, layout=layout)
    census = replace(tally.census(path), sha256=digest.hexdigest(), dominant=dominant)
    return replace(census, findings=findings(census))


def _chunks(file: BinaryIO, *, path: str, layout: FloatLayout) -> Iterator[bytes]:
    """Yield the file in pieces of whole elements; raise CensusError when it ends within one."""
    total = 0
    while data := _read(file, CHUNK_BYTES):
        total += len(data)
        if excess := len(data) % layout.item_bytes:
            raise CensusError(
                f"{path}: {total} bytes are no whole number of {layout.name} elements of {layout.item_bytes} bytes,"
                f" {excess} too many",
                hint="was it cut while it was written, or is it of another type?",
            )
        yield data


def _read(file: BinaryIO, size: int) -> bytes:
    """Read `size` bytes, less only at the end: a raw file may return less at any time."""
    data = file.read(size)
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data


def _dominant(file: BinaryIO, candidate: int, *, path: str, layout: FloatLayout) -> PatternCount | None:
    n = count = 0
    for data in _chunks(file, path=path, layout=layout):
        patterns = np.frombuffer(data, layout.dtype)
        n += patterns.size
        count += int(np.count_nonzero(patterns == candidate))
    return PatternCount(bits=layout.text(candidate), count=count) if count * DOMINANT_SHARE >= n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """Smallest and largest magnitude of one sign."""

    low: int
    high: int

    def merged(self, other: "_Range | None") -> "_Range":
        return self if other is None else _Range(low=min(self.low, other.low), high=max(self.high, other.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extremes:
    """The range of magnitudes of each sign that occurs."""

    positive: _Range | None = None
    negative: _Range | None = None

    def merged(self, other: "_Extremes") -> "_Extremes":
        return _Extremes(
            positive=self.positive.merged(other.positive) if self.positive else other.positive,
            negative=self.negative.merged(other.negative) if self.negative else other.negative,
        )

    @property
    def ranges(self) -> list[_Range]:
        return [found for found in (self.positive, self.negative) if found is not None]

    @property
    def smallest(self) -> int:
        return min(found.low for found in self.ranges)

    @property
    def largest(self) -> int:
        return max(found.high for found in self.ranges)


def _extremes(patterns: Patterns, layout: FloatLayout) -> _Extremes:
    """Find the extremes by integer comparisons: two passes, four when both signs occur."""
    if not patterns.size:
        return _Extremes()
    sign = layout.sign
    low, high = int(patterns.min()), int(patterns.max())
    if high < sign:
        return _Extremes(positive=_Range(low=low, high=high))
    if low >= sign:
        return _Extremes(negative=_Range(low=low - sign, high=high - sign))
    signed = patterns.view(layout.dtype.replace("u", "i"))  # there -0.0 is the lowest, and positives are above it
    return _Extremes(
        positive=_Range(low=low, high=int(signed.max())),
        negative=_Range(low=int(signed.min()) + sign, high=high - sign),
    )


@dataclass(slots=True, kw_only=True)
class _NanRunTally:
    """Runs of NaN, stitched where they cross from one chunk to the next."""

    count: int = 0
    longest: int = 0
    first: int | None = None
    open_length: int = 0  # of the run that the last chunk ended with

    def add(self, indices: NDArray[np.intp], *, offset: int, size: int) -> None:
        """Add the sorted indices of the NaN in a chunk of `size` elements that starts at `offset`."""
        if not indices.size:
            self.open_length = 0
            return
        if self.first is None:
            self.first = offset + int(indices[0])
        gaps = np.flatnonzero(np.diff(indices) != 1)
        lengths = np.diff(np.concatenate(([-1], gaps, [indices.size - 1])))
        joined = self.open_length if indices[0] == 0 else 0
        self.count += lengths.size - bool(joined)
        first_length, last_length = joined + int(lengths[0]), int(lengths[-1])
        self.longest = max(self.longest, first_length, int(lengths.max()))
        last_length = first_length if lengths.size == 1 else last_length
        self.open_length = last_length if indices[-1] == size - 1 else 0


@dataclass(slots=True, kw_only=True)
class _Tally:
    """The counts so far."""

    layout: FloatLayout
    n: int = 0
    nan: int = 0
    positive_inf: int = 0
    negative_inf: int = 0
    zero: int = 0
    negative_zero: int = 0
    subnormal: int = 0
    finite: _Extremes = field(default_factory=_Extremes)
    first: list[int] = field(default_factory=list)
    nan_patterns: Counter[int] = field(default_factory=Counter)
    nan_runs: _NanRunTally = field(default_factory=_NanRunTally)
    sampled: int = 0
    sample: Counter[int] = field(default_factory=Counter)

    def add(self, patterns: Patterns) -> None:
        """Count one chunk. What cannot be in it, by its extremes, is not looked for."""
        self.first += [int(pattern) for pattern in patterns[: FIRST - len(self.first)]]
        self._ask_sample(patterns)
        extremes = _extremes(patterns, self.layout)
        if extremes.largest >= self.layout.infinity:
            extremes = self._add_special(patterns)
        else:
            self.nan_runs.add(np.empty(0, np.intp), offset=self.n, size=patterns.size)
        self.finite = self.finite.merged(extremes)
        if extremes.ranges and extremes.smallest < self.layout.smallest_normal:
            self._add_small(patterns)
        self.n += patterns.size

    def _ask_sample(self, patterns: Patterns) -> None:
        stride = max(1, patterns.size // SAMPLE) | 1  # odd: tensors have even rows
        values, counts = np.unique(patterns[::stride], return_counts=True)
        self.sampled += int(counts.sum())
        often = counts * (2 * DOMINANT_SHARE) >= counts.sum()
        self.sample.update(dict(zip(values[often].tolist(), counts[often].tolist(), strict=True)))

    def _add_special(self, patterns: Patterns) -> _Extremes:
        """Count NaN and infinities; return the extremes of the rest."""
        layout = self.layout
        magnitudes = patterns & (layout.sign - 1)
        indices = np.flatnonzero(magnitudes > layout.infinity)
        self.nan += indices.size
        self.nan_runs.add(indices, offset=self.n, size=patterns.size)
        self._add_nan_patterns(patterns[indices])
        self.positive_inf += int(np.count_nonzero(patterns == layout.infinity))
        self.negative_inf += int(np.count_nonzero(patterns == layout.infinity | layout.sign))
        return _extremes(patterns[magnitudes < layout.infinity], layout)

    def _add_nan_patterns(self, patterns: Patterns) -> None:
        values, counts = np.unique(patterns, return_counts=True)
        for pattern, count in zip(values.tolist(), counts.tolist(), strict=True):
            if pattern in self.nan_patterns or len(self.nan_patterns) < PATTERN_LIMIT:
                self.nan_patterns[pattern] += count

    def _add_small(self, patterns: Patterns) -> None:
        """Count zeros and subnormals."""
        magnitudes = patterns & (self.layout.sign - 1)
        zero = int(np.count_nonzero(magnitudes == 0))
        self.zero += zero
        self.negative_zero += int(np.count_nonzero(patterns == self.layout.sign))
        self.subnormal += int(np.count_nonzero(magnitudes < self.layout.smallest_normal)) - zero

    def candidate(self) -> int | None:
        """Return the pattern that the samples show most often, if often enough to be worth a second reading."""
        if not self.sample:
            return None
        pattern, count = max(self.sample.items(), key=lambda item: (item[1], -item[0]))
        return pattern if count * 2 * DOMINANT_SHARE >= self.sampled else None

    def census(self, path: str) -> Census:
        """Return the counts as a census, without what the whole file has to be read for."""
        text = self.layout.text
        by_count = sorted(self.nan_patterns.items(), key=lambda item: (-item[1], item[0]))
        minimum, maximum, absmax = self._finite_values()
        return Census(
            path=path,
            dtype=self.layout.name,
            sha256="",
            n=self.n,
            nan=self.nan,
            positive_inf=self.positive_inf,
            negative_inf=self.negative_inf,
            zero=self.zero,
            negative_zero=self.negative_zero,
            subnormal=self.subnormal,
            minimum=minimum,
            maximum=maximum,
            absmax=absmax,
            first=tuple(Element(value=self.layout.value(bits), bits=text(bits)) for bits in self.first),
            nan_patterns=tuple(PatternCount(bits=text(bits), count=count) for bits, count in by_count),
            nan_runs=NanRuns(count=self.nan_runs.count, longest=self.nan_runs.longest, first=self.nan_runs.first),
        )

    def _finite_values(self) -> tuple[float | None, float | None, float | None]:
        """Return minimum, maximum and largest magnitude of the finite elements."""
        positive, negative, value = self.finite.positive, self.finite.negative, self.layout.value
        if positive and negative:
            return -value(negative.high), value(positive.high), value(self.finite.largest)
        if positive:
            return value(positive.low), value(positive.high), value(positive.high)
        if negative:
            return -value(negative.high), -value(negative.low), value(negative.high)
        return None, None, None
