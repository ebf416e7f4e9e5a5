"""Asking real doctest binaries, the way the core does."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pooldiag.frameworks import FRAMEWORKS
from pooldiag.frameworks.base import confirms
from pooldiag.model.cases import Case, Listing, Order, Selection
from pooldiag.model.outcomes import FrameworkReport

DOCTEST = FRAMEWORKS["doctest"]
LIMIT_SECONDS = 60
FILE_ORDER = Order()


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """One target, and the file in which it reports."""

    path: Path
    report: Path

    def start(self, arguments: tuple[str, ...]) -> tuple[bytes, subprocess.CompletedProcess[bytes]]:
        self.report.unlink(missing_ok=True)
        done = subprocess.run(
            [self.path, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False
        )
        return self.report.read_bytes() if self.report.exists() else b"", done

    def listing(self, selection: Selection | None = None, order: Order = FILE_ORDER) -> Listing:
        return DOCTEST.parse_listing(self.start(DOCTEST.list_arguments(selection, order, self.report))[0])

    def run(self, selection: Selection | None, order: Order = FILE_ORDER) -> tuple[FrameworkReport, str]:
        data, done = self.start(DOCTEST.run_arguments(selection, order, self.report))
        reader = DOCTEST.reader(selection)
        reader.feed(data)
        return reader.result(), done.stderr.decode(errors="replace")

    def verified(self, wanted: tuple[Case, ...], order: Order = FILE_ORDER) -> Iterator[Selection]:
        """Yield the selections of the wanted cases that a listing confirms."""
        for selection in DOCTEST.selections(self.listing(order=order), wanted):
            if confirms(self.listing(selection, order), selection):
                yield selection
