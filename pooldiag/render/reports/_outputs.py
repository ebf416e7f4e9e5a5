"""What the outputs of the arms hold: equal bytes once, however many arms wrote them."""

from collections.abc import Iterator

from pooldiag.model.census import Census, PrintedCensus
from pooldiag.model.readings import Reading
from pooldiag.model.reports import ArmResult, AttributeReport
from pooldiag.render.blocks import Block, Items, Section, Text
from pooldiag.render.reports._tensors import PATTERNS_SHOWN, elements, number


def outputs(report: AttributeReport) -> Iterator[Section]:
    """Yield the declared outputs, as the shown run of each arm wrote them, and the census lines that were printed."""
    problems = (Text(line) for line in _problems(report))
    parts: tuple[Block, ...] = (*_contents(report), *problems, *_printed(report))
    if parts:
        yield Section(title="Outputs", blocks=parts, detail=True)


def _contents(report: AttributeReport) -> Iterator[Section]:
    by_path: dict[str, dict[str, tuple[list[str], Census]]] = {}
    for arm in _telling(report):
        for census, path in _censuses(arm):
            roles, _ = by_path.setdefault(path, {}).setdefault(census.sha256, ([], census))
            roles.append(str(arm.arm.role))
    for path, contents in by_path.items():
        dtypes = ", ".join(sorted({census.dtype for _, census in contents.values()}))
        lists = tuple(
            Section(title=f"{_writers(roles)}:", blocks=(Items(tuple(_census_lines(census))),), label=True)
            for roles, census in contents.values()
        )
        yield Section(title=f"{path}, {dtypes}", blocks=lists, label=True)


def _problems(report: AttributeReport) -> Iterator[str]:
    """Yield the declared outputs that are absent or could not be counted."""
    groups: dict[str, list[str]] = {}
    for arm in _telling(report):
        for output in arm.shown.outcome.outputs if arm.shown is not None else ():
            if output.problem is not None:
                detail = "" if output.detail is None else f", {output.detail}"
                groups.setdefault(f"{output.path}: {output.problem}{detail}", []).append(str(arm.arm.role))
    yield from (f"{words} ({', '.join(roles)})" for words, roles in groups.items())


def _printed(report: AttributeReport) -> Iterator[Section]:
    """Yield the census lines that the target printed, equal ones once."""
    groups: dict[str, list[str]] = {}
    for arm in _telling(report):
        for line in arm.shown.outcome.printed if arm.shown is not None else ():
            groups.setdefault(_printed_words(line), []).append(str(arm.arm.role))
    if groups:
        lines = tuple(f"{words} ({', '.join(roles)})" for words, roles in groups.items())
        yield Section(title="printed by the target", blocks=(Items(lines),), label=True)


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


def _census_lines(census: Census) -> Iterator[str]:
    """Say a census in a few lines; what is not there is left out, but never a zero of NaN and infinity."""
    absmax = "none is finite" if census.absmax is None else number(census.absmax)
    yield f"n={census.n} nan={census.nan} inf={census.inf} zero={census.zero} absmax: {absmax}"
    if census.first:
        yield f"first {len(census.first)}: {elements(census.first)}"
    if census.nan_patterns:
        yield f"NaN patterns: {_patterns(census)}"


def _patterns(census: Census) -> str:
    shown = ", ".join(f"{one.bits} ({one.count}/{census.nan})" for one in census.nan_patterns[:PATTERNS_SHOWN])
    more = len(census.nan_patterns) - PATTERNS_SHOWN
    return shown + (f", and {more} more" if more > 0 else "")


def _printed_words(line: PrintedCensus) -> str:
    return f"{line.name}: n={line.n} nan={line.nan} inf={line.inf} zero={line.zero}"
