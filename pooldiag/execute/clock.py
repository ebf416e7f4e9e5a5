"""Time, as the system tells it."""

import time


class SystemClock:
    """The clock of this machine (ports `Clock` and `Pace`)."""

    def monotonic(self) -> float:
        """Return seconds since boot."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)
