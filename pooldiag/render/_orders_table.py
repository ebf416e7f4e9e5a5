"""The table of `orders`: a row an order, what the red ones show, and the shortest red prefix."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pooldiag.model.bisections import OrdersReport, ShortestPrefix
from pooldiag.render import _bisect_words as bisect_words
from pooldiag.render import _orders_words as orders
from pooldiag.render import _words as words
from pooldiag.render._bisect_table import ends_table
from pooldiag.render._orders_words import Row
from pooldiag.render._sheet import Column, Sheet, following, indented

_COLUMNS: tuple[Column, ...] = (
    ("Order", "left"),
    ("Result", "left"),
    ("Symptom", "left"),
    ("Position", "right"),
    ("Prefix", "right"),
    ("Failing", "right"),
    ("Cases", "right"),
    ("Assertions", "left"),
)
_SECONDS: Column = ("Seconds", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersSheet(Sheet):
    """One report of `orders` being laid out on one page."""

    report: OrdersReport

    def render(self) -> str:
        """Return the whole report."""
        report = self.report
        sections = (
            self.answer(orders.headline(report), orders.interruption(report)),
            (self.facts((("Target", words.target(report.session.target, with_order=False)), ("Runs", self.runs()))),),
            self.orders(),
            self.symptoms(),
            self.shortest(),
            self.section("Notes", words.notes(report.session.removed_variables, report.session.notes)),
        )
        named = (*self.reproducer(), *following(report.next))
        return "\n".join([*self.pages(sections), self.commands(named, report.session.evidence)])

    def runs(self) -> str:
        cases = words.count(self.report.cases_run, "case")
        return words.spent(f"{self.report.runs} ({cases} run)", self.report.session.seconds, self.report.session.lock)

    def orders(self) -> Iterator[RenderableType]:
        if not self.report.orders:
            return
        table = self.table(*_COLUMNS, *([_SECONDS] if self.is_wide else []))
        for row in orders.rows(self.report):
            table.add_row(*self.cells(row))
        yield table
        if particulars := (*orders.same_lists(self.report), *orders.void(self.report)):
            yield indented(self.items(particulars))

    def cells(self, row: Row) -> Iterator[Text]:
        yield self.text(row.order)
        yield self.result(row.result)
        yield from map(self.text, (row.symptom, row.place, row.prefix, row.failing, row.cases, row.assertions))
        if self.is_wide:
            yield self.text(row.seconds)

    def symptoms(self) -> Iterator[RenderableType]:
        found = orders.symptoms(self.report)
        if not found:
            return
        yield self.text("Symptoms", "bold")
        grid = Table.grid(padding=(0, 2))
        for _ in range(2):
            grid.add_column(overflow="fold")
        for symptom in found:
            about = self.items(orders.about(self.report, symptom))
            grid.add_row(self.text(symptom.letter, "bold"), Group(self.text(str(symptom.signature)), about))
        yield indented(grid)

    def shortest(self) -> Iterator[RenderableType]:
        found = self.report.shortest
        if found is None:
            return
        yield self.text(f"The shortest red prefix: {found.prefix}, {found.order}", "bold")
        yield indented(ends_table(self, _ends(found)))
        yield indented(self.facts(orders.prefix(found.cases)))

    def reproducer(self) -> Iterator[tuple[str, str | None]]:
        found = self.report.shortest
        if found is not None and found.reproducer is not None:
            yield bisect_words.shows("red", found.reproducer), found.reproducer.line


def _ends(found: ShortestPrefix) -> Iterator[bisect_words.End]:
    for tried in (found.proof.red, *found.proof.green):
        yield bisect_words.end(tried, bisect_words.first(len(tried.cases)))
