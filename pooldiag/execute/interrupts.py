"""SIGINT, SIGTERM and SIGHUP as a wish that waits until somebody looks at it."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 2  # the first wish ends a run in good order, the second at once; a third one raises where it stands


class Interrupts:
    """How often the user wished to stop, and a descriptor that is readable when a new wish came."""

    def __init__(self) -> None:
        self.count = 0
        self.descriptor, self._wakeup = os.pipe()
        for descriptor in (self.descriptor, self._wakeup):
            os.set_blocking(descriptor, False)

    def note(self, _number: int, _frame: FrameType | None) -> None:
        """Count a signal (a signal handler)."""
        self.count += 1
        with contextlib.suppress(OSError):
            os.write(self._wakeup, b"!")
        if self.count > _PATIENCE:
            raise KeyboardInterrupt

    def drain(self) -> None:
        """Make the descriptor unreadable until the next wish."""
        with contextlib.suppress(OSError):
            os.read(self.descriptor, 4096)

    def close(self) -> None:
        """Give both descriptors back."""
        os.close(self.descriptor)
        os.close(self._wakeup)


@contextmanager
def interruptible() -> Iterator[Interrupts]:
    """Turn SIGINT, SIGTERM and SIGHUP into wishes; a SIGHUP that nohup made ignored stays so.

    Outside the main thread, where Python takes no signals, there are never any.
    """
    interrupts = Interrupts()
    taken = SIGNALS if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.getsignal(number) for number in taken}
    if before.get(signal.SIGHUP) is signal.SIG_IGN:
        del before[signal.SIGHUP]
    for number in before:
        signal.signal(number, interrupts.note)
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        interrupts.close()
