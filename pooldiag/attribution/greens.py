"""What a green is worth: how many runs it takes, and whether anything was asserted in them."""

from collections.abc import Collection

from pooldiag.model.outcomes import CaseStatus, Outcome
from pooldiag.model.settings import BASELINE_RUNS

MOST_GREENS = 30
"""Of the baseline by itself: a fault that shows in more than 10 % of the runs is excluded then (95 %).

Chosen: what shows more rarely takes hundreds of runs, which is for the user to ask for.
"""

FREE_SECONDS = 1.0
"""Of baseline runs and all that belongs to them (`--before`, counting outputs), together.

Chosen: about what pooldiag itself costs, so that a user hardly notices more runs within it.
"""


def one_more_baseline(greens: int, seconds: float | None, *, repeat: int | None) -> bool:
    """Tell whether one more run of the baseline is wanted, where all that were made, in so many seconds, are green.

    Where it is not known what they cost, there are no more than must be.
    """
    if repeat is not None:
        return greens < repeat
    if seconds is None or greens < BASELINE_RUNS:
        return greens < BASELINE_RUNS
    return greens < MOST_GREENS and seconds < FREE_SECONDS


def asserts_nothing(outcomes: Collection[Outcome]) -> bool:
    """Tell whether these runs made no assertion, and every case that ran in them passed; False where none ran."""
    results = [result for outcome in outcomes for result in outcome.report.results]
    return bool(results) and all(one.status is CaseStatus.PASSED and not one.assertions for one in results)
