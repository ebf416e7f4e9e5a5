"""Search when readings are not steady: a posterior over polluters chooses each next run, and says when it is enough.

One red proves that what ran is enough; only greens are soft. What one polluter does not explain is searched for
again with every green repeated until chance explains it rarely enough.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate

from pooldiag.model.bisections import Phase
from pooldiag.model.readings import Reading
from pooldiag.rates import greens_until
from pooldiag.reduce.belief import Belief, best_share, channel_bits, log_fault, log_flake, single_belief
from pooldiag.reduce.probe import Bench, BudgetSpentError, DisagreementError, Positions

# Where nothing else is said these are chosen; what they make together is measured, see `FLAKE_PRIOR`.
_EARLIER_PRIOR = 0.05  # that an earlier case, too, makes the victim red by itself
_MOST_GREENS = 200  # in a row; at a rate of 5 %, half of the runs with the polluter, 1 search in 160 is given up so
HARDLY_ONE = 0.99
"""That it is not a single case, at which the search for one ends."""
_DRY = 10  # after so many greens the whole order is asked for its rate: it may take several cases
_NEARLY_BEST = 0.99  # of windows that tell about alike the smallest is run, which costs least
SURELY = 0.999
"""How surely a red prefix shows its red in so many tries."""
_SETTLING = 2  # further readings of each of two that disagree: at one half chance keeps that up once in 16 times
_MOST_REPEATS = 200  # a fault at 5 % is green so often in a row once in 28,000 times


def is_steady(bench: Bench, disagreement: DisagreementError) -> bool:
    """Run both selections again; tell whether they keep disagreeing: then a cleaner does it, and not chance."""
    if disagreement.red == disagreement.green:
        return False
    bench.doubt_conclusions()
    bench.begin(Phase.NOISE, 2 * _SETTLING)
    for _ in range(_SETTLING):
        for positions in (disagreement.green, disagreement.red):
            try:
                bench.clear_again(positions)
            except DisagreementError:
                return False
    return True


def unsteady_polluter(bench: Bench, confidence: float) -> tuple[int, float] | None:
    """Return the one polluter and its posterior, proven by a red run of it and the victim alone.

    None when the victim is red alone, or no single case explains the runs. Raises BudgetSpentError when the budget
    ends it. The whole order must have been red once.
    """
    bench.doubt_readings()
    dry = greens = 0
    while not bench.counts(()).red:
        if greens >= _MOST_GREENS:
            raise BudgetSpentError(f"{greens} runs in a row were green: it is red too seldom to be searched for")
        belief = single_belief(bench)
        bench.begin(Phase.NOISE, _most_left(belief))
        best = belief.best
        proven = bench.counts((best,)).red > 0
        sure = 1 - belief.flake  # whatever else is true, this case is enough
        if proven and sure >= confidence:
            return best, sure
        if belief.flake + belief.other >= max(confidence, HARDLY_ONE):
            return None
        telling = bench.everything if dry == _DRY else most_telling(belief)
        asked = _proving_run(bench, best, belief.rate, confidence) if proven else telling
        reading = bench.clear_again(asked)
        dry = 0 if reading is Reading.RED or asked == bench.everything else dry + 1
        greens = 0 if reading is Reading.RED else greens + 1
    return None


def earlier_greens(rate: float, confidence: float) -> int:
    """Return how many greens of the prefix one shorter it takes until an earlier polluter is improbable enough."""
    chance = (1 - confidence) / confidence * (1 - _EARLIER_PRIOR) / _EARLIER_PRIOR  # `prefix_confidence`, solved for it
    return greens_until(rate, chance, most=_MOST_REPEATS)


def prefix_confidence(rate: float, greens: int) -> float:
    """Return how sure it is, after so many greens of the prefix one shorter, that no earlier case does it too."""
    missed = _EARLIER_PRIOR * (1 - rate) ** greens
    return 1 - missed / (missed + 1 - _EARLIER_PRIOR)


def repeats_needed(rate: float, confidence: float, decisions: int) -> int:
    """Return the greens after which each of so many decisions, and so all of them, is right often enough."""
    return greens_until(rate, (1 - confidence) / decisions, most=_MOST_REPEATS)  # the union bound


@lru_cache(maxsize=256)
def most_telling(belief: Belief) -> Positions:
    """Return the window of cases that tells most about which it is; of equals the smallest, then the last."""
    mass, target = sum(belief.singles), best_share(belief.rate)
    if belief.singles[belief.best] >= target * mass:
        return (belief.best,)  # its red is the proof, too
    sums = [0.0, *accumulate(share / mass for share in belief.singles)]
    choices: list[tuple[float, int, int]] = []
    for start in range(len(belief.singles)):
        end = bisect_left(sums, sums[start] + target, lo=start + 1)
        stops = (stop for stop in (end - 1, end) if start < stop < len(sums))
        choices.extend((channel_bits(sums[stop] - sums[start], belief.rate), start, stop) for stop in stops)
    enough = _NEARLY_BEST * max(bits for bits, _, _ in choices)
    _, start, stop = min((one for one in choices if one[0] >= enough), key=lambda one: (one[2] - one[1], -one[1]))
    return tuple(range(start, stop))


def _proving_run(bench: Bench, best: int, rate: float, confidence: float) -> Positions:
    """Return the run that tells the polluter from a flake best; those that prove the prefix come first."""
    longer, shorter = tuple(range(best + 1)), tuple(range(best))
    if _with_it_tells_more(bench, best, rate):
        shown = bench.counts(longer)
        return (best,) if shown.red or shown.green >= repeats_needed(rate, SURELY, 1) else longer
    if bench.counts(shorter).green < earlier_greens(rate, confidence):
        return shorter
    return min(shorter, (), key=lambda one: bench.counts(one).green)


def _with_it_tells_more(bench: Bench, best: int, rate: float) -> bool:
    """Tell whether one more run with the polluter is expected to tell it from a flake better than one without."""
    red = green = missed = 0
    for positions, counts in bench.observed():
        red, green = red + counts.red, green + counts.green
        missed += counts.green if best in positions else 0
    shown = log_fault(red + 1, missed) - log_flake(red + 1, green)
    not_shown = log_fault(red, missed + 1) - log_flake(red, green + 1)
    return rate * shown + (1 - rate) * not_shown > log_fault(red, missed) - log_flake(red, green + 1)


def _most_left(belief: Belief) -> int:
    """Return about how many runs are left: the bits that are missing over the bits of a run, twice that."""
    mass = max(sum(belief.singles), 1e-9)
    missing = -sum(one / mass * math.log2(one / mass) for one in belief.singles if one > 0)
    return math.ceil(2 * missing / max(channel_bits(best_share(belief.rate), belief.rate), 1e-3)) + 4
