"""The table of `bisect`: the answer, both ends of it, the arms on the minimal set, and the whole order again."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pooldiag.model.bisections import BisectReport, BisectStatus
from pooldiag.model.readings import Sight
from pooldiag.model.reports import AttributeReport, Run
from pooldiag.render import _bisect_words as bisection
from pooldiag.render import _words as words
from pooldiag.render._attribute_table import AttributeSheet
from pooldiag.render._bisect_words import End
from pooldiag.render._sheet import Sheet, following, indented


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectSheet(Sheet):
    """One report of `bisect` being laid out on one page."""

    report: BisectReport

    def render(self) -> str:
        """Return the whole report."""
        report = self.report
        sections = (
            self.answer(bisection.headline(report), bisection.interruption(report)),
            (self.facts(self.rows()),),
            self.ends(),
            self.section("Independent sets of polluters, each of them enough", bisection.sets(report.found)),
            self.section("Other reds, not followed", map(str, report.others)),
            *self.arms(),
            self.whole(),
            self.section("Notes", words.notes(report.session.removed_variables, report.session.notes)),
        )
        return "\n".join([*self.pages(sections), self.commands(self.named(), report.session.evidence)])

    def rows(self) -> Iterator[tuple[str, str]]:
        report = self.report
        yield from bisection.victim(report)
        yield from bisection.so_far(report)
        yield "Target", words.target(report.session.target)
        yield "Runs", bisection.runs(report)
        yield from bisection.cost(report)
        yield from bisection.sure(report)

    def ends(self) -> Iterator[RenderableType]:
        found = tuple(bisection.ends(self.report.found))
        if found:
            proven = self.report.status is BisectStatus.FOUND
            yield self.text("Both ends, as they were run" if proven else "As far as it was run", "bold")
            yield indented(ends_table(self, found))

    def arms(self) -> Iterator[Iterable[RenderableType]]:
        """Yield the table of `attribute`, of the minimal set."""
        found = self.report.attribution
        if found is None:
            return
        sheet = AttributeSheet(page=self.page, report=found)
        certain = tuple(sheet.sure())
        parts = [*([self.facts(certain)] if certain else []), *(part for one in sheet.evidence() for part in one)]
        yield (self.text(f"The arms on the minimal set: {_verdict(found)}", "bold"), indented(*parts))

    def whole(self) -> Iterator[RenderableType]:
        """Yield the whole order under the arms that clear the minimal set."""
        report = self.report
        if not report.confirmations:
            return
        yield self.text("The arms on the whole order", "bold")
        table = self.table(
            ("Arm", "left"), ("Result", "left"), ("Cases", "right"), ("Assertions", "left"), ("Seconds", "right")
        )
        if report.whole is not None:
            table.add_row(*self.whole_row(bisection.AS_IT_IS, report.whole, None))
        for one in report.confirmations:
            table.add_row(*self.whole_row(str(one.arm.role), one.run, one.sight))
        yield indented(table, self.items((*bisection.reconciled(report), *bisection.doubtful(report))))

    def whole_row(self, arm: str, run: Run, sight: Sight | None) -> Iterator[Text]:
        yield self.text(arm)
        yield self.result(bisection.result(run, sight))
        yield self.text(words.cases(run.outcome))
        yield self.text(words.assertions(run.outcome))
        yield self.text(words.seconds(run.seconds))

    def named(self) -> Iterator[tuple[str, str | None]]:
        report = self.report
        if report.reproducer is not None:
            yield bisection.shows("red", report.reproducer), report.reproducer.line
        if report.green_command is not None:
            yield bisection.shows("green", report.green_command), report.green_command.line
        yield from following(report.next)


def _verdict(report: AttributeReport) -> str:
    title = words.headline(report).title
    return words.inside_a_sentence(title)


def ends_table(sheet: Sheet, ends: Iterable[End]) -> Table:
    """Return a table of selections, and how often each of them was red."""
    table = sheet.table(("What ran", "left"), ("Reading", "left"), ("Red", "right"), ("Cases", "right"))
    for end in ends:
        table.add_row(sheet.text(end.ran), sheet.result(end.reading), sheet.text(end.red), sheet.text(str(end.cases)))
    return table
