"""The flags of `census`."""

from dataclasses import dataclass
from enum import StrEnum

from pooldiag.cli.target.flags import panel
from pooldiag.config.kinds import TEXT, choice
from pooldiag.config.options import many, one, options_of, switch, switch_if_any


class ByteOrderName(StrEnum):
    """Which end of an element comes first."""

    LITTLE = "little"
    BIG = "big"


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusFlags:
    """What may be typed after `pooldiag census`. None, empty and False: not given."""

    files: tuple[str, ...] = ()
    dtype: str | None = one(TEXT, "Element type of files that do not say it: {types}.", metavar="TYPE")
    shape: str | None = one(TEXT, "Shape of a raw file, the last axis the fastest: 4,8,16.", metavar="SIZES")
    offset: str | None = one(TEXT, "Bytes before the first element of a raw file.", metavar="SIZE")
    byte_order: ByteOrderName | None = one(choice(ByteOrderName), "Of a raw file (default: little).")
    input_format: str | None = one(TEXT, "{files}; found by itself.", metavar="NAME")
    tensor: tuple[str, ...] = many(TEXT, "Count only these tensors; * and ? as in a shell.", metavar="PATTERN")
    guess: bool = switch("Try every element type, and say which one fits and why.")
    against: str | None = one(TEXT, "Compare with a file or folder, element by element.", metavar="REF")
    sha256: bool = switch("Hash the elements, too.")
    watch: str | None = one(TEXT, "Count each file that appears in DIR from now on, until Ctrl-C.", metavar="DIR")
    watch_for: str | None = one(TEXT, "Watch no longer than that.", metavar="TIME")
    save: str | None = one(TEXT, "Save a map of NaN and infinities of one tensor: map.svg or map.png.", metavar="PATH")
    picture: bool | None = switch_if_any(
        "Show where NaN and infinities are (default: in a table, if there are some).", off="--no-picture"
    )
    json: bool = switch("Print the report as JSON.")
    quiet: bool = switch("No progress.", short="-q")


_OF_CENSUS = options_of(CensusFlags)

CENSUS_OPTIONS = (
    *panel("How files are read", "dtype", "shape", "offset", "byte_order", "input_format", "tensor", of=_OF_CENSUS),
    *panel("What is asked", "guess", "against", "sha256", "watch", "watch_for", of=_OF_CENSUS),
    *panel("What is shown", "save", "picture", "json", "quiet", of=_OF_CENSUS),
)
