"""From outcome to reading: what outranks what is decided here, and nowhere else."""

from collections.abc import Iterator

from pooldiag.attribution.signatures import output_of, printed_reds, signatures
from pooldiag.model.outcomes import CaseStatus, Outcome
from pooldiag.model.readings import Reading, RunReading, Sight, Signature
from pooldiag.model.runs import Ending


def read(outcome: Outcome) -> RunReading:
    """Read one outcome: void first, then the ending, the counts, the outputs; summary text counts for nothing."""
    passed = (result for result in outcome.report.results if result.status is CaseStatus.PASSED)
    reason = _void_reason(outcome)
    if reason is not None:
        return RunReading(run=outcome.run, reading=Reading.VOID, void_reason=reason, notes=outcome.notes)
    found = signatures(outcome)
    return RunReading(
        run=outcome.run,
        reading=Reading.RED if found else Reading.GREEN,
        signatures=found,
        vacuous=tuple(result.case.name for result in passed if not result.assertions),
        notes=(*outcome.notes, *_notes_of_printed(outcome)),
    )


def _notes_of_printed(outcome: Outcome) -> Iterator[str]:
    """Say where the target's own lines make a run red, and how to leave them out."""
    for name in dict.fromkeys(line.name for part in outcome.parts or (outcome,) for line in printed_reds(part)):
        yield (
            f"NaN or infinity in {name}: printed by the target; "
            "--no-printed-census leaves such lines out: a log may speak of a reference"
        )


def _void_reason(outcome: Outcome) -> str | None:
    """Say why the run says nothing; None when it says something."""
    if outcome.silences:
        return outcome.silences[0].text
    return next((reason for part in outcome.parts or (outcome,) if (reason := _misled(part)) is not None), None)


def _misled(outcome: Outcome) -> str | None:
    """Say why the report of a run that ended by itself does not speak for it."""
    if outcome.completed.ending is not Ending.EXITED:
        return None
    # A forked child has the framework's signal handlers, and writes the end of the report; a process that crashed
    # itself does not exit with 0.
    crashed = [one.case.name for one in outcome.report.results if one.status is CaseStatus.CRASHED]
    if crashed and outcome.completed.ended_well:
        return f"a child of the target wrote its crash in {crashed[-1]} into the report; the target itself ended well"
    if outcome.selection is None or outcome.report.results:
        return None
    if not outcome.selected:
        return "nothing ran: every case is skipped or filtered out"
    if outcome.completed.exit_code == 0:  # any other tells of a red before the first case
        return f"nothing ran: 0/{outcome.selected} cases started, exit code 0"
    return None


def sight(outcome: Outcome, reading: RunReading, *, signature: Signature | None, known: frozenset[Signature]) -> Sight:
    """See one run from one signature; `known` are the signatures that baseline runs showed.

    Without a signature (a green baseline) every red is a new one. A run clears the red only when nothing
    new is red and the victim ran to its end with at least one assertion.
    """
    if reading.reading is Reading.VOID:
        return Sight.NOTHING
    if signature is not None and signature in reading.signatures:
        return Sight.SAME_RED
    if any(found not in known for found in reading.signatures):
        return Sight.NEW_RED
    return Sight.GREEN if signature is None or cleared(outcome, signature) else Sight.NOTHING


def cleared(outcome: Outcome, signature: Signature) -> bool:
    """Tell whether an outcome without the signature really ran what showed it."""
    if outcome.selection is not None and signature.case is not None:
        victims = [result for result in outcome.report.results if result.case.name == signature.case]
        return bool(victims) and all(victim.status is CaseStatus.PASSED and victim.assertions for victim in victims)
    if outcome.selection is not None and outcome.finished != outcome.selected:
        return False
    counted = {output.path for output in outcome.outputs if output.census is not None}
    return output_of(signature) in {None, *counted, *(line.name for line in outcome.printed)}
