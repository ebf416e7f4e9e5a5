"""Whether an arm did what its role says."""

from dataclasses import replace

from pooldiag.attribution.acted import acted
from pooldiag.model.arms import Acted, Arm, CounterRule, Isolation, Role
from pooldiag.model.runs import Environment
from tests.builders import green

BYPASS = Arm(
    role=Role.BYPASS,
    environment=Environment(set=(("POOL_STATS", "1"), ("POOL_OFF", "1"))),
    proof=CounterRule(counter="hits", equals=0),
    shared=("POOL_STATS",),
)
NAMES = frozenset({"POOL_OFF", "POOL_STATS"})


def judge(
    arm: Arm, *hits: int, baseline: tuple[int, ...] = (5,), names: frozenset[str] = NAMES, searchable: bool = True
) -> tuple[Acted | None, str]:
    outcomes, others = ([green(counters={"hits": hit}) for hit in some] for some in (hits, baseline))
    return acted(arm, outcomes, baseline=others, names=names, searchable=searchable)


def state(
    arm: Arm, *hits: int, baseline: tuple[int, ...] = (5,), names: frozenset[str] = NAMES, searchable: bool = True
) -> Acted | None:
    return judge(arm, *hits, baseline=baseline, names=names, searchable=searchable)[0]


def test_the_baseline_has_no_state() -> None:
    assert state(Arm(role=Role.BASELINE)) is None


def test_isolation_is_proven_by_construction() -> None:
    assert state(Arm(role=Role.ISOLATE, isolation=Isolation.ALONE)) is Acted.PROVEN


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
    assert acted(BYPASS, [green()], baseline=[], names=NAMES, searchable=True)[0] is Acted.PLAUSIBLE


def test_a_variable_that_no_file_names_makes_it_inert() -> None:
    assert state(BYPASS, names=frozenset({"POOL_STATS"})) is Acted.INERT


def test_the_variable_that_only_prints_counters_is_no_switch() -> None:
    assert state(replace(BYPASS, environment=Environment(set=(("POOL_STATS", "1"),)))) is Acted.UNPROVEN


def test_a_script_cannot_be_searched() -> None:
    assert state(BYPASS, searchable=False) is Acted.UNPROVEN
    assert state(BYPASS, 0, searchable=False) is Acted.PROVEN
