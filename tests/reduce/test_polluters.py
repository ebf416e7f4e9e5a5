"""The polluters: right for any set, proven, and cheap."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.readings import Reading
from pooldiag.reduce.polluters import all_sets, minimal_set, misses_before_check
from pooldiag.reduce.prefix import prove_prefix
from pooldiag.reduce.probe import ProbeVoidError
from tests.reduce.suites import PLACES, Suite, asked, most_cases, most_runs, suite


@given(st.integers(1, 120), st.data())
def test_any_set_is_found_and_proven(length: int, data: st.DataObject) -> None:
    wanted = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=5))
    ask = asked(suite(length, wanted))
    found = minimal_set(ask, ask.bench.everything)
    assert set(found) == wanted
    assert ask.bench.counts(found).red
    for one in found:
        assert ask.bench.counts(tuple(other for other in found if other != one)).green >= 1


@given(st.integers(2, 40), st.data())
def test_of_several_sets_one_is_found_and_is_minimal(length: int, data: st.DataObject) -> None:
    several = st.lists(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=3), min_size=1, max_size=4)
    sets = data.draw(several)
    ask = asked(suite(length, *sets))
    found = set(minimal_set(ask, ask.bench.everything))
    assert any(one == found for one in sets)
    assert not any(one < found for one in sets)


@given(st.integers(2, 40), st.data())
def test_with_any_cleaner_what_is_found_is_red_and_minimal(length: int, data: st.DataObject) -> None:
    places = st.integers(0, length - 1)
    sets = data.draw(st.lists(st.frozensets(places, min_size=1, max_size=3), min_size=1, max_size=3))
    target = Suite(length, tuple(sets), cleaners=data.draw(st.frozensets(places, max_size=3)))
    if not target.red(tuple(range(length))):
        return
    ask = asked(target)
    ask.bench.doubt_conclusions()
    found = minimal_set(ask, ask.bench.everything)
    assert target.red(found)
    assert not any(target.red(tuple(other for other in found if other != one)) for one in found)


@given(st.integers(4, 60), st.data())
def test_void_runs_are_never_guessed_at(length: int, data: st.DataObject) -> None:
    wanted = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=3))
    keep = data.draw(st.sets(st.integers(0, length - 1)))
    target = suite(length, wanted)

    def probe(positions: tuple[int, ...]) -> Reading:
        partly = 0 < len(keep.intersection(positions)) < len(keep)
        return Reading.VOID if partly else target(positions)

    ask = asked(target)
    ask.bench.probe = probe
    try:
        found = minimal_set(ask, ask.bench.everything)
    except ProbeVoidError:
        return
    assert target.red(found)
    assert ask.bench.counts(found).red
    assert all(ask.bench.counts(tuple(other for other in found if other != one)).green for one in found)


def test_a_void_half_is_stepped_around() -> None:
    ask = asked(suite(100, {10}))
    ask.bench.memory[tuple(range(50, 100))] = (Reading.VOID, Reading.VOID)
    ask.bench.memory[tuple(range(49, 99))] = (Reading.VOID, Reading.VOID)
    assert minimal_set(ask, ask.bench.everything) == (10,)


@pytest.mark.parametrize("cases", [13, 100, 1000])
@pytest.mark.parametrize("place", PLACES)
def test_one_polluter_costs_no_more_than_the_target(cases: int, place: float) -> None:
    length = cases - 1
    for polluter in {int(place * length), round(place * length), min(length - 1, round(place * cases) - 1)}:
        target = suite(length, {polluter})
        ask = asked(target)
        assert minimal_set(ask, ask.bench.everything) == (polluter,)
        assert len(target.ran) <= most_runs(length)
        assert target.cases_run <= most_cases(length)
        runs = len(target.ran)
        assert prove_prefix(ask.bench, polluter + 1) == polluter + 1
        assert len(target.ran) <= runs + 2


@pytest.mark.parametrize(("cases", "share"), [(13, 0.0), (100, 0.11), (1000, 0.02)])
def test_wherever_the_polluter_lies_the_runs_keep_to_the_target_and_the_cases_nearly(cases: int, share: float) -> None:
    length = cases - 1
    total = 0.0
    for polluter in range(0, length, max(1, length // 200)):
        target = suite(length, {polluter})
        ask = asked(target)
        minimal_set(ask, ask.bench.everything)
        assert len(target.ran) <= most_runs(length)
        assert target.cases_run <= most_cases(length) * (1 + share / 2)
        total += target.cases_run - most_cases(length)
    assert total <= 0  # on average the target holds


def search_runs(target: Suite, found: tuple[int, ...]) -> int:
    """Count the runs but for the counterfactuals, and for the one more look at what must be red."""
    without = sum(1 for one in found if tuple(other for other in found if other != one) in target.ran)
    return len(target.ran) - without - (len(target.ran) - len(set(target.ran)))


@pytest.mark.parametrize("step", [20, pytest.param(4, marks=pytest.mark.slow)])
def test_two_needed_together_take_at_most_20_runs_of_100_cases(step: int) -> None:
    counts = []
    for pair in [*list(combinations(range(99), 2))[::step], (23, 33), (23, 34), (48, 97), (48, 98)]:
        target = suite(99, pair)
        ask = asked(target)
        assert minimal_set(ask, ask.bench.everything) == pair
        counts.append((search_runs(target, pair), len(target.ran)))
    assert max(runs for runs, _ in counts) <= 20
    assert sum(runs for runs, _ in counts) / len(counts) <= 19
    assert max(runs for _, runs in counts) <= 25
    assert sum(runs for _, runs in counts) / len(counts) <= 21.5


@pytest.mark.parametrize("length", [12, 99, 999])
@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("count", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_more_needed_together_are_found(length: int, size: int, count: int) -> None:
    random = Random(length)
    for _ in range(count):
        wanted = tuple(sorted(random.sample(range(length), size)))
        target = suite(length, wanted)
        ask = asked(target)
        assert minimal_set(ask, ask.bench.everything) == wanted
        assert len(target.ran) <= (size + 1) * (length.bit_length() + 4) + 10


def test_the_windows_next_to_the_victim_come_first() -> None:
    target = suite(100, {97})
    ask = asked(target)
    minimal_set(ask, ask.bench.everything)
    assert target.ran[2] == tuple(range(50, 100))
    assert target.cases_run <= 100 + 1 + 1 + 100 + 10


def test_a_check_runs_an_eighth_of_the_cases_at_most_or_a_few() -> None:
    assert [misses_before_check(length) for length in (1, 12, 99, 999)] == [3, 3, 3, 6]
    for length in (99, 999, 5000):
        assert length >> misses_before_check(length) <= max(16, length / 8)


@given(st.integers(1, 50), st.data())
def test_every_independent_set_is_found(length: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(length)))
    cuts = sorted(data.draw(st.sets(st.integers(1, length), min_size=1, max_size=4)))
    sets = [tuple(sorted(order[start:stop][:2])) for start, stop in zip([0, *cuts], cuts, strict=False)]
    ask = asked(suite(length, *sets))
    first = minimal_set(ask, ask.bench.everything)
    assert sorted(all_sets(ask, ask.bench.everything, first)) == sorted(sets)


@given(st.integers(0, 98), st.integers(0, 98))
def test_nothing_is_run_twice_but_what_is_looked_at_again_on_purpose(first: int, second: int) -> None:
    target = suite(99, {first, second})
    ask = asked(target)
    minimal_set(ask, ask.bench.everything)
    assert len(target.ran) - len(set(target.ran)) <= 1
