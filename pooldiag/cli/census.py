"""`pooldiag census`: parse, wire, save, print.

What counting needs, and `--help` does not, is imported only where it is used.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.cli.parser import Subcommand, panel_of
from pooldiag.cli.problems import registered, tell
from pooldiag.cli.streams import JSON, complain, form_of, say_report
from pooldiag.config.kinds import DURATION, NAME, SIZE, TEXT, ValueKind, choice
from pooldiag.config.options import Option, options_of, several, single, switch, switch_if_any
from pooldiag.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pooldiag.census.layouts import ByteOrder
    from pooldiag.diagnose.census import CensusSettings, FileCounter
    from pooldiag.model.censuses import CensusReport

PROBLEMS_SHOWN = 20
_PICTURES = (".svg", ".png")
_MOST_ELEMENTS = 2**63
_FILES = "Tensor files, folders with tensor files, or - for standard input."
_ENDS: "tuple[ByteOrder, ...]" = ("little", "big")


def _shape(text: str, option: str) -> tuple[int, ...]:
    """Read `4,8,16`."""
    sizes = [size.strip() for size in text.replace("x", ",").split(",")]
    if not all(size.isascii() and size.isdecimal() and int(size) < _MOST_ELEMENTS for size in sizes):
        raise UsageError(f"{option} {text!r} is no list of sizes", hint="for instance 4,8,16")
    return tuple(map(int, sizes))


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusFlags:
    """What may be typed after `pooldiag census`. None, empty and False: not given."""

    files: tuple[str, ...] = ()
    dtype: str | None = single(TEXT, "Element type of files that do not say it: {types}.", metavar="TYPE")
    shape: tuple[int, ...] | None = single(
        ValueKind(word=_shape, metavar="SIZES"), "Shape of a raw file, the last axis the fastest: 4,8,16."
    )
    offset: int | None = single(SIZE, "Bytes before the first element of a raw file.")
    byte_order: "ByteOrder | None" = single(choice(_ENDS), "Of a raw file (default: little).")
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
    format: str | None = single(NAME, "How the report is printed: {formats}.")
    json: bool = switch("Print the report as JSON: --format json.")
    quiet: bool = switch("No progress.", short="-q")

    @property
    def shows_map(self) -> bool:
        """Whether a map is in the report."""
        return self.form != JSON if self.picture is None else self.picture

    @property
    def form(self) -> str:
        """The format of the report."""
        return form_of(self.format, json=self.json)


_OF_CENSUS = options_of(CensusFlags)

OPTIONS = (
    *panel_of(_OF_CENSUS, "How files are read", "dtype", "shape", "offset", "byte_order", "input_format", "tensor"),
    *panel_of(_OF_CENSUS, "What is asked", "guess", "against", "sha256", "watch", "watch_for"),
    *panel_of(_OF_CENSUS, "What is shown", "save", "picture", "format", "json", "quiet"),
)


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
    if flags.form == JSON or report.files or report.guesses:
        say_report(report, flags.form)
    if interrupted:
        raise KeyboardInterrupt
    if report.problems:  # what could not be read outranks what was found
        return ExitCode.USAGE
    return ExitCode.ESTABLISHED if report.differs or report.first_not_finite is not None else ExitCode.GREEN


def settings_of(flags: CensusFlags) -> "CensusSettings":
    """Read the flags; UsageError for whatever cannot be meant, before any file is read."""
    from pooldiag.census.files import FORMATS  # noqa: PLC0415
    from pooldiag.census.files.format import Declared  # noqa: PLC0415
    from pooldiag.census.layouts import find_layout  # noqa: PLC0415
    from pooldiag.diagnose.census import CensusSettings  # noqa: PLC0415

    _check(flags)
    return CensusSettings(
        files=flags.files,
        declared=Declared(
            layout=None if flags.dtype is None else find_layout(flags.dtype),
            shape=flags.shape,
            offset=flags.offset or 0,
            byte_order=flags.byte_order,
        ),
        format=None if flags.input_format is None else registered(FORMATS, flags.input_format, "--input-format"),
        patterns=flags.tensor,
        sha256=flags.sha256,
        mapped=flags.shows_map or flags.save is not None,
        always_mapped=flags.picture is True or flags.save is not None,
        guess=flags.guess,
        reference=flags.against,
        watched=flags.watch,
        watch_seconds=None if flags.watch_for is None else DURATION.word(flags.watch_for, "--watch-for"),
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
    from pooldiag.execute.interrupts import interruptible  # noqa: PLC0415 - the same
    from pooldiag.render import visible  # noqa: PLC0415 - the same

    def tell_line(line: str) -> None:
        counter.show("")
        complain("" if quiet else f"{visible(line)}\n")

    watch = FolderWatch(folder=folder, counter=counter, tell=tell_line)
    tell_line(f"watching {folder}, where {watch.begin()} files are already; Ctrl-C ends it")
    with interruptible() as interrupts:
        watch.watch(seconds=counter.settings.watch_seconds, pace=time, ended=lambda: interrupts.count)
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
    for one in report.problems[:PROBLEMS_SHOWN]:
        tell(UsageError(one.problem, hint=one.hint))
    if (more := len(report.problems) - PROBLEMS_SHOWN) > 0:
        complain(f"pooldiag: {more} more problems; --json tells them all\n")


def _progress(*, quiet: bool) -> Callable[[str], object]:
    """Return what shows on one line of a terminal what is being counted; an empty text clears it."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return lambda _: None
    from pooldiag.render import visible  # noqa: PLC0415

    def show(text: str) -> None:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80  # a terminal that does not say it
        complain(f"\r\x1b[K{visible(text, unicode=False)[: columns - 1]}")

    return show


COMMAND = Subcommand(
    flags=CensusFlags,
    work=census,
    options=OPTIONS,
    arguments=(Option(_FILES, name="files", metavar="FILE...", kind=TEXT, many=True),),
)
