"""doctest (C++), 2.3.8 and later."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, count
from pathlib import Path

from pooldiag.errors import UsageError
from pooldiag.frameworks._doctest_reports import DoctestReader, parse_listing
from pooldiag.frameworks.base import Framework, ReportReader
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection

ARGUMENT_LIMIT_BYTES = 131_071  # Linux, MAX_ARG_STRLEN without the final NUL; more is E2BIG at exec
# What does not fit into one argument goes into the other spelling too: doctest adds the two up.
_TEST_CASE = ("-dt-test-case=", "-dt-tc=")
_TEST_CASE_EXCLUDE = ("-dt-test-case-exclude=", "-dt-tce=")
_SHORT_BYTES = 1000  # of names: a line that people still read
_FLAG = re.compile(r"-+(?:dt-)?(?P<name>[^=]+)(?P<value>=.*)?", re.DOTALL)


class _Form(Enum):
    """How doctest takes a flag; in another form it ignores it."""

    BARE = "bare"
    VALUE = "value"
    EITHER = "either"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnFlag:
    """A flag that is pooldiag's to set, and what to do instead of giving it."""

    names: tuple[str, ...]
    form: _Form
    hint: str


_OWN_REPORT = "pooldiag makes doctest write a report of its own, and keeps what the target prints"
_NOT_A_RUN = "run the target without pooldiag for that"
_OWN_FLAGS = (
    _OwnFlag(names=("reporters", "r"), form=_Form.VALUE, hint=_OWN_REPORT),
    _OwnFlag(names=("out", "o"), form=_Form.VALUE, hint=_OWN_REPORT),
    _OwnFlag(names=("quiet", "q"), form=_Form.EITHER, hint=_OWN_REPORT),
    # doctest ignores `-tc NAME` and runs everything, which nobody means who types it.
    _OwnFlag(names=("test-case", "tc"), form=_Form.EITHER, hint="select cases with --case PATTERN"),
    _OwnFlag(names=("case-sensitive", "cs"), form=_Form.EITHER, hint="pooldiag's selections always match case"),
    _OwnFlag(names=("order-by", "ob"), form=_Form.VALUE, hint="choose the order with --order"),
    _OwnFlag(names=("rand-seed", "rs"), form=_Form.VALUE, hint="choose the seed with --order rand --seed N"),
    _OwnFlag(names=("first", "f"), form=_Form.VALUE, hint="select cases with --case PATTERN"),
    _OwnFlag(names=("last", "l"), form=_Form.VALUE, hint="select cases with --case PATTERN"),
    _OwnFlag(names=("abort-after", "aa"), form=_Form.VALUE, hint="a run that stops early cannot be compared"),
    _OwnFlag(names=("no-skip", "ns"), form=_Form.EITHER, hint="cases marked skip() stay skipped"),
    _OwnFlag(names=("no-run", "nr"), form=_Form.EITHER, hint=_NOT_A_RUN),
    _OwnFlag(names=("exit", "e"), form=_Form.EITHER, hint="pooldiag always sets it"),
    _OwnFlag(names=("help", "h", "?"), form=_Form.BARE, hint=_NOT_A_RUN),
    _OwnFlag(names=("version", "v"), form=_Form.BARE, hint=_NOT_A_RUN),
    _OwnFlag(names=("count", "c"), form=_Form.BARE, hint=_NOT_A_RUN),
    _OwnFlag(names=("list-test-cases", "ltc"), form=_Form.BARE, hint=_NOT_A_RUN),
    _OwnFlag(names=("list-test-suites", "lts"), form=_Form.BARE, hint=_NOT_A_RUN),
    _OwnFlag(names=("list-reporters", "lr"), form=_Form.BARE, hint=_NOT_A_RUN),
)
_OWN_BY_NAME = {name: flag for flag in _OWN_FLAGS for name in flag.names}


class Doctest(Framework):
    """doctest: every option is spelled `-dt-…`, the one form that all builds take, its value after `=`.

    Filters match case, those that the user gives (`-ts=`, `-sc=`) too: one diagnosis, one meaning.
    """

    name = "doctest"
    markers = (b"dt-test-case=",)
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

    def refuse(self, arguments: tuple[str, ...]) -> None:
        """Raise UsageError for a flag that is ours, in any spelling: an unprefixed one would win over ours."""
        for argument in arguments:
            if flag := _own_flag(argument):
                shown = argument.partition("=")[0]
                raise UsageError(f"{shown} is pooldiag's to set for a doctest target", hint=flag.hint)

    def list_arguments(self, selection: Selection | None, order: Order, report: Path) -> tuple[str, ...]:
        """List all cases, skipped ones too; or with a selection those that it runs."""
        # Positions count the cases that are not skipped, so a selection is listed as it runs: without no-skip.
        skipped_too = () if selection else ("-dt-no-skip=1",)
        return ("-dt-list-test-cases", *skipped_too, *_report_arguments(report), *_select_arguments(selection, order))

    def run_arguments(self, selection: Selection | None, order: Order, report: Path | None) -> tuple[str, ...]:
        """Run a selection; a seed counts only in rand order."""
        reporting = (*_report_arguments(report), "-dt-no-skipped-summary=1", "-dt-duration=1") if report else ()
        return (*reporting, *_select_arguments(selection, order))

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
        by_name, by_exclusion = _by_name(wanted, others), _by_exclusion(wanted, others)
        return tuple(sorted((*by_name, *by_exclusion, *_by_position(runnable, wanted, between)), key=_length))

    def reader(self, selection: Selection | None) -> ReportReader:
        """Return a reader of the XML report of one run."""
        return DoctestReader(selection)


def _own_flag(argument: str) -> _OwnFlag | None:
    """Return the flag of ours that doctest would take this argument for."""
    found = _FLAG.fullmatch(argument)
    flag = _OWN_BY_NAME.get(found["name"]) if found else None
    if found is None or flag is None:
        return None
    form = _Form.BARE if found["value"] is None else _Form.VALUE
    return flag if flag.form in {form, _Form.EITHER} else None


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


def _by_name(wanted: tuple[Case, ...], others: tuple[Case, ...]) -> Iterator[Selection]:
    """Yield the selections that name the wanted cases."""
    if _tells_apart(wanted, others):
        for words in _by_patterns(_TEST_CASE, wanted):
            yield Selection(cases=wanted, words=words)


def _by_exclusion(wanted: tuple[Case, ...], others: tuple[Case, ...]) -> Iterator[Selection]:
    """Yield the selections that name all others, to leave them out."""
    if _tells_apart(others, wanted):
        for words in _by_patterns(_TEST_CASE_EXCLUDE, others):
            yield Selection(cases=wanted, words=words)


def _by_position(
    runnable: tuple[Case, ...], wanted: tuple[Case, ...], between: tuple[Case, ...]
) -> Iterator[Selection]:
    """Yield the selections by position, those that stand between the wanted cases being left out by name."""
    if not _tells_apart(between, wanted):
        return
    gone = {case.name for case in between}
    first = [case for case in runnable if case.name not in gone].index(wanted[0]) + 1
    position = (f"-dt-first={first}", f"-dt-last={first + len(wanted) - 1}")
    for words in _by_patterns(_TEST_CASE_EXCLUDE, between):
        yield Selection(cases=wanted, words=(*words, *position))


def _tells_apart(named: tuple[Case, ...], others: tuple[Case, ...]) -> bool:
    """Tell whether names select some cases and none of the others; an empty pattern selects everything."""
    names = {case.name for case in named}
    return "" not in names and not any(case.name in names for case in others)


def _by_patterns(options: tuple[str, str], named: tuple[Case, ...]) -> list[tuple[str, ...]]:
    """Return the arguments that name these cases, in the ways that are worth a try; none where none would fit."""
    each = [tuple(dict.fromkeys(map(pattern, named))) for pattern in _PATTERNS]
    if len(named) > 1:  # some may need one way, some another
        each.append(tuple(dict.fromkeys(pattern for patterns in each for pattern in patterns)))
    said = (_said(options, patterns) for patterns in dict.fromkeys(each))
    return [arguments for arguments in said if all(_bytes(one) <= ARGUMENT_LIMIT_BYTES for one in arguments)]


def _exact(case: Case) -> str:
    r"""Return the pattern of a name. `,`, `\` and `*` have no escape that all versions know: `?` is any one byte."""
    raw = case.name if case.name_bytes is None else case.name_bytes.decode("utf-8", "surrogateescape")
    return re.sub(r"[,\\*]", "?", raw)


def _folded(case: Case) -> str:
    """Return the pattern of a name in which a space may have been a tab or a line end: XML folds them."""
    return re.sub(r"[ \t\n\r]", "?", _exact(case))


def _as_written(case: Case) -> str:
    """Return the pattern of a name that looks escaped and is not."""
    return re.sub(r"[,\\*]", "?", case.name)


_PATTERNS: tuple[Callable[[Case], str], ...] = (_exact, _folded, _as_written)


def _said(options: tuple[str, str], patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments that say the patterns: one, or two where one is too long for the system."""
    first, second = options
    room = ARGUMENT_LIMIT_BYTES - len(first)
    sizes = accumulate(_bytes(pattern) + 1 for pattern in patterns)  # each with its comma, the last has none
    fitting = sum(size - 1 <= room for size in sizes)
    parts = ((first, patterns[:fitting]), (second, patterns[fitting:]))
    return tuple(option + ",".join(part) for option, part in parts if part)


def _length(selection: Selection) -> int:
    """Return how long a selection is to be said, so coarsely that all that a person can read are equally short."""
    return sum(map(_bytes, selection.words)) // _SHORT_BYTES


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))
