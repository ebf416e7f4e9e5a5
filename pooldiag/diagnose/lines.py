"""Command lines for the reader, each run as it stands before it is printed: it must show what it is said to show."""

from collections.abc import Callable
from dataclasses import dataclass

from pooldiag.attribution.signatures import ending_signal
from pooldiag.diagnose.commands import HERE, shell_line
from pooldiag.diagnose.running import Runner
from pooldiag.diagnose.tools import Tools
from pooldiag.model.bisections import CheckedCommand
from pooldiag.model.cases import Selection
from pooldiag.model.outcomes import Outcome
from pooldiag.model.readings import Signature, SignatureKind
from pooldiag.model.runs import Ending
from pooldiag.model.settings import AttributeSettings

_TRIES = 5  # of a line that shows its red at times only


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Makes the lines of one red and tries them."""

    settings: AttributeSettings
    tools: Tools
    runner: Runner
    signature: Signature

    def red(self, selection: Selection) -> CheckedCommand | None:
        """Return the line that shows the red, once it has shown it; None when it does not."""
        return self._tried(selection, lambda outcome: _is_red(outcome, self.signature))

    def green(self, selection: Selection) -> CheckedCommand | None:
        """Return the line that shows the victim green, once it has shown it; None when it does not."""
        return self._tried(selection, _is_green)

    def _tried(self, selection: Selection, shows: Callable[[Outcome], bool]) -> CheckedCommand | None:
        def line(out: str) -> str:
            writes = self.signature.kind is SignatureKind.NAN
            return shell_line(self.settings, self.tools, self.settings.arms[0], selection, out=out if writes else None)

        for _ in range(_TRIES):
            outcome = self.runner.run_line(line)
            if shows(outcome):
                ended = ending_signal(outcome.completed) or outcome.completed.words
                return CheckedCommand(line=line(HERE), ended=ended)
        return None


def _is_red(outcome: Outcome, signature: Signature) -> bool:
    """Tell whether a line ended as the red does: nobody reads what it reports."""
    completed = outcome.completed
    match signature.kind:
        case SignatureKind.HANG:
            return completed.ending is Ending.TIMED_OUT
        case SignatureKind.CRASH if signature.signal is not None:
            return ending_signal(completed) == signature.signal
        case SignatureKind.NAN:
            return any(
                output.census is not None and output.census.nan + output.census.inf for output in outcome.outputs
            )
        case SignatureKind.COUNT:
            return completed.ending is Ending.EXITED
        case _:
            return not (completed.ending is Ending.EXITED and completed.exit_code == 0)


def _is_green(outcome: Outcome) -> bool:
    clean = all(output.census is None or not output.census.nan + output.census.inf for output in outcome.outputs)
    return outcome.completed.ending is Ending.EXITED and outcome.completed.exit_code == 0 and clean
