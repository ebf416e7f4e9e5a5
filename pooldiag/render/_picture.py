"""Where NaN and infinities are in a tensor: cells of a map, and the map in characters."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pooldiag.model.counts import Census, NanMap
from pooldiag.model.words import count

STRIP_LINE = 64  # cells of a strip beside one another, where it has several lines
_SHADES = ("·", "░▒▓", "█", "∞")  # nothing, some of it by thirds, all of it, infinities alone
_EIGHTHS = ("·", "▁▂▃▄▅▆▇", "█", "∞")
_ASCII = (".", "-+*", "#", "i")


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureCell:
    """Some elements that stand together, and how many of them are NaN and infinite."""

    nan: int
    inf: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A map: lines of cells, the place that each line begins with, and what a cell is."""

    lines: tuple[tuple[PictureCell, ...], ...]
    labels: tuple[str, ...]
    cell: str


def grid(census: Census, *, columns: int, lines: int) -> Grid | None:
    """Return a map of at most so many cells; None where none was made."""
    blocks = census.blocks
    if blocks is None or not census.n:
        return None
    parts = _parts(census, blocks)
    if parts is None:
        return _strip(census.n, blocks, columns=columns, lines=lines)
    return _matrix(census, blocks, parts, columns=columns, lines=lines)


def _parts(census: Census, blocks: NanMap) -> int | None:
    """Return of how many blocks a row is, 1 if a block is whole rows; None where there are no rows to tell apart."""
    if census.shape is None or not census.has_rows:
        return None
    row = census.shape[-1]
    if row % blocks.elements == 0:
        return row // blocks.elements
    return 1 if blocks.elements % row == 0 else None


def _strip(n: int, blocks: NanMap, *, columns: int, lines: int) -> Grid:
    """Cut a tensor without rows into cells, each of as many blocks as a power of two says."""
    joined = 1
    while -(-len(blocks.nan) // joined) > columns * lines:
        joined *= 2
    size = joined * blocks.elements
    places = range(len(blocks.nan))
    cells = [_cell(blocks, n, [places[at : at + joined]]) for at in places[::joined]]
    cut = tuple(tuple(cells[at : at + columns]) for at in range(0, len(cells), columns))
    labels = tuple(str(line * columns * size) for line in range(len(cut)))
    return Grid(lines=cut, labels=labels, cell=count(size, "element"))


def _matrix(census: Census, blocks: NanMap, parts: int, *, columns: int, lines: int) -> Grid:
    """Put the rows of a tensor below one another; a cell is some neighbours of a row, in some rows."""
    shape, n = census.shape or (), census.n
    per_block = max(1, blocks.elements // shape[-1])  # rows
    rows = n // shape[-1]
    heights = [*dict.fromkeys(top // per_block for top in _tops(shape, rows, lines)), -(-rows // per_block)]
    wide = -(-parts // columns)
    widths = [*range(0, parts, wide), parts]
    found = tuple(
        tuple(
            _cell(blocks, n, [range(row * parts + left, row * parts + right) for row in range(top, bottom)])
            for left, right in pairwise(widths)
        )
        for top, bottom in pairwise(heights)
    )
    high = max(bottom - top for top, bottom in pairwise(heights)) * per_block
    width = min(wide * blocks.elements, shape[-1])
    return Grid(
        lines=found,
        labels=tuple(_place(top * per_block, shape[:-1]) for top in heights[:-1]),
        cell=f"{count(min(high, rows), 'row')} x {count(width, 'column')}",
    )


def _cell(blocks: NanMap, n: int, ranges: Sequence[range]) -> PictureCell:
    """Join blocks, the last of which may be shorter than the others."""
    places = [place for each in ranges for place in each]
    size = sum(min(blocks.elements, n - place * blocks.elements) for place in places)
    nan, inf = (sum(counts[place] for place in places) for counts in (blocks.nan, blocks.inf))
    return PictureCell(nan=nan, inf=inf, size=size)


def _tops(shape: tuple[int, ...], rows: int, lines: int) -> Iterable[int]:
    """Return the row that each line begins with; a tile (the last two axes) begins a line, if there is room for all."""
    tile = shape[-2]
    tiles = rows // tile
    if tile <= 1 or tiles <= 1:
        return range(0, rows, -(-rows // lines))
    if tiles > lines:
        return range(0, rows, tile * -(-tiles // lines))
    height = -(-tile // (lines // tiles))
    return [begin + row for begin in range(0, rows, tile) for row in range(0, tile, height)]


def place_in(index: int, shape: tuple[int, ...] | None) -> str:
    """Say an index, with its place on each axis where there are several."""
    return str(index) if shape is None or len(shape) <= 1 else f"{_place(index, shape)} ({index})"


def _place(index: int, shape: tuple[int, ...]) -> str:
    places = []
    for size in reversed(shape):
        index, place = divmod(index, size)
        places.append(str(place))
    return f"[{', '.join(reversed(places))}]"


def picture(census: Census, *, width: int, lines: int, unicode: bool) -> Iterator[str]:
    """Yield a map as lines of characters, and its legend."""
    rows = census.has_rows
    longest = len(_place(census.n, census.shape[:-1])) + 1 if rows and census.shape else 0
    found = grid(census, columns=max(8, width - longest), lines=lines if rows else 1)
    if found is None:
        return
    glyphs = (_SHADES if rows else _EIGHTHS) if unicode else _ASCII
    labels = found.labels if rows else ("",)
    indent = max(map(len, labels))
    for label, line in zip(labels, found.lines, strict=True):
        yield f"{label:>{indent}}{' ' if rows else ''}{''.join(_glyph(cell, glyphs) for cell in line)}"
    yield _legend(found, glyphs)


def _glyph(cell: PictureCell, glyphs: tuple[str, str, str, str]) -> str:
    nothing, some, everything, infinite = glyphs
    if cell.nan == cell.size:
        return everything
    if cell.nan:
        return some[math.floor(cell.nan / cell.size * len(some))]
    return infinite if cell.inf else nothing


def _legend(found: Grid, glyphs: tuple[str, str, str, str]) -> str:
    nothing, some, everything, infinite = glyphs
    seen = {_glyph(cell, glyphs) for line in found.lines for cell in line}
    words = {nothing: "none", **dict.fromkeys(some, ""), everything: "all NaN", infinite: "infinity, no NaN"}
    partly = [f"{some[0]} to {some[-1]} some NaN"] if seen & set(some) else []
    said = [f"{glyph} {word}" for glyph, word in words.items() if word and glyph in seen]
    return f"{', '.join([*partly, *said])}; a cell is {found.cell}"
