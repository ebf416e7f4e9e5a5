"""Reports as text: one file a format, and the words that they share."""

from collections.abc import Mapping

from pooldiag.render import json, table
from pooldiag.render._facts import runs_of
from pooldiag.render._page import Page, Renderer, Report
from pooldiag.render._text import shell_line, visible
from pooldiag.render._words import assertions, cases, duration, rate, result, run_line, seconds

RENDERERS: Mapping[str, Renderer] = {"table": table.render, "json": json.render}

__all__ = [
    "RENDERERS",
    "Page",
    "Renderer",
    "Report",
    "assertions",
    "cases",
    "duration",
    "rate",
    "result",
    "run_line",
    "runs_of",
    "seconds",
    "shell_line",
    "visible",
]
