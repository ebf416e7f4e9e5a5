"""What was run in one diagnosis, in a file that outlives it."""

import contextlib
import fcntl
import json
import os
import threading
import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pooldiag.errors import BlockedError, UsageError
from pooldiag.execute.evidence import JOURNAL, blocking
from pooldiag.execute.holders import holder_words, holders
from pooldiag.execute.machine import boot_id
from pooldiag.execute.meeting import undisturbed
from pooldiag.model.outcomes import Outcome

SCHEMA = "pooldiag.journal/2"  # changes with what a field means: a new field with a default needs no new number
WAIT_SECONDS = 120.0  # more than a supervisor needs to end what runs when its pooldiag was killed
LOOK_SECONDS = 0.05

Entry = dict[str, Any]


class Journal(AbstractContextManager["Journal"]):
    """JSON lines that are only ever added, beside the report (port `Memo`); any thread may ask and add.

    A line that is torn or damaged is passed over: that run is made again. One pooldiag at a time has a
    journal open: an flock on the file itself, which goes with the last process that has `descriptor`.
    """

    def __init__(self, folder: Path, *, wait_seconds: float = WAIT_SECONDS) -> None:
        """Open the journal of an evidence folder, or begin it; wait for what only a dead pooldiag's supervisor keeps.

        Raises BlockedError when another pooldiag has it open or nothing can be written, UsageError when the
        file is not a journal of this version.
        """
        self.path = folder / JOURNAL
        self._adding = threading.Lock()
        self._boot = boot_id()
        self._began: dict[str, tuple[tuple[str, int], str | None]] = {}  # what was asked for, and on which boot
        self._ended: set[str] = set()
        self._places: dict[tuple[str, int], tuple[int, int]] = {}
        with undisturbed(folder), blocking("cannot open the journal", self.path):
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            _try_lock(self.descriptor)  # before another pooldiag can take up what is new here
        try:
            _lock(self.descriptor, self.path, wait_seconds)
            self._read()
            self._done = len(self._places)
            self._add({"is": "opened", "schema": SCHEMA})
            _sync_folders(self.path)
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.descriptor)

    def done(self) -> int:
        """Return how many runs an earlier diagnosis finished."""
        return self._done

    def recall(self, key: str, repeat: int) -> Outcome | None:
        """Return the outcome of a run that was finished, the last one of this key and repeat; None without one."""
        start, length = self._places.get((key, repeat), (0, 0))
        entry = _entry(os.pread(self.descriptor, length, start))
        return None if entry is None else _outcome(entry)

    def lost(self, key: str, repeat: int) -> tuple[str, ...]:
        """Return the ids of the runs of this key and repeat that began and never finished, the oldest first."""
        began = (run for run, (asked, _) in self._began.items() if asked == (key, repeat))
        return tuple(run for run in began if run not in self._ended)

    def died_with_machine(self, run: str) -> bool:
        """Tell whether the machine was started again since a run began."""
        _, boot = self._began.get(run, (None, None))
        return None not in {boot, self._boot} and boot != self._boot

    def started(self, run: str, key: str, repeat: int) -> None:
        """Mark a run as begun, on the disk before it begins."""
        self._add({"is": "began", "run": run, "key": key, "repeat": repeat})

    def given_up(self, run: str) -> None:
        """Mark a run as ended by us, for a reason of our own: it was not lost, and is made again."""
        self._add({"is": "given-up", "run": run})

    def finished(self, key: str, repeat: int, outcome: Outcome) -> None:
        """Keep the outcome of a run: safe from a kill at once, and from the machine's end when the next one begins."""
        import msgspec  # noqa: PLC0415 - some milliseconds, only where something was run

        words = msgspec.to_builtins(outcome, enc_hook=os.fspath)
        self._add({"is": "finished", "run": outcome.run, "key": key, "repeat": repeat, "outcome": words})

    def _add(self, entry: Entry) -> None:
        """Add a line, on the disk before this returns but for outcomes; BlockedError when it finds no room."""
        entry |= {"boot": self._boot, "pid": os.getpid(), "at": datetime.now(UTC).isoformat()}
        line = json.dumps(entry).encode("ascii") + b"\n"
        with self._adding:
            start = self._append(line, sync=entry["is"] != "finished")
            self._take_in(entry, start, len(line))

    def _append(self, line: bytes, *, sync: bool) -> int:
        """Add a line behind the last whole one, or none of it; return where it begins."""
        size = os.fstat(self.descriptor).st_size
        try:
            with blocking("cannot write the journal", self.path):
                torn = size > 0 and os.pread(self.descriptor, 1, size - 1) != b"\n"
                _write(self.descriptor, b"\n" * torn + line)
                if sync:
                    os.fdatasync(self.descriptor)
        except BlockedError:
            with contextlib.suppress(OSError):
                os.ftruncate(self.descriptor, size)
            raise
        return size + torn

    def _read(self) -> None:
        """Read what is there; UsageError unless it is a journal that this version wrote."""
        start, is_ours, is_empty = 0, False, True
        with os.fdopen(os.dup(self.descriptor), "rb") as file:
            for line in file:
                if (entry := _entry(line)) is not None:
                    is_ours |= entry.get("is") == "opened"
                    self._take_in(entry, start, len(line))
                start += len(line)
                is_empty &= not line.endswith(b"\n")
        if not is_ours and not is_empty:
            raise UsageError(f"{self.path} is no journal of pooldiag", hint="begin anew, without --resume")

    def _take_in(self, entry: Entry, start: int, length: int) -> None:
        """Learn from a line what it says, if anything; UsageError when another version wrote it."""
        match entry:
            case {"is": "opened"} if entry.get("schema") != SCHEMA:
                raise UsageError(
                    f"{self.path} was written by another version of pooldiag",
                    hint="begin anew, without --resume, or use that one",
                )
            case {"is": "began", "run": str(run), "key": str(key), "repeat": int(repeat), "boot": str() | None as boot}:
                self._began[run] = (key, repeat), boot
            case {"is": "given-up", "run": str(run)}:
                self._ended.add(run)
            case {"is": "finished", "run": str(run), "key": str(key), "repeat": int(repeat)} if _outcome(entry):
                self._ended.add(run)
                self._places[key, repeat] = (start, length)


def _lock(descriptor: int, path: Path, wait_seconds: float) -> None:
    """Lock the file; wait only for what a killed pooldiag left, which its supervisor is ending."""
    deadline = time.monotonic() + wait_seconds
    while not _try_lock(descriptor):
        words = holder_words(path)
        living = words is not None and any(pid == owner for pid, owner in holders(path).items())
        if living or time.monotonic() >= deadline:
            raise BlockedError(
                f"another pooldiag is at work in {path.parent}: {words or 'its journal is locked'}",
                hint="wait until it has ended, or begin anew, without --resume",
            )
        time.sleep(LOOK_SECONDS)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # some network file systems have no locks: one pooldiag works there as well as elsewhere
    return True


def _sync_folders(path: Path) -> None:
    """Have the names on the disk too: else a machine that dies takes the file along."""
    for folder in (path.parent, path.parent.parent):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _write(descriptor: int, text: bytes) -> None:
    left = memoryview(text)
    while left:
        left = left[os.write(descriptor, left) :]


def _entry(line: bytes) -> Entry | None:
    """Read a line; None when it is none of ours, or torn."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _outcome(entry: Entry) -> Outcome | None:
    """Turn an entry's outcome back; None when it is none, or one of another version."""
    import msgspec  # noqa: PLC0415 - some milliseconds, only where something was run

    try:
        return msgspec.convert(entry.get("outcome"), Outcome, dec_hook=lambda kind, value: kind(value))
    except (msgspec.MsgspecError, RecursionError):
        return None
