"""What a renderer is given beside the report, and what it promises."""

from dataclasses import dataclass
from typing import Protocol

from pooldiag.model.reports import AttributeReport

Report = AttributeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where a report will be read: columns, and whether color and characters beyond ASCII may be used."""

    width: int = 80
    color: bool = False
    unicode: bool = True


class Renderer(Protocol):
    """One report format."""

    def __call__(self, report: Report, page: Page) -> str:
        """Return the whole report as text that ends with a newline."""
        ...
