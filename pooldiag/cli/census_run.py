"""`census` from flags to exit code."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from pooldiag.census.findings import OTHER_TYPE
from pooldiag.cli.census_asked import Asked, decide
from pooldiag.cli.census_counter import Counter
from pooldiag.cli.census_flags import CensusFlags
from pooldiag.cli.census_plan import Plan, plan
from pooldiag.cli.problems import tell
from pooldiag.cli.streams import JSON, TABLE, complain, say_report
from pooldiag.errors import ExitCode, UsageError
from pooldiag.model.censuses import CensusProblem, CensusReport
from pooldiag.render import visible

PROBLEMS_TOLD = 20


def run_census(flags: CensusFlags) -> ExitCode:
    """Do all of `pooldiag census` and return its exit code."""
    asked = decide(flags)
    planned = plan(asked)
    counter = Counter(asked=asked, progress=_progress(quiet=flags.quiet))
    notes: tuple[str, ...] = ()
    interrupted = False
    try:
        _count(planned, counter)
        if asked.watched is not None:
            notes = tuple(_watch(asked.watched, counter, quiet=flags.quiet))
        counter.check_patterns()
        _save_picture(asked, counter)
    except KeyboardInterrupt:
        interrupted = True
    counter.progress("")
    report = replace(_report(asked, planned, counter), partial=interrupted, notes=notes)
    _tell_problems(report)
    _print(report, as_json=flags.json)
    if interrupted:
        raise KeyboardInterrupt
    return exit_code_of_report(report)


def _count(planned: Plan, counter: Counter) -> None:
    for given, reference in planned.items:
        counter.count(given, reference)
    counter.progress("")


def _watch(folder: str, counter: Counter, *, quiet: bool) -> Iterator[str]:
    """Watch a folder until the user ends it, or the time is over; yield what to know of that."""
    from pooldiag.cli.census_watch import SystemPace, Watch, watch  # noqa: PLC0415 - few watch
    from pooldiag.execute.interrupts import interruptible  # noqa: PLC0415 - the same

    def tell_line(line: str) -> None:
        counter.progress("")
        complain("" if quiet else f"{visible(line)}\n")

    watched = Watch(folder=folder, counter=counter, tell=tell_line)
    tell_line(f"watching {folder}, where {watched.begin()} files are already; Ctrl-C ends it")
    with interruptible() as interrupts:
        watch(watched, seconds=counter.asked.watch_seconds, pace=SystemPace(), ended=lambda: interrupts.count)
    if not watched.counted:
        counter.problems.append(CensusProblem(path=folder, problem=f"{folder}: no tensor file appeared"))
    if watched.skipped:
        yield f"{len(watched.skipped)} of the files that appeared hold no tensors, as far as is known"
    for path in watched.fresh:
        yield f"{path}: was not written to its end when the watch ended: not counted"


def _save_picture(asked: Asked, counter: Counter) -> None:
    """Save the picture of the one tensor that was counted."""
    if asked.save is None:
        return
    path = str(asked.save)
    if len(counter.files) != 1:
        counter.problems.append(
            CensusProblem(
                path=path,
                problem=f"--save {path}: a picture is of one tensor, and {len(counter.files)} were counted",
                hint="name one file, and one tensor in it: --tensor NAME",
            )
        )
        return
    from pooldiag.render import picture_file  # noqa: PLC0415 - few save one

    (one,) = counter.files
    if not one.census.n:
        problem = f"--save {path}: {one.census.path} has no element: there is nothing to draw"
        counter.problems.append(CensusProblem(path=path, problem=problem))
        return
    try:
        asked.save.write_bytes(picture_file(one.census, asked.save.suffix))
    except OSError as error:
        problem = f"--save {path}: cannot be written: {error.strerror}"
        counter.problems.append(CensusProblem(path=path, problem=problem))
    if not asked.shown:
        counter.files = [replace(one, census=replace(one.census, blocks=None))]


def exit_code_of_report(report: CensusReport) -> ExitCode:
    """Return what a report ends with: what could not be read outranks what was found."""
    if report.problems:
        return ExitCode.USAGE
    found = report.differs or any(not one.is_finite for one in report.files)
    return ExitCode.ESTABLISHED if found else ExitCode.GREEN


def _report(asked: Asked, planned: Plan, counter: Counter) -> CensusReport:
    line = _next(asked, counter)
    return CensusReport(
        files=tuple(counter.files),
        problems=(*planned.problems, *counter.problems),
        guesses=tuple(counter.guesses),
        skipped=planned.skipped,
        reference=asked.reference,
        here_only=(*planned.here_only, *counter.here_only),
        there_only=(*planned.there_only, *counter.there_only),
        next=line,
        next_purpose=None if line is None else "to see which type fits",
        watched=asked.watched,
    )


def _next(asked: Asked, counter: Counter) -> str | None:
    """Return the command that finds the type of a raw file that is not of the type it was counted as."""
    for one in counter.files:
        census = one.census
        if census.format == "raw" and census.path != "-" and any(f.rule in OTHER_TYPE for f in census.findings):
            offset = [f"--offset={asked.declared.offset}"] if asked.declared.offset else []
            separator = ["--"] if census.path.startswith("-") else []
            return shlex.join(["pooldiag", "census", "--guess", *offset, *separator, census.path])
    return None


def _tell_problems(report: CensusReport) -> None:
    """Print the problems on stderr, one line each, and their hints."""
    for one in report.problems[:PROBLEMS_TOLD]:
        tell(UsageError(one.problem, hint=one.hint))
    if (more := len(report.problems) - PROBLEMS_TOLD) > 0:
        complain(f"pooldiag: {more} more problems; --json tells them all\n")


def _print(report: CensusReport, *, as_json: bool) -> None:
    if as_json or report.files or report.guesses:
        say_report(report, JSON if as_json else TABLE)


def _progress(*, quiet: bool) -> Callable[[str], object]:
    """Return what tells on one line of a terminal what is being counted; an empty text clears it."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return lambda _: None
    return _tell_progress


def _tell_progress(text: str) -> None:
    complain(f"\r\x1b[K{visible(text, unicode=False)[: _columns() - 1]}")


def _columns() -> int:
    return os.get_terminal_size(sys.stderr.fileno()).columns or 80  # a terminal that does not say it
