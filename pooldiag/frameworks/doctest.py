"""doctest (C++), 2.3.8 and later."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag, auto
from itertools import accumulate, count
from pathlib import Path

from pooldiag.frameworks._doctest_reports import DoctestReader, parse_listing
from pooldiag.frameworks.base import NOT_A_RUN, Framework, ReportReader
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection

ARGUMENT_LIMIT_BYTES = 131_071  # Linux, MAX_ARG_STRLEN without the final NUL; more is E2BIG at exec
# What does not fit into one argument goes into the other spelling too: doctest adds the two up.
_TEST_CASE = ("-dt-test-case=", "-dt-tc=")
_TEST_CASE_EXCLUDE = ("-dt-test-case-exclude=", "-dt-tce=")
_SHORT_BYTES = 1000  # of names: a line that people still read; all of these are equally short
_FLAG = re.compile(r"-+(?:dt-)?(?P<name>[^=]+)(?P<value>=.*)?", re.DOTALL)


class _Form(Flag):
    """How doctest takes a flag; in another form it ignores it."""

    BARE = auto()
    VALUE = auto()
    EITHER = BARE | VALUE


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnFlag:
    """A flag that is pooldiag's to set, and what to do instead of giving it."""

    names: tuple[str, ...]
    form: _Form
    hint: str


_OWN_REPORT = "pooldiag makes doctest write a report of its own, and keeps what the target prints"
_OWN_FLAGS = (
    _OwnFlag(names=("reporters", "r", "out", "o"), form=_Form.VALUE, hint=_OWN_REPORT),
    _OwnFlag(names=("quiet", "q"), form=_Form.EITHER, hint=_OWN_REPORT),
    # doctest ignores `-tc NAME` and runs everything, which nobody means who types it.
    _OwnFlag(names=("test-case", "tc"), form=_Form.EITHER, hint="select cases with --case PATTERN"),
    _OwnFlag(names=("case-sensitive", "cs"), form=_Form.EITHER, hint="pooldiag's selections always match case"),
    _OwnFlag(names=("order-by", "ob"), form=_Form.VALUE, hint="choose the order with --order"),
    _OwnFlag(names=("rand-seed", "rs"), form=_Form.VALUE, hint="choose the seed with --order rand --seed N"),
    _OwnFlag(names=("first", "f", "last", "l"), form=_Form.VALUE, hint="select cases with --case PATTERN"),
    _OwnFlag(names=("abort-after", "aa"), form=_Form.VALUE, hint="a run that stops early cannot be compared"),
    _OwnFlag(names=("no-skip", "ns"), form=_Form.EITHER, hint="cases marked skip() stay skipped"),
    _OwnFlag(names=("no-run", "nr"), form=_Form.EITHER, hint=NOT_A_RUN),
    _OwnFlag(names=("exit", "e"), form=_Form.EITHER, hint="pooldiag always sets it"),
    _OwnFlag(names=("help", "h", "?", "version", "v", "count", "c"), form=_Form.BARE, hint=NOT_A_RUN),
    _OwnFlag(names=("list-test-cases", "ltc", "list-test-suites", "lts"), form=_Form.BARE, hint=NOT_A_RUN),
    _OwnFlag(names=("list-reporters", "lr"), form=_Form.BARE, hint=NOT_A_RUN),
)
_OWN_BY_NAME = {name: flag for flag in _OWN_FLAGS for name in flag.names}


class Doctest(Framework):
    """doctest: every option is spelled `-dt-…`, the one form that all builds take, its value after `=`.

    Filters match case, those that the user gives (`-ts=`, `-sc=`) too: one diagnosis, one meaning.
    """

    name = "doctest"
    markers = (b"dt-test-case=",)
    counts_assertions = True
    loads_alike = True
    # doctest itself lists with 0, all cases being known before main() starts. What comes behind the listing is the
    # program's own: a main() that returns something else, or a crash when it ends, which is a red to be looked into.
    whole_listing_counts = True
    report_name = "report.xml"
    plain_orders = tuple(Order(kind=kind) for kind in (OrderKind.FILE, OrderKind.NAME, OrderKind.SUITE))

    def seeds(self) -> Iterator[int]:
        """Leave seed 0 out: it is the same as seed 1, by srand(3)."""
        return count(1)

    def remark(self, order: Order) -> str | None:
        """Say which seeds are one order."""
        if order.kind is not OrderKind.RAND or order.seed not in {0, None}:
            return None
        return "seed 0, seed 1 and no seed are the same order in doctest"

    def own_flag_hint(self, argument: str) -> str | None:
        """Know a flag that is ours in any spelling: an unprefixed one would win over ours."""
        found = _FLAG.fullmatch(argument)
        flag = _OWN_BY_NAME.get(found["name"]) if found else None
        if found is None or flag is None:
            return None
        form = _Form.BARE if found["value"] is None else _Form.VALUE
        return flag.hint if form in flag.form else None

    def list_arguments(self, selection: Selection | None, order: Order, report: Path) -> tuple[str, ...]:
        """List all cases, skipped ones too; or with a selection those that it runs."""
        # Positions count the cases that are not skipped, so a selection is listed as it runs: without no-skip.
        skipped_too = () if selection else ("-dt-no-skip=1",)
        return ("-dt-list-test-cases", *skipped_too, *_report_arguments(report), *_select_arguments(selection, order))

    def run_arguments(self, selection: Selection | None, order: Order, report: Path | None) -> tuple[str, ...]:
        """Run a selection; a seed counts only in rand order."""
        reporting = self.report_arguments(report) if report else ()
        return (*reporting, *_select_arguments(selection, order))

    def report_arguments(self, report: Path) -> tuple[str, ...]:
        """Report in XML, with how long each case took."""
        return (*_report_arguments(report), "-dt-no-skipped-summary=1", "-dt-duration=1")

    def parse_listing(self, report: bytes) -> Listing:
        """Read a listing; raise ListingError when it is cut, or when the target ran its cases instead."""
        return parse_listing(report)

    def selections(self, listing: Listing, wanted: tuple[Case, ...]) -> tuple[Selection, ...]:
        """Ask for everything; else by exact names, by position, by what to leave out, or by both: short lines first."""
        runnable = listing.runnable
        places = _places(runnable, wanted)
        if not places:
            return ()
        if len(places) == len(runnable):
            return (Selection(cases=wanted),)
        chosen = set(wanted)
        others = tuple(case for case in runnable if case not in chosen)
        between = tuple(case for case in runnable[places[0] : places[-1]] if case not in chosen)
        gone = {case.name for case in between}
        first = sum(case.name not in gone for case in runnable[: places[0]]) + 1
        position = (f"-dt-first={first}", f"-dt-last={first + len(wanted) - 1}")
        ways = [*_said_apart(_TEST_CASE, wanted, others), *_said_apart(_TEST_CASE_EXCLUDE, others, wanted)]
        ways += [(*words, *position) for words in _said_apart(_TEST_CASE_EXCLUDE, between, wanted)]
        ways.sort(key=lambda words: sum(map(_bytes, words)) // _SHORT_BYTES)
        return tuple(Selection(cases=wanted, words=words) for words in ways)

    def reader(self, selection: Selection | None) -> ReportReader:
        """Return a reader of the XML report of one run."""
        return DoctestReader(selection)


def _report_arguments(report: Path) -> tuple[str, ...]:
    return ("-dt-reporters=xml", f"-dt-out={report}", "-dt-exit=1")


def _select_arguments(selection: Selection | None, order: Order) -> tuple[str, ...]:
    arguments = [f"-dt-order-by={order.kind}"]
    if order.kind is OrderKind.RAND and order.seed is not None:
        arguments.append(f"-dt-rand-seed={order.seed}")
    return (*arguments, "-dt-case-sensitive=1", *(selection.words if selection else ()))


def _places(runnable: tuple[Case, ...], wanted: tuple[Case, ...]) -> list[int]:
    """Return where the wanted cases stand, from 0; empty when they are not all there, in this order."""
    place_of = {case: place for place, case in enumerate(runnable)}
    places = [place_of.get(case, -1) for case in wanted]
    in_order = all(before < after for before, after in zip([-1, *places], places, strict=False))
    return places if in_order else []


def _said_apart(
    options: tuple[str, str], named: tuple[Case, ...], others: tuple[Case, ...]
) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that name some cases and none of the others, in the ways that are worth a try and fit."""
    names = {case.name for case in named}
    if "" in names or any(case.name in names for case in others):  # an empty pattern selects everything
        return
    each = [tuple(dict.fromkeys(patterns)) for patterns in zip(*map(_patterns, named), strict=True)] or [()]
    if len(named) > 1:  # some may need one way, some another
        each.append(tuple(dict.fromkeys(pattern for patterns in each for pattern in patterns)))
    for patterns in dict.fromkeys(each):
        arguments = _said(options, patterns)
        if all(_bytes(argument) <= ARGUMENT_LIMIT_BYTES for argument in arguments):
            yield arguments


def _patterns(case: Case) -> tuple[str, str, str]:
    r"""Return the patterns that a name may need: its own; as XML folds it; as it is, looking escaped.

    XML folds tabs and line ends, so that any space may have been one. `,`, `\` and `*` have no escape that all versions
    know: `?` is any one byte.
    """
    exact = re.sub(r"[,\\*]", "?", case.raw_name)
    return exact, re.sub(r"[ \t\n\r]", "?", exact), re.sub(r"[,\\*]", "?", case.name)


def _said(options: tuple[str, str], patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments that say the patterns: one, or two where one is too long for the system."""
    first, second = options
    room = ARGUMENT_LIMIT_BYTES - len(first)
    sizes = accumulate(_bytes(pattern) + 1 for pattern in patterns)  # each with its comma, the last has none
    fitting = sum(size - 1 <= room for size in sizes)
    parts = ((first, patterns[:fitting]), (second, patterns[fitting:]))
    return tuple(option + ",".join(part) for option, part in parts if part)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))
