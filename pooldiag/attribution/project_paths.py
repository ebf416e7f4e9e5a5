"""Where a red is, as a path from the project: what stands in a report is short, and can be opened where one works.

A place is the same red whatever folder a diagnosis was started in, so that this is only how it is shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from pooldiag.model.readings import RedPlace, RunReading, Signature

_UP = ".."


def seen_from(reading: RunReading, folders: Sequence[PurePath], *, directory: PurePath) -> RunReading:
    """Return a reading whose places are paths from the first of the folders that they are below.

    `directory` is where the target ran: a path that goes up from there is no path from a project.
    """
    reds = tuple(_placed(red, folders, directory) for red in reading.signatures)
    return replace(reading, signatures=reds)


def _placed(red: Signature, folders: Sequence[PurePath], directory: PurePath) -> Signature:
    if red.place is None or not red.place.is_line:
        return red
    shown = next(_shown(red.place, folders, directory), None)
    return red if shown is None else replace(red, place=replace(red.place, shown=shown))


def _shown(place: RedPlace, folders: Sequence[PurePath], directory: PurePath) -> Iterator[str]:
    path = PurePath(place.text)
    if not path.is_absolute() and _UP not in path.parts:
        return  # it is one
    whole = _without_ups(directory / path)
    yield from (str(whole.relative_to(folder)) for folder in folders if whole.is_relative_to(folder))


def _without_ups(path: PurePath) -> PurePath:
    """Return an absolute path that goes straight down."""
    parts: list[str] = []
    for part in path.parts:
        parts = parts[: max(1, len(parts) - 1)] if part == _UP else [*parts, part]
    return PurePath(*parts)
