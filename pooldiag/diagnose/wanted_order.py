"""A running order in which some cases stand as wanted, for a framework that has orders and seeds and no more."""

from collections.abc import Callable
from itertools import chain, islice
from math import factorial

from pooldiag.diagnose.prober import Suite
from pooldiag.errors import UsageError
from pooldiag.frameworks.base import Framework
from pooldiag.model.cases import Case, Listing, Order, OrderKind
from pooldiag.model.words import listed

_TRIES = 10  # times k!: of the orders of k cases that seeds give, one in e^10 = 22,000 is missed
_MOST_LISTINGS = 10_000  # chosen: it limits from 7 cases on; a listing of 10 ms makes that 100 s


def find_order(
    wanted: tuple[Case, ...],
    list_order: Callable[[Order], Listing],
    *,
    framework: Framework,
    watch: Callable[[int, int], None],
) -> tuple[Suite, int]:
    """Search for an order in which the wanted cases stand in the wanted order, with or without others between them.

    Returned are these cases in it, and how many listings were made until it was found.
    The orders without a seed are tried first, then seeds. `watch` hears before each listing its number, from 1,
    and how many there will be at most: 10 for each order that so many cases can have.
    Raises UsageError when none is found, when a wanted case does not run, or when one is wanted twice.
    """
    if len(set(wanted)) < len(wanted):
        raise UsageError("a case can run once only: one of the wanted order is named twice", hint="name each once")
    plain, seeded = framework.plain_orders, (Order(kind=OrderKind.RAND, seed=seed) for seed in framework.seeds())
    most = min(_TRIES * factorial(len(wanted)) + len(plain), _MOST_LISTINGS)
    best, reached = Order(), 0
    for number, order in enumerate(islice(chain(plain, seeded), most), 1):
        watch(number, most)
        listing = list_order(order)
        beginning = _beginning(wanted, listing)
        if beginning == len(wanted):
            return Suite(listing=listing, cases=wanted, order=order), number
        if beginning > reached:
            best, reached = order, beginning
    seeds, names = max(0, most - len(plain)), ", ".join(repr(case.name) for case in wanted[:reached])
    raise UsageError(
        f"no order has these {len(wanted)} cases as wanted: {listed(one.kind for one in plain)} order and {seeds} seeds"
        " were tried",
        hint=f"{best} comes nearest, and has the first {reached} as wanted: {names}",
    )


def _beginning(wanted: tuple[Case, ...], listing: Listing) -> int:
    """Return how many of the wanted cases, from the first on, stand in the wanted order."""
    place_of = {case: place for place, case in enumerate(listing.runnable)}
    if missing := [case for case in wanted if case not in place_of]:
        raise UsageError(
            f"{missing[0].name!r} does not run, so no order can have it",
            hint=f"{len(listing.runnable)} of {len(listing.cases)} cases run: the others are skipped",
        )
    places = [place_of[case] for case in wanted]
    turns = (number for number in range(1, len(places)) if places[number] < places[number - 1])
    return next(turns, len(places))
