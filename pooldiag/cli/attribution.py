"""`attribute` from flags to exit code."""

from collections.abc import Callable

from pooldiag.cli.flags import AttributeFlags
from pooldiag.cli.settings import decide
from pooldiag.cli.wiring import report_of
from pooldiag.diagnose.attribute import attribute
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import ExitCode
from pooldiag.model.attributions import Status
from pooldiag.model.reports import AttributeReport

_EXIT_CODES = {
    Status.GREEN: ExitCode.GREEN,
    Status.ESTABLISHED: ExitCode.ESTABLISHED,
    Status.UNRESOLVED: ExitCode.UNRESOLVED,
    Status.BLOCKED: ExitCode.BLOCKED,
}


def run_attribute(flags: AttributeFlags) -> ExitCode:
    """Do all of `pooldiag attribute` and return its exit code."""
    decided = decide(flags)

    def work(tools: Tools, keep: Callable[[AttributeReport], None]) -> None:
        attribute(decided.settings, tools, keep)

    return _EXIT_CODES[report_of(work, decided, flags, command="attribute").attribution.status]
