"""The flags of `census`."""

from dataclasses import dataclass
from enum import StrEnum

from pooldiag.cli.parser import panel_of
from pooldiag.config.kinds import TEXT, choice
from pooldiag.config.options import options_of, several, single, switch, switch_if_any


class ByteOrderName(StrEnum):
    """Which end of an element comes first."""

    LITTLE = "little"
    BIG = "big"


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusFlags:
    """What may be typed after `pooldiag census`. None, empty and False: not given."""

    files: tuple[str, ...] = ()
    dtype: str | None = single(TEXT, "Element type of files that do not say it: {types}.", metavar="TYPE")
    shape: str | None = single(TEXT, "Shape of a raw file, the last axis the fastest: 4,8,16.", metavar="SIZES")
    offset: str | None = single(TEXT, "Bytes before the first element of a raw file.", metavar="SIZE")
    byte_order: ByteOrderName | None = single(choice(ByteOrderName), "Of a raw file (default: little).")
    input_format: str | None = single(TEXT, "{files}; found by itself.", metavar="NAME")
    tensor: tuple[str, ...] = several(TEXT, "Count only these tensors; * and ? as in a shell.", metavar="PATTERN")
    guess: bool = switch("Try every element type, and say which one fits and why.")
    against: str | None = single(TEXT, "Compare with a file or folder, element by element.", metavar="REF")
    sha256: bool = switch("Hash the elements, too.")
    watch: str | None = single(TEXT, "Count each file that appears in DIR from now on, until Ctrl-C.", metavar="DIR")
    watch_for: str | None = single(TEXT, "Watch no longer than that.", metavar="TIME")
    save: str | None = single(
        TEXT, "Save a map of NaN and infinities of one tensor: map.svg or map.png.", metavar="PATH"
    )
    picture: bool | None = switch_if_any(
        "Show where NaN and infinities are (default: in a table, if there are some).", off="--no-picture"
    )
    json: bool = switch("Print the report as JSON.")
    quiet: bool = switch("No progress.", short="-q")


_OF_CENSUS = options_of(CensusFlags)

CENSUS_OPTIONS = (
    *panel_of(_OF_CENSUS, "How files are read", "dtype", "shape", "offset", "byte_order", "input_format", "tensor"),
    *panel_of(_OF_CENSUS, "What is asked", "guess", "against", "sha256", "watch", "watch_for"),
    *panel_of(_OF_CENSUS, "What is shown", "save", "picture", "json", "quiet"),
)
