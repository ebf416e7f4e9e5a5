"""`pooldiag bisect`: parse, wire, save, print."""

from pooldiag.cli.options import taking
from pooldiag.cli.search_flags import BisectFlags
from pooldiag.errors import ExitCode


@taking(BisectFlags)
def bisect(flags: BisectFlags) -> ExitCode:
    """Find the victim of a red order, its shortest red prefix, and the fewest earlier cases that turn it red.

    Exit code: 0 nothing red; 1 red, and the answer is proven; 3 red, unresolved; 4 blocked; 2 usage.
    """
    # What a run needs, and `--help` or `--dry-run` does not, is imported only here.
    if flags.dry_run:
        from pooldiag.cli.search_plan import say_bisect_plan  # noqa: PLC0415

        return say_bisect_plan(flags)
    from pooldiag.cli.bisection import run_bisect  # noqa: PLC0415

    return run_bisect(flags)
