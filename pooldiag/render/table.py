"""The report for people: the answer and what to do first, then what carries it, then the commands to type."""

from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.reports import AttributeReport
from pooldiag.render._attribute_table import AttributeSheet
from pooldiag.render._bisect_table import BisectSheet
from pooldiag.render._orders_table import OrdersSheet
from pooldiag.render._page import Page
from pooldiag.render._renderer import RunReport


def render(report: RunReport, page: Page) -> str:
    """Return the report as a terminal of the page's width shows it."""
    match report:
        case AttributeReport():
            return AttributeSheet(page=page, report=report).render()
        case BisectReport():
            return BisectSheet(page=page, report=report).render()
        case OrdersReport():
            return OrdersSheet(page=page, report=report).render()
