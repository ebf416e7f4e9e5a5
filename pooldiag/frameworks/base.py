"""What pooldiag asks of a test framework: arguments out, listings and reports in. Nothing here runs anything."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Protocol

from pooldiag.errors import BlockedError, UsageError
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection
from pooldiag.model.events import CaseStarted
from pooldiag.model.outcomes import CaseResult, FrameworkReport

NOT_A_RUN = "run the target without pooldiag for that"
"""The hint beside a flag of the target that makes it run no cases."""

CaseEvent = CaseStarted | CaseResult
"""A case began; or it ended, and this is its result."""


class ListingError(BlockedError):
    """What the target wrote when it was asked for its cases is not a listing to rely on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that a run reads, to be written before it."""

    path: Path
    content: bytes


class ReportReader:
    """Reads one report while it grows. A report may stop anywhere, or turn into garbage.

    Each is derived from this one, which reads nothing out of anything.
    """

    def feed(self, data: bytes) -> tuple[CaseEvent, ...]:
        """Take the next bytes; return what they say, in order."""
        del data
        return ()

    def result(self) -> FrameworkReport:
        """Return what is known so far; a case that began and did not end is UNFINISHED."""
        return FrameworkReport()

    def problem(self) -> str | None:
        """Say why this is not the run that was asked for, so that it says nothing; None while it may be."""
        return None


class Framework(Protocol):
    """One test framework: how to ask for cases, and how to read what it reports.

    Each is derived from this one, and says only what it does in another way.
    """

    name: str  # as `--framework` takes it
    markers: tuple[bytes, ...]  # strings any of which, found in the target, select this framework
    lists_cases: bool = True  # whether it knows cases at all; if not, nothing is listed, selected or reported
    # Whether a selection may hold its cases in any order. If so, it is not asked to order or confirm anything.
    # What it lists is then to be `arranged`; its reader notices when a run was not as asked for.
    any_order: bool = False
    # Whether a whole listing counts however its process ended; if not, one that ended with an error is no listing.
    whole_listing_counts: bool = False
    counts_assertions: bool = False  # whether it tells how many each case made: then none is 0, not unknown
    holds_runners: bool = False  # whether other test runners may be inside of it, that say themselves that nothing ran
    loads_alike: bool = False  # whether a few cases load the same code as all of them do; False: not known
    report_name: str = "report.txt"  # of the file in a run's folder that it reports into
    plain_orders: tuple[Order, ...] = (Order(),)  # those that take no seed and may differ from each other

    def seeds(self) -> Iterator[int]:
        """Yield the seeds, ascending, that each give another order; the first stands for no seed as well."""
        return count()

    def remark(self, order: Order) -> str | None:
        """Say what a user of this order might not expect of it; None when there is nothing to say."""
        del order
        return None

    def refuse(self, arguments: tuple[str, ...]) -> None:
        """Raise UsageError, with the flag's name, for an argument of the user that fights ours."""
        for argument in arguments:
            if hint := self.own_flag_hint(argument):
                flag = argument.partition("=")[0]
                raise UsageError(f"{flag} is pooldiag's to set for a {self.name} target", hint=hint)

    def own_flag_hint(self, argument: str) -> str | None:
        """Say what to do instead of giving a flag that is ours to set; None for any other argument."""
        del argument
        return None

    def list_arguments(self, selection: Selection | None, order: Order, report: Path) -> tuple[str, ...]:
        """Return the arguments that list into `report`: all cases, or exactly what a run of `selection` starts."""

    def run_arguments(self, selection: Selection | None, order: Order, report: Path | None) -> tuple[str, ...]:
        """Return the arguments that run `selection`; None: everything.

        Without a `report` the framework reports as it does by itself: that is the line to show to people.
        """

    def report_arguments(self, report: Path) -> tuple[str, ...]:
        """Return the arguments that, behind the line for people, make it report into `report`."""
        del report
        return ()

    def runs_as_typed(self, selection: Selection) -> bool:
        """Tell whether a run of this selection has the words of the line for people, and those of its report."""
        del selection
        return True

    def input_files(self, selection: Selection | None, order: Order, report: Path) -> tuple[InputFile, ...]:
        """Return the files, beside `report`, that must be there before a run with the same arguments starts."""
        del selection, order, report
        return ()

    def parse_listing(self, report: bytes) -> Listing:
        """Read a listing; raise ListingError with the reason when it cannot be relied on."""

    def selections(self, listing: Listing, wanted: tuple[Case, ...]) -> tuple[Selection, ...]:
        """Return ways to ask for exactly the `wanted` cases, best first; none when they cannot be asked for.

        Names lie, so each is to be verified before it is believed: list it, and see whether `confirms` says so.
        Only a framework of `any_order` needs no such proof, and takes `wanted` in another order than the listing's.
        """

    def reader(self, selection: Selection | None) -> ReportReader:
        """Return a fresh reader for the report of one run of `selection`, whose cases its results name."""


def confirms(listing: Listing, selection: Selection) -> bool:
    """Say whether the listing made with a selection holds its cases and no others, in their order.

    Twins are counted afresh in every listing, so they are not compared by number.
    """
    return [replace(case, twin=0) for case in listing.cases] == [replace(case, twin=0) for case in selection.cases]


def arranged(listing: Listing, order: Order) -> Listing:
    """Put the cases of a framework that runs them in any order into this one.

    Some of the cases keep the relative order that they have among all. A seed means the same on every machine; no seed
    is seed 0. Such a framework has no suites: their order is the file's, and so is that of a list behind a sequence.
    """
    match order.kind:
        case OrderKind.NAME:
            return replace(listing, cases=tuple(sorted(listing.cases, key=lambda case: case.name)))
        case OrderKind.REVERSE:
            return replace(listing, cases=listing.cases[::-1])
        case OrderKind.RAND:
            return replace(listing, cases=tuple(sorted(listing.cases, key=lambda case: _draw(case, order.seed or 0))))
        case _:
            return listing


def _draw(case: Case, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {case.name}".encode()).digest()
