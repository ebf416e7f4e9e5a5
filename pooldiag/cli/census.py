"""`pooldiag census`: parse, wire, save, print.

What counting needs, and `--help` does not, is imported only where it is used.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooldiag.cli.options import taking
from pooldiag.cli.problems import tell
from pooldiag.cli.streams import complain, say
from pooldiag.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pooldiag.census.files.format import TensorFile
    from pooldiag.diagnose.census import CensusSettings, FileCounter
    from pooldiag.model.censuses import CensusReport

PROBLEMS_TOLD = 20
_PICTURES = (".svg", ".png")
_MOST_ELEMENTS = 2**63

_READ = partial(typer.Option, rich_help_panel="How files are read")
_ASKED = partial(typer.Option, rich_help_panel="What is asked")
_SHOWN = partial(typer.Option, rich_help_panel="What is shown")


class ByteOrderName(StrEnum):
    """Which end of an element comes first."""

    LITTLE = "little"
    BIG = "big"


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
        _READ(
            metavar="TYPE",
            help="Element type of files that do not say it: f64 f32 f16 bf16 e4m3fn e4m3fnuz e5m2 e5m2fnuz e8m0 e2m1 "
            "i8 u8 i16 u16 i32 u32 i64 u64 bool.",
        ),
    ] = None
    shape: Annotated[
        str | None, _READ(metavar="SIZES", help="Shape of a raw file, the last axis the fastest: 4,8,16.")
    ] = None
    offset: Annotated[str | None, _READ(metavar="SIZE", help="Bytes before the first element of a raw file.")] = None
    byte_order: Annotated[ByteOrderName | None, _READ(help="Of a raw file (default: little).")] = None
    input_format: Annotated[
        str | None, _READ(metavar="NAME", help="raw, npy, npz, safetensors, gguf or torch; found by itself.")
    ] = None
    tensor: Annotated[
        tuple[str, ...], _READ(metavar="PATTERN", help="Count only these tensors; * and ? as in a shell.")
    ] = ()
    guess: Annotated[bool, _ASKED("--guess", help="Try every element type, and say which one fits and why.")] = False
    against: Annotated[str | None, _ASKED(metavar="REF", help="Compare with a file or folder, element by element.")] = (
        None
    )
    sha256: Annotated[bool, _ASKED("--sha256", help="Hash the elements, too.")] = False
    watch: Annotated[
        str | None, _ASKED(metavar="DIR", help="Count each file that appears in DIR from now on, until Ctrl-C.")
    ] = None
    watch_for: Annotated[str | None, _ASKED(metavar="TIME", help="Watch no longer than that.")] = None
    save: Annotated[
        str | None, _SHOWN(metavar="PATH", help="Save a map of NaN and infinities of one tensor: map.svg or map.png.")
    ] = None
    picture: Annotated[
        bool | None,
        _SHOWN(
            "--picture/--no-picture",
            help="Show where NaN and infinities are (default: in a table, if there are some).",
            show_default=False,
        ),
    ] = None
    json: Annotated[bool, _SHOWN("--json", help="Print the report as JSON.")] = False
    quiet: Annotated[bool, _SHOWN("--quiet", "-q", help="No progress.")] = False

    @property
    def shows_map(self) -> bool:
        """Whether a map is in the report."""
        return not self.json if self.picture is None else self.picture


@taking(CensusFlags)
def census(flags: CensusFlags) -> ExitCode:
    """Count NaN, infinities and zeros in tensor files, name their bit patterns and places, and say what they show.

    Exit code: 0 nothing found; 1 a NaN, an infinity or a difference; 2 a file that cannot be read, or usage.
    """
    from pooldiag.diagnose.census import FileCounter  # noqa: PLC0415 - as said above
    from pooldiag.execute.tensor_files import LocalTensorFiles  # noqa: PLC0415

    settings, picture = settings_of(flags), None if flags.save is None else _picture_path(flags.save)
    counter = FileCounter(settings=settings, files=LocalTensorFiles(), show=_progress(quiet=flags.quiet))
    inputs, interrupted = counter.inputs(), False
    try:
        for given in inputs:
            counter.count(given)
        if settings.watched is not None:
            _watch(settings.watched, counter, quiet=flags.quiet)
        counter.check_patterns()
        if picture is not None:
            _save_picture(picture, counter, kept=flags.shows_map)
    except KeyboardInterrupt:
        interrupted = True
    counter.show("")
    report = replace(counter.report(), partial=interrupted)
    _tell_problems(report)
    _print(report, as_json=flags.json)
    if interrupted:
        raise KeyboardInterrupt
    if report.problems:  # what could not be read outranks what was found
        return ExitCode.USAGE
    return ExitCode.ESTABLISHED if report.differs or report.first_not_finite is not None else ExitCode.GREEN


def settings_of(flags: CensusFlags) -> "CensusSettings":
    """Read the flags; UsageError for whatever cannot be meant, before any file is read."""
    from pooldiag.census.files.format import Declared  # noqa: PLC0415
    from pooldiag.census.layouts import find_layout  # noqa: PLC0415
    from pooldiag.diagnose.census import CensusSettings  # noqa: PLC0415

    _check(flags)
    return CensusSettings(
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
        mapped=flags.shows_map or flags.save is not None,
        always_mapped=flags.picture is True or flags.save is not None,
        guess=flags.guess,
        reference=flags.against,
        watched=flags.watch,
        watch_seconds=None if flags.watch_for is None else _seconds(flags.watch_for),
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
    if flags.watch is not None and (flags.watch == "-" or not Path(flags.watch).is_dir()):
        raise UsageError(f"--watch {flags.watch}: no such folder", hint="make it first")
    if flags.watch is not None and flags.guess:
        raise UsageError("--watch and --guess: a type is guessed of a file that is there", hint="give one of them")
    if flags.files.count("-") > 1:
        raise UsageError("standard input can be read once, and is named twice", hint="name - once")


def _shape(text: str) -> tuple[int, ...]:
    """Read `4,8,16`."""
    sizes = [size.strip() for size in text.replace("x", ",").split(",")]
    if not all(size.isascii() and size.isdecimal() and int(size) < _MOST_ELEMENTS for size in sizes):
        raise UsageError(f"--shape {text!r} is no list of sizes", hint="for instance 4,8,16")
    return tuple(map(int, sizes))


def _offset(text: str) -> int:
    from pooldiag.config import parse_size  # noqa: PLC0415 - most have none

    return parse_size(text, what="--offset")


def _seconds(text: str) -> float:
    from pooldiag.config import parse_duration  # noqa: PLC0415 - most have none

    return parse_duration(text, what="--watch-for")


def _format(name: str) -> "TensorFile":
    from pooldiag.census.files import FORMATS  # noqa: PLC0415

    if name not in FORMATS:
        raise UsageError(f"--input-format {name!r} is not known", hint=f"known: {', '.join(FORMATS)}")
    return FORMATS[name]


def _picture_path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in _PICTURES:
        raise UsageError(f"--save {text}: not a picture that can be made", hint="name a file.svg or a file.png")
    if not path.parent.is_dir():
        raise UsageError(f"--save {text}: no such folder", hint="make it first")
    return path


def _watch(folder: str, counter: "FileCounter", *, quiet: bool) -> None:
    """Watch a folder until the user ends it, or the time is over."""
    from pooldiag.diagnose.folder_watch import FolderWatch  # noqa: PLC0415 - few watch
    from pooldiag.execute.clock import SystemClock  # noqa: PLC0415 - the same
    from pooldiag.execute.interrupts import interruptible  # noqa: PLC0415 - the same
    from pooldiag.render import visible  # noqa: PLC0415 - the same

    def tell_line(line: str) -> None:
        counter.show("")
        complain("" if quiet else f"{visible(line)}\n")

    watch = FolderWatch(folder=folder, counter=counter, tell=tell_line)
    tell_line(f"watching {folder}, where {watch.begin()} files are already; Ctrl-C ends it")
    with interruptible() as interrupts:
        watch.watch(seconds=counter.settings.watch_seconds, pace=SystemClock(), ended=lambda: interrupts.count)
    watch.close()


def _save_picture(path: Path, counter: "FileCounter", *, kept: bool) -> None:
    """Save the map of the one tensor that was counted; it is `kept` in the report, or not."""
    from pooldiag.model.censuses import CensusProblem  # noqa: PLC0415 - few save one
    from pooldiag.render import picture_file  # noqa: PLC0415 - the same

    def refuse(problem: str, hint: str | None = None) -> None:
        counter.problems.append(CensusProblem(path=str(path), problem=f"--save {path}: {problem}", hint=hint))

    if len(counter.tensors) != 1:
        problem = f"a picture is of one tensor, and {len(counter.tensors)} were counted"
        refuse(problem, "name one file, and one tensor in it: --tensor NAME")
        return
    (one,) = counter.tensors
    if not one.census.n:
        refuse(f"{one.census.path} has no element: there is nothing to draw")
        return
    try:
        path.write_bytes(picture_file(one.census, path.suffix))
    except OSError as error:
        refuse(f"cannot be written: {error.strerror}")
    if not kept:
        counter.tensors = [replace(one, census=replace(one.census, blocks=None))]


def _tell_problems(report: "CensusReport") -> None:
    """Print the problems on stderr, one line each, and their hints."""
    for one in report.problems[:PROBLEMS_TOLD]:
        tell(UsageError(one.problem, hint=one.hint))
    if (more := len(report.problems) - PROBLEMS_TOLD) > 0:
        complain(f"pooldiag: {more} more problems; --json tells them all\n")


def _print(report: "CensusReport", *, as_json: bool) -> None:
    from pooldiag.render import Page, render  # noqa: PLC0415

    if as_json:
        say(render(report, form="json", page=Page()))
    elif report.files or report.guesses:
        from pooldiag.cli.pages import page_of_stdout  # noqa: PLC0415 - a machine does not wait for it

        say(render(report, form="table", page=page_of_stdout()))


def _progress(*, quiet: bool) -> Callable[[str], object]:
    """Return what shows on one line of a terminal what is being counted; an empty text clears it."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return lambda _: None
    from pooldiag.render import visible  # noqa: PLC0415

    def show(text: str) -> None:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80  # a terminal that does not say it
        complain(f"\r\x1b[K{visible(text, unicode=False)[: columns - 1]}")

    return show
