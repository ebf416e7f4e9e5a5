"""The documents of `census`, and of each tensor that was counted, there or by another command."""

from base64 import b64encode
from dataclasses import dataclass

from pooldiag.model.censuses import CensusProblem, CensusReport, CountedTensor, TypeGuess
from pooldiag.model.comparisons import Comparison
from pooldiag.model.counts import Census
from pooldiag.model.schema import SCHEMA
from pooldiag.render._escapes import without_surrogates
from pooldiag.render.json import DocumentForm, Forms


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorName:
    """A tensor by its file and its own name."""

    path: str
    tensor: str | None


def _tensor_name(census: Census | None) -> TensorName | None:
    return None if census is None else TensorName(path=census.path, tensor=census.tensor)


def _first_nan(report: CensusReport) -> TensorName | None:
    return _tensor_name(report.first_nan)


def _first_not_finite(report: CensusReport) -> TensorName | None:
    return _tensor_name(report.first_not_finite)


def _sha256(census: Census) -> str | None:
    return census.sha256 or None


def _name_bytes(named: Census | CensusProblem) -> str | None:
    return _bytes(named.path)


def _tensor_bytes(census: Census) -> str | None:
    return _bytes(census.tensor)


def _bytes(name: str | None) -> str | None:
    """Return the bytes of a name that is not UTF-8; None where the name itself holds them."""
    if name is None or without_surrogates(name) == name:
        return None
    try:
        raw = name.encode(errors="surrogateescape")
    except UnicodeEncodeError:  # surrogates that no byte is kept as: the file has them itself
        raw = name.encode(errors="surrogatepass")
    return b64encode(raw).decode("ascii")


_EXTREMES = {"minimum": "min", "maximum": "max", "minimum_index": "min_index", "maximum_index": "max_index"}

FORMS: Forms = {
    CensusReport: DocumentForm(
        head={"schema": SCHEMA, "command": "census", "partial": None},
        made={"first_nan": _first_nan, "first_not_finite": _first_not_finite},
        commands=("next",),
    ),
    CountedTensor: DocumentForm(flat={"census": Census}, optional=("comparison",)),
    Census: DocumentForm(
        names=_EXTREMES,
        without=("nan_residues", "dominant_pages"),
        made={"sha256": _sha256, "name_bytes": _name_bytes, "tensor_bytes": _tensor_bytes},
        properties=("inf", "nan_at_even"),
        optional=("blocks", "name_bytes", "tensor_bytes"),
    ),
    CensusProblem: DocumentForm(made={"name_bytes": _name_bytes}, optional=("name_bytes",)),
    TypeGuess: DocumentForm(names=_EXTREMES),
    Comparison: DocumentForm(names={"there": "reference"}, without=("here",), properties=("sameness",)),
}
