"""The folder that a diagnosis leaves behind."""

import contextlib
import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Self

from pooldiag.errors import BlockedError

FOLDER = ".pooldiag"
REPORT = "report.json"
JOURNAL = "journal.jsonl"
BALLAST_BYTES = 2 * 2**20  # more than any report needs
_STATE = "state"  # in the folder of a run: what the target keeps there instead of in its home
_NAME_CHARACTERS = 60
_NUMBER = re.compile(r"\d+(?=-)", re.ASCII)  # of a run: `07-bypass`
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class EvidenceFolder(AbstractContextManager["EvidenceFolder"]):
    """One folder `.pooldiag/<time>-<command>-<target>` with the report, and a folder a run (port `Evidence`).

    A ballast file holds blocks that are given up when the disk is full, so that the report is saved all
    the same; leaving the `with` removes it, and what runs kept as their state, unless it was interrupted: what
    goes on from here needs that.
    """

    def __init__(self, parent: Path, *, command: str, target: str, now: datetime | None = None) -> None:
        """Make the folder in `parent/.pooldiag`; raise BlockedError when that cannot be done."""
        from pooldiag.execute.meeting import undisturbed  # noqa: PLC0415 - some milliseconds, only for a run

        home = parent / FOLDER
        name = folder_name(command, target, now or datetime.now(UTC))
        with blocking("cannot make an evidence folder", home):
            home.mkdir(parents=True, exist_ok=True)
            with undisturbed(home):
                with contextlib.suppress(FileExistsError), (home / ".gitignore").open("x", encoding="utf-8") as file:
                    file.write("*\n")
                self.path = _make_new(home, name)
            self._open()

    @classmethod
    def resume(cls, path: Path) -> Self:
        """Open the folder of an interrupted diagnosis; raise BlockedError when nothing can be written there.

        Whoever has its journal open has the folder: open that first.
        """
        folder = cls.__new__(cls)
        folder.path = path
        with blocking("cannot go on in the evidence folder", path):
            cls._open(folder)
        return folder

    def _open(self) -> None:
        self._there = {entry.name for entry in os.scandir(self.path) if entry.is_dir(follow_symlinks=False)}
        self._ballast = self.path / "ballast"
        self.give_up_ballast()  # a killed diagnosis left its own
        with self._ballast.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, BALLAST_BYTES)  # real blocks, unlike a file that was only made longer

    def __exit__(self, kind: object, *_: object) -> None:
        self.give_up_ballast()
        if kind is None:
            for state in self.path.glob(f"*/{_STATE}"):
                shutil.rmtree(state, ignore_errors=True)

    def save(self, text: str, name: str = REPORT) -> Path:
        """Write a file of the folder beside itself, then rename: a reader finds the old one or the new one, whole."""
        path = self.path / name
        with blocking("cannot save", path):
            try:
                _replace(path, text)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                self.give_up_ballast()
                _replace(path, text)
        return path

    def runs_there(self) -> int:
        """Return the number of the last run that an interrupted diagnosis began here; 0 in a new folder.

        Runs that are numbered from there on leave all folders as they are, also those of unfinished runs.
        """
        return max((int(number.group()) for name in self._there if (number := _NUMBER.match(name))), default=0)

    def run_folder(self, run: str) -> Path:
        """Make and return the folder of a run, with an empty `out` in it; a run has one folder, once.

        One of an interrupted diagnosis (its listing, say) is moved aside, so that nothing of it is lost.
        """
        folder = self.path / run
        with blocking("cannot make the folder of a run", folder):
            if folder.name in self._there:
                free = (folder.with_name(f"{folder.name}.before-{number}") for number in count(1))
                folder.rename(next(path for path in free if not path.exists()))
                self._there.remove(folder.name)
            (folder / "out").mkdir(parents=True)
        return folder

    def put(self, path: Path, content: bytes) -> None:
        """Write a file that a run reads, below the folder of that run."""
        with blocking("cannot write", path):
            path.write_bytes(content)

    def state_folder(self, run: str, folders: Iterable[str]) -> Path:
        """Return the folder in which a run keeps its state, with these folders in it; what is there stays."""
        state = self.path / run / _STATE
        with blocking("cannot make the folder of a run", state):
            for folder in folders:
                (state / folder).mkdir(parents=True, exist_ok=True)
        return state

    def drop_state(self, run: str) -> None:
        """Remove what a run left there."""
        shutil.rmtree(self.path / run / _STATE, ignore_errors=True)

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
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{command}-{_plain(target)}"


def unfinished(
    parent: Path, *, command: str, target: str, accepted: Callable[[Path], bool] = lambda _: True
) -> Path | None:
    """Find the folder of the last accepted diagnosis of this kind that has a journal and no whole report, if any."""
    pattern = re.compile(rf"(?P<first>\d{{8}}T\d{{6}}Z-{command}-{re.escape(_plain(target))})(-(?P<number>\d+))?")
    home, names = parent / FOLDER, set[str]()
    with blocking("cannot look for an interrupted diagnosis", home), contextlib.suppress(FileNotFoundError):
        names.update(os.listdir(home))
    found = [match for name in names if (match := pattern.fullmatch(name))]
    # `a-2` is the second diagnosis of `a` in one second, or one of `a-2`.
    own = [match for match in found if match["number"] is None or match["first"] in names]
    newest_first = sorted(own, key=lambda match: (match["first"], int(match["number"] or 1)), reverse=True)
    folders = (home / match[0] for match in newest_first)
    return next((folder for folder in folders if _is_unfinished(folder) and accepted(folder)), None)


def _plain(target: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", target)[:_NAME_CHARACTERS].strip("._") or "target"


def _is_unfinished(folder: Path) -> bool:
    """Tell whether there is something to continue: a journal, and a report that is partial, absent or damaged."""
    if not (folder / JOURNAL).is_file():
        return False
    try:
        report = json.loads((folder / REPORT).read_bytes())
    except (OSError, ValueError, RecursionError):
        return True
    return not isinstance(report, dict) or report.get("partial") is not False


def _make_new(home: Path, name: str) -> Path:
    """Make a folder that was not there: two diagnoses that start in the same second get one each."""
    for number in count(1):
        path = home / (name if number == 1 else f"{name}-{number}")
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            return path
    raise AssertionError  # count() has no end


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(text, encoding="utf-8", errors="surrogateescape")
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


@contextmanager
def blocking(what: str, path: Path) -> Iterator[None]:
    """Raise BlockedError, which names what cannot be done and where, for what the system refuses."""
    try:
        yield
    except OSError as error:
        where = "free some space there" if error.errno in _FULL else "run in a folder that you may write to"
        raise BlockedError(f"{what}: {path}: {error.strerror}", hint=where) from error
