"""Making runs, one or several at a time: from the plan to the outcome that is kept."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from pooldiag.diagnose.processes import Processes
from pooldiag.diagnose.run_checks import RunChecks
from pooldiag.diagnose.run_memory import RunMemory
from pooldiag.diagnose.run_plans import RunBegun, RunKey, RunPlan
from pooldiag.diagnose.time_limits import TimeLimits
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import PooldiagError
from pooldiag.model.events import RunEnded, RunStarted
from pooldiag.model.outcomes import Outcome
from pooldiag.model.settings import AttributeSettings

MakeOutcome = Callable[[RunBegun], Outcome]
"""Makes the processes of a run."""


class Runner:
    """Makes runs, and takes those that are finished already from the memory."""

    def __init__(self, settings: AttributeSettings, tools: Tools, *, side_by_side: bool = False) -> None:
        """Look at the target as it is now; nothing runs yet. `side_by_side`: several runs may go on at once."""
        self._ports = tools.ports
        self._count = tools.ports.evidence.runs_there()
        self.limits = TimeLimits(settings)
        self.checks = RunChecks(settings, tools, self.limits)
        self.memory = RunMemory(settings, tools, fingerprint=self.checks.fingerprint, side_by_side=side_by_side)
        self._processes = Processes(settings, tools, self.limits)

    def run(self, plan: RunPlan) -> Outcome:
        """Make one run. Raises BlockedError when it cannot be made at all."""
        (outcome,) = self.run_all([plan])
        return outcome

    def run_all(self, plans: Sequence[RunPlan]) -> list[Outcome]:
        """Make these runs, side by side if the executor can."""
        outcomes = self.made(plans, self._processes.outcome)
        for outcome in outcomes:
            self.limits.learn(outcome)
            self._processes.learn(outcome)
        return outcomes

    def made(self, plans: Sequence[RunPlan], make: MakeOutcome) -> list[Outcome]:
        """Return the outcomes of runs: those that are finished from the memory, the others as `make` makes them."""
        keys = [self.memory.key(plan) for plan in plans]
        outcomes = [self.memory.recall(plan, key) for plan, key in zip(plans, keys, strict=True)]
        missing = [number for number, outcome in enumerate(outcomes) if outcome is None]
        # What an earlier pooldiag went down with is made alone: nothing else is then to blame.
        suspect = [number for number in missing if self.memory.is_suspect(keys[number])]
        for batch in (*([number] for number in suspect), [number for number in missing if number not in suspect]):
            together = self._together([(plans[number], keys[number]) for number in batch], make)
            for number, outcome in zip(batch, together, strict=True):
                outcomes[number] = outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def _together(self, wanted: Sequence[tuple[RunPlan, RunKey]], make: MakeOutcome) -> list[Outcome]:
        """Make runs side by side; keep each as soon as it is finished, even if another one does not finish."""
        begun: list[RunBegun] = []
        kept: dict[str, Outcome] = {}
        try:
            begun += (self._begin(plan, key, beside=len(wanted) > 1) for plan, key in wanted)
            if len(begun) == 1:
                kept[begun[0].run] = self._kept(begun[0], make(begun[0]))
            elif begun:
                self._in_threads(begun, make, kept)
        finally:
            for one in begun:
                if one.run not in kept:
                    self.memory.give_up(one)
        return [kept[one.run] for one in begun]

    def _begin(self, plan: RunPlan, key: RunKey, *, beside: bool) -> RunBegun:
        """Make the folder of a run, check what every run needs, and mark it as begun."""
        self._count += 1
        run = f"{self._count:02d}-{plan.arm.role}"
        self._ports.progress.notice(RunStarted(run=run, number=self._count, arm=plan.arm, cases=plan.cases))
        begun = RunBegun(plan=plan, key=key, run=run, folder=self._ports.evidence.run_folder(run), beside=beside)
        self.checks.prepare(run)
        self.memory.begin(begun)
        return begun

    def _in_threads(self, begun: Sequence[RunBegun], make: MakeOutcome, kept: dict[str, Outcome]) -> None:
        with ThreadPoolExecutor(max_workers=len(begun)) as threads:
            futures = {threads.submit(make, one): one for one in begun}
            for future in as_completed(futures):
                if future.exception() is None:
                    kept[futures[future].run] = self._kept(futures[future], future.result())
        problems = [problem for future in futures if (problem := future.exception()) is not None]
        if problems:
            raise next((one for one in problems if not isinstance(one, PooldiagError)), problems[0])

    def _kept(self, begun: RunBegun, outcome: Outcome) -> Outcome:
        checked = self.checks.checked(outcome)
        self.memory.keep(begun, checked)
        self._ports.progress.notice(RunEnded(run=begun.run))
        return checked
