"""The victim of a red that no case names: proven at both ends, or not named."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.bisections import BisectStatus
from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import Memory, Positions, SearchLimits
from pooldiag.reduce.search import SearchPlan
from pooldiag.reduce.victims import Victim, search_victim

RED, GREEN, VOID = Reading.RED, Reading.GREEN, Reading.VOID
PLAN = SearchPlan(confidence=0.95, limits=SearchLimits(max_runs=150))
_LEAST = 8  # runs that tell a case that is always red from a flake that is red in half of the runs, at this confidence


class Beginnings:
    """An order whose first cases are red from a size on; some sizes are void."""

    def __init__(self, size: int = 7, *, void: frozenset[int] = frozenset()) -> None:
        self.size = size
        self.void = void
        self.ran: list[int] = []

    def __call__(self, positions: Positions, /) -> Reading:
        assert positions == tuple(range(len(positions)))
        self.ran.append(len(positions))
        if len(positions) in self.void:
            return VOID
        return RED if len(positions) >= self.size else GREEN


def victim_of(length: int, size: int, *, rate: float, flake: float, seed: int, confidence: float = 0.95) -> Victim:
    random = Random(seed)

    def probe(positions: Positions) -> Reading:
        shown = len(positions) >= size and random.random() < rate
        return RED if shown or random.random() < flake else GREEN

    return search_victim(
        probe, length, plan=SearchPlan(confidence=confidence, most_greens=60, limits=SearchLimits(max_runs=300))
    )


@given(st.integers(1, 300), st.data())
def test_any_victim_is_found_and_proven(length: int, data: st.DataObject) -> None:
    proven_in_few_runs(length, data.draw(st.integers(1, length)))


@pytest.mark.parametrize("length", range(1, 13))
def test_every_victim_of_a_short_order_is_found_and_proven(length: int) -> None:
    for size in range(1, length + 1):
        proven_in_few_runs(length, size)


def proven_in_few_runs(length: int, size: int) -> None:
    order = Beginnings(size)
    answer = search_victim(order, length, plan=PLAN)
    assert (answer.status, answer.size, answer.noisy) == (BisectStatus.FOUND, size, False)
    assert min(order.ran) >= 1
    assert len(order.ran) <= max(_LEAST, 1 + (length - 1).bit_length() + 5)
    assert answer.proof is not None
    assert answer.proof.red.counts.red > 1
    assert [one.counts.green > 1 for one in answer.proof.green] == [True] * (size > 1)


def test_a_red_of_the_whole_order_that_was_seen_is_not_run_again_and_each_end_once_more() -> None:
    order = Beginnings()
    assert search_victim(order, 40, plan=PLAN, memory={tuple(range(40)): (RED,)}).size == 7
    assert 40 not in order.ran
    assert min(order.ran.count(7), order.ran.count(6)) == 2


def test_a_void_cut_is_stepped_around() -> None:
    assert search_victim(Beginnings(void=frozenset({20, 21})), 40, plan=PLAN).size == 7


def test_a_victim_among_voids_is_not_guessed() -> None:
    answer = search_victim(Beginnings(void=frozenset(range(3, 13))), 40, plan=PLAN)
    assert (answer.status, answer.size) == (BisectStatus.BLOCKED, None)
    assert "say nothing" in str(answer.reason)


def test_an_order_that_stays_green_has_no_victim() -> None:
    order = Beginnings(41)
    answer = search_victim(order, 40, plan=SearchPlan(most_greens=3))
    assert (answer.status, answer.size, order.ran) == (BisectStatus.GREEN, None, [40] * 3)


@pytest.mark.parametrize(("count", "slack"), [(12, 1), pytest.param(60, 4, marks=pytest.mark.slow)])
def test_a_flake_names_no_case_more_often_than_stated(count: int, slack: int) -> None:
    found = [victim_of(50, 1, rate=0, flake=flake, seed=seed).size for flake in (0.2, 0.5) for seed in range(count)]
    assert sum(size is not None for size in found) <= 0.05 * 2 * count + slack


@pytest.mark.parametrize("count", [20, pytest.param(60, marks=pytest.mark.slow)])
def test_a_victim_that_shows_now_and_then_is_found(count: int) -> None:
    sizes: Counter[bool] = Counter()
    for seed in range(count):
        size = 1 + Random(seed).randrange(1, 50)
        sizes[victim_of(50, size, rate=0.5, flake=0, seed=seed).size == size] += 1
    assert sizes[True] >= 0.9 * count


def test_a_first_case_that_is_red_at_times_is_not_told_from_a_flake() -> None:
    answers = [victim_of(20, 1, rate=0.6, flake=0, seed=seed) for seed in range(20)]
    noisy = [one for one in answers if one.noisy]
    assert len(noisy) > 10
    assert {one.size for one in noisy if one.size != 2} == {None}
    assert all(one.reason for one in noisy if one.size is None)


def test_a_spent_budget_is_undecided() -> None:
    order = Beginnings()
    answer = search_victim(order, 40, plan=SearchPlan(limits=SearchLimits(max_runs=4)))
    assert (answer.status, answer.size, len(order.ran), order.ran[2]) == (BisectStatus.UNRESOLVED, None, 4, 10)


@given(st.integers(0, 15))
def test_ended_at_any_run_and_resumed_nothing_is_run_twice(kept: int) -> None:
    memory: Memory = {}
    order = Beginnings()
    search_victim(order, 40, plan=SearchPlan(confidence=0.95, limits=SearchLimits(max_runs=kept)), memory=memory)
    assert sum(map(len, memory.values())) == len(order.ran)
    assert search_victim(order, 40, plan=PLAN, memory=memory).size == 7
    whole = Beginnings()
    search_victim(whole, 40, plan=PLAN)
    assert order.ran == whole.ran
