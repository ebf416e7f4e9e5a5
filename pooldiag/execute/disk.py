"""Free space and free memory, against their floors.

File systems are asked as the supervisor asks them: psutil counts no inodes, and takes a read-only image for a full one.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from pooldiag.errors import BlockedError
from pooldiag.execute.supervisor import Message, as_name, as_text, free_in, shortage_of
from pooldiag.model.settings import Floors

INODE_FLOOR = 1024
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, never written to

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The folders whose file systems are watched, one a file system, and what must stay free."""

    folders: tuple[Path, ...]
    floors: Floors

    @property
    def message(self) -> Message:
        """The same in the supervisor's words."""
        return {
            "folders": [as_text(folder) for folder in self.folders],
            "bytes": max(self.floors.disk_bytes, 1),  # what a run wrote on a full disk is cut, its report and text too
            "inodes": INODE_FLOOR,
            "memory": self.floors.memory_bytes,
        }

    def shortage_words(self, facts: Message | None) -> str | None:
        """Say in one line what the supervisor found under its floor; None when that is nothing."""
        if facts is None:
            return None
        free = facts["free"]
        if facts["kind"] == "memory":
            return f"free memory is {readable(free)}, under the floor of {readable(self.floors.memory_bytes)}"
        folder = as_name(facts["folder"])
        if facts["kind"] == "inodes":
            return f"{folder} has {free} free inodes, under the floor of {INODE_FLOOR}"
        if free == 0:
            return f"{folder} is full: No space left on device"
        return f"{folder} has {readable(free)} free, under the floor of {readable(self.floors.disk_bytes)}"


class SystemDisk:
    """The disks and the memory that a run uses (port `Disk`)."""

    def __init__(self, *, evidence: Path, target: Path, floors: Floors) -> None:
        """Watch the evidence folder, the target's folder (or the folder of a target file) and TMPDIR."""
        folder = target if target.is_dir() else target.parent
        self._floors = floors
        folders = _one_a_file_system((evidence, folder, _temporary_folder()))
        self.watched = Watched(folders=folders, floors=floors)

    def shortage(self) -> str | None:
        """Say in one line what is under its floor; None when nothing is."""
        return self.watched.shortage_words(shortage_of(self.watched.message, psutil.virtual_memory().available))

    def full(self) -> str | None:
        """Say which watched file system, or which one in memory that can be written to, has nothing left, if any."""
        spaces = _free_bytes((*self.watched.folders, SHARED_MEMORY, *_in_memory()))
        return next((f"{folder} is full" for folder, free in spaces if free == 0), None)

    def free_bytes(self) -> int:
        """Return the free bytes of the watched file system that has the least."""
        return min((free for _, free in _free_bytes(self.watched.folders)), default=0)

    def check_need(self) -> None:
        """Raise BlockedError unless every watched file system has the needed bytes free, and the floor on top."""
        for folder, free in _free_bytes(self.watched.folders):
            if self._floors.need_bytes and free < self._floors.need_bytes + self._floors.disk_bytes:
                raise BlockedError(
                    f"{folder} has {readable(free)} free; needed are {readable(self._floors.need_bytes)}"
                    f" and the floor of {readable(self._floors.disk_bytes)}",
                    hint="free space there, or set TMPDIR to a folder elsewhere"
                    if folder == _temporary_folder()
                    else "free space there",
                )


def _in_memory() -> Iterator[Path]:
    """Yield where memory is mounted as a file system that can be written to."""
    for mounted in psutil.disk_partitions(all=True):
        if mounted.fstype == "tmpfs" and os.access(mounted.mountpoint, os.W_OK):
            yield Path(mounted.mountpoint)


def _free_bytes(folders: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    return ((folder, free) for folder in folders for kind, free in free_in(as_text(folder)) if kind == "bytes")


def readable(size_bytes: int) -> str:
    """Say a size in the largest unit that leaves at least 1: `34.0 GiB`, `512 B`."""
    power = min((max(size_bytes, 1).bit_length() - 1) // 10, len(_UNITS) - 1)
    return f"{size_bytes / 2 ** (10 * power):.1f} {_UNITS[power]}" if power else f"{size_bytes} B"


def _temporary_folder() -> Path:
    """Return where the target's temporary files go (`tempfile` would write a file there to find out)."""
    return Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - nothing is written there


def _one_a_file_system(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Drop folders that are not there, and those on a file system that is already watched."""
    kept: dict[int, Path] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            kept.setdefault(folder.stat().st_dev, folder)
    return tuple(kept.values())
