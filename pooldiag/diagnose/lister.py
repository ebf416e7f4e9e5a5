"""Which cases there are, and how a framework is asked for some of them: no selection is used unverified."""

import re
from collections import deque
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pooldiag.diagnose.processes import OUTPUT_WORD, run_process
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, UsageError
from pooldiag.frameworks._text import UNPRINTABLE, clipped, escaped
from pooldiag.frameworks.base import ListingError, arranged, confirms
from pooldiag.model.cases import Case, Listing, Order, Selection
from pooldiag.model.runs import Completed, Ending, RunLimits, RunRequest
from pooldiag.model.settings import AttributeSettings
from pooldiag.model.words import SLIP, nearest

_LINES_QUOTED = 3
_WHERE = "a listing is to end with exit code 0; all that this one printed stands in the evidence, under 00-listing"
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_RULER = re.compile(r"^([=!_-])\1{2,}|([=!_-])\2{2,}$")
_LISTING_SECONDS = 120.0  # chosen: no case runs, but a suite may load its libraries before it lists


class Lister:
    """Asks the target for its cases; every question is a run of the target, so it happens under the lock."""

    def __init__(self, settings: AttributeSettings, tools: Tools) -> None:
        self._settings = settings
        self._tools = tools
        self._count = 0

    def everything(self, order: Order | None = None) -> Listing:
        """List all cases, those marked as skipped too where the framework tells them from others."""
        listing = self.listing(order=order)
        return listing if listing.tells_skipped else self.listing(Selection(cases=()), order=order)

    def listing(self, selection: Selection | None = None, *, order: Order | None = None) -> Listing:
        """List the cases in running order; raise ListingError when the target gives no list to trust.

        Without an `order` it is the one of the settings.
        """
        self._count += 1
        framework, ports, target = self._tools.framework, self._tools.ports, self._settings.target
        folder, order = ports.evidence.run_folder(f"00-listing-{self._count}"), order or self._settings.order
        report, out = folder / framework.report_name, str(folder / "out")
        own = (word.replace(OUTPUT_WORD, out) for word in (str(target.path), *target.arguments))
        request = RunRequest(
            argv=(*own, *framework.list_arguments(selection, order, report)),
            environment=self._tools.facts.removal,
            directory=target.directory,
            folder=folder,
            report=report,
            limits=RunLimits(timeout_seconds=_LISTING_SECONDS, grace_seconds=self._settings.grace_seconds),
        )
        completed = run_process(request, ports)
        if completed.shortage is not None:
            raise BlockedError(completed.shortage)
        if completed.ending is Ending.NOT_STARTED:
            raise UsageError(f"{target.shown} cannot be executed: {completed.stopped_by}")
        found = self._parsed(ports.files.read(report), completed)
        if selection is None and not found.cases:
            raise BlockedError(f"the target has no test case{self._quoted(completed)}")
        return arranged(found, order) if framework.any_order else found

    def _parsed(self, report: bytes, completed: Completed) -> Listing:
        """Read a listing; raise ListingError, with what the target itself says, where it is none to rely on."""
        framework, failed = self._tools.framework, f"the target could not list its cases ({completed.words})"
        try:
            found = framework.parse_listing(report)
        except ListingError as error:
            if completed.ended_well:
                problem = f"{error.problem} (the listing ended with {completed.words}){self._quoted(completed)}"
                raise ListingError(problem, hint=error.hint) from error
            quoted = self._quoted(completed)
            problem = f"{failed}{quoted or f': {error.problem}'}"
            raise ListingError(problem, hint=_WHERE if quoted else error.hint) from error
        if completed.ended_well or framework.whole_listing_counts:
            return found
        raise ListingError(f"{failed}{self._quoted(completed)}", hint=_WHERE)

    def _quoted(self, completed: Completed) -> str:
        """Return the last lines that a target printed on stderr, or if there is nothing on stdout, behind a colon."""
        for stream in (completed.stderr, completed.stdout):
            lines = (_plain(line) for line in self._tools.ports.files.lines(stream))
            if last := deque((line for line in lines if line), maxlen=_LINES_QUOTED):
                return f": {'; '.join(last)}"
        return ""

    def chosen(self, listing: Listing) -> tuple[Case, ...]:
        """Return the runnable cases that the user's patterns name; each pattern must name at least one.

        BlockedError when no case is left to run.
        """
        if not listing.runnable:
            raise BlockedError(f"nothing to run: all {len(listing.cases)} cases are skipped")
        if not self._settings.case_patterns:
            return listing.runnable
        chosen: set[Case] = set()
        for pattern in self._settings.case_patterns:
            matching = (case for case in listing.runnable if fnmatchcase(case.name, pattern))
            if not (named := named_exactly(listing.runnable, pattern) or [*matching]):  # a name may look like a pattern
                raise UsageError(f"--case {pattern!r} names no case that runs", hint=hint_of(pattern, listing.runnable))
            chosen.update(named)
        return tuple(case for case in listing.runnable if case in chosen)

    def select(self, listing: Listing, wanted: tuple[Case, ...], *, order: Order | None = None) -> Selection:
        """Find a way to ask for exactly these cases, and prove it by a listing; `listing` is in the same order."""
        framework = self._tools.framework
        for selection in framework.selections(listing, wanted):
            proven = framework.any_order or selection == Selection(cases=listing.runnable)
            if proven or confirms(self.listing(selection, order=order), selection):
                return selection
        names = ", ".join(repr(case.name) for case in wanted[:3])
        raise UsageError(
            f"the framework cannot be asked for exactly these {len(wanted)} cases: {names}…",
            hint="choose fewer: a single case, or neighbours in the running order, can always be asked for",
        )


def _plain(line: bytes) -> str:
    """Return a line of a target's output without its color and its rulers, escaped, and not too long."""
    text = _RULER.sub("", _COLOR.sub("", line.decode("utf-8", "surrogateescape"))).strip()
    return clipped(UNPRINTABLE.sub(escaped, text))


def named_case(listing: Listing, name: str) -> Case:
    """Return the one case of exactly this name; UsageError when there is none, or more than one."""
    found = named_exactly(listing.runnable, name)
    if not found:
        raise UsageError(f"{name!r} is no case that runs", hint=hint_of(name, listing.runnable))
    if len(found) > 1:
        raise UsageError(f"{name!r} names {len(found)} cases", hint="name cases whose names no other case has")
    return found[0]


def named_among(cases: Sequence[Case], name: str) -> Case:
    """Return the first selected case of this name; UsageError when `--victim` names none."""
    found = next((case for case in cases if case.name == name), None)
    if found is None:
        hint = hint_of(name, cases, f"{len(cases)} cases are selected")
        raise UsageError(f"--victim {name!r} is no selected case", hint=hint)
    return found


def named_exactly(cases: Sequence[Case], name: str) -> list[Case]:
    """Return the cases of this name, be it as it is listed, as it stands in the source, or as a listing folds it."""
    in_one_line = re.sub(r"[\t\n\r]", " ", name)  # as a listing in XML has it: tabs and line ends are blanks there
    return [case for case in cases if case.name in {name, in_one_line} or _in_source(case) == name]


def _in_source(case: Case) -> str:
    return case.name if case.name_bytes is None else case.name_bytes.decode("utf-8", "surrogateescape")


def hint_of(name: str, cases: Sequence[Case], otherwise: str | None = None) -> str:
    """Say which case has the nearest name, or else what the user might do."""
    near = nearest(name, (case.name for case in cases), likeness=SLIP)
    if near is not None:
        return f"the nearest is {near!r}"
    return otherwise or f"there are {len(cases)} cases; '*' stands for any text"
