"""How probable an answer is, given all runs: a posterior over polluters, with flakes and anything else beside it.

Runs are Bernoulli trials. When one case is the polluter, runs with it are red at one unknown rate and runs without it
are green: one red without it rules it out, greens with it only weigh. Under a flake every run is red at one rate,
whatever it holds, and of all rates at the one that suits the runs best; when several act together some selections are
red at one rate and the others never; under the catch-all every selection has a rate of its own. Rates but a flake's are
integrated out with Beta priors, so nothing is sampled (the likelihood of r reds and g greens is
B(a + r, b + g) / B(a, b)).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from pooldiag.model.readings import Reading
from pooldiag.rates import entropy, log_mixture, log_sum, mixture, normalised
from pooldiag.reduce.probe import Bench, Counts, Positions, bits_of

FLAKE_PRIOR = 0.28
"""The prior of a flake: a victim that is red now and then whatever ran.

Set so that confidence holds against every flake that is red in 30 to 90 % of runs, and not only on average over
targets: `scripts/calibrate_bisect` measures it. It cannot be had for nothing: a run tells 0.32 bits at most, both of
which case it is and of its not being a flake.
"""
_OFTEN = 0.3
_SELDOM = 8
"""Flakes that are red less often than that count less, with this power of their rate.

They are seen less often in an order that runs twice; and to tell a fault that shows in half of the runs from a flake at
any rate takes about 6 runs more. Chosen with `FLAKE_PRIOR`: 41 runs on average there.
"""
_SEEN_TO_DISAGREE = 1.25  # how much more a flake weighs once a selection disagreed with itself; chosen with the others
# Chosen, as are the shares below; what they cost and how often they are right was measured with `FLAKE_PRIOR`.
CATCH_ALL_PRIOR = 0.05
TOGETHER_PRIOR = 0.05
SET_PRIOR = 0.10
"""The prior of more than one polluter; what is left is for a single one."""

_Runs = tuple[tuple[int, Counts], ...]  # selections as bits, and how often they read which way
_FAULT = mixture(always=0.5, at_any_rate=0.5)  # half of the faults show in nearly every run, half at any rate
_FREE = mixture(always=0.25, at_any_rate=0.5, never=0.25)  # of one selection: the catch-all may be steady, too
_SHORT = 20  # cases more to choose from than there are: in a short suite a flake is soon laid to some case
_NOW_AND_THEN = 0.2  # how much less than by itself one case weighs, now and then, against several that were found
_ABLE = 0.3  # how many of the selections that are run hold all of several polluters


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """The posterior: of each single case, of a flake, and of anything else; and the red rate of the best case."""

    singles: tuple[float, ...]
    flake: float
    other: float
    rate: float

    @property
    def best(self) -> int:
        """The most probable polluter; of equals the one nearest the victim."""
        return max(range(len(self.singles)), key=lambda one: (self.singles[one], one))


def single_belief(bench: Bench) -> Belief:
    """Weigh every single case as the polluter against a flake and the catch-all, by all runs on the bench."""
    return _weighed(bench.length, _runs(bench))


@lru_cache(maxsize=256)  # a search that is replayed asks the same again and again
def _weighed(length: int, runs: _Runs) -> Belief:
    greens = _greens_with(length, runs)
    logs = _log_singles(length, runs, greens)
    catch_all = math.log(CATCH_ALL_PRIOR) + sum(log_mixture(_FREE, counts.red, counts.green) for _, counts in runs)
    flake = _log_flake(runs) + math.log(_SEEN_TO_DISAGREE)
    weights = normalised([*logs, flake, catch_all, _log_together(runs)])
    singles, mass = weights[:-3], sum(weights[:-3])
    red = sum(counts.red for _, counts in runs)
    means = ((1 + red) / (2 + red + green) for green in greens)  # of the rate after so many runs, from a flat prior
    rate = 0.5 if mass <= 0 else sum(w * mean for w, mean in zip(singles, means, strict=True)) / mass
    return Belief(singles=tuple(singles), flake=weights[-3], other=weights[-2] + weights[-1], rate=rate)


def set_confidence(bench: Bench, sets: Sequence[Positions], wanted: Reading = Reading.RED) -> float:
    """Return how probable it is that these sets do it, and not a flake, nor one case now and then.

    Selections that hold one of them show the wanted reading at one rate; the others do not, but for what a
    further set at an unknown place would explain. The catch-all is left out: whatever else is true, what was seen
    to bring the reading about, without a flake, is enough for it.
    """
    runs = _runs(bench)
    held = [bits_of(one) for one in sets]
    hits = misses = 0
    strays: list[tuple[int, Counts]] = []  # those that hold none of them
    for bits, counts in runs:
        hit, miss = (counts.red, counts.green) if wanted is Reading.RED else (counts.green, counts.red)
        if any(one & ~bits == 0 for one in held):
            hits, misses = hits + hit, misses + miss
        else:
            strays.append((bits, Counts(red=hit, green=miss)))
    single = [len(one) for one in sets] == [1]
    prior = 1 - FLAKE_PRIOR - CATCH_ALL_PRIOR - TOGETHER_PRIOR - SET_PRIOR if single else SET_PRIOR
    places = sum(math.log(math.comb(bench.length + _SHORT, len(one))) for one in sets)
    log = math.log(prior) - places + _log_shown(bench.length, hits, misses, tuple(strays))
    others = [_log_flake(runs)]
    if wanted is Reading.RED and not single:
        one_case = _log_singles(bench.length, runs, _greens_with(bench.length, runs))
        others += [log + math.log(_NOW_AND_THEN) for log in one_case]
    return normalised([log, *others])[0]


def _log_shown(length: int, hits: int, misses: int, strays: _Runs) -> float:
    """Say how probable the runs are if some sets do it: those that hold one, and the strays, which hold none.

    What a stray shows is done by one further case at an unknown place, or by something else at rates of its own.
    """
    shown = sum(counts.red for _, counts in strays)
    if not shown:
        return log_fault(hits, misses)
    able = _log_able([(counts.red, counts.green) for _, counts in strays])
    further = [log_fault(hits, misses) + able - math.log(length)]
    possible = _in_every_red(length, strays)
    for one, green in enumerate(_greens_with(length, strays)):
        if possible >> one & 1:
            further.append(log_fault(hits + shown, misses + green) - math.log(length))
    return log_sum(further)


def best_share(rate: float) -> float:
    """Return the share of the posterior that a selection should hold to tell most.

    A red of probability `rate` when the polluter is in, never when it is not, is a Z-channel; its capacity is
    reached at 1 / (p (1 + 2^(H(p) / p))) (Golomb 1980, IEEE Trans. Inf. Theory 26:372).
    """
    rate = min(max(rate, 0.01), 1.0)
    return 1 / (rate * (1 + 2 ** (entropy(rate) / rate)))


def channel_bits(share: float, rate: float) -> float:
    """Return the bits that one run tells which holds this share of the posterior, at this red rate."""
    return entropy(share * rate) - share * entropy(rate)


def _runs(bench: Bench) -> _Runs:
    """Return the selections that say something, in the order in which they were first run."""
    return tuple((bits, counts) for bits, counts in bench.observed_bits() if counts.red or counts.green)


def _log_singles(length: int, runs: _Runs, greens: Sequence[int]) -> list[float]:
    """Return for each case how probable it is as the only polluter, and the runs given that."""
    red = sum(counts.red for _, counts in runs)
    possible = _in_every_red(length, runs)
    prior = math.log((1 - FLAKE_PRIOR - CATCH_ALL_PRIOR - TOGETHER_PRIOR) / (length + _SHORT))
    marginal = {green: prior + log_fault(red, green) for green in {*greens}}
    return [marginal[green] if possible >> one & 1 else -math.inf for one, green in enumerate(greens)]


def _in_every_red(length: int, runs: _Runs) -> int:
    """Return the cases, as bits, that every selection held which was red."""
    possible = (1 << length) - 1
    for bits, counts in runs:
        possible &= bits if counts.red else possible
    return possible


def _greens_with(length: int, runs: _Runs) -> list[int]:
    """Count for each case the green runs that held it."""
    steps = [0] * (length + 1)
    for bits, counts in runs:
        edges = bits ^ (bits << 1)  # where a row of cases begins, and where it ends
        sign = counts.green
        while edges:
            first = edges & -edges
            steps[first.bit_length() - 1] += sign
            sign, edges = -sign, edges ^ first
    return list(accumulate(steps[:-1]))


def log_fault(red: int, green: int) -> float:
    """Say how probable so many reds and greens of runs with the polluter are."""
    return log_mixture(_FAULT, red, green)


def log_flake(red: int, green: int) -> float:
    """Say how probable the runs are under the flake that suits them best: no rate of it is then misjudged more often.

    Averaged over its rates, a flake would weigh less than the one at hand.
    """
    rate = red / max(1, red + green)
    if rate < _OFTEN:
        rate = min(_OFTEN, (red + _SELDOM) / (red + _SELDOM + green))
    parts = ((red, rate), (green, 1 - rate), (_SELDOM, min(1, rate / _OFTEN)))
    return math.log(FLAKE_PRIOR) + sum(times * math.log(share) for times, share in parts if times)


def _log_flake(runs: _Runs) -> float:
    return log_flake(sum(counts.red for _, counts in runs), sum(counts.green for _, counts in runs))


def _log_together(runs: _Runs) -> float:
    """Say how probable the runs are if several cases act together: few selections hold them all, at one rate."""
    return math.log(TOGETHER_PRIOR) + _log_able([(counts.red, counts.green) for _, counts in runs])


def _log_able(selections: Sequence[tuple[int, int]]) -> float:
    """Say how probable the runs of selections are if those that were red, and no others, can be, at one rate."""
    able = [(red, green) for red, green in selections if red]
    kinds = len(able) * math.log(_ABLE) + (len(selections) - len(able)) * math.log(1 - _ABLE)
    return kinds + log_mixture(_FAULT, sum(red for red, _ in able), sum(green for _, green in able))
