"""The polluters: a smallest set of cases that, run before the victim, make it red.

Windows nearest the victim come first: they cost about one run of the whole. When several in a row are green,
what is left is checked once; green there means that polluters act together, and then the last one needed is
found as the end of a red prefix, the one before it with that one kept, and so on. What comes out was run, and
so was everything without each of its members.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pooldiag.model.bisections import Phase
from pooldiag.model.readings import Reading
from pooldiag.reduce.prefix import boundary
from pooldiag.reduce.probe import Bench, Positions, Trust, without

_LEAST_MISSES = 3  # each halves what is left, so the check runs an eighth of the suspects
_UNCHECKED_BITS = 4  # a check runs no more than about 2**4 cases, or an eighth of them


def misses_before_check(suspects: int) -> int:
    """Return how many windows in a row may miss until what is left is checked.

    Polluters that act together are noticed one run later for each; a single one costs the cases of the check
    where it is hit. 3 of them up to 128 cases: at most 1/8 of the cases once more.
    """
    return max(_LEAST_MISSES, (suspects - 1).bit_length() - _UNCHECKED_BITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetQuestion:
    """Which of some cases bring about the wanted reading, with other cases always there."""

    bench: Bench
    wanted: Reading = Reading.RED
    always: Positions = ()

    def __call__(self, some: Positions) -> bool:
        """Tell whether these cases bring it about; ProbeVoidError when their runs stay void."""
        return self.bench.demand(self.joined(some)) is self.wanted

    def read(self, some: Positions) -> Reading:
        """Run these cases with those that are always there."""
        return self.bench.read(self.joined(some))

    def implied(self, some: Positions) -> Reading | None:
        """Return what other runs imply; None when they imply nothing."""
        return self.bench.implied(self.joined(some))

    def joined(self, some: Positions) -> Positions:
        """Return the selection that is run."""
        return tuple(sorted({*self.always, *some})) if self.always else some

    def misses(self) -> Iterator[Positions]:
        """Yield the selections that did not bring it about."""
        for positions, counts in self.bench.observed():
            hit, miss = (counts.red, counts.green) if self.wanted is Reading.RED else (counts.green, counts.red)
            if miss and not hit:
                yield positions


def minimal_set(ask: SetQuestion, suspects: Positions) -> Positions:
    """Return a 1-minimal set among the suspects, all of which together bring the wanted reading about.

    The set without any one member has been run, and does not. Raises ProbeVoidError, and what `Bench.read` raises.
    """
    bits = (len(suspects) - 1).bit_length()
    ask.bench.begin(Phase.SEARCH, bits + 2)
    suspects, last = _narrowed(ask, suspects)
    if last is not None:
        ask.bench.begin(Phase.CONFIRMATION, 1)
        if ask(last):
            return _thinned(ask, last)
    ask.bench.begin(Phase.SEARCH, 2 * bits + 3)
    found = _trimmed(ask, suspects)
    ask.bench.begin(Phase.COUNTERFACTUAL, len(found))
    return _thinned(ask, found)


def all_sets(ask: SetQuestion, suspects: Positions, first: Positions) -> tuple[Positions, ...]:
    """Return `first` and every further minimal set that shares no case with those before it, one at a time."""
    sets = [first]
    while True:
        rest = tuple(one for one in suspects if not any(one in found for found in sets))
        ask.bench.begin(Phase.SEARCH, 1)
        if not ask(rest):
            return tuple(sets)
        sets.append(minimal_set(ask, rest))


def cleaners_of(bench: Bench, polluters: Positions, among: Positions) -> Positions:
    """Return the smallest set of cases that, with the polluters there, makes the victim green; empty when none does.

    Cleaners after a polluter, state-setters for a victim that is red alone: the search is the one for polluters, with
    the wanted reading turned round. `polluters`, then the victim, are red; where it is red alone there are none. Takes
    1 run of all of `among` with the polluters, log2 of their number for the search, and 1 for the confirmation, when
    one case cleans.
    """
    bench.doubt_conclusions()  # more cases make a red go: that is what is looked for
    bench.look_for_green()
    ask = SetQuestion(bench=bench, wanted=Reading.GREEN, always=polluters)
    suspects = tuple(one for one in among if one not in polluters)
    bench.begin(Phase.CLEANERS, len(suspects).bit_length() + 2)
    return minimal_set(ask, suspects) if ask(suspects) else ()


def _narrowed(ask: SetQuestion, suspects: Positions) -> tuple[Positions, Positions | None]:
    """Halve; return the smallest window seen to hit, and the one case left. None for that if several act together.

    The half next to the victim comes first. The last window before the check is a far one instead: the first
    cases of a suite are the next suspects, because they set things up.
    """
    hit = window = suspects
    misses, checked, allowed = 0, False, misses_before_check(len(suspects))
    while len(window) > 1:
        middle = len(window) // 2
        halves = (window[:middle], window[middle:])
        tested, other = halves if misses == allowed - 1 else reversed(halves)
        if ask.read(tested) is Reading.VOID:
            tested, other = other, tested
        if ask(tested):
            hit, window, misses = tested, tested, 0
            continue
        window, misses = other, misses + 1
        if misses == allowed and not checked and len(window) > 1:
            checked = True
            if not ask(window):
                return hit, None
            hit, misses = window, 0
    return hit, window


def _trimmed(ask: SetQuestion, suspects: Positions) -> Positions:
    """Keep the last case of the shortest prefix that hits, and go on with those before it, until those kept hit."""
    kept: Positions = ()
    whole = ask.joined(suspects)
    ask.bench.reassure(whole)
    while suspects:
        size = boundary(
            _prefixes(ask, suspects, kept), green=0, red=len(suspects), weights=_weights(ask, suspects, kept)
        )
        kept = (suspects[size - 1], *kept)
        suspects = suspects[: size - 1]
        if ask.implied(kept) in {None, ask.wanted} and ask(kept):
            break
        if len(kept) > 1:
            ask.bench.reassure(whole)
    return kept


def _prefixes(ask: SetQuestion, suspects: Positions, kept: Positions) -> Callable[[int], Reading]:
    """Return a probe over sizes: so many of the suspects, and those kept; RED stands for a hit."""

    def read(size: int) -> Reading:
        some = (*suspects[:size], *kept)
        reading = ask.implied(some) or ask.read(some)
        if reading is Reading.VOID:
            return reading
        return Reading.RED if reading is ask.wanted else Reading.GREEN

    return read


def _weights(ask: SetQuestion, suspects: Positions, kept: Positions) -> list[float] | None:
    """Count for each size the sets that it is the end of and that no miss contains: pairs, or single cases."""
    if ask.bench.trust is not Trust.CONCLUSIONS:
        return None
    base = {*ask.always, *kept}
    misses = [frozenset(positions) for positions in ask.misses() if base.issubset(positions)]
    if kept:
        return [0.0, *(0.0 if any(one in miss for miss in misses) else 1.0 for one in suspects)]
    place = {one: index for index, one in enumerate(suspects)}
    masks = [(miss, sum(1 << place[one] for one in miss if one in place)) for miss in misses]
    weights = [0.0]
    for index, one in enumerate(suspects):
        excluded = reduce(or_, (mask for miss, mask in masks if one in miss), 0)
        weights.append(float((((1 << index) - 1) & ~excluded).bit_count()))
    return weights


def _thinned(ask: SetQuestion, found: Positions) -> Positions:
    """Leave members out as long as what is left hits; in the end every smaller set by one has been run."""
    for one in reversed(found):
        rest = without(found, one)
        if ask(rest):
            return _thinned(ask, rest)
    return found
