"""The table of `census`: the answer, then each tensor of which there is something to tell, then what to do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pooldiag.model.censuses import CensusReport, CountedTensor, TypeGuesses
from pooldiag.render import _census_words as words
from pooldiag.render._picture import picture
from pooldiag.render._sheet import Column, Sheet, indented
from pooldiag.render._words import count

DETAILS_SHOWN = 8  # tensors that are told whole
GUESSES_SHOWN = 8
PICTURE_LINES = 16
_MARGIN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusSheet(Sheet):
    """One report of `census` being laid out on one page."""

    report: CensusReport

    def render(self) -> str:
        """Return the whole report."""
        report = self.report
        interruption = "Interrupted: this report is partial." if report.partial else None
        several = len(report.files) != 1
        sections: list[Iterable[RenderableType]] = [self.answer(words.headline(report), interruption)]
        sections += [(self.tensors(),)] if several and report.files else []
        sections += self.details(titled=several)
        sections += map(self.guesses, report.guesses)
        sections += [self.section("Notes", words.notes(report))]
        named = [] if report.next is None else [(f"Next ({report.next_purpose}):", report.next)]
        pages = [*self.pages(sections), *([self.commands(named)] if named else [])]
        return "\n".join(pages)

    def tensors(self) -> Table:
        """Return a table of all tensors, a row each, and of what they are together."""
        compared = self.report.reference is not None
        columns: list[Column] = [("Tensor", "left"), ("Type", "left")]
        columns += [(name, "right") for name in ("Elements", "NaN", "Inf", "Zero")]
        columns += [("Range", "left")] if self.is_wide else []
        columns += [("Reference", "left")] if compared else []
        table = self.table(*columns, ("Says", "left"))
        for one in self.report.files:
            table.add_row(*self.row(one, compared=compared))
        table.add_section()
        table.add_row(*self.total(compared=compared))
        return table

    def row(self, one: CountedTensor, *, compared: bool) -> Iterator[Text]:
        census = one.census
        yield self.text(words.called(census))
        yield self.text(census.dtype + (words.shape(census).removeprefix(", shape") if self.is_wide else ""))
        yield self.text(str(census.n))
        yield self.text(str(census.nan), "red" if census.nan else "")
        yield self.text(str(census.inf), "red" if census.inf else "")
        yield self.text(str(census.zero))
        if self.is_wide:
            low, high = census.minimum, census.maximum
            yield self.text("-" if low is None or high is None else f"{words.number(low)} to {words.number(high)}")
        if compared:
            yield self.text(words.in_short(one))
        yield self.text(words.rules(one) or "-")

    def total(self, *, compared: bool) -> Iterator[Text]:
        """Yield the last row."""
        counted = [one.census for one in self.report.files]
        files = len({census.path for census in counted})
        yield self.text(f"{count(len(counted), 'tensor')} in {count(files, 'file')}", "bold")
        yield self.text("")
        for numbers in zip(*((one.n, one.nan, one.inf, one.zero) for one in counted), strict=True):
            yield self.text(str(sum(numbers)), "bold")
        yield from (self.text("") for _ in range(self.is_wide + compared + 1))

    def details(self, *, titled: bool) -> Iterator[Iterable[RenderableType]]:
        """Yield each tensor of which there is something to tell; of one alone all there is."""
        telling = [one for one in self.report.files if not titled or not one.is_clean]
        for one in telling[:DETAILS_SHOWN]:
            yield self.detail(one, titled=titled)
        if (more := len(telling) - DETAILS_SHOWN) > 0:
            yield (self.text(f"{more} more of which there is something to tell: name one, or --json tells them all."),)

    def detail(self, one: CountedTensor, *, titled: bool) -> Iterator[RenderableType]:
        name = () if titled else (("Tensor", words.called(one.census)),)
        parts: list[RenderableType] = [self.facts((*name, *words.facts(one), *words.comparison_facts(one)))]
        parts += self.picture(one)
        if said := tuple(words.findings(one)):
            parts += [self.text("What it shows", "bold"), indented(self.items(said))]
        notes = (*one.census.notes, *(one.comparison.notes if one.comparison is not None else ()))
        if notes:
            parts += [self.text("About the counting", "bold"), indented(self.items(notes))]
        if titled:
            yield self.text(words.called(one.census), "bold")
            yield indented(*parts)
        else:
            yield from parts

    def picture(self, one: CountedTensor) -> Iterator[RenderableType]:
        """Yield where NaN and infinities are; nothing where no map was kept."""
        if one.census.blocks is None or not one.census.n:
            return
        yield self.text("Where they are", "bold")
        width = self.page.width - _MARGIN
        lines = picture(one.census, width=width, lines=PICTURE_LINES, unicode=self.page.unicode)
        yield indented(*(Text(line) for line in lines))

    def guesses(self, one: TypeGuesses) -> Iterator[RenderableType]:
        """Yield which types were tried, the best first."""
        yield self.text(words.guess_title(one), "bold")
        yield indented(self.text(one.why))
        table = self.table(
            ("Type", "left"), ("Bits a byte", "right"), ("NaN", "right"), ("Range", "left"), ("Against it", "left")
        )
        for guess in one.tried[:GUESSES_SHOWN]:
            low, high = guess.minimum, guess.maximum
            table.add_row(
                self.text(words.type_of(guess)),
                self.text(f"{guess.bits_per_byte:.2f}"),
                self.text(f"{guess.nan}/{guess.n}"),
                self.text("-" if low is None or high is None else f"{low:.3g} to {high:.3g}"),
                self.text(words.doubts(guess.doubts) or "-"),
            )
        yield indented(table)
        if (more := len(one.tried) - GUESSES_SHOWN) > 0:
            yield indented(self.text(f"{more} more were tried, which fit less: --json tells them."))
