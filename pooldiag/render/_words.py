"""A report in words: what the human formats say, each in its own layout.

All of it is plain text that may hold outside text as it came: a layout passes it through `visible`.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pooldiag.model.arms import Role
from pooldiag.model.attributions import (
    NO_MECHANISM,
    Attribution,
    Candidate,
    Mechanism,
    Prediction,
    Status,
)
from pooldiag.model.outcomes import Outcome
from pooldiag.model.readings import Reading, Sight
from pooldiag.model.reports import ArmResult, AttributeReport, Blockage, LockReport, Run, TargetReport
from pooldiag.model.words import percent
from pooldiag.render._facts import baseline_of, runs_of, seen, short
from pooldiag.render._headline import Headline, Tone

CANDIDATES_LISTED = 4  # more of them are said in one breath
NOTES_SHOWN = 12
SHORTEST_WAIT_SECONDS = 0.1
NO_REASON = "no reason was given"
NO_ANSWER = "no answer"  # it ran, but the victim was not reached or asserted nothing
NAMES_SHOWN = 5  # of a long list of cases; the rest is counted, and stands in the JSON report

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SIGHTS = {Sight.SAME_RED: "same red", Sight.GREEN: "green", Sight.NEW_RED: "new red", Sight.NOTHING: "void"}
_SAW = {
    Prediction.SAME_RED: "red",
    Prediction.GREEN: "green",
    Prediction.NEW_RED: "a new red",
    Prediction.ANYTHING: "seen",
}
_TEN = 10
_MINUTE = 60
_HOUR = 3600


def headline(report: AttributeReport) -> Headline:
    """Say the answer."""
    attribution = report.attribution
    match attribution.status:
        case Status.BLOCKED:
            return blocked(len(runs_of(report)), report.session.blocked)
        case Status.GREEN:
            return _green(report)
        case Status.UNRESOLVED if report.session.partial and attribution.signature is None:
            return _green(report)
    if attribution.mechanism == NO_MECHANISM:
        return _no_mechanism(report)
    if attribution.mechanism is not None:
        return _one_mechanism(report, attribution.mechanism)
    return _several(report)


def interruption(report: AttributeReport) -> str | None:
    """Say that a report is partial; None for a whole one."""
    if not report.session.partial:
        return None
    return f"Interrupted: this report is partial, it has {count(len(runs_of(report)), 'finished run')}."


def blocked(runs: int, found: Blockage | None) -> Headline:
    """Say what blocks, and what to do about it."""
    hint = None if found is None else found.hint
    after = "Nothing ran" if not runs else f"Stopped after {count(runs, 'run')}"
    line = f"{after}: this says nothing about the target, neither green nor red."
    lines = (line,) if hint is None else (line, capital(sentence(hint)))
    return Headline(tone=Tone.OPEN, title=f"Blocked: {NO_REASON if found is None else found.problem}", lines=lines)


def _green(report: AttributeReport) -> Headline:
    baseline = baseline_of(report)
    shown = None if baseline is None else baseline.shown
    measured = "" if shown is None else f"{denominators(shown.outcome)}, "
    runs = count(len(runs_of(report)), "run")
    # A diagnosis that was cut short has asked too little to be called green.
    title = f"Nothing red so far, in {runs}" if report.session.partial else f"Green: {measured}nothing red in {runs}"
    lines = () if shown is None else hollow(shown)
    return Headline(tone=Tone.OPEN if report.session.partial else Tone.GREEN, title=title, lines=lines)


def hollow(run: Run) -> tuple[str, ...]:
    """Say which cases passed without an assertion; nothing when none did."""
    vacuous = run.reading.vacuous
    if not vacuous:
        return ()
    of = "" if run.outcome.selected is None else f" of {run.outcome.selected}"
    return (f"But {len(vacuous)}{of} cases passed without an assertion: {shortened(vacuous)}.",)


def _one_mechanism(report: AttributeReport, mechanism: str) -> Headline:
    row = _row(report, mechanism)
    advice = (
        () if row is None else (capital(sentence(row.meaning)), f"First, {sentence(inside_a_sentence(row.advice))}")
    )
    doubt = () if report.attribution.status is Status.ESTABLISHED else _flaking(report)
    return Headline(
        tone=Tone.RED if report.attribution.status is Status.ESTABLISHED else Tone.OPEN,
        title=f"{_red(report)}, {report.attribution.status}: {named(report, mechanism)}{_flaky(report)}",
        lines=tuple(line for line in (*doubt, *advice) if line),
    )


def _no_mechanism(report: AttributeReport) -> Headline:
    used = {out.arm for out in report.attribution.ruled_out} - {Role.BASELINE}
    arms = tuple(str(arm.arm.role) for arm in report.arms if arm.arm.role in used)
    conflict = f"These arms contradict each other: {listed(arms)}." if len(arms) > 1 else ""
    ask = "First, check that each of them acted, and look for two faults at once."
    return Headline(
        tone=Tone.OPEN,
        title=f"{_red(report)}, {report.attribution.status}: no mechanism fits",
        lines=tuple(line for line in (*_flaking(report), conflict, ask) if line),
    )


def _several(report: AttributeReport) -> Headline:
    attribution = report.attribution
    flaking = _flaking(report)
    possible = tuple(candidate(report, one) for one in attribution.candidates)
    what = f"one of {number(len(possible))}" if len(possible) > 1 else "the cause is open"
    few = len(possible) <= CANDIDATES_LISTED
    in_short = "" if few or report.session.partial else f"Still possible: {'; '.join(possible)}."
    return Headline(
        tone=Tone.OPEN,
        title=f"{_red(report)}, unresolved: {'it flakes, ' if flaking else ''}{what}",
        points=possible if few else (),
        lines=tuple(line for line in (*flaking, _first(report), in_short) if line),
    )


def _first(report: AttributeReport) -> str:
    """Say what to do first about an open question."""
    if report.session.partial:
        return "First, let it run to its end."
    there = {arm.arm.role for arm in report.arms}
    arms = listed(tuple(str(role) for role in report.attribution.separators))
    if report.next is None and arms and not there & set(report.attribution.separators):
        return f"First, name the switches of {arms} (--arm 'ROLE=NAME=VALUE'): they would tell these apart."
    if arms:
        return f"First, get an answer from {arms}, which would tell these apart."
    return "First, run the command under Next." if report.next is not None else ""


def _red(report: AttributeReport) -> str:
    """Say where it is red: a fault that the pool hides is not red in the baseline."""
    baseline = baseline_of(report)
    if baseline is None or not baseline.runs or any(run.reading.reading is Reading.RED for run in baseline.runs):
        return "Red"
    reds = [str(arm.arm.role) for arm in report.arms if Sight.SAME_RED in arm.sights]
    return f"Green as it is, red under {listed(tuple(reds))}" if reds else "Red"


def _flaking(report: AttributeReport) -> tuple[str, ...]:
    baseline = baseline_of(report)
    if baseline is None or not {Sight.SAME_RED, Sight.GREEN} <= set(baseline.sights):
        return ()
    return (f"The baseline disagrees with itself: red in {rate(baseline)} runs.",)


def _flaky(report: AttributeReport) -> str:
    """Say how often a fault shows that does not show in every run."""
    found = report.attribution.rate
    if found is None or found.red == found.runs:
        return ""
    return f", flaky {100 * found.red / found.runs:.0f} % ({found.red}/{found.runs} runs)"


def certainty(report: AttributeReport) -> str | None:
    """Say how sure the answer is and why the runs ended; None where nothing is to be sure of."""
    attribution = report.attribution
    if attribution.rule is None or attribution.signature is None:
        return None
    if attribution.confidence is None:
        return attribution.rule
    return f"{percent(attribution.confidence)} of the posterior is on it"


def rates(report: AttributeReport) -> Iterator[str]:
    """Yield the rates that one run does not tell: of arms that show both, and what greens still lack."""
    for arm in report.arms:
        if arm.rate is not None and 0 < arm.rate.red < arm.rate.runs:
            interval = f"{100 * arm.rate.low:.0f} % to {100 * arm.rate.high:.0f} %"
            yield f"{arm.arm.role}: red in {arm.rate.red}/{arm.rate.runs} runs, 95 % interval {interval}"
        elif arm.greens_needed and report.attribution.status is Status.UNRESOLVED:
            yield f"{arm.arm.role}: needs {count(arm.greens_needed, 'more green')} until chance does not explain them"


def _row(report: AttributeReport, mechanism: str) -> Mechanism | None:
    return next((row for row in report.mechanisms if row.id == mechanism), None)


def titled(report: AttributeReport, mechanism: str) -> str:
    """Return a mechanism's title; its id where the report does not know it."""
    row = _row(report, mechanism)
    if row is not None:
        return row.title
    return "no mechanism fits" if mechanism == NO_MECHANISM else mechanism


def named(report: AttributeReport, mechanism: str) -> str:
    """Return a mechanism's title and id."""
    title = titled(report, mechanism)
    return title if mechanism in {title, NO_MECHANISM} else f"{title} ({mechanism})"


def candidate(report: AttributeReport, one: Candidate) -> str:
    """Return a mechanism that is still possible, with its posterior where there is one."""
    posterior = "" if one.posterior is None else f", {100 * one.posterior:.1f} %"
    return named(report, one.mechanism) + posterior


def verdict(report: AttributeReport, attribution: Attribution) -> str:
    """Say in one line what is known of a further signature."""
    if attribution.mechanism is not None:
        return f"{attribution.status}: {named(report, attribution.mechanism)}"
    possible = [titled(report, one.mechanism) for one in attribution.candidates]
    if not possible:
        return str(attribution.status)
    return f"{attribution.status}, one of {number(len(possible))}: {'; '.join(possible)}"


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
    return _SIGHTS[sight]


def look(run: Run, sight: Sight) -> str:
    """Say in one or two words what one run showed."""
    return NO_ANSWER if sight is Sight.NOTHING and run.reading.reading is not Reading.VOID else _SIGHTS[sight]


def rate(arm: ArmResult) -> str:
    """Say how many of an arm's runs showed the red in question."""
    return f"{len(seen(arm, Sight.SAME_RED))}/{len(arm.runs)}"


def cases(outcome: Outcome | None) -> str:
    """Say how many of the selected cases passed."""
    return "-" if outcome is None or outcome.selected is None else f"{outcome.passed}/{outcome.selected}"


def assertions(outcome: Outcome | None) -> str:
    """Say how many assertions were made; beside a case that did not pass also how many of them failed."""
    if outcome is None or outcome.selection is None:
        return "-"
    passed, failed = outcome.report.assertions_passed, outcome.report.assertions_failed
    all_passed = not failed and outcome.passed == outcome.selected
    return str(passed + failed) if all_passed else f"{passed + failed}, {failed} failed"


def denominators(outcome: Outcome) -> str:
    """Say what a run counted: `13/13 cases, 6176 assertions`; how it ended where no framework counts."""
    if outcome.selection is None:
        return outcome.completed.words
    words = assertions(outcome)
    total, _, failed = words.partition(", ")
    return f"{cases(outcome)} cases, {total} assertions" + (f", {failed}" if failed else "")


def run_line(run: Run) -> str:
    """Say one run in one line: `run 03 bypass: green 13/13 cases, 6176 assertions, 0.594 s`."""
    reading = run.reading
    line = f"run {short(run.id)} {run.arm.role}: {reading.reading} {denominators(run.outcome)}, {duration(run.seconds)}"
    if reading.void_reason is not None:
        return f"{line}: {reading.void_reason}"
    return f"{line}: {'; '.join(map(str, reading.signatures))}" if reading.signatures else line


def particulars(report: AttributeReport) -> Iterator[str]:
    """Yield what the table of arms has no room for: new reds, void runs, disagreement, cases never reached."""
    yield from (_disagreement(arm) for arm in report.arms if result(arm) == "mixed")
    odd = ((particular(run, sight), (arm, run)) for arm in report.arms for run, sight in _looks(arm))
    for words, found in grouped(odd):
        if words:
            yield f"{_places(found)}: {words}"
    unreached = ((_unreached(arm.shown), str(arm.arm.role)) for arm in report.arms if arm.shown is not None)
    yield from (f"{', '.join(roles)}: {words}" for words, roles in grouped(unreached) if words)
    idle = tuple(str(arm.arm.role) for arm in report.arms if not arm.runs)
    if idle and len(idle) < len(report.arms):
        yield f"not run: {', '.join(idle)}"


def _disagreement(arm: ArmResult) -> str:
    looks = (f"{_SIGHTS[sight]} in {run_ids(seen(arm, sight))}" for sight in Sight if seen(arm, sight))
    return f"{arm.arm.role}: {'; '.join(looks)}"


def _places(found: tuple[tuple[ArmResult, Run], ...]) -> str:
    """Name runs by arm: `bypass (runs 03, 05), poison-n (run 04)`."""
    by_role = grouped((str(arm.arm.role), run) for arm, run in found)
    return ", ".join(f"{role} ({run_ids(runs)})" for role, runs in by_role)


def _looks(arm: ArmResult) -> Iterator[tuple[Run, Sight]]:
    yield from zip(arm.runs, arm.sights, strict=False)


def particular(run: Run, sight: Sight) -> str:
    """Say what a run showed that is neither the red in question nor green; an empty string for these two."""
    if sight is Sight.NEW_RED:
        return f"new red, {'; '.join(map(str, run.reading.signatures))}"
    if sight is not Sight.NOTHING:
        return ""
    if run.reading.reading is Reading.VOID:
        return f"void: {run.reading.void_reason or NO_REASON}"
    return "says nothing: the victim was not reached, or asserted nothing"


def _unreached(run: Run) -> str:
    outcome = run.outcome
    missing = 0 if outcome.selected is None else outcome.selected - outcome.started
    if missing <= 0 or run.reading.reading is Reading.VOID:
        return ""
    return f"{outcome.started} of {outcome.selected} cases started, {missing} never reached"


def ruled_out(report: AttributeReport) -> Iterator[str]:
    """Yield one line a run that contradicts something: `bypass (run 03, green) rules out: A; B`."""
    rank = {arm.arm.role: place for place, arm in enumerate(report.arms)} | {Role.BASELINE: len(report.arms)}
    entries = sorted(report.attribution.ruled_out, key=lambda out: rank.get(out.arm, 0))
    said = ((f"{out.arm} (run {short(out.run)}, {_SAW[out.saw]})", titled(report, out.mechanism)) for out in entries)
    yield from (f"{what} rules out: {'; '.join(titles)}" for what, titles in grouped(said))


def notes(removed_variables: tuple[tuple[str, str], ...], noted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the facts that bear on the reading; a long list ends in a count."""
    removed = ", ".join(f"{name}={value}" for name, value in removed_variables)
    told = (*((f"removed from the inherited environment: {removed}",) if removed else ()), *noted)
    more = len(told) - NOTES_SHOWN
    return (*told[:NOTES_SHOWN], f"and {more} more, in report.json") if more > 1 else told


def target(found: TargetReport, *, with_order: bool = True) -> str:
    """Say what was run: the program, its framework, cases and order, the profile, its age."""
    framework = found.framework if found.version is None else f"{found.framework} {found.version}"
    cases = () if found.cases is None else (count(found.cases, "case"), *((str(found.order),) if with_order else ()))
    age = () if found.built_seconds_ago is None else (f"built {duration(found.built_seconds_ago)} ago",)
    profile = () if found.profile is None else (f"profile {found.profile}",)
    return ", ".join((found.argv[0] if found.argv else "-", framework, *cases, *profile, *age))


def spent(runs: int | str, elapsed: float, lock: LockReport | None) -> str:
    """Say what was spent: runs, seconds, and how the lock was got."""
    made = f"{runs} in {duration(elapsed)}"
    return made if lock is None else f"{made}; the lock {_wait(lock)}"


def _wait(lock: LockReport) -> str:
    """Say how long the lock was waited for; a lock that was never held did not come."""
    if lock.waited_seconds < SHORTEST_WAIT_SECONDS:
        return "was free"
    return f"{'came after' if lock.held_seconds else 'did not come in'} {duration(lock.waited_seconds)}"


def run_ids(runs: Iterable[Run]) -> str:
    """Name runs: `run 03`, `runs 03, 04`."""
    ids = tuple(short(run.id) for run in runs)
    return f"{'run' if len(ids) == 1 else 'runs'} {', '.join(ids)}"


_T = TypeVar("_T")


def grouped(pairs: Iterable[tuple[str, _T]]) -> Iterator[tuple[str, tuple[_T, ...]]]:
    """Yield each first part once, with all its second parts, in the order of first sight."""
    groups: dict[str, list[_T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    yield from ((key, tuple(values)) for key, values in groups.items())


def shortened(names: tuple[str, ...]) -> str:
    """Name the first few, and count the rest."""
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f", and {more} more" if more > 0 else "")


def listed(words: tuple[str, ...]) -> str:
    """Join words as a sentence does: `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def sentence(text: str) -> str:
    """Return a text with a full stop."""
    return text if not text or text.endswith((".", "?")) else f"{text}."


def capital(text: str) -> str:
    """Return a text with a capital."""
    return text[:1].upper() + text[1:]


def inside_a_sentence(text: str) -> str:
    """Take the capital of an ordinary first word away: `CUDA` keeps its own."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def count(number_of: int, what: str) -> str:
    """Say `1 run`, `8 runs`."""
    return f"{number_of} {what}" + ("" if number_of == 1 else "s")


def number(value: int) -> str:
    """Spell a small number."""
    return _NUMBERS[value] if value < len(_NUMBERS) else str(value)


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
