"""What other rooms need of this one to tell of runs; a census does without it, and starts in less time."""

from pooldiag.render._bisect_words import best, phase
from pooldiag.render._facts import runs_of
from pooldiag.render._orders_words import red_orders
from pooldiag.render._renderer import Renderer, Report, RunReport
from pooldiag.render._words import assertions, cases, duration, rate, result, run_line, seconds
from pooldiag.render.json import JsonReports

__all__ = [
    "JsonReports",
    "Renderer",
    "Report",
    "RunReport",
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
]
