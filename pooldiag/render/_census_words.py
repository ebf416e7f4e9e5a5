"""A census in words."""

import math
from collections.abc import Iterable, Iterator

from pooldiag.model.censuses import CensusReport, CountedTensor, TypeGuess, TypeGuesses
from pooldiag.model.comparisons import Comparison, Difference, LargestError, Sameness
from pooldiag.model.counts import Census, Element
from pooldiag.render._headline import Headline, Tone
from pooldiag.render._picture import place_in
from pooldiag.render._words import capital, count

PATTERNS_SHOWN = 8
NAMES_SHOWN = 8
_TEN = 10

_SAME = {
    Sameness.BITWISE: "bitwise equal",
    Sameness.NAN_BITS: "equal but for the bits of NaN",
    Sameness.VALUES: "equal in value",
    Sameness.DIFFERENT: "different",
}


def headline(report: CensusReport) -> Headline:
    """Say the answer."""
    red = report.differs or report.first_not_finite is not None
    tone = Tone.RED if red else Tone.OPEN if report.problems or not _elements(report) else Tone.GREEN
    one = report.files[0] if len(report.files) == 1 else None
    title = _title_of_one(one, report) if one is not None else _title_of_many(report)
    return Headline(tone=tone, title=title, lines=tuple(_lines(report, one)))


def _elements(report: CensusReport) -> int:
    return sum(one.census.n for one in report.files)


def _title_of_one(one: CountedTensor, report: CensusReport) -> str:
    census = one.census
    of = f"of {count(census.n, 'element')} of {called(census)}"
    if census.nan:
        return f"NaN: {census.nan} {of}" + (f"; infinity: {census.inf}" if census.inf else "")
    if census.inf:
        return f"Infinity: {census.inf} {of}"
    if one.differs and one.comparison is not None:
        return f"Different: {called(census)} is not as {side(one.comparison)}; no NaN, no infinity"
    if report.differs:
        return f"Different: {_alone(report)}; no NaN, no infinity"
    return f"No NaN, no infinity: {of.removeprefix('of ')}" if census.n else f"No elements: {called(census)}"


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
    return capital(f"{', '.join(said)}; the first{' with NaN' if nan else ''} is {called(first)}" if first else said[0])


def _lines(report: CensusReport, one: CountedTensor | None) -> Iterator[str]:
    if report.reference is not None:
        yield _against(report, one)
    if report.problems:
        yield f"Not all was counted: {count(len(report.problems), 'problem')}, told on stderr."


def _against(report: CensusReport, one: CountedTensor | None) -> str:
    if one is not None and one.comparison is not None:
        return f"{capital(sameness(one.comparison))} against {side(one.comparison)}."
    compared = [one.comparison for one in report.files if one.comparison is not None]
    different = sum(one.differs for one in report.files)
    verb = "differs" if 1 in {different, len(compared)} else "differ"
    words = f"{different} of {count(len(compared), 'compared tensor')} {verb} from {report.reference}"
    return f"{words}; {_alone(report)}." if report.here_only or report.there_only else f"{words}."


def _alone(report: CensusReport) -> str:
    """Say how many files and tensors have no counterpart."""
    alone = len(report.here_only) + len(report.there_only)
    return f"{alone} {'stands' if alone == 1 else 'stand'} on one side only"


def called(census: Census) -> str:
    """Name a tensor with its file."""
    return census.path if census.tensor is None else f"{census.path}::{census.tensor}"


def facts(one: CountedTensor) -> Iterator[tuple[str, str]]:
    """Yield what was counted, by name; a zero of NaN or infinity is never left out where there can be some."""
    census = one.census
    yield "Type", f"{census.dtype}, {census.format}{shape(census)}, {count(census.n, 'element')}"
    if not is_integer(census):
        yield "NaN", of(census.nan, census.n) + (f", {census.nan_signalling} signalling" if census.nan else "")
        yield "Infinity", of(census.inf, census.n) + (f", {census.negative_inf} negative" if census.inf else "")
    yield "Zero", of(census.zero, census.n) + (f", {census.negative_zero} negative" if census.negative_zero else "")
    if not is_integer(census):
        yield "Subnormal", of(census.subnormal, census.n)
    yield "Range", value_range(census)
    if census.first:
        yield f"First {len(census.first)}", elements(census.first)
    yield from _nan_facts(census)
    if census.dominant is not None and (census.dominant.count < census.n or not census.nan):
        exact = "" if census.dominant_exact else " or more"
        yield "Dominant", f"{census.dominant.bits}, {of(census.dominant.count, census.n)}{exact}"
    if census.sha256:
        yield "SHA-256", census.sha256


def _nan_facts(census: Census) -> Iterator[tuple[str, str]]:
    if not census.nan:
        return
    yield "NaN bits", patterns(census)
    runs = census.nan_runs
    aligned = f", all at multiples of {runs.alignment}" if runs.count > 1 and (runs.alignment or 0) > 1 else ""
    first = "" if runs.first is None else f", the first at {place_in(runs.first, census.shape)}"
    yield "NaN runs", f"{runs.count}, the longest of {count(runs.longest, 'element')}{first}{aligned}"
    yield "NaN even", f"{of(census.nan_at_even, census.nan)} at even indices"


def is_integer(census: Census) -> bool:
    """Say whether the type has neither NaN nor infinities because it is an integer's."""
    return census.dtype == "bool" or census.dtype[:1] in {"i", "u"}


def shape(census: Census) -> str:
    """Say the shape, if there is one."""
    return "" if census.shape is None or len(census.shape) <= 1 else f", shape {'x'.join(map(str, census.shape))}"


def of(part: int, whole: int) -> str:
    """Say a count with its denominator and its share."""
    return f"{part}/{whole} ({share(part, whole)})" if part else f"0/{whole}"


def share(part: int, whole: int) -> str:
    """Say a share; what is not all is never 100 %, and what is not nothing never 0 %."""
    percent = 100 * part / whole
    return f"{percent:.2g} %" if percent < _TEN else f"{math.floor(percent * 10) / 10:g} %"


def value_range(census: Census) -> str:
    """Say the extremes of what is finite, and where they are."""
    if census.minimum is None or census.maximum is None or census.absmax is None:
        return "no element is finite" if census.n else "no elements"
    if census.minimum == census.maximum:
        return f"every finite element is {number(census.minimum)}"
    places = (census.minimum_index, census.maximum_index, census.absmax_index)
    low, high, largest = (f" at {place_in(place, census.shape)}" if place is not None else "" for place in places)
    return f"{number(census.minimum)}{low} to {number(census.maximum)}{high}; absmax {number(census.absmax)}{largest}"


def elements(found: tuple[Element, ...]) -> str:
    """Say values with their bits; equal ones once."""
    words = [f"{number(element.value)}({element.bits})" for element in found]
    return f"all {words[0]}" if len(set(words)) == 1 and len(words) > 1 else ", ".join(words)


def patterns(census: Census) -> str:
    """Say which NaN there are."""
    shown = [f"{pattern.bits} {pattern.count}/{census.nan}" for pattern in census.nan_patterns[:PATTERNS_SHOWN]]
    more = len(census.nan_patterns) - len(shown)
    rest = f"{more} more" if census.nan_patterns_complete else f"more than {more} others"
    return ", ".join([*shown, *([rest] if more or not census.nan_patterns_complete else [])])


def number(value: float) -> str:
    """Say a value of a tensor; a NaN or an infinity is named, an integer is exact."""
    return str(value) if isinstance(value, int) or not math.isfinite(value) else f"{value:.7g}"


def findings(one: CountedTensor) -> Iterator[str]:
    """Yield what the rules say, each with how sure it is and where it is from."""
    for finding in (*one.census.findings, *(one.comparison.findings if one.comparison is not None else ())):
        yield f"{finding.rule} ({finding.confidence}): {finding.text}. Source: {finding.provenance}."


def rules(one: CountedTensor) -> str:
    """Name the rules that say something."""
    found = (*one.census.findings, *(one.comparison.findings if one.comparison is not None else ()))
    return ", ".join(finding.rule for finding in found)


def sameness(comparison: Comparison) -> str:
    """Say how alike a tensor and its reference are, with the denominators."""
    words = _SAME[comparison.sameness]
    if comparison.sameness is Sameness.DIFFERENT:
        sizes = f"another size, {comparison.here.n} here and {comparison.there.n} in the reference"
        places = f"{words} in {of(comparison.value_different, comparison.n)} elements"
        parts = [places] * (comparison.value_different > 0) + [sizes] * (comparison.here.n != comparison.there.n)
        return "; ".join(parts)
    return f"{words}, {count(comparison.n, 'element')}" + ("" if not comparison.shapes_differ else ", another shape")


def in_short(one: CountedTensor) -> str:
    """Say the same in a column."""
    comparison = one.comparison
    if comparison is None:
        return "-"
    if comparison.sameness is Sameness.DIFFERENT:
        return f"{comparison.value_different} differ" if comparison.value_different else "another size"
    return _SAME[comparison.sameness] + (", another shape" if comparison.shapes_differ else "")


def side(comparison: Comparison) -> str:
    """Name the reference."""
    there = comparison.there
    return there.path if there.tensor is None else f"{there.path}::{there.tensor}"


def comparison_facts(one: CountedTensor) -> Iterator[tuple[str, str]]:
    """Yield what differs from the reference, by name."""
    comparison = one.comparison
    if comparison is None:
        return
    yield "Reference", f"{side(comparison)}: {sameness(comparison)}"
    if comparison.bit_different:
        within, signs = comparison.nan_bits_different or 0, comparison.zero_sign_different or 0
        yield "Bits", f"{of(comparison.bit_different, comparison.n)} differ, {within} within NaN, {signs} signs of zero"
    if (first := comparison.first or comparison.first_bits) is not None:
        yield "First", _difference(first, one)
    for name, largest in (
        ("Absolute", comparison.absolute),
        ("Relative", comparison.relative),
        ("ULP", comparison.ulps),
    ):
        if largest is not None and largest.error:
            yield name, _largest(largest, one)
    nan = comparison.nan
    if nan.here_only or nan.there_only:
        places = (
            (nan.here_only, nan.first_here_only, "here"),
            (nan.there_only, nan.first_there_only, "in the reference"),
        )
        alone = [f"{k} {where} only, the first at {_at(first, one)}" for k, first, where in places if k]
        yield "NaN places", f"{nan.both} on both sides, {', '.join(alone)}"


def _difference(difference: Difference, one: CountedTensor) -> str:
    here, there = (f"{number(element.value)}({element.bits})" for element in (difference.here, difference.there))
    return f"at {_at(difference.index, one)}: {here}, {there} in the reference"


def _largest(largest: LargestError, one: CountedTensor) -> str:
    return f"{number(largest.error)} at most, {_difference(largest.at, one)}"


def _at(index: int | None, one: CountedTensor) -> str:
    return "?" if index is None else place_in(index, one.census.shape)


def notes(report: CensusReport) -> Iterator[str]:
    """Yield what to know of the census as a whole."""
    if report.skipped:
        yield f"{count(report.skipped, 'file')} skipped: of no known format, or raw and of no type that was named"
    yield from _named(report.here_only, "without a counterpart in the reference")
    yield from _named(report.there_only, "in the reference only")
    yield from report.notes


def _named(names: tuple[str, ...], what: str) -> Iterator[str]:
    if names:
        more = len(names) - NAMES_SHOWN
        yield f"{what}: {', '.join(names[:NAMES_SHOWN])}{f', and {more} more' if more > 0 else ''}"


def guess_title(guesses: TypeGuesses) -> str:
    """Say what was looked at."""
    path = guesses.path if guesses.tensor is None else f"{guesses.path}::{guesses.tensor}"
    size = "" if guesses.file_bytes in {None, guesses.sample_bytes} else f" of {guesses.file_bytes}"
    bytes_ = "byte" if guesses.sample_bytes == 1 else "bytes"
    return f"Types of {path}, by {guesses.sample_bytes}{size} {bytes_}"


def type_of(guess: TypeGuess) -> str:
    """Name a type with its byte order, where it has one."""
    return guess.dtype if guess.byte_order is None else f"{guess.dtype} {guess.byte_order}"


def doubts(found: Iterable[str]) -> str:
    """Say what speaks against a type."""
    return "; ".join(found)
