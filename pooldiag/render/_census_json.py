"""The JSON document of `census`, and of each tensor that was counted, there or by another command."""

from base64 import b64encode
from collections.abc import Iterable

from pooldiag.model.censuses import CensusProblem, CensusReport, CountedTensor, TypeGuess, TypeGuesses
from pooldiag.model.comparisons import Comparison, Difference, LargestError, Side
from pooldiag.model.counts import Blocks, Census, Element, Finding, PatternCount
from pooldiag.model.schema import SCHEMA
from pooldiag.render._json_text import Document, command
from pooldiag.render._text import without_surrogates


def report_document(report: CensusReport) -> Document:
    """Return the whole report."""
    return {
        "schema": SCHEMA,
        "command": "census",
        "partial": report.partial,
        "files": [_counted(one) for one in report.files],
        "first_nan": _place(report.first_nan),
        "first_not_finite": _place(report.first_not_finite),
        "problems": [_problem(one) for one in report.problems],
        "skipped": report.skipped,
        "reference": report.reference,
        "here_only": report.here_only,
        "there_only": report.there_only,
        "guesses": [_guesses(one) for one in report.guesses],
        "watched": report.watched,
        "notes": report.notes,
        "next": command(report.next),
        "next_purpose": report.next_purpose,
    }


def census_document(census: Census) -> Document:
    """Return one tensor."""
    return {
        "path": census.path,
        **_bytes("name_bytes", census.path),
        "tensor": census.tensor,
        **_bytes("tensor_bytes", census.tensor),
        "format": census.format,
        "dtype": census.dtype,
        "shape": census.shape,
        "sha256": census.sha256 or None,
        **_numbers(census),
        "first": [_element(element) for element in census.first],
        "nan_patterns": [_pattern(pattern) for pattern in census.nan_patterns],
        "nan_patterns_complete": census.nan_patterns_complete,
        "nan_signalling": census.nan_signalling,
        "nan_at_even": census.nan_at_even,
        "nan_runs": {
            "count": census.nan_runs.count,
            "longest": census.nan_runs.longest,
            "first": census.nan_runs.first,
        },
        "dominant": None if census.dominant is None else _pattern(census.dominant),
        "dominant_exact": census.dominant_exact,
        **({} if census.blocks is None else {"blocks": _blocks(census.blocks)}),
        "findings": _findings(census.findings),
        "notes": census.notes,
    }


def _numbers(census: Census) -> Document:
    """Return the plain counts and the extremes."""
    return {
        "n": census.n,
        "nan": census.nan,
        "inf": census.inf,
        "positive_inf": census.positive_inf,
        "negative_inf": census.negative_inf,
        "zero": census.zero,
        "negative_zero": census.negative_zero,
        "subnormal": census.subnormal,
        "min": census.minimum,
        "max": census.maximum,
        "absmax": census.absmax,
        "min_index": census.minimum_index,
        "max_index": census.maximum_index,
        "absmax_index": census.absmax_index,
    }


def _counted(one: CountedTensor) -> Document:
    document = census_document(one.census)
    return document if one.comparison is None else document | {"comparison": _comparison(one.comparison)}


def _bytes(field: str, name: str | None) -> Document:
    """Return the field with the bytes of a name that is not UTF-8; nothing where the name itself holds them."""
    if name is None or without_surrogates(name) == name:
        return {}
    try:
        raw = name.encode(errors="surrogateescape")
    except UnicodeEncodeError:  # surrogates that no byte is kept as: the file has them itself
        raw = name.encode(errors="surrogatepass")
    return {field: b64encode(raw).decode("ascii")}


def _place(census: Census | None) -> Document | None:
    return None if census is None else {"path": census.path, "tensor": census.tensor}


def _problem(one: CensusProblem) -> Document:
    return {"path": one.path, **_bytes("name_bytes", one.path), "problem": one.problem, "hint": one.hint}


def _element(element: Element) -> Document:
    return {"value": element.value, "bits": element.bits}


def _pattern(pattern: PatternCount) -> Document:
    return {"bits": pattern.bits, "count": pattern.count}


def _blocks(blocks: Blocks) -> Document:
    return {"elements": blocks.elements, "nan": blocks.nan, "inf": blocks.inf}


def _findings(findings: Iterable[Finding]) -> list[Document]:
    return [
        {
            "rule": finding.rule,
            "text": finding.text,
            "confidence": finding.confidence,
            "provenance": finding.provenance,
        }
        for finding in findings
    ]


def _guesses(one: TypeGuesses) -> Document:
    return {
        "path": one.path,
        "tensor": one.tensor,
        "sample_bytes": one.sample_bytes,
        "file_bytes": one.file_bytes,
        "fitting": [_guess(guess) for guess in one.fitting],
        "why": one.why,
        "tried": [_guess(guess) for guess in one.tried],
    }


def _guess(guess: TypeGuess) -> Document:
    return {
        "dtype": guess.dtype,
        "byte_order": guess.byte_order,
        "bits_per_byte": guess.bits_per_byte,
        "n": guess.n,
        "nan": guess.nan,
        "min": guess.minimum,
        "max": guess.maximum,
        "doubts": guess.doubts,
    }


def _comparison(comparison: Comparison) -> Document:
    return {
        "sameness": comparison.sameness,
        "reference": _side(comparison.there),
        "n": comparison.n,
        "value_different": comparison.value_different,
        "bit_different": comparison.bit_different,
        "nan_bits_different": comparison.nan_bits_different,
        "zero_sign_different": comparison.zero_sign_different,
        "first": _difference(comparison.first),
        "first_bits": _difference(comparison.first_bits),
        "nan": {
            "both": comparison.nan.both,
            "here_only": comparison.nan.here_only,
            "there_only": comparison.nan.there_only,
            "first_here_only": comparison.nan.first_here_only,
            "first_there_only": comparison.nan.first_there_only,
        },
        "infinity_different": comparison.infinity_different,
        "zero_here": comparison.zero_here,
        "zero_there": comparison.zero_there,
        "absolute": _largest(comparison.absolute),
        "relative": _largest(comparison.relative),
        "ulps": _largest(comparison.ulps),
        "findings": _findings(comparison.findings),
        "notes": comparison.notes,
    }


def _side(side: Side) -> Document:
    return {"path": side.path, "tensor": side.tensor, "dtype": side.dtype, "shape": side.shape, "n": side.n}


def _difference(difference: Difference | None) -> Document | None:
    if difference is None:
        return None
    return {"index": difference.index, "here": _element(difference.here), "there": _element(difference.there)}


def _largest(largest: LargestError | None) -> Document | None:
    return None if largest is None else {"error": largest.error, "at": _difference(largest.at)}
