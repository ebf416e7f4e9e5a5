"""What `--dry-run` prints for `bisect` and `orders`: the plan, found without running anything of the target."""

from collections.abc import Iterator
from itertools import pairwise

from pooldiag.cli.plan import arm_lines, fact_lines, say_lines
from pooldiag.cli.search_flags import BisectFlags, OrdersFlags
from pooldiag.cli.searches import decide_bisect, decide_orders
from pooldiag.errors import ExitCode
from pooldiag.model.cases import OrderKind
from pooldiag.model.settings import BisectSettings, OrdersSettings


def say_bisect_plan(flags: BisectFlags) -> ExitCode:
    """Do all of `pooldiag bisect --dry-run` and return its exit code."""
    decided = decide_bisect(flags)
    settings = decided.settings
    sequence = f"{len(settings.sequence) - 1} cases, then {settings.sequence[-1]}" if settings.sequence else None
    facts = fact_lines(decided.common, sequence or f"{settings.common.order}")
    return say_lines(flags, [*facts, *_search_facts(settings), "", *_search(settings)])


def say_orders_plan(flags: OrdersFlags) -> ExitCode:
    """Do all of `pooldiag orders --dry-run` and return its exit code."""
    decided = decide_orders(flags)
    return say_lines(flags, [*fact_lines(decided.common, order="as below"), "", *_orders(decided.settings)])


def _search_facts(settings: BisectSettings) -> Iterator[str]:
    if settings.common.victim is not None:
        yield f"victim     {settings.common.victim}"
    if settings.wanted is not None:
        yield f"red        {settings.wanted}"
    if settings.jobs > 1:
        yield f"at once    {settings.jobs} runs"
    if settings.resume is not None:
        yield f"goes on    {settings.resume}"


def _search(settings: BisectSettings) -> Iterator[str]:
    found = "every independent set of polluters" if settings.every_set else "the polluters in it"
    yield f"First the red; then the shortest red prefix, and {found}; {settings.max_runs} runs at most."
    yield "With m cases before the victim, one polluter and no chance: ceil(log2 m) + 6 runs at most, proofs included."
    if settings.arms:
        yield "On the cases that are left:"
        yield from arm_lines(settings.common)


def _orders(settings: OrdersSettings) -> Iterator[str]:
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
