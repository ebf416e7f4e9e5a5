"""Runs to be made: what each runs, where it is at work, and how long it may take: as users say, or as runs show."""

from dataclasses import dataclass
from pathlib import Path

from pooldiag.model.arms import Arm, Role
from pooldiag.model.cases import Case, Order, Selection
from pooldiag.model.outcomes import CaseStatus, Outcome, Silence, SilenceKind
from pooldiag.model.runs import Completed, Ending, RunLimits
from pooldiag.model.settings import AttributeSettings

FIRST_TIMEOUT_SECONDS = 30 * 60.0
_SHORTEST_TIMEOUT_SECONDS = 60.0
_TIMEOUT_FACTOR = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """One run to be made: an arm, what it selects (one process each), and the order.

    Once the report has said how `until` ended, the run is ended. `outputs_due` is False for a selection that is
    not known to write the declared outputs.
    """

    arm: Arm
    selections: tuple[Selection | None, ...]
    order: Order
    until: Case | None = None
    outputs_due: bool = True

    @property
    def cases(self) -> int | None:
        """How many cases it selects; None where no framework knows cases."""
        return None if self.selections[0] is None else sum(len(one.cases) for one in self.selections if one)


RunKey = tuple[str, int]
"""Where a finished run is found again: what was run, and how often that was asked for before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBegun:
    """A run under way, in its folder. `beside`: others go on at the same time."""

    plan: RunPlan
    key: RunKey
    run: str
    folder: Path
    beside: bool = False


class TimeLimits:
    """Bounds every process; learns from runs how long the next ones can take."""

    def __init__(self, settings: AttributeSettings) -> None:
        self._settings = settings
        self._longest_green_seconds = 0.0
        self._case_seconds: dict[Case, float] = {}  # the longest pass of each

    def of(self, selection: Selection | None = None) -> RunLimits:
        """Bound the next process: ten times the longest green run, or what its cases took, else half an hour."""
        timeout = self._settings.timeout_seconds
        expected = self._longest_green_seconds or self._seconds_of_cases(selection)
        if timeout is None and expected:
            timeout = max(_SHORTEST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * expected)
        return RunLimits(
            timeout_seconds=FIRST_TIMEOUT_SECONDS if timeout is None else timeout,
            grace_seconds=self._settings.grace_seconds,
        )

    def learn(self, outcome: Outcome) -> None:
        """Remember how long each case took that passed."""
        for result in outcome.report.results:
            if result.status is CaseStatus.PASSED and result.seconds is not None:
                seconds = max(result.seconds, self._case_seconds.get(result.case, 0.0))
                self._case_seconds[result.case] = seconds

    def learn_whole(self, outcome: Outcome) -> None:
        """Learn from a run that came to its end: the limit of the next ones grows from it."""
        self._longest_green_seconds = max(self._longest_green_seconds, outcome.completed.seconds)

    def silence(self, arm: Arm, completed: Completed) -> Silence | None:
        """Say that an arm ran into the limit that grew from faster runs: it may be slow, and need not hang."""
        guessed = self._settings.timeout_seconds is None and self._longest_green_seconds > 0
        if completed.ending is not Ending.TIMED_OUT or arm.role is Role.BASELINE or not guessed:
            return None
        limit = f"{self.of().timeout_seconds:g} s, {_TIMEOUT_FACTOR} x the longest green run or more"
        return Silence(kind=SilenceKind.SLOW, text=f"not done after {limit}: give --timeout if it is slow")

    def _seconds_of_cases(self, selection: Selection | None) -> float:
        """Return how long these cases took where each of them passed; 0 when one of them is not known."""
        cases = () if selection is None else selection.cases
        known = [self._case_seconds[case] for case in cases if case in self._case_seconds]
        return sum(known) if len(known) == len(cases) else 0.0
