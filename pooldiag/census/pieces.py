"""Counts an array that another device counted piece by piece: from one row of numbers each."""

import numpy as np

from pooldiag.census.chunks import ChunkCounts
from pooldiag.census.device import FLOAT, MINUS_ZERO_IS_NAN, SIGNED, UNSIGNED, GpuArray, kernel_layout
from pooldiag.census.elements import CHUNK_BYTES, Patterns
from pooldiag.census.layouts import Layout
from pooldiag.census.patterns import Followed, frequent_in
from pooldiag.census.places import BlockPlan
from pooldiag.census.tally import FIRST, Tally
from pooldiag.model.counts import PAGE_BYTES


def tally_pieces(
    array: GpuArray, layout: Layout, *, blocks: BlockPlan | None, piece_bytes: int = CHUNK_BYTES
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
        small=int(row["small"]) if kind in {FLOAT, MINUS_ZERO_IS_NAN} else zero,
    )


def _pattern(key: int, sign: int, every_bit: int, kind: int) -> int:
    """Return the pattern that the kernel orders by this key."""
    if kind in {UNSIGNED, SIGNED} or key & sign or not sign:
        return key ^ sign
    return ~key & every_bit
