"""The red prefix: k such that the first k cases, then the victim, are red, and the first k-1 green, both run."""

import math
from collections.abc import Callable, Sequence

from pooldiag.model.bisections import Phase
from pooldiag.model.readings import Reading
from pooldiag.reduce.probe import Bench, ProbeVoidError, first_cases

_DETOURS = 4  # cuts that are tried where one is void; chosen: two on each side, each of them `VOID_TRIES` runs


def boundary(read: Callable[[int], Reading], *, green: int, red: int, weights: Sequence[float] | None = None) -> int:
    """Bisect between a size that is green and one that is red; return a red size whose lower neighbour is green.

    `weights[k]` says how many answers end with the boundary k (default: all alike). A void cut is never guessed at: its
    neighbours are tried instead, and ProbeVoidError is raised when they are void too.
    """
    while red - green > 1:
        cut, reading = _first_clear(read, green, red, weights)
        if reading is Reading.RED:
            red = cut
        else:
            green = cut
    return red


def prove_prefix(bench: Bench, guess: int) -> int:
    """Return a k that is proven by two runs, k red and k-1 green: `guess` if it holds, else by bisection.

    The victim alone must have read green and the whole order red. With cleaners there can be several such k.
    Raises ProbeVoidError when an end stays void.
    """
    bench.begin(Phase.PREFIX, 2)

    def read(size: int) -> Reading:
        some = first_cases(size)
        return bench.implied(some) or bench.read(some)

    green, red = 0, guess - 1  # one shorter comes first: where that is red, too, the guess need not be run
    if bench.demand(first_cases(guess - 1)) is Reading.GREEN:
        if bench.demand(first_cases(guess)) is Reading.RED:
            return guess
        green, red = guess, bench.length
    bench.begin(Phase.PREFIX, (red - green).bit_length())
    size = boundary(read, green=green, red=red)
    for end in (size, size - 1):  # what is implied is no proof
        bench.demand(first_cases(end))
    return size


def _first_clear(
    read: Callable[[int], Reading], green: int, red: int, weights: Sequence[float] | None
) -> tuple[int, Reading]:
    """Read the cut that halves what is left, then a few of its neighbours on both sides, until one is not void."""
    middle = (green + red) // 2 if weights is None else _likely_cut(green, red, weights)
    around = (cut for step in range(1, _DETOURS // 2 + 1) for cut in (middle - step, middle + step))
    for cut in (middle, *(cut for cut in around if green < cut < red)):
        if (reading := read(cut)) is not Reading.VOID:
            return cut, reading
    raise ProbeVoidError(first_cases(middle))


def _likely_cut(green: int, red: int, weights: Sequence[float]) -> int:
    """Return the cut with as much weight below as above, unless another one is needed to end in as few runs as can be.

    A boundary of weight w stands for w answers, which take another log2 w runs to tell apart.
    """
    left = [math.ceil(math.log2(max(weight, 1))) if weight > 0 else None for weight in weights]
    shares = sum(2.0**one for one in left[green + 1 : red + 1] if one is not None)
    if shares == 0:
        return (green + red) // 2
    runs = math.ceil(math.log2(shares))
    while _reach(left, green, red, runs) < red:
        runs += 1
    cut = _median(green, red, weights)
    if _reach(left, green, cut, runs - 1) >= cut and _reach(left, cut, red, runs - 1) >= red:
        return cut
    return min(max(_reach(left, green, red, runs - 1), green + 1), red - 1)


def _reach(left: Sequence[int | None], start: int, stop: int, runs: int) -> int:
    """Return the last size up to which so many runs tell everything apart, that which is left at each size included."""
    while start < stop and (left[start + 1] is None):
        start += 1
    if start == stop:
        return stop
    need = left[start + 1] or 0
    if need >= runs:
        return start + (need == runs)
    return _reach(left, _reach(left, start, stop, runs - 1), stop, runs - 1)


def _median(green: int, red: int, weights: Sequence[float]) -> int:
    """Return the cut with as much weight below it (up to itself) as above it."""
    total = sum(weights[green + 1 : red + 1])
    best, below, least = green + 1, 0.0, total
    for cut in range(green + 1, red):
        below += weights[cut]
        if (gap := abs(2 * below - total)) < least:
            best, least = cut, gap
    return best
