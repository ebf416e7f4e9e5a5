"""The posterior over patterns of arms: what it is, against every pattern written out, and what runs make of it."""

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.attribution.faults import FAULTS, HIDDEN_FAULTS
from pooldiag.attribution.posterior import Posterior, posterior, prior_over
from pooldiag.model.arms import Role
from pooldiag.model.attributions import Shows

ROLES = (Role.BYPASS, Role.SERIAL, Role.ISOLATE)
THERE, GONE, OWN = Shows.THERE, Shows.GONE, Shows.OWN_RATE
STATES = (THERE, GONE, OWN)  # in the order of the tables
RUNS = st.tuples(st.integers(0, 6), st.integers(0, 6))
THREE = st.tuples(RUNS, RUNS, RUNS)


def weighed(baseline: tuple[int, int] = (2, 0), /, **runs: tuple[int, int]) -> Posterior:
    """Weigh reds and greens of these roles."""
    counts = tuple((Role(name.replace("_", "-")), red, green) for name, (red, green) in runs.items())
    return posterior(counts, baseline, FAULTS)


def of_three(runs: tuple[tuple[int, int], ...], baseline: tuple[int, int] = (2, 0)) -> Posterior:
    return weighed(baseline, **dict(zip(ROLES, runs, strict=True)))


def every_pattern(found: Posterior) -> dict[tuple[Shows, ...], float]:
    """Return how probable each pattern is: for each source, pattern and rate, one product of prior and runs."""
    masses = dict.fromkeys(product(STATES, repeat=len(ROLES)), 0.0)
    for pattern in masses:
        places = [(place, STATES.index(shows)) for place, shows in enumerate(pattern)]
        for source, weight in enumerate(found.prior.weights):
            for rate, at_rate in enumerate(found.at_rate):
                mass = float(weight * at_rate)
                for place, state in places:
                    mass *= found.prior.shows[source, place, state] * found.likelihoods[place, state, rate]
                masses[pattern] += mass
    total = sum(masses.values())
    return {pattern: mass / total for pattern, mass in masses.items()}


@pytest.mark.parametrize(
    ("baseline", "runs"),
    [
        ((2, 0), ((0, 0), (0, 0), (0, 0))),
        ((2, 0), ((0, 2), (1, 0), (0, 3))),
        ((3, 4), ((2, 1), (0, 5), (4, 4))),
        ((5, 1), ((0, 1), (6, 0), (1, 9))),
    ],
)
def test_it_is_what_writing_out_every_pattern_gives(
    baseline: tuple[int, int], runs: tuple[tuple[int, int], ...]
) -> None:
    found = of_three(runs, baseline)
    patterns = every_pattern(found)
    for pattern, mass in patterns.items():
        assert found.probability(dict(zip(ROLES, pattern, strict=True))) == pytest.approx(mass, abs=1e-12)
    for place, role in enumerate(ROLES):
        masses = {shows: sum(patterns[one] for one in patterns if one[place] is shows) for shows in STATES}
        assert {shows: found.chance(role, shows) for shows in STATES} == pytest.approx(masses, abs=1e-12)
        assert found.likely(role) == pytest.approx(max(masses.items(), key=lambda one: one[1]))
    some: Mapping[Role, tuple[Shows, ...]] = {Role.BYPASS: (THERE, GONE), Role.SERIAL: (THERE,)}
    either = sum(mass for one, mass in patterns.items() if one[0] in {THERE, GONE} and one[1] is THERE)
    assert found.probability(some) == pytest.approx(either, abs=1e-12)


@given(baseline=RUNS, runs=THREE)
def test_what_a_role_shows_sums_to_one_and_no_pattern_is_likelier_than_any_of_its_parts(
    baseline: tuple[int, int], runs: tuple[tuple[int, int], ...]
) -> None:
    found = of_three(runs, baseline)
    assert found.probability({}) == pytest.approx(1)
    for role in ROLES:
        assert sum(found.chance(role, shows) for shows in STATES) == pytest.approx(1)
        assert found.probability({role: STATES}) == pytest.approx(1)
    for pattern in product(STATES, repeat=len(ROLES)):
        joint = found.probability(dict(zip(ROLES, pattern, strict=True)))
        assert 0 <= joint <= min(found.chance(role, shows) for role, shows in zip(ROLES, pattern, strict=True)) + 1e-9


@given(greens=st.integers(1, 12))
def test_every_further_green_of_an_arm_makes_it_surer_that_the_red_is_gone_under_it(greens: int) -> None:
    fewer, more = (weighed((2, 0), bypass=(0, count)) for count in (greens, greens + 1))
    assert more.chance(Role.BYPASS, GONE) > fewer.chance(Role.BYPASS, GONE)


def test_a_green_weighs_less_where_the_red_is_rare() -> None:
    often, seldom = (weighed(baseline, bypass=(0, 2)) for baseline in ((6, 0), (2, 4)))
    assert often.chance(Role.BYPASS, GONE) > 0.9 > seldom.chance(Role.BYPASS, GONE)


def test_one_odd_red_weighs_and_does_not_end_what_many_greens_say() -> None:
    clean, odd, again = (weighed((20, 0), bypass=(reds, 30), isolate=(0, 5)) for reds in (0, 1, 2))
    assert clean.chance(Role.BYPASS, GONE) > 0.99
    assert odd.pattern[Role.BYPASS] is GONE
    assert clean.chance(Role.BYPASS, GONE) > odd.chance(Role.BYPASS, GONE) > again.chance(Role.BYPASS, GONE)


def test_a_rate_of_its_own_is_recognised_after_enough_runs_and_not_after_a_few() -> None:
    few, many = (weighed((20, 0), bypass=(count, count), serial=(5, 0)) for count in (1, 12))
    assert many.pattern[Role.BYPASS] is OWN
    assert many.chance(Role.BYPASS, OWN) > 0.99
    assert few.chance(Role.BYPASS, OWN) < 0.9
    assert many.pattern[Role.SERIAL] is THERE


def test_before_any_run_of_an_arm_most_is_on_no_arm_changes_anything() -> None:
    found = of_three(((0, 0),) * 3)
    unchanged = dict.fromkeys(ROLES, THERE)
    assert 0.4 < found.probability(unchanged) < 0.6
    patterns = every_pattern(found)
    assert max(patterns, key=lambda pattern: patterns[pattern]) == (THERE,) * 3
    assert min(patterns.values()) > 0  # each can be established by its own runs


def test_a_pattern_that_no_variant_shows_is_established_by_its_own_runs() -> None:
    found = weighed((8, 0), bypass=(8, 0), exact=(0, 8), serial=(8, 0), fresh_state=(0, 8))
    odd = {Role.BYPASS: THERE, Role.EXACT: GONE, Role.SERIAL: THERE, Role.FRESH_STATE: GONE}
    assert found.probability(odd) > 0.99
    steady = [fault for fault in FAULTS if fault.placebo]
    assert [one for one in steady if all(shows in one.allows(role) for role, shows in odd.items())] == []


def test_only_arms_that_ran_are_in_the_pattern() -> None:
    found = weighed((2, 0), bypass=(0, 1), serial=(0, 0))
    assert found.pattern.keys() == {Role.BYPASS}
    assert found.prior.roles == (Role.BYPASS, Role.SERIAL)


@given(runs=THREE)
def test_a_run_tells_between_nothing_and_one_bit(runs: tuple[tuple[int, int], ...]) -> None:
    found = of_three(runs)
    for role in (*ROLES, Role.BASELINE):
        assert -1e-9 <= found.information(role, ROLES) <= 1


def test_a_first_run_tells_more_than_one_of_an_arm_that_ran_often() -> None:
    found = weighed((4, 0), bypass=(0, 12), serial=(0, 0))
    assert found.information(Role.SERIAL, ROLES[:2]) > found.information(Role.BYPASS, ROLES[:2])


@pytest.mark.parametrize("faults", [FAULTS, HIDDEN_FAULTS], ids=["red", "hidden"])
def test_a_prior_sums_to_one_over_its_sources_and_over_what_each_role_shows(faults: tuple[object, ...]) -> None:
    prior = prior_over((Role.BASELINE, *ROLES), FAULTS if faults is FAULTS else HIDDEN_FAULTS)
    assert prior.weights.sum() == pytest.approx(1)
    assert prior.shows.sum(axis=2) == pytest.approx(1)
    assert (prior.shows >= 0).all()
