"""Plain elimination: every arm a fixed number of times, and whatever one run contradicts is out.

One green rules out "same red" only while the baseline is red every time; one red rules out "green"
always, since the victim is not red by itself under that mechanism.
"""

from collections.abc import Iterable, Sequence

from pooldiag.attribution.evidence import RoleEvidence
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.model.arms import Role
from pooldiag.model.attributions import Attribution, Candidate, Mechanism, Prediction, RuledOut, Status
from pooldiag.model.readings import Sight, Signature

BASELINE_RUNS = 2
FLAKY_BASELINE_RUNS = 5
_PROBES_OF_A_GREEN = (Role.BYPASS, Role.POISON_N)


def next_role(evidence: Sequence[RoleEvidence], *, repeat: int | None = None) -> Role | None:
    """Return the role to run next, or None when there is nothing left that a run could add."""
    baseline = _of(evidence, Role.BASELINE)
    if len(baseline.sights) < _baseline_runs(baseline, repeat):
        return Role.BASELINE
    if Sight.SAME_RED not in baseline.sights:
        return _next_probe(evidence, repeat or 1)
    return next((known.role for known in evidence if len(known.sights) < (repeat or 1)), None)


def _baseline_runs(baseline: RoleEvidence, repeat: int | None) -> int:
    wanted = BASELINE_RUNS if repeat is None else repeat
    return max(wanted, FLAKY_BASELINE_RUNS) if flaky(baseline) else wanted


def flaky(baseline: RoleEvidence) -> bool:
    """Tell whether the baseline disagrees with itself."""
    return len(set(baseline.sights)) > 1


def _next_probe(evidence: Sequence[RoleEvidence], repeat: int) -> Role | None:
    """After a green baseline: ask what the pool hides, and ask again where something new is red."""
    for known in evidence:
        wanted = repeat + (Sight.NEW_RED in known.sights)
        if known.role in _PROBES_OF_A_GREEN and len(known.sights) < wanted:
            return known.role
    return None


def conclude(evidence: Sequence[RoleEvidence], *, signature: Signature | None) -> Attribution:
    """Return what the runs establish about the signature."""
    baseline = _of(evidence, Role.BASELINE)
    ruled_out = tuple(_contradictions(evidence, unsteady=flaky(baseline)))
    gone = {entry.mechanism for entry in ruled_out}
    left = tuple(mechanism for mechanism in MECHANISMS if mechanism.id not in gone)
    if Sight.SAME_RED not in baseline.sights and not _confirmed(evidence):
        return _nothing_red(evidence)
    return _verdict(evidence, signature, left, ruled_out, unsteady=flaky(baseline) or _new_red_flakes(evidence))


def _verdict(
    evidence: Sequence[RoleEvidence],
    signature: Signature | None,
    left: tuple[Mechanism, ...],
    ruled_out: tuple[RuledOut, ...],
    *,
    unsteady: bool,
) -> Attribution:
    established = len(left) == 1 and not unsteady
    return Attribution(
        signature=signature,
        status=Status.ESTABLISHED if established else Status.UNRESOLVED,
        mechanism=left[0].id if established else (None if left else "none"),
        candidates=tuple(Candidate(mechanism=mechanism.id) for mechanism in left),
        ruled_out=ruled_out,
        not_established=(*_open_questions(evidence, left, unsteady=unsteady),),
        separators=() if established or unsteady else _separators(evidence, left),
    )


def _nothing_red(evidence: Sequence[RoleEvidence]) -> Attribution:
    """Say green; a red of an arm that is not confirmed is told, and does not count as green."""
    conflicts = tuple(_conflicts(evidence))
    return Attribution(
        signature=None, status=Status.UNRESOLVED if conflicts else Status.GREEN, not_established=conflicts
    )


def _confirmed(evidence: Sequence[RoleEvidence]) -> bool:
    """Tell whether an arm shows a new red in every run, twice at least, on a green baseline."""
    return any(
        known.counts and known.sights.count(Sight.NEW_RED) > 1 and Sight.GREEN not in known.sights
        for known in evidence
        if known.role in _PROBES_OF_A_GREEN
    )


def _new_red_flakes(evidence: Sequence[RoleEvidence]) -> bool:
    return (
        any(
            known.role in _PROBES_OF_A_GREEN and {Sight.NEW_RED, Sight.GREEN} <= set(known.sights) for known in evidence
        )
        and Sight.SAME_RED not in _of(evidence, Role.BASELINE).sights
    )


def _of(evidence: Sequence[RoleEvidence], role: Role) -> RoleEvidence:
    return next((known for known in evidence if known.role is role), RoleEvidence(role=role))


def _contradictions(evidence: Sequence[RoleEvidence], *, unsteady: bool) -> Iterable[RuledOut]:
    """Yield for each mechanism the first arm whose runs contradict it."""
    for mechanism in MECHANISMS:
        for known in evidence:
            entry = _contradiction(mechanism, known, unsteady=unsteady) if known.counts else None
            if entry is not None:
                yield entry
                break


_OPPOSITES: dict[Prediction, tuple[tuple[Sight, Prediction], ...]] = {
    Prediction.GREEN: ((Sight.SAME_RED, Prediction.SAME_RED),),
    Prediction.SAME_RED: ((Sight.GREEN, Prediction.GREEN),),
    Prediction.NEW_RED: ((Sight.GREEN, Prediction.GREEN), (Sight.SAME_RED, Prediction.SAME_RED)),
    Prediction.ANYTHING: (),
}


def _contradiction(mechanism: Mechanism, known: RoleEvidence, *, unsteady: bool) -> RuledOut | None:
    expected = mechanism.predictions.get(known.role, Prediction.ANYTHING)
    opposites = list(_OPPOSITES[expected])
    hidden = mechanism.predictions[Role.BASELINE] is Prediction.GREEN
    if expected is Prediction.GREEN and hidden:
        opposites.append((Sight.NEW_RED, Prediction.NEW_RED))
    for seen, saw in opposites:
        run = known.first(seen)
        if run is not None and not (unsteady and seen is Sight.GREEN):
            return RuledOut(mechanism=mechanism.id, arm=known.role, run=run, expected=expected, saw=saw)
    return None


def _separators(evidence: Sequence[RoleEvidence], left: tuple[Mechanism, ...]) -> tuple[Role, ...]:
    """Return the roles that predict differently for the mechanisms left, and were not seen to act."""
    useful = {known.role for known in evidence if known.counts and set(known.sights) - {Sight.NOTHING}}
    return tuple(
        role for role in Role if role not in useful and len({mechanism.predictions.get(role) for mechanism in left}) > 1
    )


def _open_questions(evidence: Sequence[RoleEvidence], left: tuple[Mechanism, ...], *, unsteady: bool) -> Iterable[str]:
    if unsteady:
        yield _flake(_of(evidence, Role.BASELINE))
    if len(left) == 1:
        yield from left[0].leaves_open
    yield from _conflicts(evidence)


def _flake(baseline: RoleEvidence) -> str:
    red = baseline.sights.count(Sight.SAME_RED)
    return f"the cause: it flakes, {red}/{len(baseline.sights)} baseline runs are red, so a green arm proves nothing"


def _conflicts(evidence: Sequence[RoleEvidence]) -> Iterable[str]:
    """Name the arms with a red that no baseline run showed."""
    for known in evidence:
        count = known.sights.count(Sight.NEW_RED)
        if count:
            yield f"{known.role}: {count}/{len(known.sights)} runs show another red, which is no evidence for this one"
