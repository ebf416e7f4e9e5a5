"""The report of `census`: the answer, then each tensor of which there is something to tell, then what to do."""

from collections.abc import Iterator
from dataclasses import replace

from pooldiag.model.censuses import CensusReport, CountedTensor, TypeGuess, TypeGuesses
from pooldiag.model.comparisons import Comparison, Difference, Sameness, Side
from pooldiag.model.counts import Census, Finding
from pooldiag.model.words import capital, count, percent, shortened
from pooldiag.render._picture import place_in
from pooldiag.render.blocks import (
    Answer,
    Block,
    Blocks,
    Cell,
    Column,
    Command,
    Picture,
    Row,
    Section,
    Table,
    Text,
    Tone,
    facts,
    items,
)
from pooldiag.render.reports._tensor_words import PATTERNS_SHOWN, element, elements, number

DETAILS_SHOWN = 8  # tensors of which all is shown
GUESSES_SHOWN = 8
NAMES_SHOWN = 8
_TEN = 10

_SAME = {
    Sameness.BITWISE: "bitwise equal",
    Sameness.NAN_BITS: "equal but for the bits of NaN",
    Sameness.VALUES: "equal in value",
    Sameness.DIFFERENT: "different",
}

_COUNTS = Column.numbers("Elements", "NaN", "Inf", "Zero")
_TENSORS = (Column("Tensor"), Column("Type"), *_COUNTS, Column("Range", wide=True))
_GUESSES = (Column("Type"), *Column.numbers("Bits a byte", "NaN"), Column("Range"), Column("Against it"))


def blocks(report: CensusReport) -> Blocks:
    """Return the whole report."""
    interruption = "Interrupted: this report is partial." if report.partial else None
    several = len(report.files) != 1
    following = [] if report.next is None else [Command(f"Next ({report.next_purpose})", report.next)]
    return (
        replace(_answer(report), interruption=interruption),
        *([_tensors(report)] if several and report.files else []),
        *_details(report, titled=several),
        *map(_guesses, report.guesses),
        *items("Notes", _notes(report)),
        *following,
    )


def _tensors(report: CensusReport) -> Table:
    """Return a table of all tensors, a row each, and of what they are together."""
    compared = [Column("Reference")] if report.reference is not None else []
    columns = (*_TENSORS, *compared, Column("Says"))
    rows = tuple(tuple(_cells(one, compared=bool(compared))) for one in report.files)
    censuses = [one.census for one in report.files]
    sums = zip(*((one.n, one.nan, one.inf, one.zero) for one in censuses), strict=True)
    name = f"{count(len(censuses), 'tensor')} in {count(len({census.path for census in censuses}), 'file')}"
    words = (name, "", *(str(sum(numbers)) for numbers in sums))
    return Table(columns=columns, rows=rows, total=(*map(Cell, words), *[Cell("")] * (len(columns) - len(words))))


def _cells(one: CountedTensor, *, compared: bool) -> Iterator[Cell]:
    census = one.census
    low, high = census.minimum, census.maximum
    yield Cell(_called(census))
    yield Cell(census.dtype, more=_shape(census, before=" "))
    yield Cell(str(census.n))
    yield from (Cell(str(bad), Tone.RED if bad else Tone.PLAIN) for bad in (census.nan, census.inf))
    yield Cell(str(census.zero))
    yield Cell("-" if low is None or high is None else f"{number(low)} to {number(high)}")
    if compared:
        yield Cell(_in_short(one))
    yield Cell(", ".join(finding.rule for finding in _findings(one)) or "-")


def _details(report: CensusReport, *, titled: bool) -> Iterator[Block]:
    """Yield each tensor of which there is something to tell; of one alone all there is."""
    telling = [one for one in report.files if not titled or not one.is_clean]
    for one in telling[:DETAILS_SHOWN]:
        title = _called(one.census) if titled else None
        yield Section(title=title, blocks=tuple(_detail(one, titled=titled)), detail=titled)
    if (more := len(telling) - DETAILS_SHOWN) > 0:
        yield Text(f"{more} more of which there is something to tell: name one, or --json tells them all.")


def _detail(one: CountedTensor, *, titled: bool) -> Iterator[Block]:
    name = () if titled else (("Tensor", _called(one.census)),)
    yield facts((*name, *_facts(one), *_comparison_facts(one)))
    if one.census.blocks is not None and one.census.n:
        yield Section(title="Where they are", blocks=(Picture(one.census),))
    shows = (f"{rule.rule} ({rule.confidence}): {rule.text}. Source: {rule.provenance}." for rule in _findings(one))
    yield from items("What it shows", shows)
    notes = (*one.census.notes, *(one.comparison.notes if one.comparison is not None else ()))
    yield from items("About the counting", notes)


def _guesses(one: TypeGuesses) -> Section:
    """Return which types were tried, the best first."""
    more = len(one.tried) - GUESSES_SHOWN
    rest = [Text(f"{more} more were tried, which fit less: --json tells them.")] if more > 0 else []
    table = Table(columns=_GUESSES, rows=tuple(map(_guess, one.tried[:GUESSES_SHOWN])))
    size = "" if one.file_bytes in {None, one.sample_bytes} else f" of {one.file_bytes}"
    looked_at = f"{one.sample_bytes}{size} {'byte' if one.sample_bytes == 1 else 'bytes'}"
    return Section(title=f"Types of {_called(one)}, by {looked_at}", blocks=(Text(one.why), table, *rest))


def _guess(guess: TypeGuess) -> Row:
    low, high = guess.minimum, guess.maximum
    words = (
        guess.dtype if guess.byte_order is None else f"{guess.dtype} {guess.byte_order}",
        f"{guess.bits_per_byte:.2f}",
        f"{guess.nan}/{guess.n}",
        "-" if low is None or high is None else f"{low:.3g} to {high:.3g}",
        "; ".join(guess.doubts) or "-",
    )
    return tuple(map(Cell, words))


def _answer(report: CensusReport) -> Answer:
    red = report.differs or report.first_not_finite is not None
    tone = Tone.RED if red else Tone.OPEN if report.problems or not _elements(report) else Tone.GREEN
    one = report.files[0] if len(report.files) == 1 else None
    title = _title_of_one(one, report) if one is not None else _title_of_many(report)
    against = () if report.reference is None else (_against(report, one),)
    lacking = f"Not all was counted: {count(len(report.problems), 'problem')}, told on stderr."
    return Answer(tone=tone, title=title, lines=(*against, lacking) if report.problems else against)


def _elements(report: CensusReport) -> int:
    return sum(one.census.n for one in report.files)


def _title_of_one(one: CountedTensor, report: CensusReport) -> str:
    census = one.census
    elements_of = f"{count(census.n, 'element')} of {_called(census)}"
    if census.nan:
        return f"NaN: {census.nan} of {elements_of}" + (f"; infinity: {census.inf}" if census.inf else "")
    if census.inf:
        return f"Infinity: {census.inf} of {elements_of}"
    if one.differs and one.comparison is not None:
        return f"Different: {_called(census)} is not as {_called(one.comparison.there)}; no NaN, no infinity"
    if report.differs:
        return f"Different: {_alone(report)}; no NaN, no infinity"
    return f"No NaN, no infinity: {elements_of}" if census.n else f"No elements: {_called(census)}"


def _title_of_many(report: CensusReport) -> str:
    tensors = count(len(report.files), "tensor")
    if not report.files:
        return "Nothing was counted"
    nan = sum(one.census.nan > 0 for one in report.files)
    inf = sum(one.census.inf > 0 for one in report.files)
    said = [f"{what} in {k} of {tensors}" for what, k in (("NaN", nan), ("infinity", inf)) if k]
    if not said and not report.differs:
        return f"No NaN, no infinity: {tensors}, {count(_elements(report), 'element')}"
    if not said:
        different = sum(one.differs for one in report.files)
        what = f"{different} of {tensors} against {report.reference}" if different else _alone(report)
        return f"Different: {what}; no NaN, no infinity"
    first = report.first_nan or report.first_not_finite
    which = f"; the first{' with NaN' if nan else ''} is {_called(first)}" if first else ""
    return capital(", ".join(said) + which)


def _against(report: CensusReport, one: CountedTensor | None) -> str:
    if one is not None and one.comparison is not None:
        return f"{capital(_sameness(one.comparison))} against {_called(one.comparison.there)}."
    compared = [one.comparison for one in report.files if one.comparison is not None]
    different = sum(one.differs for one in report.files)
    verb = "differs" if 1 in {different, len(compared)} else "differ"
    words = f"{different} of {count(len(compared), 'compared tensor')} {verb} from {report.reference}"
    return f"{words}; {_alone(report)}." if report.here_only or report.there_only else f"{words}."


def _alone(report: CensusReport) -> str:
    """Say how many files and tensors have no counterpart."""
    alone = len(report.here_only) + len(report.there_only)
    return f"{alone} {'stands' if alone == 1 else 'stand'} on one side only"


def _called(named: Census | Side | TypeGuesses) -> str:
    """Name a tensor with its file."""
    return named.path if named.tensor is None else f"{named.path}::{named.tensor}"


def _facts(one: CountedTensor) -> Iterator[tuple[str, str]]:
    """Yield what was counted, by name; a zero of NaN or infinity is never left out where there can be some."""
    census = one.census
    yield "Type", f"{census.dtype}, {census.format}{_shape(census, before=', shape ')}, {count(census.n, 'element')}"
    if not _is_integer(census):
        yield "NaN", _of(census.nan, census.n) + (f", {census.nan_signalling} signalling" if census.nan else "")
        yield "Infinity", _of(census.inf, census.n) + (f", {census.negative_inf} negative" if census.inf else "")
    yield "Zero", _of(census.zero, census.n) + (f", {census.negative_zero} negative" if census.negative_zero else "")
    if not _is_integer(census):
        yield "Subnormal", _of(census.subnormal, census.n)
    yield "Range", _value_range(census)
    if census.first:
        yield f"First {len(census.first)}", elements(census.first)
    yield from _nan_facts(census)
    if census.dominant is not None and (census.dominant.count < census.n or not census.nan):
        exact = "" if census.dominant_exact else " or more"
        yield "Dominant", f"{census.dominant.bits}, {_of(census.dominant.count, census.n)}{exact}"
    if census.sha256:
        yield "SHA-256", census.sha256


def _nan_facts(census: Census) -> Iterator[tuple[str, str]]:
    if not census.nan:
        return
    shown = [f"{pattern.bits} {pattern.count}/{census.nan}" for pattern in census.nan_patterns[:PATTERNS_SHOWN]]
    more = len(census.nan_patterns) - len(shown)
    rest = f"{more} more" if census.nan_patterns_complete else f"more than {more} others"
    yield "NaN bits", ", ".join([*shown, *([rest] if more or not census.nan_patterns_complete else [])])
    runs = census.nan_runs
    aligned = f", all at multiples of {runs.alignment}" if runs.count > 1 and (runs.alignment or 0) > 1 else ""
    first = "" if runs.first is None else f", the first at {place_in(runs.first, census.shape)}"
    yield "NaN runs", f"{runs.count}, the longest of {count(runs.longest, 'element')}{first}{aligned}"
    yield "NaN even", f"{_of(census.nan_at_even, census.nan)} at even indices"


def _is_integer(census: Census) -> bool:
    """Say whether the type has neither NaN nor infinities because it is an integer's."""
    return census.dtype == "bool" or census.dtype[:1] in {"i", "u"}


def _shape(census: Census, *, before: str) -> str:
    return "" if census.shape is None or len(census.shape) <= 1 else before + "x".join(map(str, census.shape))


def _of(part: int, whole: int) -> str:
    """Say a count with its share; what is not all is never 100 %, and what is not nothing never 0 %."""
    if not part:
        return f"0/{whole}"
    share = part / whole
    return f"{part}/{whole} " + (f"({100 * share:.2g} %)" if 100 * share < _TEN else f"({percent(share)})")


def _value_range(census: Census) -> str:
    """Say the extremes of what is finite, and where they are."""
    if census.minimum is None or census.maximum is None or census.absmax is None:
        return "no element is finite" if census.n else "no elements"
    if census.minimum == census.maximum:
        return f"every finite element is {number(census.minimum)}"
    places = (census.minimum_index, census.maximum_index, census.absmax_index)
    low, high, largest = (f" at {place_in(place, census.shape)}" if place is not None else "" for place in places)
    return f"{number(census.minimum)}{low} to {number(census.maximum)}{high}; absmax {number(census.absmax)}{largest}"


def _findings(one: CountedTensor) -> tuple[Finding, ...]:
    return (*one.census.findings, *(one.comparison.findings if one.comparison is not None else ()))


def _sameness(comparison: Comparison) -> str:
    """Say how alike a tensor and its reference are, with the denominators."""
    words = _SAME[comparison.sameness]
    if comparison.sameness is Sameness.DIFFERENT:
        sizes = f"another size, {comparison.here.n} here and {comparison.there.n} in the reference"
        places = f"{words} in {_of(comparison.value_different, comparison.n)} elements"
        parts = [places] * (comparison.value_different > 0) + [sizes] * (comparison.here.n != comparison.there.n)
        return "; ".join(parts)
    return f"{words}, {count(comparison.n, 'element')}" + ("" if not comparison.shapes_differ else ", another shape")


def _in_short(one: CountedTensor) -> str:
    """Say the same in a column."""
    comparison = one.comparison
    if comparison is None:
        return "-"
    if comparison.sameness is Sameness.DIFFERENT:
        return f"{comparison.value_different} differ" if comparison.value_different else "another size"
    return _SAME[comparison.sameness] + (", another shape" if comparison.shapes_differ else "")


def _comparison_facts(one: CountedTensor) -> Iterator[tuple[str, str]]:
    """Yield what differs from the reference, by name."""
    comparison = one.comparison
    if comparison is None:
        return
    yield "Reference", f"{_called(comparison.there)}: {_sameness(comparison)}"
    if comparison.bit_different:
        within, signs = comparison.nan_bits_different or 0, comparison.zero_sign_different or 0
        differ = _of(comparison.bit_different, comparison.n)
        yield "Bits", f"{differ} differ, {within} within NaN, {signs} signs of zero"
    if (first := comparison.first or comparison.first_bits) is not None:
        yield "First", _difference(first, one)
    errors = (("Absolute", comparison.absolute), ("Relative", comparison.relative), ("ULP", comparison.ulps))
    for name, largest in errors:
        if largest is not None and largest.error:
            yield name, f"{number(largest.error)} at most, {_difference(largest.at, one)}"
    nan = comparison.nan
    if nan.here_only or nan.there_only:
        here = (nan.here_only, nan.first_here_only, "here")
        there = (nan.there_only, nan.first_there_only, "in the reference")
        alone = [f"{k} {where} only, the first at {_at(first, one)}" for k, first, where in (here, there) if k]
        yield "NaN places", f"{nan.both} on both sides, {', '.join(alone)}"


def _difference(difference: Difference, one: CountedTensor) -> str:
    return f"at {_at(difference.index, one)}: {element(difference.here)}, {element(difference.there)} in the reference"


def _at(index: int | None, one: CountedTensor) -> str:
    return "?" if index is None else place_in(index, one.census.shape)


def _notes(report: CensusReport) -> Iterator[str]:
    if report.skipped:
        yield f"{count(report.skipped, 'file')} skipped: of no known format, or raw and of no type that was named"
    if report.here_only:
        yield f"without a counterpart in the reference: {shortened(report.here_only, NAMES_SHOWN)}"
    if report.there_only:
        yield f"in the reference only: {shortened(report.there_only, NAMES_SHOWN)}"
    yield from report.notes
