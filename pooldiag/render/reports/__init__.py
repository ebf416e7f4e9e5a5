"""Reports as blocks: one file a report, which holds its words."""

from typing import TYPE_CHECKING

from pooldiag.model.censuses import CensusReport
from pooldiag.render.blocks import Blocks

if TYPE_CHECKING:
    from pooldiag.render._facts import Report


def blocks_of(report: "Report") -> Blocks:
    """Return what a report says. A census is rendered in less time than what tells of runs takes to import."""
    if isinstance(report, CensusReport):
        from pooldiag.render.reports import census  # noqa: PLC0415 - as said above

        return census.blocks(report)
    from pooldiag.model.arms import ProfilesReport  # noqa: PLC0415 - the same
    from pooldiag.model.bisections import BisectReport, OrdersReport  # noqa: PLC0415 - the same
    from pooldiag.render.reports import attribute, bisect, orders, profiles  # noqa: PLC0415 - the same

    match report:
        case ProfilesReport():
            return profiles.blocks(report)
        case BisectReport():
            return bisect.blocks(report)
        case OrdersReport():
            return orders.blocks(report)
        case _:
            return attribute.blocks(report)
