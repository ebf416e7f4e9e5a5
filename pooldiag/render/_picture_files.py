"""The map of a tensor as a picture in a file: SVG with the counts of each cell, or PNG."""

import struct
import zlib
from collections.abc import Iterator
from html import escape

from pooldiag.model.counts import Census
from pooldiag.render._escapes import visible
from pooldiag.render._picture import STRIP_LINE, Grid, PictureCell, grid

LINES = 256
_SIDE = 512  # pixels that a picture has at least, if there are cells to show on them
_FINITE, _LITTLE, _ALL, _INFINITE = (232, 232, 232), (255, 190, 170), (190, 20, 20), (40, 90, 200)


def picture_file(census: Census, suffix: str) -> bytes:
    """Return the picture of a census, as a file with this suffix has it; one cell that is empty without a map."""
    side = LINES if census.has_rows else STRIP_LINE
    empty = Grid(lines=((PictureCell(nan=0, inf=0, size=0),),), labels=("0",), cell="no element")
    found = grid(census, columns=side, lines=side) or empty
    name = census.path if census.tensor is None else f"{census.path} {census.tensor}"
    title = visible(f"{name}: nan={census.nan} inf={census.inf} of n={census.n}; a cell is {found.cell}")
    return _png(found, title) if suffix.lower() == ".png" else _svg(found, title).encode()


def _color(cell: PictureCell) -> tuple[int, int, int]:
    if not cell.nan:
        return _INFINITE if cell.inf else _FINITE
    share = cell.nan / cell.size
    red, green, blue = (round(low + (high - low) * share) for low, high in zip(_LITTLE, _ALL, strict=True))
    return red, green, blue


def _pixels(found: Grid) -> tuple[int, int, int]:
    """Return how many pixels wide and high a cell is, how many wide the picture, and how many high."""
    columns, lines = len(found.lines[0]), len(found.lines)
    scale = max(1, _SIDE // max(columns, lines))
    return scale, columns * scale, lines * scale


def _png(found: Grid, title: str) -> bytes:
    scale, width, height = _pixels(found)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits a channel, RGB
    data = zlib.compress(b"".join(_scan_lines(found, scale, width)))
    text = b"Title\0" + title.encode("latin-1", "replace")
    parts = ((b"IHDR", header), (b"tEXt", text), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _scan_lines(found: Grid, scale: int, width: int) -> Iterator[bytes]:
    """Yield the lines of pixels; a shorter last line of cells is filled up with white."""
    for line in found.lines:
        pixels = b"".join(bytes(_color(cell)) * scale for cell in line)
        yield (b"\0" + pixels.ljust(width * 3, b"\xff")) * scale


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _svg(found: Grid, title: str) -> str:
    scale, width, height = _pixels(found)
    cells = "\n".join(
        _svg_cell(found, row, column, cell, scale)
        for row, line in enumerate(found.lines)
        for column, cell in enumerate(line)
        if cell.nan or cell.inf
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f"<title>{escape(title, quote=False)}</title>\n"
        f'<rect width="{width}" height="{height}" fill="rgb{_FINITE}"/>\n'
        f"{cells}\n</svg>\n"
    )


def _svg_cell(found: Grid, row: int, column: int, cell: PictureCell, scale: int) -> str:
    words = (
        f"line {escape(found.labels[row], quote=False)}, cell {column}: nan={cell.nan} inf={cell.inf} of n={cell.size}"
    )
    return (
        f'<rect x="{column * scale}" y="{row * scale}" width="{scale}" height="{scale}" fill="rgb{_color(cell)}">'
        f"<title>{words}</title></rect>"
    )
