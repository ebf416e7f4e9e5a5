"""How strongly the runs speak for each mechanism: a posterior over the table, with a catch-all beside it.

Runs of an arm are Bernoulli trials. Every arm that a mechanism predicts red shares one unknown rate; an
arm predicted green is red at a small false-red rate; an arm predicted "anything" has a rate of its own.
Under the catch-all every arm has one. Rates are integrated out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.model.arms import Acted, Role
from pooldiag.model.attributions import NO_MECHANISM, Mechanism, Prediction
from pooldiag.model.readings import Sight
from pooldiag.rates import Mixture, entropy, log_mixture, mixture, next_red, normalised

INDEPENDENT = "independent"
INDEPENDENT_PRIOR = 0.5
"""Chosen: the runs have to speak against a plain bug or a flake before the pool is blamed."""

CATCH_ALL_PRIOR = 0.05
"""Chosen: a little, so that it is said when the table does not fit."""

_HIDDEN_SHARE = 0.5  # chosen: a rare flake that happens to come with the bypass looks like what a pool hides
_FALSE_RED_RATE = 0.002  # chosen: above 0, so that one odd red weighs 9 bits against a row, and does not end it
# A fault at 70 % that was red a few times in a row was taken for a steady one, and one green then ruled out too much:
# for that the first share below was taken down from 0.5, and those of `_FREE` up from 0.05, where `_UNKNOWN` still is.
SHARED = mixture(always=0.4, at_any_rate=0.6)  # many faults show in nearly every run, the others at any rate
_FREE = mixture(always=0.15, at_any_rate=0.7, never=0.15)  # at any rate, and often always or never
_UNKNOWN = mixture(always=0.05, at_any_rate=0.9, never=0.05)  # of the catch-all: mostly at any rate

_RedGreen = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleEvidence:
    """The runs of one role as seen from one signature: run ids and sights, in step."""

    role: Role
    acted: Acted | None = None
    runs: tuple[str, ...] = ()
    sights: tuple[Sight, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether the arm's runs are evidence at all: an arm that did not act is none."""
        return self.acted in {None, Acted.PROVEN, Acted.PLAUSIBLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A row of the table, or the catch-all, which has none; `free` is the prior of the rates that it leaves open."""

    mechanism: Mechanism | None
    prior: float
    free: Mixture = _FREE

    @property
    def id(self) -> str:
        """The id of the row; that of no mechanism for the catch-all."""
        return NO_MECHANISM if self.mechanism is None else self.mechanism.id

    def prediction(self, role: Role) -> Prediction:
        """Return what is expected of a role. A new red that the pool hides is the red in question."""
        row = {} if self.mechanism is None else self.mechanism.predictions
        expected = row.get(role, Prediction.ANYTHING)
        return Prediction.SAME_RED if expected is Prediction.NEW_RED else expected

    def shared(self, counts: Mapping[Role, _RedGreen]) -> _RedGreen:
        """Return red and green runs of all arms that are predicted red: these have one rate."""
        of_fault = [seen for role, seen in counts.items() if self.prediction(role) is Prediction.SAME_RED]
        return sum(red for red, _ in of_fault), sum(green for _, green in of_fault)

    def log_likelihood(self, counts: Mapping[Role, _RedGreen]) -> float:
        """Say how probable the runs are if this is true."""
        total = 0.0
        for role, (red, green) in counts.items():
            match self.prediction(role):
                case Prediction.GREEN:
                    total += red * math.log(_FALSE_RED_RATE) + green * math.log1p(-_FALSE_RED_RATE)
                case Prediction.ANYTHING:
                    total += log_mixture(self.free, red, green)
        return total + log_mixture(SHARED, *self.shared(counts))

    def next_red(self, counts: Mapping[Role, _RedGreen], role: Role) -> float:
        """Return how probable it is that the next run of a role is red, if this is true."""
        match self.prediction(role):
            case Prediction.GREEN:
                return _FALSE_RED_RATE
            case Prediction.SAME_RED:
                return next_red(SHARED, *self.shared(counts))
            case _:
                return next_red(self.free, *counts.get(role, (0, 0)))


def _hypotheses() -> Iterator[Hypothesis]:
    """Yield the rows, which share alike what the priors above leave, but for what a pool hides, and the catch-all."""
    hidden = {row.id: row.predictions[Role.BASELINE] is Prediction.GREEN for row in MECHANISMS}
    shares = {name: _HIDDEN_SHARE if hidden[name] else 1.0 for name in hidden if name != INDEPENDENT}
    unit = (1 - INDEPENDENT_PRIOR - CATCH_ALL_PRIOR) / sum(shares.values())
    for row in MECHANISMS:
        yield Hypothesis(mechanism=row, prior=INDEPENDENT_PRIOR if row.id == INDEPENDENT else shares[row.id] * unit)
    yield Hypothesis(mechanism=None, prior=CATCH_ALL_PRIOR, free=_UNKNOWN)


HYPOTHESES = tuple(_hypotheses())


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """The runs so far, and how probable they make every hypothesis, in the order of the table.

    `counts` are same reds and greens of every arm that is evidence; a new red is evidence of nothing. `leader` is the
    most probable hypothesis.
    """

    evidence: tuple[RoleEvidence, ...]
    counts: Mapping[Role, _RedGreen]
    weights: Mapping[str, float]
    leader: Hypothesis

    @property
    def confidence(self) -> float:
        """The share of the leader."""
        return self.weights[self.leader.id]

    @property
    def red_of_leader(self) -> tuple[int, int]:
        """Reds and runs of all arms that the leader predicts red; of the baseline for the catch-all."""
        one = self.leader
        red, green = self.counts.get(Role.BASELINE, (0, 0)) if one.mechanism is None else one.shared(self.counts)
        return red, red + green

    def information(self, role: Role) -> float:
        """Return the expected bits that one more run of a role tells about which hypothesis is true."""
        reds = [(self.weights[one.id], one.next_red(self.counts, role)) for one in HYPOTHESES]
        overall = sum(weight * red for weight, red in reds)
        return entropy(overall) - sum(weight * entropy(red) for weight, red in reds)

    def alike(self, roles: Sequence[Role]) -> float:
        """Return the share of all hypotheses that predict for these roles what the leader does: no run separates them.

        The leader is among them.
        """
        wanted = [self.leader.prediction(role) for role in roles]
        return sum(self.weights[one.id] for one in HYPOTHESES if [one.prediction(role) for role in roles] == wanted)

    def against(self, other: Hypothesis) -> list[Role]:
        """Return the arms, that one first whose runs shift the odds most from another hypothesis to the leader."""

        def odds(seen: Mapping[Role, _RedGreen]) -> float:
            return other.log_likelihood(seen) - self.leader.log_likelihood(seen)

        whole = odds(self.counts)
        without = {role: {one: seen for one, seen in self.counts.items() if one != role} for role in self.counts}
        return sorted(self.counts, key=lambda role: whole - odds(without[role]))


def posterior(evidence: Sequence[RoleEvidence]) -> Posterior:
    """Weigh every hypothesis by the runs."""
    counts = {
        known.role: (known.sights.count(Sight.SAME_RED), known.sights.count(Sight.GREEN))
        for known in evidence
        if known.counts
    }
    shares = normalised([math.log(one.prior) + one.log_likelihood(counts) for one in HYPOTHESES])
    return Posterior(
        evidence=tuple(evidence),
        counts=counts,
        weights={one.id: share for one, share in zip(HYPOTHESES, shares, strict=True)},
        leader=HYPOTHESES[shares.index(max(shares))],
    )
