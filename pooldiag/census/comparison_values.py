"""What bit patterns are worth, many at a time, and how far two of them are apart: exactly, for every layout."""

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.elements import Patterns
from pooldiag.census.layouts import FloatLayout, IntegerLayout, Layout, Specials
from pooldiag.census.marks import Flags

Values: TypeAlias = NDArray[np.float64] | NDArray[np.integer]

_F64 = np.dtype(np.float64)
_EXACT_BITS = 32  # integers up to here are exact as f64
# The types that NumPy decodes itself, by the bits of exponent and fraction.
_NATIVE = {(11, 52): "=f8", (8, 23): "=f4", (5, 10): "=f2"}


def common_type(here: Layout, there: Layout) -> np.dtype[np.generic] | None:
    """Return the type of NumPy that holds every value of both exactly; None if there is none."""
    found = np.result_type(_own_type(here), _own_type(there))
    wide = [each for each in (here, there) if isinstance(each, IntegerLayout) and each.bits > _EXACT_BITS]
    return None if wide and found == _F64 else found


def _own_type(layout: Layout) -> np.dtype[np.generic]:
    if isinstance(layout, IntegerLayout):
        return np.dtype(f"={'i' if layout.signed else 'u'}{layout.item_bytes}")
    return _F64


def decode(patterns: Patterns, layout: Layout) -> Values:
    """Return the values: f64, or integers of the layout's own size."""
    if isinstance(layout, IntegerLayout):
        return patterns.view(_own_type(layout))
    if patterns.itemsize == 1:
        return _table(layout).take(patterns)
    if native := _NATIVE.get((layout.exponent_bits, layout.fraction_bits)):
        return patterns.view(native).astype(np.float64, copy=False)
    # A bf16 is the upper half of an f32.
    return (patterns.astype(np.uint32) << (32 - layout.bits)).view(np.float32).astype(np.float64)


@lru_cache(maxsize=8)
def _table(layout: FloatLayout) -> NDArray[np.float64]:
    return np.array([layout.value(pattern) for pattern in range(256)])


def nan_flags(patterns: Patterns, layout: Layout) -> Flags | None:
    """Flag the NaN; None if there are none."""
    if not isinstance(layout, FloatLayout) or not patterns.size:
        return None
    if layout.specials is Specials.MINUS_ZERO:
        flags: Flags = patterns == layout.sign
        return flags if flags.any() else None
    # The largest of either sign says it; read as signed, positive ones are on top.
    last = layout.finite_limit if layout.infinity is not None else layout.finite_limit - 1
    top = patterns.view(f"=i{patterns.itemsize}") if layout.sign else patterns
    if int(top.max()) <= last and (not layout.sign or int(patterns.max()) <= layout.sign | last):
        return None
    return (patterns & layout.magnitudes) > last


def zeros(patterns: Patterns, layout: Layout) -> int:
    """Count the zeros of either sign among patterns that are not NaN."""
    if isinstance(layout, FloatLayout):
        return 0 if not layout.signed else patterns.size - int(np.count_nonzero(patterns & layout.magnitudes))
    return patterns.size - int(np.count_nonzero(patterns))


def distances(here: Values, there: Values) -> Values:
    """Return the absolute differences of two arrays of one type: exact for integers, which come unsigned."""
    if here.dtype == _F64:
        with np.errstate(over="ignore"):
            apart: Values = np.abs(here - there)
        return apart
    unsigned = f"=u{here.itemsize}"
    high, low = np.maximum(here, there).view(unsigned), np.minimum(here, there).view(unsigned)
    steps_up: Values = high - low  # modulo 2^bits, which is right whatever the sign
    return steps_up


def relative(here: Values, there: Values, absolute: Values) -> Values:
    """Return the absolute differences by the magnitudes of `there`, which are not 0, in f64."""
    scale = magnitudes(there)
    with np.errstate(over="ignore"):
        found: Values = absolute / scale
    beyond = np.isinf(absolute)
    if beyond.any():  # of two numbers near the end of f64's range, whose halves have an exact difference by scale
        found[beyond] = np.abs(here[beyond] / 2 - there[beyond] / 2) / (scale[beyond] / 2)
    return found


def magnitudes(values: Values) -> NDArray[np.float64]:
    """Return absolute values as f64, rounded where an integer has more bits than it."""
    if values.dtype == _F64:
        return np.abs(values.astype(np.float64, copy=False))
    return distances(values, np.zeros_like(values)).astype(np.float64)


def steps(here: Patterns, there: Patterns, layout: FloatLayout, shift: int) -> Patterns:
    """Return the distances in units in the last place of patterns that are not NaN.

    All numbers of a type lie on a line, magnitudes upwards from 0 for one sign and downwards for the other (Dawson,
    "Comparing Floating Point Numbers"); both zeros are at 0.
    """
    ours, theirs = here & layout.magnitudes, there & layout.magnitudes
    low = np.minimum(ours, theirs)
    apart: Patterns = np.maximum(ours, theirs) - low
    if layout.sign and (opposite := (here ^ there) >= layout.sign).any():
        apart += low * opposite * 2  # the way over zero: the sum
    if shift:
        apart >>= shift
    return apart
