"""Runs in words: what the reports of several commands say alike.

All of it is plain text that may hold outside text as it came: a format makes it safe.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from pooldiag.model.attributions import ExcludedRate
from pooldiag.model.outcomes import Outcome
from pooldiag.model.readings import COLOURS, Cascade, Reading, Sight, Signature, SignatureKind, StepKind
from pooldiag.model.reports import ArmResult, Blockage, Run, RunReport, Session, TargetReport
from pooldiag.model.words import capital, count, shortened
from pooldiag.render.blocks import Answer, Cell, Command, Folder, Section, Tone, items
from pooldiag.render.facts import seen, short

NOTES_SHOWN = 12
SHORTEST_WAIT_SECONDS = 0.1
NO_REASON = "no reason was given"
NO_ANSWER = "no answer"  # it ran, but the victim was not reached or asserted nothing
REDS_SHOWN = 5  # of a long list of reds; the rest is counted, and stands in the JSON report
REDS_IN_A_LINE = 2
MESSAGE_SHOWN = 200  # characters of a line of a message
NAMES_SHOWN = 5  # of a long list of cases; the rest is counted, and stands in the JSON report
SIGHTS = {Sight.SAME_RED: "same red", Sight.GREEN: "green", Sight.NEW_RED: "new red", Sight.NOTHING: "void"}

OTHER_RED = "other red"
"""Of the victim in a search: it is red in another way than the one in question."""

_TONES = {
    "green": Tone.GREEN,
    "red": Tone.RED,
    "same red": Tone.RED,
    "new red": Tone.NEW,
    OTHER_RED: Tone.NEW,
    "mixed": Tone.OPEN,
}
_TEN = 10
_MINUTE = 60
_HOUR = 3600


def blocked(runs: int, found: Blockage | None) -> Answer:
    """Say what blocks, and what to do about it."""
    hint = None if found is None else found.hint
    after = "Nothing ran" if not runs else f"Stopped after {count(runs, 'run')}"
    line = f"{after}: this says nothing about the target, neither green nor red."
    lines = (line,) if hint is None else (line, capital(sentence(hint)))
    return Answer(tone=Tone.OPEN, title=f"Blocked: {NO_REASON if found is None else found.problem}", lines=lines)


def vacuous_passes(run: Run | None) -> tuple[str, ...]:
    """Say which cases passed without an assertion; nothing when none did."""
    if run is None or not run.reading.vacuous:
        return ()
    names, selected = run.reading.vacuous, run.outcome.selected
    of = "" if selected is None else f" of {selected}"
    return (f"But {len(names)}{of} cases passed without an assertion: {shortened(names, NAMES_SHOWN)}.",)


def excluded(found: ExcludedRate | None, runs: int | None = None) -> tuple[str, ...]:
    """Say what green runs exclude; how many they are, where `runs`, which were said, are others."""
    if found is None:
        return ()
    share = 100 * found.rate
    rounded = math.ceil(share) if share >= 1 else math.ceil(10 * share) / 10  # up: no less is excluded than is said
    of = "" if runs is None or found.runs == runs else f", by {count(found.runs, 'run')} of the baseline"
    sure = f"({100 * found.confidence:.0f} %{of})"
    return (f"A fault that shows in more than {rounded:g} % of the runs is excluded {sure}.",)


def green(run: Run | None, nothing_red: str) -> tuple[str, tuple[str, ...]]:
    """Return the title of a green report and its first lines: what a run counted, and in how many nothing was red.

    Where no framework tells of cases, the exit code is all that is known.
    """
    if run is None:
        return f"Green: {nothing_red}", ()
    if run.outcome.selection is None:
        title = f"Green: {denominators(run.outcome)}; whether any test ran is not known"
        return title, (f"{capital(nothing_red)}.",)
    return f"Green: {denominators(run.outcome)}, {nothing_red}", ()


def result(arm: ArmResult) -> str:
    """Say in one or two words what all runs of an arm showed."""
    looks = set(arm.sights)
    if not arm.runs:
        return "not run"
    if len(looks) != 1:
        return "mixed"
    (sight,) = looks
    if sight is Sight.NOTHING and all(run.reading.reading is not Reading.VOID for run in arm.runs):
        return NO_ANSWER
    return SIGHTS[sight]


def reading_cell(words: str) -> Cell:
    """Return the result of a run, with a tone beside its words."""
    return Cell(words, _TONES.get(words, Tone.PLAIN))


def look(run: Run, sight: Sight | None) -> str:
    """Say in one or two words what one run showed; how it reads where it was seen from no signature."""
    if sight is None:
        return str(run.reading.reading)
    return NO_ANSWER if sight is Sight.NOTHING and run.reading.reading is not Reading.VOID else SIGHTS[sight]


def rate(arm: ArmResult) -> str:
    """Say how many of an arm's runs showed the red in question."""
    return f"{len(seen(arm, Sight.SAME_RED))}/{len(arm.runs)}"


def step(arm: ArmResult) -> str:
    """Say from which run on an arm shows something else; empty where there is no such place."""
    if (found := arm.step) is None:
        return ""
    before, after = COLOURS[found.before], COLOURS[found.after]
    if found.kind is StepKind.FIRST:
        return f"{before} in its first run, {after} in all later ones"
    return f"{before} at first, {after} from run {short(arm.runs[found.at].id)} on"


def cases(outcome: Outcome | None) -> str:
    """Say how many of the selected cases passed."""
    return "-" if outcome is None or outcome.selected is None else f"{outcome.passed}/{outcome.selected}"


def assertions(outcome: Outcome | None) -> str:
    """Say how many assertions were made; beside a case that did not pass also how many of them failed."""
    if outcome is None or outcome.selection is None:
        return "-"
    return f"{_made(outcome)}{_failed(outcome)}"


def _made(outcome: Outcome) -> int:
    return outcome.report.assertions_passed + outcome.report.assertions_failed


def _failed(outcome: Outcome) -> str:
    failed = outcome.report.assertions_failed
    return "" if not failed and outcome.passed == outcome.selected else f", {failed} failed"


def denominators(outcome: Outcome) -> str:
    """Say what a run counted: `13/13 cases, 6176 assertions`; how it ended where no framework counts."""
    if outcome.selection is None:
        return outcome.completed.words
    return f"{cases(outcome)} cases, {_made(outcome)} assertions{_failed(outcome)}"


def message_rows(signature: Signature | None) -> Iterator[tuple[str, str]]:
    """Yield what a failure says, line by line."""
    for number, line in enumerate(_message(signature)):
        yield ("" if number else "Message"), line


def red(signature: Signature) -> str:
    """Say a failure and the first line of its message, which stands in for a place that is made of it."""
    message = next(_message(signature), None)
    if message is None:
        return str(signature)
    place = signature.place
    is_said = signature.kind is SignatureKind.FAILURE and place is not None and not place.is_line
    return f"{replace(signature, place=None) if is_said else signature}: {message}"


def _message(signature: Signature | None) -> Iterator[str]:
    lines = () if signature is None else (signature.message or "").splitlines()
    yield from (line if len(line) <= MESSAGE_SHOWN else f"{line[: MESSAGE_SHOWN - 1]}…" for line in lines)


def more_alike(signature: Signature, cascades: tuple[Cascade, ...]) -> str:
    """Say how many more reds say what one says, and which is the first of them; an empty string for none."""
    alike = next((group for group in map(_members, cascades) if signature in group), ())
    others = [one for one in alike if one != signature]
    if not others:
        return ""
    same = "at the same place" if signature.message is None else "with the same message"
    return f"{len(others)} more {same}, {'the first of them ' if others[1:] else ''}{others[0].case}"


def _members(cascade: Cascade) -> tuple[Signature, ...]:
    return (cascade.first, *cascade.followers)


def other_reds(
    followed: Signature | None,
    others: Iterable[Signature],
    cascades: tuple[Cascade, ...],
    say: Callable[[Signature], str] = red,
) -> Iterator[str]:
    """Yield the reds beside one, those that say the same in one line; a long list ends in a count."""
    lines = []
    if followed is not None and (alike := more_alike(followed, cascades)):
        lines.append(alike)  # the message itself stands above
    groups = ((_members(one), one.followers) for one in cascades)
    told = {one for group, behind in groups for one in (group if followed in group else behind)}
    for one in others:
        if one not in told:
            alike = more_alike(one, cascades)
            lines.append(f"{say(one)}{'; ' if alike else ''}{alike}")
    yield from _shortened(lines, REDS_SHOWN)


def reds_in_a_line(found: Iterable[Signature], say: Callable[[Signature], str] = str) -> str:
    """Say the reds of a run, the first few by name."""
    return shortened(map(say, found), REDS_IN_A_LINE, between="; ")


def _shortened(lines: Sequence[str], most: int) -> Iterator[str]:
    """Yield lines; of a long list the first, and how many more stand in the report for programs."""
    more = len(lines) - most
    yield from (*lines[:most], f"and {more} more, in report.json") if more > 1 else lines


def run_line(run: Run) -> str:
    """Say one run in one line: `run 03 bypass: green 13/13 cases, 6176 assertions, 0.594 s`."""
    reading = run.reading
    line = f"run {short(run.id)} {run.arm.role}: {reading.reading} {denominators(run.outcome)}, {duration(run.seconds)}"
    if reading.void_reason is not None:
        return f"{line}: {reading.void_reason}"
    return f"{line}: {reds_in_a_line(reading.signatures)}" if reading.signatures else line


def particular(run: Run, sight: Sight) -> str:
    """Say what a run showed that is neither the red in question nor green; an empty string for these two."""
    if sight is Sight.NEW_RED:
        return f"new red, {reds_in_a_line(run.reading.signatures, say=red)}"
    if sight is not Sight.NOTHING:
        return ""
    if run.reading.reading is Reading.VOID:
        return f"void: {run.reading.void_reason or NO_REASON}"
    return "says nothing: the victim was not reached, or asserted nothing"


def _notes(session: Session) -> Iterator[Section]:
    """Yield the facts that bear on the reading; a long list ends in a count."""
    removed = ", ".join(f"{name}={value}" for name, value in session.removed_variables)
    all_notes = (*((f"removed from the inherited environment: {removed}",) if removed else ()), *session.notes)
    yield from items("Notes", _shortened(all_notes, NOTES_SHOWN))


def closing(report: RunReport, *commands: Command) -> Iterator[Section | Command | Folder]:
    """Yield what stands last: notes, commands to copy, the one to type next, and where the evidence lies."""
    yield from _notes(report.session)
    yield from commands
    if report.next is not None:
        yield Command(f"Next ({report.next.purpose})", report.next.line)
    yield Folder("Evidence", report.session.evidence)


def interruption(session: Session, has: str) -> str | None:
    """Say that a report is partial, and what it has; None for a whole one."""
    return f"Interrupted: this report is partial, it has {has}." if session.partial else None


def session_facts(session: Session, runs: int | str, *, with_order: bool = True) -> Iterator[tuple[str, str]]:
    """Yield what every report of runs says of itself; `runs` is how many were made."""
    yield "Target", target(session.target, with_order=with_order)
    yield "Runs", spent(runs, session)


def has_pool(found: TargetReport) -> bool:
    """Say whether there may be an allocator: else words about one, and about a device, are of no use."""
    return found.profile is not None


def target(found: TargetReport, *, with_order: bool) -> str:
    """Say what was run: the program, its framework, cases and order, the profile, its age."""
    framework = found.framework if found.version is None else f"{found.framework} {found.version}"
    cases = () if found.cases is None else (count(found.cases, "case"), *((str(found.order),) if with_order else ()))
    age = () if found.built_seconds_ago is None else (f"built {duration(found.built_seconds_ago)} ago",)
    profile = () if found.profile is None else (f"profile {found.profile}",)
    return ", ".join((found.argv[0] if found.argv else "-", framework, *cases, *profile, *age))


def spent(runs: int | str, session: Session) -> str:
    """Say what was spent: runs, seconds, and how the lock was got; one that was never held did not come."""
    made, lock = f"{runs} in {duration(session.seconds)}", session.lock
    if lock is None:
        return made
    if lock.waited_seconds < SHORTEST_WAIT_SECONDS:
        return f"{made}; the lock was free" if has_pool(session.target) else made
    came = "came after" if lock.held_seconds else "did not come in"
    return f"{made}; the lock {came} {duration(lock.waited_seconds)}"


def run_ids(runs: Iterable[Run]) -> str:
    """Name runs: `run 03`, `runs 03, 04`."""
    ids = tuple(short(run.id) for run in runs)
    return f"{'run' if len(ids) == 1 else 'runs'} {', '.join(ids)}"


_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")


def grouped(pairs: Iterable[tuple[_K, _T]]) -> Iterator[tuple[_K, tuple[_T, ...]]]:
    """Yield each first part once, with all its second parts, in the order of first sight."""
    groups: dict[_K, list[_T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    yield from ((key, tuple(values)) for key, values in groups.items())


def sentence(text: str) -> str:
    """Return a text with a full stop."""
    return text if not text or text.endswith((".", "?")) else f"{text}."


def inside_a_sentence(text: str) -> str:
    """Take the capital of an ordinary first word away: `CUDA` keeps its own."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def seconds(elapsed: float) -> str:
    """Say seconds as finely as they matter: `0.004`, `2.31`, `75`."""
    if elapsed < 1:
        return f"{elapsed:.3f}"
    return f"{elapsed:.2f}" if elapsed < _TEN else f"{elapsed:.0f}"


def duration(elapsed: float) -> str:
    """Say seconds as briefly as they matter: `0.23 s`, `75 s`, `16 min 40 s`, `1 h 2 min`."""
    if elapsed < _MINUTE * 2:
        return f"{seconds(elapsed)} s"
    whole = round(elapsed)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
