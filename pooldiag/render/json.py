"""The report for machines: `report.schema.json` beside this file describes it.

Fields are added, never renamed. The text is ASCII, and none of its strings holds a lone surrogate.
"""

from typing import TYPE_CHECKING

from pooldiag.model.censuses import CensusReport
from pooldiag.render._documents import Writer, written
from pooldiag.render._page import Page

if TYPE_CHECKING:
    from pooldiag.render._renderer import Report


def render(report: "Report") -> str:
    """Return the report as one JSON document. What tells of runs is not imported for a census."""
    if isinstance(report, CensusReport):
        from pooldiag.render import _census_forms  # noqa: PLC0415 - as said above

        return written(Writer(_census_forms.FORMS).document(report))
    from pooldiag.model.arms import ProfilesReport  # noqa: PLC0415 - the same

    if isinstance(report, ProfilesReport):
        from pooldiag.render import _profile_forms  # noqa: PLC0415 - the same

        return written(Writer(_profile_forms.FORMS).document(report))
    from pooldiag.render._run_json import JsonReports  # noqa: PLC0415 - the same

    return JsonReports()(report, Page())
