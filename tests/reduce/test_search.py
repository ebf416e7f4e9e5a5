"""The whole reduction: what it says of each kind of suite, what it keeps, and where it stops."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.bisections import BisectStatus, Phase
from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import Memory, Positions, SearchLimits, SearchStep
from pooldiag.reduce.result import Proof, Reduction
from pooldiag.reduce.search import DEFAULT_CONFIDENCE, SearchPlan, reduce_order
from tests.reduce.suites import Suite, most_runs, suite

RED, GREEN, VOID = Reading.RED, Reading.GREEN, Reading.VOID
FOUND = BisectStatus.FOUND


def the(proof: Proof | None) -> Proof:
    assert proof is not None
    return proof


@given(st.integers(1, 80), st.data())
def test_any_polluters_are_found_with_the_prefix_and_both_proofs(length: int, data: st.DataObject) -> None:
    wanted = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=4))
    answer = reduce_order(suite(length, wanted), length)
    assert answer.status is FOUND
    assert set(answer.polluters) == wanted
    assert answer.prefix == max(wanted) + 1
    assert not answer.noisy
    assert answer.cleaning is None
    proof, prefix = the(answer.set_proof), the(answer.prefix_proof)
    assert proof.red.counts.red
    assert all(one.counts.green and not one.counts.red for one in proof.green)
    assert (len(prefix.red.positions), len(prefix.green[0].positions)) == (max(wanted) + 1, max(wanted))
    assert prefix.red.counts.red
    assert prefix.green[0].counts.green


@pytest.mark.parametrize("length", [12, 99])
def test_one_polluter_takes_few_runs_the_proofs_of_both_ends_among_them(length: int) -> None:
    for polluter in range(0, length, 1 + length // 100):
        target = suite(length, {polluter})
        answer = reduce_order(target, length)
        assert answer.runs == len(target.ran) <= most_runs(length) + 4
        assert answer.confidence is not None
        assert answer.confidence >= DEFAULT_CONFIDENCE


def test_the_runs_are_told_by_what_they_were_made_for() -> None:
    told: list[SearchStep] = []
    answer = reduce_order(suite(99, {40}), 99, watch=told.append)
    made_for = [one.phase for one in told]
    assert made_for.count(Phase.BASELINE) == 2
    assert made_for.count(Phase.PREFIX) == 2
    assert len(made_for) == answer.runs


def test_a_suite_that_is_green_is_told_after_two_runs() -> None:
    answer = reduce_order(suite(30), 30)
    assert (answer.status, answer.runs, answer.prefix) == (BisectStatus.GREEN, 2, None)


def test_a_red_that_was_seen_is_looked_for_again() -> None:
    answer = reduce_order(suite(30), 30, plan=SearchPlan(most_greens=5))
    assert (answer.status, answer.runs) == (BisectStatus.GREEN, 6)


def test_a_victim_that_is_red_alone_has_prefix_0_after_two_runs() -> None:
    answer = reduce_order(suite(30, ()), 30)
    assert (answer.status, answer.prefix, answer.polluters, answer.runs) == (FOUND, 0, (), 2)
    assert answer.red_alone
    assert the(answer.set_proof).red.counts.red == 1


def test_a_suite_of_the_victim_alone_is_red_or_green() -> None:
    assert reduce_order(suite(0), 0).status is BisectStatus.GREEN
    assert reduce_order(suite(0, ()), 0).prefix == 0


@given(st.integers(2, 60), st.data())
def test_a_brittle_victim_gets_its_state_setters(length: int, data: st.DataObject) -> None:
    setters = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=2))
    answer = reduce_order(Suite(length, setters=setters), length)
    assert (answer.status, answer.prefix, answer.red_alone) == (FOUND, 0, True)
    assert set(answer.cleaners) == setters


def test_an_order_whose_cleaner_hides_the_polluter_is_green() -> None:
    target = Suite(99, (frozenset({60}),), cleaners=frozenset({70}))
    assert reduce_order(target, 99).status is BisectStatus.GREEN


@given(st.integers(3, 40), st.data())
def test_with_cleaners_all_that_is_said_is_true(length: int, data: st.DataObject) -> None:
    places = st.integers(0, length - 1)
    sets = data.draw(st.lists(st.frozensets(places, min_size=1, max_size=2), min_size=1, max_size=3))
    target = Suite(length, tuple(sets), cleaners=data.draw(st.frozensets(places, max_size=3)))
    answer = reduce_order(target, length)
    if answer.status is BisectStatus.GREEN:
        assert not target.red(tuple(range(length)))
        return
    assert answer.status is FOUND
    assert not answer.noisy
    assert target.red(answer.polluters)
    assert answer.prefix is not None
    assert target.red(tuple(range(answer.prefix)))
    assert not target.red(tuple(range(answer.prefix - 1)))
    if answer.cleaning is not None:
        red, green = answer.cleaning
        assert set(red) < set(green)
        assert target.red(red)
        assert not target.red(green)
        assert answer.cleaners
        assert target.cleaners.intersection(answer.cleaners)


@pytest.mark.parametrize(
    ("length", "polluter", "cleaner", "pair", "found", "prefix"),
    [(20, 6, 7, {9, 15}, (6,), 7), (40, 14, 15, {18, 21}, (14,), 15), (20, 2, 3, {4, 17}, (4, 17), 18)],
)
def test_a_cleaner_that_shows_is_named(
    length: int, polluter: int, cleaner: int, *, pair: set[int], found: Positions, prefix: int
) -> None:
    # On the way to the pair a run holds the polluter without its cleaner, and is red below a green one.
    target = Suite(length, (frozenset({polluter}), frozenset(pair)), cleaners=frozenset({cleaner}))
    answer = reduce_order(target, length)
    assert (answer.status, answer.polluters, answer.cleaners) == (FOUND, found, (cleaner,))
    assert answer.cleaning is not None
    assert (answer.prefix, answer.noisy) == (prefix, False)


@pytest.mark.parametrize("polluters", [{40}, {11, 40}])
def test_more_confidence_than_a_plain_search_gives_costs_runs_and_not_the_answer(polluters: set[int]) -> None:
    answer = reduce_order(suite(60, polluters), 60, plan=SearchPlan(confidence=1 - 1e-9))
    assert (answer.status, set(answer.polluters), answer.prefix) == (FOUND, polluters, 41)
    assert answer.runs > reduce_order(suite(60, polluters), 60).runs
    assert answer.confidence is not None
    assert answer.confidence >= 1 - 1e-9


def test_what_makes_a_red_victim_green_is_named_only_when_it_is_no_chance() -> None:
    brittle = Suite(60, setters=frozenset({7}))
    answer = reduce_order(brittle, 60, plan=SearchPlan(confidence=1 - 1e-12))
    assert (answer.status, answer.prefix, answer.cleaners) == (FOUND, 0, ())
    assert "may be chance" in str(answer.reason)


def test_a_victim_red_now_and_then_is_red_alone_and_seldom_has_a_state_setter() -> None:
    looks_brittle = named = 0
    for seed in range(200):
        target = Suite(40, flake=0.5, random=Random(seed))
        memory: Memory = {tuple(range(40)): (GREEN,), (): (RED,)}
        answer = reduce_order(target, 40, memory=memory)
        looks_brittle += answer.red_alone
        named += bool(answer.cleaners)
    assert looks_brittle == 200
    assert named <= 0.25 * 200  # of those that look so; one in four flakes does


@pytest.mark.parametrize("every_set", [True, False])
def test_every_independent_set_is_found_when_asked_for(every_set: bool) -> None:
    answer = reduce_order(suite(50, {7}, {20, 33}, {41}), 50, plan=SearchPlan(every_set=every_set))
    assert answer.status is FOUND
    assert sorted(answer.sets) == ([(7,), (20, 33), (41,)] if every_set else [(41,)])
    assert answer.prefix == 8  # of the shortest: the first polluter by itself


@pytest.mark.parametrize(("several", "most"), [(2, 24), (5, 25)])
def test_polluters_that_suffice_alone_take_little_more_than_a_search_for_each_end(several: int, most: int) -> None:
    runs = []
    for seed in range(30):
        places = Random(seed).sample(range(99), several)
        answer = reduce_order(suite(99, *({one} for one in places)), 99)
        assert (answer.status, answer.prefix) == (FOUND, min(places) + 1)
        assert set(answer.polluters) <= set(places)
        runs.append(answer.runs)
    assert sum(runs) / len(runs) <= most - 1
    assert max(runs) <= most + 1


@pytest.mark.parametrize("positions", [tuple(range(40)), ()])
def test_a_void_baseline_blocks(positions: Positions) -> None:
    answer = reduce_order(suite(40, {3}), 40, memory={positions: (VOID, VOID)})
    assert answer.status is BisectStatus.BLOCKED
    assert answer.reason is not None
    assert (answer.prefix, answer.polluters) == (None, ())


@pytest.mark.parametrize("cases", [13, 100, 1000])
def test_the_red_that_was_seen_before_is_counted_and_not_run_again(cases: int) -> None:
    length = cases - 1
    whole = tuple(range(length))
    for polluter in range(0, length, max(1, length // 20)):
        target = suite(length, {polluter})
        answer = reduce_order(target, length, memory={whole: (RED,)})
        fresh = suite(length, {polluter})
        assert replace(answer, recalled=0) == reduce_order(fresh, length)
        assert answer.recalled == 1
        assert whole not in target.ran
        assert (len(target.ran), target.cases_run) == (answer.runs - 1, fresh.cases_run - cases)


def test_a_red_that_was_seen_after_a_green_is_known_to_be_unsteady() -> None:
    target = Suite(99, (frozenset({40}),), rate=0.5, random=Random(2))
    answer = reduce_order(target, 99, plan=SearchPlan(most_greens=5), memory={tuple(range(99)): (GREEN, RED)})
    assert (answer.status, answer.polluters, answer.noisy, answer.recalled) == (FOUND, (40,), True, 2)


def test_a_void_end_of_the_prefix_leaves_the_prefix_open() -> None:
    answer = reduce_order(suite(40, {30}), 40, memory={tuple(range(31)): (VOID, VOID)})
    assert (answer.status, answer.polluters, answer.prefix) == (FOUND, (30,), None)
    assert "prefix is open" in str(answer.reason)


@given(st.integers(4, 40), st.data())
def test_whatever_is_void_what_is_said_was_run(length: int, data: st.DataObject) -> None:
    wanted = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=2))
    seed = data.draw(st.integers(0, 2**32))
    target = suite(length, wanted)

    def probe(positions: Positions) -> Reading:
        lost = 0 < len(positions) < length and hash((positions, seed)) % 3 == 0
        return VOID if lost else target(positions)

    answer = reduce_order(probe, length)
    if answer.polluters:
        assert set(answer.polluters) == wanted
    if answer.prefix is not None:
        assert answer.prefix == max(wanted) + 1
        assert the(answer.prefix_proof).red.counts.red
        assert the(answer.prefix_proof).green[0].counts.green
    if answer.status is not FOUND:
        assert answer.reason


@given(st.integers(0, 12))
def test_a_spent_budget_keeps_the_best_so_far(runs: int) -> None:
    target = suite(99, {40})
    answer = reduce_order(target, 99, plan=SearchPlan(limits=SearchLimits(max_runs=runs)))
    assert len(target.ran) <= runs
    whole = reduce_order(suite(99, {40}), 99)
    if runs < whole.runs:
        assert answer.status is BisectStatus.UNRESOLVED
        assert "spent" in str(answer.reason)
    if runs:
        assert answer.known.red is not None
        assert 40 in answer.known.red


@given(st.integers(1, 60), st.data())
def test_killed_at_any_run_and_resumed_it_says_the_same_and_repeats_nothing(length: int, data: st.DataObject) -> None:
    wanted = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=3))
    rate = data.draw(st.sampled_from([1.0, 0.5]))
    plan = SearchPlan(most_greens=10, limits=SearchLimits(max_runs=150))
    memory: Memory = {}
    # the reading of each run depends on what runs and how often it did, as in a target that is replayed
    readings = Suite(length, (wanted,), rate=rate)

    def outcome(positions: Positions, number: int) -> Reading:
        shown = hash((positions, number)) % 1000 < 1000 * rate
        return RED if readings.red(positions) and shown else GREEN

    counts: dict[Positions, int] = {}

    def probe(positions: Positions) -> Reading:
        counts[positions] = counts.get(positions, 0) + 1
        return outcome(positions, counts[positions])

    whole = reduce_order(probe, length, plan=plan)
    counts.clear()
    killed_after = data.draw(st.integers(0, whole.runs))

    def killed(positions: Positions) -> Reading:
        if sum(counts.values()) >= killed_after:
            raise KeyboardInterrupt
        return probe(positions)

    with suppress(KeyboardInterrupt):
        reduce_order(killed, length, plan=plan, memory=memory)
    resumed = reduce_order(probe, length, plan=plan, memory=memory)
    assert said(resumed) == said(whole)
    assert sum(counts.values()) == whole.runs
    assert resumed.recalled == min(killed_after, whole.runs)


def said(answer: Reduction) -> tuple[object, ...]:
    return (
        answer.status,
        answer.prefix,
        answer.polluters,
        answer.sets,
        answer.runs,
        answer.confidence,
    )


def test_progress_is_told_after_each_run_and_promises_no_less_than_it_takes() -> None:
    for polluter in range(99):
        told: list[SearchStep] = []
        answer = reduce_order(suite(99, {polluter}), 99, watch=told.append)
        assert [one.runs for one in told] == list(range(1, answer.runs + 1))
        search = [one for one in told if one.phase is Phase.SEARCH]
        confirmed = [one for one in told if one.phase in {Phase.SEARCH, Phase.CONFIRMATION}]
        assert search[0].most_left + 1 >= len(confirmed)
        assert told[-1].known.red == (polluter,)
        assert (told[-1].known.red_prefix, told[-1].known.green_prefix) == (polluter + 1, polluter)


def test_a_red_that_hardly_ever_shows_again_is_given_up_in_the_end() -> None:
    answer = reduce_order(lambda _: Reading.GREEN, 12, memory={tuple(range(12)): (Reading.RED,)})
    assert answer.status is not BisectStatus.FOUND
    assert answer.runs <= 250


@pytest.mark.parametrize("polluter", [0, 3, 11])
def test_both_ends_are_said_with_all_their_runs(polluter: int) -> None:
    memory: Memory = {}
    answer = reduce_order(suite(12, {polluter}), 12, memory=memory)
    for proof in (the(answer.set_proof), the(answer.prefix_proof)):
        for end in (proof.red, *proof.green):
            assert end.counts.total == len(memory[end.positions])
    assert the(answer.set_proof).red.counts.red > 1


class Otherwise:
    """A victim that is red in another way wherever it is neither red nor green as the rules say."""

    def __init__(self, *, red: frozenset[int] = frozenset(), green: frozenset[int] | None = None) -> None:
        self.red, self.green = red, green

    def __call__(self, positions: Positions, /) -> Reading:
        if self.green is not None and self.green.issubset(positions):
            return Reading.GREEN
        if self.green is not None:
            return Reading.OTHER if positions else Reading.RED
        return Reading.RED if self.red and self.red.issubset(positions) else Reading.OTHER


@given(st.integers(2, 60), st.data())
def test_polluters_are_found_where_the_victim_is_red_in_another_way_without_them(
    length: int, data: st.DataObject
) -> None:
    red = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=2))
    answer = reduce_order(Otherwise(red=red), length)
    assert (answer.status, frozenset(answer.polluters), answer.red_alone) == (FOUND, red, False)
    assert answer.set_proof is not None
    assert all(end.counts.other and not end.counts.green for end in answer.set_proof.green)


@given(st.integers(2, 60), st.data())
def test_what_is_red_in_another_way_is_no_state_setter(length: int, data: st.DataObject) -> None:
    green = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=2))
    answer = reduce_order(Otherwise(green=green), length)
    assert (answer.status, frozenset(answer.cleaners), answer.red_alone) == (FOUND, green, True)


def test_red_in_another_way_everywhere_is_not_green() -> None:
    answer = reduce_order(Otherwise(), 20)
    assert answer.status is BisectStatus.UNRESOLVED
    assert answer.reason == "the red does not show; after all cases and alone the victim is red in another way"
    alone = reduce_order(lambda positions: Reading.OTHER if positions else Reading.RED, 20)
    assert (alone.status, alone.red_alone, alone.cleaners) == (BisectStatus.FOUND, True, ())
    assert "not green but red in another way" in (alone.reason or "")
