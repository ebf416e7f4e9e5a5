"""`pooldiag attribute`: parse, wire, save, print."""

from pooldiag.cli.flags import AttributeFlags
from pooldiag.cli.options import taking
from pooldiag.errors import ExitCode


@taking(AttributeFlags)
def attribute(flags: AttributeFlags) -> ExitCode:
    """Run TARGET under arms that take its pool away piece by piece, and say which mechanism the runs establish.

    Exit code: 0 nothing red; 1 red, and the mechanism is established; 3 red, unresolved; 4 blocked; 2 usage.
    """
    # What a run needs, and `--help` or `--dry-run` does not, is imported only here.
    if flags.dry_run:
        from pooldiag.cli.plan import say_plan  # noqa: PLC0415

        return say_plan(flags)
    from pooldiag.cli.attribution import run_attribute  # noqa: PLC0415

    return run_attribute(flags)
