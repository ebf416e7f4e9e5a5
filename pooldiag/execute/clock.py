"""Time, as the system tells it."""

import time


class SystemClock:
    """The clock of this machine (port `Clock`)."""

    def monotonic(self) -> float:
        """Return seconds since boot."""
        return time.monotonic()
