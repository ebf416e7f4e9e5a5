"""Comparing, against an oracle that takes one element after another."""

import io
import math
import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pooldiag.census.comparison import COMPARED_BYTES, Operand, compare
from pooldiag.census.layouts import LAYOUTS, ByteOrder, CensusError, FloatLayout, IntegerLayout, Layout
from pooldiag.model.comparisons import Comparison, Difference, LargestError, NanPlaces, Sameness, Side
from pooldiag.model.counts import Element
from tests.census.oracle import decode, pack, text
from tests.census.test_file_counts import corners

F32, BF16, F64, FP4 = (LAYOUTS[name] for name in ("f32", "bf16", "f64", "e2m1"))
NAN, ONE = 0x7FC00000, 0x3F800000
QUICK = {"f32", "bf16", "e4m3fn", "i8"}  # the layouts whose corners are tried in pairs every time
each_in_pairs = pytest.mark.parametrize(
    "layout",
    [
        pytest.param(layout, id=name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name, layout in LAYOUTS.items()
    ],
)


def operand(patterns: list[int], layout: Layout = F32, *, order: ByteOrder = "little", path: str = "x") -> Operand:
    data = io.BytesIO(pack(patterns, layout, order))
    return Operand(file=data, path=path, layout=layout, byte_order=order, count=len(patterns))


def of(here: list[int], there: list[int], layout: Layout = F32, other: Layout | None = None) -> Comparison:
    return compare(operand(here, layout), operand(there, other or layout, path="y"))


@dataclass(slots=True, kw_only=True)
class Slow:
    """The oracle: Python's own numbers, exact fractions, one element after another."""

    here: Layout
    there: Layout
    counts: dict[str, int] = field(default_factory=dict)
    best: dict[str, LargestError] = field(default_factory=dict)
    first: dict[str, Difference] = field(default_factory=dict)

    def add(self, name: str, at: Difference, *, when: bool) -> bool:
        self.counts[name] = self.counts.get(name, 0) + when
        if when:
            self.first.setdefault(name, at)
        return when

    def error(self, name: str, error: float, at: Difference) -> None:
        if name not in self.best or error > self.best[name].error:
            self.best[name] = LargestError(error=error, at=at)

    def look(self, index: int, ours: int, theirs: int) -> None:
        a, b = decode(ours, self.here), decode(theirs, self.there)
        at = Difference(
            index=index,
            here=Element(value=a, bits=text(ours, self.here)),
            there=Element(value=b, bits=text(theirs, self.there)),
        )
        alike = self.here == self.there
        self.add("bits", at, when=alike and ours != theirs)
        only_here, only_there = math.isnan(a) > math.isnan(b), math.isnan(a) < math.isnan(b)
        self.add("here_only", at, when=only_here)
        self.add("there_only", at, when=only_there)
        both = self.add("both", at, when=math.isnan(a) and math.isnan(b))
        self.add("nan_bits", at, when=both and ours != theirs)
        self.add("zero_sign", at, when=a == b and ours != theirs)
        if self.add("value", at, when=a != b and not both):
            self.add("zero_here", at, when=a == 0)
            self.add("zero_there", at, when=b == 0)
            if not only_here and not only_there:
                self.look_at_numbers(a, b, at)

    def look_at_numbers(self, a: float, b: float, at: Difference) -> None:
        if isinstance(self.here, FloatLayout) and self.here == self.there:
            places = [place_on_line(int(each.bits, 16), self.here) for each in (at.here, at.there)]
            self.error("ulps", abs(places[0] - places[1]), at)
        if self.add("infinity", at, when=math.isinf(a) or math.isinf(b)):
            return
        integers = all(isinstance(each, IntegerLayout) for each in (self.here, self.there))
        exact = abs(Fraction(a) - Fraction(b))
        absolute = int(exact) if integers else as_f64(exact)
        self.error("absolute", absolute, at)
        if b:
            beyond = math.isinf(absolute)
            scale = Fraction(float(abs(b)))
            self.error("relative", as_f64((exact if beyond else Fraction(float(absolute))) / scale), at)

    def comparison(self, here: Side, there: Side) -> Comparison:
        counts, alike = self.counts, self.here == self.there
        first = {name: at.index for name, at in self.first.items()}
        return Comparison(
            here=here,
            there=there,
            n=min(here.n, there.n),
            value_different=counts.get("value", 0),
            bit_different=counts.get("bits", 0) if alike else None,
            nan_bits_different=counts.get("nan_bits", 0) if alike else None,
            zero_sign_different=counts.get("zero_sign", 0) if alike else None,
            first=self.first.get("value"),
            first_bits=self.first.get("bits"),
            nan=NanPlaces(
                both=counts.get("both", 0),
                here_only=counts.get("here_only", 0),
                there_only=counts.get("there_only", 0),
                first_here_only=first.get("here_only"),
                first_there_only=first.get("there_only"),
            ),
            infinity_different=counts.get("infinity", 0),
            zero_here=counts.get("zero_here", 0),
            zero_there=counts.get("zero_there", 0),
            absolute=self.best.get("absolute"),
            relative=self.best.get("relative"),
            ulps=self.best.get("ulps"),
        )


def place_on_line(pattern: int, layout: FloatLayout) -> int:
    magnitude = pattern % (1 << (layout.bits - layout.signed))
    return -magnitude if layout.signed and pattern >> (layout.bits - 1) else magnitude


def as_f64(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf


def slow(here: list[int], there: list[int], layout: Layout, other: Layout) -> Comparison:
    oracle = Slow(here=layout, there=other)
    for index, (ours, theirs) in enumerate(zip(here, there, strict=False)):
        oracle.look(index, ours, theirs)
    return oracle.comparison(
        Side(path="x", dtype=layout.name, n=len(here)), Side(path="y", dtype=other.name, n=len(there))
    )


def comparable(comparison: Comparison) -> str:
    """Make two comparable: NaN is not equal to itself, and -0.0 is to 0.0; what is said in words has its own tests."""
    return repr(replace(comparison, findings=(), notes=()))


def same_as_the_oracle(here: list[int], there: list[int], layout: Layout = F32, other: Layout | None = None) -> bool:
    expected = slow(here, there, layout, other or layout)
    return comparable(of(here, there, layout, other)) == comparable(expected)


@each_in_pairs
def test_corners_in_pairs(layout: Layout) -> None:
    found = corners(layout)
    pairs = [(here, there) for here in found for there in found]
    assert [pair for pair in pairs if not same_as_the_oracle([pair[0]], [pair[1]], layout)] == []
    assert same_as_the_oracle([here for here, _ in pairs], [there for _, there in pairs], layout)


@pytest.mark.parametrize("name", ["e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0", "e2m1", "i8", "u8"])
def test_patterns_of_a_small_type_against_others(name: str) -> None:
    layout = LAYOUTS[name]
    size = 1 << layout.bits
    for step in (1, 7, size // 2 + 1, size - 1):
        here = list(range(size))
        assert same_as_the_oracle(here, [(each * step + step) % size for each in here], layout)


def pairs_of_types() -> Iterator[tuple[str, str]]:
    exact = [name for name, layout in LAYOUTS.items() if name not in {"i64", "u64"}]
    yield from ((here, there) for here in exact for there in exact if here != there)
    yield from (("i64", other) for other in ("i8", "u8", "i16", "u16", "i32", "u32", "bool"))
    yield from (("u64", other) for other in ("u8", "u16", "u32", "bool"))


def test_two_types_are_compared_by_value() -> None:
    chance = random.Random(3)
    wrong = []
    for here, there in pairs_of_types():
        sides = [corners(LAYOUTS[name]) + [0] * 9 for name in (here, there)]
        left, right = ([chance.choice(side) for _ in range(60)] for side in sides)
        wrong += [(here, there)] * (not same_as_the_oracle(left, right, LAYOUTS[here], LAYOUTS[there]))
        wrong += [(there, here)] * (not same_as_the_oracle(right, left, LAYOUTS[there], LAYOUTS[here]))
    assert wrong == []


@pytest.mark.parametrize(("here", "there"), [("i64", "f64"), ("f32", "u64"), ("i64", "u64"), ("u64", "i8")])
def test_types_that_no_type_holds_both_of_are_not_compared(here: str, there: str) -> None:
    with pytest.raises(CensusError, match=f"x: {here} and {there} .y. cannot be compared exactly"):
        of([0], [0], LAYOUTS[here], LAYOUTS[there])


@given(st.sampled_from(sorted(LAYOUTS)), st.data())
def test_any_patterns(name: str, data: st.DataObject) -> None:
    layout = LAYOUTS[name]
    any_pattern = st.integers(0, 2**layout.bits - 1) | st.sampled_from(corners(layout))
    pairs = data.draw(st.lists(st.tuples(any_pattern, any_pattern), max_size=30))
    assert same_as_the_oracle([here for here, _ in pairs], [there for _, there in pairs], layout)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_random_files_in_small_chunks(seed: int) -> None:
    """Compare 100 pairs of files of any type, byte orders and sizes, in chunks of a few elements."""
    chance = random.Random(seed)
    assert [made for made in (a_pair(chance) for _ in range(100)) if not made.is_compared_right()] == []


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePair:
    """Two random files, and how they are to be compared."""

    layout: Layout
    here: list[int]
    there: list[int]
    orders: tuple[ByteOrder, ByteOrder]
    chunk_bytes: int

    def is_compared_right(self) -> bool:
        here = operand(self.here, self.layout, order=self.orders[0])
        there = operand(self.there, self.layout, order=self.orders[1], path="y")
        found = compare(here, there, chunk_bytes=self.chunk_bytes)
        return comparable(found) == comparable(slow(self.here, self.there, self.layout, self.layout))


def a_pair(chance: random.Random) -> MadePair:
    layout = LAYOUTS[chance.choice(list(LAYOUTS))]
    pool = chance.choice([corners(layout), [chance.randrange(2**layout.bits) for _ in range(5)]])
    here = [chance.choice(pool) for _ in range(chance.choice([0, 1, 2, chance.randrange(200)]))]
    share = chance.choice([0, 0.01, 0.3, 1])
    there = [chance.choice(pool) if chance.random() < share else each for each in here]
    more = [chance.choice(pool) for _ in range(chance.choice([0, 0, 1, 40]))]
    orders: list[ByteOrder] = ["little", "big"]
    sides = [here, there + more]
    chance.shuffle(sides)
    return MadePair(
        layout=layout,
        here=sides[0],
        there=sides[1],
        orders=(chance.choice(orders), chance.choice(orders)),
        chunk_bytes=chance.choice([1, 8, 24, 40, 1000]),
    )


@pytest.mark.parametrize("chunk_bytes", [1, 12, 20, 28])
def test_chunks_hold_as_many_elements_of_half_a_byte_as_of_another_type(chunk_bytes: int) -> None:
    here, there = list(range(16)), [struct.unpack("<I", struct.pack("<f", decode(each, FP4)))[0] for each in range(16)]
    found = compare(operand(here, FP4), operand(there), chunk_bytes=chunk_bytes)
    assert (found.n, found.value_different) == (16, 0)


IN_A_CHUNK = COMPARED_BYTES // F32.item_bytes


def floats(values: NDArray[np.floating]) -> Operand:
    return Operand(file=io.BytesIO(values.tobytes()), path="x", layout=LAYOUTS[f"f{8 * values.itemsize}"])


def test_places_count_over_chunk_borders() -> None:
    here = np.ones(3 * IN_A_CHUNK + 5, "<f4")
    there = here.copy()
    there[IN_A_CHUNK - 1 : IN_A_CHUNK + 1] = 1.5
    there[2 * IN_A_CHUNK] = 3
    there[-1] = 2.5
    here[IN_A_CHUNK + 9] = np.nan
    here[3 * IN_A_CHUNK] = there[3 * IN_A_CHUNK] = np.nan
    found = compare(floats(here), floats(there))
    assert (found.n, found.value_different, found.bit_different) == (here.size, 5, 5)
    assert found.nan == NanPlaces(both=1, here_only=1, first_here_only=IN_A_CHUNK + 9)
    assert found.first is not None
    assert found.first.index == IN_A_CHUNK - 1
    assert found.absolute is not None
    assert (found.absolute.error, found.absolute.at.index) == (2, 2 * IN_A_CHUNK)
    assert found.relative is not None
    assert (found.relative.error, found.relative.at.index) == (2 / 3, 2 * IN_A_CHUNK)


def test_random_tensors_have_the_errors_that_numpy_finds() -> None:
    generator = np.random.default_rng(5)
    here = generator.standard_normal(3 * IN_A_CHUNK + 7).astype("<f4")
    there = np.where(generator.random(here.size) < 0.5, here, here * np.float32(1 + 1e-6))
    found = compare(floats(here), floats(there))
    exact = np.abs(here.astype(np.float64) - there)
    assert found.value_different == np.count_nonzero(exact)
    assert found.absolute is not None
    assert found.relative is not None
    assert (found.absolute.error, found.absolute.at.index) == (float(exact.max()), int(exact.argmax()))
    shares = exact / np.abs(there.astype(np.float64))
    assert (found.relative.error, found.relative.at.index) == (float(shares.max()), int(shares.argmax()))
    assert found.ulps is not None
    assert found.ulps.error == np.abs(here.view(np.int32).astype(np.int64) - there.view(np.int32)).max()


def test_equal_bits_are_bitwise_equal_nan_and_all() -> None:
    found = of([NAN, ONE, 0, 0xFFC00001], [NAN, ONE, 0, 0xFFC00001])
    assert found.sameness is Sameness.BITWISE
    assert found.nan == NanPlaces(both=2)
    assert (found.first, found.first_bits, found.absolute, found.relative, found.ulps) == (None,) * 5
    assert (found.findings, found.notes) == ((), ())


def test_other_nan_bits_are_told_and_are_no_difference_of_value() -> None:
    found = of([NAN, ONE, 0xFFC00000], [0x7FFFFFFF, ONE, 0xFFC00000])
    assert found.sameness is Sameness.NAN_BITS
    assert (found.value_different, found.bit_different, found.nan_bits_different) == (0, 1, 1)
    assert found.nan == NanPlaces(both=2)
    (finding,) = found.findings
    assert finding.rule == "nan-bits"
    assert "1 of 2 NaN" in finding.text


def test_zeros_of_either_sign_are_equal_and_not_the_same() -> None:
    found = of([0, 0x80000000], [0x80000000, 0x80000000])
    assert found.sameness is Sameness.VALUES
    assert (found.value_different, found.bit_different, found.zero_sign_different) == (0, 1, 1)
    assert found.ulps is None


def test_a_nan_against_a_number_is_a_place_and_no_error() -> None:
    found = of([NAN, ONE], [ONE, 0xFFFFFFFF])
    assert found.sameness is Sameness.DIFFERENT
    assert found.nan == NanPlaces(here_only=1, there_only=1, first_here_only=0, first_there_only=1)
    assert (found.absolute, found.relative, found.ulps) == (None, None, None)


def test_an_infinity_is_at_the_end_of_the_line() -> None:
    found = of([0x7F7FFFFF, 0x7F800000], [0x7F800000, 0xFF800000])
    assert (found.infinity_different, found.absolute) == (2, None)
    assert found.ulps is not None
    assert (found.ulps.error, found.ulps.at.index) == (2 * 0x7F800000, 1)


def test_numbers_of_either_sign_are_apart_by_their_way_over_zero() -> None:
    found = of([1], [0x80000001])
    assert found.ulps is not None
    assert found.ulps.error == 2
    assert found.absolute is not None
    assert found.absolute.error == 2.0**-148


def test_an_error_beyond_the_range_of_f64_has_a_relative_one() -> None:
    largest = struct.unpack("<Q", struct.pack("<d", sys.float_info.max))[0]
    found = of([largest], [largest | 1 << 63], F64)
    assert found.absolute is not None
    assert found.relative is not None
    assert (found.absolute.error, found.relative.error) == (math.inf, 2)


def test_integers_differ_exactly() -> None:
    found = of([2**63 - 1, 7], [2**63, 5], LAYOUTS["i64"])
    assert found.absolute is not None
    assert (found.absolute.error, found.absolute.at.index) == (2**64 - 1, 0)
    assert found.absolute.at.here == Element(value=2**63 - 1, bits="0x7fffffffffffffff")
    assert found.ulps is None


def test_two_types_say_that_bits_are_not_compared() -> None:
    found = of([0x3F80, 0x7FFF], [ONE, NAN], BF16, F32)
    assert found.sameness is Sameness.VALUES
    assert (found.bit_different, found.nan_bits_different, found.zero_sign_different) == (None, None, None)
    assert found.nan.both == 1
    (note,) = found.notes
    assert note.startswith("bf16 here, f32 in the reference: values are compared")


def test_a_signalling_nan_is_compared_without_a_warning() -> None:
    found = of([0x7F800001, ONE], [0x7F81, 0x3F80], F32, BF16)
    assert (found.nan.both, found.value_different) == (1, 0)


@pytest.mark.parametrize("swapped", [False, True])
def test_of_tensors_of_two_sizes_the_first_elements_are_compared(swapped: bool) -> None:
    sides = ([ONE] * (IN_A_CHUNK + 3), [ONE] * (3 * IN_A_CHUNK))
    found = of(*sides[::-1]) if swapped else of(*sides)
    assert (found.n, found.value_different, found.sameness) == (IN_A_CHUNK + 3, 0, Sameness.DIFFERENT)
    assert sorted((found.here.n, found.there.n)) == [IN_A_CHUNK + 3, 3 * IN_A_CHUNK]
    assert found.notes[0].endswith(f"the first {IN_A_CHUNK + 3} are compared")


def test_two_shapes_of_equal_elements_are_told() -> None:
    here, there = (replace(operand([ONE] * 6), shape=shape, tensor="w") for shape in ((2, 3), (3, 2)))
    found = compare(here, there)
    assert found.sameness is Sameness.BITWISE
    assert found.shapes_differ
    assert found.here == Side(path="x", tensor="w", dtype="f32", shape=(2, 3), n=6)
    assert found.notes == ("shape (2, 3) here, (3, 2) in the reference: compared in the order of the files",)
    assert not compare(operand([ONE]), replace(operand([ONE]), shape=(1,))).shapes_differ


def test_zeros_in_place_of_values_are_a_finding() -> None:
    found = of([ONE, 0, 0x80000000], [ONE, 0x40000000, NAN])
    assert (found.value_different, found.zero_here, found.zero_there) == (2, 2, 0)
    assert [finding.rule for finding in found.findings] == ["zeros-here"]
    assert of([ONE, 0], [0x40000000, ONE]).findings == ()


def test_files_without_elements_are_equal() -> None:
    assert of([], []).sameness is Sameness.BITWISE
    assert of([], [ONE]).sameness is Sameness.DIFFERENT


def test_a_file_that_ends_early_is_an_error() -> None:
    with pytest.raises(CensusError, match="x: ends after 4 bytes"):
        compare(replace(operand([ONE]), count=2), operand([ONE, ONE]))
    with pytest.raises(CensusError, match="2 too many"):
        compare(operand([ONE]), Operand(file=io.BytesIO(bytes(6)), path="y", layout=F32))


def test_without_counts_both_are_read_to_their_ends() -> None:
    here, there = (Operand(file=io.BytesIO(pack([ONE] * 5, F32)), path=path, layout=F32) for path in "xy")
    assert compare(here, there).n == 5


def test_memory_does_not_grow_with_the_files() -> None:
    script = """
import io, re
from pathlib import Path
import numpy as np
from pooldiag.census.comparison import Operand, compare
from pooldiag.census.layouts import LAYOUTS
class Noise(io.RawIOBase):
    def __init__(self, seed, size):
        self.generator, self.left = np.random.default_rng(seed), size
    def readable(self):
        return True
    def readinto(self, buffer):
        size = min(len(buffer), self.left)
        buffer[:size] = self.generator.bytes(size)
        self.left -= size
        return size
def noise(seed, size):
    return Operand(file=Noise(seed, size), path="x", layout=LAYOUTS["e4m3fn"])
def peak_kib():  # of this program alone; what getrusage says a child may inherit
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
before = peak_kib()
assert compare(noise(1, 2**23), noise(2, 2**23)).n == 2**23
print(peak_kib() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert int(done.stdout) < 16 * 1024
