"""From a finished process to an outcome: facts are gathered here, and read in `attribution`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pooldiag.census.layouts import LAYOUTS
from pooldiag.diagnose.text import TextFacts, scan
from pooldiag.errors import PooldiagError
from pooldiag.model.arms import AllocatorProfile
from pooldiag.model.cases import Selection
from pooldiag.model.census import Census
from pooldiag.model.outcomes import FrameworkReport, Outcome, OutputFile
from pooldiag.model.runs import Completed
from pooldiag.model.settings import OutputSpec
from pooldiag.ports import Files


def read_text(completed: Completed, profile: AllocatorProfile, files: Files) -> TextFacts:
    """Read what a process wrote to stdout and stderr."""
    facts = TextFacts()
    banners = {arm.banner.pattern for arm in profile.arms if arm.banner is not None}
    for stream in (completed.stdout, completed.stderr):
        scan(files.lines(stream), profile.counters, facts, banners=banners)
    return facts


def process_notes(completed: Completed) -> Iterable[str]:
    """Yield what is odd about a process beside its ending: text that was not kept, processes left behind."""
    for stream, name in ((completed.stdout, "stdout"), (completed.stderr, "stderr")):
        if stream.dropped_bytes:
            yield f"{name}: {stream.dropped_bytes} of {stream.size_bytes} bytes were not kept (the middle)"
    for leftover in completed.leftovers:
        yield f"left process {leftover.pid} behind, which was ended: {leftover.command}"


def take_outputs(folder: Path, specs: Sequence[OutputSpec], files: Files) -> tuple[OutputFile, ...]:
    """Count every declared output below `folder`; a glob that matches nothing is one absent output."""
    found: dict[str, OutputFile] = {}
    for spec in specs:
        matches = files.matches(folder, spec.glob)
        for path in matches:
            name = path.relative_to(folder).as_posix()
            found.setdefault(name, _count(path, name, spec, files))
        if not matches:
            found.setdefault(spec.glob, OutputFile(path=spec.glob, problem="absent"))
    return tuple(found.values())


def _count(path: Path, name: str, spec: OutputSpec, files: Files) -> OutputFile:
    from pooldiag.census.counting import take_census  # noqa: PLC0415 - NumPy, only where there is an output

    try:
        with files.open(path) as file:
            return OutputFile(path=name, census=take_census(file, path=name, layout=LAYOUTS[spec.dtype]))
    except PooldiagError as error:
        return OutputFile(path=name, problem="short", detail=error.problem)
    except OSError as error:
        return OutputFile(path=name, problem="unreadable", detail=error.strerror)


def with_lengths(outputs: Sequence[OutputFile], longest: dict[str, int]) -> tuple[OutputFile, ...]:
    """Mark an output as short when an earlier run wrote more elements to it."""
    return tuple(_checked(output, longest.get(output.path, 0)) for output in outputs)


def _checked(output: OutputFile, longest: int) -> OutputFile:
    census: Census | None = output.census
    if census is None or census.n >= longest:
        return output
    return OutputFile(path=output.path, problem="short", detail=f"{census.n} of {longest} elements")


def merge(outcomes: Sequence[Outcome], selection: Selection) -> Outcome:
    """Sum the processes of an isolated run into one outcome."""
    worst = next((one for one in outcomes if one.completed.exit_code != 0), outcomes[-1])
    reports = [one.report for one in outcomes]
    written = {output.path: output for one in outcomes for output in one.outputs if output.census is not None}
    return Outcome(
        run=worst.run,
        arm=worst.arm,
        selection=selection,
        completed=worst.completed,
        report=FrameworkReport(
            results=tuple(result for report in reports for result in report.results),
            complete=all(report.complete for report in reports),
            assertions_passed=sum(report.assertions_passed for report in reports),
            assertions_failed=sum(report.assertions_failed for report in reports),
        ),
        outputs=tuple(written.values()),
        outputs_due=False,
        printed=tuple({line.name: line for one in outcomes for line in one.printed}.values()),
        counters=worst.counters,
        banners=frozenset().union(*(one.banners for one in outcomes)),
        parts=tuple(outcomes),
        notes=tuple(dict.fromkeys(note for one in outcomes for note in one.notes)),
    )
