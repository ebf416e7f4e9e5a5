"""One red of one order: the shortest prefix that shows it, and its proof."""

from dataclasses import dataclass

from pooldiag.attribution.questions import Question
from pooldiag.diagnose.prober import Places, Prober
from pooldiag.model.bisections import BothEnds, ShortestPrefix, Tried
from pooldiag.model.cases import Case
from pooldiag.model.readings import Reading
from pooldiag.reduce.prefix import boundary

_ENDS_AGAIN = 2  # further runs of both ends of the shortest prefix, so that chance is not an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRed:
    """A red of a case in an order: what to ask, and where that case stands, from 0; `number` is the order's."""

    number: int
    prober: Prober
    question: Question
    place: int

    @property
    def victim(self) -> Case:
        """The case that is red."""
        return self.prober.suite.cases[self.place]

    def prefix_below(self, best: int | None) -> int | None:
        """Return k, k red and k-1 green, if it is below the best one so far; the victim alone is green."""
        readings = {self.place: Reading.RED, 0: Reading.GREEN}  # the run of the whole order; the victim alone

        def read(size: int) -> Reading:
            if size not in readings:
                readings[size] = self._ask(tuple(range(size)))
            return readings[size]

        longest = self.place if best is None else min(best - 1, self.place)
        return boundary(read, green=0, red=longest) if read(longest) is Reading.RED else None

    def proven(self, size: int) -> ShortestPrefix | None:
        """Run both ends again; None when these runs disagree with the first ones."""
        longer, shorter = (self._again(tuple(range(end))) for end in (size, size - 1))
        if longer.green or shorter.red or not (longer.red and shorter.green):
            return None
        suite, proof = self.prober.suite, BothEnds(red=longer, green=(shorter,))
        return ShortestPrefix(order=suite.order, prefix=size, cases=longer.cases, victim=self.victim.name, proof=proof)

    def _again(self, places: Places) -> Tried:
        readings = [self._ask(places) for _ in range(_ENDS_AGAIN)]
        red, green, void = (readings.count(one) for one in (Reading.RED, Reading.GREEN, Reading.VOID))
        return Tried(cases=self.prober.suite.names(places), red=red, green=green, void=void)

    def _ask(self, places: Places) -> Reading:
        (reading,) = self.prober.ask([places], self.question)
        return reading
