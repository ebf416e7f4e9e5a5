"""The mathematics of reds and greens: Bernoulli runs at a rate that nobody knows.

The likelihood of r reds and g greens, integrated over a rate with the prior Beta(a, b), is B(a + r, b + g) / B(a, b):
the beta-binomial distribution without its binomial coefficient, which is the same for all hypotheses. So nothing is
sampled.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

from pooldiag.model.attributions import ExcludedRate, Rate

Mixture: TypeAlias = tuple[tuple[float, float, float], ...]
"""A prior of a rate: shares, each with the two parameters of a Beta distribution."""

_Z_95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution
_EXCLUDED_CONFIDENCE = 0.95  # the usual one of a bound, and that of the intervals here
_MOST_GREENS = 10_000  # stands for «never»: no diagnosis runs so often


def mixture(*, always: float = 0.0, at_any_rate: float, never: float = 0.0) -> Mixture:
    """Return a prior: red in nearly every run (99 % in the mean), at any rate alike, and hardly ever (1 %)."""
    parts = ((always, 100.0, 1.0), (at_any_rate, 1.0, 1.0), (never, 1.0, 100.0))
    return tuple(part for part in parts if part[0])


def log_mixture(prior: Mixture, red: int, green: int) -> float:
    """Integrate the likelihood of so many reds and greens over their common rate."""
    return log_sum([math.log(share) + _log_beta(a + red, b + green) - _log_beta(a, b) for share, a, b in prior])


def log_sum(logs: Sequence[float]) -> float:
    """Return the logarithm of the sum of weights that are given by their logarithms."""
    high = max(logs)
    return high + math.log(sum(math.exp(log - high) for log in logs))


def next_red(prior: Mixture, red: int, green: int) -> float:
    """Return how probable a further red is after so many runs at one rate."""
    return math.exp(log_mixture(prior, red + 1, green) - log_mixture(prior, red, green))


def normalised(logs: Sequence[float]) -> list[float]:
    """Turn logarithms of weights into shares of 1."""
    high = max(logs)
    weights = [math.exp(log - high) for log in logs]
    total = sum(weights)
    return [weight / total for weight in weights]


def entropy(probability: float) -> float:
    """Return the entropy of one red-or-green in bits (Shannon 1948, Bell Syst. Tech. J. 27:379)."""
    if not 0 < probability < 1:
        return 0.0
    return -probability * math.log2(probability) - (1 - probability) * math.log2(1 - probability)


def rate_of(red: int, runs: int) -> Rate | None:
    """Return k of n with Wilson's 95 % score interval (Wilson 1927, JASA 22:209); None without a run."""
    if not runs:
        return None
    share, z2 = red / runs, _Z_95**2
    center = (share + z2 / (2 * runs)) / (1 + z2 / runs)
    half = _Z_95 * math.sqrt(share * (1 - share) / runs + z2 / (4 * runs**2)) / (1 + z2 / runs)
    return Rate(red=red, runs=runs, low=max(0.0, center - half), high=min(1.0, center + half))


def excluded_by(greens: int) -> ExcludedRate | None:
    """Return the rate above which a fault is excluded by so many greens and no red; None without one.

    It is the exact one-sided bound of a binomial share (Clopper and Pearson 1934, Biometrika 26:404) at 0 of n, known
    as the rule of three in its first order (Hanley and Lippman-Hand 1983, JAMA 249:1743).
    """
    if greens < 1:
        return None
    bound = -math.expm1(math.log1p(-_EXCLUDED_CONFIDENCE) / greens)
    return ExcludedRate(rate=bound, confidence=_EXCLUDED_CONFIDENCE, runs=greens)


def greens_until(rate: float, chance: float, *, most: int = _MOST_GREENS) -> int:
    """Return how many greens in a row a fault with this red rate shows no more often than by this chance."""
    if rate >= 1:
        return 1
    if rate <= 0:
        return most
    return min(most, max(1, math.ceil(math.log(chance) / math.log1p(-rate))))


def _log_beta(first: float, second: float) -> float:
    return math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)
