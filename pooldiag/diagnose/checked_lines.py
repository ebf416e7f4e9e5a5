"""The lines of an answer: each is printed once a run of it has shown what it is said to show, by how the victim was."""

from collections.abc import Iterator
from dataclasses import dataclass

from pooldiag.attribution.questions import Question
from pooldiag.attribution.signatures import ending_signal
from pooldiag.diagnose.commands import shell_line
from pooldiag.diagnose.prober import Places, Prober
from pooldiag.diagnose.processes import HERE
from pooldiag.diagnose.run_memory import OUT
from pooldiag.diagnose.tools import Tools
from pooldiag.model.bisections import CheckedCommand
from pooldiag.model.cases import Selection
from pooldiag.model.readings import Reading, SignatureKind
from pooldiag.model.reports import Run
from pooldiag.model.runs import Ending
from pooldiag.model.settings import AttributeSettings

TRIES = 45
"""Of a line that shows its red at times only; chosen: one that is red in 10 % is missed once in 115 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedLines:
    """Makes the lines of one question, and finds or makes the runs that show what they do."""

    settings: AttributeSettings
    tools: Tools
    prober: Prober
    question: Question

    def showing(self, wanted: Reading, places: Places, *, tries: int = 1) -> CheckedCommand | None:
        """Return the line that runs the cases at these places, the victim last; None when no run of it reads so.

        A run of the search that was made as the line says, beside the words for its report, need not be made again.
        Otherwise the line is typed, `tries` times at most.
        """
        selection = self.prober.selection(places)
        for runs in (self._made(places, selection), self._typed(places, selection, tries)):
            for number, run in enumerate(runs, 1):
                if self.prober.answer(run, self.question) is wanted:
                    return self._checked(selection, run, number)
        return None

    def _made(self, places: Places, selection: Selection) -> Iterator[Run]:
        """Yield the runs of the search that had the words of the line, and came to an end of their own."""
        if self.tools.framework.runs_as_typed(selection):
            made = self.prober.record.made.get(places[:-1], ())
            whole = (run for run in made if run.outcome.completed.ending is not Ending.ENOUGH)
            yield from (run for run in whole if run.outcome.selection == selection)  # places are of one order

    def _typed(self, places: Places, selection: Selection, tries: int) -> Iterator[Run]:
        line = self._line(selection, OUT)
        yield from (self.prober.typed(places, line) for _ in range(tries))

    def _line(self, selection: Selection, out: str) -> str:
        arm, writes = self.settings.arms[0], self.question.signature.kind is SignatureKind.NAN
        return shell_line(self.settings, self.tools, arm, selection, out=out if writes else None)

    def _checked(self, selection: Selection, run: Run, tries: int) -> CheckedCommand:
        completed = run.outcome.completed
        ended = ending_signal(completed) or completed.words
        others = any(found.case not in {None, self.question.signature.case} for found in run.reading.signatures)
        return CheckedCommand(line=self._line(selection, HERE), ended=ended, tries=tries, others_red=others)
