"""Command lines for the reader, each run as it stands before it is printed: it must show what it is said to show."""

from dataclasses import dataclass
from functools import partial

from pooldiag.attribution.signatures import ending_signal
from pooldiag.diagnose.commands import shell_line
from pooldiag.diagnose.observations import take_outputs
from pooldiag.diagnose.processes import HERE, raise_if_lasting, run_or_lose
from pooldiag.diagnose.run_memory import RunBegun, RunPlan
from pooldiag.diagnose.runner import Runner
from pooldiag.diagnose.tools import Tools
from pooldiag.model.arms import Arm, Role
from pooldiag.model.bisections import CheckedCommand
from pooldiag.model.cases import Selection
from pooldiag.model.outcomes import Outcome
from pooldiag.model.readings import Signature, SignatureKind
from pooldiag.model.runs import Ending, RunRequest
from pooldiag.model.settings import AttributeSettings

_TRIES = 20  # of a line that shows its red at times only


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedLines:
    """Makes the lines of one red and tries them."""

    settings: AttributeSettings
    tools: Tools
    runner: Runner
    signature: Signature

    def red(self, selection: Selection, *, noisy: bool) -> CheckedCommand | None:
        """Return the line that shows the red, once it has shown it; tried again only where runs disagree."""
        for number in range(1, (_TRIES if noisy else 1) + 1):
            outcome = self._typed(selection)
            if _is_red(outcome, self.signature):
                return self._checked(selection, outcome, number)
        return None

    def green(self, selection: Selection) -> CheckedCommand | None:
        """Return the line that shows the victim green, once it has shown it; None when it does not."""
        outcome = self._typed(selection)
        is_green = outcome.completed.ended_well and not _has_nan(outcome)
        return self._checked(selection, outcome, 1) if is_green else None

    def _typed(self, selection: Selection) -> Outcome:
        line = Arm(role=Role.BASELINE, arguments=(self._line(selection, ""),))
        plan = RunPlan(arm=line, selections=(None,), order=self.settings.order)
        (outcome,) = self.runner.made([plan], partial(self._outcome, selection))
        raise_if_lasting(outcome)
        return outcome

    def _outcome(self, selection: Selection, begun: RunBegun) -> Outcome:
        """Type the line into the user's shell."""
        files, out = self.tools.ports.files, begun.folder / "out"
        request = RunRequest(
            argv=("sh", "-c", self._line(selection, str(out))),
            directory=self.settings.target.shell_directory,
            folder=begun.folder,
            limits=self.runner.processes.limits(selection),
        )
        completed = run_or_lose(request, self.tools.ports)
        outputs = take_outputs(out, self.settings.outputs, files)
        return Outcome(run=begun.run, arm=begun.plan.arm, selection=None, completed=completed, outputs=outputs)

    def _line(self, selection: Selection, out: str) -> str:
        arm, writes = self.settings.arms[0], self.signature.kind is SignatureKind.NAN
        return shell_line(self.settings, self.tools, arm, selection, out=out if writes else None)

    def _checked(self, selection: Selection, outcome: Outcome, tries: int) -> CheckedCommand:
        ended = ending_signal(outcome.completed) or outcome.completed.words
        return CheckedCommand(line=self._line(selection, HERE), ended=ended, tries=tries)


def _is_red(outcome: Outcome, signature: Signature) -> bool:
    """Tell whether a line ended as the red does: nobody reads what it reports."""
    completed = outcome.completed
    match signature.kind:
        case SignatureKind.HANG:
            return completed.ending is Ending.TIMED_OUT
        case SignatureKind.CRASH if signature.signal is not None:
            return ending_signal(completed) == signature.signal
        case SignatureKind.CRASH:
            return completed.ending in {Ending.SIGNALLED, Ending.LOST} or _fails(outcome)
        case SignatureKind.NAN:
            return _has_nan(outcome)
        case SignatureKind.FAILURE:
            return _fails(outcome) and ending_signal(completed) is None
        case SignatureKind.COUNT:
            return completed.ending in {Ending.EXITED, Ending.SIGNALLED}  # that is all that an ending can tell of it


def _fails(outcome: Outcome) -> bool:
    return outcome.completed.ending is Ending.EXITED and outcome.completed.exit_code != 0


def _has_nan(outcome: Outcome) -> bool:
    return any(output.census is not None and output.census.nan + output.census.inf for output in outcome.outputs)
