"""The report of `attribute`: the answer and what to do first, then the arms, then what they ruled out."""

from collections.abc import Iterator
from dataclasses import replace

from pooldiag.model.arms import Acted, Role
from pooldiag.model.attributions import NO_MECHANISM, Attribution, Candidate, Mechanism, Prediction, Status
from pooldiag.model.readings import Reading, Sight
from pooldiag.model.reports import ArmResult, AttributeReport, Run
from pooldiag.model.words import capital, count, listed, percent
from pooldiag.render import run_words as words
from pooldiag.render.blocks import Answer, Block, Blocks, Cell, Column, Command, Row, Table, Tone, facts, items
from pooldiag.render.facts import baseline_of, runs_of, seen, short
from pooldiag.render.reports._outputs import outputs

CANDIDATES_LISTED = 4  # more of them are said in one breath

_SAW = {
    Prediction.SAME_RED: "red",
    Prediction.GREEN: "green",
    Prediction.NEW_RED: "a new red",
    Prediction.ANYTHING: "seen",
}
_NO_EVIDENCE = {Acted.INERT, Acted.UNPROVEN}
_SHOWN = (*Column.numbers("Cases"), Column("Assertions"), *Column.numbers("Seconds"))  # of the run that is shown
_COLUMNS = (Column("Arm"), Column("Result"), *Column.numbers("Red"), *_SHOWN, Column("Acted"))


def blocks(report: AttributeReport) -> Blocks:
    """Return the whole report."""
    session = report.session
    runs = len(runs_of(report))
    return (
        replace(answer(report), interruption=words.interruption(session, count(runs, "finished run"))),
        facts((*_red_fact(report), *words.session_facts(session, runs), *sure(report))),
        *evidence(report),
        *words.closing(report, *([] if report.reproducer is None else [Command("Reproduce", report.reproducer)])),
    )


def evidence(report: AttributeReport) -> Iterator[Block]:
    """Yield what the arms show."""
    arms = tuple(_arm_row(arm) for arm in report.arms if arm.runs and arm.acted not in _NO_EVIDENCE)
    if arms:
        yield Table(columns=_COLUMNS, rows=arms, remarks=tuple(_particulars(report)))
    yield from items("Rates", _rates(report))
    yield from items("Not counted as evidence", _left_out(report))
    yield from items("Ruled out", _ruled_out(report), detail=True)
    yield from items("Not established", report.attribution.not_established)
    yield from items("Other reds", (f"{other.signature}: {_verdict(report, other)}" for other in report.others))
    yield from outputs(report)
    yield from items("Witnesses, not counted as runs", report.witnesses, detail=True)


def sure(report: AttributeReport) -> Iterator[tuple[str, str]]:
    """Yield how sure the answer is, or why the runs ended without one."""
    attribution = report.attribution
    if attribution.rule is None or attribution.signature is None:
        return
    if attribution.confidence is None:
        yield "Ended", attribution.rule
    else:
        yield "Sure", f"{percent(attribution.confidence)} of the posterior is on it"


def _red_fact(report: AttributeReport) -> Iterator[tuple[str, str]]:
    signature = report.attribution.signature
    if signature is not None:
        baseline = baseline_of(report)
        rate = "" if baseline is None or not baseline.runs else f", {words.rate(baseline)} runs of the baseline"
        yield "Red", f"{signature}{rate}"


def _arm_row(arm: ArmResult) -> Row:
    outcome = None if arm.shown is None else arm.shown.outcome
    return (
        Cell(str(arm.arm.role)),
        words.reading_cell(words.result(arm)),
        Cell(words.rate(arm)),
        Cell(words.cases(outcome)),
        Cell(words.assertions(outcome)),
        Cell("-" if arm.shown is None else words.seconds(arm.shown.seconds)),
        Cell("-") if arm.acted is None else Cell(str(arm.acted), more=f": {arm.why}" if arm.why else ""),
    )


def _left_out(report: AttributeReport) -> Iterator[str]:
    for arm in report.arms:
        if arm.acted in _NO_EVIDENCE:
            counted = "" if arm.shown is None else f", {words.denominators(arm.shown.outcome)}"
            seen_in = f"{words.result(arm)} in {count(len(arm.runs), 'run')}{counted}" if arm.runs else "not run"
            yield f"{arm.arm.role}: {arm.acted}, {arm.why}; {seen_in}"


def answer(report: AttributeReport) -> Answer:
    """Say the answer."""
    attribution = report.attribution
    has_begun = attribution.status is Status.UNRESOLVED and report.session.partial and attribution.signature is None
    if attribution.status is Status.BLOCKED:
        return words.blocked(len(runs_of(report)), report.session.blocked)
    if attribution.status is Status.GREEN or has_begun:
        return _green(report)
    if attribution.mechanism == NO_MECHANISM:
        return _no_mechanism(report)
    if attribution.mechanism is not None:
        return _one_mechanism(report, attribution.mechanism)
    return _several(report)


def _green(report: AttributeReport) -> Answer:
    baseline = baseline_of(report)
    shown = None if baseline is None else baseline.shown
    runs = len(runs_of(report))
    excluded = words.excluded(report.excluded, runs)
    if report.session.partial:  # it has asked too little to be called green
        lines = (*excluded, *words.vacuous_passes(shown))
        return Answer(tone=Tone.OPEN, title=f"Nothing red so far, in {count(runs, 'run')}", lines=lines)
    title, lines = words.green(shown, f"nothing red in {count(runs, 'run')}")
    return Answer(tone=Tone.GREEN, title=title, lines=(*lines, *excluded, *words.vacuous_passes(shown)))


def _one_mechanism(report: AttributeReport, mechanism: str) -> Answer:
    row = _row(report, mechanism)
    meaning = () if row is None else (capital(words.sentence(row.meaning)),)
    advice = () if row is None else (f"First, {words.sentence(words.inside_a_sentence(row.advice))}",)
    doubt = () if report.attribution.status is Status.ESTABLISHED else _flaking(report)
    return Answer(
        tone=Tone.RED if report.attribution.status is Status.ESTABLISHED else Tone.OPEN,
        title=f"{_red(report)}, {report.attribution.status}: {named(report, mechanism)}{_flaky(report)}",
        lines=tuple(line for line in (*doubt, *meaning, *advice) if line),
    )


def _no_mechanism(report: AttributeReport) -> Answer:
    used = {out.arm for out in report.attribution.ruled_out} - {Role.BASELINE}
    arms = tuple(str(arm.arm.role) for arm in report.arms if arm.arm.role in used)
    conflict = f"These arms contradict each other: {listed(arms)}." if len(arms) > 1 else ""
    ask = "First, check that each of them acted, and look for two faults at once."
    return Answer(
        tone=Tone.OPEN,
        title=f"{_red(report)}, {report.attribution.status}: no mechanism fits",
        lines=tuple(line for line in (*_flaking(report), conflict, ask) if line),
    )


def _several(report: AttributeReport) -> Answer:
    attribution = report.attribution
    flaking = _flaking(report)
    possible = tuple(_candidate(report, one) for one in attribution.candidates)
    what = f"one of {words.number(len(possible))}" if len(possible) > 1 else "the cause is open"
    few = len(possible) <= CANDIDATES_LISTED
    in_short = "" if few or report.session.partial else f"Still possible: {'; '.join(possible)}."
    return Answer(
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
    arms = listed(str(role) for role in report.attribution.separators)
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
    if reds and baseline.greens_needed:  # chance may be why it is green
        return f"Red under {listed(reds)}, not in {count(len(baseline.runs), 'run')} as it is"
    return f"Green as it is, red under {listed(reds)}" if reds else "Red"


def _flaking(report: AttributeReport) -> tuple[str, ...]:
    baseline = baseline_of(report)
    if baseline is None or not {Sight.SAME_RED, Sight.GREEN} <= set(baseline.sights):
        return ()
    return (f"The baseline disagrees with itself: red in {words.rate(baseline)} runs.",)


def _flaky(report: AttributeReport) -> str:
    """Say how often a fault shows that does not show in every run."""
    found = report.attribution.rate
    if found is None or found.red == found.runs:
        return ""
    return f", flaky {100 * found.red / found.runs:.0f} % ({found.red}/{found.runs} runs)"


def _rates(report: AttributeReport) -> Iterator[str]:
    """Yield the rates that one run does not tell: of arms that show both, and what greens still lack."""
    for arm in report.arms:
        if arm.rate is not None and 0 < arm.rate.red < arm.rate.runs:
            interval = f"{100 * arm.rate.low:.0f} % to {100 * arm.rate.high:.0f} %"
            yield f"{arm.arm.role}: red in {arm.rate.red}/{arm.rate.runs} runs, 95 % interval {interval}"
        elif arm.greens_needed and report.attribution.status is Status.UNRESOLVED:
            yield f"{arm.arm.role}: needs {count(arm.greens_needed, 'more green')} until chance does not explain them"


def _row(report: AttributeReport, mechanism: str) -> Mechanism | None:
    return next((row for row in report.mechanisms if row.id == mechanism), None)


def _titled(report: AttributeReport, mechanism: str) -> str:
    """Return a mechanism's title; its id where the report does not know it."""
    row = _row(report, mechanism)
    unknown = "no mechanism fits" if mechanism == NO_MECHANISM else mechanism
    return unknown if row is None else row.title


def named(report: AttributeReport, mechanism: str) -> str:
    """Return a mechanism's title and id."""
    title = _titled(report, mechanism)
    return title if mechanism in {title, NO_MECHANISM} else f"{title} ({mechanism})"


def _candidate(report: AttributeReport, one: Candidate) -> str:
    posterior = "" if one.posterior is None else f", {100 * one.posterior:.1f} %"
    return named(report, one.mechanism) + posterior


def _verdict(report: AttributeReport, attribution: Attribution) -> str:
    """Say in one line what is known of a further signature."""
    if attribution.mechanism is not None:
        return f"{attribution.status}: {named(report, attribution.mechanism)}"
    possible = [_titled(report, one.mechanism) for one in attribution.candidates]
    if not possible:
        return str(attribution.status)
    return f"{attribution.status}, one of {words.number(len(possible))}: {'; '.join(possible)}"


def _particulars(report: AttributeReport) -> Iterator[str]:
    """Yield what the table of arms has not room for: new reds, void runs, disagreement, cases never reached."""
    for arm in report.arms:
        if words.result(arm) == "mixed":
            runs_by_sight = ((words.SIGHTS[sight], seen(arm, sight)) for sight in Sight)
            looks = (f"{look} in {words.run_ids(runs)}" for look, runs in runs_by_sight if runs)
            yield f"{arm.arm.role}: {'; '.join(looks)}"
    odd = (
        (words.particular(run, sight), (str(arm.arm.role), run))
        for arm in report.arms
        for run, sight in zip(arm.runs, arm.sights, strict=False)
    )
    for said, found in words.grouped(odd):
        if said:
            places = (f"{role} ({words.run_ids(runs)})" for role, runs in words.grouped(found))
            yield f"{', '.join(places)}: {said}"
    unreached = ((_unreached(arm.shown), str(arm.arm.role)) for arm in report.arms if arm.shown is not None)
    yield from (f"{', '.join(roles)}: {said}" for said, roles in words.grouped(unreached) if said)
    idle = tuple(str(arm.arm.role) for arm in report.arms if not arm.runs)
    if idle and len(idle) < len(report.arms):
        yield f"not run: {', '.join(idle)}"


def _unreached(run: Run) -> str:
    outcome = run.outcome
    missing = 0 if outcome.selected is None else outcome.selected - outcome.started
    if missing <= 0 or run.reading.reading is Reading.VOID:
        return ""
    return f"{outcome.started} of {outcome.selected} cases started, {missing} never reached"


def _ruled_out(report: AttributeReport) -> Iterator[str]:
    """Yield one line a run that contradicts something: `bypass (run 03, green) rules out: A; B`."""
    rank = {arm.arm.role: place for place, arm in enumerate(report.arms)} | {Role.BASELINE: len(report.arms)}
    entries = sorted(report.attribution.ruled_out, key=lambda out: rank.get(out.arm, 0))
    said = ((f"{out.arm} (run {short(out.run)}, {_SAW[out.saw]})", _titled(report, out.mechanism)) for out in entries)
    yield from (f"{what} rules out: {'; '.join(titles)}" for what, titles in words.grouped(said))
