"""What a renderer is given beside the report, and what it promises."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.reports import AttributeReport

Report: TypeAlias = AttributeReport | BisectReport | OrdersReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where a report will be read: columns, whether color and characters beyond ASCII may be used, and the directory.

    Paths below the `directory` are shown relative to it.
    """

    width: int = 80
    color: bool = False
    unicode: bool = True
    directory: Path | None = None


class Renderer(Protocol):
    """One report format."""

    def __call__(self, report: Report, page: Page) -> str:
        """Return the whole report as text that ends with a newline."""
        ...
