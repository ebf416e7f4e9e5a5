"""Which elements of a chunk are marked: listed one by one where they are few, else counted as flags and as bits."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pooldiag.model.counts import RESIDUES

Indices: TypeAlias = NDArray[np.intp]
Flags: TypeAlias = NDArray[np.bool_]

_NOWHERE: Indices = np.empty(0, np.intp)
_FEW = 4  # words, of which one at most has a flag
_WORD = 8  # flags that are looked at together
_LANES = 255  # flags that can be added up in a byte
_ROW = 512  # words that are added to as many others at a time
_SLICES = 64  # stretches that are counted one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Marked elements of a chunk, at least one: `places`, rising, where they are few, `flags` where they are many.

    Flags are used again for the next chunk.
    """

    count: int
    places: Indices | None = None
    flags: Flags | None = None

    def all_places(self) -> Indices:
        """Return where they are, however many."""
        if self.flags is not None:
            return self.flags.nonzero()[0]
        return _NOWHERE if self.places is None else self.places

    def residues(self) -> NDArray[np.int64]:
        """Count them by index modulo 8."""
        if self.flags is not None:
            return _residues(self.flags)
        return np.bincount(self.all_places() & (RESIDUES - 1), minlength=RESIDUES)

    def between(self, borders: Indices) -> NDArray[np.int64]:
        """Count them from each border, which rise, to the next."""
        if self.flags is not None:
            return _flags_between(self.flags, borders)
        return np.diff(np.searchsorted(self.all_places(), borders))


def marks_of(flags: Flags) -> Marks | None:
    """Return the marks that flags set; None for no mark."""
    words, hits = _hits(flags)
    if hits.size * 2 > words.size:
        return Marks(count=int(np.count_nonzero(flags)), flags=flags)
    places = _flagged(flags, words, hits)
    return Marks(count=places.size, places=places) if places.size else None


def listed(places: Indices, flags: Flags) -> Marks | None:
    """Return the marks at those places that are flagged; None if none is."""
    chosen = flags.nonzero()[0]
    return Marks(count=chosen.size, places=places.take(chosen)) if chosen.size else None


def few_places(flags: Flags) -> Indices | None:
    """Return where flags are set, if they are few."""
    words, hits = _hits(flags)
    return None if hits.size * _FEW > words.size else _flagged(flags, words, hits)


def _hits(flags: Flags) -> tuple[NDArray[np.uint64], Indices]:
    """Return flags as words of eight, and which words have some that are set."""
    words = flags[: flags.size // _WORD * _WORD].view(np.uint64)
    return words, (words != 0).nonzero()[0]


def flagged(flags: Flags) -> Indices:
    """Return where flags are set; quick where few are."""
    words, hits = _hits(flags)
    return flags.nonzero()[0] if hits.size * 4 > words.size * 3 else _flagged(flags, words, hits)


def _flagged(flags: Flags, words: NDArray[np.uint64], hits: Indices) -> Indices:
    """Return where flags are set, when it is known which words of eight have some."""
    found = words.take(hits).view(np.bool_).nonzero()[0]  # counted in the words that are hit
    places = (hits << 3).take(found >> 3)
    places += found & (_WORD - 1)
    if (size := words.size * _WORD) < flags.size:
        places = np.concatenate((places, flags[size:].nonzero()[0] + size))
    return places


def _flags_between(flags: Flags, borders: Indices) -> NDArray[np.int64]:
    """Count the flags from each border, which rise, to the next."""
    if borders.size <= _SLICES:
        edges = borders.tolist()
        counts = [np.count_nonzero(flags[begin:end]) for begin, end in pairwise(edges)]
        return np.array(counts, np.int64)
    return np.add.reduceat(flags[: borders[-1]].view(np.uint8), borders[:-1], dtype=np.int64)


def _residues(flags: Flags) -> NDArray[np.int64]:
    """Count flags by index modulo 8, by adding words of eight flags: each byte of a sum is a count."""
    words = flags[: flags.size // _WORD * _WORD].view(np.uint64)
    rows = words[: words.size // _ROW * _ROW].reshape(-1, _ROW)
    sums = [np.add.reduce(rows[begin : begin + _LANES], axis=0) for begin in range(0, len(rows), _LANES)]
    lanes = np.concatenate((*sums, words[rows.size :])).view(np.uint8)
    counts: NDArray[np.int64] = lanes.reshape(-1, RESIDUES).sum(axis=0, dtype=np.int64)
    rest = flags[words.size * _WORD :]
    counts[: rest.size] += rest
    return counts
