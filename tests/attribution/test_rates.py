"""Rates, their intervals, and how many greens say something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.attribution.rates import greens_until, rate_of


@given(st.integers(1, 500).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_the_interval_holds_the_share_and_stays_within_0_and_1(pair: tuple[int, int]) -> None:
    rate = rate_of(*pair)
    assert rate is not None
    assert 0 <= rate.low <= pair[0] / pair[1] + 1e-12
    assert pair[0] / pair[1] - 1e-12 <= rate.high <= 1


def test_the_interval_is_the_one_of_the_literature() -> None:
    rate = rate_of(13, 30)
    assert rate is not None
    assert rate.low == pytest.approx(0.2738, abs=5e-4)
    assert rate.high == pytest.approx(0.6080, abs=5e-4)
    assert rate_of(0, 0) is None


@given(st.floats(0.001, 0.999), st.floats(0.5, 0.999))
def test_so_many_greens_are_enough_and_one_less_is_not(rate: float, confidence: float) -> None:
    greens = greens_until(rate, confidence)
    assert (1 - rate) ** greens <= (1 - confidence) * (1 + 1e-9)
    assert greens == 1 or (1 - rate) ** (greens - 1) > (1 - confidence) * (1 - 1e-9)


def test_a_steady_fault_needs_one_green_and_one_that_never_shows_no_end_of_them() -> None:
    assert greens_until(1.0, 0.99) == 1
    assert greens_until(0.0, 0.99) == 10_000
