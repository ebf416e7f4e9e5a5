"""What arms answer is true of every variant of a fault that shows such arms, whichever of the arms acted."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import product

import pytest

from pooldiag.attribution.answers import (
    ALL_ANSWERS,
    ANSWERS,
    HIDDEN,
    NOTHING_KNOWN,
    PAIRS_NEEDED,
    AnswerRule,
    Circumstances,
    Pattern,
    answer_of,
    support,
)
from pooldiag.attribution.faults import COLUMNS, FAULTS, HIDDEN_FAULTS, MECHANISM_OF, FaultKind, FaultVariant
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.model.arms import Role
from pooldiag.model.attributions import Shows

RULES = {rule.answer.id: rule for rule in ANSWERS}
FILLS = frozenset({Role.POISON_N, Role.POISON_0})
THERE, GONE, OWN = Shows.THERE, Shows.GONE, Shows.OWN_RATE


def known_of(fault: FaultVariant) -> Circumstances:
    """Whatever may be known beside the runs if this is the fault."""
    return Circumstances(
        plain_fills=FILLS if fault.plain_fills else frozenset(),
        loads_alike=fault.loads_alike,
        out_of_memory=fault.out_of_memory,
        pairs=PAIRS_NEEDED,
    )


def needed(rule: AnswerRule) -> tuple[Role, ...]:
    """The roles that a rule looks at, but for a placebo: what the others show is the same to it."""
    if rule.all_there:
        return COLUMNS
    return tuple(dict.fromkeys(role for clause in (*rule.clauses, rule.if_any) for role, _ in clause))


def patterns(fault: FaultVariant, roles: Collection[Role], always: Collection[Role] = ()) -> Iterator[Pattern]:
    """Every reading that a fault allows, over every subset of the roles that acted; a placebo that shows the red."""
    seen: set[frozenset[tuple[Role, Shows]]] = set()
    for one in product(*[(*fault.allows(role), *(() if role in always else (None,))) for role in roles]):
        found = {role: shows for role, shows in zip(roles, one, strict=True) if shows is not None}
        if (key := frozenset(found.items())) not in seen:
            seen.add(key)
            yield {**found, Role.PLACEBO: THERE}


def given(rule: AnswerRule, faults: Collection[FaultVariant] = FAULTS) -> set[FaultVariant]:
    """The variants that may be given this answer; state on disk needs all arms that can tell it from other things."""
    always = [role for role, _ in rule.if_any]
    return {
        fault
        for fault in faults
        if fault.placebo
        and any(
            support(rule, pattern, known_of(fault)) is not None for pattern in patterns(fault, needed(rule), always)
        )
    }


def wrong(rule: AnswerRule) -> set[FaultKind]:
    return {fault.kind for fault in given(rule)} - rule.covers


@pytest.mark.parametrize("name", RULES)
def test_an_answer_is_true_of_every_fault_that_shows_such_arms(name: str) -> None:
    assert wrong(RULES[name]) == set()


@pytest.mark.parametrize("name", RULES)
def test_every_answer_is_given_for_some_fault(name: str) -> None:
    assert given(RULES[name])


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if not rule.all_there])
def test_an_answer_covers_no_kind_of_fault_that_it_is_never_given_for(name: str) -> None:
    assert {fault.kind for fault in given(RULES[name])} == RULES[name].covers


def without(rule: AnswerRule, role: Role) -> AnswerRule:
    """Return a rule that does not ask for what a role shows."""
    clauses = tuple(clause for clause in rule.clauses if role not in {one for one, _ in clause})
    assert clauses != rule.clauses or role in dict(rule.if_any)
    return replace(rule, clauses=clauses, if_any=tuple(one for one in rule.if_any if one[0] is not role))


@pytest.mark.parametrize(
    ("name", "role", "mistaken"),
    [
        ("unwritten-read", Role.BYPASS, FaultKind.USE_AFTER_RELEASE),
        ("unwritten-read", Role.POISON_N, FaultKind.CROSS_DEVICE_REUSE),
        ("unwritten-read", Role.SERIAL, FaultKind.TIMING_RACE),
        ("race", Role.SERIAL, FaultKind.INDEPENDENT),
        ("race", Role.FRESH_STATE, FaultKind.STATE_OUTSIDE),
        ("carried-by-pool", Role.ISOLATE, FaultKind.USE_IN_CASE),
        ("carried-by-pool", Role.SERIAL, FaultKind.STREAM_RACE),
        ("reused-in-case", Role.ISOLATE, FaultKind.CROSS_DEVICE_REUSE),
        ("reused-in-case", Role.SERIAL, FaultKind.STREAM_RACE),
        ("reused-in-case", Role.POISON_N, FaultKind.STALE_READ_OF_FIXTURE),
        ("carried-outside", Role.ISOLATE, FaultKind.INDEPENDENT),
        ("carried-outside", Role.BYPASS, FaultKind.POOL_STATE),
        ("carried-outside", Role.SERIAL, FaultKind.TIMING_RACE),
        ("carried-outside", Role.POISON_0, FaultKind.TWO_FAULTS),
        ("carried-outside", Role.QUARANTINE, FaultKind.USE_AFTER_RELEASE),
        ("outside-state", Role.FRESH_STATE, FaultKind.INDEPENDENT),
        ("outside-state", Role.BYPASS, FaultKind.TWO_OWNERS),
        ("outside-state", Role.SERIAL, FaultKind.TIMING_RACE),
        ("outside-state", Role.ISOLATE, FaultKind.CASE_STATE),
    ],
)
def test_a_condition_that_is_dropped_makes_an_answer_false_of_some_fault(
    name: str, role: Role, mistaken: FaultKind
) -> None:
    assert mistaken in wrong(without(RULES[name], role))


@pytest.mark.parametrize(
    ("loose", "mistaken"),
    [
        (replace(RULES["unwritten-read"], plain_fills=frozenset()), FaultKind.CROSS_DEVICE_REUSE),
        (replace(RULES["carried-outside"], loads_alike=False), FaultKind.COLLECTION),
        (replace(RULES["race"], has_memory=False), FaultKind.MEMORY_IN_FLIGHT),
        (replace(RULES["reused-in-case"], has_memory=False), FaultKind.MEMORY_KEPT),
    ],
    ids=["plain fills", "alone loads alike", "race without a lack of memory", "in the case without a lack of memory"],
)
def test_what_has_to_be_known_beside_the_runs_keeps_an_answer_from_faults_of_which_it_is_false(
    loose: AnswerRule, mistaken: FaultKind
) -> None:
    assert mistaken in wrong(loose)


def test_a_red_that_a_placebo_moves_has_no_answer() -> None:
    held = [pattern for rule in ANSWERS for pattern in rule.wanted((*COLUMNS, Role.PLACEBO))]
    everything = Circumstances(plain_fills=FILLS, pairs=PAIRS_NEEDED)
    for pattern in held:
        assert answer_of(pattern, everything) is not None
        assert answer_of({**pattern, Role.PLACEBO: GONE}, everything) is None
        assert answer_of({**pattern, Role.PLACEBO: OWN}, everything) is None


def test_a_rate_of_its_own_meets_no_condition() -> None:
    for rule in ANSWERS:
        for pattern in rule.wanted(COLUMNS):
            known = Circumstances(plain_fills=FILLS, pairs=PAIRS_NEEDED)
            assert support(rule, pattern, known) == pattern
            assert all(support(rule, {**pattern, role: OWN}, known) is None for role in pattern)


def test_state_on_disk_takes_three_pairs_and_asks_every_arm_that_can_be_had() -> None:
    known = Circumstances(pairs=PAIRS_NEEDED)
    rule = RULES["outside-state"]
    assert PAIRS_NEEDED == 3
    assert answer_of({Role.FRESH_STATE: GONE}, known) is rule
    assert answer_of({Role.FRESH_STATE: GONE}, replace(known, pairs=PAIRS_NEEDED - 1)) is None
    for role in (Role.BYPASS, Role.SERIAL, Role.ISOLATE):
        assert answer_of({Role.FRESH_STATE: GONE, role: THERE}, known) is rule
        assert answer_of({Role.FRESH_STATE: GONE, role: GONE}, known) is not rule


def test_no_arm_changes_it_only_where_every_arm_shows_it_bypass_and_isolation_among_them() -> None:
    rule, most = RULES["no-arm"], dict.fromkeys(COLUMNS, THERE)
    assert answer_of(most, NOTHING_KNOWN) is rule
    assert answer_of({Role.BYPASS: THERE, Role.ISOLATE: THERE}, NOTHING_KNOWN) is rule
    assert answer_of({Role.BYPASS: THERE, Role.SERIAL: THERE}, NOTHING_KNOWN) is None
    assert answer_of({Role.ISOLATE: THERE, Role.SERIAL: THERE}, NOTHING_KNOWN) is None
    assert all(answer_of({**most, role: GONE}, NOTHING_KNOWN) is not rule for role in COLUMNS)


def test_an_answer_about_bytes_needs_fills_that_are_known_to_be_plain() -> None:
    shown = {Role.BYPASS: GONE, Role.POISON_N: THERE, Role.POISON_0: GONE, Role.SERIAL: THERE}
    assert answer_of(shown, Circumstances(plain_fills=FILLS)) is RULES["unwritten-read"]
    for fill in FILLS:
        assert answer_of(shown, Circumstances(plain_fills=FILLS - {fill})) is None
    carried = {Role.BYPASS: GONE, Role.POISON_N: GONE, Role.SERIAL: THERE, Role.ISOLATE: GONE}
    assert answer_of(carried, Circumstances(plain_fills=frozenset({Role.POISON_N}))) is RULES["carried-by-pool"]
    assert answer_of(carried, NOTHING_KNOWN) is None


def test_the_tables_name_what_there_is_each_thing_once() -> None:
    assert len(FAULTS) == len({(fault.kind, fault.note) for fault in FAULTS}) == 55
    assert {fault.kind for fault in FAULTS} == set(FaultKind) == MECHANISM_OF.keys()
    assert {len(fault.letters.split()) for fault in (*FAULTS, *HIDDEN_FAULTS)} == {len(COLUMNS)}
    assert len({answer.id for answer in ALL_ANSWERS}) == len(ALL_ANSWERS) == len(ANSWERS) + 1
    assert ALL_ANSWERS[-1] is HIDDEN
    mechanisms = [mechanism.id for mechanism in MECHANISMS]
    assert len(mechanisms) == len(set(mechanisms))
    assert set(MECHANISM_OF.values()) == set(mechanisms)


def test_a_variant_is_excluded_by_what_is_known_of_the_arms_and_of_the_red() -> None:
    apart, waits_not = (Role.BYPASS, "addresses", "apart"), (Role.BYPASS, "waits", "no")
    for fault in FAULTS:
        usual = {"plain_fills": False, "out_of_memory": fault.out_of_memory}
        assert fault.is_possible((), **usual)
        assert fault.is_possible((apart,), **usual) is fault.apart
        assert fault.is_possible((waits_not,), **usual) is not fault.bypass_waits
        assert fault.is_possible((), **{**usual, "plain_fills": True}) is fault.plain_fills
        assert not fault.is_possible((), plain_fills=False, out_of_memory=not fault.out_of_memory)
        assert not any(fault.is_possible((one,), **usual) for one in fault.excluded_by)
