"""Reports as text: one file a format, and the words that they share.

What tells of runs is imported when it is asked for: a census is counted and told in less time than that takes.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pooldiag.render._page import Page
from pooldiag.render._text import shell_line, visible

if TYPE_CHECKING:
    from pooldiag.model.counts import Census
    from pooldiag.render._of_runs import (
        JsonReports,
        Renderer,
        Report,
        RunReport,
        assertions,
        best,
        cases,
        duration,
        phase,
        rate,
        red_orders,
        result,
        run_line,
        runs_of,
        seconds,
    )


def _json(report: "Report", page: Page) -> str:
    """Render JSON."""
    from pooldiag.model.censuses import CensusReport  # noqa: PLC0415 - as said above

    if isinstance(report, CensusReport):
        from pooldiag.render._census_json import report_document  # noqa: PLC0415 - the same
        from pooldiag.render._json_text import written  # noqa: PLC0415 - the same

        return f"{written(report_document(report))}\n"
    from pooldiag.render import json  # noqa: PLC0415 - the same

    return json.render(report, page)


def _table(report: "Report", page: Page) -> str:
    """Render a table. Rich is imported only here: a problem told in two lines does not need it."""
    from pooldiag.model.censuses import CensusReport  # noqa: PLC0415 - as said above

    if isinstance(report, CensusReport):
        from pooldiag.render._census_table import CensusSheet  # noqa: PLC0415 - the same

        return CensusSheet(page=page, report=report).render()
    from pooldiag.render import table  # noqa: PLC0415 - the same

    return table.render(report, page)


def picture_file(census: "Census", suffix: str) -> bytes:
    """Return where NaN and infinities are in a tensor as a picture: `.svg` or `.png`."""
    from pooldiag.render._picture_files import picture_file as made  # noqa: PLC0415 - few save one

    return made(census, suffix)


RENDERERS: "Mapping[str, Renderer]" = {"table": _table, "json": _json}
"""Each format by the name that `--format` has for it, the one for people first."""


def render(report: "Report", *, form: str, page: Page) -> str:
    """Return a report in a format, as text that ends with a newline; KeyError for a format that is not in RENDERERS."""
    return RENDERERS[form](report, page)


__all__ = [
    "RENDERERS",
    "JsonReports",
    "Page",
    "Renderer",
    "Report",
    "RunReport",
    "assertions",
    "best",
    "cases",
    "duration",
    "phase",
    "picture_file",
    "rate",
    "red_orders",
    "render",
    "result",
    "run_line",
    "runs_of",
    "seconds",
    "shell_line",
    "visible",
]


def __getattr__(name: str) -> object:
    """Import what tells of runs."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pooldiag.render import _of_runs  # noqa: PLC0415 - as said above

    return getattr(_of_runs, name)
