"""What all runs establish: what is seen, what is left below an answer, and which mechanism a fact names."""

from dataclasses import replace

import pytest

from pooldiag.attribution.conclusions import conclude
from pooldiag.attribution.engine import Stop, StopReason, StopRule, believe
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.model.arms import Acted, ArmProperty, Role
from pooldiag.model.attributions import Attribution, Shows, Status, Witness, WitnessKind
from pooldiag.model.readings import Sight
from tests.attribution.letters import FEW, MOST, PLAIN_FILLS, RED, Given, arms, concluded, diagnosed, known_of

ORDER = [mechanism.id for mechanism in MECHANISMS]
CARRIED = {
    **dict.fromkeys(MOST, "RR"),
    **dict.fromkeys(("bypass", "poison_n", "isolate", "quarantine", "per_case"), "GGG"),
    "used_state": "",
}
UNWRITTEN = {
    **dict.fromkeys(MOST, "RR"),
    **dict.fromkeys(("bypass", "poison_0", "isolate", "quarantine", "per_case"), "GGG"),
    "used_state": "",
}
UNCHANGED = {**dict.fromkeys(MOST, "RR"), "used_state": ""}


def left(attribution: Attribution) -> list[str]:
    return [candidate.mechanism for candidate in attribution.candidates]


def hint(*, speaks_for: tuple[str, ...] = (), speaks_against: tuple[str, ...] = ()) -> Witness:
    return Witness(
        id="a",
        kind=WitnessKind.HINT,
        text="seen",
        source="a test",
        speaks_for=speaks_for,
        speaks_against=speaks_against,
    )


def fact(*speaks_for: str, against: tuple[str, ...] = (), needs: tuple[tuple[Role, Shows], ...] = ()) -> Witness:
    return replace(hint(speaks_for=speaks_for, speaks_against=against), kind=WitnessKind.FACT, needs=needs)


# --- what is seen, and what was not asked -----------------------------------------------------------------------------


def test_what_is_seen_has_a_confidence_and_the_runs_that_show_it() -> None:
    found = {one.role: one for one in concluded(arms(**CARRIED)).seen}
    assert (found[Role.BYPASS].shows, found[Role.BYPASS].runs) == (Shows.GONE, 3)
    assert (found[Role.SERIAL].shows, found[Role.SERIAL].runs) == (Shows.THERE, 2)
    assert all(0.99 <= one.confidence <= 1 for one in found.values())
    assert list(found) == [role for role in Role if role in found]
    assert Role.BASELINE not in found


def test_what_is_seen_holds_together_at_the_confidence_that_was_asked_for() -> None:
    found = concluded(arms(**CARRIED), plan=StopRule(confidence=0.9))
    assert len(found.seen) >= len(concluded(arms(**CARRIED), plan=StopRule(confidence=0.999)).seen)
    assert {Role.BYPASS, Role.POISON_N, Role.ISOLATE, Role.SERIAL} <= {one.role for one in found.seen}


@pytest.mark.parametrize("gone", [("serial",), ("isolate",), ("bypass", "poison_n", "isolate"), ("bypass", "poison_0")])
def test_all_that_is_seen_holds_at_once_and_not_each_by_itself(gone: tuple[str, ...]) -> None:
    found = diagnosed(**{**dict.fromkeys(MOST, "R"), **dict.fromkeys(gone, "G")})
    believed = believe(found.evidence, known_of(found.evidence))
    assert believed is not None
    assert found.attribution.answer is not None
    seen = {one.role: one.shows for one in found.attribution.seen}
    assert believed.posterior.probability(seen) >= 0.99


def test_nothing_is_seen_to_be_gone_by_a_single_green_and_no_answer_rests_on_one() -> None:
    loose = StopRule(confidence=0.5)
    assert concluded(arms(**CARRIED), plan=loose).answer == "carried-by-pool"
    assert concluded(arms(**{**CARRIED, "bypass": "G"}), plan=loose).answer is None
    many = {**dict.fromkeys(UNCHANGED, "R" * 12), "used_state": ""}
    assert Role.EXACT not in {one.role for one in concluded(arms(**{**many, "exact": "G"})).seen}
    assert Role.EXACT in {one.role for one in concluded(arms(**{**many, "exact": "GGGGG"})).seen}


def test_an_arm_that_is_no_evidence_is_not_seen_and_moves_nothing() -> None:
    without = concluded(arms(**{name: text for name, text in CARRIED.items() if name != "exact"}))
    for state in (Acted.INERT, Acted.UNPROVEN):
        found = concluded(arms(Given(acted={Role.EXACT: state}), **{**CARRIED, "exact": "GGGG"}))
        assert (found.seen, found.candidates, found.confidence) == (
            without.seen,
            without.candidates,
            without.confidence,
        )


def test_a_new_red_and_a_void_run_move_nothing_and_the_new_red_is_told() -> None:
    plain = concluded(arms(**CARRIED))
    odd = concluded(arms(**{**CARRIED, "exact": "RNR-"}))
    assert (odd.seen, odd.candidates) == (plain.seen, plain.candidates)
    assert "exact: 1/4 runs show another red, which is no evidence for this one" in odd.not_established
    assert not any("another red" in text for text in plain.not_established)


def test_an_arm_that_was_not_asked_has_its_reason() -> None:
    said = {**CARRIED, "fresh_state": "", "exact": "", "poison_0": ""}
    found = concluded(arms(Given(acted={Role.EXACT: Acted.INERT}), **said))
    reasons = {one.role: one.reason for one in found.not_asked}
    assert reasons[Role.EXACT] == "it is inert"
    assert reasons[Role.FRESH_STATE] == "would not tell"
    assert Role.USED_STATE not in reasons
    assert Role.BYPASS not in reasons
    short = diagnosed(Given(plan=StopRule(max_runs=3)), **dict.fromkeys(MOST, "R")).attribution
    assert {one.role: one.reason for one in short.not_asked}[Role.SERIAL] == "the runs ended before"


def test_an_inert_arm_is_told_where_only_the_baseline_ran_too() -> None:
    found = concluded(arms(Given(acted={Role.BYPASS: Acted.INERT}), baseline="RR", bypass=""))
    assert found.status is Status.UNRESOLVED
    assert [(one.role, one.reason) for one in found.not_asked] == [(Role.BYPASS, "it is inert")]


# --- candidates -------------------------------------------------------------------------------------------------------


def test_below_an_answer_are_the_mechanisms_that_the_arms_leave_of_those_that_it_covers() -> None:
    found = concluded(arms(**CARRIED))
    assert found.answer == "carried-by-pool"
    assert left(found) == [name for name in ORDER if name in left(found)]
    assert {"cross-device-reuse", "use-after-release", "access-past-end", "two-owners"} <= set(left(found))
    assert not {"stream-race", "timing-race", "case-state", "independent"} & set(left(found))
    assert all(one.posterior is not None and 0 <= one.posterior <= 1 for one in found.candidates)


def test_exact_sizes_that_leave_the_red_leave_no_read_of_the_rounding() -> None:
    known = {Role.EXACT: (ArmProperty(name="rounds_to", value="1"),)}
    exact = arms(Given(properties={**PLAIN_FILLS, **known}), **UNWRITTEN)
    assert "class-slack" not in left(concluded(exact))
    assert "class-slack" in left(concluded(arms(**UNWRITTEN)))


def test_hints_order_the_candidates_and_establish_nothing() -> None:
    plain = concluded(arms(**CARRIED))
    for name in ("two-owners", "pool-state"):
        spoken = concluded(arms(**CARRIED), witnesses=(hint(speaks_for=(name,)),))
        assert left(spoken) == [name, *(one for one in left(plain) if one != name)]
        assert (spoken.mechanism, spoken.answer) == (None, plain.answer)
        against = concluded(arms(**CARRIED), witnesses=(hint(speaks_against=(name,)),))
        assert left(against) == [*(one for one in left(plain) if one != name), name]
        assert spoken.witnesses == (hint(speaks_for=(name,)),)


def test_two_hints_weigh_more_than_one_and_one_for_and_one_against_nothing() -> None:
    two = hint(speaks_for=("pool-state",))
    first = concluded(arms(**CARRIED), witnesses=(hint(speaks_for=("two-owners",)), two, two))
    assert left(first)[:2] == ["pool-state", "two-owners"]
    torn = concluded(arms(**CARRIED), witnesses=(two, hint(speaks_against=("pool-state",))))
    assert left(torn) == left(concluded(arms(**CARRIED)))


def test_a_hint_brings_nothing_back_that_the_arms_exclude() -> None:
    spoken = concluded(arms(**CARRIED), witnesses=(hint(speaks_for=("stream-race",)),))
    assert "stream-race" not in left(spoken)


def test_what_a_fact_speaks_against_is_no_candidate() -> None:
    against = ("cross-device-reuse", "use-after-release", "two-owners")
    found = concluded(arms(**CARRIED), witnesses=(fact(against=against),))
    assert left(found) == [one for one in left(concluded(arms(**CARRIED))) if one not in against]
    assert found.answer == "carried-by-pool"
    assert found.mechanism is None


def test_each_mechanism_that_is_ruled_out_names_a_run_of_an_arm_that_contradicts_it() -> None:
    evidence = arms(**CARRIED)
    found = concluded(evidence)
    out = {entry.mechanism for entry in found.ruled_out}
    assert {"stream-race", "timing-race", "stale-read-in-case", "case-state"} <= out
    assert not out & set(left(found))
    runs = {one.role: dict(zip(one.runs, one.sights, strict=True)) for one in evidence}
    for entry in found.ruled_out:
        assert runs[entry.arm][entry.run].value == entry.saw.value
        assert entry.expected is not entry.saw


def test_what_an_arm_contradicts_is_told_by_the_arm_that_does_so_most() -> None:
    found = {entry.mechanism: entry for entry in concluded(arms(**CARRIED)).ruled_out}
    assert found["stream-race"].arm is Role.SERIAL
    assert found["case-state"].arm in {Role.BYPASS, Role.POISON_N, Role.QUARANTINE, Role.PER_CASE}


# --- what an answer leaves open ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("isolate", "words"),
    [
        ("GGG", "alone it is green: an earlier case left these bytes"),
        ("RRR", "alone it is red as well: they are of the same case, or of a fixture"),
        ("", None),
    ],
)
def test_isolation_narrows_an_answer_about_unwritten_bytes(isolate: str, words: str | None) -> None:
    found = concluded(arms(**{**UNWRITTEN, "isolate": isolate}))
    assert (found.answer, found.narrowed) == ("unwritten-read", words)
    assert concluded(arms(**CARRIED)).narrowed is None


def test_what_a_bisection_tells_is_open_before_one_and_not_after() -> None:
    asked = "which earlier case leaves it: bisect the order"
    outside = {**UNCHANGED, "isolate": "GGGG"}
    for letters in (CARRIED, outside):
        assert concluded(arms(**letters)).not_established == (asked,)
        assert concluded(arms(**letters), plan=StopRule(bisected=True)).not_established == ()
    assert concluded(arms(**UNWRITTEN)).not_established == ()


def test_no_arm_names_what_an_arm_that_did_not_act_would_have_told() -> None:
    def open_without(*names: str) -> tuple[str, ...]:
        found = concluded(arms(**{name: text for name, text in UNCHANGED.items() if name not in names}))
        assert found.answer == "no-arm"
        return found.not_established

    race = "a race: serial did not act"
    reuse = "a use after release: no quarantine acted, and the bypass may give an address out again"
    state = "state that is there before the run: fresh-state did not act"
    assert open_without() == ()
    assert open_without("serial") == (race,)
    assert open_without("quarantine") == (reuse,)
    assert open_without("fresh_state", "used_state") == (state,)
    assert open_without("serial", "quarantine", "fresh_state") == (race, reuse, state)


def test_a_bypass_that_keeps_addresses_apart_excludes_a_use_after_release_as_a_quarantine_does() -> None:
    letters = {**dict.fromkeys(FEW, "RRR"), **dict.fromkeys(("serial", "fresh_state", "placebo"), "RRR")}
    for value, is_open in (("apart", False), ("returned", True)):
        properties = {Role.BYPASS: (ArmProperty(name="addresses", value=value),)}
        found = concluded(arms(Given(properties=properties), **letters))
        assert found.answer == "no-arm"
        assert any("use after release" in text for text in found.not_established) is is_open


def test_an_open_answer_names_the_arms_that_would_decide_and_an_answer_none() -> None:
    few = {"baseline": "RR", "bypass": "GGG", "exact": "RR", "per_case": "GGG", "placebo": "RR"}
    found = concluded(arms(**few))
    assert (found.answer, found.status) == (None, Status.UNRESOLVED)
    assert {Role.SERIAL, Role.POISON_N, Role.ISOLATE} <= set(found.separators)
    assert not {Role.PAD, Role.PLACEBO, Role.BYPASS} & set(found.separators)
    assert concluded(arms(**few | {"placebo": ""})).separators == found.separators
    unsure = concluded(arms(**{**dict.fromkeys(MOST, "R"), "used_state": ""}), plan=StopRule(confidence=0.99999))
    assert (unsure.answer, unsure.separators) == (None, ())
    short = {name: text for name, text in CARRIED.items() if name not in {"quarantine", "per_case", "exact"}}
    settled = concluded(arms(**short))
    assert (settled.answer, settled.separators) == ("carried-by-pool", ())


def test_the_rate_is_that_of_the_baseline_and_of_all_arms_that_show_the_red_as_it_does() -> None:
    found = concluded(arms(**CARRIED))
    there = [one for one in found.seen if one.shows is Shows.THERE]
    assert found.rate is not None
    assert (found.rate.red, found.rate.runs) == (2 + 2 * len(there),) * 2


# --- facts ------------------------------------------------------------------------------------------------------------

GUARD = fact("access-past-end", needs=((Role.PAD, Shows.GONE),))


def test_a_fact_names_a_mechanism_once_the_arm_that_it_needs_is_sure() -> None:
    for pad, mechanism in (("", None), ("G", None), ("RR", None), ("GGGGG", "access-past-end")):
        found = concluded(arms(**CARRIED, guard="N", pad=pad), witnesses=(GUARD,))
        assert found.mechanism == mechanism
        assert found.answer == "carried-by-pool"


def test_a_fact_that_needs_an_arm_that_there_is_not_or_that_does_not_act_names_nothing() -> None:
    assert concluded(arms(**CARRIED, guard="N"), witnesses=(GUARD,)).mechanism is None
    inert = arms(Given(acted={Role.PAD: Acted.INERT}), **CARRIED, guard="N", pad="GGGGG")
    assert concluded(inert, witnesses=(GUARD,)).mechanism is None


def test_a_fact_names_no_mechanism_that_the_arms_exclude() -> None:
    racing = {**dict.fromkeys(MOST, "RRRR"), "serial": "GGGGG", "used_state": "", "guard": "N", "pad": "GGGGG"}
    found = concluded(arms(**racing), witnesses=(GUARD,))
    assert "access-past-end" not in left(found)
    assert found.mechanism is None


def test_a_hint_of_the_same_words_names_nothing() -> None:
    found = concluded(arms(**CARRIED, guard="N", pad="GGGGG"), witnesses=(replace(GUARD, kind=WitnessKind.HINT),))
    assert found.mechanism is None


def test_a_fact_that_speaks_for_two_names_neither() -> None:
    assert concluded(arms(**CARRIED), witnesses=(fact("access-past-end", "class-slack"),)).mechanism is None


def test_a_fact_establishes_a_mechanism_where_the_arms_give_no_answer() -> None:
    few = {"baseline": "RR", "bypass": "GGG", "guard": "N", "pad": "GGGGG", "placebo": "RR"}
    found = concluded(arms(**few), witnesses=(GUARD,))
    assert (found.status, found.answer, found.mechanism) == (Status.ESTABLISHED, None, "access-past-end")
    assert found.confidence is None


# --- a green baseline -------------------------------------------------------------------------------------------------


def test_a_green_baseline_is_green_once_every_arm_that_can_tell_was_asked() -> None:
    green = concluded(arms(baseline="GG", bypass="G", poison_n="G", quarantine="G"))
    assert (green.status, green.signature) == (Status.GREEN, None)
    unasked = concluded(arms(baseline="GG", bypass="G", poison_n="", quarantine="G"))
    assert (unasked.status, unasked.not_established) == (Status.UNRESOLVED, ("green: poison-n was not asked",))
    inert = arms(Given(acted={Role.POISON_N: Acted.INERT}), baseline="GG", bypass="G", poison_n="")
    assert concluded(inert).status is Status.GREEN


def test_a_red_of_an_arm_that_is_no_evidence_is_not_green() -> None:
    odd = RoleEvidence(role=Role.BYPASS, acted=Acted.UNPROVEN, runs=("a",), sights=(Sight.NEW_RED,))
    found = concluded((*arms(baseline="GG", poison_n="G"), odd))
    assert found.status is Status.UNRESOLVED
    assert any("bypass: 1/1 runs show another red" in text for text in found.not_established)


def test_the_report_says_why_the_runs_ended() -> None:
    evidence = arms(baseline="RR")
    stop = Stop(reason=StopReason.RUNS, said=(2,))
    known = known_of(evidence)
    found = conclude(evidence, signature=RED, plan=StopRule(), known=known, stop=stop)
    assert (found.rule, found.status, found.signature) == ("2 runs are spent", Status.UNRESOLVED, RED)
