"""The engine, run by run: which arm is asked, which is not, and when it ends."""

from random import Random
from statistics import median

import pytest

from pooldiag.attribution.engine import (
    ASKED_FIRST,
    PATTERN_ROLES,
    Spent,
    Stop,
    StopReason,
    StopRule,
    circumstances,
    greens_needed,
    next_step,
)
from pooldiag.model.arms import Acted, ArmProperty, Role
from pooldiag.model.attributions import Shows, Status
from pooldiag.model.readings import Sight
from tests.attribution.letters import FEW, MOST, Diagnosed, Given, arms, concluded, diagnosed, known_of

UNWRITTEN = {**MOST, "bypass": "G", "poison_0": "G", "isolate": "G", "quarantine": "G", "per_case": "G"}
CARRIED = {**MOST, "bypass": "G", "poison_n": "G", "isolate": "G", "quarantine": "G", "per_case": "G"}
STEADY = {
    "unwritten-read": UNWRITTEN,
    "race": {**MOST, "serial": "G"},
    "carried-by-pool": CARRIED,
    "reused-in-case": {**MOST, "bypass": "G", "poison_n": "G", "quarantine": "G"},
    "carried-outside": {**MOST, "isolate": "G"},
    "outside-state": {**MOST, "fresh_state": "G"},
    "no-arm": MOST,
}


def is_open(found: Diagnosed) -> bool:
    attribution = found.attribution
    return (attribution.status, attribution.answer, attribution.mechanism) == (Status.UNRESOLVED, None, None)


def asked(**letters: str) -> Role | Stop:
    """Ask for the next role."""
    evidence = arms(**letters)
    return next_step(evidence, StopRule(), Spent(runs=sum(map(len, letters.values()))), known_of(evidence))


# --- what is answered, and at which cost ------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", STEADY)
def test_every_answer_is_given_for_steady_arms_at_99_percent(answer: str) -> None:
    found = diagnosed(**STEADY[answer]).attribution
    assert (found.status, found.answer, found.mechanism) == (Status.ESTABLISHED, answer, None)
    assert found.confidence is not None
    assert found.confidence >= 0.99
    assert found.rule is not None
    assert found.rule.startswith(f"the pattern of {answer} has 99")


@pytest.mark.parametrize("answer", STEADY)
def test_what_is_seen_is_what_the_arms_show(answer: str) -> None:
    letters = {Shows.THERE: "R", Shows.GONE: "G"}
    for one in diagnosed(**STEADY[answer]).attribution.seen:
        assert STEADY[answer][one.role.replace("-", "_")] == letters[one.shows]


def test_steady_targets_cost_12_runs_in_the_median_with_seven_arms_and_18_with_all() -> None:
    seven = ("baseline", "bypass", "exact", "per_case", "poison_n", "poison_0", "serial", "isolate")
    few = [{name: letters[name] for name in seven} for letters in STEADY.values()]
    assert median(len(diagnosed(**letters).asked) for letters in few) <= 12
    assert median(len(diagnosed(**letters).asked) for letters in STEADY.values()) <= 18


def test_a_higher_confidence_takes_more_runs() -> None:
    low, high = (diagnosed(Given(plan=StopRule(confidence=wanted)), **CARRIED) for wanted in (0.9, 0.9999))
    assert len(low.asked) < len(high.asked)
    assert high.attribution.confidence is not None
    assert high.attribution.confidence >= 0.9999


def test_a_single_green_is_never_enough_for_an_answer_that_needs_it() -> None:
    found = diagnosed(Given(plan=StopRule(confidence=0.5)), **CARRIED)
    assert found.attribution.answer == "carried-by-pool"
    assert min(found.runs_of(role) for role in (Role.BYPASS, Role.POISON_N, Role.ISOLATE)) >= 2


def flake(rate: float, seed: int) -> Diagnosed:
    """Diagnose what is red at this rate whatever the arm is, and was red in its first run."""
    drawn = Random(seed)

    def shows(number: int) -> str:
        return "R" if number == 1 or drawn.random() < rate else "G"

    return diagnosed(**dict.fromkeys(MOST, shows))


@pytest.mark.parametrize("rate", [0.3, 0.6, 0.9])
def test_a_flake_is_no_arm_or_open_and_never_established_to_be_gone_under_one(rate: float) -> None:
    found = [flake(rate, seed).attribution for seed in range(6)]
    assert {one.answer for one in found} <= {None, "no-arm"}
    answered = [attribution for attribution in found if attribution.answer is not None]
    assert not [one for attribution in answered for one in attribution.seen if one.shows is Shows.GONE]
    assert "no-arm" in {one.answer for one in found}


# --- the first runs ---------------------------------------------------------------------------------------------------


def test_the_baseline_comes_first_and_twice_and_a_green_one_is_asked_what_the_pool_hides() -> None:
    there = dict.fromkeys(MOST, "")
    assert asked(**there) is Role.BASELINE
    assert asked(**{**there, "baseline": "R"}) is Role.BASELINE
    assert asked(**{**there, "baseline": "GG"}) is Role.BYPASS
    assert asked(**{**there, "baseline": "GG", "bypass": "G"}) is Role.POISON_N
    assert asked(**{**there, "baseline": "GG", "bypass": "G", "poison_n": "G"}) is Role.QUARANTINE
    green = {"baseline": "GG", "bypass": "G", "poison_n": "G", "quarantine": "G"}
    assert asked(**{**there, **green}) == Stop(reason=StopReason.GREEN)


def test_a_green_baseline_that_costs_nothing_runs_on_before_any_arm_and_a_red_one_does_not() -> None:
    quick, slow = Spent(baseline_seconds=0.9), Spent(baseline_seconds=1.0)

    def after(letters: str, spent: Spent, *, plan: StopRule | None = None) -> Role | Stop:
        return next_step(arms(baseline=letters, bypass="", poison_n=""), plan or StopRule(), spent)

    assert after("G" * 29, quick) is Role.BASELINE
    assert after("G" * 30, quick) is Role.BYPASS
    assert after("GG", slow) is Role.BYPASS
    assert after("GR", quick) is not Role.BASELINE
    assert after("GG", quick, plan=StopRule(repeat=2)) is Role.BYPASS
    spent = Spent(runs=2, baseline_seconds=0.9)
    assert after("GG", spent, plan=StopRule(max_runs=2)) == Stop(reason=StopReason.RUNS, said=(2,))


def test_what_most_answers_need_is_asked_first_and_everything_at_most_once_until_all_was_asked() -> None:
    found = diagnosed(**UNWRITTEN)
    arms_asked = found.asked[2:]
    first = tuple(dict.fromkeys(arms_asked))
    assert first == tuple(role for role in ASKED_FIRST if role in first)
    assert arms_asked[: len(first)] == first


def test_every_arm_that_could_change_the_answer_is_asked() -> None:
    needs = (Role.BYPASS, Role.ISOLATE, Role.SERIAL, Role.POISON_N, Role.POISON_0, Role.QUARANTINE, Role.FRESH_STATE)
    assert set(needs) <= set(diagnosed(**MOST).asked)


def test_state_before_the_run_is_not_asked_about_where_the_pool_alone_clears_a_red_that_waiting_leaves() -> None:
    found = diagnosed(**CARRIED)
    assert Role.FRESH_STATE not in found.asked
    assert ("fresh-state", "would not tell") in [(one.role, one.reason) for one in found.attribution.not_asked]
    assert Role.FRESH_STATE in diagnosed(**{**MOST, "serial": "G"}).asked


def test_an_arm_that_is_inert_is_never_asked_and_one_that_is_not_known_to_act_once() -> None:
    for letters in (MOST, CARRIED, {**MOST, "baseline": "G"}):
        found = diagnosed(Given(acted={Role.BYPASS: Acted.INERT, Role.SERIAL: Acted.UNPROVEN}), **letters)
        assert Role.BYPASS not in found.asked
        assert found.runs_of(Role.SERIAL) <= 1
        assert not {Role.BYPASS, Role.SERIAL} & {one.role for one in found.attribution.seen}


def test_an_arm_that_shows_nothing_of_use_twice_is_not_asked_again() -> None:
    for letters in ("N", "-", "N-"):
        assert diagnosed(**{**MOST, "bypass": letters}).runs_of(Role.BYPASS) <= 2


def test_no_arm_is_said_only_once_every_arm_that_can_be_asked_was() -> None:
    for missing in ("exact", "serial", "fresh_state"):
        letters = {**dict.fromkeys(MOST, "RRRR"), "used_state": ""}
        assert concluded(arms(**letters)).answer == "no-arm"
        assert concluded(arms(**{**letters, missing: ""})).answer is None
        inert = Given(acted={Role(missing.replace("_", "-")): Acted.INERT})
        assert concluded(arms(inert, **{**letters, missing: ""})).answer == "no-arm"


def test_a_placebo_is_asked_wherever_something_is_red() -> None:
    for letters in STEADY.values():
        assert Role.PLACEBO in diagnosed(**letters).asked


# --- guard and pad ----------------------------------------------------------------------------------------------------

GUARDED = {**CARRIED, "guard": "G", "pad": "G"}


def test_a_guard_is_asked_where_an_access_past_an_end_or_a_use_after_release_is_left_and_not_elsewhere() -> None:
    assert Role.GUARD in diagnosed(**GUARDED).asked
    assert Role.GUARD in diagnosed(**{**STEADY["reused-in-case"], "guard": "G", "pad": "G"}).asked
    for answer in ("no-arm", "carried-outside", "outside-state"):
        assert Role.GUARD not in diagnosed(**{**STEADY[answer], "guard": "G", "pad": "G"}).asked


def test_a_guard_without_a_finding_runs_on_the_victim_alone_and_then_on_all_and_not_again() -> None:
    assert diagnosed(**GUARDED).runs_of(Role.GUARD) == 2


def test_a_guard_with_a_finding_is_not_asked_again() -> None:
    assert diagnosed(**{**GUARDED, "guard": "N"}).runs_of(Role.GUARD) == 1
    assert diagnosed(**{**GUARDED, "guard": "GN"}).runs_of(Role.GUARD) == 2


def test_a_pad_is_asked_only_after_a_finding_and_until_it_is_sure() -> None:
    assert Role.PAD not in diagnosed(**GUARDED).asked
    found = diagnosed(**{**GUARDED, "guard": "N"})
    assert found.runs_of(Role.PAD) >= 2
    seen = {one.role: one for one in found.attribution.seen}
    assert found.asked.index(Role.PAD) > found.asked.index(Role.GUARD)
    assert Role.PAD not in seen or seen[Role.PAD].shows is Shows.GONE


def test_a_pad_that_leaves_the_red_is_not_asked_on() -> None:
    assert diagnosed(**{**GUARDED, "guard": "N", "pad": "R"}).runs_of(Role.PAD) <= 2


# --- state that is there before the run -------------------------------------------------------------------------------


def test_state_before_the_run_takes_three_pairs_of_a_fresh_folder_and_its_second_use() -> None:
    found = diagnosed(**STEADY["outside-state"])
    pairs = [role for role in found.asked if role in {Role.FRESH_STATE, Role.USED_STATE}]
    assert pairs[:6] == [Role.FRESH_STATE, Role.USED_STATE] * 3
    assert found.runs_of(Role.USED_STATE) == 3
    assert found.attribution.answer == "outside-state"


def test_a_second_use_that_is_green_ends_the_pairs_without_this_answer() -> None:
    found = diagnosed(**{**STEADY["outside-state"], "used_state": "RG"})
    assert found.runs_of(Role.USED_STATE) == 2
    assert is_open(found)


def test_a_fresh_folder_that_is_red_has_no_second_use_and_ends_the_pairs() -> None:
    assert Role.USED_STATE not in diagnosed(**MOST).asked
    found = diagnosed(**{**STEADY["outside-state"], "fresh_state": "GRGG"})
    assert found.runs_of(Role.USED_STATE) == 1
    assert is_open(found)


def test_there_are_no_pairs_where_the_pool_alone_clears_the_red_already() -> None:
    assert Role.USED_STATE not in diagnosed(**{**UNWRITTEN, "fresh_state": "G"}).asked
    assert Role.USED_STATE not in diagnosed(**{**MOST, "fresh_state": "G", "isolate": "G"}).asked


def test_pairs_are_counted_only_where_all_of_them_agree() -> None:
    def pairs(fresh: str, used: str) -> int:
        evidence = arms(baseline="RR", fresh_state=fresh, used_state=used)
        return circumstances(evidence, out_of_memory=False, loads_alike=True).pairs

    assert (pairs("GGG", "RRR"), pairs("GGG", "RR"), pairs("G", "")) == (3, 2, 0)
    assert (pairs("GGRG", "RRR"), pairs("GGGG", "RRRG")) == (0, 0)
    assert pairs("GGG", "RNRR") == 3


# --- a first run unlike all later ones --------------------------------------------------------------------------------


def test_a_green_first_run_before_reds_alone_is_not_called_what_no_arm_changes() -> None:
    found = diagnosed(**{**FEW, "serial": "R", "placebo": "R", "baseline": "GR"})
    assert is_open(found)
    assert found.runs_of(Role.BASELINE) >= 4
    steady = diagnosed(**{**FEW, "serial": "R", "placebo": "R"})
    assert steady.attribution.answer == "no-arm"


def test_a_green_that_comes_again_is_a_rate_and_not_a_first_run() -> None:
    def begins_green(baseline: str) -> bool:
        return circumstances(arms(baseline=baseline), out_of_memory=False, loads_alike=True).begins_green

    assert begins_green("GR")
    assert begins_green("GRRRR")
    assert not any(map(begins_green, ("", "G", "GG", "RR", "RG", "RGR", "GRG", "GRRG")))


def test_what_a_first_run_left_behind_is_state_before_the_run_once_three_pairs_show_it() -> None:
    found = diagnosed(**{**STEADY["outside-state"], "baseline": "GR"})
    assert found.attribution.answer == "outside-state"
    assert found.runs_of(Role.USED_STATE) == 3


# --- what is open -----------------------------------------------------------------------------------------------------


def test_bypass_exact_and_per_case_alone_are_open_with_the_arms_that_would_decide() -> None:
    letters = {"baseline": "R", "bypass": "G", "exact": "R", "per_case": "G", "placebo": "R"}
    found = diagnosed(**letters)
    assert is_open(found)
    assert {Role.SERIAL, Role.POISON_N, Role.ISOLATE} <= set(found.attribution.separators)
    left = {one.mechanism for one in found.attribution.candidates}
    assert {"cross-device-reuse", "stale-read", "stream-race"} <= left
    assert len(found.asked) <= 12


def test_a_pool_without_fills_and_serial_is_open_in_at_most_12_runs() -> None:
    letters = {**FEW, "bypass": "G", "exact": "G", "per_case": "G", "isolate": "G", "fresh_state": "R", "placebo": "R"}
    found = diagnosed(**letters)
    assert is_open(found)
    assert len(found.asked) <= 12
    left = {one.mechanism for one in found.attribution.candidates}
    assert {"cross-device-reuse", "class-slack", "stale-read", "stream-race"} <= left
    assert {Role.SERIAL, Role.POISON_N} <= set(found.attribution.separators)


def test_a_red_that_a_placebo_moves_has_no_answer() -> None:
    for letters in STEADY.values():
        assert is_open(diagnosed(**{**letters, "placebo": "G"}))


def test_an_arm_with_a_rate_of_its_own_gives_no_answer_that_needs_it() -> None:
    at_half = "GRRGRGGRGRRGGRRGGRGRRGRG"
    for name in ("bypass", "isolate", "poison_n"):
        assert is_open(diagnosed(**{**CARRIED, name: at_half}))
    often = {**dict.fromkeys(MOST, "R" * 30), "bypass": at_half}
    assert {one.role: one.shows for one in concluded(arms(**often)).seen}[Role.BYPASS] is Shows.OWN_RATE


@pytest.mark.parametrize("answer", ["race", "reused-in-case"])
def test_a_red_about_memory_is_neither_a_race_nor_reuse_in_the_case(answer: str) -> None:
    assert diagnosed(**STEADY[answer]).attribution.answer == answer
    assert is_open(diagnosed(Given(out_of_memory=True), **STEADY[answer]))


@pytest.mark.parametrize("answer", ["carried-by-pool", "carried-outside"])
def test_nothing_is_carried_from_a_case_where_alone_may_load_less(answer: str) -> None:
    assert is_open(diagnosed(Given(loads_alike=False), **STEADY[answer]))


@pytest.mark.parametrize("answer", ["unwritten-read", "carried-by-pool", "reused-in-case"])
def test_fills_of_which_nothing_is_known_give_no_answer_about_bytes(answer: str) -> None:
    assert is_open(diagnosed(Given(properties={}), **STEADY[answer]))
    late = (ArmProperty(name="fills_on", value="both"), ArmProperty(name="ordered", value="yes"))
    assert is_open(diagnosed(Given(properties={Role.POISON_N: late, Role.POISON_0: late}), **STEADY[answer]))


# --- a green baseline -------------------------------------------------------------------------------------------------

HIDDEN = {**MOST, **dict.fromkeys(MOST, "G"), "poison_n": "R"}


def test_a_read_that_luck_hides_is_found_by_a_fill_with_and_without_a_bypass_beside_it() -> None:
    found = diagnosed(**HIDDEN)
    assert (found.attribution.status, found.attribution.answer) == (Status.ESTABLISHED, "hidden-unwritten-read")
    assert set(found.asked) == {Role.BASELINE, Role.BYPASS, Role.POISON_N, Role.QUARANTINE}
    alone = diagnosed(baseline="G", poison_n="R")
    assert alone.attribution.answer == "hidden-unwritten-read"
    assert is_open(diagnosed(Given(properties={}), **HIDDEN))


def test_a_new_red_without_the_pool_on_a_green_baseline_is_open() -> None:
    green = {**HIDDEN, "poison_n": "G"}
    for letters in ({**HIDDEN, "bypass": "R"}, {**green, "bypass": "R"}, {**green, "quarantine": "R"}):
        found = diagnosed(**letters)
        assert is_open(found)
        assert any("the pool's absence is not a cure" in text for text in found.attribution.not_established)


def test_a_flake_that_two_green_baselines_missed_is_not_taken_for_what_the_pool_hides() -> None:
    found = diagnosed(baseline="GGRGRGGRGGRRGRG", bypass="RGGRGGRGRG", poison_n="RGGRGRGGRG", isolate="RGRGRGRGRG")
    assert found.attribution.answer != "hidden-unwritten-read"


def test_many_green_baselines_do_not_end_the_question_about_a_red_that_the_pool_hides() -> None:
    spent = Spent(runs=32, baseline_seconds=0.1)
    assert isinstance(next_step(arms(baseline="G" * 30, bypass="G", poison_n="R"), StopRule(), spent), Role)
    assert next_step(arms(baseline="G" * 30, bypass="G", poison_n=""), StopRule(), spent) is Role.POISON_N


# --- the end ----------------------------------------------------------------------------------------------------------


def test_it_stops_at_the_runs_and_at_the_time_that_it_may_spend() -> None:
    evidence = arms(baseline="RG", bypass="G")
    assert next_step(evidence, StopRule(max_runs=3), Spent(runs=3)) == Stop(reason=StopReason.RUNS, said=(3,))
    late = next_step(evidence, StopRule(budget_seconds=60), Spent(runs=3, seconds=61))
    assert late == Stop(reason=StopReason.BUDGET, said=(60,))
    found = diagnosed(Given(plan=StopRule(max_runs=5)), **CARRIED)
    assert (len(found.asked), is_open(found), found.attribution.rule) == (5, True, "5 runs are spent")


def test_repeat_runs_every_arm_so_often_whatever_it_shows() -> None:
    for letters in (MOST, CARRIED, {**MOST, "baseline": "G"}):
        found = diagnosed(Given(plan=StopRule(repeat=3)), **letters)
        assert {role: found.runs_of(role) for role in set(found.asked)} == dict.fromkeys(
            {Role.BASELINE, *PATTERN_ROLES, Role.USED_STATE} - {Role.PAD}, 3
        )
        assert found.attribution.rule == "every arm ran 3 times"
        uses = [role for role in found.asked if role in {Role.FRESH_STATE, Role.USED_STATE}]
        assert uses == [Role.FRESH_STATE, Role.USED_STATE] * 3


def test_repeat_runs_no_arm_that_is_inert() -> None:
    found = diagnosed(Given(plan=StopRule(repeat=2), acted={Role.BYPASS: Acted.INERT}), **MOST)
    assert found.runs_of(Role.BYPASS) == 0
    assert found.runs_of(Role.SERIAL) == 2


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (Stop(reason=StopReason.RUNS, said=(3,)), "3 runs are spent"),
        (Stop(reason=StopReason.BUDGET, said=(60.0,)), "the budget of 60 s is spent"),
        (Stop(reason=StopReason.GREEN), "nothing is red"),
        (Stop(reason=StopReason.REPEATED, said=(3,)), "every arm ran 3 times"),
        (Stop(reason=StopReason.DECIDED, said=("race", "99.3 %")), "the pattern of race has 99.3 % of the posterior"),
        (Stop(reason=StopReason.NO_ANSWER), "no answer is left that these arms could give"),
        (Stop(reason=StopReason.EXHAUSTED), "no arm that can be run would tell more"),
    ],
)
def test_the_reason_why_the_runs_end_is_a_sentence(stop: Stop, words: str) -> None:
    assert str(stop) == words


def test_of_two_arms_that_tell_alike_the_cheaper_one_is_run() -> None:
    evidence = arms(baseline="RR", bypass="G", isolate="G", serial="R", poison_n="G", placebo="R", poison_0="R")
    known = known_of(evidence)

    def step(**seconds: float) -> Role | Stop:
        return next_step(
            evidence, StopRule(), Spent(runs=8, of_role={Role(name): one for name, one in seconds.items()})
        )

    usual = next_step(evidence, StopRule(), Spent(runs=8, of_role={Role.BASELINE: 1.0}), known)
    assert isinstance(usual, Role)
    dear = next_step(evidence, StopRule(), Spent(runs=8, of_role={Role.BASELINE: 1.0, usual: 1000.0}), known)
    assert isinstance(dear, Role)
    assert dear is not usual


def test_a_green_of_a_flaky_fault_needs_more_of_them_and_one_of_a_steady_fault_fewer() -> None:
    flaky = [Sight.SAME_RED, Sight.GREEN, Sight.GREEN, Sight.GREEN]
    needed = greens_needed(flaky, greens=1, confidence=0.99)
    assert needed > greens_needed([Sight.SAME_RED] * 20, greens=1, confidence=0.99)
    assert greens_needed(flaky, greens=1 + needed, confidence=0.99) == 0
    assert greens_needed(flaky, greens=needed, confidence=0.99) == 1
