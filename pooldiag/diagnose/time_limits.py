"""How long a process may take: as the user says, or as earlier runs show."""

from pooldiag.model.arms import Arm, Role
from pooldiag.model.cases import Case, Selection
from pooldiag.model.outcomes import CaseStatus, Outcome, Silence, SilenceKind
from pooldiag.model.runs import Completed, Ending, RunLimits
from pooldiag.model.settings import AttributeSettings

FIRST_TIMEOUT_SECONDS = 30 * 60.0
_SHORTEST_TIMEOUT_SECONDS = 60.0
_TIMEOUT_FACTOR = 10


class TimeLimits:
    """Bounds every process; learns from runs how long the next ones can take."""

    def __init__(self, settings: AttributeSettings) -> None:
        """Take the settings; nothing is known yet."""
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
