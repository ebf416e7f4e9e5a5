"""Counting, against an oracle that takes one element after another."""

import io
import math
import random
import struct
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.elements import CHUNK_BYTES
from pooldiag.census.file_counts import take_census
from pooldiag.census.layouts import LAYOUTS, ByteOrder, CensusError, FloatLayout, Layout
from pooldiag.census.patterns import PATTERN_LIMIT
from pooldiag.census.places import BlockPlan
from pooldiag.errors import PooldiagError
from pooldiag.model.counts import Census, Element, NanMap, NanRuns, PatternCount
from tests.census.oracle import comparable, pack, slow_census

F32 = LAYOUTS["f32"]
NAN = 0x7FFF0000
ONE = 0x3F800000
IN_A_CHUNK = CHUNK_BYTES // F32.item_bytes
FLOATS = {name: layout for name, layout in LAYOUTS.items() if isinstance(layout, FloatLayout)}
SMALL = [name for name, layout in LAYOUTS.items() if layout.bits <= 16]
QUICK = {"f32", "bf16", "e4m3fn", "i8"}  # the layouts whose corners are tried in pairs every time
each_small = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in {"f16", "i16", "u16"} else []) for name in SMALL],
)
each_in_pairs = pytest.mark.parametrize(
    "layout",
    [
        pytest.param(layout, id=name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name, layout in LAYOUTS.items()
    ],
)
names = st.sampled_from(sorted(LAYOUTS))


class DribblingFile(io.BytesIO):
    """Returns a few bytes a call, as a raw file may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size, 7) if size and size > 0 else size)


class Pipe(io.BytesIO):
    """Cannot be read twice."""

    def seekable(self) -> bool:
        return False


def census(data: bytes, layout: Layout = F32) -> Census:
    return take_census(io.BytesIO(data), path="x", layout=layout)


def of(patterns: list[int], layout: Layout) -> Census:
    return take_census(io.BytesIO(pack(patterns, layout)), path="x", layout=layout, count=len(patterns))


def same_as_the_oracle(patterns: list[int], layout: Layout) -> bool:
    return same(of(patterns, layout), slow_census(patterns, path="x", layout=layout))


def same(found: Census, expected: Census) -> bool:
    """Compare all that the oracle counts; findings have tests of their own."""
    counted, right = (replace(each, dominant_pages=0, blocks=None, findings=()) for each in (found, expected))
    return comparable(counted) == comparable(right)


def corners(layout: Layout) -> list[int]:
    """Return the patterns at which something begins or ends."""
    top = 1 << (layout.bits - 1)
    if not isinstance(layout, FloatLayout):
        return sorted({0, 1, 2, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1})
    edges = [0, 1, layout.smallest_normal, layout.finite_limit, layout.finite_limit | layout.quiet, layout.magnitudes]
    near = {max(0, min(edge + step, layout.magnitudes)) for edge in edges for step in (-1, 0, 1)}
    return sorted(near | {pattern | layout.sign for pattern in near})


@each_small
def test_all_patterns_of_a_small_type(name: str) -> None:
    layout = LAYOUTS[name]
    patterns = list(range(1 << layout.bits))
    assert same_as_the_oracle(patterns, layout)
    random.Random(1).shuffle(patterns)
    assert same_as_the_oracle(patterns, layout)


@each_small
def test_each_pattern_of_a_small_type_alone_and_beside_another(name: str) -> None:
    layout = LAYOUTS[name]
    patterns = {*range(0, 1 << layout.bits, 1 if layout.bits < 16 else 997), *corners(layout)}
    other = layout.bits // 2
    assert [each for each in patterns if not same_as_the_oracle([each], layout)] == []
    assert [each for each in patterns if not same_as_the_oracle([other, each], layout)] == []


@each_in_pairs
def test_corners_in_pairs(layout: Layout) -> None:
    found = corners(layout)
    pairs = [[first, second] for first in found for second in found]
    assert [pair for pair in pairs if not same_as_the_oracle(pair, layout)] == []


@given(names, st.data())
def test_any_patterns(name: str, data: st.DataObject) -> None:
    layout = LAYOUTS[name]
    any_pattern = st.integers(0, 2**layout.bits - 1) | st.sampled_from(corners(layout))
    assert same_as_the_oracle(data.draw(st.lists(any_pattern, max_size=40)), layout)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_random_files_in_small_chunks(seed: int) -> None:
    """Count 250 files of any type and byte order, in chunks of a few elements, with a map of blocks."""
    chance = random.Random(seed)
    assert [made.patterns for made in (a_file(chance) for _ in range(250)) if not made.is_counted_right()] == []


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFile:
    """A random file, and how it is to be counted."""

    layout: Layout
    patterns: list[int]
    order: ByteOrder
    chunk_bytes: int
    trailing: bytes

    def is_counted_right(self) -> bool:
        data = pack(self.patterns, self.layout, self.order)
        found = take_census(
            io.BytesIO(data + self.trailing),
            path="x",
            layout=self.layout,
            byte_order=self.order,
            count=len(self.patterns) if self.trailing or self.layout.per_item > 1 else None,
            blocks=BlockPlan(limit=16),
            chunk_bytes=self.chunk_bytes,
        )
        expected = slow_census(self.patterns, path="x", layout=self.layout, order=self.order)
        return same(found, expected) and found.blocks == blocks_of(self.patterns, self.layout, found.blocks)


def a_file(chance: random.Random) -> MadeFile:
    layout = LAYOUTS[chance.choice(list(LAYOUTS))]
    size = chance.choice([0, 1, 2, 3, chance.randrange(40), chance.randrange(400)])
    some = [chance.randrange(2**layout.bits) for _ in range(chance.choice([1, 2, 3, 20, 400]))]
    pool = chance.choice([corners(layout), some])
    patterns: list[int] = []
    while len(patterns) < size:
        patterns += [chance.choice(pool)] * chance.choice([1, 1, 1, chance.randrange(1, 40)])
    orders: list[ByteOrder] = ["little", "big"]
    return MadeFile(
        layout=layout,
        patterns=patterns[:size],
        order=chance.choice(orders),
        chunk_bytes=8 * chance.choice([1, 2, 3, 5, 16, 1000]),
        trailing=chance.choice([b"", b"xy"]),
    )


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("rare", [0, 1, 6, 60])
def test_few_elements_that_are_special_or_small_among_many_that_are_not(name: str, rare: int) -> None:
    layout = FLOATS[name]
    chance = random.Random(rare)
    one = layout.smallest_normal * 3
    plain = [one, one + 5, layout.sign | one] if rare % 2 == 0 else [one, one + 5]
    patterns = [chance.choice(plain) for _ in range(3000)]
    for place in chance.sample(range(3000), rare):
        patterns[place] = chance.choice(corners(layout))
    assert same_as_the_oracle(patterns, layout)


@pytest.mark.parametrize("name", ["f64", "f16"])
def test_many_special_elements_in_some_chunks_and_few_in_others(name: str) -> None:
    layout = FLOATS[name]
    chance = random.Random(1)
    one = layout.smallest_normal * 3
    patterns: list[int] = []
    for share in [0, 0.5, *[0.02] * 18, 0.9, 0.01, 1]:
        patterns += [chance.choice(corners(layout)) if chance.random() < share else one + 7 for _ in range(128)]
    data = pack(patterns, layout)
    found = take_census(io.BytesIO(data), path="x", layout=layout, chunk_bytes=128 * layout.item_bytes)
    assert same(found, slow_census(patterns, path="x", layout=layout))


def blocks_of(patterns: list[int], layout: Layout, found: NanMap | None) -> NanMap:
    """Count NaN and infinities by blocks of the size that was found."""
    assert found is not None
    elements = found.elements
    assert elements == 1 or 8 * elements < len(patterns) <= 16 * elements
    values = [layout.value(pattern) for pattern in patterns]
    parts = [values[begin : begin + elements] for begin in range(0, len(values), elements)]
    return NanMap(
        elements=elements,
        nan=tuple(sum(map(math.isnan, part)) for part in parts),
        inf=tuple(sum(map(math.isinf, part)) for part in parts),
    )


@given(st.lists(st.booleans(), max_size=60))
def test_any_runs_of_nan(which: list[bool]) -> None:
    assert same_as_the_oracle([NAN if is_nan else ONE for is_nan in which], F32)


def with_nan(size: int, *runs: range) -> bytes:
    patterns = np.full(size, ONE, "<u4")
    for run in runs:
        patterns[run] = NAN
    return patterns.tobytes()


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([range(IN_A_CHUNK - 2, IN_A_CHUNK + 3)], NanRuns(count=1, longest=5, first=IN_A_CHUNK - 2)),
        ([range(IN_A_CHUNK - 2, IN_A_CHUNK)], NanRuns(count=1, longest=2, first=IN_A_CHUNK - 2)),
        ([range(IN_A_CHUNK, IN_A_CHUNK + 2)], NanRuns(count=1, longest=2, first=IN_A_CHUNK)),
        (
            [range(IN_A_CHUNK - 2, IN_A_CHUNK - 1), range(IN_A_CHUNK, IN_A_CHUNK + 4)],
            NanRuns(count=2, longest=4, first=IN_A_CHUNK - 2),
        ),
        ([range(5, 3 * IN_A_CHUNK + 1)], NanRuns(count=1, longest=3 * IN_A_CHUNK - 4, first=5)),
        (
            [range(IN_A_CHUNK - 1, 2 * IN_A_CHUNK), range(2 * IN_A_CHUNK + 1, 2 * IN_A_CHUNK + 3)],
            NanRuns(count=2, longest=IN_A_CHUNK + 1, first=IN_A_CHUNK - 1),
        ),
        (
            [range(IN_A_CHUNK - 2, IN_A_CHUNK), range(2 * IN_A_CHUNK, 2 * IN_A_CHUNK + 1)],
            NanRuns(count=2, longest=2, first=IN_A_CHUNK - 2),
        ),
        ([range(1), range(2 * IN_A_CHUNK, 2 * IN_A_CHUNK + 1)], NanRuns(count=2, longest=1, first=0)),
        ([range(3 * IN_A_CHUNK + 9, 3 * IN_A_CHUNK + 10)], NanRuns(count=1, longest=1, first=3 * IN_A_CHUNK + 9)),
    ],
)
def test_runs_are_stitched_over_chunk_borders(runs: list[range], expected: NanRuns) -> None:
    found = census(with_nan(3 * IN_A_CHUNK + 10, *runs))
    assert replace(found.nan_runs, alignment=None) == expected
    assert found.nan == sum(map(len, runs))
    assert found.nan_patterns == (PatternCount(bits="0x7fff0000", count=found.nan),)


@pytest.mark.parametrize("layout", FLOATS.values(), ids=FLOATS)
def test_a_file_of_several_chunks(layout: FloatLayout) -> None:
    """Check chunks and a bit, all classes mixed, against whole-array operations."""
    generator = np.random.default_rng(7)
    size = 3 * CHUNK_BYTES // layout.item_bytes + 14
    pool = np.array(corners(layout) + [layout.smallest_normal] * 40, f"u{layout.item_bytes}")
    patterns = generator.choice(pool, size)
    patterns[: size // 3] = pool[0]  # a whole chunk of one pattern
    found = census((patterns[::2] | patterns[1::2] << 4 if layout.per_item > 1 else patterns).tobytes(), layout)
    values = np.array([layout.value(pattern) for pattern in range(1 << layout.bits)]) if layout.bits <= 16 else None
    decoded = patterns.view(f"f{layout.item_bytes}") if values is None else values[patterns]
    nan, finite = np.isnan(decoded), decoded[np.isfinite(decoded)]
    assert found.n == size
    assert found.nan == nan.sum()
    assert found.inf == np.count_nonzero(np.isinf(decoded))
    assert found.negative_inf == np.count_nonzero(decoded == -np.inf)
    assert found.zero == np.count_nonzero(finite == 0)
    assert found.negative_zero == np.count_nonzero(np.signbit(finite) & (finite == 0))
    small = np.abs(finite) < (layout.value(layout.smallest_normal) if layout.signed else 0)
    assert found.subnormal == np.count_nonzero(small) - found.zero
    assert sum(each.count for each in found.nan_patterns) == found.nan
    assert found.minimum == finite.min()
    assert found.maximum == finite.max()
    assert found.minimum_index == np.argmax(decoded == finite.min())
    assert found.maximum_index == np.argmax(decoded == finite.max())
    distinct, counts = np.unique(patterns, return_counts=True)
    most = int(counts.argmax())
    assert found.dominant == PatternCount(bits=layout.text(int(distinct[most])), count=int(counts[most]))
    edges = np.diff(np.concatenate(([False], nan, [False])).astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    assert found.nan_runs.count == starts.size
    assert found.nan_runs.longest == (ends - starts).max(initial=0)


def test_a_raw_file_that_returns_little_at_a_time_counts_the_same() -> None:
    data = with_nan(1000, range(10, 20))
    assert comparable(take_census(DribblingFile(data), path="x", layout=F32)) == comparable(census(data))


def test_counting_begins_where_the_file_stands() -> None:
    file = io.BytesIO(with_nan(65, range(65)))
    file.read(4)
    found = take_census(file, path="x", layout=F32)
    assert (found.n, found.nan) == (64, 64)
    assert found.dominant == PatternCount(bits="0x7fff0000", count=64)


def test_what_cannot_be_read_twice_has_a_dominant_pattern_if_it_shows_from_the_start() -> None:
    found = take_census(Pipe(with_nan(64, range(64))), path="x", layout=F32)
    assert found.dominant == PatternCount(bits="0x7fff0000", count=64)
    assert found.dominant_exact


def late_fill() -> bytes:
    """Make two chunks of all kinds of values, then two of one; that one once before."""
    patterns = np.arange(4 * IN_A_CHUNK, dtype="<u4") + ONE
    patterns[2 * IN_A_CHUNK :] = 0xCDCDCDCD
    patterns[5] = 0xCDCDCDCD
    return patterns.tobytes()


def test_a_dominant_pattern_may_show_up_late_and_be_finite() -> None:
    found = census(late_fill())
    assert found.dominant == PatternCount(bits="0xcdcdcdcd", count=2 * IN_A_CHUNK + 1)
    assert (found.dominant_exact, found.dominant_pages) == (True, 2 * CHUNK_BYTES // 4096)


def test_a_dominant_pattern_that_shows_up_late_in_what_cannot_be_read_twice_is_counted_from_there() -> None:
    found = take_census(Pipe(late_fill()), path="x", layout=F32)
    assert found.dominant == PatternCount(bits="0xcdcdcdcd", count=2 * IN_A_CHUNK)
    assert not found.dominant_exact


@pytest.mark.parametrize("pattern", [0, 0x80000000, 0x7F800000, 0xFF800000, NAN])
def test_a_pattern_that_is_counted_anyway_dominates_exactly_without_a_second_reading(pattern: int) -> None:
    patterns = np.arange(4 * IN_A_CHUNK, dtype="<u4") + ONE
    patterns[3 * IN_A_CHUNK + 1 :] = pattern
    found = take_census(Pipe(patterns.tobytes()), path="x", layout=F32)
    assert found.dominant == PatternCount(bits=F32.text(pattern), count=IN_A_CHUNK - 1)
    assert found.dominant_exact


def test_pages_are_counted_that_hold_one_pattern_alone() -> None:
    patterns = np.arange(IN_A_CHUNK, dtype="<u4") + ONE
    patterns[1000 : IN_A_CHUNK // 2] = 0xCDCDCDCD  # from within a page on
    assert census(patterns.tobytes()).dominant_pages == IN_A_CHUNK // 2 // 1024 - 1


def test_pages_count_from_the_first_element_whatever_the_chunks() -> None:
    patterns = np.arange(4608, dtype="<u4") + ONE
    patterns[2048:4096] = 0xCDCDCDCD
    found = take_census(io.BytesIO(patterns.tobytes()), path="x", layout=F32, chunk_bytes=6144)
    assert found.dominant_pages == 2


def test_values_that_hardly_repeat_have_no_dominant_pattern() -> None:
    patterns = np.arange(IN_A_CHUNK, dtype="<u4") + ONE
    patterns[: IN_A_CHUNK // 9] = ONE
    assert census(patterns.tobytes()).dominant is None


def test_an_empty_file_has_no_elements() -> None:
    found = census(b"")
    assert found == Census(path="x", dtype="f32", sha256=found.sha256, n=0)
    assert take_census(io.BytesIO(), path="x", layout=F32, count=0) == found
    assert found.sha256.startswith("e3b0c44298fc1c14")


@pytest.mark.parametrize("size", [1, 2, 3, 4095, CHUNK_BYTES + 2])
def test_a_size_that_is_no_multiple_is_an_error_with_the_numbers(size: int) -> None:
    with pytest.raises(CensusError) as raised:
        take_census(io.BytesIO(bytes(size)), path="out/video.bin", layout=F32)
    assert isinstance(raised.value, PooldiagError)
    for part in ("out/video.bin", f"{size} bytes", "f32", "4 bytes", f"{size % 4} too many"):
        assert part in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize("count", [3, 100, 2**60])
def test_fewer_elements_than_are_told_is_an_error_with_the_numbers(count: int) -> None:
    with pytest.raises(CensusError, match=f"out/a.bin: ends after 8 bytes, {count} f32 elements are {4 * count}"):
        take_census(io.BytesIO(bytes(8)), path="out/a.bin", layout=F32, count=count)


def test_a_file_that_shrinks_between_two_readings_is_an_error() -> None:
    class Shrinking(io.BytesIO):
        def seek(self, offset: int, whence: int = 0, /) -> int:
            self.truncate(CHUNK_BYTES)
            return super().seek(offset, whence)

    with pytest.raises(CensusError, match=f"x: ends after {CHUNK_BYTES} bytes"):
        take_census(Shrinking(late_fill()), path="x", layout=F32)


def test_more_than_is_told_is_left_unread() -> None:
    file = io.BytesIO(with_nan(100, range(100)))
    assert take_census(file, path="x", layout=F32, count=7).n == 7
    assert file.tell() == 28


def test_what_cannot_fill_a_buffer_is_read_piece_by_piece() -> None:
    class OnlyRead:
        def __init__(self, data: bytes) -> None:
            self.read = io.BytesIO(data).read

        def seekable(self) -> bool:
            return False

    file = cast("BinaryIO", OnlyRead(with_nan(1000, range(3, 9))))
    assert take_census(file, path="x", layout=F32).nan_runs == NanRuns(count=1, longest=6, first=3, alignment=3)


def test_a_file_without_data_that_does_not_wait_is_an_error() -> None:
    class Empty(io.BytesIO):
        def readinto(self, _: object, /) -> int:
            return cast("int", None)

    with pytest.raises(BlockingIOError):
        take_census(Empty(), path="x", layout=F32)


def test_the_hash_is_left_out_on_request() -> None:
    assert take_census(io.BytesIO(b"abcd"), path="x", layout=F32, sha256=False).sha256 == ""


@pytest.mark.parametrize("n", [200_000, 2_000_000])
@pytest.mark.parametrize("mixed", [False, True])
def test_the_most_frequent_nan_is_kept_though_too_many_others_came_before(n: int, mixed: bool) -> None:
    others = np.arange(PATTERN_LIMIT + 4464, dtype="<u4") + 0x7F800001
    one = np.full(n, 0x7FFFFFFF, "<u4")
    if mixed:
        one[::3] = 0x3F800000
    found = census(np.concatenate((others, one)).tobytes())
    assert found.dominant == PatternCount(bits="0x7fffffff", count=int((one == 0x7FFFFFFF).sum()))
    assert found.dominant_exact
    assert not found.nan_patterns_complete


def test_more_nan_patterns_than_are_kept_are_still_counted() -> None:
    patterns = np.arange(PATTERN_LIMIT + 100, dtype="<u4") + 0x7F800001
    patterns[-1] = patterns[0]
    found = census(np.tile(patterns, 3).tobytes())
    assert found.nan == 3 * (PATTERN_LIMIT + 100)
    assert len(found.nan_patterns) == PATTERN_LIMIT
    assert not found.nan_patterns_complete
    assert [each.count for each in found.nan_patterns[:3]] == [6, 3, 3]


def test_a_nan_pattern_that_came_too_late_to_be_kept_may_dominate() -> None:
    patterns = np.arange(4 * IN_A_CHUNK, dtype="<u4") % 0x7FFFFF + 0x7F800001
    patterns[3 * IN_A_CHUNK + 9 :] = 0xFFFFFFFF
    found = census(patterns.tobytes())
    assert not found.nan_patterns_complete
    assert "0xffffffff" not in {each.bits for each in found.nan_patterns}
    assert found.dominant == PatternCount(bits="0xffffffff", count=IN_A_CHUNK - 9)


def test_an_index_is_that_of_the_first_element_with_the_value_in_any_chunk() -> None:
    values = np.ones(3 * IN_A_CHUNK, "<f4")
    values[[5, IN_A_CHUNK, 2 * IN_A_CHUNK]] = -7
    values[[IN_A_CHUNK + 4, 2 * IN_A_CHUNK + 4]] = 9
    values[[2 * IN_A_CHUNK + 7]] = np.nan
    found = census(values.tobytes())
    assert (found.minimum, found.maximum, found.absmax) == (-7, 9, 9)
    assert (found.minimum_index, found.maximum_index, found.absmax_index) == (5, IN_A_CHUNK + 4, IN_A_CHUNK + 4)


def test_indices_pass_over_nan_and_infinities() -> None:
    found = census(struct.pack("<5f", math.nan, -math.inf, 2, 3, -3))
    assert (found.minimum_index, found.maximum_index, found.absmax_index) == (4, 3, 3)


def test_4_bit_elements_come_two_a_byte_low_half_first() -> None:
    found = take_census(io.BytesIO(b"\x21\x0f"), path="x", layout=LAYOUTS["e2m1"], count=3)
    assert [(each.value, each.bits) for each in found.first] == [(0.5, "0x1"), (1.0, "0x2"), (-6.0, "0xf")]


def test_integers_keep_their_exact_value() -> None:
    found = census(struct.pack("<3Q", 2**64 - 1, 2**63 + 1, 5), LAYOUTS["u64"])
    assert (found.minimum, found.maximum, found.absmax) == (5, 2**64 - 1, 2**64 - 1)
    found = census(struct.pack("<3q", -(2**63), 2**53 + 1, 0), LAYOUTS["i64"])
    assert (found.minimum, found.maximum, found.absmax, found.zero) == (-(2**63), 2**53 + 1, 2**63, 1)


def test_a_map_has_as_many_blocks_as_fit_its_limit() -> None:
    file = io.BytesIO(with_nan(2 * IN_A_CHUNK, range(IN_A_CHUNK - 1, IN_A_CHUNK + 3)))
    blocks = take_census(file, path="x", layout=F32, blocks=BlockPlan(elements=IN_A_CHUNK // 8, limit=4)).blocks
    assert blocks == NanMap(elements=IN_A_CHUNK // 2, nan=(0, 1, 3, 0), inf=(0, 0, 0, 0))


def test_the_story_video_is_all_nan_of_one_pattern() -> None:
    found = census(struct.pack("<I", NAN) * 1024)
    assert (found.n, found.nan, found.inf, found.zero) == (1024, 1024, 0, 0)
    assert found.nan_patterns == (PatternCount(bits="0x7fff0000", count=1024),)
    assert found.dominant == found.nan_patterns[0]
    assert found.nan_runs == NanRuns(count=1, longest=1024, first=0)
    assert (found.nan_at_even, found.nan_signalling) == (512, 0)
    assert [element.bits for element in found.first] == ["0x7fff0000"] * 8
    assert all(math.isnan(element.value) for element in found.first)
    assert (found.minimum, found.maximum, found.absmax) == (None, None, None)
    assert [finding.rule for finding in found.findings] == ["uniform-nan", "nvidia-nan"]


def test_the_first_elements_are_told_with_their_bits() -> None:
    found = census(struct.pack("<3f", 1.5, -0.0, math.inf))
    assert found.first == (
        Element(value=1.5, bits="0x3fc00000"),
        Element(value=-0.0, bits="0x80000000"),
        Element(value=math.inf, bits="0x7f800000"),
    )
    assert math.copysign(1, found.first[1].value) == -1


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "big.bin"
    with path.open("wb") as file:
        file.truncate(2**28)  # a hole: no disk is used
    script = f"""
import re
from pathlib import Path
from pooldiag.census.file_counts import take_census
from pooldiag.census.layouts import LAYOUTS
def peak_kib():  # of this program alone; what getrusage says a child may inherit
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
before = peak_kib()
with Path({str(path)!r}).open("rb") as file:
    assert take_census(file, path="x", layout=LAYOUTS["f32"]).zero == 2**26
print(peak_kib() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert int(done.stdout) < 64 * 1024


def test_numpy_is_imported_only_to_count() -> None:
    script = "import sys, pooldiag.census.{}; sys.exit('numpy' in sys.modules)"
    modules = ("layouts", "fills", "findings", "printed_lines", "dlpack", "buffers", "tensors", "file_counts")
    imported = [subprocess.run([sys.executable, "-c", script.format(name)], check=False).returncode for name in modules]
    assert imported == [0] * 7 + [1]
