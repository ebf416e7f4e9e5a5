"""Reports as text: one file a format, and the words that they share."""

from collections.abc import Mapping

from pooldiag.render import json
from pooldiag.render._bisect_words import best, phase
from pooldiag.render._facts import runs_of
from pooldiag.render._orders_words import red_orders
from pooldiag.render._page import Page, Renderer, Report
from pooldiag.render._text import shell_line, visible
from pooldiag.render._words import assertions, cases, duration, rate, result, run_line, seconds
from pooldiag.render.json import JsonReports


def _table(report: Report, page: Page) -> str:
    """Render a table. Rich is imported only here: a problem told in two lines does not need it."""
    from pooldiag.render import table  # noqa: PLC0415

    return table.render(report, page)


RENDERERS: Mapping[str, Renderer] = {"table": _table, "json": json.render}

__all__ = [
    "RENDERERS",
    "JsonReports",
    "Page",
    "Renderer",
    "Report",
    "assertions",
    "best",
    "cases",
    "duration",
    "phase",
    "rate",
    "red_orders",
    "result",
    "run_line",
    "runs_of",
    "seconds",
    "shell_line",
    "visible",
]
