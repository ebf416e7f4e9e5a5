"""`pooldiag orders`: its flags, parse, wire, save, print.

What a run needs, and `--help` or `--dry-run` does not, is imported only where it is used.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.cli.attribute import OPTIONS as ATTRIBUTE_OPTIONS
from pooldiag.cli.target import flags
from pooldiag.cli.target.flags import SEARCH, WHAT, Invocation, panel
from pooldiag.config.options import Options
from pooldiag.errors import ExitCode, UsageError
from pooldiag.model.cases import Order, OrderKind

if TYPE_CHECKING:
    from pooldiag.frameworks.base import Framework
    from pooldiag.model.settings import OrdersSettings

DEFAULT_SEEDS = tuple(range(1, 21))

OPTIONS = (
    *flags.what_runs(victim="The case whose red is looked for first."),
    *panel(WHAT, "orders", "seeds"),
    *flags.PROFILE,
    *panel(SEARCH, "budget", "search_runs", "no_prefix", search_runs="Most runs in all (default: 1000)."),
    *flags.ALL_RUNS,
)


def orders(given: Invocation) -> ExitCode:
    """Run the cases of TARGET in many orders and with many seeds, and say which are red, and how.

    Exit code: 0 nothing red; 1 an order is red; 4 blocked; 2 usage.
    """
    from pooldiag.cli.target.decisions import (  # noqa: PLC0415 - as said above
        NO_SWITCH,
        configuration,
        decide,
        require_orders,
        with_cases,
    )
    from pooldiag.model.settings import DEFAULT_MAX_PROBES, OrdersSettings  # noqa: PLC0415

    given = flags.with_environment(given)
    if given.said.orders == () == given.said.seeds:
        raise UsageError("--orders none and --seeds none leave no order to run", hint="leave one of them out")
    config = configuration(given.said, Path.cwd())
    decided = with_cases(decide(given, config, invocation=given.line("attribute", ATTRIBUTE_OPTIONS)))
    require_orders(decided.framework, given.said.orders or (), "--orders")
    decided = replace(decided, notes=tuple(note for note in decided.notes if note != NO_SWITCH))  # no arm runs here
    settings = OrdersSettings(
        invocation=given.line("orders", OPTIONS),
        bisect_alike=given.line("bisect", flags.RUNS_ALIKE),
        common=decided.settings,
        orders=tuple(_orders(given.said, decided.framework)),
        prefix=not given.said.no_prefix,
        max_runs=given.said.search_runs or DEFAULT_MAX_PROBES,
    )
    if given.said.dry_run:
        from pooldiag.cli.target.plan import say_plan  # noqa: PLC0415

        return say_plan(decided, "as below", ["", *_plan(settings)])
    from pooldiag.cli.target.wiring import run_target  # noqa: PLC0415
    from pooldiag.diagnose import orders as driver  # noqa: PLC0415

    return run_target(partial(driver.orders, settings), decided, command="orders")


def _orders(said: Options, framework: "Framework") -> Iterator[Order]:
    """Yield the orders without a seed, then the rand ones."""
    yield from framework.plain_orders if said.orders is None else (Order(kind=kind) for kind in said.orders)
    seeds = DEFAULT_SEEDS if said.seeds is None else said.seeds
    yield from (Order(kind=OrderKind.RAND, seed=seed) for seed in seeds)


def _plan(settings: "OrdersSettings") -> Iterator[str]:
    plain = [str(order.kind) for order in settings.orders if order.kind is not OrderKind.RAND]
    seeds = [order.seed for order in settings.orders if order.seed is not None]
    yield f"Each of {len(settings.orders)} orders runs once, {settings.max_runs} runs at most:"
    if plain:
        yield f"  {', '.join(plain)}"
    if seeds:
        yield f"  rand, seeds {', '.join(_ranges(seeds))}"
    if settings.prefix:
        yield "Where one is red, the shortest red prefix is looked for."


def _ranges(seeds: list[int]) -> Iterator[str]:
    """Yield seeds as they may be typed: runs of them as `1..20`."""
    starts = [at for at, seed in enumerate(seeds) if at == 0 or seed != seeds[at - 1] + 1]
    for start, end in pairwise([*starts, len(seeds)]):
        yield f"{seeds[start]}..{seeds[end - 1]}" if end - start > 1 else f"{seeds[start]}"


COMMAND = flags.subcommand(orders, OPTIONS)
