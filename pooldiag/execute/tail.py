"""A report that is read while a run writes it."""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from pooldiag.execute.local_files import open_regular

PIECE_BYTES = 2**18
PIECES_A_LOOK = 64  # so that a report that grows without end does not keep us from looking at anything else


class Tail(AbstractContextManager["Tail"]):
    """The report of one run, handed on in pieces until it is enough."""

    def __init__(self, path: Path | None, sink: Callable[[bytes], None], enough: Callable[[], bool]) -> None:
        """Take the file, which need not be there yet, who gets the pieces, and who says that it is enough."""
        self.has_enough = False
        self._path = path
        self._sink = sink
        self._enough = enough
        self._descriptor: int | None = None
        self._left_bytes = sys.maxsize

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to look for."""
        return self._path is not None and not self.has_enough

    def end_at(self, size_bytes: int) -> None:
        """Take the report as it is now: what somebody appends later does not belong to it."""
        position = 0 if self._descriptor is None else os.lseek(self._descriptor, 0, os.SEEK_CUR)
        self._left_bytes = max(0, size_bytes - position)

    def read_some(self) -> bool:
        """Hand on what is new, up to a bound and until it is enough; return whether it is."""
        for _ in range(PIECES_A_LOOK):
            if self.has_enough or not self._hand_on():
                break
            self.has_enough = self._enough()
        return self.has_enough

    def read_rest(self) -> None:
        """Hand on everything that is left, also behind what was enough."""
        while self._hand_on():
            pass

    def _hand_on(self) -> bool:
        """Hand on one piece; return whether there was one."""
        if self._descriptor is None and self._path is not None:
            self._descriptor = open_regular(self._path)  # None: it is not there yet
        if self._descriptor is None:
            return False
        piece = os.read(self._descriptor, min(PIECE_BYTES, self._left_bytes))
        self._left_bytes -= len(piece)
        if piece:
            self._sink(piece)
        return bool(piece)
