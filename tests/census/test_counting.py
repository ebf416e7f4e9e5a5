"""Counting, against an oracle that takes one element after another."""

import io
import math
import random
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.counting import CHUNK_BYTES, PATTERN_LIMIT, CensusError, take_census
from pooldiag.census.layouts import LAYOUTS, FloatLayout
from pooldiag.errors import PooldiagError
from pooldiag.model.census import Census, Element, NanRuns, PatternCount
from tests.census.oracle import comparable, pack, slow_census

F32 = LAYOUTS["f32"]
NAN = 0x7FFF0000
ONE = 0x3F800000
IN_A_CHUNK = CHUNK_BYTES // F32.item_bytes
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
names = st.sampled_from(sorted(LAYOUTS))


class DribblingFile(io.BytesIO):
    """Returns a few bytes a call, as a raw file may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size, 7) if size and size > 0 else size)


class Pipe(io.BytesIO):
    """Cannot be read twice."""

    def seekable(self) -> bool:
        return False


def census(data: bytes, layout: FloatLayout = F32) -> Census:
    return take_census(io.BytesIO(data), path="x", layout=layout)


def of(patterns: list[int], layout: FloatLayout) -> Census:
    return census(pack(patterns, layout), layout)


def same_as_the_oracle(patterns: list[int], layout: FloatLayout) -> bool:
    return comparable(of(patterns, layout)) == comparable(slow_census(patterns, path="x", layout=layout))


def corners(layout: FloatLayout) -> list[int]:
    """Return the patterns at which something begins or ends."""
    edges = [0, 1, layout.smallest_normal, layout.infinity, layout.infinity | layout.infinity >> 1, layout.sign - 1]
    near = {max(0, min(edge + step, layout.sign - 1)) for edge in edges for step in (-1, 0, 1)}
    return sorted(near | {pattern | layout.sign for pattern in near})


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_all_patterns_of_a_16_bit_type(name: str) -> None:
    layout = LAYOUTS[name]
    patterns = list(range(65_536))
    assert same_as_the_oracle(patterns, layout)
    random.Random(1).shuffle(patterns)
    assert same_as_the_oracle(patterns, layout)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_each_pattern_of_a_16_bit_type_alone(name: str) -> None:
    layout = LAYOUTS[name]
    chosen = [*range(0, 65_536, 251), *corners(layout)]
    assert [pattern for pattern in chosen if not same_as_the_oracle([pattern], layout)] == []


@layouts
def test_corners_alone_and_in_pairs(layout: FloatLayout) -> None:
    found = corners(layout)
    pairs = [[first, second] for first in found for second in found]
    assert [pair for pair in pairs if not same_as_the_oracle(pair, layout)] == []


@given(names, st.data())
def test_any_patterns(name: str, data: st.DataObject) -> None:
    layout = LAYOUTS[name]
    any_pattern = st.integers(0, 2**layout.bits - 1) | st.sampled_from(corners(layout))
    assert same_as_the_oracle(data.draw(st.lists(any_pattern, max_size=40)), layout)


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
    assert found.nan_runs == expected
    assert found.nan == sum(map(len, runs))
    assert found.nan_patterns == (PatternCount(bits="0x7fff0000", count=found.nan),)


@layouts
def test_a_file_of_several_chunks(layout: FloatLayout) -> None:
    """Check three chunks and a bit, all classes mixed, against whole-array operations."""
    generator = np.random.default_rng(7)
    size = 3 * CHUNK_BYTES // layout.item_bytes + 13
    pool = np.array(corners(layout) + [layout.infinity >> 1] * 40, layout.dtype)
    patterns = generator.choice(pool, size)
    patterns[: size // 3] = pool[0]  # a whole chunk of one pattern
    found = census(patterns.tobytes(), layout)
    magnitudes = patterns & (layout.sign - 1)
    assert found.n == size
    assert found.nan == np.count_nonzero(magnitudes > layout.infinity)
    assert found.inf == np.count_nonzero(magnitudes == layout.infinity)
    assert found.negative_inf == np.count_nonzero(patterns == layout.infinity | layout.sign)
    assert found.zero == np.count_nonzero(magnitudes == 0)
    assert found.negative_zero == np.count_nonzero(patterns == layout.sign)
    assert found.subnormal == np.count_nonzero((magnitudes > 0) & (magnitudes < layout.smallest_normal))
    assert sum(each.count for each in found.nan_patterns) == found.nan
    assert found.maximum == found.absmax == layout.value(layout.infinity - 1)
    assert found.minimum == -found.maximum
    distinct, counts = np.unique(patterns, return_counts=True)
    most = int(counts.argmax())
    assert found.dominant == PatternCount(bits=layout.text(int(distinct[most])), count=int(counts[most]))
    nan = np.concatenate(([False], magnitudes > layout.infinity, [False])).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(nan) == 1), np.flatnonzero(np.diff(nan) == -1)
    assert found.nan_runs == NanRuns(count=starts.size, longest=int((ends - starts).max()), first=int(starts[0]))


def test_a_raw_file_that_returns_little_at_a_time_counts_the_same() -> None:
    data = with_nan(1000, range(10, 20))
    assert comparable(take_census(DribblingFile(data), path="x", layout=F32)) == comparable(census(data))


def test_counting_begins_where_the_file_stands() -> None:
    file = io.BytesIO(with_nan(65, range(65)))
    file.read(4)
    found = take_census(file, path="x", layout=F32)
    assert (found.n, found.nan) == (64, 64)
    assert found.dominant == PatternCount(bits="0x7fff0000", count=64)


def test_what_cannot_be_read_twice_has_no_dominant_pattern() -> None:
    found = take_census(Pipe(with_nan(64, range(64))), path="x", layout=F32)
    assert (found.nan, found.dominant) == (64, None)


def test_a_dominant_pattern_may_show_up_late_and_be_finite() -> None:
    patterns = np.arange(4 * IN_A_CHUNK, dtype="<u4") + ONE
    patterns[2 * IN_A_CHUNK :] = 0xCDCDCDCD
    patterns[5] = 0xCDCDCDCD
    assert census(patterns.tobytes()).dominant == PatternCount(bits="0xcdcdcdcd", count=2 * IN_A_CHUNK + 1)


def test_values_that_hardly_repeat_have_no_dominant_pattern() -> None:
    patterns = np.arange(IN_A_CHUNK, dtype="<u4") + ONE
    patterns[: IN_A_CHUNK // 9] = ONE
    assert census(patterns.tobytes()).dominant is None


def test_an_empty_file_has_no_elements() -> None:
    found = census(b"")
    assert found == Census(path="x", dtype="f32", sha256=found.sha256, n=0)
    assert found.sha256.startswith("e3b0c44298fc1c14")


@pytest.mark.parametrize("size", [1, 2, 3, 4095, CHUNK_BYTES + 2])
def test_a_size_that_is_no_multiple_is_an_error_with_the_numbers(size: int) -> None:
    with pytest.raises(CensusError) as raised:
        take_census(io.BytesIO(bytes(size)), path="out/video.bin", layout=F32)
    assert isinstance(raised.value, PooldiagError)
    for part in ("out/video.bin", f"{size} bytes", "f32", "4 bytes", f"{size % 4} too many"):
        assert part in str(raised.value)
    assert raised.value.hint


def test_more_nan_patterns_than_are_kept_are_still_counted() -> None:
    patterns = np.arange(PATTERN_LIMIT + 100, dtype="<u4") + 0x7F800001
    found = census(patterns.tobytes())
    assert found.nan == PATTERN_LIMIT + 100
    assert len(found.nan_patterns) == PATTERN_LIMIT
    assert not found.findings


def test_the_story_video_is_all_nan_of_one_pattern() -> None:
    found = census(struct.pack("<I", NAN) * 1024)
    assert (found.n, found.nan, found.inf, found.zero) == (1024, 1024, 0, 0)
    assert found.nan_patterns == (PatternCount(bits="0x7fff0000", count=1024),)
    assert found.dominant == found.nan_patterns[0]
    assert found.nan_runs == NanRuns(count=1, longest=1024, first=0)
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
import resource
from pathlib import Path
from pooldiag.census.counting import take_census
from pooldiag.census.layouts import LAYOUTS
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with Path({str(path)!r}).open("rb") as file:
    assert take_census(file, path="x", layout=LAYOUTS["f32"]).zero == 2**26
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert int(done.stdout) < 64 * 1024


def test_numpy_is_imported_only_to_count() -> None:
    script = "import sys, pooldiag.census.{}; sys.exit('numpy' in sys.modules)"
    modules = ("layouts", "findings", "printed", "counting")
    imported = [subprocess.run([sys.executable, "-c", script.format(name)], check=False).returncode for name in modules]
    assert imported == [0, 0, 0, 1]
