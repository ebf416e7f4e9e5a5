import math
import struct
import zlib
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.tensors import block_elements
from pooldiag.model.counts import Census, NanMap
from pooldiag.render import picture_file
from pooldiag.render._picture import grid
from tests.render.census_samples import REPORTS, clean, video

SVG = "{http://www.w3.org/2000/svg}"


def pixels(data: bytes) -> tuple[int, int, list[bytes]]:
    """Read a PNG as strictly as its standard says; return width, height and the lines."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, body, size = 8, b"", (0, 0)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(kind + content),)
        body += content if kind == b"IDAT" else b""
        if kind == b"IHDR":
            assert content[8:] == bytes([8, 2, 0, 0, 0])
            size = struct.unpack_from(">II", content)
        at += 12 + length
    width, height = size
    raw = zlib.decompress(body)
    assert len(raw) == height * (1 + 3 * width)
    return width, height, [raw[line * (1 + 3 * width) + 1 :][: 3 * width] for line in range(height)]


def of(name: str) -> Census:
    return REPORTS[name].files[0].census


def test_a_png_has_another_color_where_nan_are() -> None:
    width, height, lines = pixels(picture_file(of("census-tile"), ".png"))
    assert (width, height) == (64 * 2, 192 * 2)
    row = 3 * 24 + 4
    finite, nan = lines[0][:3], lines[2 * row][3 * 2 * 40 :][:3]
    assert lines[2 * row][3 * 2 * 31 :][:3] == finite
    assert nan != finite
    infinite = lines[2 * (6 * 24 + 20)][3 * 2 * 5 :][:3]
    assert infinite not in {finite, nan}


def test_an_svg_tells_the_counts_of_each_cell() -> None:
    root = ET.fromstring(picture_file(of("census-tile"), ".SVG"))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == "model.npz layers.1.weight: nan=192 inf=1 of n=12288; a cell is 1 row x 1 column"
    words = [cell.findtext(f"{SVG}title") for cell in root.findall(f"{SVG}rect")]
    assert words[0] is None
    assert len(words) == 1 + 192 + 1
    assert words[-1] == "line [6, 20], cell 5: nan=0 inf=1 of n=1"


def test_a_hostile_name_is_only_text_in_an_svg() -> None:
    census = replace(of("census-strip"), path='</title><script>"&\x1b\udcff')
    root = ET.fromstring(picture_file(census, ".svg"))
    assert root.findtext(f"{SVG}title", "").startswith('</title><script>"&\\x1b\\xff')


def test_without_a_map_there_is_still_a_picture() -> None:
    for census in (replace(video(), blocks=None), replace(clean(), n=0)):
        assert pixels(picture_file(census, ".png"))[0]
        ET.fromstring(picture_file(census, ".svg"))


def test_a_strip_is_wrapped_and_its_last_line_filled_up() -> None:
    width, height, lines = pixels(picture_file(of("census-strip"), ".png"))
    assert width % 64 == height % 47 == 0
    assert lines[-1][-3:] == b"\xff\xff\xff"


@given(st.data())
def test_no_element_is_lost_or_drawn_twice(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4)))
    n = math.prod(shape)
    elements = data.draw(st.integers(1, 40))
    nan = [data.draw(st.integers(0, min(elements, n - begin))) for begin in range(0, n, elements)]
    blocks = NanMap(elements=elements, nan=tuple(nan), inf=(0,) * len(nan))
    census = Census(path="x", dtype="f32", sha256="", n=n, nan=sum(nan), blocks=blocks, shape=shape)
    found = grid(census, columns=data.draw(st.integers(1, 30)), lines=data.draw(st.integers(1, 30)))
    assert found is not None
    assert sum(cell.size for line in found.lines for cell in line) == n
    assert sum(cell.nan for line in found.lines for cell in line) == sum(nan)
    assert len(found.labels) == len(found.lines)


@given(st.lists(st.integers(1, 60), min_size=2, max_size=3), st.integers(8, 90), st.integers(1, 20))
def test_a_picture_is_never_larger_than_asked_for(sizes: list[int], columns: int, lines: int) -> None:
    shape, n = tuple(sizes), math.prod(sizes)
    elements = block_elements(shape, n)
    empty = (0,) * -(-n // elements)
    census = Census(
        path="x", dtype="f32", sha256="", n=n, shape=shape, blocks=NanMap(elements=elements, nan=empty, inf=empty)
    )
    found = grid(census, columns=columns, lines=lines)
    assert found is not None
    assert len(found.lines) <= lines
    assert max(map(len, found.lines)) <= columns


@pytest.mark.parametrize(
    ("shape", "lines", "labels"),
    [
        ((3, 7, 4), 9, ("[0, 0]", "[0, 3]", "[0, 6]", "[1, 0]", "[1, 3]", "[1, 6]", "[2, 0]", "[2, 3]", "[2, 6]")),
        ((5, 2, 4), 3, ("[0, 0]", "[2, 0]", "[4, 0]")),
        ((7, 4), 3, ("[0]", "[3]", "[6]")),
        ((2, 3, 1, 4), 3, ("[0, 0, 0]", "[0, 2, 0]", "[1, 1, 0]")),
    ],
)
def test_a_tile_begins_a_line(shape: tuple[int, ...], lines: int, labels: tuple[str, ...]) -> None:
    n = math.prod(shape)
    census = Census(
        path="x", dtype="f32", sha256="", n=n, shape=shape, blocks=NanMap(elements=2, nan=(0,) * n, inf=(0,) * n)
    )
    found = grid(census, columns=80, lines=lines)
    assert found is not None
    assert found.labels == labels


@pytest.mark.parametrize(
    ("shape", "map_elements"), [((16, 257), 1), ((1000, 257), 4), ((16, 256), 1), ((16, 514), 257)]
)
def test_rows_without_equal_parts_are_no_column_of_cells(shape: tuple[int, ...], map_elements: int) -> None:
    n = math.prod(shape)
    elements = block_elements(shape, n)
    assert elements == map_elements
    blocks = NanMap(elements=elements, nan=(1, *[0] * (-(-n // elements) - 1)), inf=(0,) * -(-n // elements))
    census = Census(path="x", dtype="f32", sha256="", n=n, nan=1, shape=shape, blocks=blocks)
    found = grid(census, columns=64, lines=16)
    assert found is not None
    assert len(found.lines[0]) > 1
    assert sum(cell.nan for line in found.lines for cell in line) == 1
    assert sum(cell.size for line in found.lines for cell in line) == n
