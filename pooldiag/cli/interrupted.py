"""The evidence folder of a bisection that ended before its time."""

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pooldiag.cli.reports import read_report, report_at
from pooldiag.errors import UsageError
from pooldiag.execute.evidence import FOLDER, folder_name

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
    home = Path.cwd() / FOLDER
    _, _, ending = folder_name(COMMAND, program.name, datetime.now(UTC)).partition("-")
    named = re.compile(rf"[0-9TZ]+-{re.escape(ending)}(-[0-9]+)?")
    folders = [folder for folder in home.glob(f"*-{ending}*") if named.fullmatch(folder.name)]
    for folder in sorted(folders, key=_began, reverse=True):
        if _is_interrupted(folder, program):
            return folder
    raise UsageError(
        f"--resume: {home} has no interrupted bisection of {program.name}", hint="leave it out to begin anew"
    )


def _began(folder: Path) -> tuple[str, int]:
    """Return what folders are in the order of: the time, and the number of those that began in one second."""
    time, number = folder.name.partition("-")[0], folder.name.rpartition("-")[2]
    return time, int(number) if number.isdecimal() else 1


def _is_interrupted(folder: Path, program: Path) -> bool:
    """Say whether a report is partial, and of this program; what was killed early has left none."""
    path = report_at(folder)
    if path is None:
        return folder.is_dir()
    with suppress(UsageError):
        report = read_report(path)
        return report.partial and os.path.realpath(report.directory / report.target[0]) == os.path.realpath(program)
    return False
