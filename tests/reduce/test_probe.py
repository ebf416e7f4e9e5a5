"""The bench: nothing runs twice, nothing is forgotten, and what disagrees is said."""

import pytest

from pooldiag.model.bisections import Phase
from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import (
    Bench,
    BestKnown,
    BudgetSpentError,
    Counts,
    DisagreementError,
    Memory,
    ProbeVoidError,
    SearchLimits,
    SearchStep,
    Trust,
)
from tests.reduce.suites import Suite, suite

RED, GREEN, VOID = Reading.RED, Reading.GREEN, Reading.VOID


def scripted(*readings: Reading, length: int = 4) -> Bench:
    """Return a bench whose runs read as given, one after the other."""
    given = iter(readings)
    return Bench(probe=lambda _positions: next(given), length=length, memory={})


def test_a_selection_is_run_once_however_often_it_is_asked() -> None:
    target = suite(4, {1})
    bench = Bench(probe=target, length=4, memory={})
    assert [bench.read((0, 1)) for _ in range(3)] == [RED] * 3
    assert target.ran == [(0, 1)]
    assert (bench.runs, bench.recalled) == (1, 0)


def test_repeated_runs_are_kept_as_counts() -> None:
    bench = scripted(GREEN, VOID, GREEN)
    for _ in range(3):
        bench.again((2,))
    assert bench.counts((2,)) == Counts(green=2, void=1)
    assert dict(bench.observed()) == {(2,): Counts(green=2, void=1)}


def test_the_memory_gets_every_reading_and_gives_them_back_in_their_order() -> None:
    memory: Memory = {}
    given = iter([GREEN, VOID, GREEN])
    first = Bench(probe=lambda _positions: next(given), length=4, memory=memory)
    for _ in range(3):
        first.again((1,))
    target = suite(4)
    second = Bench(probe=target, length=4, memory=memory)
    assert [second.again((1,)) for _ in range(4)] == [GREEN, VOID, GREEN, GREEN]
    assert len(target.ran) == 1
    assert (second.runs, second.recalled) == (4, 3)
    assert memory[(1,)] == (GREEN, VOID, GREEN, GREEN)


def test_a_void_run_is_tried_again_once_and_never_read_as_anything_else() -> None:
    target = Suite(4, void=frozenset({2}))
    bench = Bench(probe=target, length=4, memory={})
    assert bench.read((2, 3)) is VOID
    assert bench.read((2, 3)) is VOID
    assert len(target.ran) == 2
    with pytest.raises(ProbeVoidError, match="say nothing"):
        bench.clear_again((2, 3))


def test_a_void_run_that_clears_up_counts_as_what_it_then_reads() -> None:
    assert scripted(VOID, RED).read((0,)) is RED


def test_a_budget_of_runs_ends_it_before_the_next_run() -> None:
    target = suite(4, {1})
    bench = Bench(probe=target, length=4, memory={}, limits=SearchLimits(max_runs=1))
    bench.read((0, 1))
    with pytest.raises(BudgetSpentError, match="spent, 1 of"):
        bench.read((0,))
    assert target.ran == [(0, 1)]
    assert bench.known.red == (0, 1)


def test_a_budget_of_time_ends_runs_but_not_what_is_remembered() -> None:
    memory: Memory = {(0,): (GREEN,)}
    bench = Bench(probe=suite(4), length=4, memory=memory, limits=SearchLimits(spent=lambda: True))
    assert bench.read((0,)) is GREEN
    with pytest.raises(BudgetSpentError, match="time"):
        bench.read((1,))


def test_a_selection_that_disagrees_with_itself_is_told() -> None:
    bench = scripted(GREEN, RED)
    bench.read((1,))
    with pytest.raises(DisagreementError) as told:
        bench.again((1,))
    assert told.value.red == told.value.green == (1,)


@pytest.mark.parametrize("red_first", [True, False])
def test_a_green_that_contains_a_red_is_told(red_first: bool) -> None:
    asked = [((1,), RED), ((0, 1, 2), GREEN)][:: 1 if red_first else -1]
    bench = scripted(*(reading for _, reading in asked))
    bench.read(asked[0][0])
    with pytest.raises(DisagreementError) as told:
        bench.read(asked[1][0])
    assert (told.value.red, told.value.green) == ((1,), (0, 1, 2))


def test_without_conclusions_a_green_that_contains_a_red_is_not_a_disagreement() -> None:
    bench = scripted(RED, GREEN)
    bench.doubt_conclusions()
    assert (bench.read((1,)), bench.read((0, 1))) == (RED, GREEN)
    assert bench.implied((1, 2)) is None


def test_what_is_believed_for_a_while_is_not_believed_afterwards() -> None:
    bench = scripted(GREEN, RED, GREEN)
    with bench.trusting(Trust.NOTHING):
        assert [bench.again((1,)) for _ in range(2)] == [GREEN, RED]
    assert bench.trust is Trust.CONCLUSIONS
    with pytest.raises(DisagreementError):
        bench.again((1,))


def test_what_is_not_believed_any_more_is_not_believed_again() -> None:
    bench = scripted()
    bench.doubt_readings()
    bench.doubt_conclusions()
    assert bench.trust is Trust.NOTHING


def test_what_follows_from_other_runs_is_known_without_a_run() -> None:
    bench = scripted(RED, GREEN)
    bench.read((1, 2))
    bench.read((0, 3))
    assert bench.implied((0, 1, 2)) is RED
    assert bench.implied((3,)) is GREEN
    assert bench.implied((1, 3)) is None
    assert bench.runs == 2


def test_several_greens_make_a_green_and_one_red_makes_a_red() -> None:
    bench = scripted(GREEN, GREEN, RED, GREEN, GREEN, GREEN)
    bench.doubt_readings()
    bench.repeats = 3
    assert bench.read((1,)) is RED
    assert bench.read((2,)) is GREEN
    assert bench.runs == 6


def test_progress_tells_the_phase_the_runs_and_the_best_so_far() -> None:
    told: list[SearchStep] = []
    bench = Bench(probe=suite(4, {1}), length=4, memory={(): (GREEN,)}, watch=told.append)
    bench.begin(Phase.SEARCH, 3)
    for positions in ((), (0, 1, 2), (2, 3), (1, 2), (0,)):
        bench.read(positions)
    assert [one.runs for one in told] == [1, 2, 3, 4, 5]
    assert [one.most_left for one in told] == [2, 1, 0, 0, 0]
    assert [one.recalled for one in told] == [True, False, False, False, False]
    assert told[-1].known == BestKnown(red=(1, 2), red_prefix=3, green_prefix=1)
    assert {one.phase for one in told} == {Phase.SEARCH}


def test_the_longest_green_prefix_told_lies_below_the_shortest_red_one() -> None:
    bench = scripted(GREEN, GREEN, RED)
    bench.doubt_conclusions()
    for size in (1, 4, 3):
        bench.read(tuple(range(size)))
    assert bench.known == BestKnown(red=(0, 1, 2), red_prefix=3, green_prefix=1)
