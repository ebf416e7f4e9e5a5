"""The orders in words: which are red, which of them alike, and which are one list under two names.

All of it is plain text that may hold outside text as it came: a layout passes it through `visible`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from string import ascii_uppercase

from pooldiag.model.bisections import OrderResult, OrdersReport
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.readings import Reading, Signature
from pooldiag.render import _words as words
from pooldiag.render._facts import run_of_order
from pooldiag.render._headline import Headline, Tone

ORDERS_SHOWN = 12
FAILING_SHOWN = 3
PREFIX_SHOWN = 12
SEED = "seed "


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """Orders that show the same red first, under a letter."""

    letter: str
    signature: Signature
    results: tuple[OrderResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One order, as far as it has something of its own to tell."""

    order: str
    result: str
    symptom: str = "-"
    place: str = "-"
    prefix: str = "-"
    failing: str = "-"
    cases: str = "-"
    assertions: str = "-"
    seconds: str = "-"


def headline(report: OrdersReport) -> Headline:
    """Say the answer."""
    if report.session.blocked is not None:
        return words.blocked(report.runs, report.session.blocked)
    of, red, void = (len(report.orders), len(reading(report, Reading.RED)), len(reading(report, Reading.VOID)))
    lines = (*_shortest(report), *_void(void, of), *_hollow(report))
    if report.by_accident:
        title = f"Green by accident of order: file order is green, {red}/{of} orders are red"
        return Headline(tone=Tone.RED, title=title, lines=lines)
    if red:
        return Headline(tone=Tone.RED, title=f"Red in {red}/{of} orders", lines=lines)
    if void or report.session.partial:
        title = f"Nothing red so far, green in {len(reading(report, Reading.GREEN))}/{report.asked or of} orders"
        return Headline(tone=Tone.OPEN, title=title, lines=lines)
    return Headline(tone=Tone.GREEN, title=f"Green in all of {words.count(of, 'order')}{_counted(report)}", lines=lines)


def interruption(report: OrdersReport) -> str | None:
    """Say that a report is partial; None for a whole one."""
    if not report.session.partial:
        return None
    of = f"{len(report.orders)}/{report.asked}" if report.asked else f"{len(report.orders)}"
    return f"Interrupted: this report is partial, it has {of} orders."


def reading(report: OrdersReport, wanted: Reading) -> tuple[OrderResult, ...]:
    """Return the orders that read in a way; one that has no run says nothing."""
    runs = ((result, run_of_order(report, result)) for result in report.orders)
    return tuple(result for result, run in runs if (Reading.VOID if run is None else run.reading.reading) is wanted)


def red_orders(report: OrdersReport) -> str:
    """Say how many orders are red: `5/8`."""
    return f"{len(reading(report, Reading.RED))}/{len(report.orders)}"


def _shortest(report: OrdersReport) -> Iterator[str]:
    shortest = report.shortest
    if shortest is not None:
        yield f"The shortest red prefix is {shortest.prefix}: {shortest.order}, victim {shortest.victim}."
    elif reading(report, Reading.RED) and not report.session.partial:
        yield "The shortest red prefix was not looked for."


def _void(void: int, of: int) -> Iterator[str]:
    if void:
        yield f"{void}/{of} orders say nothing."


def _hollow(report: OrdersReport) -> Iterator[str]:
    """Say what the first green order passed without an assertion: the others did so, too, as a rule."""
    greens = (run_of_order(report, result) for result in reading(report, Reading.GREEN))
    yield from next((words.hollow(run) for run in greens if run is not None and run.reading.vacuous), ())


def _counted(report: OrdersReport) -> str:
    runs = (run_of_order(report, result) for result in report.orders)
    counts = dict.fromkeys(words.denominators(run.outcome) for run in runs if run is not None)
    return f": {next(iter(counts))} in each" if len(counts) == 1 else ", with counts that differ"


def symptoms(report: OrdersReport) -> tuple[Symptom, ...]:
    """Group the red orders by what they show first, the most frequent symptom first."""
    groups: dict[Signature, list[OrderResult]] = {}
    for result in reading(report, Reading.RED):
        run = run_of_order(report, result)
        groups.setdefault(run.reading.signatures[0], []).append(result) if run is not None else None
    ranked = sorted(groups.items(), key=lambda group: -len(group[1]))
    return tuple(
        Symptom(letter=letter, signature=signature, results=tuple(results))
        for letter, (signature, results) in zip(_letters(), ranked, strict=False)
    )


def _letters() -> Iterator[str]:
    """Yield A to Z, then AA, AB and so on."""
    yield from ascii_uppercase
    yield from (f"{ascii_uppercase[(n // 26) % 26]}{ascii_uppercase[n % 26]}" for n in count())


def rows(report: OrdersReport) -> Iterator[Row]:
    """Yield a row an order."""
    letters = {result.order: symptom.letter for symptom in symptoms(report) for result in symptom.results}
    for result in report.orders:
        yield _row(report, result, letters.get(result.order, "-"))


def _row(report: OrdersReport, result: OrderResult, letter: str) -> Row:
    order, run = brief(result.order), run_of_order(report, result)
    if run is None:
        return Row(order=order, result="not run")
    if result.same_as is not None:
        return Row(
            order=order, result=f"{run.reading.reading}, as {brief(result.same_as).removeprefix(SEED)}", symptom=letter
        )
    of = run.outcome.selected
    counted = of is not None and run.reading.reading is not Reading.VOID
    return Row(
        order=order,
        result=str(run.reading.reading),
        symptom=letter,
        place="-" if result.position is None else f"{result.position}/{of}",
        prefix="-" if result.prefix is None else str(result.prefix),
        failing=f"{len(result.failing)}/{of}" if counted else "-",
        cases=words.cases(run.outcome),
        assertions=words.assertions(run.outcome) if counted else "-",
        seconds=words.seconds(run.seconds),
    )


def brief(order: Order) -> str:
    """Say an order in a word: `file`, `seed 7`."""
    return f"{SEED}{order.seed}" if order.kind is OrderKind.RAND else str(order.kind)


def same_lists(report: OrdersReport) -> Iterator[str]:
    """Yield the orders that are one list of cases: they were run once."""
    groups: dict[str, list[str]] = {}
    for result in report.orders:
        if result.same_as is not None:
            groups.setdefault(brief(result.same_as), []).append(brief(result.order))
    yield from (f"{shortened((first, *others))} are the same list: run once" for first, others in groups.items())


def void(report: OrdersReport) -> Iterator[str]:
    """Yield why orders say nothing."""
    for result in reading(report, Reading.VOID):
        run = run_of_order(report, result)
        if run is not None:
            yield f"{brief(result.order)}: void: {run.reading.void_reason or 'no reason was given'}"


def about(report: OrdersReport, symptom: Symptom) -> Iterator[str]:
    """Yield which orders show a symptom, its victim, and which cases fail with it."""
    red = len(reading(report, Reading.RED))
    names = shortened(brief(result.order) for result in symptom.results)
    yield f"{len(symptom.results)}/{red} red orders: {names}"
    victims = dict.fromkeys(result.victim for result in symptom.results if result.victim is not None)
    if silent := [name for name in victims if name != symptom.signature.case]:
        yield f"victim: {'; '.join(silent)}"
    yield from _failing(report, symptom)
    others = (str(other) for result in symptom.results for other in _further(report, result, symptom))
    yield from (f"also {signature}" for signature in dict.fromkeys(others))


def _failing(report: OrdersReport, symptom: Symptom) -> Iterator[str]:
    """Yield the sets of cases that fail, each with its orders where there are several."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for result in symptom.results:
        if result.same_as is None:
            groups.setdefault(tuple(sorted(result.failing)), []).append(brief(result.order))
    run = run_of_order(report, symptom.results[0])
    of = "" if run is None or run.outcome.selected is None else f"/{run.outcome.selected}"
    for failing, orders in groups.items():
        where = f" in {shortened(orders)}" if len(groups) > 1 else ""
        more = len(failing) - FAILING_SHOWN
        names = "; ".join(failing[:FAILING_SHOWN]) + (f"; and {more} more" if more > 0 else "")
        yield f"failing {len(failing)}{of} cases{where}" + (f": {names}" if names else "")


def _further(report: OrdersReport, result: OrderResult, symptom: Symptom) -> tuple[Signature, ...]:
    run = run_of_order(report, result)
    return () if run is None else tuple(one for one in run.reading.signatures if one != symptom.signature)


def prefix(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the cases of a prefix with their places; of a long one the first and the last of them."""
    placed = [(str(place), name) for place, name in enumerate(names, start=1)]
    more = len(placed) - PREFIX_SHOWN
    if more <= 1:
        yield from placed
        return
    half = PREFIX_SHOWN // 2
    yield from (*placed[:half], ("...", f"{more} more, in report.json"), *placed[-half:])


def shortened(names: Iterable[str]) -> str:
    """Name the first orders, seeds without repeating the word, and count the rest: `file, seeds 1, 7`."""
    known = tuple(names)
    shown, more = known[:ORDERS_SHOWN], len(known) - ORDERS_SHOWN
    seeds = [name.removeprefix(SEED) for name in shown if name.startswith(SEED)]
    others = [name for name in shown if not name.startswith(SEED)]
    seeded = [f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds)}"] if seeds else []
    return ", ".join((*others, *seeded)) + (f", and {more} more" if more > 0 else "")
