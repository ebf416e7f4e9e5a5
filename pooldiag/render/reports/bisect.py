"""The report of `bisect`: the answer, both ends of each claim, the arms on the minimal set, the whole order again."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pooldiag.model.arms import SWITCHED_ROLES
from pooldiag.model.attributions import Status
from pooldiag.model.bisections import BisectReport, BisectStatus, BothEnds, CheckedCommand, Found, NamedBy, Phase, Tried
from pooldiag.model.outcomes import CaseStatus
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.reports import AttributeReport, Blockage, Run
from pooldiag.model.words import capital, count, listed, percent, shortened
from pooldiag.render import run_words as words
from pooldiag.render.blocks import (
    Answer,
    Blocks,
    Cell,
    Column,
    Command,
    Fact,
    Items,
    Row,
    Section,
    Table,
    Text,
    Tone,
    facts,
    items,
)
from pooldiag.render.facts import baseline_of, runs_of
from pooldiag.render.reports import attribute
from pooldiag.render.reports._arm_words import known

POLLUTERS_IN_A_SENTENCE = 2
CASES_DIFFERING_SHOWN = 8
AS_IT_IS = "as it is"
ALONE = "the victim alone"

_PHASES = {
    Phase.SEEDS: "search for a seed that gives the wanted order",
    Phase.BASELINE: "all of them, and the victim alone",
    Phase.SEARCH: "search for the polluters",
    Phase.CONFIRMATION: "the polluters and the victim alone",
    Phase.COUNTERFACTUAL: "each polluter left out",
    Phase.PREFIX: "both ends of the prefix",
    Phase.CLEANERS: "search for what turns it green",
    Phase.NOISE: "once more, against chance",
    Phase.ARMS: "the arms on the minimal set",
    Phase.CONFIRM: "the arms on the whole order",
    Phase.COMMANDS: "the commands, as they are printed",
}
_NAMED_BY = {
    NamedBy.STREAM: "named by the report of a red run",
    NamedBy.USER: "as asked for",
    NamedBy.SEARCH: "found by search: the red names no case",
}
ENDS = (Column("What ran"), Column("Reading"), *Column.numbers("Red", "Cases"))
_WHOLE = (Column("Arm"), Column("Result"), *Column.numbers("Cases"), Column("Assertions"), *Column.numbers("Seconds"))


def blocks(report: BisectReport) -> Blocks:
    """Return the whole report."""
    searched = f"{count(report.runs, 'run')} of the search"
    sets = report.found.sets if len(report.found.sets) > 1 else ()
    return (
        replace(_answer(report), interruption=words.interruption(report.session, searched)),
        facts(_rows(report)),
        *_both_ends(report),
        *items("Independent sets of polluters, each of them enough", map("; ".join, sets)),
        *items("The victim, red in another way", _otherwise(report.found)),
        *items("Other reds, not followed", _others(report)),
        *_arms(report),
        *_whole(report),
        *words.closing(report, *shows("red", report.reproducer), *shows("green", report.green_command)),
    )


def _rows(report: BisectReport) -> Iterator[tuple[str, str] | Fact]:
    yield from _victim(report)
    if report.status is not BisectStatus.FOUND and (known := best(report.red_with, report.green_with)):
        yield "So far", known
    yield from words.session_facts(report.session, _runs(report))
    yield from _cost(report)
    if report.found.noisy:  # elsewhere the confidence says nothing that the runs do not
        sure = "not known" if report.found.confidence is None else percent(report.found.confidence)
        yield "Sure", f"{sure}; a selection disagreed with itself, so reds come by chance"


def _both_ends(report: BisectReport) -> Iterator[Section]:
    if (found := tuple(_ends(report.found))) and not _is_red_alone(report.found):
        proven = report.status is BisectStatus.FOUND
        title = "Both ends, as they were run" if proven else "As far as it was run"
        yield Section(title=title, blocks=(Table(columns=ENDS, rows=found),))


def _is_red_alone(found: Found) -> bool:
    """Tell whether all there is to show is the victim alone, each time red: the prefix says so."""
    proof = found.set_proof or found.prefix_proof
    if proof is None or proof.green or proof.red.cases or found.prefix_proof not in {None, proof}:
        return False
    return found.prefix == 0 and bool(proof.red.red) and not proof.red.green + proof.red.void


def _arms(report: BisectReport) -> Iterator[Section]:
    """Yield what `attribute` tells, of the minimal set."""
    found = report.attribution
    if found is None or _is_told(found):
        return
    certain = tuple(attribute.sure(found))
    parts = (*map(Text, attribute.meaning(found)), *([facts(certain)] if certain else []), *attribute.evidence(found))
    verdict = words.inside_a_sentence(attribute.answer(found).title)
    yield Section(title=f"The arms on the minimal set: {verdict}", blocks=parts)


def _is_told(found: AttributeReport) -> bool:
    """Tell whether the answer says all that arms show: none switched an allocator, and nothing was seen beside them."""
    switched = any(arm.runs and arm.arm.role in SWITCHED_ROLES for arm in found.arms)
    is_open = found.attribution.status is Status.UNRESOLVED and found.attribution.mechanism is None
    return is_open and not switched and not found.attribution.witnesses


def _whole(report: BisectReport) -> Iterator[Section]:
    if not report.confirmations:
        return
    first = () if report.whole is None else (_whole_row(AS_IT_IS, report.whole, None),)
    rows = (*first, *(_whole_row(str(one.arm.role), one.run, one.sight) for one in report.confirmations))
    odd = ((one.arm.role, words.particular(one.run, one.sight)) for one in report.confirmations)
    lines = (*_reconciled(report), *(f"{role}: {said}" for role, said in odd if said))
    table = Table(columns=_WHOLE, rows=rows)
    yield Section(title="The arms on the whole order", blocks=(table, *([Items(lines)] if lines else [])))


def _whole_row(arm: str, run: Run, sight: Sight | None) -> Row:
    numbers = (words.cases(run.outcome), words.assertions(run.outcome), words.seconds(run.seconds))
    return Cell(arm), words.reading_cell(words.look(run, sight)), *map(Cell, numbers)


def phase(key: Phase) -> str:
    """Say what a run of the search is for."""
    return _PHASES[key]


def _answer(report: BisectReport) -> Answer:
    match report.status:
        case BisectStatus.BLOCKED:
            unnamed = Blockage(problem=report.reason or words.NO_REASON)
            return words.blocked(report.runs, report.session.blocked or unnamed)
        case BisectStatus.GREEN:
            return _green(report)
        case BisectStatus.FOUND:
            title = f"Found: {_red(report)}, {_prefix(report.found)}, {_cause(report.found)}{_now_and_then(report)}"
            return Answer(tone=Tone.RED, title=title, lines=(*_attributed(report), *_doubt(report)))
        case BisectStatus.UNRESOLVED:
            return _unresolved(report)


def _green(report: BisectReport) -> Answer:
    victim = "" if report.found.victim is None else f"; {report.found.victim} is green, too"
    title, lines = words.green(report.whole, f"nothing red in {count(report.runs, 'run')}{victim}")
    reason = () if report.reason is None else (capital(words.sentence(report.reason)),)
    excluded = words.excluded(report.excluded, report.runs)
    return Answer(tone=Tone.GREEN, title=title, lines=(*lines, *reason, *excluded, *words.vacuous_passes(report.whole)))


def _unresolved(report: BisectReport) -> Answer:
    if report.found.signature is None and report.found.victim is None:
        title = f"Nothing red so far, in {count(report.runs, 'run')}" if report.session.partial else "Unresolved"
        reason = "" if report.reason is None else f": {report.reason}"
        return Answer(tone=Tone.OPEN, title=f"{title}{reason}")
    title = f"Red, unresolved: {_red(report)}, {_prefix(report.found)}"
    goes_on = "" if report.next is None else ": the command under Next goes on from here"
    first = f"First, let it run to its end{goes_on}." if report.session.partial else ""
    why = "" if report.reason is None else f"Not established: {words.sentence(report.reason)}"
    suspects = f"Suspected, not proven: {_some(report.found.polluters)}." if report.found.polluters else ""
    return Answer(tone=Tone.OPEN, title=title, lines=tuple(line for line in (why, suspects, first) if line))


def _red(report: BisectReport) -> str:
    """Name the red, its victim where the red does not, and the victim's place."""
    found = report.found
    named = "a red" if found.signature is None else str(found.signature)
    silent = found.victim is not None and (found.signature is None or found.signature.case != found.victim)
    victim = f", victim {found.victim}" if silent else ""
    place = "" if found.position is None else f", position {found.position}"
    return named + victim + place


def _prefix(found: Found) -> str:
    return "prefix not established" if found.prefix is None else f"prefix {found.prefix}"


def _cause(found: Found) -> str:
    if found.red_alone:
        return f"red alone, green {_after('state-setter', found.setters)}" if found.setters else "red alone"
    if not found.polluters:
        return "no polluter found"
    proof = found.set_proof
    otherwise = proof is not None and any(end.other and not end.green for end in proof.green)
    without = "them" if len(found.polluters) > 1 else "it"
    return _after("polluter", found.polluters) + (f"; red in another way without {without}" if otherwise else "")


def _now_and_then(report: BisectReport) -> str:
    """Say how often the red shows where runs disagree: in how many runs of the minimal set as it is."""
    if not report.found.noisy:
        return ""
    baseline = None if report.attribution is None else baseline_of(report.attribution)
    if baseline is not None and baseline.rate is not None:  # the runs of the search are the first of these
        return f", red in {baseline.rate.red} of {count(baseline.rate.runs, 'run')} of that"
    tried = None if report.found.set_proof is None else report.found.set_proof.red
    clear = 0 if tried is None else tried.red + tried.green
    return f", red in {tried.red} of {count(clear, 'run')} of that" if tried is not None and clear else ""


def _others(report: BisectReport) -> Iterator[str]:
    """Yield the reds that are not followed, and whether any other case can have to do with them."""

    def say(signature: Signature) -> str:
        return words.red(signature) + ("; red alone" if signature in report.others_red_alone else "")

    return words.other_reds(report.found.signature, report.others, report.cascades, say)


def _otherwise(found: Found) -> Iterator[str]:
    """Yield each other way in which the victim is red, after the fewest cases that were seen to bring it about."""
    for tried in found.otherwise:
        ran = f"after {shortened(tried.cases, words.NAMES_SHOWN)}" if tried.cases else "alone"
        yield ran if tried.other_red is None else f"{ran}: {words.red(tried.other_red)}"


def _after(noun: str, names: tuple[str, ...]) -> str:
    return f"after the {noun}{'s' if len(names) > 1 else ''} {_some(names)}"


def _some(names: tuple[str, ...]) -> str:
    """Name one or two cases; count more, which stand below."""
    if len(names) > POLLUTERS_IN_A_SENTENCE:
        return f"named below, {len(names)} together"
    return listed(names) + (" together" if len(names) > 1 else "")


def _attributed(report: BisectReport) -> Iterator[str]:
    """Say what the arms make of the minimal set, and whether the whole order agrees."""
    found = report.attribution
    if found is None or found.attribution.status is Status.BLOCKED:
        return
    if found.attribution.status is Status.GREEN:
        yield "The arms on the minimal set saw nothing red."
        return
    if found.attribution.status is Status.ESTABLISHED:
        yield f"The arms on the minimal set, established: {attribute.named(found)}."
        yield from attribute.by_a_fact(found) if found.attribution.answer is not None else ()
    else:
        yield "The arms on the minimal set do not settle the cause."
        yield from known(found)
    if report.confirmations:
        yield f"On the whole order {_confirmed(report)}."


def _confirmed(report: BisectReport) -> str:
    """Say under which arms the whole order is green, and under which it is not although the minimal set was.

    One green run is none at a rate at which chance explains it.
    """
    all_greens = [one for one in report.confirmations if one.sight is Sight.GREEN]
    greens = [one for one in all_greens if not one.greens_needed]
    few = listed(str(one.arm.role) for one in all_greens if one.greens_needed)
    counts = {words.denominators(one.run.outcome) for one in greens}
    measured = f", {counts.pop()}" if len(counts) == 1 else ", with counts that differ"
    others = tuple(str(one.arm.role) for one in report.confirmations if one.sight is not Sight.GREEN)
    green = f"green under {listed(str(one.arm.role) for one in greens)}{measured}" if greens else ""
    by_chance = f"one green run under {few} is too few at this rate" if few else ""
    parts = (green, by_chance, f"not green under {listed(others)}" if others else "")
    return "; ".join(part for part in parts if part)


def _doubt(report: BisectReport) -> Iterator[str]:
    if report.reason is not None:
        yield f"Not established: {words.sentence(report.reason)}"
    if report.session.partial:
        return
    if report.reproducer is None:
        yield "No command line is known that shows it red."
    if report.green_command is None and (report.found.setters or not report.found.red_alone):
        yield "No command line is known that shows it green."


def _victim(report: BisectReport) -> Iterator[tuple[str, str]]:
    """Yield the victim, and the cases that turn it red or green, each with its place in the order."""
    found = report.found
    if found.victim is not None:
        selected = None if report.whole is None else report.whole.outcome.selected
        of = "" if selected is None else f" of {selected}"
        place = "" if found.position is None else f", case {found.position}{of}"
        how = "" if found.named_by is None else f", {_NAMED_BY[found.named_by]}"
        yield "Victim", f"{found.victim}{place}{how}"
    yield from words.message_rows(found.signature)
    polluter = "Polluter" if report.status is BisectStatus.FOUND else "Suspect"
    for role, names in ((polluter, found.polluters), ("Cleaner", found.cleaners), ("State-setter", found.setters)):
        yield from ((role, _placed(report, name)) for name in names)
    if (smallest := _smallest(found)) is not None:
        yield "Prefix", smallest


def _placed(report: BisectReport, name: str) -> str:
    """Name a case with its place in the order, from 1, where no other has the name."""
    outcome = None if report.whole is None else report.whole.outcome
    if outcome is None or outcome.selection is None:
        return name
    places = [place for place, case in enumerate(outcome.selection.cases, start=1) if case.name == name]
    return f"{name}, case {places[0]} of {outcome.selected}" if len(places) == 1 else name


def _smallest(found: Found) -> str | None:
    """Say what may be said of the prefix: with cleaners a red can go and come again, so it need not be the smallest."""
    if found.prefix is None:
        return None
    if found.prefix == 0:
        alone = found.set_proof.red if found.set_proof is not None and _is_red_alone(found) else None
        counted = "" if alone is None else f", in {alone.red}/{alone.red} runs"
        return f"0: the victim is red alone{counted}"
    if found.smallest:
        return f"{found.prefix}, the smallest that is red"
    why = "runs disagree" if found.noisy else "a cleaner was seen"
    return f"{found.prefix}: red, and one shorter is green; {why}, so a smaller one may be red, too"


def _runs(report: BisectReport) -> str:
    # Where runs disagree, some of the search are the first of the arms' baseline.
    of_the_search = {one.run for one in report.probed} if report.found.noisy else set()
    of_arms = () if report.attribution is None else runs_of(report.attribution)
    arms = sum(run.id not in of_the_search for run in of_arms)
    spent_on = ((arms, "for the arms"), (len(report.confirmations), "of the whole order"))
    more = "".join(f", {runs} {purpose}" for runs, purpose in spent_on if runs)
    return f"{report.runs} for the search{more}{',' if more else ''}"


def _cost(report: BisectReport) -> Iterator[tuple[str, str] | Fact]:
    """Yield what the search cost in cases, and which of its runs were not made now."""
    if not report.runs:
        return
    suite = None if report.whole is None else report.whole.outcome.selected
    times = "" if not suite else f", {report.cases_run / suite:.1f} times the {suite} of the order"
    recalled = f"; {report.recalled}/{report.runs} runs recalled" if report.recalled else ""
    beside = f"; {count(report.speculative, 'run')} beside it not needed" if report.speculative else ""
    yield "Search", f"{count(report.cases_run, 'case')} run{times}{recalled}{beside}"
    if report.probed:
        phases = Counter(one.phase for one in report.probed)
        purposes = ", ".join(f"{made} {key}" for key, made in phases.items())
        yield Fact("", f"runs by purpose: {purposes}", wide=True)


def best(red_with: int | None, green_with: int | None) -> str:
    """Say what a search knows: `red with 12 cases, green with 6`; an empty string where it knows nothing."""
    red = "" if red_with is None else f"red with {count(red_with, 'case')}"
    if green_with is None:
        return red
    return f"{red}, green with {green_with}" if red else f"green with {count(green_with, 'case')}"


def _ends(found: Found) -> Iterator[Row]:
    """Yield both ends of the prefix and of the set, each selection once."""
    known: set[tuple[str, ...]] = set()
    for proof, is_prefix in ((found.prefix_proof, True), (found.set_proof, False)):
        for tried in () if proof is None else (proof.red, *proof.green):
            if tried.cases not in known:
                known.add(tried.cases)
                yield end_row(tried, first(len(tried.cases)) if is_prefix else _ran(tried, proof, found))


def end_row(tried: Tried, ran: str) -> Row:
    """Say how often a selection was red."""
    counts = {"red": tried.red, "green": tried.green, words.OTHER_RED: tried.other}
    shown = [reading for reading, runs in counts.items() if runs]
    reading = "mixed" if len(shown) > 1 else next(iter(shown), "void")
    clear = sum(counts.values())
    void = f", {tried.void} void" if tried.void else ""
    red = Cell(f"{tried.red}/{clear}{void}")
    return Cell(ran), words.reading_cell(reading), red, Cell(str(len(tried.cases) + 1))


def _ran(tried: Tried, proof: BothEnds | None, found: Found) -> str:
    """Name a selection by what it is, or by what it lacks."""
    several = "s" if len(tried.cases) > 1 else ""
    if not tried.cases:
        return ALONE
    if tried.cases in {found.polluters, found.setters}:
        return f"the {'polluter' if tried.cases == found.polluters else 'state-setter'}{several}, then the victim"
    if proof is not None and (lacking := tuple(name for name in proof.red.cases if name not in tried.cases)):
        return f"without {listed(lacking)}"
    return f"{shortened(tried.cases, words.NAMES_SHOWN)}, then the victim"


def first(size: int) -> str:
    """Name a prefix and the victim."""
    if size == 0:
        return ALONE
    return f"the first {'case' if size == 1 else f'{size} cases'}, then the victim"


def shows(color: str, command: CheckedCommand | None) -> Iterator[Command]:
    """Yield a command line, what it shows, and how it ended when it was run as it is printed."""
    if command is not None:
        tries = f" at try {command.tries}" if command.tries > 1 else ""
        ended = f"{command.ended}, as other cases are red" if command.others_red and color == "green" else command.ended
        yield Command(f"Shows it {color} (run as printed: {ended}{tries})", command.line)


def _reconciled(report: BisectReport) -> Iterator[str]:
    """Yield how the counts of the whole order compare between the arms that are green, and what differs."""
    greens = {str(one.arm.role): one.run for one in report.confirmations if one.sight is Sight.GREEN}
    if not greens:
        return
    counts = dict.fromkeys(words.denominators(run.outcome) for run in greens.values())
    if len(counts) == 1:
        equal = "counts" if len(greens) == 1 else "count alike"
        yield f"{listed(greens)} {equal} {next(iter(counts))}"
    else:
        yield "; ".join(f"{role} counts {words.denominators(run.outcome)}" for role, run in greens.items())
    as_it_is = {} if report.whole is None else {AS_IT_IS: report.whole}
    yield from _differing(as_it_is | greens)
    vacuous = words.grouped((name, role) for role, run in greens.items() for name in run.reading.vacuous)
    yield from (f"{', '.join(roles)}: passed without an assertion: {name}" for name, roles in vacuous)


def _differing(by_arm: dict[str, Run]) -> Iterator[str]:
    """Yield the cases that passed with another number of assertions under one arm than under another."""
    results = ((one, arm) for arm, run in by_arm.items() for one in run.outcome.report.results)
    passed = ((one.case, (one.assertions, arm)) for one, arm in results if one.status is CaseStatus.PASSED)
    by_count = ((case, tuple(words.grouped(made))) for case, made in words.grouped(passed))
    differing = [(case, counts) for case, counts in by_count if len(counts) > 1]
    for case, counts in differing[:CASES_DIFFERING_SHOWN]:
        yield f"{case.name}: assertions differ, {', '.join(f'{made} {_where(arms)}' for made, arms in counts)}"
    if (more := len(differing) - CASES_DIFFERING_SHOWN) > 0:
        yield f"{more} more cases differ in assertions"


def _where(arms: tuple[str, ...]) -> str:
    under = listed(arm for arm in arms if arm != AS_IT_IS)
    parts = (AS_IT_IS if AS_IT_IS in arms else "", f"under {under}" if under else "")
    return " and ".join(part for part in parts if part)
