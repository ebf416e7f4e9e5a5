"""Plain elimination: which arm is next, and what the arms leave standing."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.attribution.elimination import conclude, next_role
from pooldiag.attribution.evidence import RoleEvidence
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.model.arms import Acted, Role
from pooldiag.model.attributions import Attribution, Mechanism, Prediction, Status
from pooldiag.model.readings import Sight, Signature, SignatureKind

RED = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case="victim", place="test.cpp:20")
SIGHTS = {"R": Sight.SAME_RED, "G": Sight.GREEN, "N": Sight.NEW_RED, "-": Sight.NOTHING}
ROLES = (
    Role.BASELINE,
    Role.BYPASS,
    Role.EXACT,
    Role.PER_CASE,
    Role.POISON_N,
    Role.POISON_0,
    Role.SERIAL,
    Role.ISOLATE,
)


def evidence(
    seen: Mapping[Role, str], acted: Mapping[Role, Acted] | None = None, roles: tuple[Role, ...] = ROLES
) -> tuple[RoleEvidence, ...]:
    states = acted or {}
    return tuple(
        RoleEvidence(
            role=role,
            acted=None if role is Role.BASELINE else states.get(role, Acted.PROVEN),
            runs=tuple(f"{number}-{role}" for number, _ in enumerate(seen.get(role, ""))),
            sights=tuple(SIGHTS[letter] for letter in seen.get(role, "")),
        )
        for role in roles
    )


def row(letters: str) -> dict[Role, str]:
    """Read one letter a role in the order of ROLES; the baseline's run counts twice."""
    seen = dict(zip(ROLES, letters.split(), strict=True))
    return seen | {Role.BASELINE: seen[Role.BASELINE] * 2}


def verdict(seen: Mapping[Role, str], acted: Mapping[Role, Acted] | None = None) -> Attribution:
    signature = RED if "R" in seen[Role.BASELINE] else None
    return conclude(evidence(seen, acted), signature=signature)


def simulate(mechanism: Mechanism, free: Prediction, roles: tuple[Role, ...] = ROLES) -> dict[Role, str]:
    """Play a deterministic target with this mechanism until the strategy asks for no more runs."""
    seen: dict[Role, str] = {}
    for _ in range(100):
        role = next_role(evidence(seen, roles=roles))
        if role is None:
            return seen
        shown = mechanism.predictions[role]
        seen[role] = seen.get(role, "") + str(free if shown is Prediction.ANYTHING else shown)
    raise AssertionError("the strategy never stops")


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.id)
@pytest.mark.parametrize("free", [Prediction.GREEN, Prediction.SAME_RED])
def test_every_deterministic_mechanism_stays_among_its_candidates(mechanism: Mechanism, free: Prediction) -> None:
    said = verdict(simulate(mechanism, free))
    assert mechanism.id in [candidate.mechanism for candidate in said.candidates]
    fixed = all(shown is not Prediction.ANYTHING for shown in mechanism.predictions.values())
    if fixed:
        assert (said.status, said.mechanism) == (Status.ESTABLISHED, mechanism.id)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.id)
def test_a_deterministic_mechanism_costs_two_baselines_and_one_run_an_arm(mechanism: Mechanism) -> None:
    runs = sum(map(len, simulate(mechanism, Prediction.GREEN).values()))
    assert runs == {"hidden-use-after-free": 6, "hidden-stale-read": 5}.get(mechanism.id, 9)


def test_bypass_exact_and_per_case_alone_leave_three_and_name_the_arms_that_separate_them() -> None:
    seen = {Role.BASELINE: "RR", Role.BYPASS: "G", Role.EXACT: "R", Role.PER_CASE: "G"}
    said = verdict(seen)
    assert said.status is Status.UNRESOLVED
    assert said.mechanism is None
    left = {candidate.mechanism for candidate in said.candidates}
    assert {"cross-device-reuse", "stale-read", "stream-race"} <= left
    assert {Role.POISON_N, Role.SERIAL} <= set(said.separators)


def test_every_ruled_out_mechanism_names_an_arm_and_a_run_that_contradicts_it() -> None:
    seen = row("R G R G G R R G")
    said = verdict(seen)
    assert said.mechanism == "cross-device-reuse"
    rows = {mechanism.id: mechanism.predictions for mechanism in MECHANISMS}
    assert {entry.mechanism for entry in said.ruled_out} == set(rows) - {"cross-device-reuse"}
    for entry in said.ruled_out:
        assert rows[entry.mechanism][entry.arm] is entry.expected
        assert entry.expected is not entry.saw
        assert entry.run.endswith(f"-{entry.arm}")


def test_an_inert_arm_carries_nothing() -> None:
    seen = row("R R R G G R R G")  # bypass seems to stay red
    assert verdict(seen).mechanism == "none"
    said = verdict(seen, {Role.BYPASS: Acted.INERT})
    assert said.mechanism == "cross-device-reuse"
    assert Role.BYPASS not in {entry.arm for entry in said.ruled_out}


@given(st.permutations(list("RRRRG")))
def test_a_baseline_that_disagrees_with_itself_is_unresolved_and_its_rate_is_told(order: list[str]) -> None:
    seen = row("R G R G G R R G") | {Role.BASELINE: "".join(order)}
    said = verdict(seen)
    assert said.status is Status.UNRESOLVED
    assert said.mechanism is None
    assert any("4/5 baseline runs" in text for text in said.not_established)


def test_a_green_of_a_flaky_target_rules_nothing_out_but_a_red_does() -> None:
    said = verdict({Role.BASELINE: "RGRRR", Role.BYPASS: "G", Role.EXACT: "R"})
    assert {entry.arm for entry in said.ruled_out} == {Role.EXACT, Role.BASELINE}
    assert all(entry.saw is Prediction.SAME_RED for entry in said.ruled_out)


def test_a_baseline_that_disagrees_is_run_five_times() -> None:
    assert next_role(evidence({Role.BASELINE: "RG"})) is Role.BASELINE
    assert next_role(evidence({Role.BASELINE: "RGRR"})) is Role.BASELINE
    assert next_role(evidence({Role.BASELINE: "RGRRR"})) is Role.BYPASS


def test_a_baseline_in_which_the_victim_was_not_reached_once_disagrees_too() -> None:
    assert next_role(evidence({Role.BASELINE: "R-"})) is Role.BASELINE


def test_results_that_no_mechanism_explains_are_none_and_unresolved() -> None:
    said = verdict(row("R G R G R R R G"))  # poison-n red and poison-0 red: no row has both
    assert (said.status, said.mechanism, said.candidates) == (Status.UNRESOLVED, "none", ())


def test_a_new_red_is_no_evidence_for_the_old_one() -> None:
    said = verdict(row("R N R G G R R G"))
    assert said.mechanism == "cross-device-reuse"
    assert not [entry for entry in said.ruled_out if entry.arm is Role.BYPASS]
    assert any(text.startswith("bypass: 1/1 runs show another red") for text in said.not_established)


def test_a_void_arm_says_nothing() -> None:
    said = verdict(row("R - R G G R R G"))
    assert not [entry for entry in said.ruled_out if entry.arm is Role.BYPASS]


def test_green_twice_asks_what_the_pool_hides_and_is_green() -> None:
    assert next_role(evidence({Role.BASELINE: "GG"})) is Role.BYPASS
    assert next_role(evidence({Role.BASELINE: "GG", Role.BYPASS: "G"})) is Role.POISON_N
    seen = {Role.BASELINE: "GG", Role.BYPASS: "G", Role.POISON_N: "G"}
    assert next_role(evidence(seen)) is None
    assert verdict(seen).status is Status.GREEN


def test_a_new_red_on_a_green_baseline_is_asked_again_and_then_established() -> None:
    once = {Role.BASELINE: "GG", Role.BYPASS: "N"}
    assert next_role(evidence(once)) is Role.BYPASS
    said = verdict({Role.BASELINE: "GG", Role.BYPASS: "NN", Role.POISON_N: "NN"})
    assert (said.status, said.mechanism) == (Status.ESTABLISHED, "hidden-use-after-free")


def test_a_new_red_that_is_not_there_again_is_not_green_and_not_established() -> None:
    said = verdict({Role.BASELINE: "GG", Role.BYPASS: "NG", Role.POISON_N: "G"})
    assert (said.status, said.mechanism) == (Status.UNRESOLVED, None)


def test_a_new_red_of_an_arm_that_did_not_act_is_not_green_either() -> None:
    said = verdict({Role.BASELINE: "GG", Role.BYPASS: "NN", Role.POISON_N: "G"}, {Role.BYPASS: Acted.UNPROVEN})
    assert said.status is Status.UNRESOLVED


def test_repeat_runs_every_arm_so_often() -> None:
    seen: dict[Role, str] = {}
    while (role := next_role(evidence(seen), repeat=3)) is not None:
        seen[role] = seen.get(role, "") + "R"
    assert set(seen) == set(ROLES)
    assert {len(letters) for letters in seen.values()} == {3}
