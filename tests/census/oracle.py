"""A census the slow way: one element after another, decoded by `struct` or from the definition of the type."""

import hashlib
import math
import struct
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

from pooldiag.census.findings import findings
from pooldiag.census.layouts import Layout
from pooldiag.model.counts import Census, Element, NanRuns, PatternCount

UNSIGNED = {8: "B", 16: "H", 32: "I", 64: "Q"}
STRUCT = {"f64": "d", "f32": "f", "f16": "e", "i8": "b", "i16": "h", "i32": "i", "i64": "q"}
SMALLEST_NORMAL = {
    "f64": 2.0**-1022,
    "f32": 2.0**-126,
    "f16": 2.0**-14,
    "bf16": 2.0**-126,
    "e4m3fn": 2.0**-6,
    "e4m3fnuz": 2.0**-7,
    "e5m2": 2.0**-14,
    "e5m2fnuz": 2.0**-15,
    "e2m1": 1.0,
}
QUIET = {"f64": 1 << 51, "f32": 1 << 22, "f16": 1 << 9, "bf16": 1 << 6, "e5m2": 1 << 1}


def small_float(pattern: int, *, fraction: int, bias: int) -> float:
    """Decode 8 bits of sign, exponent and fraction, all of them finite."""
    exponent = (pattern & 0x7F) >> fraction
    part = (pattern & ((1 << fraction) - 1)) / (1 << fraction)
    value = (1 + part) * 2.0 ** (exponent - bias) if exponent else part * 2.0 ** (1 - bias)
    return -value if pattern & 0x80 else value


def e4m3fn(pattern: int) -> float:
    return math.nan if pattern & 0x7F == 0x7F else small_float(pattern, fraction=3, bias=7)


def e4m3fnuz(pattern: int) -> float:
    return math.nan if pattern == 0x80 else small_float(pattern, fraction=3, bias=8)


def e5m2(pattern: int) -> float:
    """Decode the upper half of an f16."""
    return float(struct.unpack("<e", struct.pack("<H", pattern << 8))[0])


def e5m2fnuz(pattern: int) -> float:
    return math.nan if pattern == 0x80 else small_float(pattern, fraction=2, bias=16)


def e8m0(pattern: int) -> float:
    return math.nan if pattern == 0xFF else 2.0 ** (pattern - 127)


def e2m1(pattern: int) -> float:
    return (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)[pattern]


def bf16(pattern: int) -> float:
    """Decode the upper half of an f32."""
    return float(struct.unpack("<f", struct.pack("<I", pattern << 16))[0])


DEFINITIONS: dict[str, Callable[[int], float]] = {
    definition.__name__: definition for definition in (bf16, e4m3fn, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e2m1)
}


def decode(pattern: int, layout: Layout) -> float:
    """Decode one pattern."""
    if layout.name in DEFINITIONS:
        return DEFINITIONS[layout.name](pattern)
    if layout.name not in STRUCT:
        return pattern
    value: float = struct.unpack("<" + STRUCT[layout.name], struct.pack("<" + UNSIGNED[layout.bits], pattern))[0]
    return value


def pack(patterns: list[int], layout: Layout, order: str = "little") -> bytes:
    if layout.bits == 4:
        padded = patterns + [0] * (len(patterns) % 2)
        return bytes(low | high << 4 for low, high in zip(padded[::2], padded[1::2], strict=True))
    return struct.pack(f"{'<' if order == 'little' else '>'}{len(patterns)}{UNSIGNED[layout.bits]}", *patterns)


def slow_census(patterns: list[int], *, path: str, layout: Layout, order: str = "little") -> Census:
    values = [decode(pattern, layout) for pattern in patterns]
    finite = [value for value in values if math.isfinite(value)]
    zeros = [value for value in finite if value == 0]
    nan = Counter(pattern for pattern, value in zip(patterns, values, strict=True) if math.isnan(value))
    quiet = QUIET.get(layout.name)
    places = [place for place, value in enumerate(values) if math.isnan(value)]
    minimum, maximum = min(finite, key=total_order, default=None), max(finite, key=total_order, default=None)
    absmax = max(map(abs, finite), default=None)
    census = Census(
        path=path,
        dtype=layout.name,
        sha256=hashlib.sha256(pack(patterns, layout, order)).hexdigest(),
        n=len(patterns),
        nan=sum(nan.values()),
        positive_inf=values.count(math.inf),
        negative_inf=values.count(-math.inf),
        zero=len(zeros),
        negative_zero=sum(math.copysign(1, value) < 0 for value in zeros),
        subnormal=sum(0 < abs(value) < SMALLEST_NORMAL.get(layout.name, 0) for value in finite),
        minimum=minimum,
        maximum=maximum,
        absmax=absmax,
        minimum_index=index_of(minimum, values),
        maximum_index=index_of(maximum, values),
        absmax_index=None if absmax is None else next(place for place, one in enumerate(values) if abs(one) == absmax),
        first=tuple(
            Element(value=values[place], bits=text(patterns[place], layout)) for place in range(len(values))[:8]
        ),
        nan_patterns=ranked(nan, layout),
        nan_signalling=0 if quiet is None else sum(count for bits, count in nan.items() if not bits & quiet),
        nan_residues=tuple(sum(place % 8 == residue for place in places) for residue in range(8)),
        nan_runs=runs(values),
        dominant=dominant(Counter(patterns), layout),
    )
    return replace(census, findings=findings(census))


def total_order(value: float) -> tuple[float, float]:
    return value, math.copysign(1, value)


def index_of(value: float | None, values: list[float]) -> int | None:
    if value is None:
        return None
    return next(place for place, one in enumerate(values) if total_order(one) == total_order(value))


def text(pattern: int, layout: Layout) -> str:
    return "0x" + f"{pattern:x}".rjust(layout.bits // 4, "0")


def ranked(counts: Counter[int], layout: Layout) -> tuple[PatternCount, ...]:
    by_count = sorted(counts, key=lambda pattern: (-counts[pattern], pattern))
    return tuple(PatternCount(bits=text(pattern, layout), count=counts[pattern]) for pattern in by_count)


def dominant(counts: Counter[int], layout: Layout) -> PatternCount | None:
    first = next(iter(ranked(counts, layout)), None)
    return first if first and first.count * 8 >= counts.total() else None


def runs(values: list[float]) -> NanRuns:
    lengths: list[int] = []
    borders: set[int] = set()
    place, first = 0, None
    for is_nan, group in groupby(map(math.isnan, values)):
        length = len(list(group))
        if is_nan:
            lengths.append(length)
            first = place if first is None else first
            borders |= {place, place + length}
        place += length
    alignment = math.gcd(*(borders - {0, place}))
    return NanRuns(count=len(lengths), longest=max(lengths, default=0), first=first, alignment=alignment or None)


def comparable(census: Census) -> Census:
    """Make two censuses comparable by ==: NaN is not equal to itself, and -0.0 is to 0.0."""
    return replace(
        census,
        minimum=signed(census.minimum),
        maximum=signed(census.maximum),
        first=tuple(replace(each, value=float(f"{each.value}" == "nan")) for each in census.first),
    )


def signed(value: float | None) -> float | None:
    """Make -0.0 a number of its own; an integer stays one, exactly."""
    return -sys.float_info.min if isinstance(value, float) and value == 0 and math.copysign(1, value) < 0 else value
