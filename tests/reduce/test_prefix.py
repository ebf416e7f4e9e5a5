"""The prefix: both ends are run, whatever was guessed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.readings import Reading
from pooldiag.reduce.prefix import boundary, prove_prefix
from pooldiag.reduce.probe import ProbeVoidError
from tests.reduce.suites import Suite, bench, suite

COLORS = {True: Reading.RED, False: Reading.GREEN}


@given(st.integers(1, 3000), st.data())
def test_bisection_finds_every_boundary_in_log2_runs(length: int, data: st.DataObject) -> None:
    wanted = data.draw(st.integers(1, length))
    asked: list[int] = []

    def read(size: int) -> Reading:
        asked.append(size)
        return COLORS[size >= wanted]

    assert boundary(read, green=0, red=length) == wanted
    assert len(asked) <= (length - 1).bit_length()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.data())
def test_weights_change_the_cost_and_not_the_answer(weights: list[int], data: st.DataObject) -> None:
    wanted = data.draw(st.integers(1, len(weights)))
    found = boundary(
        lambda size: COLORS[size >= wanted], green=0, red=len(weights), weights=[0.0, *map(float, weights)]
    )
    assert found == wanted


def test_a_likely_boundary_is_found_in_few_runs() -> None:
    asked: list[int] = []

    def read(size: int) -> Reading:
        asked.append(size)
        return COLORS[size >= 900]

    assert boundary(
        read, green=0, red=1000, weights=[0.0, *(1000.0 if size == 900 else 1.0 for size in range(1, 1001))]
    )
    assert len(asked) <= 2


def worst_case(weights: list[float]) -> int:
    """Count the runs to the unluckiest boundary, and those that tell apart what it stands for."""
    most = 0
    for wanted in range(1, len(weights)):
        asked: list[int] = []

        def read(size: int, *, wanted: int = wanted, asked: list[int] = asked) -> Reading:
            asked.append(size)
            return COLORS[size >= wanted]

        boundary(read, green=0, red=len(weights) - 1, weights=weights)
        most = max(most, len(asked) + math.ceil(math.log2(weights[wanted])))
    return most


def fewest(needs: list[int]) -> int:
    """Return the fewest runs in the worst case, by trying every cut."""
    best = {(start, start + 1): need for start, need in enumerate(needs)}
    for width in range(2, len(needs) + 1):
        for start in range(len(needs) - width + 1):
            stop = start + width
            best[start, stop] = 1 + min(max(best[start, cut], best[cut, stop]) for cut in range(start + 1, stop))
    return best[0, len(needs)]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=14))
def test_the_unluckiest_boundary_takes_as_few_runs_as_can_be(weights: list[int]) -> None:
    needs = [math.ceil(math.log2(weight)) for weight in weights]
    assert worst_case([0.0, *map(float, weights)]) == fewest(needs)


@given(st.integers(2, 60), st.data())
def test_a_guess_right_or_wrong_ends_with_both_ends_proven(length: int, data: st.DataObject) -> None:
    polluter = data.draw(st.integers(0, length - 1))
    guess = data.draw(st.integers(1, length))
    made = bench(suite(length, {polluter}))
    assert prove_prefix(made, guess) == polluter + 1
    assert made.counts(tuple(range(polluter + 1))).red == 1
    assert made.counts(tuple(range(polluter))).green == 1


def test_a_right_guess_costs_two_runs() -> None:
    made = bench(suite(100, {40}))
    prove_prefix(made, 41)
    assert made.runs == 2 + 2


def test_a_guess_that_is_not_the_shortest_is_not_run() -> None:
    made = bench(suite(100, {40}, {80}))
    assert prove_prefix(made, 81) == 41
    assert made.counts(tuple(range(81))).total == 0
    assert made.runs <= 2 + 1 + math.ceil(math.log2(80))


def test_a_cut_that_follows_from_other_runs_is_not_run_but_for_an_end() -> None:
    made = bench(suite(100, {40}, {80}))
    made.read(tuple(range(32)))
    made.read(tuple(range(20, 41)))
    assert prove_prefix(made, 81) == 41
    implied = {size for size in (*range(32), *range(42, 80)) if made.counts(tuple(range(size))).total}
    assert implied == {0}
    assert made.counts(tuple(range(41))).red == made.counts(tuple(range(40))).green == 1


@given(st.integers(3, 40), st.data())
def test_with_cleaners_the_ends_are_still_what_was_run(length: int, data: st.DataObject) -> None:
    last = data.draw(st.integers(1, length - 1))
    cleaners = data.draw(st.frozensets(st.integers(0, last - 1), max_size=4))
    others = data.draw(st.frozensets(st.integers(0, last - 1), max_size=4))
    target = Suite(length, tuple(frozenset({one}) for one in {last, *others}), cleaners=cleaners)
    made = bench(target)
    made.doubt_conclusions()
    size = prove_prefix(made, last + 1)
    assert target.red(tuple(range(size)))
    assert not target.red(tuple(range(size - 1)))


def test_a_void_cut_is_stepped_around() -> None:
    def read(size: int) -> Reading:
        return Reading.VOID if size in {50, 24, 26} else COLORS[size >= 30]

    assert boundary(read, green=0, red=100) == 30


def test_a_boundary_among_voids_is_not_guessed() -> None:
    def read(size: int) -> Reading:
        return Reading.VOID if 45 <= size <= 55 else COLORS[size >= 50]

    with pytest.raises(ProbeVoidError):
        boundary(read, green=0, red=100)


@pytest.mark.parametrize("voided", [50, 51])
def test_a_void_end_is_not_guessed(voided: int) -> None:
    target = suite(100, {50})
    made = bench(target)
    made.memory[tuple(range(voided))] = (Reading.VOID, Reading.VOID)
    with pytest.raises(ProbeVoidError):
        prove_prefix(made, 51)
