"""`pooldiag orders`: parse, wire, save, print."""

from pooldiag.cli.options import taking
from pooldiag.cli.search_flags import OrdersFlags
from pooldiag.errors import ExitCode


@taking(OrdersFlags)
def orders(flags: OrdersFlags) -> ExitCode:
    """Run the cases of TARGET in many orders and with many seeds, and say which are red, and how.

    Exit code: 0 nothing red; 1 an order is red; 4 blocked; 2 usage.
    """
    # What a run needs, and `--help` or `--dry-run` does not, is imported only here.
    if flags.dry_run:
        from pooldiag.cli.search_plan import say_orders_plan  # noqa: PLC0415

        return say_orders_plan(flags)
    from pooldiag.cli.bisection import run_orders  # noqa: PLC0415

    return run_orders(flags)
