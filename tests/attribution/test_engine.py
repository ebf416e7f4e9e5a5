"""The sequential engine on simulated targets: right, at a bounded cost, and never sure without reason."""

from dataclasses import replace
from random import Random
from statistics import median

import pytest

from pooldiag.attribution.engine import Spent, Stop, StopReason, StopRule, conclude, greens_needed, next_step
from pooldiag.attribution.mechanisms import MECHANISMS, predictions_of
from pooldiag.attribution.posterior import RoleEvidence, posterior
from pooldiag.model.arms import Acted, Role
from pooldiag.model.attributions import Attribution, Prediction, Status
from pooldiag.model.readings import RedPlace, Sight, Signature, SignatureKind
from tests.attribution.simulation import Simulated, diagnose, evidence

RED = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case="victim", place=RedPlace(text="test.cpp:20"))
ROWS = {mechanism.id: mechanism for mechanism in MECHANISMS}
SIGHTS = {"R": Sight.SAME_RED, "G": Sight.GREEN, "N": Sight.NEW_RED, "-": Sight.NOTHING}
TIMING = {Role.BYPASS: 1.0, Role.EXACT: 0.0, Role.POISON_N: 1.0, Role.POISON_0: 0.0, Role.ISOLATE: 1.0}
STREAM = {Role.PER_CASE: 0.0, Role.ISOLATE: 1.0}
FREE = {"timing-race": TIMING, "stream-race": STREAM}


def seen(**letters: str) -> tuple[RoleEvidence, ...]:
    given = {Role(name.replace("_", "-")): text for name, text in letters.items()}
    return evidence({role: [SIGHTS[letter] for letter in given.get(role, "")] for role in Role})


def said(**letters: str) -> Attribution:
    return conclude(seen(**letters), signature=RED, plan=StopRule())


def steady(mechanism: str) -> Simulated:
    return Simulated(mechanism=ROWS[mechanism], free=FREE.get(mechanism, {}))


@pytest.mark.parametrize("mechanism", ROWS)
def test_every_steady_mechanism_is_named(mechanism: str) -> None:
    trial = diagnose(steady(mechanism), Random(1))
    assert (trial.attribution.status, trial.attribution.mechanism) == (Status.ESTABLISHED, mechanism)
    assert trial.attribution.confidence is not None
    assert trial.attribution.confidence >= 0.99
    assert trial.runs <= 32


def test_steady_mechanisms_cost_twelve_runs_in_the_median() -> None:
    assert median(diagnose(steady(mechanism), Random(1)).runs for mechanism in ROWS) <= 12


@pytest.mark.parametrize("mechanism", ["cross-device-reuse", "stale-read", "stream-race"])
def test_bypass_exact_and_per_case_alone_are_one_of_three_with_the_arms_that_separate(mechanism: str) -> None:
    trial = diagnose(steady(mechanism), Random(1), roles=tuple(Role)[:4])
    assert trial.attribution.status is Status.UNRESOLVED
    left = {candidate.mechanism for candidate in trial.attribution.candidates}
    assert left == {"cross-device-reuse", "stale-read", "stream-race"}
    assert {Role.POISON_N, Role.SERIAL} <= set(trial.attribution.separators)
    assert trial.runs <= 16


@pytest.mark.parametrize(
    ("rate", "count"),
    [(0.43, 8), (0.9, 8), *(pytest.param(rate, 60, marks=pytest.mark.slow) for rate in (0.1, 0.3, 0.43, 0.7, 0.9))],
)
def test_an_independent_flake_is_hardly_ever_blamed_on_anything_else(rate: float, count: int) -> None:
    random = Random(11)
    trials = [diagnose(Simulated(mechanism=ROWS["independent"], rate=rate), random) for _ in range(count)]
    wrong = [trial for trial in trials if trial.attribution.mechanism not in {None, "independent"}]
    assert len(wrong) <= 1


@pytest.mark.parametrize("count", [6, pytest.param(20, marks=pytest.mark.slow)])
def test_a_flake_of_43_percent_is_independent_with_its_rate(count: int) -> None:
    random = Random(3)
    trials = [diagnose(Simulated(mechanism=ROWS["independent"], rate=0.43), random) for _ in range(count)]
    named = [trial.attribution for trial in trials if trial.attribution.mechanism == "independent"]
    assert len(named) >= count / 2
    rates = [attribution.rate for attribution in named if attribution.rate is not None]
    assert len(rates) == len(named)
    assert sum(rate.low <= 0.43 <= rate.high for rate in rates) >= 0.8 * len(rates)  # 95 % intervals


@pytest.mark.parametrize("count", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_a_flaky_reuse_is_named_or_left_open_and_seldom_wrong(count: int) -> None:
    random = Random(5)
    trials = [diagnose(Simulated(mechanism=ROWS["cross-device-reuse"], rate=0.6), random) for _ in range(count)]
    names = [trial.attribution.mechanism for trial in trials if trial.attribution.status is not Status.GREEN]
    assert names.count("cross-device-reuse") >= 0.8 * len(names)
    assert len([name for name in names if name not in {"cross-device-reuse", None}]) <= 1  # 99 % was promised


def test_results_that_no_mechanism_explains_end_as_none() -> None:
    reds = dict.fromkeys(("baseline", "bypass", "per_case", "poison_n", "poison_0", "serial", "isolate"), "RRRR")
    odd = said(**reds, exact="G" * 12)  # no row is green under exact and red under bypass
    assert (odd.status, odd.mechanism) == (Status.UNRESOLVED, "none")


def test_an_inert_bypass_is_not_called_a_cross_device_reuse() -> None:
    letters = {"baseline": "RR", "bypass": "RRR", "exact": "RR", "per_case": "GG", "isolate": "GG", "serial": "RR"}
    assert said(**letters).mechanism != "cross-device-reuse"


def test_arms_that_are_no_evidence_do_not_move_the_posterior() -> None:
    plain = seen(baseline="RR", exact="R")
    inert = (
        *plain[:1],
        RoleEvidence(role=Role.BYPASS, acted=Acted.INERT, runs=("a",), sights=(Sight.GREEN,)),
        *plain[2:],
    )
    assert posterior(inert).weights == pytest.approx(posterior(plain).weights)


def test_a_new_red_and_a_void_run_do_not_move_the_posterior() -> None:
    assert posterior(seen(baseline="RR", bypass="N-")).weights == posterior(seen(baseline="RR")).weights
    assert any("bypass: 1/2 runs show another red" in text for text in said(baseline="RR", bypass="N-").not_established)


def test_an_arm_that_shows_nothing_of_use_twice_is_not_asked_again() -> None:
    known = seen(baseline="RR", bypass="NN", exact="R", per_case="G")
    step = next_step(known, StopRule(), Spent(runs=6))
    assert isinstance(step, Role)
    assert step is not Role.BYPASS


def test_every_ruled_out_mechanism_names_an_arm_and_a_run_that_contradicts_it() -> None:
    trial = diagnose(steady("cross-device-reuse"), Random(1))
    assert {entry.mechanism for entry in trial.attribution.ruled_out} == set(ROWS) - {"cross-device-reuse"}
    for entry in trial.attribution.ruled_out:
        assert ROWS[entry.mechanism].predictions[entry.arm] is entry.expected
        assert entry.expected is not entry.saw
        assert entry.run.endswith(f"-{entry.arm}")


def test_the_baseline_comes_first_and_twice_and_a_green_one_is_asked_what_the_pool_hides() -> None:
    assert next_step(seen(), StopRule(), Spent()) is Role.BASELINE
    assert next_step(seen(baseline="R"), StopRule(), Spent()) is Role.BASELINE
    assert next_step(seen(baseline="GG"), StopRule(), Spent()) is Role.BYPASS
    assert next_step(seen(baseline="GG", bypass="G"), StopRule(), Spent()) is Role.POISON_N
    assert next_step(seen(baseline="GG", bypass="G", poison_n="G"), StopRule(), Spent()) == Stop(
        reason=StopReason.GREEN
    )
    assert said(baseline="GG", bypass="G", poison_n="G").status is Status.GREEN


def test_a_green_baseline_that_costs_nothing_runs_on_before_any_arm_and_a_red_one_does_not() -> None:
    quick, slow = Spent(baseline_seconds=0.9), Spent(baseline_seconds=1.0)
    assert next_step(seen(baseline="G" * 29), StopRule(), quick) is Role.BASELINE
    assert next_step(seen(baseline="G" * 30), StopRule(), quick) is Role.BYPASS
    assert next_step(seen(baseline="GG"), StopRule(), slow) is Role.BYPASS
    assert next_step(seen(baseline="GR"), StopRule(), quick) is not Role.BASELINE
    assert next_step(seen(baseline="GG"), StopRule(repeat=2), quick) is Role.BYPASS
    assert next_step(seen(baseline="GG"), StopRule(max_runs=2), replace(quick, runs=2)) == Stop(
        reason=StopReason.RUNS, said=(2,)
    )
    assert said(baseline="GG", bypass="G", poison_n="G").status is Status.GREEN


def test_many_green_baselines_do_not_end_the_question_about_a_red_that_the_pool_hides() -> None:
    known = seen(baseline="G" * 30, bypass="R", poison_n="R")
    assert isinstance(next_step(known, StopRule(), Spent(runs=32, baseline_seconds=0.1)), Role)


def test_a_red_of_an_arm_that_is_no_evidence_is_not_green() -> None:
    known = seen(baseline="GG", poison_n="G")
    odd = (
        *known[:1],
        RoleEvidence(role=Role.BYPASS, acted=Acted.UNPROVEN, runs=("a",), sights=(Sight.NEW_RED,)),
        *known[2:],
    )
    assert conclude(odd, signature=None, plan=StopRule()).status is Status.UNRESOLVED


def test_it_stops_at_the_runs_and_at_the_time_that_it_may_spend() -> None:
    known = seen(baseline="RG", bypass="G")
    assert next_step(known, StopRule(max_runs=3), Spent(runs=3)) == Stop(reason=StopReason.RUNS, said=(3,))
    late = next_step(known, StopRule(budget_seconds=60), Spent(runs=3, seconds=61))
    assert late == Stop(reason=StopReason.BUDGET, said=(60,))


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (Stop(reason=StopReason.RUNS, said=(3,)), "3 runs are spent"),
        (Stop(reason=StopReason.BUDGET, said=(60.0,)), "the budget of 60 s is spent"),
        (Stop(reason=StopReason.GREEN), "nothing is red"),
        (Stop(reason=StopReason.REPEATED, said=(3,)), "every arm ran 3 times"),
        (Stop(reason=StopReason.DECIDED, said=("stale-read", "99.3 %")), "stale-read has 99.3 % of the posterior"),
        (Stop(reason=StopReason.TIED), "the arms that can be run do not tell the candidates apart"),
        (Stop(reason=StopReason.EXHAUSTED), "no arm that can be run would tell more"),
    ],
)
def test_the_report_says_in_words_why_the_runs_ended(stop: Stop, words: str) -> None:
    assert conclude(seen(baseline="RR"), signature=RED, plan=StopRule(), stop=stop).rule == words


def test_what_a_bisection_tells_is_not_open_after_one() -> None:
    letters = {"baseline": "RR", "bypass": "GG", "exact": "RR", "per_case": "GG", "poison_n": "GG", "poison_0": "RR"}
    known = seen(**letters, serial="RR", isolate="GG")
    asked = ("which earlier case left the block: bisect the order",)
    assert conclude(known, signature=RED, plan=StopRule()).not_established == asked
    assert conclude(known, signature=RED, plan=StopRule(bisected=True)).not_established == ()


def test_repeat_runs_every_arm_so_often_whatever_it_shows() -> None:
    trial = diagnose(steady("independent"), Random(1), plan=StopRule(repeat=3))
    assert {role: len(sights) for role, sights in trial.sights.items()} == dict.fromkeys(Role, 3)


def test_a_green_of_a_flaky_fault_needs_more_of_them_and_one_of_a_steady_fault_fewer() -> None:
    flaky = [Sight.SAME_RED, Sight.GREEN, Sight.GREEN, Sight.GREEN]
    needed = greens_needed(flaky, greens=1, confidence=0.99)
    assert needed > greens_needed([Sight.SAME_RED] * 20, greens=1, confidence=0.99)
    assert greens_needed(flaky, greens=1 + needed, confidence=0.99) == 0
    assert greens_needed(flaky, greens=needed, confidence=0.99) == 1


def test_of_two_arms_that_tell_alike_the_cheaper_one_is_run() -> None:
    known = seen(baseline="RR")
    usual = next_step(known, StopRule(), Spent(runs=2, of_role={Role.BASELINE: 10.0}))
    assert isinstance(usual, Role)
    dear = {Role.BASELINE: 10.0, usual: 1000.0}
    assert next_step(known, StopRule(), Spent(runs=2, of_role=dear)) not in {usual, None}


def test_the_priors_sum_to_one_and_half_is_on_independent() -> None:
    prior = posterior(seen()).weights
    assert sum(prior.values()) == pytest.approx(1)
    assert prior["independent"] == pytest.approx(0.5)
    assert prior["none"] == pytest.approx(0.05)
    assert len(prior) == len(MECHANISMS) + 1


def test_an_assertion_that_fails_without_the_pool_may_test_the_pool_itself() -> None:
    known = seen(
        baseline="G" * 6, bypass="R" * 6, poison_n="R" * 6, exact="GG", per_case="GG", isolate="GG", serial="GG"
    )
    failed = Signature(kind=SignatureKind.FAILURE, case="victim", place=RedPlace(text="test.cpp:20"))
    assertion = conclude(known, signature=failed, plan=StopRule())
    assert (assertion.status, assertion.mechanism) == (Status.UNRESOLVED, None)
    assert any("test the pool itself" in text for text in assertion.not_established)
    heap = conclude(known, signature=failed, plan=StopRule(own_pool=False))
    assert (heap.status, heap.mechanism) == (Status.ESTABLISHED, "hidden-use-after-free")
    assert any("test the pool itself" in text for text in heap.not_established)
    crash = conclude(known, signature=RED, plan=StopRule())
    assert (crash.status, crash.mechanism) == (Status.ESTABLISHED, "hidden-use-after-free")


def test_independent_needs_an_answer_of_the_bypass_where_there_is_one() -> None:
    letters = {"baseline": "RRR", "isolate": "RRR", "serial": "RRR", "exact": "RR", "per_case": "RR", "poison_0": "RRR"}
    without = said(**letters, bypass="NN", poison_n="RR")
    assert without.status is Status.UNRESOLVED
    assert any("bypass gave no answer" in text for text in without.not_established)
    assert said(**letters, bypass="R", poison_n="RR").mechanism == "independent"


def test_a_row_says_nothing_of_roles_beyond_its_end() -> None:
    shown = predictions_of("R G")
    assert (shown[Role.BASELINE], shown[Role.BYPASS]) == (Prediction.SAME_RED, Prediction.GREEN)
    assert {shown[role] for role in Role if role not in {Role.BASELINE, Role.BYPASS}} == {Prediction.ANYTHING}
