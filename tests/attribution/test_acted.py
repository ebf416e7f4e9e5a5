"""Whether an arm did what its role says."""

from dataclasses import replace
from typing import Any

import pytest

from pooldiag.attribution.acted import Beforehand, acted
from pooldiag.model.arms import Acted, Arm, BannerRule, Confidence, CounterRule, Isolation, Role
from pooldiag.model.runs import Environment
from tests.builders import green

BYPASS = Arm(
    role=Role.BYPASS,
    environment=Environment(set=(("POOL_STATS", "1"), ("POOL_OFF", "1"))),
    proof=CounterRule(counter="hits", equals=0),
    shared=("POOL_STATS",),
)
NAMES = frozenset({"POOL_OFF", "POOL_STATS"})
KNOWN = Beforehand(names=NAMES, searchable=True, closed=True)
SWITCH = replace(BYPASS, proof=None)
PROVEN = (Acted.PROVEN, "canary: all blocks come zeroed")
INERT = (Acted.INERT, "all blocks keep stale content")


def judge(
    arm: Arm, *hits: int, baseline: tuple[int, ...] = (5,), names: frozenset[str] = NAMES, searchable: bool = True
) -> tuple[Acted | None, str]:
    outcomes, others = ([green(counters={"hits": hit}) for hit in some] for some in (hits, baseline))
    return acted(arm, outcomes, baseline=others, beforehand=Beforehand(names=names, searchable=searchable, closed=True))


def state(
    arm: Arm, *hits: int, baseline: tuple[int, ...] = (5,), names: frozenset[str] = NAMES, searchable: bool = True
) -> Acted | None:
    return judge(arm, *hits, baseline=baseline, names=names, searchable=searchable)[0]


def test_the_baseline_has_no_state() -> None:
    assert state(Arm(role=Role.BASELINE)) is None


def test_isolation_is_proven_by_construction() -> None:
    assert state(Arm(role=Role.ISOLATE, isolation=Isolation.ALONE)) is Acted.PROVEN


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (Role.FRESH_STATE, Acted.PLAUSIBLE),
        (Role.USED_STATE, Acted.PLAUSIBLE),
        (Role.PLACEBO, Acted.PROVEN),
    ],
)
def test_the_arms_of_every_target_act_whether_or_not_a_file_names_their_variables(role: Role, expected: Acted) -> None:
    arm = Arm(role=role, environment=Environment(set=(("HOME", "x"),)))
    assert state(arm, names=frozenset()) is expected
    assert state(arm, searchable=False) is expected


def test_a_counter_proves_and_a_counter_convicts() -> None:
    assert state(BYPASS, 0, 0) is Acted.PROVEN
    assert state(BYPASS, 0, 3) is Acted.INERT
    assert "hits=3" in judge(BYPASS, 3)[1]


def test_a_counter_proves_against_a_baseline_that_died_before_it_could_print() -> None:
    assert state(BYPASS, 0, baseline=()) is Acted.PROVEN


def test_a_counter_that_the_baseline_has_too_proves_nothing() -> None:
    assert state(BYPASS, 0, baseline=(0,)) is Acted.PLAUSIBLE


def test_the_counter_of_the_bypass_does_not_prove_the_fill_on_top_of_it() -> None:
    assert BYPASS.proof is not None
    poison = replace(
        BYPASS,
        role=Role.POISON_N,
        environment=BYPASS.environment.merged(Environment(set=(("POOL_FILL", "255"),))),
        proof=replace(BYPASS.proof, sufficient=False),
    )
    assert state(poison, 0) is Acted.INERT  # no file names POOL_FILL
    assert state(poison, 0, names=NAMES | {"POOL_FILL"}) is Acted.PLAUSIBLE
    assert state(poison, 3, names=NAMES | {"POOL_FILL"}) is Acted.INERT


def test_without_a_counter_the_name_in_the_files_makes_it_plausible() -> None:
    assert state(BYPASS) is Acted.PLAUSIBLE
    assert acted(BYPASS, [green()], baseline=[], beforehand=KNOWN)[0] is Acted.PLAUSIBLE


def test_a_variable_that_no_file_names_makes_it_inert() -> None:
    assert state(BYPASS, names=frozenset({"POOL_STATS"})) is Acted.INERT


def test_the_variable_that_only_prints_counters_is_no_switch() -> None:
    assert state(replace(BYPASS, environment=Environment(set=(("POOL_STATS", "1"),)))) is Acted.UNPROVEN


def test_a_script_cannot_be_searched() -> None:
    assert state(BYPASS, searchable=False) is Acted.UNPROVEN
    assert state(BYPASS, 0, searchable=False) is Acted.PROVEN


def told(arm: Arm, known: Beforehand = KNOWN, *, changed: bool = False, runs: int = 1) -> tuple[Acted | None, str]:
    return acted(arm, [green()] * runs, baseline=[green()], beforehand=known, changed=changed)


def test_a_canary_proves_what_the_targets_files_name_as_well() -> None:
    assert told(SWITCH, replace(KNOWN, canary=PROVEN)) == PROVEN
    assert told(SWITCH, replace(KNOWN, canary=PROVEN, names=frozenset()))[0] is Acted.INERT


def test_a_canary_convicts_by_itself() -> None:
    assert told(SWITCH, replace(KNOWN, canary=INERT)) == INERT
    assert told(SWITCH, replace(KNOWN, canary=INERT, searchable=False)) == INERT


def test_a_canary_does_not_tell_what_a_script_starts() -> None:
    state, why = told(SWITCH, replace(KNOWN, canary=PROVEN, searchable=False))
    assert state is Acted.UNPROVEN
    assert "come zeroed" in why
    assert "not an ELF file" in why


def test_a_counter_outranks_a_canary() -> None:
    known = replace(KNOWN, canary=INERT)
    outcomes = [green(counters={"hits": 0})]
    assert acted(BYPASS, outcomes, baseline=[], beforehand=known)[0] is Acted.PROVEN


def test_what_is_preloaded_reads_the_other_variables() -> None:
    variables = (("LD_PRELOAD", "other.so"), ("OTHER_FILL", "1"))
    arm = replace(SWITCH, environment=Environment(set=variables))
    assert told(arm, replace(KNOWN, names=frozenset({"LD_PRELOAD"})))[0] is Acted.PLAUSIBLE
    assert told(arm, replace(KNOWN, names=frozenset({"OTHER_FILL"})))[0] is Acted.INERT


@pytest.mark.parametrize("confidence", [Confidence.SOURCE, Confidence.DOCUMENTATION, Confidence.REPORT])
def test_a_switch_that_nobody_measured_and_that_changes_nothing_is_unproven(confidence: Confidence) -> None:
    arm = replace(SWITCH, confidence=confidence)
    assert told(arm)[0] is Acted.UNPROVEN
    assert told(arm, changed=True)[0] is Acted.PLAUSIBLE
    assert told(arm, runs=0)[0] is Acted.PLAUSIBLE  # else it would never be tried
    assert told(replace(arm, confidence=Confidence.MEASURED))[0] is Acted.PLAUSIBLE


def test_a_library_that_is_loaded_later_may_know_the_name() -> None:
    arm = replace(SWITCH, late=True)
    nameless = replace(KNOWN, names=frozenset())
    state, why = told(arm, nameless)
    assert state is Acted.UNPROVEN
    assert "POOL_OFF" in why
    assert told(arm, nameless, changed=True)[0] is Acted.PLAUSIBLE
    assert told(arm)[0] is Acted.PLAUSIBLE


def test_what_another_library_or_program_may_read_is_unproven_and_not_inert() -> None:
    nameless = replace(KNOWN, names=frozenset())
    assert told(SWITCH, nameless, runs=0)[0] is Acted.INERT
    for changed in (False, True):  # a flake differs from a flake, too
        state, why = told(SWITCH, replace(nameless, closed=False), changed=changed)
        assert state is Acted.UNPROVEN
        assert why == "no file that it loads at its start names POOL_OFF, and it may load or start others"
    proven = told(SWITCH, replace(nameless, closed=False, canary=PROVEN))
    assert proven[0] is Acted.UNPROVEN
    assert "come zeroed; no file that it loads" in proven[1]


@pytest.mark.parametrize(
    "more", [{"arguments": ("--wait",)}, {"environment": Environment(set=(("POOL_OFF", "1"),), unset=("A",))}]
)
def test_an_arm_that_changes_more_than_it_sets_is_not_inert_for_its_names_alone(more: dict[str, Any]) -> None:
    state, why = told(replace(SWITCH, **more), replace(KNOWN, names=frozenset()))
    assert state is Acted.UNPROVEN
    assert "do not name POOL_OFF" in why


def banner(rule: BannerRule, *arm: bool, baseline: bool) -> tuple[Acted | None, str]:
    seen = frozenset({rule.pattern})
    outcomes, others = ([green(banners=seen if one else frozenset()) for one in some] for some in (arm, [baseline]))
    return acted(replace(SWITCH, banner=rule), outcomes, baseline=others, beforehand=KNOWN)


def test_a_banner_that_only_the_arm_prints_proves_it() -> None:
    rule = BannerRule(pattern="no pool")
    assert banner(rule, True, True, baseline=False)[0] is Acted.PROVEN
    assert banner(rule, True, baseline=True)[0] is Acted.PLAUSIBLE  # the baseline prints it too: no proof
    assert banner(rule, True, False, baseline=False)[0] is Acted.UNPROVEN
    assert banner(rule, baseline=False)[0] is Acted.PLAUSIBLE  # it has not run yet


def test_a_banner_of_the_pool_convicts_and_its_absence_proves() -> None:
    rule = BannerRule(pattern="new pool named", printed=False)
    assert banner(rule, False, baseline=True)[0] is Acted.PROVEN
    assert banner(rule, False, True, baseline=True)[0] is Acted.INERT
    assert banner(rule, False, baseline=False)[0] is Acted.PLAUSIBLE  # it is printed nowhere: nothing was learnt


def test_a_banner_that_speaks_for_a_part_proves_nothing_and_its_absence_tells() -> None:
    rule = BannerRule(pattern="other allocator", sufficient=False)
    assert banner(rule, True, baseline=False)[0] is Acted.PLAUSIBLE
    assert banner(rule, False, baseline=False)[0] is Acted.UNPROVEN
