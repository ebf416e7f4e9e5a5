"""From outcome to reading: what outranks what is decided here, and nowhere else."""

from pooldiag.attribution.signatures import OUTPUT, signatures
from pooldiag.model.outcomes import CaseResult, CaseStatus, Outcome
from pooldiag.model.readings import Reading, RunReading, Sight, Signature, SignatureKind
from pooldiag.model.runs import Ending


def read(outcome: Outcome) -> RunReading:
    """Read one outcome: void first, then the ending, the counts, the outputs; summary text counts for nothing."""
    vacuous = tuple(result.case.name for result in outcome.report.results if _vacuous(result))
    reason = _void_reason(outcome)
    if reason is not None:
        return RunReading(run=outcome.run, reading=Reading.VOID, void_reason=reason, notes=outcome.notes)
    found = signatures(outcome)
    return RunReading(
        run=outcome.run,
        reading=Reading.RED if found else Reading.GREEN,
        signatures=found,
        vacuous=vacuous,
        notes=outcome.notes,
    )


def _vacuous(result: CaseResult) -> bool:
    return result.status is CaseStatus.PASSED and result.assertions == 0


def _void_reason(outcome: Outcome) -> str | None:
    """Say why the run says nothing; None when it says something."""
    if outcome.parts:
        return next((reason for part in outcome.parts if (reason := _void_reason(part)) is not None), None)
    completed = outcome.completed
    if completed.shortage is not None:
        return completed.shortage
    if outcome.void_marks:
        return outcome.void_marks[0]
    if completed.ending in {Ending.STOPPED, Ending.NOT_STARTED, Ending.INTERRUPTED}:
        return completed.stopped_by or completed.words
    if outcome.selection is not None and not outcome.report.results and completed.ending is Ending.EXITED:
        return _nothing_ran(outcome)
    return None


def _nothing_ran(outcome: Outcome) -> str | None:
    """Say that nothing ran; None when the exit code tells of a red before the first case."""
    if not outcome.selected:
        return "nothing ran: every case is skipped or filtered out"
    if outcome.completed.exit_code == 0:
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
    if outcome.selection is None:
        return _written(outcome, signature) if _about_output(signature) else True
    if signature.case is not None:
        victims = [result for result in outcome.report.results if result.case.name == signature.case]
        done = {CaseStatus.PASSED, CaseStatus.FAILED}
        return bool(victims) and all(victim.status in done and victim.assertions for victim in victims)
    whole = outcome.finished == outcome.selected
    return whole and (_written(outcome, signature) if _about_output(signature) else True)


def _about_output(signature: Signature) -> bool:
    return signature.kind is SignatureKind.NAN or (signature.place or "").startswith(OUTPUT)


def _written(outcome: Outcome, signature: Signature) -> bool:
    """Tell whether the output that the signature names was written and counted in this run."""
    counted = {output.path for output in outcome.outputs if output.census is not None}
    names = counted | {line.name for line in outcome.printed}
    return any(signature.place == name or (signature.place or "").startswith(f"{OUTPUT}{name}: ") for name in names)
