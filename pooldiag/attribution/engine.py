"""The sequential engine: which arm is worth running next, and what all runs so far establish.

The next arm is the one with the most expected information a second. It ends when one hypothesis holds
the wanted share of the posterior, when no arm can tell anything more, or when the budget is spent.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.posterior import (
    CATCH_ALL,
    HYPOTHESES,
    alike,
    counts_of,
    evidence_against,
    information,
    next_red,
    posterior,
    shared_counts,
)
from pooldiag.attribution.rates import greens_until, rate_of
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.model.arms import Role
from pooldiag.model.attributions import Attribution, Candidate, Prediction, RuledOut, Status
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.settings import BASELINE_RUNS, DEFAULT_CONFIDENCE, DEFAULT_MAX_RUNS
from pooldiag.model.words import percent

STILL_POSSIBLE = 0.01
"""A mechanism with a smaller share of the posterior is ruled out."""

PROBES_OF_A_GREEN = (Role.BYPASS, Role.POISON_N)
_LEAST_BITS = 1e-6
_LITTLE_BITS = 0.02
_WORTH_NAMING_BITS = 0.05
_LEAST_SECONDS = 1.0  # runs shorter than that cost alike
_NEARLY_BEST = 0.3  # of equally informative arms the one that ran least is taken
_FRUITLESS_RUNS = 2
_SETTLING_RUNS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """How far a diagnosis may go. With `repeat` every arm runs so often, whatever the runs show.

    `own_pool`: the allocator is one that the suite may itself test, not the C library's.
    """

    confidence: float = DEFAULT_CONFIDENCE
    max_runs: int = DEFAULT_MAX_RUNS
    budget_seconds: float | None = None
    repeat: int | None = None
    own_pool: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent so far: runs, seconds, and the seconds of one run of each role that ran."""

    runs: int = 0
    seconds: float = 0.0
    of_role: Mapping[Role, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The next role to run; or None, and in words why not."""

    role: Role | None
    reason: str


def next_step(evidence: Sequence[RoleEvidence], plan: StopRule, spent: Spent) -> Step:
    """Decide what to do next; what may be spent bounds everything."""
    if (end := _out_of_budget(plan, spent)) is not None:
        return Step(role=None, reason=end)
    if (role := _first_of_all(evidence, plan)) is not None:
        return Step(role=role, reason="the baseline comes first, and a green one is asked what the pool hides")
    if not _any_red(evidence):
        return Step(role=None, reason="nothing is red")
    if plan.repeat is not None:
        role = next((known.role for known in evidence if len(known.sights) < plan.repeat), None)
        return Step(role=role, reason=f"every arm ran {plan.repeat} times")
    if (end := _enough(evidence, plan)) is not None:
        return Step(role=_needed(evidence), reason=end)
    return Step(role=_most_informative(evidence, spent), reason="no arm that can be run would tell more")


def _needed(evidence: Sequence[RoleEvidence]) -> Role | None:
    """Return an arm that the leading mechanism needs an answer of, and that was not asked."""
    weights = posterior(evidence)
    leader = max(weights, key=lambda name: weights[name])
    needs = next((mechanism.needs for mechanism in MECHANISMS if mechanism.id == leader), ())
    return next((known.role for known in evidence if known.role in needs and not known.sights), None)


def _out_of_budget(plan: StopRule, spent: Spent) -> str | None:
    if spent.runs >= plan.max_runs:
        return f"{spent.runs} runs are spent"
    if plan.budget_seconds is not None and spent.seconds >= plan.budget_seconds:
        return f"the budget of {plan.budget_seconds:g} s is spent"
    return None


def _enough(evidence: Sequence[RoleEvidence], plan: StopRule) -> str | None:
    """Say why no further run is needed; None when one is."""
    weights = posterior(evidence)
    leader = max(weights, key=lambda name: weights[name])
    if weights[leader] >= plan.confidence:
        return f"{leader} has {percent(weights[leader])} of the posterior"
    if _tied(evidence, weights, leader, plan.confidence) or _settled(evidence):
        return "the arms that can be run do not tell the candidates apart"
    return None


def _tied(evidence: Sequence[RoleEvidence], weights: Mapping[str, float], leader: str, confidence: float) -> bool:
    """Tell whether the leader shares its predictions for all arms with another, and little else is left to learn."""
    roles = [known.role for known in evidence if _can_tell(known)]
    shared = sum(weights[name] for name in alike(leader, roles))
    if weights[leader] >= confidence * shared:
        return False
    return shared >= confidence or max(information(evidence, role) for role in roles) < _LITTLE_BITS


def _settled(evidence: Sequence[RoleEvidence]) -> bool:
    """Tell whether every arm shows one thing only, and one of them often enough: so it goes on."""
    steady = all(len(set(known.sights)) <= 1 for known in evidence)
    return steady and max(len(known.sights) for known in evidence) >= _SETTLING_RUNS


def _first_of_all(evidence: Sequence[RoleEvidence], plan: StopRule) -> Role | None:
    """Return the role whose run comes before any weighing."""
    baseline = _of(evidence, Role.BASELINE)
    if len(baseline.sights) < (plan.repeat or BASELINE_RUNS):
        return Role.BASELINE
    if _any_red(evidence):
        return None
    wanted = plan.repeat or 1
    return next(
        (known.role for known in evidence if known.role in PROBES_OF_A_GREEN and len(known.sights) < wanted), None
    )


def _any_red(evidence: Sequence[RoleEvidence]) -> bool:
    return any(Sight.SAME_RED in known.sights for known in evidence)


def _of(evidence: Sequence[RoleEvidence], role: Role) -> RoleEvidence:
    return next((known for known in evidence if known.role is role), RoleEvidence(role=role))


def _most_informative(evidence: Sequence[RoleEvidence], spent: Spent) -> Role | None:
    """Return the arm to run: most bits a second, and of nearly equal ones the one that ran least."""
    usual = max(_LEAST_SECONDS, spent.of_role.get(Role.BASELINE, 0.0))
    worth: dict[Role, float] = {}
    for known in evidence:
        bits = information(evidence, known.role) if _can_tell(known) else 0.0
        if bits > _LEAST_BITS:
            worth[known.role] = bits / _power_of_two(max(_LEAST_SECONDS, spent.of_role.get(known.role, usual)))
    if not worth:
        return None
    best = max(worth.values())
    runs = {known.role: len(known.sights) for known in evidence}
    near = [role for role, value in worth.items() if value >= _NEARLY_BEST * best]
    return min(near, key=lambda role: (runs[role], -worth[role]))


def _power_of_two(seconds: float) -> float:
    """Round a cost, so that the noise of a clock does not decide."""
    return 2.0 ** round(math.log2(seconds))


def _can_tell(known: RoleEvidence) -> bool:
    """Leave out arms that are no evidence, and those that showed nothing of use however often they ran."""
    if known.sights and not known.counts:
        return False
    fruitless = known.sights.count(Sight.NOTHING) + known.sights.count(Sight.NEW_RED)
    return not (fruitless >= _FRUITLESS_RUNS and fruitless == len(known.sights))


def conclude(
    evidence: Sequence[RoleEvidence], *, signature: Signature | None, plan: StopRule, reason: str | None = None
) -> Attribution:
    """Return what the runs establish about the signature; `reason` says why they ended."""
    if not _any_red(evidence):
        unasked = _first_of_all(evidence, plan)
        open_questions = (*_new_reds(evidence), *(() if unasked is None else (f"green: {unasked} was not asked",)))
        status = Status.UNRESOLVED if open_questions else Status.GREEN
        return Attribution(signature=None, status=status, not_established=open_questions, rule=reason)
    weights = posterior(evidence)
    leader = max(weights, key=lambda name: weights[name])
    innocent = tuple(_innocent(signature, leader))
    doubts = (*(innocent if plan.own_pool else ()), *_unanswered(evidence, leader))
    decided = weights[leader] >= plan.confidence and not doubts
    established = decided and leader != CATCH_ALL
    ruled_out = tuple(_ruled_out(evidence, weights, leader))
    left = _candidates(weights, gone={entry.mechanism for entry in ruled_out})
    return Attribution(
        signature=signature,
        status=Status.ESTABLISHED if established else Status.UNRESOLVED,
        mechanism=leader if decided else None,
        confidence=weights[leader] if decided else None,
        rate=rate_of(*_red_of_all(shared_counts(evidence, leader))),
        rule=reason,
        candidates=left,
        ruled_out=ruled_out,
        not_established=tuple(
            dict.fromkeys((*innocent, *doubts, *_open_questions(evidence, leader if established else None)))
        ),
        separators=() if decided else tuple(_separators(evidence)),
    )


def _innocent(signature: Signature | None, leader: str) -> Iterator[str]:
    """Yield the innocent explanation that a red of this kind has as well."""
    for mechanism in MECHANISMS:
        if mechanism.id == leader and signature is not None and signature.kind in mechanism.unless:
            yield f"{mechanism.title}: {mechanism.alternative}"


def _unanswered(evidence: Sequence[RoleEvidence], leader: str) -> Iterator[str]:
    """Yield the arms whose answer the leader needs and that gave none."""
    counts = counts_of(evidence)
    for mechanism in MECHANISMS:
        for known in evidence if mechanism.id == leader else ():
            if known.role in mechanism.needs and known.sights and known.counts and not sum(counts[known.role]):
                yield f"{mechanism.title}: {known.role} gave no answer about this red"


def greens_needed(baseline: Sequence[Sight], *, greens: int, confidence: float) -> int:
    """Return how many more greens an arm needs until chance explains them less often than 1 - `confidence`."""
    rate = next_red(baseline.count(Sight.SAME_RED), baseline.count(Sight.GREEN))
    return max(0, greens_until(rate, confidence) - greens)


def _red_of_all(counts: tuple[int, int]) -> tuple[int, int]:
    return counts[0], sum(counts)


def _candidates(weights: Mapping[str, float], gone: set[str]) -> tuple[Candidate, ...]:
    """Return the mechanisms that are not ruled out, the most probable first."""
    left = [name for name in weights if name not in gone and name != CATCH_ALL]
    left.sort(key=lambda name: -weights[name])
    return tuple(Candidate(mechanism=name, posterior=weights[name]) for name in left)


def _ruled_out(evidence: Sequence[RoleEvidence], weights: Mapping[str, float], leader: str) -> Iterator[RuledOut]:
    """Yield the mechanisms that have next to nothing of the posterior, with the arm that weighs most against each."""
    for mechanism in MECHANISMS:
        if mechanism.id == leader or weights[mechanism.id] >= STILL_POSSIBLE:
            continue
        against = evidence_against(evidence, mechanism.id, leader)
        for role in sorted(against, key=lambda role: against[role]):
            entry = _contradiction(_of(evidence, role), mechanism.predictions[role], mechanism.id)
            if entry is not None:
                yield entry
                break


_CONTRARY = {Prediction.SAME_RED: Sight.GREEN, Prediction.NEW_RED: Sight.GREEN, Prediction.GREEN: Sight.SAME_RED}
_AS_SEEN = {Sight.GREEN: Prediction.GREEN, Sight.SAME_RED: Prediction.SAME_RED}


def _contradiction(known: RoleEvidence, expected: Prediction, mechanism: str) -> RuledOut | None:
    contrary = _CONTRARY.get(expected)
    run = None if contrary is None else known.first(contrary)
    if run is None or contrary is None:
        return None
    return RuledOut(mechanism=mechanism, arm=known.role, run=run, expected=expected, saw=_AS_SEEN[contrary])


def _open_questions(evidence: Sequence[RoleEvidence], established: str | None) -> Iterator[str]:
    for mechanism in MECHANISMS:
        if mechanism.id == established:
            yield from mechanism.leaves_open
    yield from _new_reds(evidence)


def _new_reds(evidence: Sequence[RoleEvidence]) -> Iterator[str]:
    """Name the arms with a red that is not the one in question."""
    for known in evidence:
        count = known.sights.count(Sight.NEW_RED)
        if count:
            yield f"{known.role}: {count}/{len(known.sights)} runs show another red, which is no evidence for this one"


def _separators(evidence: Sequence[RoleEvidence]) -> Iterator[Role]:
    """Yield the roles that were not seen and would tell, the most telling first."""
    seen = {role for role, counts in counts_of(evidence).items() if sum(counts)}
    missing = {role for one in HYPOTHESES for role in one.predictions} - seen
    bits = {role: information(evidence, role) for role in missing}
    yield from sorted((role for role in missing if bits[role] > _WORTH_NAMING_BITS), key=lambda role: -bits[role])
