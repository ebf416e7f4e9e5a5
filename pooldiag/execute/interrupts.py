"""SIGINT, SIGTERM and SIGHUP, kept until somebody looks: a run is ended in good order, not torn."""

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 2  # the first ends a run in good order, the second at once; a third one raises where it stands
_PAUSE_SECONDS = 0.5  # one that raises while `Thread.join` cleans up after the one before has it wait for ever


class Bell:
    """A descriptor that is readable once something happened, for one who waits; rung from anywhere."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def ring(self) -> None:
        """Make the descriptor readable."""
        os.eventfd_write(self.descriptor, 1)

    def drain(self) -> None:
        """Make the descriptor unreadable until the next ring."""
        with contextlib.suppress(BlockingIOError):  # nobody rang
            os.eventfd_read(self.descriptor)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)


class Interrupts:
    """How often the user asked to stop, and bells that ring each time: one for each who waits, in any thread.

    A signal is heard of twice: by the handler, which runs when the main thread comes to it, and by a thread that
    reads what the system wrote at once. A main thread that just began to wait for others comes to nothing.
    """

    def __init__(self) -> None:
        self._handled = 0
        self._read = 0
        self._raised = -math.inf
        self._bells: tuple[Bell, ...] = ()  # replaced, never changed: a signal may come at any moment

    def bell(self) -> Bell:
        """Return a new bell. It lives until `close`: a handler under way could write into whatever came after it."""
        bell = Bell()
        self._bells = (*self._bells, bell)
        return bell

    @property
    def count(self) -> int:
        """How many there were."""
        return max(self._handled, self._read)

    def note(self, _number: int, _frame: FrameType | None) -> None:
        """Count a signal (a signal handler)."""
        self._handled += 1
        self._ring()
        now = time.monotonic()
        if self.count > _PATIENCE and now - self._raised > _PAUSE_SECONDS:
            self._raised = now
            raise KeyboardInterrupt

    def read(self, descriptor: int) -> None:
        """Count the signals whose numbers come from a descriptor, until its end."""
        while numbers := os.read(descriptor, 4096):
            self._read += sum(number in SIGNALS for number in numbers)
            self._ring()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.ring()

    def close(self) -> None:
        """Give all bells back."""
        bells, self._bells = self._bells, ()
        for bell in bells:
            bell.close()


@contextmanager
def interruptible() -> Iterator[Interrupts]:
    """Count SIGINT, SIGTERM and SIGHUP instead of obeying; a SIGHUP that nohup made ignored stays so.

    Outside the main thread, where Python takes no signals, there are never any.
    """
    with closing(Interrupts()) as interrupts, ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            stack.enter_context(_read_elsewhere(interrupts))
            stack.enter_context(_handled(interrupts))
        yield interrupts


@contextmanager
def _handled(interrupts: Interrupts) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    if before[signal.SIGHUP] is signal.SIG_IGN:
        del before[signal.SIGHUP]
    for number in before:
        signal.signal(number, interrupts.note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _read_elsewhere(interrupts: Interrupts) -> Iterator[None]:
    """Have the system write the number of every signal into a pipe, and a thread read it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    thread = threading.Thread(target=interrupts.read, args=(reading,), daemon=True)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        thread.join()
        os.close(reading)
