"""From one outcome to its signatures: the ending first, then the cases in running order, then the outputs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pooldiag.model.cases import Case
from pooldiag.model.counts import PrintedCensus
from pooldiag.model.outcomes import CaseResult, CaseStatus, Outcome
from pooldiag.model.readings import PlaceKind, RedPlace, Signature, SignatureKind
from pooldiag.model.runs import Completed, Ending
from pooldiag.model.signals import signal_name, signal_of_exit_code

_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")
_MESSAGE_LINES = 3  # of a message, the first that are not empty

# The words of places that are neither a source line nor a message.
_FIRST, _BETWEEN, _LAST = "before the first case", "between two cases", "after the last case"
_ENDED_AFTER, _NEVER_STARTED = "ended after ", "never started: "
_AMONG_CASES = (_FIRST, _BETWEEN, _LAST, _ENDED_AFTER, _NEVER_STARTED)
_OUTPUT = "output "
_NOT_REACHED = RedPlace(text="not reached", kind=PlaceKind.NOT_REACHED)


def signatures(outcome: Outcome) -> tuple[Signature, ...]:
    """Return every failure that the outcome holds; none when it is green."""
    if outcome.parts:
        return tuple(dict.fromkeys(found for part in outcome.parts for found in signatures(part)))
    ending = _ending(outcome)
    inside = (*(() if ending is None else (ending,)), *_failures(outcome))
    return tuple(dict.fromkeys((*(inside or _unexplained(outcome)), *_outputs(outcome))))


def same_red(found: Signature, wanted: Signature) -> bool:
    """Tell whether a run of other cases shows the same red.

    A place that only says between which cases a run ended is not compared: it depends on what was selected.
    """
    return _anywhere(found) == _anywhere(wanted)


def as_seen(wanted: Signature, known: Iterable[Signature]) -> Signature:
    """Return a red as it was seen among these, where its place may have other words; itself where it was not seen."""
    return next((found for found in known if same_red(found, wanted)), wanted)


def output_of(signature: Signature) -> str | None:
    """Name the output that a red is in, or that is absent or short; None for a red that is about none."""
    return None if signature.place is None else signature.place.output


def is_at(signature: Signature, kind: PlaceKind) -> bool:
    """Tell whether the place of a red is of this kind."""
    return signature.place is not None and signature.place.kind is kind


def not_reached(victim: Case) -> Signature:
    """Return the signature of a victim that never began."""
    return Signature(kind=SignatureKind.COUNT, case=victim.name, place=_NOT_REACHED)


def without_numbers(message: str) -> str:
    """Return a message without its numbers and addresses, which differ from run to run."""
    return _NUMBERS.sub("…", message)


def first_lines(message: str | None) -> str | None:
    """Return the first lines of a message that are not empty; None where there is none."""
    lines = [line.rstrip() for line in (message or "").splitlines() if line.strip()]
    return "\n".join(lines[:_MESSAGE_LINES]) or None


def saved_place(text: str | None, *, kind: SignatureKind, case: str | None) -> RedPlace | None:
    """Return the place of a signature in a report of an older version, which has its text alone."""
    if kind is SignatureKind.COUNT and case is not None and text == _NOT_REACHED.text:
        return _NOT_REACHED
    if case is not None or text is None:
        return _worded(text)
    if kind is SignatureKind.NAN:
        return _in_output(text)
    if kind is SignatureKind.COUNT and text.startswith(_OUTPUT):
        path, _, problem = text.removeprefix(_OUTPUT).rpartition(": ")
        return _lack(path, problem)
    return _among(text) if text.startswith(_AMONG_CASES) else RedPlace(text=text)


def _worded(text: str | None) -> RedPlace | None:
    return None if text is None else RedPlace(text=text)


def _among(text: str) -> RedPlace:
    return RedPlace(text=text, kind=PlaceKind.AMONG_CASES)


def _in_output(name: str) -> RedPlace:
    return RedPlace(text=name, kind=PlaceKind.OUTPUT, output=name)


def _lack(path: str, problem: str) -> RedPlace:
    return RedPlace(text=f"{_OUTPUT}{path}: {problem}", kind=PlaceKind.LACK, output=path)


def _anywhere(signature: Signature) -> Signature:
    return replace(signature, place=None) if is_at(signature, PlaceKind.AMONG_CASES) else signature


def ending_signal(completed: Completed) -> str | None:
    """Name the signal that ended the process, also when a shell in between made it 128+n."""
    if completed.ending is Ending.SIGNALLED and completed.signal is not None:
        return signal_name(completed.signal)
    if completed.ending is Ending.EXITED and completed.exit_code is not None:
        number = signal_of_exit_code(completed.exit_code)
        return None if number is None else signal_name(number)
    return None


def _ending(outcome: Outcome) -> Signature | None:
    """Read how the run ended: crash, hang, or an end inside a case; None for an ordinary end."""
    completed, broken = outcome.completed, _broken_case(outcome)
    mark = outcome.text_marks[0] if outcome.text_marks else None
    if completed.ending is Ending.TIMED_OUT:  # at our limit: a crash handler that deadlocked left its mark in the text
        return _at(SignatureKind.CRASH if mark else SignatureKind.HANG, outcome, broken, place=mark)
    if completed.ending is Ending.LOST:
        return _at(SignatureKind.CRASH, outcome, broken, place=completed.words)
    signal = ending_signal(completed) or (broken.signal if broken else None)
    if signal is not None:
        crash = _at(SignatureKind.CRASH, outcome, broken, signal=signal)
        return replace(crash, message=crash.message or mark)
    if broken is None:
        return None
    if mark and completed.exit_code != 0:  # a sanitizer that ends the process
        return _at(SignatureKind.CRASH, outcome, broken, place=mark)
    return _at(SignatureKind.COUNT, outcome, broken, place=f"{completed.words} inside the case")  # `_exit`, `exit`


def _broken_case(outcome: Outcome) -> CaseResult | None:
    """Return the case that was running when the run ended."""
    open_cases = [
        result for result in outcome.report.results if result.status in {CaseStatus.CRASHED, CaseStatus.UNFINISHED}
    ]
    return open_cases[-1] if open_cases else None


def _at(
    kind: SignatureKind,
    outcome: Outcome,
    broken: CaseResult | None,
    *,
    signal: str | None = None,
    place: str | None = None,
) -> Signature:
    if broken is None:
        return Signature(kind=kind, signal=signal, place=_worded(place) or _outside(outcome))
    message = first_lines(broken.message)
    if message is not None and signal is not None and message.startswith(signal):
        message = None  # `SIGSEGV - Segmentation violation signal`: that is said already
    found = _worded(place or broken.case.place)
    return Signature(kind=kind, signal=signal, case=broken.case.name, place=found, message=message)


def _outside(outcome: Outcome) -> RedPlace | None:
    """Say where outside any case a run ended; None for a black box, which has no cases."""
    if outcome.selection is None:
        return None
    within = _LAST if outcome.finished == outcome.selected else _BETWEEN
    return _among(within if outcome.report.results else _FIRST)


def _failures(outcome: Outcome) -> Iterator[Signature]:
    for result in outcome.report.results:
        if result.status is CaseStatus.FAILED:
            place = result.place or (
                None if result.message is None else without_numbers(result.message.partition("\n")[0])
            )
            message = first_lines(result.message)
            yield Signature(kind=SignatureKind.FAILURE, case=result.case.name, place=_worded(place), message=message)


def _unexplained(outcome: Outcome) -> Iterator[Signature]:
    """Yield what no case explains: cases that never started, or a bad exit code beside a green report."""
    if outcome.selected is not None and outcome.finished < outcome.selected:
        last = outcome.report.results[-1].case.name if outcome.report.results else "no case"
        yield Signature(kind=SignatureKind.COUNT, place=_among(f"{_ENDED_AFTER}{last}"))
    elif (missing := _never_started(outcome)) is not None:
        yield Signature(kind=SignatureKind.COUNT, place=_among(f"{_NEVER_STARTED}{missing}"))
    elif outcome.completed.exit_code != 0 and outcome.completed.ending is not Ending.ENOUGH:
        mark = outcome.text_marks[0] if outcome.text_marks else outcome.completed.words
        yield Signature(kind=SignatureKind.FAILURE, place=RedPlace(text=mark))


def _never_started(outcome: Outcome) -> str | None:
    """Name a selected case in whose place another one ran; None when there is none."""
    if outcome.selection is None:
        return None
    selected = Counter(case.name for case in outcome.selection.cases)
    missing = selected - Counter(result.case.name for result in outcome.report.results)
    return next(iter(missing), None)


def _outputs(outcome: Outcome) -> Iterator[Signature]:
    """Yield NaN or infinity in the outputs, and outputs that a run which ended well should have written."""
    whole = outcome.selected is None or outcome.finished == outcome.selected
    for output in outcome.outputs:
        if output.census is not None and output.census.nan + output.census.inf:
            yield Signature(kind=SignatureKind.NAN, place=_in_output(output.path))
        elif output.problem is not None and whole and outcome.outputs_due:
            yield Signature(kind=SignatureKind.COUNT, place=_lack(output.path, output.problem))
    for line in printed_reds(outcome):
        yield Signature(kind=SignatureKind.NAN, place=_in_output(line.name))


def printed_reds(outcome: Outcome) -> Iterator[PrintedCensus]:
    """Yield the census lines with NaN or infinity that the target printed, but those of outputs that were counted."""
    counted = {output.path for output in outcome.outputs if output.census is not None}
    names = {path.rsplit("/", 1)[-1].split(".", 1)[0] for path in counted}
    yield from (line for line in outcome.printed if line.nan + line.inf and line.name not in names)
