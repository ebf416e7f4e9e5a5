"""The folder that a diagnosis leaves behind."""

import contextlib
import errno
import os
import re
import shutil
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from pooldiag.errors import BlockedError

FOLDER = ".pooldiag"
REPORT = "report.json"
BALLAST_BYTES = 2 * 2**20  # more than any report needs
_NAME_CHARACTERS = 60
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class EvidenceFolder:
    """One folder `.pooldiag/<time>-<command>-<target>` with the report, and a folder a run (port `Evidence`).

    A ballast file holds blocks that are given up when the disk is full, so that the report is saved all
    the same; leaving the `with` removes it.
    """

    def __init__(self, parent: Path, *, command: str, target: str, now: datetime | None = None) -> None:
        """Make the folder in `parent/.pooldiag`; raise BlockedError when that cannot be done."""
        home = parent / FOLDER
        name = folder_name(command, target, now or datetime.now(UTC))
        try:
            home.mkdir(parents=True, exist_ok=True)
            _ignore_in_git(home)
            self.path = _make_new(home, name)
            self._ballast = self.path / "ballast"
            _allocate(self._ballast, BALLAST_BYTES)
        except OSError as error:
            _refuse("cannot make an evidence folder", home, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.give_up_ballast()

    def save(self, text: str, name: str = REPORT) -> Path:
        """Write a file of the folder beside itself, then rename: a reader finds the old one or the new one, whole."""
        path = self.path / name
        try:
            try:
                _replace(path, text)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                self.give_up_ballast()
                _replace(path, text)
        except OSError as error:
            _refuse("cannot save", path, error)
        return path

    def run_folder(self, run: str) -> Path:
        """Make and return the folder of a run, with an empty `out` in it; a run has one folder, once."""
        folder = self.path / run
        try:
            (folder / "out").mkdir(parents=True)
        except OSError as error:
            _refuse("cannot make the folder of a run", folder, error)
        return folder

    def drop_outputs(self, run: str) -> None:
        """Empty each `out` of a run that a full disk voided: what it holds says nothing, and the space is needed."""
        folder = self.path / run
        for out in (folder / "out", *folder.glob("*/out")):  # a run of several processes has a folder for each
            shutil.rmtree(out, ignore_errors=True)
            with contextlib.suppress(OSError):
                out.mkdir()

    def give_up_ballast(self) -> None:
        """Give the ballast's blocks back."""
        with contextlib.suppress(OSError):
            self._ballast.unlink()


def folder_name(command: str, target: str, now: datetime) -> str:
    """Name a folder by time, command and target, in characters that need no quotes anywhere."""
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", target)[:_NAME_CHARACTERS].strip("._") or "target"
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{command}-{plain}"


def _ignore_in_git(home: Path) -> None:
    with contextlib.suppress(FileExistsError), (home / ".gitignore").open("x", encoding="utf-8") as file:
        file.write("*\n")


def _make_new(home: Path, name: str) -> Path:
    """Make a folder that was not there: two diagnoses that start in the same second get one each."""
    for number in count(1):
        path = home / (name if number == 1 else f"{name}-{number}")
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            return path
    raise AssertionError  # count() has no end


def _allocate(path: Path, size_bytes: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)  # real blocks, unlike a file that was only made longer
    finally:
        os.close(descriptor)


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(text, encoding="utf-8", errors="surrogateescape")
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def _refuse(what: str, path: Path, error: OSError) -> NoReturn:
    where = "free some space there" if error.errno in _FULL else "run in a folder that you may write to"
    raise BlockedError(f"{what}: {path}: {error.strerror}", hint=where) from error
