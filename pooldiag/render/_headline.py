"""The answer in one line."""

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """What a headline is about; a layout may give it a color beside its words."""

    GREEN = "green"
    RED = "red"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The answer in one line, and what to know and to do first."""

    tone: Tone
    title: str
    lines: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
