"""`bisect` and `orders` from flags to exit code."""

from collections.abc import Callable

from pooldiag.cli.search_flags import BisectFlags, OrdersFlags
from pooldiag.cli.searches import decide_bisect, decide_orders
from pooldiag.cli.wiring import report_of
from pooldiag.diagnose.bisect import bisect
from pooldiag.diagnose.orders import orders
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import ExitCode
from pooldiag.model.bisections import BisectReport, BisectStatus, OrdersReport
from pooldiag.model.readings import Reading

_EXIT_CODES = {
    BisectStatus.GREEN: ExitCode.GREEN,
    BisectStatus.FOUND: ExitCode.ESTABLISHED,
    BisectStatus.UNRESOLVED: ExitCode.UNRESOLVED,
    BisectStatus.BLOCKED: ExitCode.BLOCKED,
}


def run_bisect(flags: BisectFlags) -> ExitCode:
    """Do all of `pooldiag bisect` and return its exit code."""
    decided = decide_bisect(flags)
    settings = decided.settings

    def work(tools: Tools, keep: Callable[[BisectReport], None]) -> None:
        bisect(settings, tools, keep)

    report = report_of(work, decided.common, flags, command="bisect", jobs=settings.jobs, resume=settings.resume)
    return _EXIT_CODES[report.status]


def run_orders(flags: OrdersFlags) -> ExitCode:
    """Do all of `pooldiag orders` and return its exit code."""
    decided = decide_orders(flags)

    def work(tools: Tools, keep: Callable[[OrdersReport], None]) -> None:
        orders(decided.settings, tools, keep)

    report = report_of(work, decided.common, flags, command="orders")
    if report.session.blocked is not None:
        return ExitCode.BLOCKED
    red = any(one.run is not None and one.run.reading.reading is Reading.RED for one in report.orders)
    return ExitCode.ESTABLISHED if red else ExitCode.GREEN
