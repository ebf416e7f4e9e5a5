"""One run of a search, as it answers the question whether this very red is there, or all that ran did without it."""

from dataclasses import dataclass

from pooldiag.attribution.reading import cleared
from pooldiag.attribution.signatures import is_at, same_red
from pooldiag.model.cases import Case
from pooldiag.model.outcomes import CaseResult, CaseStatus, Outcome
from pooldiag.model.readings import PlaceKind, Reading, RunReading, Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The red that a search is about, and the victim, the last case of every run; None while it is not known.

    `asserts`: the victim is known to make assertions, so that a pass without one says nothing.
    """

    signature: Signature
    victim: Case | None = None
    asserts: bool = False


def answer(outcome: Outcome, reading: RunReading, question: Question) -> Reading:
    """Read a run for a search: red, green, other where the victim is red in another way, void where it says nothing.

    Other cases that failed and ran to their end change nothing; a run that ended before the victim is void.
    """
    wanted = question.signature
    if reading.reading is Reading.VOID:
        return Reading.VOID
    if is_at(wanted, PlaceKind.NOT_REACHED) and question.victim is not None:
        return Reading.GREEN if result_of(outcome, question.victim) else Reading.RED
    if any(same_red(found, wanted) for found in reading.signatures):
        return Reading.RED
    if question.victim is None:
        return Reading.GREEN if _uneventful(outcome, reading) else Reading.VOID
    if cleared(outcome, wanted) if wanted.case is None else _passed(outcome, question):
        return Reading.GREEN
    return Reading.VOID if another_red(reading, question) is None else Reading.OTHER


def another_red(reading: RunReading, question: Question) -> Signature | None:
    """Return another red of the victim than the one in question; None when this run shows none."""
    if question.victim is None or question.signature.case != question.victim.name:
        return None
    of_victim = (found for found in reading.signatures if found.case == question.victim.name)
    return next((found for found in of_victim if not same_red(found, question.signature)), None)


def result_of(outcome: Outcome, case: Case) -> CaseResult | None:
    """Return how a case ended; None when it never began."""
    return next((result for result in outcome.report.results if result.case == case), None)


def _passed(outcome: Outcome, question: Question) -> bool:
    """Tell whether the victim, and all before it, ran to their end and the victim passed."""
    result = None if question.victim is None else result_of(outcome, question.victim)
    if result is None or result.status is not CaseStatus.PASSED or outcome.finished != outcome.selected:
        return False
    return result.assertions > 0 or not question.asserts


def _uneventful(outcome: Outcome, reading: RunReading) -> bool:
    """Tell whether a beginning of the order ran to its end; an output that a later case writes cannot be there yet."""
    rest = [found for found in reading.signatures if not is_at(found, PlaceKind.LACK)]
    return outcome.finished == outcome.selected and all(found.case is not None for found in rest)
