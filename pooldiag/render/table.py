"""The report for people: blocks as a terminal shows them.

A command stands alone on its line, at the left edge and never wrapped, so that it can be copied. So can a name: words
are broken in the cells of a table alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from io import StringIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Line

from pooldiag.render._escapes import shell_line, visible
from pooldiag.render._page import Page
from pooldiag.render._picture import picture
from pooldiag.render._wrapping import wrapped
from pooldiag.render.blocks import Answer, Block, Command, Facts, Folder, Items, Picture, Section, Table, Text, Tone

WIDE = 110  # columns from which there is room for words beside counts
PICTURE_LINES = 16

_MARGIN = 4  # beside a picture
_INDENT = 2
_GAP = 2  # between the name of a fact and its value
_NARROWEST = 20  # columns that a text has at least, wherever it stands
_ENDLESS = 100_000  # columns: what is wrapped here already is not to be cut by the library
_STYLES = {Tone.PLAIN: "", Tone.GREEN: "green", Tone.RED: "red", Tone.NEW: "magenta", Tone.OPEN: "yellow"}
_RULE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def render(blocks: Iterable[Block], page: Page) -> str:
    """Return the report as a terminal of the page's width shows it."""
    return "\n".join(map(_Screen(page=page, width=page.width).block, blocks))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Screen:
    """A page, and how blocks are put on it; `width` are the columns that are left where a block stands."""

    page: Page
    width: int

    def beside(self, columns: int) -> "_Screen":
        """Return what is left of the page beside so many columns."""
        return replace(self, width=max(_NARROWEST, self.width - columns))

    def block(self, block: Block) -> str:
        """Return a block as lines; what can be copied, each on a line of its own, however long."""
        match block:
            case Command():
                line = shell_line(block.line, unicode=self.page.unicode)
                return f"{self.laid_out([self.text(f'{block.purpose}:', 'bold')])}{line}\n"
            case Folder():
                path = visible(str(self.page.near(block.path)), unicode=self.page.unicode)
                return f"{self.laid_out([self.text(f'{block.name}:', 'bold')])}{path}\n"
        return self.laid_out(self.parts(block))

    def laid_out(self, parts: Iterable[RenderableType]) -> str:
        """Return parts as lines; without color nothing but their characters."""
        console = Console(
            file=StringIO(),
            width=_ENDLESS,
            height=25,
            force_terminal=self.page.color,
            force_jupyter=False,
            color_system="standard" if self.page.color else None,
            no_color=not self.page.color,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
        )
        with console.capture() as capture:
            console.print(Group(*parts))
        return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())

    def text(self, text: str, style: str = "") -> Line:
        """Return outside text as text and nothing else, in lines whose words are whole."""
        shown = wrapped(visible(text, unicode=self.page.unicode), self.width)
        return Line(shown, style=style, overflow="ignore", no_wrap=True)

    def cell(self, text: str, style: str = "") -> Line:
        """Return the text of a cell, which folds."""
        return Line(visible(text, unicode=self.page.unicode), style=style, overflow="fold")

    def parts(self, block: Block) -> Iterator[RenderableType]:
        match block:
            case Answer():
                yield from self.answer(block)
            case Facts():
                yield self.facts(block)
            case Table():
                yield Constrain(self.table(block), self.width)
                if block.remarks:
                    yield _indented(self.beside(_INDENT).items(block.remarks))
            case Items():
                yield self.items(block.lines)
            case Text():
                yield self.text(block.text)
            case Picture():
                width = self.page.width - _MARGIN
                lines = picture(block.census, width=width, lines=PICTURE_LINES, unicode=self.page.unicode)
                yield from (Line(wrapped(line, self.width)) for line in lines)
            case Section():
                yield from self.section(block)

    def answer(self, answer: Answer) -> Iterator[RenderableType]:
        if answer.interruption is not None:
            yield self.text(answer.interruption, "bold yellow")
        yield self.text(answer.title, f"bold {_STYLES[answer.tone]}")
        if answer.points:
            yield _indented(self.beside(_INDENT).items(answer.points))
        yield from map(self.text, answer.lines)

    def section(self, section: Section) -> Iterator[RenderableType]:
        """Yield blocks, two columns to the right of their title."""
        within = self if section.title is None else self.beside(_INDENT)
        parts = [part for block in section.blocks for part in within.parts(block)]
        if section.title is None:
            yield from parts
            return
        yield self.text(section.title, "" if section.label else "bold")
        yield _indented(*parts)

    def items(self, lines: Iterable[str]) -> Grid:
        """Return lines as a list whose folded lines hang."""
        grid, within = Grid.grid(padding=(0, 1)), self.beside(len("- "))
        for line in lines:
            grid.add_row("-", within.text(line))
        return grid

    def facts(self, facts: Facts) -> Grid:
        grid = Grid.grid(padding=(0, _GAP))
        rows = [row for row in facts.rows if self.page.width >= WIDE or not row.wide]
        names = [self.text(row.name, "bold") for row in rows]
        longest = max((cell_len(line) for name in names for line in name.plain.splitlines()), default=0)
        within = self.beside(longest + _GAP)
        for name, row in zip(names, rows, strict=True):
            value = [within.text(row.value)] if row.value or not row.below else []
            below = [part for block in row.below for part in within.parts(block)]
            grid.add_row(name, Group(*value, *below))
        return grid

    def table(self, table: Table) -> Grid:
        """Return a table; its columns fold, so that no verdict is cut."""
        grid = Grid(
            box=None if table.plain else box.SIMPLE_HEAD if self.page.unicode else _RULE,
            show_edge=False,
            pad_edge=False,
            padding=(0, 2, 0, 0) if table.plain else (0, 1, 0, 0),  # and the divider, which is a space
            header_style="bold",
        )
        is_wide = self.page.width >= WIDE
        shown = [place for place, column in enumerate(table.columns) if is_wide or not column.wide]
        for column in (table.columns[place] for place in shown):
            justify: JustifyMethod = "right" if column.right else "left"
            grid.add_column(column.title, overflow="fold", justify=justify, no_wrap=column.whole)
        for row in table.rows:
            cells = (row[place] for place in shown)
            grid.add_row(*(self.cell(cell.text + cell.more * is_wide, _STYLES[cell.tone]) for cell in cells))
        if table.total is not None:
            grid.add_section()
            texts = [table.total[place].text for place in shown]
            grid.add_row(*(self.cell(text, "bold" if text else "") for text in texts))
        return grid


def _indented(*parts: RenderableType) -> Padding:
    return Padding(Group(*parts), (0, 0, 0, _INDENT), expand=False)
