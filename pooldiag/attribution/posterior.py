"""How strongly the runs speak for each pattern of arms: which show the red, clear it, or have a rate of their own.

Runs of an arm are Bernoulli trials. Under every arm that shows the red as the baseline does it has one unknown rate;
under an arm that clears it, it is there at a small false-red rate; any other arm has a rate well apart from both. A
pattern's prior comes from four sources: no arm changes anything; the rows of `faults.FAULTS`; any pattern; and rates
of their own under most arms. Rates are integrated out on a grid, so nothing is sampled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pooldiag.attribution.faults import FaultVariant
from pooldiag.model.arms import Role
from pooldiag.model.attributions import Shows
from pooldiag.rates import entropy

_Floats: TypeAlias = NDArray[np.float64]
RoleCounts: TypeAlias = tuple[tuple[Role, int, int], ...]
"""Reds and greens of each role."""

_STATES = (Shows.THERE, Shows.GONE, Shows.OWN_RATE)
_NUMBER = {shows: number for number, shows in enumerate(_STATES)}

# Chosen, and measured together by `scripts/calibrate`.
_NO_ARM = 0.4  # the runs have to speak against a plain bug or a flake before an arm is said to change anything
_ANY_PATTERN = 0.06  # so that what no row foresees can be established by its own runs
_OWN_RATES = 0.1  # with arms of such rates a single run each looks like a flake
_SLIP = 0.02  # that an arm clears the red, or shows it, against what a row says of it
_OWN_SLIP = 0.001  # that it has a rate of its own
_FALSE_RED_RATE = 0.002  # above 0, so that one odd red weighs 9 bits against a green arm, and does not end it
_STEADY = 0.5  # of faults that show in nearly every run; the others have any rate alike
_STEADY_RATES = (0.99, 0.998)
_APART = 0.6  # a rate of an arm's own is at most so much of the baseline's, or its greens at most so much
_LEAST = 0.25  # and at least so much of it: with less it is (nearly) never red

_ANY = np.arange(0.05, 0.96, 0.05)
_RATES: _Floats = np.array([*_ANY, *_STEADY_RATES])
_WEIGHTS: _Floats = np.array(
    [*np.full(len(_ANY), (1 - _STEADY) / len(_ANY)), *np.full(len(_STEADY_RATES), _STEADY / len(_STEADY_RATES))]
)
_OWN: _Floats = np.arange(0.01, 0.97, 0.02)


def _apart() -> _Floats:
    """Return how probable each rate of an arm's own is beside each rate of the baseline; shape (rates, own rates)."""
    below = (_OWN[None, :] <= _APART * _RATES[:, None]) & (_OWN[None, :] >= _LEAST * _RATES[:, None])
    above = 1 - _OWN[None, :] <= _APART * (1 - _RATES[:, None])
    allowed = (below | above).astype(np.float64)
    shares: _Floats = allowed / allowed.sum(axis=1, keepdims=True)
    return shares


_APART_FROM = _apart()


@lru_cache(maxsize=4096)
def _likelihood(red: int, green: int) -> _Floats:
    """Return how probable the runs of an arm are in each state, at each rate of the baseline; shape (states, rates)."""
    there: _Floats = _RATES**red * (1 - _RATES) ** green
    gone: _Floats = np.full_like(_RATES, _FALSE_RED_RATE**red * (1 - _FALSE_RED_RATE) ** green)
    own: _Floats = _APART_FROM @ (_OWN**red * (1 - _OWN) ** green)
    return np.stack((there, gone, own))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PatternPrior:
    """What is believed beforehand of the roles: the weight of each source, and what each role then shows.

    Shapes: (sources,) and (sources, roles, states).
    """

    roles: tuple[Role, ...]
    weights: _Floats
    shows: _Floats


def _expected(allowed: tuple[Shows, ...]) -> list[float]:
    """Return how probable each state is where a row allows these."""
    slips = {Shows.THERE: _SLIP, Shows.GONE: _SLIP, Shows.OWN_RATE: _OWN_SLIP}
    sure = (1 - sum(slip for shows, slip in slips.items() if shows not in allowed)) / len(allowed)
    return [sure if shows in allowed else slips[shows] for shows in _STATES]


@lru_cache(maxsize=64)
def prior_over(roles: tuple[Role, ...], faults: tuple[FaultVariant, ...]) -> PatternPrior:
    """Return the prior over these roles, where these variants are possible."""
    no_arm = [[1.0, 0.0, 0.0] for _ in roles]
    rows = [[_expected(fault.allows(role)) for role in roles] for fault in faults]
    anything, own = [[0.5, 0.48, 0.02] for _ in roles], [[0.05, 0.05, 0.9] for _ in roles]
    of_rows = 1 - _NO_ARM - _ANY_PATTERN - _OWN_RATES
    weights = [_NO_ARM, *([of_rows / len(faults)] * len(faults)), _ANY_PATTERN, _OWN_RATES]
    shows = np.array([no_arm, *rows, anything, own], dtype=np.float64).reshape(len(weights), len(roles), len(_STATES))
    return PatternPrior(roles=roles, weights=np.array(weights), shows=shows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """The runs so far, and how probable they make each pattern.

    `likelihoods` has the shape (roles, states, rates); `at_rate` is the prior of the rate times what the baseline says.
    `joint` is how probable a role's state and the rate are together, shape (roles, states, rates).
    """

    prior: PatternPrior
    counts: Mapping[Role, tuple[int, int]]
    likelihoods: _Floats
    at_rate: _Floats
    mixed: _Floats
    total: float
    joint: _Floats

    def probability(self, pattern: Mapping[Role, Shows] | Mapping[Role, tuple[Shows, ...]]) -> float:
        """Return how probable it is that these roles show this, or one of these each."""
        mixed = self.mixed.copy()
        for role, allowed in pattern.items():
            place = self.prior.roles.index(role)
            states = [_NUMBER[shows] for shows in ((allowed,) if isinstance(allowed, Shows) else allowed)]
            mixed[:, place, :] = self.prior.shows[:, place, states] @ self.likelihoods[place, states]
        product = np.einsum("k,kt,t->", self.prior.weights, mixed.prod(axis=1), self.at_rate)
        return min(1.0, float(product) / self.total)

    def likely(self, role: Role) -> tuple[Shows, float]:
        """Return what a role most probably shows, and how probable that is."""
        states = self.joint[self.prior.roles.index(role)].sum(axis=1)
        best = int(states.argmax())
        return _STATES[best], float(states[best])

    @property
    def pattern(self) -> Mapping[Role, Shows]:
        """What each role most probably shows, of those with a run."""
        best = self.joint.sum(axis=2).argmax(axis=1)
        return {
            role: _STATES[number] for role, number in zip(self.prior.roles, best, strict=True) if any(self.counts[role])
        }

    def chance(self, role: Role, shows: Shows) -> float:
        """Return how probable it is that a role shows this."""
        return float(self.joint[self.prior.roles.index(role), _NUMBER[shows]].sum())

    def information(self, role: Role, about: Sequence[Role]) -> float:
        """Return the expected bits that one more run of a role tells about what it shows.

        A run of the baseline tells of the rate, and so of what any of the roles `about` shows.
        """
        if role is not Role.BASELINE or Role.BASELINE in self.prior.roles:
            return self._bits(self.prior.roles.index(role), self._reds(role))
        rates = np.broadcast_to(_RATES, (len(_STATES), len(_RATES)))
        return max((self._bits(self.prior.roles.index(one), rates) for one in about), default=0.0)

    def _reds(self, role: Role) -> _Floats:
        """Return how probable a red of a role's next run is, in each state and at each rate."""
        red, green = self.counts.get(role, (0, 0))
        more, now = _likelihood(red + 1, green), _likelihood(red, green)
        return more / np.maximum(now, 1e-300)

    def _bits(self, place: int, reds: _Floats) -> float:
        joint = self.joint[place]
        states, reds_of = joint.sum(axis=1).tolist(), (joint * reds).sum(axis=1).tolist()
        within = [state * entropy(red / state) for state, red in zip(states, reds_of, strict=True) if state > 0]
        return entropy(float(sum(reds_of))) - float(sum(within))


@lru_cache(maxsize=20_000)
def posterior(counts: RoleCounts, baseline: tuple[int, int], faults: tuple[FaultVariant, ...]) -> Posterior:
    """Weigh every pattern of these roles by the runs; a role without one is there to be asked.

    `baseline` are its reds and greens, (0, 0) where it is one of the roles: a baseline that may be green.
    """
    prior = prior_over(tuple(role for role, _, _ in counts), faults)
    likelihoods = np.stack([_likelihood(red, green) for _, red, green in counts])
    at_rate = _WEIGHTS * _likelihood(*baseline)[_NUMBER[Shows.THERE]]
    mixed = np.einsum("kas,ast->kat", prior.shows, likelihoods)
    weighted = prior.weights[:, None] * mixed.prod(axis=1) * at_rate
    total = float(weighted.sum())
    without = weighted[:, None, :] / mixed  # what all other roles say
    joint = np.einsum("kat,kas->ast", without, prior.shows) * likelihoods / total
    return Posterior(
        prior=prior,
        counts={role: (red, green) for role, red, green in counts},
        likelihoods=likelihoods,
        at_rate=at_rate,
        mixed=mixed,
        total=total,
        joint=joint,
    )
