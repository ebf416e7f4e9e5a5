"""What the outputs of the arms hold: equal bytes once, however many arms wrote them."""

from collections.abc import Iterable, Iterator

from pooldiag.model.counts import Census, PrintedCensus
from pooldiag.model.outcomes import OutputFile
from pooldiag.model.readings import Reading
from pooldiag.model.reports import AttributeReport
from pooldiag.model.words import shortened
from pooldiag.render.blocks import Block, Items, Section, Text
from pooldiag.render.reports._tensor_words import PATTERNS_SHOWN, elements, number
from pooldiag.render.run_words import grouped


def outputs(report: AttributeReport) -> Iterator[Section]:
    """Yield the declared outputs, as the shown run of each arm wrote them, and the census lines that were printed."""
    shown = tuple(
        (str(arm.arm.role), arm.shown.outcome)
        for arm in report.arms
        if arm.shown is not None and arm.shown.reading.reading is not Reading.VOID
    )
    files = tuple((output, role) for role, outcome in shown for output in outcome.outputs)
    problems = _lines((_problem(output), role) for output, role in files if output.problem is not None)
    printed = _lines((_printed(line), role) for role, outcome in shown for line in outcome.printed)
    parts: list[Block] = [*_contents(files), *map(Text, problems)]
    if printed:
        parts.append(Section(title="printed by the target", blocks=(Items(printed),), label=True))
    if parts:
        yield Section(title="Outputs", blocks=tuple(parts), detail=True)


def _lines(said: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return each line once, with the arms that it is true of."""
    return tuple(f"{line} ({', '.join(roles)})" for line, roles in grouped(said))


def _contents(files: Iterable[tuple[OutputFile, str]]) -> Iterator[Section]:
    """Yield each output with its contents, and by whom each was written."""
    counted = ((output.path, (output.census, role)) for output, role in files if output.census is not None)
    for path, written in grouped(counted):
        censuses = {census.sha256: census for census, _ in reversed(written)}
        writers = grouped((census.sha256, role) for census, role in written)
        contents = tuple(_content(censuses[sha256], roles) for sha256, roles in writers)
        dtypes = ", ".join(sorted({census.dtype for census in censuses.values()}))
        yield Section(title=f"{path}, {dtypes}", blocks=contents, label=True)


def _content(census: Census, roles: tuple[str, ...]) -> Section:
    """Return a census in a few lines; what is not there is left out, but never a zero of NaN and infinity."""
    absmax = "none is finite" if census.absmax is None else number(census.absmax)
    lines = [f"n={census.n} nan={census.nan} inf={census.inf} zero={census.zero} absmax: {absmax}"]
    if census.first:
        lines.append(f"first {len(census.first)}: {elements(census.first)}")
    if census.nan_patterns:
        shares = (f"{one.bits} ({one.count}/{census.nan})" for one in census.nan_patterns)
        lines.append(f"NaN patterns: {shortened(shares, PATTERNS_SHOWN)}")
    same = " (identical bytes)" if len(roles) > 1 else ""
    return Section(title=f"{', '.join(roles)}{same}:", blocks=(Items(tuple(lines)),), label=True)


def _problem(output: OutputFile) -> str:
    return f"{output.path}: {output.problem}" + ("" if output.detail is None else f", {output.detail}")


def _printed(line: PrintedCensus) -> str:
    return f"{line.name}: n={line.n} nan={line.nan} inf={line.inf} zero={line.zero}"
