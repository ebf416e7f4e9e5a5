"""`census --watch`: each file of a folder is counted once it is there as a whole."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from pooldiag.census.tensors import place_of
from pooldiag.cli.census_asked import is_typed
from pooldiag.cli.census_counter import Counter
from pooldiag.cli.census_inputs import Input, files_below, is_tensor_file, natural
from pooldiag.cli.census_plan import reference_of
from pooldiag.execute.file_stamps import FileStamp, stamp_at
from pooldiag.model.censuses import CensusProblem, CountedTensor

LOOK_SECONDS = 0.2  # between two looks; a file that is the same in both is taken to be whole
_TOLD = 4  # tensors of one file that are told one by one


class Pace(Protocol):
    """Time for one who looks again and again."""

    def monotonic(self) -> float:
        """Return seconds from any fixed point."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...


class SystemPace:
    """The time of this machine."""

    def monotonic(self) -> float:
        """Return seconds since boot."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)


@dataclass(slots=True, kw_only=True)
class Watch:
    """A folder that is looked at again and again. What is there at the start counts as old, until it changes.

    A file that changes after it was counted was not whole: it is counted again, and the earlier result is dropped.
    """

    folder: str
    counter: Counter
    tell: Callable[[str], object]
    known: dict[str, FileStamp] = field(default_factory=dict)  # counted, passed by, or old
    fresh: dict[str, FileStamp] = field(default_factory=dict)  # seen once
    skipped: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    references: dict[str, str | None] = field(default_factory=dict)  # of what was counted
    found_nan: bool = False

    def begin(self) -> int:
        """Take in what is there already; return how many files that is."""
        self.known = self._stamps()
        return len(self.known)

    def look(self) -> None:
        """Count what has not changed since the last look, and is new since the one before."""
        now = {path: stamp for path, stamp in self._stamps().items() if self.known.get(path) != stamp}
        whole = [path for path, stamp in now.items() if self.fresh.get(path) == stamp and stamp.size_bytes]
        self.fresh = now
        # In the order of their writing.
        for path in sorted(whole, key=lambda path: (now[path].changed_ns, natural(path))):
            self.known[path] = self.fresh.pop(path)
            self._take(path)

    def _stamps(self) -> dict[str, FileStamp]:
        unreadable: list[CensusProblem] = []  # a folder that comes and goes is no problem
        paths = (os.path.join(self.folder, name) for name in files_below(self.folder, unreadable))
        return {path: stamp for path in paths if (stamp := stamp_at(path)) is not None}

    def _take(self, path: str) -> None:
        asked, counter = self.counter.asked, self.counter
        if not is_tensor_file(path, wanted=asked.format, typed=is_typed(asked)):
            self.skipped.add(path)
            return
        if path in self.counted:
            counter.drop(path, self.references.get(path))
        self.counted.add(path)
        before = len(counter.files)
        reference = reference_of(path, os.path.relpath(path, self.folder), asked, counter.here_only)
        self.references[path] = reference
        counter.count(Input(path=path, named=False), reference)
        for line in self._lines(path, counter.files[before:]):
            self.tell(line)

    def _lines(self, path: str, files: list[CountedTensor]) -> Iterator[str]:
        """Yield what was just counted, and which is the first with a NaN."""
        if len(files) <= _TOLD:
            yield from (_line(place_of(path, one.census.tensor), [one]) for one in files)
        else:
            yield _line(f"{path}, {len(files)} tensors", files)
        first = next((one.census for one in files if one.census.nan), None)
        if first is not None and not self.found_nan:
            self.found_nan = True
            yield f"the first NaN is in {place_of(path, first.tensor)}"


def _line(name: str, files: list[CountedTensor]) -> str:
    n, nan, inf, zero = (
        sum(numbers)
        for numbers in zip(*((c.n, c.nan, c.inf, c.zero) for c in (one.census for one in files)), strict=True)
    )
    return f"{name}: n={n} nan={nan} inf={inf} zero={zero}"


def watch(watched: Watch, *, seconds: float | None, pace: Pace, ended: Callable[[], object]) -> None:
    """Look until the time is over, or `ended` says so; then once more, for what was written last."""
    end = None if seconds is None else pace.monotonic() + seconds
    while not ended() and (end is None or pace.monotonic() < end):
        watched.look()
        pace.sleep(LOOK_SECONDS)
    watched.look()
