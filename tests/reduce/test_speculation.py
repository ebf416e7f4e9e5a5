"""Runs side by side: the same answer, in fewer rounds."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import Memory, Positions, Probe, SearchLimits, SearchStep
from pooldiag.reduce.result import Reduction
from pooldiag.reduce.search import SearchPlan, reduce_order
from pooldiag.reduce.speculation import next_asked, reduce_ahead
from tests.reduce.suites import Suite, suite

RED, GREEN, VOID = Reading.RED, Reading.GREEN, Reading.VOID


class Replayed:
    """A target whose every reading depends only on what runs, and on how often that ran before."""

    def __init__(self, suite: Suite, seed: int, *, void: bool = False) -> None:
        self.suite = suite
        self.seed = seed
        self.void = void
        self.counts: dict[Positions, int] = {}
        self.rounds: list[int] = []

    def one(self, positions: Positions) -> Reading:
        number = self.counts[positions] = self.counts.get(positions, 0) + 1
        drawn = hash((positions, number, self.seed)) % 1000
        if self.void and drawn % 7 == 0:
            return VOID
        return RED if self.suite.red(positions) and drawn < 1000 * self.suite.rate else GREEN

    def many(self, several: Sequence[Positions]) -> list[Reading]:
        self.rounds.append(len(several))
        return [self.one(positions) for positions in several]


def plain(answer: Reduction) -> Reduction:
    return replace(answer, speculative=0)


@given(st.integers(1, 60), st.integers(1, 9), st.data())
def test_any_number_of_runs_at_once_gives_the_answer_of_one_after_the_other(
    length: int, jobs: int, data: st.DataObject
) -> None:
    places = st.integers(0, length - 1)
    target = Suite(
        length,
        tuple(data.draw(st.lists(st.frozensets(places, max_size=3), max_size=2))),
        cleaners=data.draw(st.frozensets(places, max_size=1)),
        rate=data.draw(st.sampled_from([1.0, 0.5])),
    )
    seed, void = data.draw(st.integers(0, 999)), data.draw(st.booleans())
    plan = SearchPlan(
        most_greens=5, every_set=data.draw(st.booleans()), limits=SearchLimits(max_runs=data.draw(st.integers(1, 80)))
    )
    expected: list[SearchStep] = []
    told: list[SearchStep] = []
    known: Memory = {(): (GREEN,)} if data.draw(st.booleans()) else {}
    alone = reduce_order(
        Replayed(target, seed, void=void).one, length, plan=plan, memory={**known}, watch=expected.append
    )
    side = Replayed(target, seed, void=void)
    memory = {**known}
    answer = reduce_ahead(side.many, length, jobs=jobs, plan=plan, memory=memory, watch=told.append)
    assert plain(answer) == alone
    assert told == expected
    assert max(side.rounds, default=0) <= jobs
    assert sum(side.rounds) == answer.runs - answer.recalled + answer.speculative
    assert {one: len(readings) for one, readings in memory.items()} == {
        one: side.counts.get(one, 0) + len(known.get(one, ())) for one in {*side.counts, *known}
    }


@pytest.mark.parametrize(
    ("cases", "jobs", "most"), [(100, 2, 10), (100, 4, 6), (100, 8, 4), (1000, 2, 13), (1000, 4, 7), (1000, 8, 5)]
)
def test_a_polluter_takes_few_rounds_with_baselines_and_all_proofs(cases: int, jobs: int, most: int) -> None:
    length = cases - 1
    for polluter in range(0, length, length // 9):
        side = Replayed(suite(length, {polluter}), 0)
        assert reduce_ahead(side.many, length, jobs=jobs).polluters == (polluter,)
        assert len(side.rounds) <= most


def test_one_at_a_time_makes_no_run_that_is_not_needed() -> None:
    side = Replayed(suite(99, {40}), 0)
    answer = reduce_ahead(side.many, 99, jobs=1)
    assert side.rounds == [1] * answer.runs
    assert answer.speculative == 0


def test_runs_of_the_same_selection_are_asked_for_at_once() -> None:
    def thrice(probe: Probe, memory: Memory) -> None:
        for _ in range(3 - len(memory.get((1,), ()))):
            probe((1,))

    assert next_asked(thrice, {}, 2) == ((1,),) * 2
    assert next_asked(thrice, {(1,): (GREEN,)}, 5) == ((1,),) * 2


def test_a_search_that_is_over_asks_for_nothing() -> None:
    memory: Memory = {}
    target = suite(20, {3})
    reduce_order(target, 20, memory=memory)
    assert next_asked(lambda probe, seen: reduce_order(probe, 20, memory=seen), memory, 4) == ()


def test_the_run_that_is_sure_to_be_needed_comes_first_and_the_likely_ones_next() -> None:
    memory: Memory = {tuple(range(64)): (RED,), (): (GREEN,)}

    def search(probe: Probe, seen: Memory) -> Reduction:
        return reduce_order(probe, 64, memory=seen)

    assert next_asked(search, memory, 1) == (tuple(range(32, 64)),)
    both = next_asked(search, memory, 3)
    assert {both[1], both[2]} == {tuple(range(48, 64)), tuple(range(16, 32))}
    assert memory == {tuple(range(64)): (RED,), (): (GREEN,)}


def test_time_that_is_over_ends_it_with_the_best_so_far() -> None:
    side = Replayed(suite(99, {40}), 0)
    plan = SearchPlan(limits=SearchLimits(spent=lambda: len(side.rounds) >= 2))
    answer = reduce_ahead(side.many, 99, jobs=3, plan=plan)
    assert len(side.rounds) == 2
    assert "time that is allowed is spent" in str(answer.reason)
    assert answer.known.red is not None


def test_what_ends_a_round_leaves_the_readings_of_those_before_it() -> None:
    whole, side = Replayed(suite(99, {40}), 0), Replayed(suite(99, {40}), 0)
    reduce_ahead(whole.many, 99, jobs=3)
    memory: Memory = {}

    def killed(several: Sequence[Positions]) -> list[Reading]:
        if len(side.rounds) == 2:
            raise KeyboardInterrupt
        return side.many(several)

    with pytest.raises(KeyboardInterrupt):
        reduce_ahead(killed, 99, jobs=3, memory=memory)
    made = sum(side.rounds)
    answer = reduce_ahead(side.many, 99, jobs=3, memory=memory)
    assert answer.polluters == (40,)
    assert side.counts == whole.counts
    assert sum(side.rounds) == made + answer.runs - answer.recalled + answer.speculative
