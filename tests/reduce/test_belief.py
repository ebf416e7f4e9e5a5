"""The posterior, and what a run tells."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.readings import Reading
from pooldiag.reduce.belief import best_share, channel_bits, set_confidence, single_belief
from pooldiag.reduce.noise import earlier_greens, most_telling, prefix_confidence, repeats_needed
from pooldiag.reduce.probe import Bench, Memory, Positions, Trust

RED, GREEN = Reading.RED, Reading.GREEN


def after(runs: dict[Positions, str], length: int = 8) -> Bench:
    """Return a bench that has these readings: R for red, G for green."""
    memory: Memory = {one: tuple(RED if letter == "R" else GREEN for letter in text) for one, text in runs.items()}
    bench = Bench(probe=lambda _positions: GREEN, length=length, memory=memory, trust=Trust.NOTHING)
    for positions, text in runs.items():
        for _ in text:
            bench.again(positions)
    return bench


WHOLE = tuple(range(8))


@given(st.lists(st.tuples(st.frozensets(st.integers(0, 7)), st.sampled_from("RG")), max_size=12))
def test_the_posterior_sums_to_one(runs: list[tuple[frozenset[int], str]]) -> None:
    texts: dict[Positions, str] = {}
    for positions, letter in runs:
        key = tuple(sorted(positions))
        texts[key] = texts.get(key, "") + letter
    belief = single_belief(after(texts))
    assert sum(belief.singles) + belief.flake + belief.other == pytest.approx(1)
    assert 0 <= belief.rate <= 1


def test_one_red_rules_out_every_case_that_did_not_run() -> None:
    belief = single_belief(after({WHOLE: "R", (2, 3): "R"}))
    assert [one > 0 for one in belief.singles] == [index in {2, 3} for index in range(8)]


def test_a_green_only_weighs() -> None:
    belief = single_belief(after({WHOLE: "RG", (4, 5, 6, 7): "G"}))
    assert 0 < belief.singles[7] < belief.singles[0]


def test_reds_with_and_without_every_case_are_a_flake() -> None:
    belief = single_belief(after({WHOLE: "RG", (0, 1): "RG", (6, 7): "RG", (3,): "RG", (4,): "GR"}))
    assert belief.flake > 0.9


def test_selections_with_rates_of_their_own_are_none_of_these() -> None:
    belief = single_belief(after({WHOLE: "R" * 9, (0, 1, 2): "G" * 9, (5, 6, 7): "R" * 9, (0, 1): "R" * 9}))
    assert belief.other > 0.9


def test_a_red_whole_and_green_windows_all_over_are_several_that_act_together() -> None:
    windows = {tuple(range(start, start + 12)): "G" * (9 if start in {0, 18} else 1) for start in range(19)}
    belief = single_belief(after({tuple(range(30)): "R" * 9, **windows}, length=30))
    assert belief.other > 0.9


def test_a_set_is_doubted_when_one_case_now_and_then_would_do() -> None:
    steady = {WHOLE: "R", (): "G", (1, 5): "R", (1,): "G", (5,): "G"}
    again = {**steady, (1,): "G" * 5, (5,): "G" * 5, (1, 5): "R" * 5}
    assert set_confidence(after(steady), [(1, 5)]) < 0.9 < set_confidence(after(again), [(1, 5)])


def test_reds_without_a_set_are_no_chance_where_one_further_case_explains_them_all() -> None:
    first = {WHOLE: "R", (): "GG", (6,): "RRR", (6, 7): "R", (7,): "G"}
    beginnings = {WHOLE[:size]: "R" if size >= 3 else "G" for size in range(1, 6)}
    crossed = {**beginnings, WHOLE[:5]: "G", (3, 4): "R"}
    explained, unexplained = (set_confidence(after({**first, **more}), [(6,)]) for more in (beginnings, crossed))
    assert explained > 0.9
    assert unexplained < 0.5


def test_a_set_that_runs_contradict_is_not_believed() -> None:
    assert set_confidence(after({WHOLE: "RG", (): "GR", (3,): "RG", (1, 2): "GR"}), [(3,)]) < 0.5


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.8, 1.0])
def test_the_share_that_tells_most_is_the_best_of_all(rate: float) -> None:
    best = channel_bits(best_share(rate), rate)
    assert all(channel_bits(share / 1000, rate) <= best + 1e-12 for share in range(1001))


def test_a_channel_that_is_always_right_halves_and_one_at_a_half_has_a_third_of_a_bit() -> None:
    assert best_share(1.0) == pytest.approx(0.5)
    assert channel_bits(best_share(0.5), 0.5) == pytest.approx(math.log2(1.25))


def test_the_first_window_is_next_to_the_victim_and_about_as_large_as_tells_most() -> None:
    window = most_telling(single_belief(after({tuple(range(99)): "RG"}, length=99)))
    assert window[-1] == 98
    assert 0.2 * 99 < len(window) < 0.5 * 99


def test_a_case_that_is_probable_enough_runs_by_itself() -> None:
    assert most_telling(single_belief(after({WHOLE: "RG", (2, 3, 4): "R", (3, 4, 5): "R", (4,): "G"}))) == (3,)


def test_enough_repeats_make_all_decisions_right_as_often_as_stated() -> None:
    repeats = repeats_needed(0.5, 0.95, 27)
    assert 27 * 0.5**repeats <= 0.05 < 27 * 0.5 ** (repeats - 1)
    assert repeats_needed(1.0, 0.95, 27) == 1


def test_greens_of_the_shorter_prefix_grow_with_doubt() -> None:
    assert earlier_greens(0.9, 0.95) == 1
    assert earlier_greens(0.2, 0.99) > earlier_greens(0.5, 0.99) > 1
    assert prefix_confidence(0.2, earlier_greens(0.2, 0.99)) >= 0.99
