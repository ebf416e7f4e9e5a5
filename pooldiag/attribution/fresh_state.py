"""What a run with empty folders cannot answer: models, licences and a user's packages live in these folders, too."""

from collections.abc import Sequence

from pooldiag.model.arms import STATE_ROLES
from pooldiag.model.readings import Sight
from pooldiag.model.reports import Run

# Chosen, as the limit that grows from green runs: ten times may be an arm's own, and kernels of a small suite compile
# again within a minute; longer is a download or a build, with which another program ran than in the baseline.
MUCH_LONGER = 10
LEAST_SECONDS = 60.0


def no_answer(run: Run, seen: Sight, baseline: Sequence[Run]) -> str | None:
    """Say why a run in folders of its own is no answer; None where it is one, and for other arms."""
    if run.arm.role not in STATE_ROLES:
        return None
    if seen is Sight.NEW_RED:
        return "another red, which is no answer: what the target needs may live in the folders that were empty"
    usual = max((one.seconds for one in baseline), default=run.seconds)
    if seen is not Sight.NOTHING and run.seconds > max(LEAST_SECONDS, MUCH_LONGER * usual):
        took = f"{run.seconds:.0f} s, the baseline at most {usual:.3g} s"
        return f"{took}, which is no answer: it may have got anew what lived in the folders that were empty"
    return None
