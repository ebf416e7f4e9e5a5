"""`attribute` from the first run to the answer, in memory: faults that are known, under every arm."""

from typing import Any

import pytest

from pooldiag.model.arms import (
    STATE_WORD,
    SWITCHED_ROLES,
    Acted,
    AllocatorProfile,
    Arm,
    ArmProperty,
    PoolCounter,
    Role,
)
from pooldiag.model.attributions import Attribution, Shows, Status, WitnessKind
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.readings import Sight
from pooldiag.model.reports import AttributeReport
from pooldiag.model.runs import Environment
from tests.played.commands import BASELINE, ISOLATE, attribute_in, line
from tests.played.suite import PlayedSuite, every_second, name
from tests.played.world import World

PLAIN = (ArmProperty(name="fills_on", value="hand-out"), ArmProperty(name="ordered", value="yes"))
FOLDERS = Environment(set=(("XDG_CACHE_HOME", f"{STATE_WORD}/cache"),))
PLACEBO = Arm(role=Role.PLACEBO, environment=Environment(set=(("POOLDIAG_PLACEBO", "1"),)))
STATE = tuple(Arm(role=role, environment=FOLDERS) for role in (Role.FRESH_STATE, Role.USED_STATE))
FILLS = {Role.POISON_N, Role.POISON_0}


def variables(*roles: Role) -> frozenset[str]:
    """The variables of the switches that play these roles."""
    return frozenset(f"POOL_{role.name}" for role in roles)


SWITCHES = tuple(
    Arm(
        role=role,
        environment=Environment(set=tuple((variable, "1") for variable in variables(role))),
        properties=PLAIN if role in FILLS else (),
    )
    for role in SWITCHED_ROLES
)
ARMS = (BASELINE, *SWITCHES, ISOLATE, *STATE, PLACEBO)
KNOWN = {"names": variables(*SWITCHED_ROLES)}
REUSE = variables(Role.BYPASS, Role.QUARANTINE, Role.PER_CASE)
IN_CASE = "99"  # the victim is red unless a case that there is not ran before it: alone, too


def diagnosed(
    suite: PlayedSuite,
    *,
    text: str = "",
    facts: dict[str, object] | None = None,
    **changes: Any,  # noqa: ANN401 - fields of the settings
) -> AttributeReport:
    return attribute_in(World(suite, text=text, facts={**KNOWN, **(facts or {})}), **{"arms": ARMS, **changes})


def carried(**changes: Any) -> PlayedSuite:  # noqa: ANN401 - fields of the suite
    """A block of the second case reaches the victim by the pool."""
    cures = REUSE | variables(Role.POISON_N)
    return PlayedSuite(**{"cases": 6, "polluters": "2", "cures": cures, **changes})


FAULTS = {
    "unwritten-read": PlayedSuite(cases=6, polluters="2", cures=REUSE | variables(Role.POISON_0)),
    "race": PlayedSuite(cases=6, setters=IN_CASE, cures=variables(Role.SERIAL)),
    "carried-by-pool": carried(),
    "reused-in-case": PlayedSuite(
        cases=6, setters=IN_CASE, cures=variables(Role.BYPASS, Role.QUARANTINE, Role.POISON_N)
    ),
    "carried-outside": PlayedSuite(cases=6, polluters="2"),
    "outside-state": PlayedSuite(cases=6, keeps="XDG_CACHE_HOME", kept={"/nobody"}),
    "no-arm": PlayedSuite(cases=6, always="4"),
    "hidden-unwritten-read": PlayedSuite(cases=6, breaks=variables(Role.POISON_N)),
}


def left(attribution: Attribution) -> list[str]:
    return [candidate.mechanism for candidate in attribution.candidates]


def ran(report: AttributeReport) -> set[Role]:
    return {one.arm.role for one in report.arms if one.runs}


@pytest.mark.parametrize("answer", FAULTS)
def test_a_steady_fault_has_its_answer(answer: str) -> None:
    found = diagnosed(FAULTS[answer]).attribution
    assert (found.status, found.answer, found.mechanism) == (Status.ESTABLISHED, answer, None)
    assert found.confidence is not None
    assert found.confidence >= 0.99
    assert found.signature is not None
    assert found.signature.case == name(4 if answer == "no-arm" else 6)


def test_the_report_carries_all_answers_and_mechanisms_that_it_may_speak_of() -> None:
    report = diagnosed(carried())
    assert report.attribution.answer in {answer.id for answer in report.answers}
    assert set(left(report.attribution)) <= {mechanism.id for mechanism in report.mechanisms}


def test_an_answer_that_a_case_leaves_it_asks_for_a_bisection() -> None:
    assert diagnosed(carried()).attribution.not_established == ("which earlier case leaves it: bisect the order",)


def test_a_red_that_is_green_alone_leads_to_the_bisection_that_names_the_case() -> None:
    def purpose(suite: PlayedSuite, **changes: Any) -> str | None:  # noqa: ANN401 - fields of the settings
        found = diagnosed(suite, **changes).next
        return None if found is None else found.purpose

    report = diagnosed(carried(), bisect_alike=line("bisect"))
    assert report.next is not None
    assert report.next.line.startswith("pooldiag bisect")
    assert purpose(carried(), bisect_alike=line("bisect")) == "which case leaves it"
    assert purpose(carried()) == "green under bypass"
    assert purpose(FAULTS["reused-in-case"], bisect_alike=line("bisect")) == "green under bypass"


def test_a_red_that_nothing_clears_leads_to_a_bisection_where_its_order_was_drawn() -> None:
    def purpose(order: Order) -> str | None:
        found = diagnosed(PlayedSuite(cases=6, setters="99"), bisect_alike=line("bisect"), order=order).next
        return None if found is None else found.purpose

    needs = "which earlier case it needs, or must not have"
    assert purpose(Order(kind=OrderKind.RAND, seed=3)) == needs
    assert purpose(Order(kind=OrderKind.NAME)) == needs
    assert purpose(Order()) != needs


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_flake_is_never_said_to_be_gone_under_an_arm(seed: int) -> None:
    found = diagnosed(PlayedSuite(cases=4, setters=IN_CASE, unlucky=every_second(seed))).attribution
    assert found.answer in {None, "no-arm"}
    assert not [one for one in found.seen if one.shows is Shows.GONE]


def test_a_red_that_any_variable_moves_has_no_answer() -> None:
    moved = carried(cures=frozenset({"POOLDIAG_PLACEBO", *variables(*SWITCHED_ROLES)}))
    found = diagnosed(moved).attribution
    assert (found.status, found.answer, found.mechanism) == (Status.UNRESOLVED, None, None)
    assert Shows.THERE not in {one.shows for one in found.seen if one.role is Role.PLACEBO}


def test_an_arm_that_is_inert_is_not_run_and_the_report_says_so() -> None:
    names = variables(*SWITCHED_ROLES) - variables(Role.SERIAL)
    report = diagnosed(carried(), facts={"names": names})
    assert Role.SERIAL not in ran(report)
    assert next(one.acted for one in report.arms if one.arm.role is Role.SERIAL) is Acted.INERT
    assert (Role.SERIAL, "it is inert") in [(one.role, one.reason) for one in report.attribution.not_asked]
    assert report.attribution.answer is None
    assert Role.SERIAL in report.attribution.separators


def test_an_arm_that_the_user_left_out_says_so() -> None:
    some = tuple(arm for arm in ARMS if arm.role is not Role.SERIAL)
    found = diagnosed(carried(), arms=some, left_out=(Role.SERIAL,)).attribution
    assert (Role.SERIAL, "--arms leaves it out") in [(one.role, one.reason) for one in found.not_asked]
    assert found.answer is None


def test_bypass_exact_and_per_case_alone_settle_nothing() -> None:
    few = {Role.BASELINE, Role.BYPASS, Role.EXACT, Role.PER_CASE, Role.PLACEBO}
    found = diagnosed(carried(), arms=tuple(arm for arm in ARMS if arm.role in few)).attribution
    assert (found.status, found.answer, found.mechanism) == (Status.UNRESOLVED, None, None)
    assert {Role.SERIAL, Role.POISON_N} <= set(found.separators)


# --- facts and hints --------------------------------------------------------------------------------------------------

SPENT = "terminate called after throwing an instance of 'std::bad_alloc'\n"


def test_a_red_that_speaks_of_its_memory_is_no_race_and_hints_at_memory_that_is_kept() -> None:
    assert diagnosed(FAULTS["race"]).attribution.answer == "race"
    found = diagnosed(FAULTS["race"], text=SPENT).attribution
    assert found.answer is None
    (hint,) = (one for one in found.witnesses if one.id == "out-of-memory")
    assert (hint.kind, hint.speaks_for) == (WitnessKind.HINT, ("memory-kept",))
    assert "bad_alloc" in hint.text
    kept = diagnosed(carried(cures=REUSE | variables(Role.POISON_N)), text=SPENT).attribution
    assert left(kept)[0] == "memory-kept"


COUNTED = AllocatorProfile(
    name="played", title="a pool", source="a test", counters=(PoolCounter(name="hits", pattern=r"hits=(\d+)"),)
)


def test_a_pool_that_handed_nothing_out_twice_is_no_reuse() -> None:
    reused = {"cross-device-reuse", "use-after-release", "two-owners"}
    plain = diagnosed(carried(), text="hits=3\n", profile=COUNTED).attribution
    assert reused <= set(left(plain))
    found = diagnosed(carried(), text="hits=0\n", profile=COUNTED).attribution
    assert found.answer == "carried-by-pool"
    assert not reused & set(left(found))
    assert {"access-past-end", "pool-state"} <= set(left(found))
    assert [one.id for one in found.witnesses] == ["no-hits"]


def test_a_witness_that_is_left_out_is_not_heard() -> None:
    found = diagnosed(carried(), text="hits=0\n", profile=COUNTED, left_out_witnesses=("no-hits",)).attribution
    assert found.witnesses == ()
    assert "cross-device-reuse" in left(found)


def guarded(*cures: Role) -> PlayedSuite:
    """An access past the end of a block, which a guard shows."""
    return carried(
        setters=IN_CASE,
        cures=variables(Role.BYPASS, Role.QUARANTINE, Role.POISON_N, *cures),
        crashes=variables(Role.GUARD),
    )


def test_a_crash_under_a_guard_is_a_finding_and_the_cause_once_a_pad_clears_the_red() -> None:
    cause = diagnosed(guarded(Role.PAD)).attribution
    assert (cause.answer, cause.mechanism) == ("reused-in-case", "access-past-end")
    assert left(cause)[0] == "access-past-end"
    finding = diagnosed(guarded()).attribution
    assert (finding.answer, finding.mechanism) == ("reused-in-case", None)
    for found in (cause, finding):
        (fact,) = (one for one in found.witnesses if one.id == "guard")
        assert fact.kind is WitnessKind.FACT
        assert "SIGSEGV" in fact.text


def test_a_guard_runs_on_the_victim_alone_first_and_on_all_only_where_that_shows_nothing() -> None:
    def selected(suite: PlayedSuite) -> list[int | None]:
        report = diagnosed(suite)
        (guard,) = (one for one in report.arms if one.arm.role is Role.GUARD)
        return [run.outcome.selected for run in guard.runs]

    assert selected(guarded(Role.PAD)) == [1]
    assert selected(carried()) == [1, 6]


# --- a first run unlike all later ones --------------------------------------------------------------------------------


def test_a_cache_that_the_first_run_leaves_is_state_before_the_run() -> None:
    report = diagnosed(PlayedSuite(cases=6, keeps="XDG_CACHE_HOME"))
    assert report.attribution.answer == "outside-state"
    assert report.arms[0].sights[0] is Sight.GREEN


def test_what_the_first_run_left_elsewhere_is_open_and_a_hint() -> None:
    report = diagnosed(PlayedSuite(cases=6, keeps="ANOTHER_FOLDER"))
    assert (report.attribution.status, report.attribution.answer) == (Status.UNRESOLVED, None)
    assert any("something that the first run left behind may be the cause" in note for note in report.session.notes)


# --- a green baseline -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.BYPASS, Role.QUARANTINE])
def test_a_new_red_without_the_pool_is_open_and_its_absence_is_not_a_cure(role: Role) -> None:
    report = diagnosed(PlayedSuite(cases=4, breaks=variables(role)))
    found = report.attribution
    assert (found.status, found.answer) == (Status.UNRESOLVED, None)
    assert any("not a cure" in text for text in found.not_established)
    assert report.next is None or "under bypass" not in report.next.purpose


def test_a_green_asks_only_what_shows_what_a_pool_hides() -> None:
    report = diagnosed(PlayedSuite(cases=4))
    assert report.attribution.status is Status.GREEN
    assert ran(report) == {Role.BASELINE, Role.BYPASS, Role.POISON_N, Role.QUARANTINE}
