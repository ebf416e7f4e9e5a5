"""The report of `attribute`: the answer and what to do first, then the arms, then what speaks beside them."""

from collections.abc import Iterator
from dataclasses import replace

from pooldiag.model.arms import SWITCHED_ROLES, Role
from pooldiag.model.attributions import ArmsAnswer, Attribution, Mechanism, Prediction, Status, Witness, WitnessKind
from pooldiag.model.readings import Reading, Sight, Signature
from pooldiag.model.reports import ArmResult, AttributeReport, Run
from pooldiag.model.words import capital, count, listed, percent
from pooldiag.render import run_words as words
from pooldiag.render.blocks import Answer, Block, Blocks, Cell, Column, Command, Row, Table, Tone, facts, items
from pooldiag.render.facts import NO_EVIDENCE, baseline_of, runs_of, seen, short
from pooldiag.render.reports._arm_words import flakes, is_red, known
from pooldiag.render.reports._outputs import outputs

CANDIDATES_NAMED = 6  # in words; all of them stand in the JSON report
OF_MANY_NAMED = 3  # of more than these

_SAW = {
    Prediction.SAME_RED: "red",
    Prediction.GREEN: "green",
    Prediction.NEW_RED: "a new red",
    Prediction.ANYTHING: "seen",
}
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
    arms = tuple(_arm_row(arm) for arm in report.arms if arm.runs and arm.acted not in NO_EVIDENCE)
    if arms:
        yield Table(columns=_COLUMNS, rows=arms, remarks=tuple(_particulars(report)))
    yield from items("Witnesses", _witnesses(report.attribution))
    yield from items("Rates", _rates(report))
    yield from items("Not counted as evidence", _left_out(report))
    yield from items("Not asked", _not_asked(report.attribution))
    yield from items("Ruled out", _ruled_out(report), detail=True)
    yield from items("Not established", report.attribution.not_established)
    yield from items("Other reds", _others(report))
    yield from outputs(report)


def sure(report: AttributeReport) -> Iterator[tuple[str, str]]:
    """Yield how sure the answer is, or why the runs ended without one."""
    attribution = report.attribution
    if attribution.rule is None or attribution.signature is None:
        return
    if attribution.confidence is None:
        yield "Ended", attribution.rule
    else:
        yield "Sure", f"{percent(attribution.confidence)} that this is what the arms show"


def _red_fact(report: AttributeReport) -> Iterator[tuple[str, str]]:
    signature = report.attribution.signature
    if signature is not None:
        baseline = baseline_of(report)
        rate = "" if baseline is None or not baseline.runs else f", {words.rate(baseline)} runs of the baseline"
        if baseline is not None and (step := words.step(baseline)):
            rate = f", baseline {step}"
        yield "Red", f"{signature}{rate}"
    yield from words.message_rows(signature)


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
        if arm.acted in NO_EVIDENCE:
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
    return _established(report) if attribution.status is Status.ESTABLISHED else _open(report)


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


def _established(report: AttributeReport) -> Answer:
    attribution = report.attribution
    row = _row(report, attribution.mechanism or attribution.answer)
    advice = () if row is None else (f"First, {words.sentence(words.inside_a_sentence(row.advice))}",)
    return Answer(
        tone=Tone.RED,
        title=f"{_red(report)}, established: {named(report)}{_flaky(report)}",
        lines=(*meaning(report), *advice),
    )


def _open(report: AttributeReport) -> Answer:
    return Answer(
        tone=Tone.OPEN,
        title=f"{_red(report)}, not settled{_unsteady(report)}",
        lines=(*known(report), *meaning(report), *_next_without_pool(report)),
    )


def _next_without_pool(report: AttributeReport) -> tuple[str, ...]:
    """Say what is left to do where no mechanism of a pool is spoken of."""
    if report.next is None or report.session.partial or words.has_pool(report.session.target):
        return ()
    return ("First, run the command under Next.",)


def meaning(report: AttributeReport) -> Iterator[str]:
    """Yield what the answer means, and the mechanism that a fact names, or those that stay possible."""
    attribution = report.attribution
    if (answer := _row(report, attribution.answer)) is not None:
        yield capital(words.sentence(answer.meaning))
    if attribution.narrowed is not None:
        yield capital(words.sentence(attribution.narrowed))
    if attribution.mechanism is None:
        yield from _possible(report)
    yield from by_a_fact(report)
    if (mechanism := _row(report, attribution.mechanism)) is not None:
        yield capital(words.sentence(mechanism.meaning))


def by_a_fact(report: AttributeReport) -> Iterator[str]:
    """Yield the mechanism that a fact names, and the fact; the mechanism is the title where the arms answer nothing."""
    attribution, mechanism = report.attribution, report.attribution.mechanism
    if mechanism is None:
        return
    found = (one.text for one in attribution.witnesses if _is_fact(one) and mechanism in one.speaks_for)
    named_here = () if attribution.answer is None else (_named(report, mechanism),)
    if said := ": ".join(part for part in (*named_here, "; ".join(found)) if part):
        yield words.sentence(f"{'Mechanism, by' if named_here else 'By'} a fact: {said}")


def _possible(report: AttributeReport) -> Iterator[str]:
    """Yield which mechanisms the runs leave, the likely one first where a hint speaks for it, and what would decide."""
    attribution = report.attribution
    if report.session.partial and attribution.status is not Status.ESTABLISHED:
        yield "First, let it run to its end."
        return
    if attribution.answer is None and not words.has_pool(report.session.target):
        return  # what there is are mechanisms of pools, and their switches
    titles = [_titled(report, one.mechanism) for one in attribution.candidates]
    lead = "Which way is not settled" if attribution.answer is None else f"Candidate{'s' if titles[1:] else ''}"
    if titles and (hint := _hint(attribution)) is not None:
        others = f" Else {words.sentence(_either(titles[1:]))}" if titles[1:] else ""
        yield f"Most likely {titles[0]}: {words.sentence(hint.text)}{others}"
    elif titles:
        yield f"{lead}: {_either(titles)}."
    if attribution.separators:
        yield f"What would decide: {', '.join(map(str, attribution.separators))}{_how_to_ask(report)}."
    elif attribution.answer is None and report.next is not None:
        yield "First, run the command under Next."


def _how_to_ask(report: AttributeReport) -> str:
    """Say how roles are asked of which no switch is known."""
    missing = [role for role in report.attribution.separators if role in SWITCHED_ROLES]
    if not missing or report.next is not None or {arm.arm.role for arm in report.arms} & set(missing):
        return ""
    return f" (name a switch, as in --arm '{missing[0]}=NAME=VALUE')"


def _hint(attribution: Attribution) -> Witness | None:
    """Return the first hint that speaks for the first candidate."""
    first = next((one.mechanism for one in attribution.candidates), None)
    return next((one for one in attribution.witnesses if not _is_fact(one) and first in one.speaks_for), None)


def _is_fact(witness: Witness) -> bool:
    return witness.kind is WitnessKind.FACT


def _either(titles: list[str]) -> str:
    """Join some titles, and count the others; with semicolons where a title has a comma of its own."""
    named = titles if len(titles) <= CANDIDATES_NAMED else titles[:OF_MANY_NAMED]
    more = len(titles) - len(named)
    *first, last = [*named, *([f"one of {more} more"] if more else [])]
    if any("," in title for title in titles):
        return "; ".join([*first, f"or {last}" if first else last])
    return f"{', '.join(first)} or {last}" if first else last


def _red(report: AttributeReport) -> str:
    """Say where it is red: a fault that the pool hides is not red in the baseline."""
    reds = [str(arm.arm.role) for arm in report.arms if Sight.SAME_RED in arm.sights]
    if is_red(report) or not reds:
        return "Red"
    baseline = baseline_of(report)
    if baseline is not None and baseline.greens_needed:  # chance may be why it is green
        return f"Red under {listed(reds)}, not in {count(len(baseline.runs), 'run')} as it is"
    return f"Green as it is, red under {listed(reds)}"


def _unsteady(report: AttributeReport) -> str:
    """Say that runs of the baseline differ: to and fro, or from one run on."""
    baseline = baseline_of(report)
    if baseline is not None and baseline.step is not None:
        return f": {words.step(baseline)}"
    return ": it flakes" if flakes(report) else ""


def _flaky(report: AttributeReport) -> str:
    """Say how often a fault shows that does not show in every run."""
    found, baseline = report.attribution.rate, baseline_of(report)
    if found is None or found.red == found.runs or (baseline is not None and baseline.step is not None):
        return ""
    return f", flaky {100 * found.red / found.runs:.0f} % ({found.red}/{found.runs} runs)"


def _rates(report: AttributeReport) -> Iterator[str]:
    """Yield the rates that one run does not tell: of arms that show both, and what greens still lack."""
    for arm in report.arms:
        if arm.step is not None:
            continue
        if arm.rate is not None and 0 < arm.rate.red < arm.rate.runs:
            interval = f"{100 * arm.rate.low:.0f} % to {100 * arm.rate.high:.0f} %"
            yield f"{arm.arm.role}: red in {arm.rate.red}/{arm.rate.runs} runs, 95 % interval {interval}"
        elif arm.greens_needed and report.attribution.status is Status.UNRESOLVED:
            yield f"{arm.arm.role}: needs {count(arm.greens_needed, 'more green')} until chance does not explain them"


def _row(report: AttributeReport, key: str | None) -> ArmsAnswer | Mechanism | None:
    rows: tuple[ArmsAnswer | Mechanism, ...] = (*report.answers, *report.mechanisms)
    return next((row for row in rows if row.id == key), None)


def _titled(report: AttributeReport, key: str) -> str:
    """Return the title of an answer or a mechanism; its id where the report does not know it."""
    row = _row(report, key)
    return key if row is None else row.title


def _named(report: AttributeReport, key: str) -> str:
    """Return a title with its id."""
    title = _titled(report, key)
    return title if title == key else f"{title} ({key})"


def named(report: AttributeReport, attribution: Attribution | None = None) -> str:
    """Return what is established, with its id: what the arms answer, else the mechanism that a fact names."""
    of = attribution or report.attribution
    return _named(report, of.answer or of.mechanism or words.NO_ANSWER)


def _others(report: AttributeReport) -> Iterator[str]:
    """Yield the other reds with what is known of them."""
    verdicts = {one.signature: _verdict(report, one) for one in report.others if one.signature is not None}

    def say(signature: Signature) -> str:
        return f"{words.red(signature)}{': ' if signature.message is None else '; '}{verdicts[signature]}"

    return words.other_reds(report.attribution.signature, verdicts, report.cascades, say)


def _verdict(report: AttributeReport, attribution: Attribution) -> str:
    """Say in one line what is known of a further signature."""
    if attribution.status is Status.ESTABLISHED:
        return f"established: {named(report, attribution)}"
    if attribution.candidates and attribution.candidates == report.attribution.candidates:
        return "not settled, as above"
    titles = [_titled(report, one.mechanism) for one in attribution.candidates]
    return f"not settled: {_either(titles)}" if titles else "not settled"


def _witnesses(attribution: Attribution) -> Iterator[str]:
    """Yield what was seen beside the arms, facts first."""
    for one in sorted(attribution.witnesses, key=_is_fact, reverse=True):
        yield f"{one.kind} {one.id}: {one.text} [{one.source}]"


def _not_asked(attribution: Attribution) -> Iterator[str]:
    asked_not = words.grouped((one.reason, str(one.role)) for one in attribution.not_asked)
    yield from (f"{', '.join(roles)}: {reason}" for reason, roles in asked_not)


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
