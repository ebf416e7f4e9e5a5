"""Runs to be made, under way and finished, in this diagnosis or an interrupted one before it: none is made twice."""

import hashlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError
from pooldiag.model.arms import Arm
from pooldiag.model.cases import Case, Order, Selection
from pooldiag.model.outcomes import Outcome, Silence, SilenceKind
from pooldiag.model.runs import Completed, Ending, Stream
from pooldiag.model.settings import AttributeSettings

# So often one and the same run may end with pooldiag until that is the run's own doing; chosen: twice may be by hand.
_MOST_LOSSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """One run to be made: an arm, what it selects (one process each), and the order.

    Once the report has said how `until` ended, the run is ended. `outputs_due` is False for a selection that is
    not known to write the declared outputs. `line` is typed into the user's shell instead of the arm and the selection,
    with the words for the report behind it; `OUT` in it stands for the run's output folder.
    """

    arm: Arm
    selections: tuple[Selection | None, ...]
    order: Order
    until: Case | None = None
    outputs_due: bool = True
    line: str | None = None


OUT = "@OUT@"
"""Stands for an output folder until a line is whole: no shell quotes it."""

RunKey = tuple[str, int]
"""Where a finished run is found again: what was run, and how often that was asked for before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBegun:
    """A run under way, in its folder. `beside`: others go on at the same time. `state`: where it keeps its state."""

    plan: RunPlan
    key: RunKey
    run: str
    folder: Path
    state: Path
    beside: bool = False


class RunMemory:
    """Knows each run by what was run, and by how often that was asked for before."""

    def __init__(
        self, settings: AttributeSettings, tools: Tools, *, fingerprint: tuple[str, ...], side_by_side: bool
    ) -> None:
        """Take what makes two runs the same; `side_by_side`: of several runs any may have taken the machine down."""
        self._tools = tools
        self._memo = tools.ports.memo
        self._side_by_side = side_by_side
        self._same = (
            fingerprint,
            (settings.target.path, settings.target.arguments, settings.target.directory, tools.framework.name),
            (tools.facts.removed, tools.facts.surroundings, settings.before, settings.outputs),
            (settings.timeout_seconds, settings.printed_census),
        )
        self._asked_before: Counter[str] = Counter()
        self.recalled: set[str] = set()  # runs that an earlier, interrupted diagnosis finished

    def key(self, plan: RunPlan) -> RunKey:
        """Name what is run, and count how often it was asked for before."""
        facts = repr((*self._same, plan)).encode("utf-8", "surrogateescape")
        what = hashlib.sha256(facts, usedforsecurity=False).hexdigest()
        self._asked_before[what] += 1
        return what, self._asked_before[what] - 1

    def recall(self, plan: RunPlan, key: RunKey) -> Outcome | None:
        """Return the outcome of a run that is finished, or that must not be begun again."""
        outcome = self._memo.recall(*key)
        if outcome is not None:
            self.recalled.add(outcome.run)
            return outcome
        gone = self._memo.lost(*key)
        machine = bool(gone) and self._memo.died_with_machine(gone[-1])
        if len(gone) >= _MOST_LOSSES or (machine and len(gone) > self._side_by_side):
            return self._take_for_lost(plan, key, gone)
        return None

    def begin(self, begun: RunBegun) -> None:
        """Mark a run as begun; without space it is not begun, and the executor says why."""
        if self._tools.ports.disk.shortage() is None:
            self._memo.started(begun.run, *begun.key)

    def keep(self, begun: RunBegun, outcome: Outcome) -> None:
        """Keep a run, unless it was spoilt by what may be mended since: space, a fixture, a target, a short limit."""
        if all(silence.kind is SilenceKind.NOT_RUN for silence in outcome.silences):
            self._memo.finished(*begun.key, outcome)
        else:
            self.give_up(begun)

    def give_up(self, begun: RunBegun) -> None:
        """Mark a run as made again if it is asked for again; a full disk may have left no room to say so."""
        with suppress(BlockedError):
            self._memo.given_up(begun.run)

    def _take_for_lost(self, plan: RunPlan, key: RunKey, gone: tuple[str, ...]) -> Outcome:
        """Read what a run left that took pooldiag or the machine down: the case that was running did it."""
        ports, framework = self._tools.ports, self._tools.framework
        folder = ports.evidence.path / gone[-1]
        how = "took the machine down" if self._memo.died_with_machine(gone[-1]) else "took pooldiag down"
        reader = framework.reader(plan.selections[0])
        reader.feed(ports.files.read(folder / framework.report_name))
        problem = reader.problem()
        outcome = Outcome(
            run=gone[-1],
            arm=plan.arm,
            selection=plan.selections[0],
            completed=lost(folder, how),
            report=reader.result(),
            found_silent=() if problem is None else (Silence(kind=SilenceKind.UNASKED, text=problem),),
            notes=(f"it {how}, {len(gone)}x",),
        )
        self._memo.finished(*key, outcome)
        return outcome


def lost(folder: Path, how: str | None) -> Completed:
    """Return how a process ended that went down together with what started it."""
    stdout, stderr = (Stream(path=folder / name) for name in ("stdout", "stderr"))
    return Completed(ending=Ending.LOST, stopped_by=how, seconds=0.0, stdout=stdout, stderr=stderr)
