"""What other rooms need of this one to tell of runs; a census does without it, and starts in less time."""

from pooldiag.render._facts import runs_of
from pooldiag.render._renderer import Report, RunReport
from pooldiag.render._run_json import JsonReports
from pooldiag.render.reports._runs import assertions, cases, duration, rate, result, run_line, seconds
from pooldiag.render.reports.bisect import best, phase
from pooldiag.render.reports.orders import red_orders

__all__ = [
    "JsonReports",
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
