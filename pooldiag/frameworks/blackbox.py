"""No framework: a script, or a program without test cases. Its exit and its outputs are all that is read."""

from pathlib import Path

from pooldiag.frameworks.base import Framework, ListingError, ReportReader
from pooldiag.model.cases import Case, Listing, Order, Selection


class Blackbox(Framework):
    """A target of which no cases are known: it runs with the user's own arguments and no others."""

    name = "blackbox"
    markers = ()
    lists_cases = False
    holds_runners = True

    def run_arguments(self, selection: Selection | None, order: Order, report: Path | None) -> tuple[str, ...]:
        """Return no arguments."""
        del selection, order, report
        return ()

    list_arguments = run_arguments  # such a target is never to be listed

    def parse_listing(self, report: bytes) -> Listing:
        """Raise ListingError: there is nothing to list."""
        del report
        raise ListingError("a black box has no test cases to list", hint="name its framework with --framework")

    def selections(self, listing: Listing, wanted: tuple[Case, ...]) -> tuple[Selection, ...]:
        """Return nothing: no part of it can be asked for."""
        del listing, wanted
        return ()

    def reader(self, selection: Selection | None) -> ReportReader:
        """Return a reader that knows no case."""
        del selection
        return ReportReader()
