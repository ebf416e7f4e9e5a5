"""What pooldiag asks of a test framework: arguments out, listings and reports in. Nothing here runs anything."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pooldiag.errors import BlockedError
from pooldiag.model.cases import Case, Listing, Order, Selection
from pooldiag.model.events import CaseStarted
from pooldiag.model.outcomes import CaseResult, FrameworkReport

CaseEvent = CaseStarted | CaseResult
"""A case began; or it ended, and this is its result."""


class ListingError(BlockedError):
    """What the target wrote when it was asked for its cases is no listing to rely on."""


class ReportReader(Protocol):
    """Reads one report while it grows. A report that stops anywhere, or turns into garbage, is no error."""

    def feed(self, data: bytes) -> tuple[CaseEvent, ...]:
        """Take the next bytes; return what they tell, in order."""
        ...

    def result(self) -> FrameworkReport:
        """Return what is known so far; a case that began and did not end is UNFINISHED."""
        ...


class Framework(Protocol):
    """One test framework: how to ask for cases, and how to read what it reports."""

    @property
    def name(self) -> str:
        """Its name, as `--framework` takes it."""
        ...

    @property
    def markers(self) -> tuple[bytes, ...]:
        """Strings any of which, found in the target, select this framework."""
        ...

    @property
    def lists_cases(self) -> bool:
        """Whether it knows cases at all; if not, nothing is listed, selected or reported."""
        ...

    def refuse(self, arguments: tuple[str, ...]) -> None:
        """Raise UsageError, with the flag's name, for an argument of the user that fights ours."""
        ...

    def list_arguments(self, selection: Selection | None, order: Order, report: Path) -> tuple[str, ...]:
        """Return the arguments that list into `report`: all cases, or exactly what a run of `selection` starts."""
        ...

    def run_arguments(self, selection: Selection | None, order: Order, report: Path | None) -> tuple[str, ...]:
        """Return the arguments that run `selection`; None: everything.

        Without a `report` the framework reports as it does by itself: that is the line to show to people.
        """
        ...

    def parse_listing(self, report: bytes) -> Listing:
        """Read a listing; raise ListingError with the reason when it cannot be relied on."""
        ...

    def selections(self, listing: Listing, wanted: tuple[Case, ...]) -> tuple[Selection, ...]:
        """Return ways to ask for exactly the `wanted` cases, best first; none when they cannot be asked for.

        Names lie, so each is to be verified before it is believed: list it, and see whether `confirms` says so.
        """
        ...

    def reader(self, selection: Selection | None) -> ReportReader:
        """Return a fresh reader for the report of one run of `selection`, whose cases its results name."""
        ...


def confirms(listing: Listing, selection: Selection) -> bool:
    """Say whether the listing made with a selection holds its cases and no others, in their order.

    Twins are counted afresh in every listing, so they are not compared by number.
    """
    return [replace(case, twin=0) for case in listing.cases] == [replace(case, twin=0) for case in selection.cases]
