"""The victim of a red that no case names: proven at both ends, or not named."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import Memory, Positions, ProbeVoidError, SearchLimits, SearchStep
from pooldiag.reduce.result import ReductionStatus
from pooldiag.reduce.search import SearchPlan
from pooldiag.reduce.victims import Victim, find_victim, search_victim

RED, GREEN, VOID = Reading.RED, Reading.GREEN, Reading.VOID


def steady(size: int) -> Reading:
    return RED if size >= 7 else GREEN


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
    size = data.draw(st.integers(1, length))
    ran: list[int] = []

    def probe(positions: Positions) -> Reading:
        assert positions == tuple(range(len(positions)))
        ran.append(len(positions))
        return RED if len(positions) >= size else GREEN

    answer = search_victim(probe, length)
    assert (answer.status, answer.size, answer.noisy) == (ReductionStatus.FOUND, size, False)
    assert min(ran) >= 1
    assert (answer.runs, answer.cases_run) == (len(ran), sum(ran))
    assert len(ran) <= 1 + (length - 1).bit_length() + 5
    assert answer.proof is not None
    assert answer.proof.red.counts.red > 1
    assert [one.counts.green > 1 for one in answer.proof.green] == [True] * (size > 1)


def test_the_size_is_all_that_a_caller_must_ask_for() -> None:
    sizes: list[int] = []

    def read(size: int) -> Reading:
        sizes.append(size)
        return steady(size)

    assert find_victim(read, 40) == 7
    assert 40 not in sizes  # it was red already
    assert min(sizes.count(7), sizes.count(6)) == 2  # each end once more


def test_a_void_cut_is_stepped_around() -> None:
    assert find_victim(lambda size: VOID if size in {20, 21} else steady(size), 40) == 7


def test_a_victim_among_voids_is_not_guessed() -> None:
    def read(size: int) -> Reading:
        return VOID if 3 <= size <= 12 else steady(size)

    with pytest.raises(ProbeVoidError):
        find_victim(read, 40)
    answer = search_victim(lambda positions: read(len(positions)), 40)
    assert (answer.status, answer.size) == (ReductionStatus.BLOCKED, None)


def test_an_order_that_stays_green_has_no_victim() -> None:
    answer = search_victim(lambda _positions: GREEN, 40, plan=SearchPlan(most_greens=3))
    assert (answer.status, answer.size, answer.runs) == (ReductionStatus.GREEN, None, 3)


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
    answer = search_victim(
        lambda positions: steady(len(positions)), 40, plan=SearchPlan(limits=SearchLimits(max_runs=4))
    )
    assert (answer.status, answer.runs, answer.known.red_prefix) == (ReductionStatus.UNRESOLVED, 4, 10)


@given(st.integers(0, 15))
def test_ended_at_any_run_and_resumed_nothing_is_run_twice(kept: int) -> None:
    memory: Memory = {}
    search_victim(
        lambda positions: steady(len(positions)), 40, plan=SearchPlan(limits=SearchLimits(max_runs=kept)), memory=memory
    )
    recorded = sum(map(len, memory.values()))
    told: list[SearchStep] = []
    answer = search_victim(lambda positions: steady(len(positions)), 40, memory=memory, watch=told.append)
    assert (answer.size, answer.recalled) == (7, recorded)
    assert sum(one.recalled for one in told) == recorded
