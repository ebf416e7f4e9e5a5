"""The command line: one file a command."""

import sys

from pooldiag.cli.app import exit_code_of_words
from pooldiag.cli.streams import complain, open_standard_streams, settle_standard_streams
from pooldiag.errors import ExitCode


def main() -> None:
    """Run the command line. What is not an error of the user's is a bug, and keeps its traceback."""
    open_standard_streams()
    try:
        sys.exit(exit_code_of_words())
    except Exception:  # noqa: BLE001 - whatever it is, its traceback and the exit code of a bug
        sys.excepthook(*sys.exc_info())
        complain("pooldiag: this is a bug of pooldiag; the lines above belong into its report\n")
        sys.exit(int(ExitCode.BUG))
    finally:
        settle_standard_streams()
