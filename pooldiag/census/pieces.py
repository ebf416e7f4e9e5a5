"""Counts an array that another device counted piece by piece: from one row of numbers each."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.chunks import ChunkCounts
from pooldiag.census.elements import CHUNK_BYTES, Patterns
from pooldiag.census.layouts import FloatLayout, Layout, Specials
from pooldiag.census.patterns import Followed, frequent_in
from pooldiag.census.places import BlockPlan
from pooldiag.census.tally import FIRST, Tally
from pooldiag.model.counts import PAGE_BYTES

# The fields of `struct Row` in kernel.cu, in order.
ROW_FIELDS = (
    *("special", "zero", "negative_zero", "small", "lowest_word", "highest_word"),
    *("lowest", "lowest_place", "highest", "highest_place", "largest", "largest_place"),
)
ROW = np.dtype([(field, np.uint64) for field in ROW_FIELDS])
# `enum Kind` in kernel.cu.
_FLOAT, _MINUS_ZERO_IS_NAN, _UNSIGNED, _SIGNED = range(4)


class Pieces(Protocol):
    """An array somewhere else, in row-major order."""

    n: int

    def rows(self, piece_elements: int) -> NDArray[np.void]:
        """Count pieces of this size, the last one maybe shorter, and return a `ROW` for each."""

    def fetch(self, begin: int, n: int) -> Patterns:
        """Copy elements to the host."""

    def sample(self) -> Patterns:
        """Copy some elements to the host, taken evenly from all over."""

    def count(self, pattern: int, page_elements: int) -> tuple[int, int]:
        """Return how often a pattern occurs, and how many whole pages of elements hold nothing else."""


def kernel_layout(layout: Layout) -> tuple[int, int, int, int, int, int]:
    """Return what the kernel wants to know of a layout: sign, magnitudes, special, normal, has_special, kind."""
    if isinstance(layout, FloatLayout):
        has_special = layout.specials in {Specials.IEEE, Specials.ALL_ONES}
        kind = _MINUS_ZERO_IS_NAN if layout.specials is Specials.MINUS_ZERO else _FLOAT
        limit = layout.finite_limit if has_special else 0
        return layout.sign, layout.magnitudes, limit, layout.smallest_normal, int(has_special), kind
    sign = 1 << (layout.bits - 1) if layout.signed else 0
    return sign, (1 << layout.bits) - 1, 0, 0, 0, _SIGNED if layout.signed else _UNSIGNED


def tally_pieces(
    array: Pieces, layout: Layout, *, blocks: BlockPlan | None, piece_bytes: int = CHUNK_BYTES
) -> tuple[Tally, int]:
    """Make a tally from the rows of an array; return also how many pieces had to be fetched.

    Where NaN and infinities are, and their patterns, a row does not say: a piece that holds some, unless it is of one
    pattern, is copied and counted here.
    """
    size = piece_bytes // layout.item_bytes
    tally = Tally(layout, chunk_elements=size, blocks=blocks, searching=False)
    fetched = 0
    for place, row in enumerate(array.rows(size) if array.n else ()):
        begin = place * size
        n = min(size, array.n - begin)
        if row["lowest_word"] == row["highest_word"]:
            tally.add_constant(int(row["lowest_word"]), n)
        elif row["special"]:
            tally.add(array.fetch(begin, n))
            fetched += 1
        else:
            tally.add_counted(_counts(row, n, layout), array.fetch(begin, min(n, FIRST)) if not begin else _NONE)
    if array.n:
        page = PAGE_BYTES // layout.item_bytes
        tally.dominant.take_over(
            [
                Followed(pattern=pattern, since=0, count=count, pages=pages)
                for pattern in frequent_in(array.sample())
                for count, pages in [array.count(pattern, page)]
            ]
        )
    return tally, fetched


_NONE: Patterns = np.empty(0, np.uint8)


def _counts(row: np.void, n: int, layout: Layout) -> ChunkCounts:
    """Return the counts of a piece without special elements."""
    sign, magnitudes, *_, kind = kernel_layout(layout)
    zero = int(row["zero"]) + int(row["negative_zero"])
    return ChunkCounts(
        n=n,
        lowest=_pattern(int(row["lowest"]), sign, magnitudes | sign, kind),
        highest=_pattern(int(row["highest"]), sign, magnitudes | sign, kind),
        largest=(int(row["largest"]),),
        places=(int(row["lowest_place"]), int(row["highest_place"]), int(row["largest_place"])),
        zero=zero,
        negative_zero=int(row["negative_zero"]),
        small=int(row["small"]) if kind in {_FLOAT, _MINUS_ZERO_IS_NAN} else zero,
    )


def _pattern(key: int, sign: int, every_bit: int, kind: int) -> int:
    """Return the pattern that the kernel orders by this key."""
    if kind in {_UNSIGNED, _SIGNED} or key & sign or not sign:
        return key ^ sign
    return ~key & every_bit
