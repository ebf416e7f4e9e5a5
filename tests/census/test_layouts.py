"""Layouts, against `struct`."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.layouts import LAYOUTS, FloatLayout
from tests.census.oracle import SMALLEST_NORMAL, decode


def same(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def test_names_are_the_keys() -> None:
    assert list(LAYOUTS) == [layout.name for layout in LAYOUTS.values()] == ["f64", "f32", "f16", "bf16"]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_fills_whole_bytes_and_knows_its_borders(layout: FloatLayout) -> None:
    assert layout.bits == 8 * layout.item_bytes
    assert layout.dtype == f"<u{layout.item_bytes}"
    assert layout.value(layout.infinity) == math.inf
    assert math.isnan(layout.value(layout.infinity + 1))
    assert layout.value(layout.smallest_normal) == SMALLEST_NORMAL[layout.name]
    assert same(layout.value(layout.sign), -0.0)
    assert len(layout.text(1)) == 2 + layout.bits // 4


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_every_pattern_of_a_16_bit_type_decodes(name: str) -> None:
    layout = LAYOUTS[name]
    wrong = [pattern for pattern in range(65_536) if not same(layout.value(pattern), decode(pattern, layout))]
    assert wrong == []


@given(st.integers(0, 2**32 - 1))
def test_any_f32_decodes(pattern: int) -> None:
    assert same(LAYOUTS["f32"].value(pattern), decode(pattern, LAYOUTS["f32"]))


@given(st.integers(0, 2**64 - 1))
def test_any_f64_decodes(pattern: int) -> None:
    assert same(LAYOUTS["f64"].value(pattern), decode(pattern, LAYOUTS["f64"]))
