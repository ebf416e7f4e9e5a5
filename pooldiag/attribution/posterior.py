"""How strongly the runs speak for each mechanism: a posterior over the table, with a catch-all beside it.

Runs of an arm are Bernoulli trials. Every arm that a mechanism predicts red shares one unknown rate; an
arm predicted green is red at a small false-red rate; an arm predicted "anything" has a rate of its own.
Under the catch-all every arm has one. All integrals over rates are Beta functions, so nothing is sampled.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.model.arms import Role
from pooldiag.model.attributions import NO_MECHANISM, Mechanism, Prediction
from pooldiag.model.readings import Sight

CATCH_ALL = NO_MECHANISM
"""The hypothesis that no row of the table is true."""

INDEPENDENT = "independent"
INDEPENDENT_PRIOR = 0.5
CATCH_ALL_PRIOR = 0.05
FALSE_RED_RATE = 0.002

_Counts = tuple[int, int]  # red, green
_Prior = tuple[tuple[float, float, float], ...]  # share, and the two parameters of a Beta distribution
_SHARED: _Prior = ((0.4, 100.0, 1.0), (0.6, 1.0, 1.0))  # many faults show in nearly every run, the others at any rate
_FREE: _Prior = ((0.15, 100.0, 1.0), (0.7, 1.0, 1.0), (0.15, 1.0, 100.0))  # at any rate, and often always or never
_UNKNOWN: _Prior = ((0.05, 100.0, 1.0), (0.9, 1.0, 1.0), (0.05, 1.0, 100.0))  # of the catch-all: mostly at any rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A row of the table, or the catch-all: which roles share the red rate, which are green, which are free."""

    id: str
    prior: float
    predictions: Mapping[Role, Prediction]
    free: _Prior = _FREE

    def prediction(self, role: Role) -> Prediction:
        """Return what is expected of a role. A new red that the pool hides is the red in question."""
        expected = self.predictions.get(role, Prediction.ANYTHING)
        return Prediction.SAME_RED if expected is Prediction.NEW_RED else expected


def hypotheses(mechanisms: Iterable[Mechanism] = MECHANISMS) -> tuple[Hypothesis, ...]:
    """Give half of the prior to `independent`, a little to the catch-all, and the rest to the others.

    They share it alike, but for what a pool hides: a rare flake that happens to come with the bypass
    looks like it, so it has half a share.
    """
    rows = tuple(mechanisms)
    shares = {row.id: _share(row) for row in rows if row.id != INDEPENDENT}
    unit = (1 - INDEPENDENT_PRIOR - CATCH_ALL_PRIOR) / sum(shares.values())
    named = (
        Hypothesis(
            id=row.id,
            prior=INDEPENDENT_PRIOR if row.id == INDEPENDENT else shares[row.id] * unit,
            predictions=row.predictions,
        )
        for row in rows
    )
    return (*named, Hypothesis(id=CATCH_ALL, prior=CATCH_ALL_PRIOR, predictions={}, free=_UNKNOWN))


def _share(row: Mechanism) -> float:
    return 0.5 if row.predictions[Role.BASELINE] is Prediction.GREEN else 1.0


HYPOTHESES = hypotheses()


def counts_of(evidence: Sequence[RoleEvidence]) -> dict[Role, _Counts]:
    """Count same reds and greens of every arm that is evidence; a new red is evidence of nothing."""
    return {
        known.role: (known.sights.count(Sight.SAME_RED), known.sights.count(Sight.GREEN))
        for known in evidence
        if known.counts
    }


def posterior(evidence: Sequence[RoleEvidence]) -> dict[str, float]:
    """Return the probability of every hypothesis, given the runs; the order is that of the table."""
    counts = counts_of(evidence)
    logs = {one.id: math.log(one.prior) + _log_likelihood(one, counts) for one in HYPOTHESES}
    highest = max(logs.values())
    weights = {name: math.exp(value - highest) for name, value in logs.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def information(evidence: Sequence[RoleEvidence], role: Role) -> float:
    """Return the expected bits that one more run of a role tells about which hypothesis is true."""
    counts = counts_of(evidence)
    weights = posterior(evidence)
    reds = {one.id: _red_probability(one, counts, role) for one in HYPOTHESES}
    overall = sum(weights[name] * red for name, red in reds.items())
    return _entropy(overall) - sum(weights[name] * _entropy(red) for name, red in reds.items())


def alike(hypothesis: str, roles: Sequence[Role]) -> tuple[str, ...]:
    """Return the hypotheses that predict the same for all these roles, itself included: no run tells them apart."""
    (row,) = (one for one in HYPOTHESES if one.id == hypothesis)
    wanted = [row.prediction(role) for role in roles]
    return tuple(one.id for one in HYPOTHESES if [one.prediction(role) for role in roles] == wanted)


def shared_counts(evidence: Sequence[RoleEvidence], hypothesis: str) -> tuple[int, int]:
    """Return red and green runs of all arms that a hypothesis predicts red; of the baseline for the catch-all."""
    (one,) = (one for one in HYPOTHESES if one.id == hypothesis)
    red = [
        counts
        for role, counts in counts_of(evidence).items()
        if one.prediction(role) is Prediction.SAME_RED or (not one.predictions and role is Role.BASELINE)
    ]
    return sum(counts[0] for counts in red), sum(counts[1] for counts in red)


def next_red(red: int, green: int) -> float:
    """Return how probable a further red is after so many runs that share the rate of the fault."""
    return _next_red(_SHARED, red, green)


def evidence_against(evidence: Sequence[RoleEvidence], hypothesis: str, leader: str) -> dict[Role, float]:
    """Return for each arm how its runs shift the log odds of a hypothesis against the leader (negative: against)."""
    rows = {one.id: one for one in HYPOTHESES}
    counts = counts_of(evidence)

    def odds(seen: Mapping[Role, _Counts]) -> float:
        return _log_likelihood(rows[hypothesis], seen) - _log_likelihood(rows[leader], seen)

    whole = odds(counts)
    return {role: whole - odds({other: seen for other, seen in counts.items() if other != role}) for role in counts}


def _log_likelihood(one: Hypothesis, counts: Mapping[Role, _Counts]) -> float:
    shared_red = shared_green = 0
    total = 0.0
    for role, (red, green) in counts.items():
        match one.prediction(role):
            case Prediction.SAME_RED:
                shared_red, shared_green = shared_red + red, shared_green + green
            case Prediction.GREEN:
                total += red * math.log(FALSE_RED_RATE) + green * math.log1p(-FALSE_RED_RATE)
            case _:
                total += _log_mixture(one.free, red, green)
    return total + _log_mixture(_SHARED, shared_red, shared_green)


def _red_probability(one: Hypothesis, counts: Mapping[Role, _Counts], role: Role) -> float:
    """Return how probable it is under a hypothesis that the next run of a role is red."""
    red, green = counts.get(role, (0, 0))
    match one.prediction(role):
        case Prediction.GREEN:
            return FALSE_RED_RATE
        case Prediction.SAME_RED:
            shared = [seen for other, seen in counts.items() if one.prediction(other) is Prediction.SAME_RED]
            reds, greens = sum(seen[0] for seen in shared), sum(seen[1] for seen in shared)
            return _next_red(_SHARED, reds, greens)
        case _:
            return _next_red(one.free, red, green)


def _next_red(prior: _Prior, red: int, green: int) -> float:
    return math.exp(_log_mixture(prior, red + 1, green) - _log_mixture(prior, red, green))


def _log_mixture(prior: _Prior, red: int, green: int) -> float:
    """Integrate the likelihood of some runs over their common rate."""
    parts = [
        math.log(share) + _log_beta(first + red, second + green) - _log_beta(first, second)
        for share, first, second in prior
    ]
    high = max(parts)
    return high + math.log(sum(math.exp(part - high) for part in parts))


def _log_beta(first: float, second: float) -> float:
    return math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)


def _entropy(probability: float) -> float:
    """Return the entropy of one red-or-green in bits."""
    if not 0 < probability < 1:
        return 0.0
    return -probability * math.log2(probability) - (1 - probability) * math.log2(1 - probability)
