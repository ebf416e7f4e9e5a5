"""What a report format promises."""

from typing import Protocol, TypeAlias

from pooldiag.model.arms import ProfilesReport
from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.censuses import CensusReport
from pooldiag.model.reports import AttributeReport
from pooldiag.render._page import Page
from pooldiag.render.blocks import Blocks

RunReport: TypeAlias = AttributeReport | BisectReport | OrdersReport
Report: TypeAlias = RunReport | CensusReport | ProfilesReport


class Renderer(Protocol):
    """One report format."""

    def __call__(self, blocks: Blocks, page: Page) -> str:
        """Return the whole report as text that ends with a newline."""
        ...
