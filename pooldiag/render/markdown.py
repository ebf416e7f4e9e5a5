"""The report for a page on GitHub: blocks as Markdown that a comment, an issue or a summary of a run can hold.

Nothing of the outside is markup there: it mentions nobody, links nothing, and ends no cell, no line and no block.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pooldiag.render._escapes import shell_line, visible
from pooldiag.render._page import Page
from pooldiag.render._picture import picture
from pooldiag.render.blocks import Answer, Block, Blocks, Command, Facts, Folder, Items, Picture, Section, Table, Text

PICTURE_LINES = 32

_TOP = 3  # the level of a heading below the answer's
_DEEPEST = 6
_CUT = "<!-- -->"  # shown as nothing: what stands on both sides of it is not read as one
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "<span>$</span>"}
_MARKUP = re.compile(r"[\\`*\[<>|~&#$]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_LINKED = re.compile(
    r"@(?=\w)"  # a mention, an address
    r"|#(?=\d)|\bGH-(?=\d)"  # an issue
    r"|\b[0-9a-f]{20}(?=[0-9a-f]{20}\b)"  # a commit
    r"|\b(?:https?|ftp|mailto|xmpp):(?=\S)|\bwww(?=\.)"
    r"|:(?=[\w+-]+:)",  # an emoji
    re.IGNORECASE,
)
_BEGINS_A_BLOCK = re.compile(r"\A(?:[-+]|\d+(?=[.)]))")


def render(blocks: Blocks, page: Page) -> str:
    """Return the report as Markdown of GitHub's kind."""
    return "\n\n".join(_Markdown(page=page).block(block, _TOP) for block in blocks) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Markdown:
    """How blocks are written on a page."""

    page: Page

    def block(self, block: Block, level: int) -> str:  # noqa: PLR0911 - one a kind of block
        """Return a block without the line end behind it; `level` is that of a heading in it."""
        match block:
            case Answer():
                return "\n\n".join(self.answer(block))
            case Facts():
                return "\n".join(self.facts(block, ""))
            case Table():
                return "\n".join(self.table(block))
            case Items():
                return "\n".join(self.items(block.lines))
            case Text():
                return self.line(block.text)
            case Picture():
                lines = picture(block.census, width=self.page.width, lines=PICTURE_LINES, unicode=self.page.unicode)
                return _fenced("\n".join(lines), "text")
            case Section():
                return self.section(block, level)
            case Command():
                shell = shell_line(block.line, unicode=self.page.unicode)
                return f"{self.bold(f'{block.purpose}:')}\n\n{_fenced(shell, 'sh')}"
            case Folder():
                return f"{self.bold(f'{block.name}:')} {_code(self.shown(str(self.page.near(block.path))))}"

    def shown(self, text: str) -> str:
        """Return a text without what a reader could not see."""
        return visible(text, unicode=self.page.unicode)

    def inline(self, text: str) -> str:
        """Return a text as text within a line."""
        inert = _LINKED.sub(lambda found: f"{found[0]}\0", self.shown(text).strip())
        return _MARKUP.sub(_escaped, inert).replace("\0", _CUT)

    def line(self, text: str) -> str:
        """Return a text as text at the begin of a line: it begins no list and no heading either."""
        return _BEGINS_A_BLOCK.sub(lambda found: _begun(found[0]), self.inline(text))

    def bold(self, text: str) -> str:
        return f"**{self.inline(text)}**"

    def answer(self, answer: Answer) -> Iterator[str]:
        if answer.interruption is not None:
            yield self.bold(answer.interruption)
        yield f"## {self.inline(answer.title)}"
        if answer.points:
            yield "\n".join(self.items(answer.points))
        yield from map(self.line, answer.lines)

    def section(self, section: Section, level: int) -> str:
        """Return blocks under their title, folded where a reader may do without."""
        parts = [self.block(block, min(level + 1, _DEEPEST)) for block in section.blocks]
        if section.title is None:
            return "\n\n".join(parts)
        if section.detail:
            return "\n\n".join([f"<details>\n<summary>{self.summary(section.title)}</summary>", *parts, "</details>"])
        title = self.line(section.title) if section.label else f"{'#' * level} {self.inline(section.title)}"
        return "\n\n".join([title, *parts])

    def summary(self, text: str) -> str:
        """Return a text as HTML, which is not read as Markdown."""
        inert = _LINKED.sub(lambda found: f"{found[0]}\0", self.shown(text))
        return "".join(_ENTITIES.get(character, character) for character in inert).replace("\0", _CUT)

    def items(self, lines: Iterable[str], indent: str = "") -> Iterator[str]:
        yield from (f"{indent}- {self.line(line)}" for line in lines)

    def facts(self, facts: Facts, indent: str) -> Iterator[str]:
        """Yield named values as a list; what belongs below one is a list within."""
        for row in facts.rows:
            name = self.bold(f"{row.name}:") if row.name.strip() else ""
            if said := " ".join(filter(None, (name, self.inline(row.value) if name else self.line(row.value)))):
                yield f"{indent}- {said}"
            for block in row.below:
                match block:
                    case Facts():
                        yield from self.facts(block, f"{indent}  ")
                    case Items():
                        yield from self.items(block.lines, f"{indent}  ")
                    case Text():
                        yield from self.items((block.text,), f"{indent}  ")

    def table(self, table: Table) -> Iterator[str]:
        yield _row(self.inline(column.title) for column in table.columns)
        yield _row("--:" if column.right else ":--" for column in table.columns)
        yield from (_row(self.inline(cell.text + cell.more) for cell in row) for row in table.rows)
        if table.total is not None:
            yield _row(self.bold(cell.text) if cell.text else "" for cell in table.total)
        if table.remarks:
            yield ""
            yield from self.items(table.remarks)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(found: re.Match[str]) -> str:
    """Return a character such that it is one; a dollar sign would begin a formula even behind a backslash."""
    return "<span>$</span>" if found[0] == "$" else f"\\{found[0]}"


def _begun(text: str) -> str:
    """Return what would begin a list, such that it does not."""
    return f"{text}\\" if text.isdecimal() else f"\\{text}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _fenced(text: str, language: str) -> str:
    """Return lines exactly as they are."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    """Return a text within a line exactly as it is."""
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") or text != text.strip() else ""
    return f"{ticks}{space}{text}{space}{ticks}"
