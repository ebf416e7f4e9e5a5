"""What a census says about where its values come from: rules as data, each with its source and its limits."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from pooldiag.census.fills import maker_of
from pooldiag.census.layouts import LAYOUTS, FloatLayout, Layout
from pooldiag.model.counts import PAGE_BYTES, Census, Finding, PatternCount
from pooldiag.model.words import count

_T = TypeVar("_T")

# NVIDIA's canonical NaN, by element type, and where it is written down.
_NVIDIA_NAN: Mapping[tuple[str, str], str] = {
    ("f32", "0x7fffffff"): "NVIDIA's canonical f32 NaN (CUDA C++ Programming Guide, Floating-Point Standard)",
    ("f32", "0x7fff0000"): "bf16 0x7fff widened to f32, NVIDIA's canonical bf16 NaN (CUDA's cuda_bf16.hpp)",
    ("bf16", "0x7fff"): "NVIDIA's canonical bf16 NaN (CUDA's cuda_bf16.hpp)",
    ("f16", "0x7fff"): "NVIDIA's canonical f16 NaN (CUDA's cuda_fp16.h, CUDART_NAN_FP16)",
}
# The quiet NaN without payload, by element type: sign clear, and sign set.
_PLAIN_NAN = {"f64": "0x7ff8000000000000", "f32": "0x7fc00000", "f16": "0x7e00", "bf16": "0x7fc0"}
_SIGNED_NAN_OF_F64 = {"f64": "0xfff8000000000000"}
_SIGNED_NAN = {"f32": "0xffc00000", "f16": "0xfe00", "bf16": "0xffc0"}
_ALL_ONES_BF16 = {"bf16": "0xffff", "f32": "0xffff0000"}

_MANY_PATTERNS = 16
_MANY_ELEMENTS = 16  # fewer show no uniformity
_FEW_PATTERNS = 4
_ENOUGH_NAN = 50  # by chance 51 NaN are all at even indices once in 10^15 times
_CHANCE = 1e-6
_ALIGNED = 64  # elements
_UNTYPED = {"raw", "array"}  # formats of which the user says what type they are of, or can
_NARROW = 2  # bytes of a type of which a repeated byte is a number like others
_LONG_FILL = "so memory that was never written, or freed"
_SHORT_FILL = "or a value"
_VALUE = "or a value like any other"
_LAUNDERED = 100  # -0.0 is many from one element in so many


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[_T]):
    """One thing to see in a census, or in a comparison: `read` says it in words, or None when it is not there."""

    name: str
    confidence: str
    provenance: str
    limits: str
    read: Callable[[_T], str | None]
    other_type: bool = False  # it says that the elements are of another type than they are read as


def apply(rules: Iterable[Rule[_T]], subject: _T) -> tuple[Finding, ...]:
    """Apply every rule: what is seen, and at once what it does not say."""
    return tuple(
        Finding(rule=rule.name, text=f"{seen}. {rule.limits}", confidence=rule.confidence, provenance=rule.provenance)
        for rule in rules
        if (seen := rule.read(subject)) is not None
    )


def _layout(census: Census) -> FloatLayout | None:
    layout = LAYOUTS.get(census.dtype)
    return layout if isinstance(layout, FloatLayout) else None


def _one_nan(census: Census) -> str | None:
    """Return the pattern of the NaN, if they all have the same."""
    return census.nan_patterns[0].bits if len(census.nan_patterns) == 1 and census.nan_patterns_complete else None


def _everywhere(census: Census) -> str | None:
    """Return the pattern that all elements have, if it is a NaN."""
    return _one_nan(census) if census.nan == census.n else None


def _uniform_nan(census: Census) -> str | None:
    if census.n < _MANY_ELEMENTS or (bits := _everywhere(census)) is None:
        return None
    if _fill(census, meaning=_LONG_FILL) or _fill(census, meaning=_SHORT_FILL):
        return None  # memory that was never written, and not raw garbage, would contradict each other
    return (
        f"all {census.n} elements are NaN with one pattern, {bits}: computed from a contaminated input and spread"
        " (IEEE 754-2019, 6.2: a NaN goes through), or filled; raw bytes would be mostly finite, and their NaN of many"
        " patterns"
    )


def _nvidia_nan(census: Census) -> str | None:
    bits = _everywhere(census)
    if bits is None or (known := _NVIDIA_NAN.get((census.dtype, bits))) is None:
        return None
    return (
        f"{bits} is {known}: NaN as NVIDIA GPUs write it, so the last operation or cast ran on one, or imitates one"
        " (an emulator, a CPU cast that keeps a GPU's bits)"
    )


def _known_nan(census: Census, *, patterns: Mapping[str, str], words: str) -> str | None:
    """See that every NaN has the one pattern that is known for the element type."""
    bits = _one_nan(census)
    return f"every NaN is {bits}{words}" if bits is not None and bits == patterns.get(census.dtype) else None


def _all_ones_nan(census: Census) -> str | None:
    words = "what torch's and OpenVINO's vectorised casts from f32 to bf16 on the CPU write for any NaN; or"
    widened = "" if census.dtype == "bf16" else ", bf16 0xffff widened"
    return _known_nan(census, patterns=_ALL_ONES_BF16, words=f"{widened}: {words} bytes filled with 0xff")


def _layout_with_nan(census: Census, *, small: bool) -> FloatLayout | None:
    """Return the layout if it has patterns of NaN, and not many if it is to be `small`."""
    layout = _layout(census)
    if layout is None or not layout.nan_patterns or (layout.nan_patterns < _MANY_PATTERNS) is not small:
        return None
    return layout


def _raw_bytes(census: Census, *, small: bool) -> str | None:
    """See NaN that are as many and as different as in random bytes."""
    layout = _layout_with_nan(census, small=small)
    if layout is None or layout.nan_patterns == 1 or census.nan < _MANY_PATTERNS:
        return None
    if not _of_random_bits(census, layout) or not 2 / 3 <= _to_base_rate(census, layout) <= 3 / 2:
        return None
    patterns = f"{len(census.nan_patterns)}{'' if census.nan_patterns_complete else ' or more'}"
    return (
        f"{census.nan} of {census.n} elements ({_percent(census.nan / census.n)}) are NaN, of {patterns} patterns:"
        f" random bytes read as {census.dtype} have {_percent(_base_rate(layout))}. Raw bytes: another type, a wrong"
        " offset, or memory that was never written"
    )


def _of_random_bits(census: Census, layout: FloatLayout) -> bool:
    """Say whether NaN have many patterns, quiet ones and signalling ones: a program that writes NaN has few."""
    many = len(census.nan_patterns) >= min(_MANY_PATTERNS, layout.nan_patterns)
    return many and (not layout.quiet or 0 < census.nan_signalling < census.nan)


def _base_rate(layout: FloatLayout) -> float:
    """Return the share of NaN in random bytes."""
    return layout.nan_patterns / (1 << layout.bits)


def _to_base_rate(census: Census, layout: FloatLayout) -> float:
    """Return how many NaN there are for each that random bytes would have."""
    return census.nan / (census.n * _base_rate(layout))


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _wider_type(census: Census, *, small: bool) -> str | None:
    """See NaN at some places modulo 2, 4 or 8 only."""
    layout = _layout_with_nan(census, small=small)
    if layout is None or census.nan <= _ENOUGH_NAN or not _of_random_bits(census, layout):
        return None
    if not 1 / 16 <= _to_base_rate(census, layout) <= 5 / 4:
        return None
    periods = [period for period in _periods(layout) if _has_period(census, period)]
    if not periods:
        return None
    period = periods[-1]
    classes = _classes(census, period)
    return (
        f"{census.nan} of {census.n} elements ({_percent(census.nan / census.n)}) are NaN, and their indices modulo"
        f" {period} are {_numbers(place for place, nan in enumerate(classes) if nan)} only: the lower bits of a"
        f" wider type look like this. {_advice(census, layout, period)}"
    )


def _periods(layout: FloatLayout) -> list[int]:
    """Return how many elements of this type may make one of a wider type."""
    return [period for period in (2, 4, 8) if period * layout.bits <= 64]  # noqa: PLR2004 - bits of the widest type


def _has_period(census: Census, period: int) -> bool:
    """Say whether places modulo `period` say more than modulo its half, and the half of an item with its sign is free.

    The upper end of a wider item holds sign and exponent, which are not NaN in ordinary numbers.
    """
    free = [not nan for nan in _classes(census, period)]
    half = period // 2
    by_chance = (1 - 1 / period) ** census.nan
    return (free[-1] or free[0]) and by_chance < _CHANCE and (half == 1 or free[:half] != free[half:])


def _classes(census: Census, period: int) -> list[int]:
    """Return how many NaN there are of each index modulo `period`."""
    return [sum(census.nan_residues[first::period]) for first in range(period)]


def _advice(census: Census, layout: FloatLayout, period: int) -> str:
    """Say what to do: read a file as the wider type, or, where the file says its type itself, doubt what wrote it."""
    wider = {16: "bf16, f16 or i16", 32: "f32 or i32", 64: "f64 or i64"}[layout.bits * period]
    if census.format in _UNTYPED:
        return f"Try {wider}"
    return f"But {census.format} says itself of what type it is: if this is right, its writer took {wider} for it"


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _strided_nan(census: Census) -> str | None:
    """See NaN that fill some places modulo 2, 4 or 8, and are at no other."""
    layout = _layout(census)
    if layout is None or not _ENOUGH_NAN < census.nan < census.n:
        return None
    for period in _periods(layout):
        sizes = [len(range(place, census.n, period)) for place in range(period)]
        filled = [place for place, nan in enumerate(_classes(census, period)) if nan == sizes[place]]
        if sum(sizes[place] for place in filled) == census.nan:
            return (
                f"every element whose index modulo {period} is {_numbers(filled)} is NaN, and no other: NaN of a wider"
                f" type look like this. {_advice(census, layout, period)}"
            )
    return None


def _signalling_nan(census: Census) -> str | None:
    if census.dtype not in {"f32", "f16", "bf16"} or not census.nan_signalling:
        return None
    return (
        f"{census.nan_signalling} of {census.nan} NaN are signalling (the quiet bit is clear), which no arithmetic"
        " makes (IEEE 754-2019, 6.2): raw bytes, integers read as floats, or torch's widening of fnuz and e8m0"
    )


def _aligned_runs(census: Census) -> str | None:
    runs = census.nan_runs
    if not 0 < len(census.nan_patterns) <= _FEW_PATTERNS or (runs.alignment or 0) < _ALIGNED:
        return None
    touches_an_end = runs.first == 0 or (runs.first or 0) + runs.longest == census.n
    if runs.count == 1 and touches_an_end and not _at_rows(census):
        return None  # the one border that is left is a multiple of itself
    return (
        f"NaN of {count(len(census.nan_patterns), 'pattern')} in {count(runs.count, 'run')}, the longest of"
        f" {runs.longest} elements, which begin and end at multiples of {runs.alignment}: rows, tiles or blocks that"
        " were not written, or that something overwrote"
    )


def _at_rows(census: Census) -> bool:
    """Say whether runs of NaN begin and end where rows do, and they are long enough for that not to be chance."""
    shape = census.shape or ()
    return len(shape) > 1 and shape[-1] >= _ALIGNED and (census.nan_runs.alignment or 0) % shape[-1] == 0


def _overflow(census: Census) -> str | None:
    layout = _layout(census)
    if layout is None or census.absmax is None or not census.inf or _one_nan(census) is None:
        return None
    scattered = 2 * census.nan_runs.count >= census.nan
    largest = layout.value(layout.finite_limit - 1)
    infinities = "1 infinity" if census.inf == 1 else f"{census.inf} infinities"
    if not scattered or census.absmax < largest**0.5:
        return None
    return (
        f"{census.nan} scattered NaN of one pattern beside {infinities} and finite values up to"
        f" {census.absmax:.3g}, whose squares exceed the type's largest, {largest:.3g}: an overflow, then inf - inf or"
        " 0 * inf. Look upstream for the first infinity"
    )


def _fill(census: Census, *, meaning: str) -> str | None:
    """See a fill that means this: of more than a page, of less, or with what is an ordinary value of the type."""
    layout, dominant = LAYOUTS.get(census.dtype), census.dominant
    if layout is None or dominant is None or dominant.count < _MANY_ELEMENTS:
        return None
    maker = maker_of(int(dominant.bits, 16), bits=layout.bits, dtype=census.dtype)
    solid = _solid_bytes(census, dominant)
    if maker is None or not solid or _meaning(census, layout, dominant) != meaning:
        return None
    return (
        f"{dominant.count} of {census.n} elements are {dominant.bits}, {solid} bytes of them without a gap: {maker},"
        f" {meaning}"
    )


def _meaning(census: Census, layout: Layout, dominant: PatternCount) -> str | None:
    """Say what it means if a pattern fills memory; None where other rules say what it is."""
    ordinary = not isinstance(layout, FloatLayout) or layout.item_bytes <= _NARROW
    if ordinary and not layout.is_nan(int(dominant.bits, 16)):
        return _VALUE  # programs compute it, too: in a narrow type any number
    if layout.item_bytes == 1:
        return None  # so few patterns are NaN that every maker's is a fill's too
    if dominant.bits == _ALL_ONES_BF16.get(census.dtype):
        return None  # a cast writes it as well: all-ones-nan says so
    return _LONG_FILL if _solid_bytes(census, dominant) > PAGE_BYTES else _SHORT_FILL


def _solid_bytes(census: Census, dominant: PatternCount) -> int:
    """Return how many bytes hold the dominant pattern and nothing else: the whole tensor, or pages of it."""
    layout = LAYOUTS[census.dtype]
    if dominant.count == census.n:
        return layout.size_bytes(census.n)
    if dominant.bits == _one_nan(census):
        longest = layout.size_bytes(census.nan_runs.longest)
        return longest if longest >= PAGE_BYTES else 0
    return census.dominant_pages * PAGE_BYTES


def _zeros(census: Census) -> str | None:
    if census.n < _MANY_ELEMENTS or census.zero < census.n:
        return None
    return f"all {census.n} elements are zero: fresh memory is, so this may never have been written"


def _laundered(census: Census) -> str | None:
    if census.dtype != "bf16" or not census.negative_zero or census.negative_zero * _LAUNDERED < census.n:
        return None
    return (
        f"{census.negative_zero} of {census.n} elements are -0.0: a cast from f32 that rounds without looking for NaN"
        " makes -0.0 of 0x7fffffff"
    )


_LITERALS = "Arm ARM (FPDefaultNaN), RISC-V F chapter; literals of C, Python, NumPy and torch, measured"
_SHAPES = "4 million normal numbers read as other types, measured; random bytes by arithmetic"
_SMALL_TYPE = "medium: the type has few NaN patterns, and casts make them too"

_RAW_BYTES: Rule[Census] = Rule(
    name="raw-bytes",
    confidence="high",
    provenance=_SHAPES,
    limits="Which of these it is, the counts do not say",
    read=partial(_raw_bytes, small=False),
    other_type=True,
)
_WIDER_TYPE = replace(
    _RAW_BYTES,
    name="wider-type",
    confidence="very high",
    limits="Which wider type it is, the values under it have to confirm",
    read=partial(_wider_type, small=False),
)
_FILL: Rule[Census] = Rule(
    name="fill",
    confidence="high",
    provenance="sources and manuals of the allocators named",
    limits="A program may write the same bytes on purpose",
    read=partial(_fill, meaning=_LONG_FILL),
)
# R13, other bits at the same place in a reference, is a rule over a comparison, and stands beside that.
RULES: tuple[Rule[Census], ...] = (
    Rule(
        name="uniform-nan",
        confidence="high that this buffer is not raw garbage",
        provenance="IEEE 754-2019, 6.2; share of NaN in random bytes by arithmetic",
        limits=(
            "Garbage read upstream is not excluded: of bf16 left in memory 0.39 % is NaN, which makes a sum over 1,000"
            " of them NaN with probability 98 %. Count the inputs of this tensor next"
        ),
        read=_uniform_nan,
    ),
    Rule(
        name="nvidia-nan",
        confidence="high for the pattern, medium for the origin",
        provenance="CUDA C++ Programming Guide, Floating-Point Standard; CUDA's math_constants.h and cuda_bf16.hpp",
        limits="GPUs erase payloads: where the first NaN was born, the pattern does not say",
        read=_nvidia_nan,
    ),
    Rule(
        name="x86-nan",
        confidence="high unless something negated it",
        provenance="Intel SDM volume 1, table 4-3 (QNaN floating-point indefinite); C, NumPy and torch, measured",
        limits="A later operation passes a NaN on with its bits: what made it need not be what wrote this tensor",
        read=partial(
            _known_nan,
            patterns=_SIGNED_NAN,
            words=", quiet with the sign set: what an invalid operation (0/0, inf - inf, inf * 0) gives on an x86 CPU;"
            " NVIDIA's f32 and Arm's arithmetic leave the sign clear",
        ),
    ),
    Rule(
        name="x86-or-cuda-nan",
        confidence="low",
        provenance="Intel SDM volume 1, table 4-3; CUDA's math_constants.h",
        limits="The two cannot be told apart in f64",
        read=partial(
            _known_nan,
            patterns=_SIGNED_NAN_OF_F64,
            words=": what an invalid operation gives on an x86 CPU, and CUDA's own constant CUDART_NAN",
        ),
    ),
    Rule(
        name="plain-nan",
        confidence="low",
        provenance=_LITERALS,
        limits="They cannot be told apart",
        read=partial(
            _known_nan,
            patterns=_PLAIN_NAN,
            words=": an operation on Arm or RISC-V, a NaN that the program wrote (float('nan'), NAN), or a fill with"
            " NaN (torch's deterministic fill, TensorFlow's GPUNanResetAllocator)",
        ),
    ),
    Rule(
        name="all-ones-nan",
        confidence="medium",
        provenance="torch's CPU vector code, measured with AVX2 and AVX-512; OpenVINO's constant",
        limits="A fill would show as 0xff in neighbouring tensors of other types too: look at those",
        read=_all_ones_nan,
    ),
    _RAW_BYTES,
    replace(_RAW_BYTES, name="raw-bytes-small-type", confidence=_SMALL_TYPE, read=partial(_raw_bytes, small=True)),
    _WIDER_TYPE,
    replace(_WIDER_TYPE, name="wider-small-type", confidence=_SMALL_TYPE, read=partial(_wider_type, small=True)),
    Rule(
        name="strided-nan",
        confidence="medium",
        provenance=_SHAPES,
        limits="Interleaved data of which one part is NaN (the imaginary parts, a channel) looks the same",
        read=_strided_nan,
        other_type=True,
    ),
    Rule(
        name="signalling-nan",
        confidence="high",
        provenance="IEEE 754-2019, 6.2 and 7.2; torch's casts, measured",
        limits="Moves, NumPy's maximum and its cast from f32 to f16 pass an existing one through",
        read=_signalling_nan,
    ),
    Rule(
        name="aligned-nan",
        confidence="medium",
        provenance="partly written outputs in pytorch/FBGEMM#5754 and aorta#267",
        limits="One bad row of an input, spread along its row by a product, looks the same",
        read=_aligned_runs,
    ),
    Rule(
        name="overflow",
        confidence="medium",
        provenance="IEEE 754-2019, 7.2 and 7.4",
        limits="Infinities and NaN may have separate causes",
        read=_overflow,
    ),
    _FILL,
    replace(_FILL, name="short-fill", confidence="low: it is 4 KiB or less", read=partial(_fill, meaning=_SHORT_FILL)),
    replace(
        _FILL,
        name="fill-or-value",
        confidence="low: in this type the pattern is an ordinary value too",
        limits="A program may write the same value on purpose",
        read=partial(_fill, meaning=_VALUE),
    ),
    Rule(
        name="zeros",
        confidence="low, a hint",
        provenance="the operating system hands out zeroed pages",
        limits="Zero may be the right answer: compare with a reference",
        read=_zeros,
    ),
    Rule(
        name="laundered-nan",
        confidence="low, a hint",
        provenance="rounding to even without a guard, by arithmetic and measured",
        limits="Negative zeros may be the right answer: compare with a reference",
        read=_laundered,
    ),
)


OTHER_TYPE = frozenset(rule.name for rule in RULES if rule.other_type)


def findings(census: Census) -> tuple[Finding, ...]:
    """Apply every rule."""
    return apply(RULES, census)
