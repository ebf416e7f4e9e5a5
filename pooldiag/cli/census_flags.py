"""The flags of `census`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer


class ByteOrderName(StrEnum):
    """Which end of an element comes first."""

    LITTLE = "little"
    BIG = "big"


class CensusPanel(StrEnum):
    """Where an option stands in the help."""

    READ = "How files are read"
    ASKED = "What is asked"
    SHOWN = "What is shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusFlags:
    """What may be typed after `pooldiag census`. None, empty and False: not given."""

    files: Annotated[
        tuple[str, ...],
        typer.Argument(
            metavar="FILE...",
            help="Tensor files, folders with tensor files, or - for standard input.",
            show_default=False,
        ),
    ] = ()
    dtype: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="Element type of files that do not say it: f64 f32 f16 bf16 e4m3fn e4m3fnuz e5m2 e5m2fnuz e8m0 e2m1 "
            "i8 u8 i16 u16 i32 u32 i64 u64 bool.",
            rich_help_panel=CensusPanel.READ,
        ),
    ] = None
    shape: Annotated[
        str | None,
        typer.Option(
            metavar="SIZES",
            help="Shape of a raw file, the last axis the fastest: 4,8,16.",
            rich_help_panel=CensusPanel.READ,
        ),
    ] = None
    offset: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Bytes before the first element of a raw file.", rich_help_panel=CensusPanel.READ
        ),
    ] = None
    byte_order: Annotated[
        ByteOrderName | None,
        typer.Option(help="Of a raw file (default: little).", rich_help_panel=CensusPanel.READ),
    ] = None
    input_format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="raw, npy, npz, safetensors, gguf or torch; found by itself.",
            rich_help_panel=CensusPanel.READ,
        ),
    ] = None
    tensor: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="PATTERN", help="Count only these tensors; * and ? as in a shell.", rich_help_panel=CensusPanel.READ
        ),
    ] = ()
    guess: Annotated[
        bool,
        typer.Option(
            "--guess", help="Try every element type, and say which one fits and why.", rich_help_panel=CensusPanel.ASKED
        ),
    ] = False
    against: Annotated[
        str | None,
        typer.Option(
            metavar="REF", help="Compare with a file or folder, element by element.", rich_help_panel=CensusPanel.ASKED
        ),
    ] = None
    sha256: Annotated[
        bool, typer.Option("--sha256", help="Hash the elements, too.", rich_help_panel=CensusPanel.ASKED)
    ] = False
    watch: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Count each file that appears in DIR from now on, until Ctrl-C.",
            rich_help_panel=CensusPanel.ASKED,
        ),
    ] = None
    watch_for: Annotated[
        str | None, typer.Option(metavar="TIME", help="Watch no longer than that.", rich_help_panel=CensusPanel.ASKED)
    ] = None
    save: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Save a map of NaN and infinities of one tensor: map.svg or map.png.",
            rich_help_panel=CensusPanel.SHOWN,
        ),
    ] = None
    picture: Annotated[
        bool | None,
        typer.Option(
            "--picture/--no-picture",
            help="Show where NaN and infinities are (default: in a table, if there are some).",
            show_default=False,
            rich_help_panel=CensusPanel.SHOWN,
        ),
    ] = None
    json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON.", rich_help_panel=CensusPanel.SHOWN)
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=CensusPanel.SHOWN)] = (
        False
    )
