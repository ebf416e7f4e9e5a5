"""Targets whose red shows now and then: right as often as stated, at a bounded cost, or undecided."""

import math
from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest

from pooldiag.model.bisections import BisectStatus
from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import Positions, SearchLimits, SearchStep
from pooldiag.reduce.result import Reduction
from pooldiag.reduce.search import DEFAULT_CONFIDENCE, SearchPlan, reduce_order
from tests.reduce.suites import Suite

FOUND = BisectStatus.FOUND
FLAKY_RATES = (0.3, 0.5, 0.7, 0.9)
FLAKES = [
    (0.3, 0.8),
    (0.4, 0.8),
    (0.3, 0.95),
    (0.4, 0.95),
    (0.7, 0.95),
    (0.3, 0.99),
]  # how often red, and what is asked for


def counts(few: int, many: int) -> pytest.MarkDecorator:
    """Run a few trials, the same each time, and many where all tests run: the bounds hold for both."""
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.slow)])


@dataclass(frozen=True, slots=True)
class Trials:
    right: int
    wrong: int
    runs: float


def reduced(seed: int, *, length: int, rate: float, flake: float, confidence: float) -> tuple[Suite, Reduction]:
    random = Random(seed)
    sets = () if flake else (frozenset({random.randrange(length)}),)
    target = Suite(length, sets, rate=rate, flake=flake, random=random)
    plan = SearchPlan(confidence=confidence, most_greens=25, limits=SearchLimits(max_runs=400))
    return target, reduce_order(target, length, plan=plan)


def judged(target: Suite, answer: Reduction) -> bool | None:
    if answer.status is not FOUND:
        return None
    if not target.sets:
        return answer.red_alone and not answer.polluters
    (polluter,) = target.sets[0]
    return answer.polluters == (polluter,) and answer.prefix == polluter + 1


def trials(  # each is one thing that a cell varies
    count: int,
    *,
    length: int = 99,
    rate: float = 1.0,
    flake: float = 0.0,
    confidence: float = 0.95,
) -> Trials:
    verdicts: Counter[bool | None] = Counter()
    runs = 0
    for seed in range(count):
        target, answer = reduced(seed, length=length, rate=rate, flake=flake, confidence=confidence)
        verdicts[judged(target, answer)] += 1
        runs += answer.runs
    return Trials(right=verdicts[True], wrong=verdicts[False], runs=runs / count)


@counts(40, 300)
def test_red_in_every_second_run_is_right_in_98_of_100_trials_at_45_runs(count: int) -> None:
    seen = trials(count, rate=0.5, confidence=DEFAULT_CONFIDENCE)
    assert seen.right >= 0.98 * count
    assert seen.runs <= 45


@counts(150, 1000)
@pytest.mark.parametrize("length", [12, 99])
@pytest.mark.parametrize("flake", FLAKY_RATES)
def test_at_most_1_of_100_answers_on_a_flake_names_a_polluter(length: int, flake: float, count: int) -> None:
    seen = trials(count, length=length, flake=flake, confidence=DEFAULT_CONFIDENCE)
    assert seen.wrong <= max(2, 0.01 * count)
    assert seen.right >= 0.98 * count


@counts(20, 100)
def test_red_in_every_fifth_run_is_wrong_no_more_often_than_stated(count: int) -> None:
    seen = trials(count, rate=0.2)
    assert seen.wrong <= 0.05 * count
    assert seen.right >= 0.9 * count
    assert seen.runs <= 110


@counts(60, 200)
@pytest.mark.parametrize("rate", [0.8, 0.9, 0.97])
def test_nearly_steady_reds_are_wrong_no_more_often_than_stated(rate: float, count: int) -> None:
    seen = trials(count, rate=rate)
    assert seen.wrong <= 0.05 * count
    assert seen.runs <= 25


@counts(60, 200)
def test_short_suites_are_wrong_no_more_often_than_stated(count: int) -> None:
    seen = trials(count, length=12, rate=0.5)
    assert seen.wrong <= 0.05 * count
    assert seen.runs <= 28


@counts(20, 100)
def test_more_confidence_costs_more_and_errs_less(count: int) -> None:
    little, much = (trials(count, rate=0.5, confidence=confidence) for confidence in (0.8, 0.999))
    assert much.wrong <= 0.01 * count
    assert little.runs < 35
    assert 45 < much.runs <= 55


@counts(15, 150)
@pytest.mark.parametrize("length", [12, 99])
@pytest.mark.parametrize(("flake", "confidence"), FLAKES)
def test_a_flake_is_taken_for_a_polluter_no_more_often_than_stated(
    length: int, flake: float, confidence: float, count: int
) -> None:
    allowed = 1 - confidence
    error = math.sqrt(allowed * confidence * count)
    seen = trials(count, length=length, flake=flake, confidence=confidence)
    assert seen.wrong <= allowed * count + 1.5 * error


def test_a_victim_that_turns_red_alone_ends_the_search() -> None:
    ended = 0
    for seed in range(40):
        told: list[SearchStep] = []
        answer = reduce_order(
            Suite(99, flake=0.3, random=Random(seed)), 99, plan=SearchPlan(most_greens=25), watch=told.append
        )
        alone = [one.runs for one in told if one.positions == () and one.reading is Reading.RED]
        if answer.noisy and answer.red_alone and alone[0] > 2:  # the second run asks for state-setters
            ended += 1
            assert answer.runs - alone[0] <= 4  # what settles a disagreement
    assert ended >= 5


def test_a_steady_target_needs_no_noise_runs() -> None:
    for seed in range(30):
        _, answer = reduced(seed, length=99, rate=1.0, flake=0.0, confidence=0.95)
        assert not answer.noisy
        assert answer.runs <= 11 + 2


@counts(3, 10)
@pytest.mark.parametrize("rate", [0.9, 0.5])
def test_two_needed_now_and_then_are_found(rate: float, count: int) -> None:
    for seed in range(count):
        target = Suite(30, (frozenset({4, 21}),), rate=rate, random=Random(seed))
        answer = reduce_order(target, 30, plan=SearchPlan(most_greens=10))
        assert (answer.status, answer.polluters, answer.prefix) == (FOUND, (4, 21), 22)


def test_what_stays_undecided_within_the_budget_is_told() -> None:
    target = Suite(99, (frozenset({50}),), rate=0.1, random=Random(3))
    answer = reduce_order(target, 99, plan=SearchPlan(most_greens=60, limits=SearchLimits(max_runs=70)))
    assert answer.status is BisectStatus.UNRESOLVED
    assert answer.noisy
    assert answer.known.red is not None
    assert 50 in answer.known.red


def test_a_target_that_stays_void_blocks_a_search_in_noise() -> None:
    random = Random(1)

    def probe(positions: Positions) -> Reading:
        if len(positions) in {0, 40}:
            return random.choice((Reading.RED, Reading.GREEN)) if positions else Reading.GREEN
        return Reading.VOID

    answer = reduce_order(probe, 40, plan=SearchPlan(most_greens=20))
    assert (answer.status, answer.polluters) == (BisectStatus.BLOCKED, ())


def test_what_is_found_in_noise_has_its_proofs() -> None:
    for seed in range(20):
        target, answer = reduced(seed, length=99, rate=0.5, flake=0.0, confidence=0.95)
        if not answer.noisy or answer.status is not FOUND:
            continue
        assert answer.set_proof is not None
        assert answer.prefix_proof is not None
        assert answer.set_proof.red.counts.red
        assert answer.prefix_proof.red.counts.red
        assert answer.prefix_proof.green[0].counts.green
        assert not answer.prefix_proof.green[0].counts.red
        assert target.red(answer.set_proof.red.positions)
