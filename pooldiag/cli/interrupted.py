"""The evidence folder of a bisection that ended before its time."""

import os
from pathlib import Path

from pooldiag.cli.reports import read_report, report_at
from pooldiag.errors import UsageError
from pooldiag.execute.evidence import FOLDER, unfinished

COMMAND = "bisect"


def bisection_at(folder: Path) -> Path:
    """Return a folder that the user names; UsageError when no bisection left it."""
    if not folder.is_dir():
        raise UsageError(f"--resume-from {folder}: no such folder", hint="name the evidence folder of a bisection")
    report = report_at(folder)
    if report is not None and read_report(report).command != COMMAND:
        raise UsageError(f"--resume-from {folder}: not of a bisection", hint="name the evidence folder of a bisection")
    return Path.cwd() / folder


def last_interrupted(program: Path) -> Path:
    """Return the newest folder that a bisection of this program left unfinished; UsageError when there is none."""
    found = unfinished(
        Path.cwd(), command=COMMAND, target=program.name, accepted=lambda folder: _may_be_of(folder, program)
    )
    if found is None:
        raise UsageError(
            f"--resume: {Path.cwd() / FOLDER} has no interrupted bisection of {program.name}",
            hint="leave it out to begin anew",
        )
    return found


def _may_be_of(folder: Path, program: Path) -> bool:
    """Tell whether a folder may be of this program, by its report: what was killed early left none, or half of one."""
    path = report_at(folder)
    if path is None:
        return True
    try:
        report = read_report(path)
    except UsageError:
        return True
    return os.path.realpath(report.directory / report.target[0]) == os.path.realpath(program)
