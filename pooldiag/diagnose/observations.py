"""From a finished process to an outcome: facts are gathered here, and read in `attribution`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.census.files.format import Declared, Tensor
from pooldiag.census.layouts import LAYOUTS
from pooldiag.census.printed_lines import parse_census_line
from pooldiag.diagnose.empty_runs import EmptyRun
from pooldiag.errors import PooldiagError
from pooldiag.model.arms import AllocatorProfile, PoolCounter
from pooldiag.model.cases import Selection
from pooldiag.model.counts import Census, PrintedCensus
from pooldiag.model.outcomes import FrameworkReport, Outcome, OutputFile
from pooldiag.model.runs import Completed
from pooldiag.model.settings import OutputSpec
from pooldiag.ports import Files

if TYPE_CHECKING:
    from pooldiag.census.tensors import TensorList

_IN_FILE = "::"  # between a file and a tensor in it
_WILD = frozenset("*?[")
_NO_SPACE = b"No space left on device"

_ENDING_MARKS = re.compile(
    rb"ERROR: (?:Address|Leak|Memory|Thread|HWAddress)Sanitizer: [^\n]{1,120}"
    rb"|WARNING: (?:Memory|Thread)Sanitizer: [^\n]{1,120}"
    rb"|SUMMARY: \w+Sanitizer: [^\n]{1,160}"
    rb"|runtime error: [^\n]{1,160}"
    rb"|(?:malloc|free|realloc|munmap_chunk|corrupted)[^\n]{0,40}\(\): [^\n]{1,80}"
    rb"|double free or corruption[^\n]{0,40}"
    rb"|\*\*\* stack smashing detected \*\*\*"
    rb"|terminate called [^\n]{1,120}"
    rb"|Assertion `[^\n]{1,160}' failed"
)
"""What glibc (malloc.c), libstdc++, assert(3) and the sanitizers print before they end a process."""

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\bpid \d+|==\d+==|\bT\d+\b")
_NUMBER = re.compile(rb"[0-9]{1,18}")  # more digits are not a counter
_MARKS_KEPT = 8


@dataclass(slots=True)
class TextFacts:
    """What was found so far; grows line by line."""

    counters: dict[str, int] = field(default_factory=dict)
    printed: dict[str, PrintedCensus] = field(default_factory=dict)
    marks: dict[str, None] = field(default_factory=dict)
    no_space: str | None = None
    banners: set[str] = field(default_factory=set)
    empty: EmptyRun = field(default_factory=EmptyRun)


def scan(
    lines: Iterable[bytes],
    counters: tuple[PoolCounter, ...],
    facts: TextFacts,
    *,
    banners: Iterable[str] = (),
    runners: bool = False,
) -> None:
    """Read the lines of one stream into `facts`.

    A counter printed more than once (by each of several pools) is summed; of two census lines of one name
    the last counts. With `runners` other test runners may have written here.
    """
    patterns = [(counter.name, re.compile(counter.pattern.encode())) for counter in counters]
    awaited = [(banner, re.compile(banner.encode())) for banner in banners]
    for line in lines:
        facts.banners.update(banner for banner, pattern in awaited if pattern.search(line) is not None)
        for name, pattern in patterns:
            if (match := pattern.search(line)) is not None and _NUMBER.fullmatch(match[1] or b""):
                facts.counters[name] = facts.counters.get(name, 0) + int(match[1])
        if b"n=" in line and (census := parse_census_line(line)) is not None:
            facts.printed[census.name] = census
        if len(facts.marks) < _MARKS_KEPT and (mark := _ENDING_MARKS.search(line)) is not None:
            # Without what differs from run to run two equal crashes have one signature.
            facts.marks[_VARYING.sub("…", mark[0].decode(errors="backslashreplace").strip())] = None
        if facts.no_space is None and _NO_SPACE in line:
            facts.no_space = line.decode(errors="backslashreplace").strip()
        if runners:
            facts.empty.see(line)


def read_text(completed: Completed, profile: AllocatorProfile, files: Files, *, runners: bool = False) -> TextFacts:
    """Read what a process wrote to stdout and stderr."""
    facts = TextFacts()
    banners = {arm.banner.pattern for arm in profile.arms if arm.banner is not None}
    for stream in (completed.stdout, completed.stderr):
        scan(files.lines(stream), profile.counters, facts, banners=banners, runners=runners)
    return facts


def process_notes(completed: Completed) -> Iterable[str]:
    """Yield what is odd about a process beside its ending: text that was not kept, processes left behind."""
    for stream, name in ((completed.stdout, "stdout"), (completed.stderr, "stderr")):
        if stream.dropped_bytes:
            yield f"{name}: {stream.dropped_bytes} of {stream.size_bytes} bytes were not kept (the middle)"
    for leftover in completed.leftovers:
        yield f"left process {leftover.pid} behind, which was ended: {leftover.command}"


def take_outputs(folder: Path, specs: Sequence[OutputSpec], files: Files) -> tuple[OutputFile, ...]:
    """Count every declared output below `folder`; a glob that matches nothing is one absent output.

    A tensor that has a name in its file is an output of its own, `file::tensor`.
    """
    found: dict[str, tuple[OutputFile, ...]] = {}
    for spec in specs:
        matches = [path for path in files.matches(folder, spec.glob) if _is_meant(path, spec, files)]
        for path in matches:
            name = path.relative_to(folder).as_posix()
            if name not in found:
                found[name] = tuple(_count(path, name, spec, files))
        if not matches:
            found.setdefault(spec.glob, (OutputFile(path=spec.glob, problem="absent"),))
    return tuple(output for outputs in found.values() for output in outputs)


def _is_meant(path: Path, spec: OutputSpec, files: Files) -> bool:
    """Say whether a glob means a file: `*` without a type leaves those alone that do not say theirs."""
    if spec.dtype is not None or not _WILD.intersection(spec.glob):
        return True
    from pooldiag.census.tensors import is_self_describing  # noqa: PLC0415 - only where there is an output

    try:
        with files.open(path) as file:
            return is_self_describing(file, suffix=path.suffix)
    except OSError:
        return True  # counting it says why it cannot be read


def _count(path: Path, name: str, spec: OutputSpec, files: Files) -> Iterator[OutputFile]:
    from pooldiag.census.tensors import is_self_describing, list_tensors  # noqa: PLC0415 - only where there is an output

    declared = Declared(layout=None if spec.dtype is None else LAYOUTS[spec.dtype])
    problem = "unreadable"
    try:
        with files.open(path) as file:
            problem = "unreadable" if is_self_describing(file, suffix=path.suffix) else "short"
            listing = list_tensors(file, declared, path=name)
            for tensor in listing.tensors:
                yield _count_tensor(listing, tensor)
            if not listing.tensors:
                yield OutputFile(path=name, problem="short", detail="no tensor is in it")
    except PooldiagError as error:
        yield OutputFile(path=name, problem=problem, detail=error.problem)
    except OSError as error:
        yield OutputFile(path=name, problem="unreadable", detail=error.strerror)


def _count_tensor(listing: "TensorList", tensor: Tensor) -> OutputFile:
    from pooldiag.census.tensors import count_tensor, place_of  # noqa: PLC0415 - only where there is an output

    path = place_of(listing.path, tensor.name)
    try:
        return OutputFile(path=path, census=count_tensor(listing, tensor))
    except PooldiagError as error:
        return OutputFile(path=path, problem="unreadable", detail=error.problem)


def with_lengths(outputs: Sequence[OutputFile], longest: dict[str, int]) -> tuple[OutputFile, ...]:
    """Mark an output as short when an earlier run wrote more elements to it; add tensors that its file lacks now."""
    there = {output.path for output in outputs}
    counted = {output.census.path for output in outputs if output.census is not None}
    absent = [path for path in longest if path not in there and path.partition(_IN_FILE)[0] in counted]
    return (
        *(_checked(output, longest.get(output.path, 0)) for output in outputs),
        *(OutputFile(path=path, problem="absent") for path in absent),
    )


def _checked(output: OutputFile, longest: int) -> OutputFile:
    census: Census | None = output.census
    if census is None or census.n >= longest:
        return output
    return OutputFile(path=output.path, problem="short", detail=f"{census.n} of {longest} elements")


def merge(outcomes: Sequence[Outcome], selection: Selection) -> Outcome:
    """Sum the processes of an isolated run into one outcome."""
    worst = next((one for one in outcomes if one.completed.exit_code != 0), outcomes[-1])
    written = {output.path: output for one in outcomes for output in one.outputs if output.census is not None}
    return Outcome(
        run=worst.run,
        arm=worst.arm,
        selection=selection,
        completed=worst.completed,
        report=FrameworkReport.of(result for one in outcomes for result in one.report.results),
        outputs=tuple(written.values()),
        outputs_due=False,
        printed=tuple({line.name: line for one in outcomes for line in one.printed}.values()),
        counters=worst.counters,
        banners=frozenset().union(*(one.banners for one in outcomes)),
        parts=tuple(outcomes),
        notes=tuple(dict.fromkeys(note for one in outcomes for note in one.notes)),
    )
