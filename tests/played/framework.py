"""How a played target is asked for its cases and runs them: in orders and with seeds, a subset in the order's order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from pooldiag.frameworks.base import Framework, InputFile, ListingError, ReportReader
from pooldiag.frameworks.listfile import ListFileReader
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection

_LIST, _REPORT, _ORDER, _CASE, _AS_NAMED = "--list=", "--report=", "--order=", "--case=", "--as-named="


class PlayedFramework(Framework):
    """Selects cases by name, and reports as `listfile` does. No seed, seed 0 and seed 1 are one order."""

    name = "played"
    markers = ()
    counts_assertions = True
    loads_alike = True
    plain_orders = tuple(Order(kind=kind) for kind in (OrderKind.FILE, OrderKind.NAME, OrderKind.SUITE))

    def seeds(self) -> Iterator[int]:
        return count(1)

    def list_arguments(self, selection: Selection | None, order: Order, report: Path) -> tuple[str, ...]:
        return (f"{_LIST}{report}", *self.run_arguments(selection, order, None))

    def run_arguments(self, selection: Selection | None, order: Order, report: Path | None) -> tuple[str, ...]:
        reporting = () if report is None else self.report_arguments(report)
        return (*reporting, f"{_ORDER}{order.kind} {order.seed or 0}", *(() if selection is None else selection.words))

    def report_arguments(self, report: Path) -> tuple[str, ...]:
        return (f"{_REPORT}{report}",)

    def parse_listing(self, report: bytes) -> Listing:
        *lines, end = report.decode().splitlines() or [""]
        if end != "end":
            raise ListingError("no listing of test cases was written")
        found = (line.split("\t") for line in lines)
        cases = (Case(name=name, file="suite.cpp", line=int(line), skipped=bool(skip)) for name, line, skip in found)
        return Listing(cases=tuple(cases), framework_version="1")

    def selections(self, listing: Listing, wanted: tuple[Case, ...]) -> tuple[Selection, ...]:
        chosen = set(wanted)
        if not wanted or [case for case in listing.runnable if case in chosen] != [*wanted]:
            return ()
        words = () if wanted == listing.runnable else tuple(f"{_CASE}{case.name}" for case in wanted)
        return (Selection(cases=wanted, words=words),)

    def reader(self, selection: Selection | None) -> ReportReader:
        return ListFileReader(selection)

    def input_files(self, selection: Selection | None, order: Order, report: Path) -> tuple[InputFile, ...]:
        del selection, order, report
        return ()


class AnyOrderFramework(PlayedFramework):
    """Runs what is named as it is named."""

    any_order = True

    def selections(self, listing: Listing, wanted: tuple[Case, ...]) -> tuple[Selection, ...]:
        if not wanted or set(wanted) - set(listing.runnable):
            return ()
        return (Selection(cases=wanted, words=(f"{_AS_NAMED}1", *(f"{_CASE}{case.name}" for case in wanted))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the words of a call ask for."""

    listing: Path | None
    report: Path | None
    order: Order
    names: tuple[str, ...]  # none: everything
    as_named: bool

    def cases(self, listed: Iterable[Case]) -> list[Case]:
        """Put the cases that run in their order; a listing has those that are skipped too."""
        ordered = _ordered(list(listed), self.order)
        if self.as_named:
            return sorted(
                (case for case in ordered if case.name in self.names), key=lambda one: self.names.index(one.name)
            )
        if self.names:
            return [case for case in ordered if case.name in self.names]
        return ordered if self.listing is not None else [case for case in ordered if not case.skipped]


def asked_by(words: Iterable[str]) -> Asked:
    """Read the words of a call."""
    values: dict[str, list[str]] = {}
    for word in words:
        option, _, value = word.partition("=")
        values.setdefault(f"{option}=", []).append(value)
    kind, _, seed = values.get(_ORDER, ["file 0"])[0].partition(" ")
    return Asked(
        listing=next(map(Path, values.get(_LIST, [])), None),
        report=next(map(Path, values.get(_REPORT, [])), None),
        order=Order(kind=OrderKind(kind), seed=int(seed)),
        names=tuple(values.get(_CASE, [])),
        as_named=_AS_NAMED in values,
    )


def listing_of(cases: Iterable[Case]) -> bytes:
    """Write a listing."""
    return "".join(f"{case.name}\t{case.line}\t{'x' * case.skipped}\n" for case in cases).encode() + b"end\n"


def _ordered(cases: list[Case], order: Order) -> list[Case]:
    match order.kind:
        case OrderKind.NAME:
            return sorted(cases, key=lambda case: case.name)
        case OrderKind.RAND:
            return Random(max(1, order.seed or 0)).sample(cases, len(cases))
        case _:
            return cases
