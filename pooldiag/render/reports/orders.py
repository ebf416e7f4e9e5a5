"""The report of `orders`: which are red, which of them alike, which are one list, and the shortest red prefix."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from string import ascii_uppercase

from pooldiag.model.bisections import OrderResult, OrdersReport
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.readings import Cascade, Reading, Signature
from pooldiag.model.words import count, shortened
from pooldiag.render import run_words as words
from pooldiag.render.blocks import Answer, Blocks, Cell, Column, Fact, Facts, Items, Section, Table, Tone, facts
from pooldiag.render.facts import run_of_order
from pooldiag.render.reports import bisect

ORDERS_SHOWN = 12
ALIKE_SHOWN = 2  # rows of orders with one symptom, or of green ones, where there are many orders
LISTS_SHOWN = 3  # that several orders have
SETS_SHOWN = 2  # of cases that fail
FAILING_SHOWN = 3
PREFIX_SHOWN = 12

_COLUMNS = (
    *map(Column, ("Order", "Result", "Symptom")),
    *Column.numbers("Position", "Prefix", "Failing", "Cases"),
    Column("Assertions"),
    Column("Seconds", right=True, wide=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """Orders that show the same red first, under a letter."""

    letter: str
    signature: Signature
    results: tuple[OrderResult, ...]


def blocks(report: OrdersReport) -> Blocks:
    """Return the whole report."""
    session = report.session
    of = f"/{report.asked}" if report.asked else ""
    cases = count(report.cases_run, "case")
    return (
        replace(_answer(report), interruption=words.interruption(session, f"{len(report.orders)}{of} orders")),
        facts(words.session_facts(session, f"{report.runs} ({cases} run)", with_order=False)),
        *_orders(report),
        *_symptom_list(report),
        *_shortest_prefix(report),
        *words.closing(report, *bisect.shows("red", None if report.shortest is None else report.shortest.reproducer)),
    )


def _orders(report: OrdersReport) -> Iterator[Table]:
    if report.orders:
        letters = {result.order: symptom.letter for symptom in _symptoms(report) for result in symptom.results}
        shown = tuple(_with_a_row(report, letters))
        rows = tuple(tuple(_cells(report, result, letters.get(result.order, "-"))) for result in shown)
        more = len(report.orders) - len(rows)
        alike = (f"{more} more orders are like these, in report.json",) if more else ()
        yield Table(columns=_COLUMNS, rows=rows, remarks=(*alike, *_same_lists(report), *_void(report)))


def _with_a_row(report: OrdersReport, letters: dict[Order, str]) -> Iterator[OrderResult]:
    """Yield the orders that have a row: of many those that show something first, and that of the shortest prefix."""
    told: Counter[tuple[str, str]] = Counter()
    for result in report.orders:
        run = run_of_order(report, result)
        look = ("" if run is None else str(run.reading.reading), letters.get(result.order, ""))
        told[look] += 1
        is_shortest = report.shortest is not None and report.shortest.order == result.order
        if len(report.orders) <= ORDERS_SHOWN or told[look] <= ALIKE_SHOWN or is_shortest:
            yield result


def _symptom_list(report: OrdersReport) -> Iterator[Section]:
    if found := _symptoms(report):
        rows = (Fact(one.letter, str(one.signature), (Items(tuple(_about(report, one))),)) for one in found)
        yield Section(title="Symptoms", blocks=(Facts(tuple(rows)),))


def _shortest_prefix(report: OrdersReport) -> Iterator[Section]:
    found = report.shortest
    if found is not None:
        tries = (found.proof.red, *found.proof.green)
        ends = tuple(bisect.end_row(tried, bisect.first(len(tried.cases))) for tried in tries)
        title = f"The shortest red prefix: {found.prefix}, {found.order}"
        cases = [facts(_prefix(found.cases))] if found.cases else []
        yield Section(title=title, blocks=(Table(columns=bisect.ENDS, rows=ends), *cases))


def _answer(report: OrdersReport) -> Answer:
    if report.session.blocked is not None:
        return words.blocked(report.runs, report.session.blocked)
    of, red, void = len(report.orders), len(_reading(report, Reading.RED)), len(_reading(report, Reading.VOID))
    silent = (f"{void}/{of} orders say nothing.",) if void else ()
    lines = (*_shortest(report), *silent, *words.excluded(report.excluded), *_vacuous(report))
    if report.by_accident:
        title = f"Green by accident of order: file order is green, {red}/{of} orders are red"
        return Answer(tone=Tone.RED, title=title, lines=lines)
    if red:
        return Answer(tone=Tone.RED, title=f"Red in {red}/{of} orders", lines=lines)
    if void or report.session.partial:
        title = f"Nothing red so far, green in {len(_reading(report, Reading.GREEN))}/{report.asked or of} orders"
        return Answer(tone=Tone.OPEN, title=title, lines=lines)
    return Answer(tone=Tone.GREEN, title=f"Green in all of {count(of, 'order')}{_counted(report)}", lines=lines)


def _reading(report: OrdersReport, wanted: Reading) -> tuple[OrderResult, ...]:
    """Return the orders that read in a way; one without a run says nothing."""
    runs = ((result, run_of_order(report, result)) for result in report.orders)
    return tuple(result for result, run in runs if (Reading.VOID if run is None else run.reading.reading) is wanted)


def red_orders(report: OrdersReport) -> str:
    """Say how many orders are red: `5/8`."""
    return f"{len(_reading(report, Reading.RED))}/{len(report.orders)}"


def _shortest(report: OrdersReport) -> Iterator[str]:
    shortest = report.shortest
    if shortest is not None:
        yield f"The shortest red prefix is {shortest.prefix}: {shortest.order}, victim {shortest.victim}."
    elif alone := tuple(dict.fromkeys(one.victim for one in report.orders if one.victim and one.prefix == 0)):
        are, they = ("are", "they need") if len(alone) > 1 else ("is", "it needs")
        green = f", and green where an earlier case sets up what {they}" if report.by_accident else ""
        yield f"{shortened(alone, words.NAMES_SHOWN)} {are} red alone{green}."
    elif _reading(report, Reading.RED) and not report.session.partial:
        yield "The shortest red prefix was not looked for."


def _vacuous(report: OrdersReport) -> Iterator[str]:
    """Say what the first green order passed without an assertion: the others did so, too, as a rule."""
    greens = (run_of_order(report, result) for result in _reading(report, Reading.GREEN))
    yield from next((words.vacuous_passes(run) for run in greens if run is not None and run.reading.vacuous), ())


def _counted(report: OrdersReport) -> str:
    runs = (run_of_order(report, result) for result in report.orders)
    counts = dict.fromkeys(words.denominators(run.outcome) for run in runs if run is not None)
    return f": {next(iter(counts))} in each" if len(counts) == 1 else ", with counts that differ"


def _symptoms(report: OrdersReport) -> tuple[Symptom, ...]:
    """Group the red orders by what they show first, the most frequent symptom first.

    Reds that say the same are one: which of them comes first depends on the order.
    """
    cascades = tuple(_merged(one for result in report.orders for one in result.cascades))
    first_of = {red: one.first for one in cascades for red in one.followers}
    runs = ((run_of_order(report, result), result) for result in _reading(report, Reading.RED))
    firsts = ((run.reading.signatures[0], result) for run, result in runs if run is not None)
    groups = words.grouped((first_of.get(first, first), result) for first, result in firsts)
    ranked = sorted(groups, key=lambda group: -len(group[1]))
    pairs = itertools.product(ascii_uppercase, repeat=2)
    letters = chain(ascii_uppercase, map("".join, itertools.cycle(pairs)))  # A to Z, then AA, AB and so on
    return tuple(
        Symptom(letter=letter, signature=signature, results=results)
        for letter, (signature, results) in zip(letters, ranked, strict=False)
    )


def _cells(report: OrdersReport, result: OrderResult, letter: str) -> Iterator[Cell]:
    """Yield the cells of one order, as far as it has something of its own to tell."""
    yield Cell(_brief(result.order))
    run = run_of_order(report, result)
    if run is None or result.same_as is not None:
        as_which = "" if result.same_as is None else f", as {_seed_or_kind(result.same_as)}"
        yield Cell("not run" if run is None else f"{run.reading.reading}{as_which}")
        yield Cell("-" if run is None else letter)
        yield from [Cell("-")] * (len(_COLUMNS) - 3)
        return
    yield words.reading_cell(str(run.reading.reading))
    yield Cell(letter)
    of = run.outcome.selected
    counted = of is not None and run.reading.reading is not Reading.VOID
    yield Cell("-" if result.position is None else f"{result.position}/{of}")
    yield Cell("-" if result.prefix is None else str(result.prefix))
    yield Cell(f"{len(result.failing)}/{of}" if counted else "-")
    yield Cell(words.cases(run.outcome))
    yield Cell(words.assertions(run.outcome) if counted else "-")
    yield Cell(words.seconds(run.seconds))


def _brief(order: Order) -> str:
    """Say an order in a word: `file`, `seed 7`."""
    return f"seed {order.seed}" if order.kind is OrderKind.RAND else str(order.kind)


def _seed_or_kind(order: Order) -> str:
    return str(order.seed if order.kind is OrderKind.RAND else order.kind)


def _same_lists(report: OrdersReport) -> Iterator[str]:
    """Yield the orders that are one list of cases: they were run once."""
    same = ((one.same_as, one.order) for one in report.orders if one.same_as is not None)
    lists = tuple(words.grouped(same))
    for first, others in lists[:LISTS_SHOWN]:
        yield f"{_shortened((first, *others))} are the same list: run once"
    if (more := len(lists) - LISTS_SHOWN) > 0:
        yield f"{count(more, 'more list')} of several orders, in report.json"


def _void(report: OrdersReport) -> Iterator[str]:
    """Yield why orders say nothing."""
    for result in _reading(report, Reading.VOID):
        run = run_of_order(report, result)
        if run is not None:
            yield f"{_brief(result.order)}: void: {run.reading.void_reason or words.NO_REASON}"


def _about(report: OrdersReport, symptom: Symptom) -> Iterator[str]:
    """Yield which orders show a symptom, its victim, and which cases fail with it."""
    red = len(_reading(report, Reading.RED))
    names = _shortened(result.order for result in symptom.results)
    yield f"{len(symptom.results)}/{red} red orders: {names}"
    cascades = tuple(_merged(one for result in symptom.results for one in result.cascades))
    victims = dict.fromkeys(result.victim for result in symptom.results if result.victim is not None)
    known = {symptom.signature.case, *(red.case for one in cascades for red in (one.first, *one.followers))}
    if silent := [name for name in victims if name not in known]:
        yield f"victim: {'; '.join(silent)}"
    yield from (said for _, said in words.message_rows(symptom.signature))
    yield from _failing(report, symptom)
    runs = (run_of_order(report, result) for result in symptom.results)
    signatures = dict.fromkeys(one for run in runs if run is not None for one in run.reading.signatures)
    others = (one for one in signatures if one != symptom.signature)
    yield from (f"also {line}" for line in words.other_reds(symptom.signature, others, cascades))


def _merged(cascades: Iterable[Cascade]) -> Iterator[Cascade]:
    """Yield the cascades of several orders, those as one that have a red in common: another may be the first there."""
    groups: list[tuple[Signature, ...]] = []
    for one in cascades:
        group = (one.first, *one.followers)
        touched = [other for other in groups if set(other) & set(group)]
        groups = [other for other in groups if other not in touched]
        groups.append(tuple(dict.fromkeys(chain(*touched, group))))
    yield from (Cascade(first=first, followers=tuple(rest)) for first, *rest in groups)


def _failing(report: OrdersReport, symptom: Symptom) -> Iterator[str]:
    """Yield the sets of cases that fail, each with its orders where there are several."""
    own = (result for result in symptom.results if result.same_as is None)
    groups = tuple(words.grouped((tuple(sorted(result.failing)), result.order) for result in own))
    if len(groups) > SETS_SHOWN:
        yield _failing_sets(report, symptom, [failing for failing, _ in groups])
        return
    run = run_of_order(report, symptom.results[0])
    of = "" if run is None or run.outcome.selected is None else f"/{run.outcome.selected}"
    for failing, orders in groups:
        where = f" in {_shortened(orders)}" if len(groups) > 1 else ""
        names = f": {shortened(failing, FAILING_SHOWN, between='; ')}" if failing else ""
        yield f"failing {len(failing)}{of} cases{where}{names}"


def _failing_sets(report: OrdersReport, symptom: Symptom, sets: list[tuple[str, ...]]) -> str:
    """Say how many cases fail where each order has others, and which do so in all of them."""
    run = run_of_order(report, symptom.results[0])
    of = "" if run is None or run.outcome.selected is None else f" of {run.outcome.selected}"
    sizes, always = sorted(map(len, sets)), sorted(set(sets[0]).intersection(*sets))
    span = f"{sizes[0]} to {sizes[-1]}" if sizes[0] < sizes[-1] else f"{sizes[0]}"
    names = f", in all of them {shortened(always, FAILING_SHOWN, between='; ')}" if always else ""
    return f"failing {span}{of} cases, {len(sets)} different sets{names}"


def _prefix(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the cases of a prefix with their places; of a long one the first and the last of them."""
    placed = [(str(place), name) for place, name in enumerate(names, start=1)]
    more = len(placed) - PREFIX_SHOWN
    if more <= 1:
        yield from placed
        return
    half = PREFIX_SHOWN // 2
    yield from (*placed[:half], ("...", f"{more} more, in report.json"), *placed[-half:])


def _shortened(orders: Iterable[Order]) -> str:
    """Name the first orders, seeds without repeating the word, and count the rest: `file, seeds 1, 7`."""
    known = tuple(orders)
    shown, more = known[:ORDERS_SHOWN], len(known) - ORDERS_SHOWN
    seeds = [str(order.seed) for order in shown if order.kind is OrderKind.RAND]
    others = [str(order.kind) for order in shown if order.kind is not OrderKind.RAND]
    seeded = [f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds)}"] if seeds else []
    return ", ".join((*others, *seeded)) + (f", and {more} more" if more > 0 else "")
