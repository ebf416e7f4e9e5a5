"""From outcome to reading: what outranks what is decided here, and nowhere else."""

from pooldiag.attribution.signatures import OUTPUT, is_about_output, signatures
from pooldiag.model.outcomes import CaseResult, CaseStatus, Outcome
from pooldiag.model.readings import Reading, RunReading, Sight, Signature
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
    if outcome.silences:
        return outcome.silences[0].text
    return next((reason for part in outcome.parts or (outcome,) if (reason := _misled(part)) is not None), None)


def _misled(outcome: Outcome) -> str | None:
    """Say why the report of a run that ended by itself is no report of it."""
    if (child := _crashed_child(outcome)) is not None:
        return f"a child of the target wrote its crash in {child} into the report; the target itself ended well"
    ended = outcome.completed.ending is Ending.EXITED
    if outcome.selection is not None and not outcome.report.results and ended:
        return _nothing_ran(outcome)
    return None


def _crashed_child(outcome: Outcome) -> str | None:
    """Name the case in which a forked child crashed; None when none did.

    A child has the framework's signal handlers, and writes the end of the report; a process that crashed
    itself does not exit with 0.
    """
    crashed = [one.case.name for one in outcome.report.results if one.status is CaseStatus.CRASHED]
    ended_well = outcome.completed.ending is Ending.EXITED and outcome.completed.exit_code == 0
    return crashed[-1] if crashed and ended_well else None


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
        return _written(outcome, signature) if is_about_output(signature) else True
    if signature.case is not None:
        victims = [result for result in outcome.report.results if result.case.name == signature.case]
        return bool(victims) and all(victim.status is CaseStatus.PASSED and victim.assertions for victim in victims)
    whole = outcome.finished == outcome.selected
    return whole and (_written(outcome, signature) if is_about_output(signature) else True)


def _written(outcome: Outcome, signature: Signature) -> bool:
    """Tell whether the output that the signature names was written and counted in this run."""
    counted = {output.path for output in outcome.outputs if output.census is not None}
    names = counted | {line.name for line in outcome.printed}
    return any(signature.place == name or (signature.place or "").startswith(f"{OUTPUT}{name}: ") for name in names)
