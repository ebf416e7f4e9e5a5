"""Rates of red: k of n, with an interval, and how many greens it takes until a green says something."""

import math

from pooldiag.model.attributions import Rate

_Z_95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution
_MOST_GREENS = 10_000


def rate_of(red: int, runs: int) -> Rate | None:
    """Return k of n with Wilson's 95 % score interval (Wilson 1927, JASA 22:209); None without a run."""
    if not runs:
        return None
    share, z2 = red / runs, _Z_95**2
    center = (share + z2 / (2 * runs)) / (1 + z2 / runs)
    half = _Z_95 * math.sqrt(share * (1 - share) / runs + z2 / (4 * runs**2)) / (1 + z2 / runs)
    return Rate(red=red, runs=runs, low=max(0.0, center - half), high=min(1.0, center + half))


def greens_until(rate: float, confidence: float) -> int:
    """Return how many greens in a row a fault with this red rate shows by chance less often than 1 - confidence."""
    if rate >= 1:
        return 1
    if rate <= 0:
        return _MOST_GREENS
    return min(_MOST_GREENS, max(1, math.ceil(math.log(1 - confidence) / math.log1p(-rate))))
