"""The sequential engine: which arm is worth running next, and what all runs so far establish.

The next arm is the one with the most expected information a second. It ends when one hypothesis holds
the wanted share of the posterior, when no arm can tell anything more, or when the budget is spent.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pooldiag.attribution.greens import one_more_baseline
from pooldiag.attribution.posterior import HYPOTHESES, SHARED, Posterior, RoleEvidence, posterior
from pooldiag.model.arms import PROBES_OF_A_GREEN, Role
from pooldiag.model.attributions import Attribution, Candidate, Mechanism, Prediction, RuledOut, Status
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.settings import BASELINE_RUNS, DEFAULT_CONFIDENCE, DEFAULT_MAX_RUNS
from pooldiag.model.words import percent
from pooldiag.rates import greens_until, next_red, rate_of

STILL_POSSIBLE = 0.01
"""A mechanism with a smaller share of the posterior is ruled out: the default confidence leaves that for all others."""

# These are chosen, none is measured by itself: `scripts/calibrate` shows what they make together of known faults.
_LEAST_BITS = 1e-6  # nothing, but for rounding
_LITTLE_BITS = 0.02  # of such runs, all that are allowed by default tell little more than one bit together
_WORTH_NAMING_BITS = 0.05  # more than a little: for an arm that is missing the user has to do something
_LEAST_SECONDS = 1.0  # runs shorter than that cost alike
_NEARLY_BEST = 0.3  # of about equally informative arms the one that ran least is taken
_FRUITLESS_RUNS = 2  # one may be chance
_SETTLING_RUNS = 16  # a fault at 70 % is red so often in a row once in 300 times; 12, once in 72, were too few


class StopReason(StrEnum):
    """Why the runs end: a sentence, with gaps for what it is about."""

    RUNS = "{} runs are spent"
    BUDGET = "the budget of {:g} s is spent"
    GREEN = "nothing is red"
    REPEATED = "every arm ran {} times"
    DECIDED = "{} has {} of the posterior"
    TIED = "the arms that can be run do not tell the candidates apart"
    EXHAUSTED = "no arm that can be run would tell more"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """How far a diagnosis may go. With `repeat` every arm runs so often, whatever the runs show.

    `own_pool`: the allocator is one that the suite may itself test, not the C library's. `bisected`: the cases are
    those that a bisection left.
    """

    confidence: float = DEFAULT_CONFIDENCE
    max_runs: int = DEFAULT_MAX_RUNS
    budget_seconds: float | None = None
    repeat: int | None = None
    own_pool: bool = True
    bisected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent so far: runs, seconds, and the seconds of one run of each role that ran.

    `baseline_seconds` are from the beginning of each run of the baseline to the end of all that belongs to it.
    """

    runs: int = 0
    seconds: float = 0.0
    of_role: Mapping[Role, float] = field(default_factory=dict)
    baseline_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """That the runs end, and why; `said` fills the gaps of the sentence."""

    reason: StopReason
    said: tuple[str | float, ...] = ()

    def __str__(self) -> str:
        """Say it."""
        return self.reason.format(*self.said)


def next_step(evidence: Sequence[RoleEvidence], plan: StopRule, spent: Spent) -> Role | Stop:
    """Decide which role to run next, or to end; what may be spent bounds everything."""
    if (stop := _out_of_budget(plan, spent)) is not None:
        return stop
    if (role := _first_of_all(evidence, plan, spent.baseline_seconds)) is not None:
        return role
    if not _any_red(evidence):
        return Stop(reason=StopReason.GREEN)
    if (repeat := plan.repeat) is not None:
        few = (known.role for known in evidence if len(known.sights) < repeat)
        return next(few, Stop(reason=StopReason.REPEATED, said=(repeat,)))
    believed = posterior(evidence)
    if (stop := _enough(believed, plan)) is not None:
        return _needed(believed) or stop
    return _most_informative(believed, spent) or Stop(reason=StopReason.EXHAUSTED)


def _needed(believed: Posterior) -> Role | None:
    """Return an arm that the leading mechanism needs an answer of, and that was not asked."""
    needs = () if believed.leader.mechanism is None else believed.leader.mechanism.needs
    return next((known.role for known in believed.evidence if known.role in needs and not known.sights), None)


def _out_of_budget(plan: StopRule, spent: Spent) -> Stop | None:
    if spent.runs >= plan.max_runs:
        return Stop(reason=StopReason.RUNS, said=(spent.runs,))
    if plan.budget_seconds is not None and spent.seconds >= plan.budget_seconds:
        return Stop(reason=StopReason.BUDGET, said=(plan.budget_seconds,))
    return None


def _enough(believed: Posterior, plan: StopRule) -> Stop | None:
    """Say why no further run is needed; None when one is."""
    if believed.confidence >= plan.confidence:
        return Stop(reason=StopReason.DECIDED, said=(believed.leader.id, percent(believed.confidence)))
    tied = _tied(believed, plan.confidence) or _settled(believed.evidence)
    return Stop(reason=StopReason.TIED) if tied else None


def _tied(believed: Posterior, confidence: float) -> bool:
    """Tell whether the leader shares its predictions for all arms with another, and little else is left to learn."""
    roles = [known.role for known in believed.evidence if _can_tell(known)]
    shared = believed.alike(roles)
    if believed.confidence >= confidence * shared:
        return False
    return shared >= confidence or max(believed.information(role) for role in roles) < _LITTLE_BITS


def _settled(evidence: Sequence[RoleEvidence]) -> bool:
    """Tell whether every arm shows one thing only, and one of them often enough: so it goes on.

    A green baseline ran often for its own sake.
    """
    steady = all(len(set(known.sights)) <= 1 for known in evidence)
    asked = (known for known in evidence if known.role is not Role.BASELINE or Sight.SAME_RED in known.sights)
    return steady and max((len(known.sights) for known in asked), default=0) >= _SETTLING_RUNS


def _first_of_all(evidence: Sequence[RoleEvidence], plan: StopRule, seconds: float | None = None) -> Role | None:
    """Return the role whose run comes before any weighing; `seconds` are what the baseline cost, if that is known."""
    runs = len(_of(evidence, Role.BASELINE).sights)
    if runs < (plan.repeat or BASELINE_RUNS):
        return Role.BASELINE
    if _any_red(evidence):
        return None
    if one_more_baseline(runs, seconds, repeat=plan.repeat):
        return Role.BASELINE
    few = (known.role for known in evidence if len(known.sights) < (plan.repeat or 1))
    return next((role for role in few if role in PROBES_OF_A_GREEN), None)


def _any_red(evidence: Sequence[RoleEvidence]) -> bool:
    return any(Sight.SAME_RED in known.sights for known in evidence)


def _of(evidence: Sequence[RoleEvidence], role: Role) -> RoleEvidence:
    return next((known for known in evidence if known.role is role), RoleEvidence(role=role))


def _most_informative(believed: Posterior, spent: Spent) -> Role | None:
    """Return the arm to run: most bits a second, and of nearly equal ones the one that ran least."""
    usual = max(_LEAST_SECONDS, spent.of_role.get(Role.BASELINE, 0.0))
    worth: dict[Role, float] = {}
    for known in believed.evidence:
        bits = believed.information(known.role) if _can_tell(known) else 0.0
        if bits > _LEAST_BITS:
            seconds = max(_LEAST_SECONDS, spent.of_role.get(known.role, usual))
            worth[known.role] = bits / 2.0 ** round(math.log2(seconds))  # so that the noise of a clock does not decide
    if not worth:
        return None
    best = max(worth.values())
    runs = {known.role: len(known.sights) for known in believed.evidence}
    near = [role for role, value in worth.items() if value >= _NEARLY_BEST * best]
    return min(near, key=lambda role: (runs[role], -worth[role]))


def _can_tell(known: RoleEvidence) -> bool:
    """Leave out arms that are not evidence, and those that showed nothing of use however often they ran."""
    if known.sights and not known.counts:
        return False
    fruitless = known.sights.count(Sight.NOTHING) + known.sights.count(Sight.NEW_RED)
    return not (fruitless >= _FRUITLESS_RUNS and fruitless == len(known.sights))


def conclude(
    evidence: Sequence[RoleEvidence], *, signature: Signature | None, plan: StopRule, stop: Stop | None = None
) -> Attribution:
    """Return what the runs establish about the signature; `stop` says why they ended."""
    rule = None if stop is None else str(stop)
    if not _any_red(evidence):
        unasked = _first_of_all(evidence, plan)
        open_questions = (*_new_reds(evidence), *(() if unasked is None else (f"green: {unasked} was not asked",)))
        status = Status.UNRESOLVED if open_questions else Status.GREEN
        return Attribution(signature=None, status=status, not_established=open_questions, rule=rule)
    believed = posterior(evidence)
    row, confidence = believed.leader.mechanism, believed.confidence
    innocent = tuple(_innocent(signature, row))
    doubts = (*(innocent if plan.own_pool else ()), *_unanswered(believed))
    decided = confidence >= plan.confidence and not doubts
    established = row if decided else None
    ruled_out = tuple(_ruled_out(believed))
    left_open = () if established is None else established.leaves_open
    to_bisect = () if established is None or plan.bisected else established.open_to_bisection
    return Attribution(
        signature=signature,
        status=Status.UNRESOLVED if established is None else Status.ESTABLISHED,
        mechanism=believed.leader.id if decided else None,
        confidence=confidence if decided else None,
        rate=rate_of(*believed.red_of_leader),
        rule=rule,
        candidates=_candidates(believed, gone={entry.mechanism for entry in ruled_out}),
        ruled_out=ruled_out,
        not_established=tuple(dict.fromkeys((*innocent, *doubts, *left_open, *to_bisect, *_new_reds(evidence)))),
        separators=() if decided else tuple(_separators(believed)),
    )


def _innocent(signature: Signature | None, row: Mechanism | None) -> Iterator[str]:
    """Yield the innocent explanation that a red of this kind has as well."""
    if row is not None and signature is not None and signature.kind in row.unless:
        yield f"{row.title}: {row.alternative}"


def _unanswered(believed: Posterior) -> Iterator[str]:
    """Yield the arms whose answer the leader needs and that gave none."""
    if (row := believed.leader.mechanism) is not None:
        for known in believed.evidence:
            if known.role in row.needs and known.sights and known.counts and not sum(believed.counts[known.role]):
                yield f"{row.title}: {known.role} gave no answer about this red"


def greens_needed(baseline: Sequence[Sight], *, greens: int, confidence: float) -> int:
    """Return how many more greens an arm needs until chance explains them less often than 1 - `confidence`."""
    rate = next_red(SHARED, baseline.count(Sight.SAME_RED), baseline.count(Sight.GREEN))
    return max(0, greens_until(rate, 1 - confidence) - greens)


def _candidates(believed: Posterior, gone: set[str]) -> tuple[Candidate, ...]:
    """Return the mechanisms that are not ruled out, the most probable first."""
    left = [one.id for one in HYPOTHESES if one.mechanism is not None and one.id not in gone]
    left.sort(key=lambda name: -believed.weights[name])
    return tuple(Candidate(mechanism=name, posterior=believed.weights[name]) for name in left)


def _ruled_out(believed: Posterior) -> Iterator[RuledOut]:
    """Yield the mechanisms that have next to nothing of the posterior, with the arm that weighs most against each."""
    for other in HYPOTHESES:
        if other.mechanism is None or other is believed.leader or believed.weights[other.id] >= STILL_POSSIBLE:
            continue
        found = (_contradiction(_of(believed.evidence, role), other.mechanism) for role in believed.against(other))
        yield from (entry for entry in list(filter(None, found))[:1])


_CONTRARY = {Prediction.SAME_RED: Sight.GREEN, Prediction.NEW_RED: Sight.GREEN, Prediction.GREEN: Sight.SAME_RED}


def _contradiction(known: RoleEvidence, row: Mechanism) -> RuledOut | None:
    expected = row.predictions[known.role]
    for run, seen in zip(known.runs, known.sights, strict=True):
        if seen is _CONTRARY.get(expected):
            saw = Prediction(seen.value)
            return RuledOut(mechanism=row.id, arm=known.role, run=run, expected=expected, saw=saw)
    return None


def _new_reds(evidence: Sequence[RoleEvidence]) -> Iterator[str]:
    """Name the arms with a red that is not the one in question."""
    for known in evidence:
        if count := known.sights.count(Sight.NEW_RED):
            yield f"{known.role}: {count}/{len(known.sights)} runs show another red, which is no evidence for this one"


def _separators(believed: Posterior) -> Iterator[Role]:
    """Yield the roles that were not seen and would tell, the most telling first."""
    bits = {role: believed.information(role) for role in Role if not any(believed.counts.get(role, ()))}
    yield from sorted((role for role in bits if bits[role] > _WORTH_NAMING_BITS), key=lambda role: -bits[role])
