"""What a report format promises."""

from typing import Protocol, TypeAlias

from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.censuses import CensusReport
from pooldiag.model.reports import AttributeReport
from pooldiag.render._page import Page

RunReport: TypeAlias = AttributeReport | BisectReport | OrdersReport
Report: TypeAlias = RunReport | CensusReport


class Renderer(Protocol):
    """One report format."""

    def __call__(self, report: Report, page: Page) -> str:
        """Return the whole report as text that ends with a newline."""
        ...
