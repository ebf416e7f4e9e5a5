"""Counts one tensor file, in chunks, by integer operations on the bit patterns: no conversion, no whole-file read.

This module and those it needs import NumPy: import it when a census is taken, not at start-up.
"""

import hashlib
from dataclasses import replace
from typing import BinaryIO

from pooldiag.census.elements import CHUNK_BYTES, ElementReader
from pooldiag.census.findings import findings
from pooldiag.census.layouts import ByteOrder, Layout
from pooldiag.census.places import BlockPlan
from pooldiag.census.tally import Tally
from pooldiag.model.counts import Census


def take_census(  # noqa: PLR0913 - what to count, and one option for each thing that can differ
    file: BinaryIO,
    *,
    path: str,
    layout: Layout,
    byte_order: ByteOrder = "little",
    count: int | None = None,
    sha256: bool = True,
    blocks: BlockPlan | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> Census:
    """Count the elements of a file from where it stands: `count` of them, or all to its end.

    `nan_patterns` holds the first 65,536 patterns at most (then their counts add up to less than `nan`).
    `dominant` is the most frequent pattern, of any value, if it is one element in eight or more. What that is shows up
    in samples; the count is exact, except (`dominant_exact` is False) in a file that cannot be read twice when the
    pattern was not frequent from the first chunk on: then the elements before that are not in it. `sha256` costs more
    than all counting. `chunk_bytes` is a multiple of the item size.
    """
    start = file.tell() if file.seekable() else None
    reader = ElementReader(layout, path=path, byte_order=byte_order, chunk_bytes=chunk_bytes)
    tally = Tally(layout, chunk_elements=max(chunk_bytes // layout.item_bytes, layout.per_item), blocks=blocks)
    digest = hashlib.sha256(usedforsecurity=False)
    for patterns in reader.chunks(file, count=count, seen=digest.update if sha256 else None):
        tally.add(patterns)
    if start is not None and tally.uncounted:
        file.seek(start)
        tally.dominant.look_again(reader.chunks(file, count=tally.uncounted))
    census = replace(tally.census(path), sha256=digest.hexdigest() if sha256 else "")
    return replace(census, findings=findings(census))
