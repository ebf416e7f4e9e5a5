"""Facts and hints: each is read from a scene that has it, and from none that has not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.witnesses import WITNESS_IDS, WITNESSES, Scene, out_of_memory, read_witnesses, scene_of
from pooldiag.model.arms import Arm, Role
from pooldiag.model.attributions import Shows, WitnessKind
from pooldiag.model.cases import Case
from pooldiag.model.counts import Finding
from pooldiag.model.outcomes import CaseStatus, Outcome, OutputFile
from pooldiag.model.readings import Reading, RedPlace, RunReading, Sight, Signature, SignatureKind
from pooldiag.model.reports import ArmResult, Run
from pooldiag.model.runs import Completed
from tests.builders import census, completed, outcome, result, signalled

FAILED = Signature(kind=SignatureKind.FAILURE, case="victim", place=RedPlace(text="test.cpp:20"))
CRASHED = replace(FAILED, kind=SignatureKind.CRASH, signal="SIGSEGV")
OF_BASELINE = (Sight.SAME_RED, Sight.SAME_RED)


def ended(
    *before: str,
    victim: str = "victim",
    message: str | None = None,
    end: Completed | None = None,
    **facts: Any,  # noqa: ANN401 - fields of an Outcome
) -> Outcome:
    """A run in which the victim failed, behind these cases."""
    failed = result(Case(name=victim), CaseStatus.FAILED, message=message)
    return outcome(*(result(Case(name=name)) for name in before), failed, end=end or completed(1), **facts)


def arm_result(
    role: Role, sights: Sequence[Sight], *outcomes: Outcome, signatures: tuple[Signature, ...] = ()
) -> ArmResult:
    """An arm whose runs look like this; the last outcome is that of all later runs."""
    arm = Arm(role=role)
    shown = [outcomes[min(number, len(outcomes) - 1)] if outcomes else ended() for number, _ in enumerate(sights)]
    runs = tuple(
        Run(
            id=f"{number:02d}-{role}",
            arm=arm,
            outcome=one,
            reading=RunReading(run=f"{number:02d}-{role}", reading=Reading.RED, signatures=signatures),
            seconds=0.1,
        )
        for number, one in enumerate(shown, 1)
    )
    return ArmResult(arm=arm, acted=None, why="a test", runs=runs, sights=tuple(sights))


def scene(*outcomes: Outcome, signature: Signature = FAILED, others: Sequence[ArmResult] = ()) -> Scene:
    """A scene with two red baselines, and other arms."""
    return Scene(signature=signature, results=(arm_result(Role.BASELINE, OF_BASELINE, *outcomes), *others))


def crash_in(role: Role, case: str | None = "victim", signal: str = "SIGSEGV") -> ArmResult:
    found = Signature(kind=SignatureKind.CRASH, signal=signal, case=case, place=RedPlace(text="another"))
    return arm_result(role, (Sight.NEW_RED,), signatures=(found,))


def with_findings(*rules: str) -> Outcome:
    found = tuple(Finding(rule=rule, text="one pattern", confidence="high") for rule in rules)
    return ended(outputs=(OutputFile(path="out.bin", census=replace(census(), findings=found)),))


STEADY = Scene(signature=FAILED, results=(arm_result(Role.BASELINE, (Sight.SAME_RED,) * 30),))
SCENES: Mapping[str, tuple[Sequence[Scene], Sequence[Scene]]] = {
    "guard": (
        [scene(others=[crash_in(Role.GUARD)]), scene(others=[crash_in(Role.GUARD, None, "SIGBUS")])],
        [
            scene(others=[crash_in(Role.PAD)]),
            scene(others=[crash_in(Role.GUARD, signal="SIGABRT")]),
            scene(others=[arm_result(Role.GUARD, (Sight.SAME_RED,), signatures=(CRASHED,))]),
        ],
    ),
    "no-hits": (
        [scene(ended(counters={"hits": 0}))],
        [
            scene(),
            scene(ended(counters={"hits": 0}), ended(counters={"hits": 1})),
            scene(ended(counters={"misses": 0})),
            scene(ended(counters={"hits": 0}, end=signalled(11))),
        ],
    ),
    "out-of-memory": (
        [
            scene(ended(message="CHECK( error == cudaErrorMemoryAllocation )")),
            scene(ended(message="HIP out of memory. Tried to allocate 2 GiB")),
            scene(ended(text_marks=("terminate called after throwing an instance of 'std::bad_alloc'",))),
        ],
        [scene(ended(message="CHECK( y == 2 )")), scene(), scene(ended(message="memory differs at 3"))],
    ),
    "crash": ([scene(signature=CRASHED)], [scene(), scene(signature=replace(CRASHED, signal="SIGABRT"))]),
    "crash-under-bypass": (
        [scene(others=[crash_in(Role.BYPASS)])],
        [
            scene(others=[crash_in(Role.BYPASS, "another case")]),
            scene(others=[crash_in(Role.SERIAL)]),
            scene(others=[arm_result(Role.BYPASS, (Sight.NEW_RED,), signatures=(FAILED,))]),
        ],
    ),
    "crash-under-quarantine": (
        [scene(others=[crash_in(Role.QUARANTINE)])],
        [scene(others=[crash_in(Role.QUARANTINE, "another case")]), scene(others=[crash_in(Role.BYPASS)])],
    ),
    "speaks-of-the-pool": (
        [
            scene(ended(message="CHECK( pool.stats().hits == 1 )")),
            scene(ended(victim="pool keeps count"), signature=replace(FAILED, case="pool keeps count")),
        ],
        [scene(ended(message="CHECK( y == 2 )")), scene(ended(message="CHECK( spool == 2 )")), scene()],
    ),
    "devices-by-name": (
        [
            scene(ended("forward (CPU)", victim="forward (CUDA)"), signature=replace(FAILED, case="forward (CUDA)")),
            scene(ended("on gpu", victim="on the host"), signature=replace(FAILED, case="on the host")),
        ],
        [
            scene(ended("forward (CPU)")),
            scene(ended("on cuda", victim="on a gpu"), signature=replace(FAILED, case="on a gpu")),
            scene(ended("parses", victim="on a gpu"), signature=replace(FAILED, case="on a gpu")),
            scene(ended("on a gpu", victim="gpu to cpu"), signature=replace(FAILED, case="gpu to cpu")),
            scene(ended("cpu to gpu", victim="on a gpu"), signature=replace(FAILED, case="on a gpu")),
            scene(ended("on a gpu", victim="on the host"), signature=replace(FAILED, case="on a gpu")),
        ],
    ),
    "steady": (
        [STEADY],
        [
            scene(),
            replace(STEADY, results=(arm_result(Role.BASELINE, (*(Sight.SAME_RED,) * 30, Sight.GREEN)),)),
            replace(STEADY, results=(arm_result(Role.EXACT, (Sight.SAME_RED,) * 30),)),
        ],
    ),
    "exact-green": (
        [scene(others=[arm_result(Role.EXACT, (Sight.GREEN, Sight.GREEN))])],
        [
            scene(),
            scene(others=[arm_result(Role.EXACT, (Sight.GREEN, Sight.SAME_RED))]),
            scene(others=[arm_result(Role.EXACT, ())]),
            scene(others=[arm_result(Role.BYPASS, (Sight.GREEN,))]),
        ],
    ),
    "canonical-nan": (
        [scene(with_findings("uniform-nan", "nvidia-nan"))],
        [scene(with_findings("uniform-nan")), scene(with_findings("nvidia-nan")), scene()],
    ),
}
"""For each witness scenes that have it, and scenes that have not."""


def ids(found: Scene | None, *, without: Sequence[str] = ()) -> list[str]:
    return [one.id for one in read_witnesses(found, without=without)]


@pytest.mark.parametrize("name", WITNESS_IDS)
def test_a_witness_is_read_from_a_scene_that_has_it_and_from_none_that_has_not(name: str) -> None:
    there, missing = SCENES[name]
    for one in there:
        assert name in ids(one)
    for one in missing:
        assert name not in ids(one)


@pytest.mark.parametrize("name", WITNESS_IDS)
def test_a_witness_that_is_left_out_is_not_read_and_no_other_is_touched(name: str) -> None:
    for one in SCENES[name][0]:
        assert ids(one, without=[name]) == [other for other in ids(one) if other != name]


@pytest.mark.parametrize("name", WITNESS_IDS)
def test_a_witness_says_what_was_seen_what_it_speaks_for_and_where_that_is_known_from(name: str) -> None:
    rule = next(rule for rule in WITNESSES if rule.id == name)
    (found,) = (one for one in read_witnesses(SCENES[name][0][0]) if one.id == name)
    assert found.text
    assert not found.text.endswith(".")
    assert found.source
    assert (found.kind, found.speaks_for, found.speaks_against) == (rule.kind, rule.speaks_for, rule.speaks_against)
    assert found.needs == rule.needs


def test_witnesses_speak_of_mechanisms_that_there_are_and_no_two_have_one_name() -> None:
    mechanisms = {mechanism.id for mechanism in MECHANISMS}
    for rule in WITNESSES:
        spoken = {*rule.speaks_for, *rule.speaks_against}
        assert spoken
        assert spoken <= mechanisms
        assert not {*rule.speaks_for} & {*rule.speaks_against}
    assert len(set(WITNESS_IDS)) == len(WITNESS_IDS)
    assert SCENES.keys() == set(WITNESS_IDS)


def test_facts_come_first_and_only_a_fact_needs_an_arm() -> None:
    kinds = [rule.kind for rule in WITNESSES]
    assert kinds == sorted(kinds, key=lambda kind: kind is WitnessKind.HINT)
    assert {rule.id for rule in WITNESSES if rule.kind is WitnessKind.FACT} == {"guard", "no-hits"}
    assert {rule.id: rule.needs for rule in WITNESSES if rule.needs} == {"guard": ((Role.PAD, Shows.GONE),)}


def test_without_a_red_there_is_no_scene_and_no_witness() -> None:
    assert scene_of(None, STEADY.results) is None
    assert read_witnesses(None) == ()
    assert scene_of(FAILED, STEADY.results) == STEADY


def test_a_lack_of_memory_is_told_in_the_allocators_own_words() -> None:
    assert out_of_memory(scene(ended(message="error: bad_alloc in Get()"))) == "the red speaks of its memory: bad_alloc"
    only_green = replace(STEADY, results=(arm_result(Role.BASELINE, (Sight.GREEN,), ended(message="bad_alloc")),))
    assert out_of_memory(only_green) is None


def test_no_hits_speaks_against_all_that_needs_a_block_handed_out_twice_and_not_against_others() -> None:
    rule = next(rule for rule in WITNESSES if rule.id == "no-hits")
    assert {"cross-device-reuse", "stale-read", "use-after-release", "two-owners"} <= set(rule.speaks_against)
    assert not {"access-past-end", "timing-race", "memory-kept", "case-state", "independent"} & {*rule.speaks_against}
