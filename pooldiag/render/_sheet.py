"""One page being laid out: what every table has in common.

A command stands alone on its line, at the left edge and never wrapped, so that it can be copied.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from pooldiag.render._headline import Headline, Tone
from pooldiag.render._page import Page
from pooldiag.render._text import shell_line, visible

if TYPE_CHECKING:
    from pooldiag.model.reports import NextCommand

Column: TypeAlias = tuple[str, JustifyMethod]

WIDE = 110  # columns from which a table has room for words beside its counts

_TONES = {Tone.GREEN: "bold green", Tone.RED: "bold red", Tone.OPEN: "bold yellow"}
_RESULTS = {"green": "green", "red": "red", "same red": "red", "new red": "magenta", "mixed": "yellow"}
_RULE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def indented(*parts: RenderableType) -> Padding:
    """Return parts two columns to the right."""
    return Padding(Group(*parts), (0, 0, 0, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A page, and how parts of a report are put on it."""

    page: Page

    @property
    def is_wide(self) -> bool:
        """Whether a table has room for words beside its counts."""
        return self.page.width >= WIDE

    def pages(self, sections: Iterable[Iterable[RenderableType]]) -> Iterator[str]:
        """Yield the sections that hold anything, as lines."""
        yield from (self.laid_out(parts) for parts in map(list, sections) if parts)

    def laid_out(self, parts: list[RenderableType]) -> str:
        """Return parts as lines; without color nothing but their characters."""
        console = Console(
            file=StringIO(),
            width=self.page.width,
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

    def text(self, text: str, style: str | Style = "") -> Text:
        """Return outside text as text and nothing else; long words fold rather than being cut."""
        return Text(visible(text, unicode=self.page.unicode), style=style, overflow="fold")

    def result(self, result: str) -> Text:
        """Return the result of a run, with a color beside its word."""
        return self.text(result, _RESULTS.get(result, ""))

    def items(self, lines: Iterable[str]) -> Table:
        """Return lines as a list whose folded lines hang."""
        grid = Table.grid(padding=(0, 1))
        grid.add_column()
        grid.add_column(overflow="fold")
        for line in lines:
            grid.add_row("-", self.text(line))
        return grid

    def section(self, title: str, lines: Iterable[str]) -> Iterator[RenderableType]:
        """Yield a titled list; nothing when it is empty."""
        if found := tuple(lines):
            yield self.text(title, "bold")
            yield indented(self.items(found))

    def answer(self, head: Headline, interruption: str | None) -> Iterator[RenderableType]:
        """Yield the answer: what interrupted it, the headline, what to know and to do first."""
        if interruption is not None:
            yield self.text(interruption, "bold yellow")
        yield self.text(head.title, _TONES[head.tone])
        if head.points:
            yield indented(self.items(head.points))
        yield from (self.text(line) for line in head.lines)

    def facts(self, rows: Iterable[tuple[str, str]]) -> Table:
        """Return named facts, one below the other."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column()
        grid.add_column(overflow="fold")
        for name, value in rows:
            grid.add_row(self.text(name, "bold"), self.text(value))
        return grid

    def table(self, *columns: Column) -> Table:
        """Return an empty table; its columns fold, so that no verdict is cut."""
        table = Table(
            box=box.SIMPLE_HEAD if self.page.unicode else _RULE,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0),  # and the divider, which is a space
            header_style="bold",
        )
        for name, justify in columns:
            table.add_column(name, overflow="fold", justify=justify)
        return table

    def commands(self, named: Iterable[tuple[str, str | None]], evidence: Path | None = None) -> str:
        """Return what can be copied: each on a line of its own, however long."""
        lines = [(title, shell_line(line, unicode=self.page.unicode)) for title, line in named if line is not None]
        if evidence is not None:
            lines.append(("Evidence:", visible(str(self._near(evidence)), unicode=self.page.unicode)))
        return "\n".join(f"{self.laid_out([self.text(title, 'bold')])}{line}\n" for title, line in lines)

    def _near(self, path: Path) -> Path:
        """Return a path as one would type it in the page's directory."""
        directory = self.page.directory
        return path.relative_to(directory) if directory is not None and path.is_relative_to(directory) else path


def following(command: "NextCommand | None") -> Iterator[tuple[str, str | None]]:
    """Yield the next command under what it is for."""
    if command is not None:
        yield f"Next ({command.purpose}):", command.line
