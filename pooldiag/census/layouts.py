"""Floating-point types as data: where the sign, the exponent and the fraction stand."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatLayout:
    """A binary type in IEEE 754's manner: the highest exponent is for infinities (fraction 0) and NaN (any other)."""

    name: str
    exponent_bits: int
    fraction_bits: int

    @property
    def bits(self) -> int:
        """All bits of one element, the sign too."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def item_bytes(self) -> int:
        """Bytes of one element."""
        return self.bits // 8

    @property
    def dtype(self) -> str:
        """The unsigned type, in NumPy's words, as which elements are counted: files are little-endian."""
        return f"<u{self.item_bytes}"

    @property
    def sign(self) -> int:
        """The pattern of -0.0: the sign bit."""
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        """The pattern of +infinity: NaN is what is above, the sign put aside."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def smallest_normal(self) -> int:
        """The pattern of the smallest positive normal number: subnormals and zero are below."""
        return 1 << self.fraction_bits

    def text(self, pattern: int) -> str:
        """Write a pattern as wide as the type: `0x7fff`."""
        return f"0x{pattern:0{self.bits // 4}x}"

    def value(self, pattern: int) -> float:
        """Decode a pattern, exactly."""
        magnitude = pattern & (self.sign - 1)
        exponent, fraction = divmod(magnitude, self.smallest_normal)
        if magnitude >= self.infinity:
            value = math.inf if magnitude == self.infinity else math.nan
        else:
            significand = fraction + (self.smallest_normal if exponent else 0)
            bias = (1 << (self.exponent_bits - 1)) - 1
            value = math.ldexp(significand, max(exponent, 1) - bias - self.fraction_bits)
        return -value if pattern & self.sign else value


LAYOUTS: Mapping[str, FloatLayout] = {
    layout.name: layout
    for layout in (
        FloatLayout(name="f64", exponent_bits=11, fraction_bits=52),
        FloatLayout(name="f32", exponent_bits=8, fraction_bits=23),
        FloatLayout(name="f16", exponent_bits=5, fraction_bits=10),
        FloatLayout(name="bf16", exponent_bits=8, fraction_bits=7),
    )
}
