"""Rates, their intervals, and how many greens say something."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.rates import entropy, excluded_by, greens_until, log_mixture, mixture, next_red, normalised, rate_of

ANY = mixture(at_any_rate=1.0)


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


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.5))
def test_so_many_greens_are_enough_and_one_less_is_not(rate: float, chance: float) -> None:
    greens = greens_until(rate, chance)
    assert (1 - rate) ** greens <= chance * (1 + 1e-9)
    assert greens == 1 or (1 - rate) ** (greens - 1) > chance * (1 - 1e-9)


def test_a_steady_fault_needs_one_green_and_one_that_never_shows_no_end_of_them() -> None:
    assert greens_until(1.0, 0.01) == 1
    assert greens_until(0.0, 0.01) == 10_000
    assert greens_until(0.0, 0.01, most=200) == 200


@given(st.integers(0, 30), st.integers(0, 30))
def test_runs_at_any_rate_are_as_probable_as_the_literature_says(red: int, green: int) -> None:
    # Bayes: with a flat prior each number of reds is as probable as any other, and the next red is Laplace's rule.
    assert math.exp(log_mixture(ANY, red, green)) * math.comb(red + green, red) == pytest.approx(1 / (red + green + 1))
    assert next_red(ANY, red, green) == pytest.approx((red + 1) / (red + green + 2))


def test_a_prior_that_is_mostly_always_red_says_so_and_learns_from_a_green() -> None:
    prior = mixture(always=0.4, at_any_rate=0.5, never=0.1)
    assert next_red(prior, 0, 0) == pytest.approx(0.4 * 100 / 101 + 0.5 * 0.5 + 0.1 / 101)
    assert next_red(prior, 5, 1) < next_red(prior, 6, 0)
    assert [share for share, _, _ in prior] == [0.4, 0.5, 0.1]


def test_weights_are_shares_of_1_however_small_they_are() -> None:
    assert normalised([-5000.0, -5000.0 + math.log(3), -math.inf]) == pytest.approx([0.25, 0.75, 0])


def test_a_fair_coin_has_one_bit_and_what_is_certain_none() -> None:
    assert [entropy(one) for one in (0.0, 0.5, 1.0)] == [0.0, 1.0, 0.0]


@given(st.integers(1, 100_000))
def test_a_fault_at_the_rate_that_is_excluded_hides_in_one_of_twenty_such_greens(greens: int) -> None:
    found = excluded_by(greens)
    assert found is not None
    assert (found.runs, found.confidence) == (greens, 0.95)
    assert (1 - found.rate) ** greens == pytest.approx(0.05)


def test_what_greens_exclude_is_what_the_literature_says() -> None:
    rates = [found.rate for greens in (1, 2, 30, 3000) if (found := excluded_by(greens)) is not None]
    assert rates == pytest.approx([0.95, 0.7764, 0.0950, 0.000998], rel=1e-3)  # the last one: 3 in n
    assert excluded_by(0) is None
