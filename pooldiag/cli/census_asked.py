"""From flags to what a census is to do: whatever cannot be meant is told before anything is read."""

from dataclasses import dataclass
from pathlib import Path

from pooldiag.census.files import FORMATS
from pooldiag.census.files.base import Declared, TensorFile
from pooldiag.census.layouts import find_layout
from pooldiag.census.tensors import RAW
from pooldiag.cli.census_flags import CensusFlags
from pooldiag.cli.census_inputs import STDIN, is_folder
from pooldiag.errors import UsageError

PICTURES = (".svg", ".png")
_MOST_ELEMENTS = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a census is to do. A map is made if `mapped`, reported if `shown`, and of one color if `always_shown`."""

    files: tuple[str, ...]
    declared: Declared
    format: TensorFile | None
    patterns: tuple[str, ...]
    sha256: bool
    mapped: bool
    shown: bool
    always_shown: bool
    guess: bool
    reference: str | None
    watched: str | None
    watch_seconds: float | None
    save: Path | None


def decide(flags: CensusFlags) -> Asked:
    """Read the flags."""
    _check(flags)
    shown = not flags.json if flags.picture is None else flags.picture
    return Asked(
        files=flags.files,
        declared=Declared(
            layout=None if flags.dtype is None else find_layout(flags.dtype),
            shape=None if flags.shape is None else _shape(flags.shape),
            offset=0 if flags.offset is None else _offset(flags.offset),
            byte_order=None if flags.byte_order is None else ("big" if flags.byte_order == "big" else "little"),
        ),
        format=None if flags.input_format is None else _format(flags.input_format),
        patterns=flags.tensor,
        sha256=flags.sha256,
        mapped=shown or flags.save is not None,
        shown=shown,
        always_shown=flags.picture is True,
        guess=flags.guess,
        reference=flags.against,
        watched=flags.watch,
        watch_seconds=None if flags.watch_for is None else _seconds(flags.watch_for),
        save=None if flags.save is None else _picture_path(flags.save),
    )


def _check(flags: CensusFlags) -> None:
    """Raise UsageError for what is missing, or contradicts itself."""
    if not flags.files and flags.watch is None:
        raise UsageError("no FILE to count", hint="name a tensor file, a folder, or - for standard input")
    if flags.guess and flags.dtype is not None:
        raise UsageError(f"--guess and --dtype {flags.dtype} contradict each other", hint="give one of them")
    if flags.guess and flags.byte_order is not None:
        raise UsageError("--guess finds the byte order, too", hint="leave --byte-order out")
    if flags.watch_for is not None and flags.watch is None:
        raise UsageError(f"--watch-for {flags.watch_for}: there is no --watch", hint="add --watch DIR")
    if flags.watch is not None and not is_folder(flags.watch):
        raise UsageError(f"--watch {flags.watch}: no such folder", hint="make it first")
    if flags.watch is not None and flags.guess:
        raise UsageError("--watch and --guess: a type is guessed of a file that is there", hint="give one of them")
    if flags.files.count(STDIN) > 1:
        raise UsageError("standard input can be read once, and is named twice", hint="name - once")


def _shape(text: str) -> tuple[int, ...]:
    """Read `4,8,16`."""
    sizes = [size.strip() for size in text.replace("x", ",").split(",")]
    if not all(size.isascii() and size.isdecimal() and int(size) < _MOST_ELEMENTS for size in sizes):
        raise UsageError(f"--shape {text!r} is no list of sizes", hint="for instance 4,8,16")
    return tuple(map(int, sizes))


def _offset(text: str) -> int:
    from pooldiag.config.quantities import parse_size  # noqa: PLC0415 - most have none

    return parse_size(text, what="--offset")


def _seconds(text: str) -> float:
    from pooldiag.config.quantities import parse_duration  # noqa: PLC0415 - most have none

    return parse_duration(text, what="--watch-for")


def _format(name: str) -> TensorFile:
    if name not in FORMATS:
        raise UsageError(f"--input-format {name!r} is not known", hint=f"known: {', '.join(FORMATS)}")
    return FORMATS[name]


def _picture_path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in PICTURES:
        raise UsageError(f"--save {text}: not a picture that can be made", hint="name a file.svg or a file.png")
    if not path.parent.is_dir():
        raise UsageError(f"--save {text}: no such folder", hint="make it first")
    return path


def is_typed(asked: Asked) -> bool:
    """Say whether a raw file that nobody named can be counted."""
    return (asked.declared.layout is not None or asked.guess) and asked.format in {None, RAW}
