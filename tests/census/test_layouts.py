"""Layouts, against `struct`, the definitions and ml_dtypes; and the names that people have for them."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.layouts import ALIASES, LAYOUTS, FloatLayout, Layout, Specials, find_layout
from pooldiag.errors import UsageError
from tests.census.oracle import QUIET, SMALLEST_NORMAL, decode

FLOATS = {name: layout for name, layout in LAYOUTS.items() if isinstance(layout, FloatLayout)}
SMALL = [name for name, layout in LAYOUTS.items() if layout.bits <= 16]
ML_DTYPES = {
    "bf16": ml_dtypes.bfloat16,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2": ml_dtypes.float8_e5m2,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e8m0": ml_dtypes.float8_e8m0fnu,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
each_small = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in {"f16", "i16", "u16"} else []) for name in SMALL],
)
floats = pytest.mark.parametrize("layout", FLOATS.values(), ids=FLOATS)


def same(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def test_names_are_the_keys() -> None:
    assert list(LAYOUTS) == [layout.name for layout in LAYOUTS.values()]
    assert list(FLOATS) == ["f64", "f32", "f16", "bf16", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0", "e2m1"]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_knows_its_size(layout: Layout) -> None:
    assert layout.per_item * layout.bits == 8 * layout.item_bytes
    assert layout.size_bytes(0) == 0
    assert layout.size_bytes(3) == math.ceil(3 * layout.bits / 8)
    assert len(layout.text(1)) == 2 + layout.bits // 4


@floats
def test_a_float_knows_its_borders(layout: FloatLayout) -> None:
    nan = [pattern for pattern in range(256) if layout.bits == 8 and math.isnan(layout.value(pattern))]
    assert layout.bits != 8 or layout.nan_patterns == len(nan)
    if layout.specials is Specials.IEEE:
        assert layout.infinity is not None
        assert layout.value(layout.infinity) == math.inf
        assert math.isnan(layout.value(layout.infinity + 1))
        assert layout.quiet == QUIET[layout.name]
    else:
        assert (layout.infinity, layout.quiet) == (None, 0)
    if layout.signed:
        assert layout.value(layout.smallest_normal) == SMALLEST_NORMAL[layout.name]
        assert layout.specials is Specials.MINUS_ZERO or same(layout.value(layout.sign), -0.0)


@each_small
def test_every_pattern_of_a_small_type_decodes_as_it_is_defined(name: str) -> None:
    layout = LAYOUTS[name]
    patterns = range(1 << layout.bits)
    assert [each for each in patterns if not same(layout.value(each), decode(each, layout))] == []
    assert [each for each in patterns if layout.is_nan(each) != math.isnan(layout.value(each))] == []


@pytest.mark.parametrize("name", ML_DTYPES)
def test_every_pattern_of_a_small_type_decodes_as_ml_dtypes_does(name: str) -> None:
    layout = LAYOUTS[name]
    patterns = np.arange(1 << layout.bits, dtype=f"u{layout.item_bytes}")
    with np.errstate(invalid="ignore"):  # signalling NaN
        values = patterns.view(ML_DTYPES[name]).astype(np.float64).tolist()
    assert [each for each, value in enumerate(values) if not same(layout.value(each), value)] == []


def test_every_pattern_of_f16_decodes_as_numpy_does() -> None:
    values = np.arange(1 << 16, dtype="u2").view(np.float16).astype(np.float64).tolist()
    assert [each for each, value in enumerate(values) if not same(LAYOUTS["f16"].value(each), value)] == []


@pytest.mark.parametrize("name", ["f32", "f64", "i32", "u32", "i64", "u64"])
@given(data=st.data())
def test_any_pattern_of_a_wide_type_decodes(name: str, data: st.DataObject) -> None:
    layout = LAYOUTS[name]
    pattern = data.draw(st.integers(0, 2**layout.bits - 1))
    assert same(layout.value(pattern), decode(pattern, layout))


@each_small
def test_keys_order_finite_patterns_by_value(name: str) -> None:
    layout = LAYOUTS[name]
    finite = [each for each in range(1 << layout.bits) if math.isfinite(layout.value(each))]
    by_key = sorted(finite, key=layout.key)
    values = [(layout.value(each), math.copysign(1, layout.value(each))) for each in by_key]
    assert values == sorted(values)
    by_size = [abs(layout.value(each)) for each in sorted(finite, key=layout.magnitude)]
    assert by_size == sorted(by_size)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("f32", "f32"),
        ("FP32", "f32"),
        ("float", "f32"),
        ("torch.bfloat16", "bf16"),
        ("half", "f16"),
        ("double", "f64"),
        ("float8_e4m3fn", "e4m3fn"),
        ("F8_E4M3", "e4m3fn"),
        ("ml_dtypes.float8_e8m0fnu", "e8m0"),
        ("fp4", "e2m1"),
        (" int64 ", "i64"),
        ("numpy.bool_", "bool"),
    ],
)
def test_a_layout_is_found_by_the_names_that_people_type(name: str, found: str) -> None:
    assert find_layout(name) is LAYOUTS[found]


def test_no_other_name_hides_a_layout() -> None:
    assert not ALIASES.keys() & LAYOUTS.keys()
    assert set(ALIASES.values()) == set(LAYOUTS)


@pytest.mark.parametrize("name", ["fp8", "", "int4", "float8_e4m3", "f8"])
def test_a_name_that_fits_no_layout_or_several_is_an_error(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_layout(name)
    assert "no such element type" in raised.value.problem
    assert "known: f64, f32" in (raised.value.hint or "")


def test_a_misspelt_name_is_told_what_it_may_mean() -> None:
    with pytest.raises(UsageError) as raised:
        find_layout("bfloat61")
    assert "did you mean bfloat16?" in (raised.value.hint or "")
