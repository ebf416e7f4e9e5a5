"""How many greens are made, and whether anything was asserted in them."""

import pytest

from pooldiag.attribution.greens import FREE_SECONDS, MOST_GREENS, asserts_nothing, one_more_baseline
from pooldiag.model.outcomes import CaseStatus
from pooldiag.rates import excluded_by
from tests.builders import cases, outcome, result

FIRST, SECOND = cases()[:2]


def made(seconds_of_one: float | None, *, repeat: int | None = None) -> int:
    """How many baselines are made where all are green."""
    runs = 0
    while one_more_baseline(runs, None if seconds_of_one is None else runs * seconds_of_one, repeat=repeat):
        runs += 1
    return runs


@pytest.mark.parametrize(("seconds", "runs"), [(0.001, 30), (0.04, 25), (0.3, 4), (0.5, 2), (3600, 2), (None, 2)])
def test_baselines_are_made_as_long_as_they_cost_next_to_nothing(seconds: float | None, runs: int) -> None:
    assert made(seconds) == runs


@pytest.mark.parametrize("runs", [1, 7, 100])
def test_so_many_are_made_as_the_user_asks_for(runs: int) -> None:
    assert made(0.001, repeat=runs) == made(3600, repeat=runs) == runs


def test_the_most_that_are_made_exclude_what_shows_in_a_tenth_of_the_runs() -> None:
    enough, less = excluded_by(MOST_GREENS), excluded_by(MOST_GREENS - 2)
    assert enough is not None
    assert less is not None
    assert enough.rate <= 0.1 < less.rate
    assert FREE_SECONDS <= 1


def test_nothing_is_asserted_where_every_case_passed_without_an_assertion() -> None:
    quiet = outcome(result(FIRST, assertions_passed=0), result(SECOND, assertions_passed=0))
    assert asserts_nothing([quiet, quiet])
    assert not asserts_nothing([quiet, outcome(result(FIRST, assertions_passed=0), result(SECOND))])


def test_a_case_that_did_not_pass_or_never_ran_is_no_silent_pass() -> None:
    assert not asserts_nothing([outcome(result(FIRST, CaseStatus.UNFINISHED, assertions_passed=0))])
    assert not asserts_nothing([outcome()])
    assert not asserts_nothing([])
