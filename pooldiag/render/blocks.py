"""What stands between reports and formats: a report yields blocks, a format lays blocks out.

Text in them is plain and may hold outside text as it came: a format makes it safe in its own way. What is empty is not
yielded: a block always has something to show.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pooldiag.model.counts import Census


class Tone(StrEnum):
    """What a text is about; a format may give it a color beside its words."""

    PLAIN = "plain"
    GREEN = "green"
    RED = "red"
    NEW = "new"  # red, and not the red in question
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer in one line, what to know and to do first, and what interrupted the search for it."""

    tone: Tone
    title: str
    lines: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    interruption: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A value by its name, and what belongs below it; without name and value it is a gap between others.

    `wide`: only where there is room.
    """

    name: str = ""
    value: str = ""
    below: "Blocks" = ()
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Named values, one below the other."""

    rows: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `wide`: only where there is room; `whole`: its words are never folded."""

    title: str
    right: bool = False
    wide: bool = False
    whole: bool = False

    @classmethod
    def numbers(cls, *titles: str) -> "tuple[Column, ...]":
        """Return columns of numbers."""
        return tuple(cls(title, right=True) for title in titles)


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry of a table; `more` follows the text where there is room."""

    text: str
    tone: Tone = Tone.PLAIN
    more: str = ""


Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of as many cells as there are columns; a last row of totals, and remarks on what it has not room for.

    `plain`: names stand in it rather than counts, so that it needs no line below its heads.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    total: Row | None = None
    remarks: tuple[str, ...] = ()
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list of lines."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A line that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Where NaN and infinities are in a tensor."""

    census: Census


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks that belong together, under a title if they have one.

    `label`: the title is a name rather than a heading. `detail`: a reader may do without, so a format may fold it.
    """

    title: str | None = None
    blocks: "Blocks"
    label: bool = False
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A line to copy into a shell, and what it is for."""

    purpose: str
    line: str


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, and what lies in it."""

    name: str
    path: Path


Block: TypeAlias = Answer | Facts | Table | Items | Text | Picture | Section | Command | Folder
Blocks: TypeAlias = tuple[Block, ...]


def facts(rows: Iterable[tuple[str, str] | Fact]) -> Facts:
    """Return named values, most of which have nothing below them."""
    return Facts(tuple(row if isinstance(row, Fact) else Fact(*row) for row in rows))


def items(title: str, lines: Iterable[str], *, detail: bool = False) -> Iterator[Section]:
    """Yield a titled list; nothing when it is empty."""
    if found := tuple(lines):
        yield Section(title=title, blocks=(Items(found),), detail=detail)
