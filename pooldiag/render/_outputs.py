"""What the outputs of the arms hold, in words: equal bytes once, however many arms wrote them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pooldiag.model.counts import Census, Element, PrintedCensus
from pooldiag.model.readings import Reading
from pooldiag.model.reports import ArmResult, AttributeReport

_PATTERNS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputWords:
    """One declared output: what it is, and for each content the arms that wrote it and lines about it."""

    title: str
    contents: tuple[tuple[str, tuple[str, ...]], ...]


def outputs(report: AttributeReport) -> Iterator[OutputWords]:
    """Yield the declared outputs, as the shown run of each arm wrote them."""
    by_path: dict[str, dict[str, tuple[list[str], Census]]] = {}
    for arm in _telling(report):
        for census, path in _censuses(arm):
            roles, _ = by_path.setdefault(path, {}).setdefault(census.sha256, ([], census))
            roles.append(str(arm.arm.role))
    for path, contents in by_path.items():
        yield OutputWords(
            title=f"{path}, {', '.join(sorted({census.dtype for _, census in contents.values()}))}",
            contents=tuple((_writers(roles), tuple(census_lines(census))) for roles, census in contents.values()),
        )


def problems(report: AttributeReport) -> Iterator[str]:
    """Yield the declared outputs that are absent or could not be counted."""
    groups: dict[str, list[str]] = {}
    for arm in _telling(report):
        for output in arm.shown.outcome.outputs if arm.shown is not None else ():
            if output.problem is not None:
                detail = "" if output.detail is None else f", {output.detail}"
                groups.setdefault(f"{output.path}: {output.problem}{detail}", []).append(str(arm.arm.role))
    yield from (f"{words} ({', '.join(roles)})" for words, roles in groups.items())


def printed(report: AttributeReport) -> Iterator[str]:
    """Yield the census lines that the target printed, equal ones once."""
    groups: dict[str, list[str]] = {}
    for arm in _telling(report):
        for line in arm.shown.outcome.printed if arm.shown is not None else ():
            groups.setdefault(_printed_words(line), []).append(str(arm.arm.role))
    yield from (f"{words} ({', '.join(roles)})" for words, roles in groups.items())


def _telling(report: AttributeReport) -> Iterator[ArmResult]:
    """Yield the arms whose shown run says something."""
    for arm in report.arms:
        if arm.shown is not None and arm.shown.reading.reading is not Reading.VOID:
            yield arm


def _censuses(arm: ArmResult) -> Iterator[tuple[Census, str]]:
    for output in arm.shown.outcome.outputs if arm.shown is not None else ():
        if output.census is not None:
            yield output.census, output.path


def _writers(roles: list[str]) -> str:
    return ", ".join(roles) + (" (identical bytes)" if len(roles) > 1 else "")


def census_lines(census: Census) -> Iterator[str]:
    """Say a census in a few lines; what is not there is left out, but never a zero of NaN and infinity."""
    absmax = "none is finite" if census.absmax is None else f"{number(census.absmax)}"
    yield f"n={census.n} nan={census.nan} inf={census.inf} zero={census.zero} absmax: {absmax}"
    if census.first:
        yield f"first {len(census.first)}: {_elements(census.first)}"
    if census.nan_patterns:
        yield f"NaN patterns: {_patterns(census)}"


def _elements(elements: tuple[Element, ...]) -> str:
    words = [f"{number(element.value)}({element.bits})" for element in elements]
    return f"all {words[0]}" if len(set(words)) == 1 and len(words) > 1 else ", ".join(words)


def _patterns(census: Census) -> str:
    patterns = census.nan_patterns
    shown = ", ".join(f"{pattern.bits} ({pattern.count}/{census.nan})" for pattern in patterns[:_PATTERNS_SHOWN])
    more = len(patterns) - _PATTERNS_SHOWN
    return shown + (f", and {more} more" if more > 0 else "")


def _printed_words(line: PrintedCensus) -> str:
    return f"{line.name}: n={line.n} nan={line.nan} inf={line.inf} zero={line.zero}"


def number(value: float) -> str:
    """Say a value of a tensor; a NaN or an infinity is named."""
    return f"{value:.7g}" if math.isfinite(value) else str(value)
