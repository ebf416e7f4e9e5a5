"""Cases that make a red victim green: cleaners after a polluter, state-setters for a victim that is red alone.

The search is the one for polluters, with the wanted reading turned round.
"""

from pooldiag.model.readings import Reading
from pooldiag.reduce.polluters import SetQuestion, minimal_set
from pooldiag.reduce.probe import Bench, Phase, Positions


def cleaners_of(bench: Bench, polluters: Positions, among: Positions) -> Positions:
    """Return the smallest set of cases that, with the polluters there, makes the victim green; empty when none does.

    `polluters`, then the victim, are red; where the victim is red alone there are none. Takes 1 run of all of `among`
    with the polluters, log2 of their number for the search, and 1 for the confirmation, when one case cleans.
    """
    bench.doubt_conclusions()  # more cases make a red go: that is what is looked for
    ask = SetQuestion(bench=bench, wanted=Reading.GREEN, always=polluters)
    suspects = tuple(one for one in among if one not in polluters)
    bench.begin(Phase.CLEANERS, len(suspects).bit_length() + 2)
    return minimal_set(ask, suspects) if ask(suspects) else ()
