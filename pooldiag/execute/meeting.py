"""Where two pooldiags may meet: in `.pooldiag`, and in the folder of a diagnosis that was interrupted."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from pooldiag.errors import BlockedError
from pooldiag.execute.holders import holder_words

LOCK = ".lock"
WAIT_SECONDS = 60.0  # what is done there takes milliseconds: who holds it longer has been stopped


@contextmanager
def undisturbed(folder: Path, *, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Keep other pooldiags out while something is made or taken up in a folder.

    The kernel lets go of it with this process, however that ends. Where nothing can be locked, it goes on without a
    lock: no room and no right to write show in what is done next, and some network file systems have no locks. The
    file goes while it is locked: who has it open and waits sees that it has no name any more, and opens the next.
    """
    lock = FileLock(folder / LOCK, fallback_to_soft=False)  # a soft lock is a file, which a killed pooldiag would leave
    try:
        lock.acquire(wait_seconds)
    except Timeout as error:
        who = holder_words(folder / LOCK) or "a process that cannot be seen"
        raise BlockedError(f"{folder / LOCK} is held by {who}", hint="wait until that has ended, or end it") from error
    except OSError:
        pass
    try:
        yield
    finally:
        if lock.is_locked:
            with suppress(OSError):
                os.unlink(folder / LOCK)
        lock.release()
