"""What marks the content of a file: asked often, and never by reading it."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """Size, time of the last change and inode: a file that was written to or replaced has another stamp."""

    size_bytes: int
    changed_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Read the stamp out of what the system says of a file, of whatever kind."""
        return cls(size_bytes=status.st_size, changed_ns=status.st_mtime_ns, inode=status.st_ino)


def stamp_at(file: str | Path | int) -> FileStamp | None:
    """Return the stamp of a regular file, named by path or descriptor; None of anything else."""
    with suppress(OSError):
        status = os.stat(file)
        return FileStamp.of(status) if stat.S_ISREG(status.st_mode) else None
    return None
