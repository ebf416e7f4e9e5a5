"""A census the slow way: one element after another, decoded by `struct`."""

import hashlib
import math
import struct
from collections import Counter
from dataclasses import replace
from itertools import groupby

from pooldiag.census.findings import findings
from pooldiag.census.layouts import FloatLayout
from pooldiag.model.census import Census, Element, NanRuns, PatternCount

UNSIGNED = {16: "H", 32: "I", 64: "Q"}
SMALLEST_NORMAL = {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}


def decode(pattern: int, layout: FloatLayout) -> float:
    """Decode one pattern; a bf16 is the upper half of an f32."""
    if layout.name == "bf16":
        return float(struct.unpack("<f", struct.pack("<I", pattern << 16))[0])
    form = {"f64": "d", "f32": "f", "f16": "e"}[layout.name]
    return float(struct.unpack(f"<{form}", struct.pack(f"<{UNSIGNED[layout.bits]}", pattern))[0])


def pack(patterns: list[int], layout: FloatLayout) -> bytes:
    return struct.pack(f"<{len(patterns)}{UNSIGNED[layout.bits]}", *patterns)


def slow_census(patterns: list[int], *, path: str, layout: FloatLayout) -> Census:
    values = [decode(pattern, layout) for pattern in patterns]
    finite = [value for value in values if math.isfinite(value)]
    zeros = [value for value in finite if value == 0]
    nan = Counter(pattern for pattern, value in zip(patterns, values, strict=True) if math.isnan(value))
    census = Census(
        path=path,
        dtype=layout.name,
        sha256=hashlib.sha256(pack(patterns, layout)).hexdigest(),
        n=len(patterns),
        nan=sum(nan.values()),
        positive_inf=values.count(math.inf),
        negative_inf=values.count(-math.inf),
        zero=len(zeros),
        negative_zero=sum(math.copysign(1, value) < 0 for value in zeros),
        subnormal=sum(0 < abs(value) < SMALLEST_NORMAL[layout.name] for value in finite),
        minimum=min(finite, default=None),
        maximum=max(finite, default=None),
        absmax=max(map(abs, finite), default=None),
        first=tuple(
            Element(value=values[place], bits=text(patterns[place], layout)) for place in range(len(values))[:8]
        ),
        nan_patterns=ranked(nan, layout),
        nan_runs=runs(values),
        dominant=dominant(Counter(patterns), layout),
    )
    return replace(census, findings=findings(census))


def text(pattern: int, layout: FloatLayout) -> str:
    return "0x" + f"{pattern:x}".rjust(layout.bits // 4, "0")


def ranked(counts: Counter[int], layout: FloatLayout) -> tuple[PatternCount, ...]:
    by_count = sorted(counts, key=lambda pattern: (-counts[pattern], pattern))
    return tuple(PatternCount(bits=text(pattern, layout), count=counts[pattern]) for pattern in by_count)


def dominant(counts: Counter[int], layout: FloatLayout) -> PatternCount | None:
    first = next(iter(ranked(counts, layout)), None)
    return first if first and first.count * 8 >= counts.total() else None


def runs(values: list[float]) -> NanRuns:
    lengths: list[int] = []
    place, first = 0, None
    for is_nan, group in groupby(map(math.isnan, values)):
        length = len(list(group))
        if is_nan:
            lengths.append(length)
            first = place if first is None else first
        place += length
    return NanRuns(count=len(lengths), longest=max(lengths, default=0), first=first)


def comparable(census: Census) -> Census:
    """Make two censuses comparable by ==: NaN is not equal to itself."""
    return replace(census, first=tuple(replace(each, value=float(f"{each.value}" == "nan")) for each in census.first))
