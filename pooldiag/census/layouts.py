"""Element types as data: where sign, exponent and fraction stand, and which patterns are not finite numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal, TypeAlias

from pooldiag.errors import PooldiagError, UsageError
from pooldiag.model.words import nearest

ByteOrder: TypeAlias = Literal["little", "big"]


class CensusError(PooldiagError):
    """What was to be counted is not a whole number of elements of its type, or not of a known type."""


class Specials(Enum):
    """Which patterns of a floating-point type are not finite numbers."""

    IEEE = auto()  # the highest exponent: infinity with fraction 0, NaN with any other
    ALL_ONES = auto()  # NaN is where every bit but the sign is set; there is no infinity
    MINUS_ZERO = auto()  # NaN is where -0.0 would be; there is neither infinity nor -0.0
    NONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sized:
    """An element type. A pattern is the element's bits as an unsigned number; one below a byte stands alone in it."""

    name: str
    bits: int  # all of one element, the sign too

    @property
    def item_bytes(self) -> int:
        """Bytes of the smallest piece that holds whole elements."""
        return max(1, self.bits // 8)

    @property
    def per_item(self) -> int:
        """Elements in such a piece: 2 in a byte of 4-bit elements, the first in the low half, else 1."""
        return self.item_bytes * 8 // self.bits

    def size_bytes(self, n: int) -> int:
        """Return how many bytes hold `n` elements."""
        return -(-n // self.per_item) * self.item_bytes

    def text(self, pattern: int) -> str:
        """Write a pattern as wide as the type: `0x7fff`."""
        return f"0x{pattern:0{self.bits // 4}x}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatLayout(_Sized):
    """A floating-point type: sign (if it has one), exponent, fraction, from the top bit down."""

    exponent_bits: int
    fraction_bits: int
    specials: Specials = Specials.IEEE
    extra_bias: int = 0
    signed: bool = True  # an unsigned one is a scale: neither zero nor subnormals
    # Made of the above once, because they are asked for often.
    bits: int = field(init=False)
    sign: int = field(init=False)  # the sign bit, alone the pattern of -0.0; 0 in a type without one
    magnitudes: int = field(init=False)  # all bits but the sign

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", self.signed + self.exponent_bits + self.fraction_bits)
        object.__setattr__(self, "sign", 1 << (self.bits - 1) if self.signed else 0)
        object.__setattr__(self, "magnitudes", (1 << (self.bits - self.signed)) - 1)

    @property
    def infinity(self) -> int | None:
        """The pattern of +infinity: NaN is what is above, the sign put aside."""
        return self.finite_limit if self.specials is Specials.IEEE else None

    @property
    def finite_limit(self) -> int:
        """The smallest magnitude that is not finite, or one more than all if every magnitude is."""
        match self.specials:
            case Specials.IEEE:
                return ((1 << self.exponent_bits) - 1) << self.fraction_bits
            case Specials.ALL_ONES:
                return self.magnitudes
            case _:
                return self.magnitudes + 1

    @property
    def smallest_normal(self) -> int:
        """The pattern of the smallest positive normal number: subnormals and zero are below."""
        return 1 << self.fraction_bits if self.signed else 0

    @property
    def nan_patterns(self) -> int:
        """How many patterns are NaN."""
        if self.specials is Specials.MINUS_ZERO:
            return 1
        beyond = self.magnitudes + 1 - self.finite_limit - (self.infinity is not None)
        return beyond * (1 + self.signed)

    @property
    def quiet(self) -> int:
        """The bit that a quiet NaN has and a signalling one has not (IEEE 754-2019, 6.2.1); 0 where all are one."""
        return 1 << (self.fraction_bits - 1) if self.specials is Specials.IEEE else 0

    def is_nan(self, pattern: int) -> bool:
        """Say whether a pattern is a NaN."""
        if self.specials is Specials.MINUS_ZERO:
            return pattern == self.sign
        return pattern & self.magnitudes >= self.finite_limit and pattern & self.magnitudes != self.infinity

    def value(self, pattern: int) -> float:
        """Decode a pattern, exactly."""
        if self.is_nan(pattern):
            return math.nan
        magnitude = pattern & self.magnitudes
        value = math.inf if magnitude == self.infinity else self._finite(magnitude)
        return -value if pattern & self.sign else value

    def _finite(self, magnitude: int) -> float:
        exponent, fraction = divmod(magnitude, 1 << self.fraction_bits)
        normal = magnitude >= self.smallest_normal
        significand = fraction + ((1 << self.fraction_bits) if normal else 0)
        bias = (1 << (self.exponent_bits - 1)) - 1 + self.extra_bias
        return math.ldexp(significand, (exponent if normal else 1) - bias - self.fraction_bits)

    def key(self, pattern: int) -> int:
        """Return a number that orders the patterns of finite elements by value, -0.0 before 0.0."""
        return ~(pattern & self.magnitudes) if pattern & self.sign else pattern

    def magnitude(self, pattern: int) -> int:
        """Return the pattern without its sign: it orders those of finite elements by absolute value."""
        return pattern & self.magnitudes


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerLayout(_Sized):
    """An integer type: two's complement if it is signed."""

    signed: bool

    def is_nan(self, _: int) -> bool:
        """Say whether a pattern is a NaN."""
        return False

    def value(self, pattern: int) -> int:
        """Decode a pattern, exactly."""
        return pattern - (1 << self.bits) if self.signed and pattern >> (self.bits - 1) else pattern

    def key(self, pattern: int) -> int:
        """Return the value: it orders itself."""
        return self.value(pattern)

    def magnitude(self, pattern: int) -> int:
        """Return the absolute value."""
        return abs(self.value(pattern))


Layout: TypeAlias = FloatLayout | IntegerLayout

_ALL: tuple[Layout, ...] = (
    FloatLayout(name="f64", exponent_bits=11, fraction_bits=52),
    FloatLayout(name="f32", exponent_bits=8, fraction_bits=23),
    FloatLayout(name="f16", exponent_bits=5, fraction_bits=10),
    FloatLayout(name="bf16", exponent_bits=8, fraction_bits=7),
    FloatLayout(name="e4m3fn", exponent_bits=4, fraction_bits=3, specials=Specials.ALL_ONES),
    FloatLayout(name="e4m3fnuz", exponent_bits=4, fraction_bits=3, specials=Specials.MINUS_ZERO, extra_bias=1),
    FloatLayout(name="e5m2", exponent_bits=5, fraction_bits=2),
    FloatLayout(name="e5m2fnuz", exponent_bits=5, fraction_bits=2, specials=Specials.MINUS_ZERO, extra_bias=1),
    FloatLayout(name="e8m0", exponent_bits=8, fraction_bits=0, specials=Specials.ALL_ONES, signed=False),
    FloatLayout(name="e2m1", exponent_bits=2, fraction_bits=1, specials=Specials.NONE),
    *(IntegerLayout(name=f"{sign}{bits}", bits=bits, signed=sign == "i") for bits in (8, 16, 32, 64) for sign in "iu"),
    IntegerLayout(name="bool", bits=8, signed=False),
)
LAYOUTS: Mapping[str, Layout] = {layout.name: layout for layout in _ALL}

# What else people and libraries call them. `fp8` and `int4` name no one layout, so they are not here.
_ALSO: Mapping[str, str] = {
    "f64": "float64 fp64 double",
    "f32": "float32 fp32 float single",
    "f16": "float16 fp16 half",
    "bf16": "bfloat16 bfloat",
    "e4m3fn": "float8_e4m3fn f8_e4m3fn fp8_e4m3fn f8_e4m3 fp8_e4m3 e4m3",
    "e4m3fnuz": "float8_e4m3fnuz f8_e4m3fnuz fp8_e4m3fnuz",
    "e5m2": "float8_e5m2 f8_e5m2 fp8_e5m2",
    "e5m2fnuz": "float8_e5m2fnuz f8_e5m2fnuz fp8_e5m2fnuz",
    "e8m0": "float8_e8m0fnu f8_e8m0fnu f8_e8m0 e8m0fnu ue8m0",
    "e2m1": "fp4 f4 fp4_e2m1 float4_e2m1fn float4_e2m1fn_x2 f4_e2m1 e2m1fn",
    "i8": "int8",
    "u8": "uint8 byte",
    "i16": "int16 short",
    "u16": "uint16",
    "i32": "int32 int",
    "u32": "uint32",
    "i64": "int64 long",
    "u64": "uint64",
    "bool": "bool_ boolean",
}
ALIASES: Mapping[str, str] = {also: name for name, all_of_it in _ALSO.items() for also in all_of_it.split()}


def check_whole(layout: Layout, size: int, *, path: str) -> None:
    """Raise CensusError unless bytes are a whole number of elements."""
    if excess := size % layout.item_bytes:
        raise CensusError(
            f"{path}: {size} bytes are no whole number of {layout.name} elements of {layout.item_bytes} bytes,"
            f" {excess} too many",
            hint="was it cut while it was written, or is it of another type?",
        )


def find_layout(name: str) -> Layout:
    """Find a layout by any of its names (`bf16`, `bfloat16`, `torch.bfloat16`); UsageError for an unknown one."""
    wanted = name.strip().lower().rpartition(".")[2].replace("-", "_")
    wanted = ALIASES.get(wanted, wanted)
    if wanted not in LAYOUTS:
        near = nearest(wanted, [*LAYOUTS, *ALIASES], likeness=0.6)
        meant = "" if near is None else f"did you mean {near}? "
        raise UsageError(f"{name}: no such element type", hint=f"{meant}known: {', '.join(LAYOUTS)}")
    return LAYOUTS[wanted]
