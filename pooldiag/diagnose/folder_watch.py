"""`census --watch`: each file of a folder is counted once it is there as a whole."""

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from pooldiag.census.printed_lines import census_line
from pooldiag.census.tensors import place_of
from pooldiag.diagnose.census import CensusInput, FileCounter, natural
from pooldiag.model.censuses import CensusProblem, CountedTensor
from pooldiag.model.counts import PrintedCensus

if TYPE_CHECKING:
    from pooldiag.ports import ContentStamp, Pace

LOOK_SECONDS = 0.2  # between two looks; a file that is the same in both is taken to be whole
_SHOWN_ONE_BY_ONE = 4  # tensors of one file that are reported one by one


@dataclass(slots=True, kw_only=True)
class FolderWatch:
    """A folder that is looked at again and again. What is there at the start counts as old, until it changes.

    A file that changes after it was counted was not whole: it is counted again, and the earlier result is dropped.
    """

    folder: str
    counter: FileCounter
    tell: Callable[[str], object]
    known: "dict[str, ContentStamp]" = field(default_factory=dict)  # counted, passed by, or old
    fresh: "dict[str, ContentStamp]" = field(default_factory=dict)  # seen once
    skipped: set[str] = field(default_factory=set)
    references: dict[str, str | None] = field(default_factory=dict)  # of what was counted
    found_nan: bool = False

    def begin(self) -> int:
        """Take in what is there already; return how many files that is."""
        self.known = self._stamps()
        return len(self.known)

    def watch(self, *, seconds: float | None, pace: "Pace", ended: Callable[[], object]) -> None:
        """Look until the time is over, or `ended` says so; then once more, for what was written last."""
        end = None if seconds is None else pace.monotonic() + seconds
        while not ended() and (end is None or pace.monotonic() < end):
            self._look()
            pace.sleep(LOOK_SECONDS)
        self._look()

    def close(self) -> None:
        """Leave word of what was not counted."""
        if not self.references:
            problem = f"{self.folder}: no tensor file appeared"
            self.counter.problems.append(CensusProblem(path=self.folder, problem=problem))
        if self.skipped:
            note = f"{len(self.skipped)} of the files that appeared hold no tensors, as far as is known"
            self.counter.notes.append(note)
        self.counter.notes += [
            f"{path}: was not written to its end when the watch ended: not counted" for path in self.fresh
        ]

    def _look(self) -> None:
        """Count what has not changed since the last look, and is new since the one before."""
        now = {path: stamp for path, stamp in self._stamps().items() if self.known.get(path) != stamp}
        whole = [path for path, stamp in now.items() if self.fresh.get(path) == stamp and stamp.size_bytes]
        self.fresh = now
        for path in sorted(
            whole, key=lambda path: (now[path].changed_ns, natural(path))
        ):  # in the order of their writing
            self.known[path] = self.fresh.pop(path)
            self._take(path)

    def _stamps(self) -> "dict[str, ContentStamp]":
        names, _ = self.counter.files.below(self.folder)  # a folder that comes and goes is not a problem
        paths = (posixpath.join(self.folder, name) for name in sorted(names, key=natural))
        return {path: stamp for path in paths if (stamp := self.counter.files.stamp_at(path)) is not None}

    def _take(self, path: str) -> None:
        counter = self.counter
        if not counter.holds_tensors(path):
            self.skipped.add(path)
            return
        if path in self.references:
            counter.drop(path, self.references[path])
        before = len(counter.tensors)
        reference = counter.reference_of(path, str(PurePath(path).relative_to(self.folder)))
        self.references[path] = reference
        counter.count(CensusInput(path=path, reference=reference, named=False))
        for line in self._lines(path, counter.tensors[before:]):
            self.tell(line)

    def _lines(self, path: str, tensors: list[CountedTensor]) -> Iterator[str]:
        """Yield what was just counted, and which is the first with a NaN."""
        if len(tensors) <= _SHOWN_ONE_BY_ONE:
            yield from (_line(place_of(path, one.census.tensor), [one]) for one in tensors)
        else:
            yield _line(f"{path}, {len(tensors)} tensors", tensors)
        first = next((one.census for one in tensors if one.census.nan), None)
        if first is not None and not self.found_nan:
            self.found_nan = True
            yield f"the first NaN is in {place_of(path, first.tensor)}"


def _line(name: str, tensors: list[CountedTensor]) -> str:
    counts = [one.census for one in tensors]
    n, nan = sum(each.n for each in counts), sum(each.nan for each in counts)
    inf, zero = sum(each.inf for each in counts), sum(each.zero for each in counts)
    return census_line(PrintedCensus(name=name, n=n, nan=nan, inf=inf, zero=zero))
