"""`pooldiag census`: parse, wire, print."""

from pooldiag.cli.census_flags import CENSUS_OPTIONS, CensusFlags
from pooldiag.cli.parser import Argument, Subcommand
from pooldiag.errors import ExitCode


def census(flags: CensusFlags) -> ExitCode:
    """Count NaN, infinities and zeros in tensor files, name their bit patterns and places, and say what they show.

    Exit code: 0 nothing found; 1 a NaN, an infinity or a difference; 2 a file that cannot be read, or usage.
    """
    # What counting needs, and `--help` does not, is imported only here.
    from pooldiag.cli.census_run import run_census  # noqa: PLC0415

    return run_census(flags)


COMMAND = Subcommand(
    flags=CensusFlags,
    work=census,
    options=CENSUS_OPTIONS,
    arguments=(
        Argument(
            name="files",
            metavar="FILE...",
            help="Tensor files, folders with tensor files, or - for standard input.",
            many=True,
        ),
    ),
)
