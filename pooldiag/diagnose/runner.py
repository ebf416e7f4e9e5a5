"""Making runs, one or several at a time: from the plan and what must hold before it to the outcome that is kept."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from pooldiag.attribution.project_paths import seen_from
from pooldiag.attribution.reading import read
from pooldiag.diagnose.processes import Processes, run_process, state_folders_of
from pooldiag.diagnose.run_memory import RunBegun, RunKey, RunMemory, RunPlan
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, PooldiagError
from pooldiag.model.arms import STATE_ROLES, Role
from pooldiag.model.events import RunEnded, RunStarted
from pooldiag.model.outcomes import Outcome, Silence, SilenceKind
from pooldiag.model.reports import Run
from pooldiag.model.runs import Ending, RunRequest
from pooldiag.model.settings import AttributeSettings

_SIGBUS = 7  # what a write to a mapping of a full tmpfs ends with
_NOTHING_TO_BUILD = (b"no work to do", b"nothing to be done", b"up to date")  # ninja; make; make and others
_CHANGED = "the binary or one of its libraries changed between two runs"

_MakeOutcome = Callable[[RunBegun], Outcome]


class RunChecks:
    """Compares the target, its fixtures and its directory with what they were when the diagnosis began."""

    def __init__(self, settings: AttributeSettings, tools: Tools, processes: Processes) -> None:
        """Look at the target and its directory as they are now."""
        self._settings = settings
        self._ports = tools.ports
        self._processes = processes
        self.fingerprint = tools.ports.files.fingerprint()
        tools.ports.files.changes()  # what the first run changes is seen against this

    def prepare(self, run: str) -> None:
        """Check what every run needs, and run the user's own commands; anything but success raises BlockedError."""
        if (problem := self._ports.files.unreadable(self._settings.requires)) is not None:
            raise BlockedError(problem, hint="make it readable: without it a case can skip, which looks like a repair")
        if self._settings.fresh_check:
            folder, words = self._help(f"{run}/fresh-check", self._settings.fresh_check, "--fresh-check")
            if words.strip() and not any(quiet in words for quiet in _NOTHING_TO_BUILD):
                problem = f"--fresh-check {self._settings.fresh_check[0]} finds something to build"
                raise BlockedError(problem, hint=f"build first; its output is in {folder}")
        if self._settings.before:
            self._help(f"{run}/before", self._settings.before, "--before")

    def require_unchanged(self) -> None:
        """Raise BlockedError when the target is not what it was at the first run."""
        if self._ports.files.fingerprint() != self.fingerprint:
            raise BlockedError(_CHANGED, hint="run the command again on the new one")

    def checked(self, outcome: Outcome) -> Outcome:
        """Silence a run after which the target, a fixture or the disk is not what it was before."""
        completed, files = outcome.completed, self._ports.files
        on_full_disk = completed.ending is Ending.SIGNALLED and completed.signal == _SIGBUS
        found = (
            (SilenceKind.CHANGED, _CHANGED if files.fingerprint() != self.fingerprint else None),
            (SilenceKind.CHANGED, files.unreadable(self._settings.requires)),
            (SilenceKind.SPACE, self._ports.disk.full() if on_full_disk else None),
        )
        silences = (Silence(kind=kind, text=text) for kind, text in found if text is not None)
        changed = files.changes()
        notes = (f"changed in the working directory: {', '.join(changed)}",) if changed else ()
        return replace(
            outcome,
            found_silent=(*outcome.found_silent, *silences),
            notes=(*outcome.notes, *notes),
            appeared=files.appeared() if changed else (),
        )

    def _help(self, run: str, argv: tuple[str, ...], option: str) -> tuple[Path, bytes]:
        """Run a command of the user's; return its folder, and what it wrote to stdout, in small letters."""
        folder, limits = self._ports.evidence.run_folder(run), self._processes.limits()
        request = RunRequest(argv=argv, directory=self._settings.target.directory, folder=folder, limits=limits)
        completed = run_process(request, self._ports)
        if completed.ending is not Ending.EXITED or completed.exit_code != 0:
            raise BlockedError(f"{option} {argv[0]} ended with {completed.words}", hint=f"its output is in {folder}")
        return folder, b"\n".join(self._ports.files.lines(completed.stdout)).lower()


class Runner:
    """Makes runs, and takes those that are finished already from the memory."""

    def __init__(self, settings: AttributeSettings, tools: Tools, *, side_by_side: bool = False) -> None:
        """Look at the target as it is now; nothing runs yet. `side_by_side`: several runs may go on at once."""
        self._ports = tools.ports
        self._folders, self._directory = tools.facts.project, settings.target.directory
        self._count = tools.ports.evidence.runs_there()
        self._state_of: str | None = None  # the last run that began with empty folders
        self.processes = Processes(settings, tools)
        self.checks = RunChecks(settings, tools, self.processes)
        self.memory = RunMemory(settings, tools, fingerprint=self.checks.fingerprint, side_by_side=side_by_side)

    def run(self, plan: RunPlan) -> Run:
        """Make one run. Raises BlockedError when it cannot be made at all."""
        (run,) = self.run_all([plan])
        return run

    def run_all(self, plans: Sequence[RunPlan]) -> list[Run]:
        """Make these runs, side by side if the executor can, and read them."""
        runs = []
        for outcome in self.made(plans, self.processes.outcome):
            self.processes.learn(outcome)
            seconds = sum(process.completed.seconds for process in outcome.parts or (outcome,))
            reading = seen_from(read(outcome), self._folders, directory=self._directory)
            runs.append(Run(id=outcome.run, arm=outcome.arm, outcome=outcome, reading=reading, seconds=seconds))
        return runs

    def made(self, plans: Sequence[RunPlan], make: _MakeOutcome) -> list[Outcome]:
        """Return the outcomes of runs: those that are finished from the memory, the others as `make` makes them."""
        keys = [self.memory.key(plan) for plan in plans]
        outcomes = [self.memory.recall(plan, key) for plan, key in zip(plans, keys, strict=True)]
        for outcome in outcomes:
            if outcome is not None and outcome.arm.role is Role.FRESH_STATE:
                self._state_of = outcome.run
        missing = [number for number, outcome in enumerate(outcomes) if outcome is None]
        # What an earlier pooldiag went down with is made alone: nothing else is then to blame.
        suspect = [number for number in missing if self._ports.memo.lost(*keys[number])]
        for batch in (*([number] for number in suspect), [number for number in missing if number not in suspect]):
            together = self._together([(plans[number], keys[number]) for number in batch], make)
            for number, outcome in zip(batch, together, strict=True):
                outcomes[number] = outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def _together(self, wanted: Sequence[tuple[RunPlan, RunKey]], make: _MakeOutcome) -> list[Outcome]:
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
        cases = None if plan.selections[0] is None else sum(len(one.cases) for one in plan.selections if one)
        self._ports.progress.notice(RunStarted(run=run, number=self._count, arm=plan.arm, cases=cases))
        folder = self._ports.evidence.run_folder(run)
        begun = RunBegun(plan=plan, key=key, run=run, folder=folder, state=self._state(plan, run), beside=beside)
        self.checks.prepare(run)
        self.memory.begin(begun)
        return begun

    def _state(self, plan: RunPlan, run: str) -> Path:
        """Return where a run keeps its state: empty folders of its own, or those that the last such run left.

        Of other arms nobody looks there, and nothing is made.
        """
        evidence, role = self._ports.evidence, plan.arm.role
        if role not in STATE_ROLES:
            return evidence.state_folder(run, ())
        if role is Role.FRESH_STATE:
            if self._state_of is not None:
                evidence.drop_state(self._state_of)
            self._state_of = run
        return evidence.state_folder(self._state_of or run, state_folders_of(plan.arm))

    def _in_threads(self, begun: Sequence[RunBegun], make: _MakeOutcome, kept: dict[str, Outcome]) -> None:
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
