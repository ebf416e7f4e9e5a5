"""Running an arm: checks before it, its processes, checks after it, and the outcome; no finished run is made twice."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pooldiag.diagnose.observing import merge, process_notes, read_text, take_outputs, with_lengths
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError, PooldiagError, RunLostError
from pooldiag.model.arms import Arm, Isolation, Role
from pooldiag.model.cases import Case, Order, Selection
from pooldiag.model.events import RunEnded, RunStarted
from pooldiag.model.outcomes import CaseResult, CaseStatus, Outcome
from pooldiag.model.runs import Completed, Ending, Environment, RunLimits, RunRequest, Stream
from pooldiag.model.settings import AttributeSettings

OUTPUT_VARIABLE = "POOLDIAG_OUTPUT_DIR"
OUTPUT_WORD = "{out}"
REPORT = "report.xml"
FIRST_TIMEOUT_SECONDS = 30 * 60.0
_SHORTEST_TIMEOUT_SECONDS = 60.0
_TIMEOUT_FACTOR = 10
_SIGBUS = 7  # what a write to a mapping of a full tmpfs ends with
_NOTHING_TO_BUILD = (b"no work to do", b"nothing to be done", b"up to date")  # ninja; make; make and others
_CHANGED = "the binary or one of its libraries changed between two runs"
_MOST_LOSSES = 3  # so often one and the same run may end with pooldiag until that is the run's own doing


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """One run to be made: an arm, what it selects (one process each), and the order.

    Once the report has told how `until` ended, the run is ended. `outputs_due` is False for a selection that is
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """A run under way: its name, and where the memo finds it again."""

    asked: RunPlan
    run: str
    folder: Path
    key: str
    repeat: int


class Runner:
    """Makes runs; remembers those that it made, how long green ones took, and how much they wrote."""

    def __init__(self, settings: AttributeSettings, tools: Tools, *, side_by_side: bool = False) -> None:
        """Take the settings and the tools; nothing runs yet. `side_by_side`: several runs may go on at once."""
        self._settings = settings
        self._tools = tools
        self._side_by_side = side_by_side
        self._count = tools.evidence.runs_there()
        self._asked_before: dict[str, int] = {}
        self._longest_green_seconds = 0.0
        self._case_seconds: dict[Case, float] = {}  # the longest pass of each
        self._longest_output: dict[str, int] = {}
        self._fingerprint = tools.files.fingerprint()
        self.recalled: set[str] = set()  # runs that an earlier, interrupted diagnosis finished
        tools.files.changes()  # what the first run changes is seen against this

    def run(self, asked: RunPlan) -> Outcome:
        """Make one run. Raises BlockedError when it cannot be made at all."""
        (outcome,) = self.run_all([asked])
        return outcome

    def run_all(self, asked: Sequence[RunPlan]) -> list[Outcome]:
        """Make these runs, side by side if the executor can; take those that are finished already from the memo."""
        keys = [self._key(one) for one in asked]
        outcomes = [self._recall(one, *key) for one, key in zip(asked, keys, strict=True)]
        missing = [number for number, outcome in enumerate(outcomes) if outcome is None]
        # What an earlier pooldiag went down with is made alone: nothing else is then to blame.
        suspect = [number for number in missing if self._tools.memo.lost(*keys[number])]
        for batch in (*([number] for number in suspect), [number for number in missing if number not in suspect]):
            made = self._made_together([(asked[number], *keys[number]) for number in batch])
            for number, outcome in zip(batch, made, strict=True):
                outcomes[number] = outcome
        return [self._learned(outcome) for outcome in outcomes if outcome is not None]

    def run_line(self, line: Callable[[str], str], selection: Selection) -> Outcome:
        """Run a command line that runs a selection in the user's shell; `line` makes it, given the output folder."""
        shown = RunPlan(
            arm=Arm(role=Role.BASELINE, arguments=(line(""),)), selections=(None,), order=self._settings.order
        )
        key, repeat = self._key(shown)
        outcome = self._recall(shown, key, repeat)
        if outcome is not None:
            return outcome
        begun = self._begin(shown, key, repeat)
        try:
            return self._kept(begun, self._line_run(begun, line, self.limits(selection)))
        except PooldiagError:
            self._give_up(begun)
            raise

    def _line_run(self, begun: _Begun, line: Callable[[str], str], limits: RunLimits) -> Outcome:
        out = begun.folder / "out"
        completed = self._execute(
            RunRequest(
                argv=("sh", "-c", line(str(out))),
                directory=self._settings.target.shell_directory,
                folder=begun.folder,
                limits=limits,
            )
        )
        raise_if_interrupted(completed)
        outputs = take_outputs(out, self._settings.outputs, self._tools.files)
        return Outcome(run=begun.run, arm=begun.asked.arm, selection=None, completed=completed, outputs=outputs)

    def green(self, outcome: Outcome) -> None:
        """Learn from a run that read green: the time limit of the next ones grows from it."""
        self._longest_green_seconds = max(self._longest_green_seconds, outcome.completed.seconds)

    def require_unchanged(self) -> None:
        """Raise BlockedError when the target is not what it was at the first run."""
        if self._tools.files.fingerprint() != self._fingerprint:
            raise BlockedError(_CHANGED, hint="run the command again on the new one")

    def limits(self, selection: Selection | None = None) -> RunLimits:
        """Bound the next process: ten times the longest green run, or what its cases took, else half an hour."""
        timeout = self._settings.timeout_seconds
        expected = self._longest_green_seconds or self._seconds_of_cases(selection)
        if timeout is None and expected:
            timeout = max(_SHORTEST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * expected)
        return RunLimits(
            timeout_seconds=FIRST_TIMEOUT_SECONDS if timeout is None else timeout,
            grace_seconds=self._settings.grace_seconds,
        )

    def _seconds_of_cases(self, selection: Selection | None) -> float:
        """Return how long these cases took where each of them passed; 0 when one of them is not known."""
        cases = () if selection is None else selection.cases
        known = [self._case_seconds[case] for case in cases if case in self._case_seconds]
        return sum(known) if len(known) == len(cases) else 0.0

    def _key(self, asked: RunPlan) -> tuple[str, int]:
        """Name what is run, and count how often it was asked for before."""
        target = self._settings.target
        facts = (
            self._fingerprint,
            (target.path, target.arguments, target.directory, self._tools.framework.name),
            (self._tools.removed, self._tools.surroundings, self._settings.before, self._settings.outputs),
            self._settings.timeout_seconds,
            asked,
        )
        key = hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()
        repeat = self._asked_before.get(key, 0)
        self._asked_before[key] = repeat + 1
        return key, repeat

    def _recall(self, asked: RunPlan, key: str, repeat: int) -> Outcome | None:
        """Return the outcome of a run that is finished, or that must not be begun again."""
        outcome = self._tools.memo.recall(key, repeat)
        if outcome is not None:
            self.recalled.add(outcome.run)
            return outcome
        lost = self._tools.memo.lost(key, repeat)
        machine = bool(lost) and self._tools.memo.died_with_machine(lost[-1])
        if len(lost) >= _MOST_LOSSES or (machine and len(lost) > self._side_by_side):
            return self._take_for_lost(asked, key, repeat, lost)
        return None

    def _take_for_lost(self, asked: RunPlan, key: str, repeat: int, lost: tuple[str, ...]) -> Outcome:
        """Read what a run left that took pooldiag or the machine down: the case that was running did it."""
        folder = self._tools.evidence.path / lost[-1]
        how = "took the machine down" if self._tools.memo.died_with_machine(lost[-1]) else "took pooldiag down"
        reader = self._tools.framework.reader(asked.selections[0])
        reader.feed(self._tools.files.read(folder / REPORT))
        outcome = Outcome(
            run=lost[-1],
            arm=asked.arm,
            selection=asked.selections[0],
            completed=_lost(folder, how),
            report=reader.result(),
            no_answer=reader.problem(),
            notes=(f"it {how}, {len(lost)}x",),
        )
        self._tools.memo.finished(key, repeat, outcome)
        return outcome

    def _begin(self, asked: RunPlan, key: str, repeat: int) -> _Begun:
        """Check what every run needs, make its folder, and mark it as begun."""
        self._count += 1
        run = f"{self._count:02d}-{asked.arm.role}"
        self._tools.progress.told(RunStarted(run=run, number=self._count, arm=asked.arm, cases=asked.cases))
        folder = self._tools.evidence.run_folder(run)
        self._prepare(folder)
        if self._tools.disk.shortage() is None:  # else it is not begun: the executor says why
            self._tools.memo.started(run, key, repeat)
        return _Begun(asked=asked, run=run, folder=folder, key=key, repeat=repeat)

    def _made_together(self, wanted: Sequence[tuple[RunPlan, str, int]]) -> list[Outcome]:
        """Make runs side by side; keep each as soon as it is finished, even if another one does not finish."""
        begun: list[_Begun] = []
        kept: dict[str, Outcome] = {}
        try:
            begun += (self._begin(*one) for one in wanted)
            if len(begun) == 1:
                kept[begun[0].run] = self._kept(begun[0], self._made(begun[0], alone=True))
            elif begun:
                self._make_all(begun, kept)
        finally:
            self._give_up(*(one for one in begun if one.run not in kept))
        return [kept[one.run] for one in begun]

    def _make_all(self, begun: Sequence[_Begun], kept: dict[str, Outcome]) -> None:
        with ThreadPoolExecutor(max_workers=len(begun)) as threads:
            futures = {threads.submit(self._made, one, alone=False): one for one in begun}
            for future in as_completed(futures):
                if future.exception() is None:
                    kept[futures[future].run] = self._kept(futures[future], future.result())
        problems = [problem for future in futures if (problem := future.exception()) is not None]
        if problems:
            raise next((one for one in problems if not isinstance(one, PooldiagError)), problems[0])

    def _made(self, begun: _Begun, *, alone: bool) -> Outcome:
        """Run the processes of one run; of several runs at a time each tells which one its cases are of."""
        selections = begun.asked.selections
        parts = [
            self._process(begun, selection, folder, alone=alone)
            for selection, folder in zip(selections, _folders(begun), strict=True)
        ]
        together = begun.asked.arm.isolation is Isolation.TOGETHER
        return parts[0] if together else merge(parts, _union(selections))

    def _kept(self, begun: _Begun, outcome: Outcome) -> Outcome:
        checked = self._checked(outcome)
        if not _voided(checked):
            self._tools.memo.finished(begun.key, begun.repeat, checked)
        else:
            self._give_up(begun)
        self._tools.progress.told(RunEnded(run=begun.run))
        return checked

    def _give_up(self, *begun: _Begun) -> None:
        """Mark runs as made again if they are asked for again; a full disk may have left no room to say so."""
        with suppress(BlockedError):
            for one in begun:
                self._tools.memo.given_up(one.run)

    def _learned(self, outcome: Outcome) -> Outcome:
        """Remember how much was written, and how long each case took."""
        for result in outcome.report.results:
            if result.status is CaseStatus.PASSED and result.seconds is not None:
                seconds = max(result.seconds, self._case_seconds.get(result.case, 0.0))
                self._case_seconds[result.case] = seconds
        for output in outcome.outputs:
            if output.census is not None:
                self._longest_output[output.path] = max(self._longest_output.get(output.path, 0), output.census.n)
        return outcome

    def _prepare(self, folder: Path) -> None:
        self._require_fixtures()
        if self._settings.fresh_check:
            self._helper(folder / "fresh-check", self._settings.fresh_check, "--fresh-check")
        if self._settings.before:
            self._helper(folder / "before", self._settings.before, "--before")

    def _require_fixtures(self) -> None:
        problem = self._tools.files.unreadable(self._settings.requires)
        if problem is not None:
            raise BlockedError(problem, hint="make it readable: without it a case can skip, which looks like a repair")

    def _helper(self, folder: Path, argv: tuple[str, ...], option: str) -> None:
        """Run a command of the user's ahead of the run; anything but success blocks."""
        folder.mkdir(parents=True, exist_ok=True)
        completed = self._tools.executor.execute(
            RunRequest(argv=argv, directory=self._settings.target.directory, folder=folder, limits=self.limits())
        )
        raise_if_interrupted(completed)
        words = b"\n".join(self._tools.files.lines(completed.stdout)).lower()
        if not completed.ended_well:
            raise BlockedError(f"{option} {argv[0]} ended with {completed.words}", hint=f"its output is in {folder}")
        if option == "--fresh-check" and words.strip() and not any(quiet in words for quiet in _NOTHING_TO_BUILD):
            raise BlockedError(
                f"{option} {argv[0]} finds something to build", hint=f"build first; its output is in {folder}"
            )

    def _process(self, begun: _Begun, selection: Selection | None, folder: Path, *, alone: bool) -> Outcome:
        asked, out = begun.asked, folder / "out"
        out.mkdir(parents=True, exist_ok=True)
        for file in self._tools.framework.input_files(selection, asked.order, folder / REPORT):
            self._tools.evidence.put(file.path, file.content)
        reader = self._tools.framework.reader(selection)
        ended: set[Case] = set()

        def on_report(piece: bytes) -> None:
            for event in reader.feed(piece):
                if isinstance(event, CaseResult):
                    ended.add(event.case)
                else:
                    self._tools.progress.told(event if alone else replace(event, run=begun.run))

        request = self._request(asked, selection, folder, on_report)
        completed = self._execute(replace(request, enough=lambda: asked.until in ended))
        raise_if_interrupted(completed)
        text = read_text(completed, self._settings.profile, self._tools.files)
        return Outcome(
            run=begun.run,
            arm=asked.arm,
            selection=selection,
            completed=completed,
            report=reader.result(),
            outputs=with_lengths(take_outputs(out, self._settings.outputs, self._tools.files), self._longest_output),
            outputs_due=asked.outputs_due and asked.arm.isolation is Isolation.TOGETHER,
            printed=tuple(text.printed.values()),
            counters=text.counters,
            banners=frozenset(text.banners),
            text_marks=tuple(text.marks),
            void_marks=(f"the disk was full: {text.no_space}",) if text.no_space else (),
            no_answer=reader.problem() or self._too_slow(asked.arm, completed),
            notes=tuple(process_notes(completed)),
        )

    def _execute(self, request: RunRequest) -> Completed:
        """Execute; when what started the run is killed, make the next ones possible, and hold the lock again."""
        try:
            return self._tools.executor.execute(request)
        except RunLostError:
            self._tools.executor.restore()
            self._tools.lock.retake()
            return _lost(request.folder, None)

    def _too_slow(self, arm: Arm, completed: Completed) -> str | None:
        """Say that an arm ran into the limit that grew from faster runs: it may be slow, and need not hang."""
        guessed = self._settings.timeout_seconds is None and self._longest_green_seconds > 0
        if completed.ending is not Ending.TIMED_OUT or arm.role is Role.BASELINE or not guessed:
            return None
        limit = f"{self.limits().timeout_seconds:g} s"
        return (
            f"not done after {limit}, {_TIMEOUT_FACTOR} x the longest green run or more: give --timeout if it is slow"
        )

    def _request(
        self, asked: RunPlan, selection: Selection | None, folder: Path, on_report: Callable[[bytes], None]
    ) -> RunRequest:
        target, arm, out = self._settings.target, asked.arm, str(folder / "out")
        report = folder / REPORT
        words = self._tools.framework.run_arguments(selection, asked.order, report)
        return RunRequest(
            argv=tuple(word.replace(OUTPUT_WORD, out) for word in (str(target.path), *target.arguments, *arm.arguments))
            + words,
            environment=self.environment(arm, out),
            directory=target.directory,
            folder=folder,
            report=report,
            limits=self.limits(selection),
            on_report=on_report,
        )

    def environment(self, arm: Arm, out: str) -> Environment:
        """Return what an arm changes in the inherited environment, its output folder included."""
        removed = Environment(unset=tuple(name for name, _ in self._tools.removed))
        own = Environment(
            set=tuple((name, value.replace(OUTPUT_WORD, out)) for name, value in arm.environment.set),
            unset=arm.environment.unset,
        )
        return removed.merged(own).merged(Environment(set=((OUTPUT_VARIABLE, out),)))

    def _checked(self, outcome: Outcome) -> Outcome:
        """Void a run after which the target, a fixture or the disk is not what it was before."""
        marks = list(outcome.void_marks)
        fingerprint = self._tools.files.fingerprint()
        if fingerprint != self._fingerprint:
            marks.append(_CHANGED)
        if (problem := self._tools.files.unreadable(self._settings.requires)) is not None:
            marks.append(problem)
        if outcome.completed.ending is Ending.SIGNALLED and outcome.completed.signal == _SIGBUS:
            marks.extend(filter(None, [self._tools.disk.full()]))
        changed = self._tools.files.changes()
        notes = (f"changed in the working directory: {', '.join(changed)}",) if changed else ()
        return replace(outcome, void_marks=tuple(marks), notes=(*outcome.notes, *notes))


def _folders(begun: _Begun) -> list[Path]:
    """Return a folder for each process of a run: its own, or one below it where it has several."""
    count = len(begun.asked.selections)
    return [begun.folder] if count == 1 else [begun.folder / f"{number:03d}" for number in range(1, count + 1)]


def _union(selections: tuple[Selection | None, ...]) -> Selection:
    return Selection(cases=tuple(case for one in selections if one for case in one.cases))


def _lost(folder: Path, how: str | None) -> Completed:
    return Completed(
        ending=Ending.LOST,
        stopped_by=how,
        seconds=0.0,
        stdout=Stream(path=folder / "stdout"),
        stderr=Stream(path=folder / "stderr"),
    )


def _voided(outcome: Outcome) -> bool:
    """Tell whether a run was spoilt by what may be mended since: space, a fixture, a changed target, a short limit."""
    parts = (outcome, *outcome.parts)
    return any(one.completed.shortage is not None or one.void_marks or one.no_answer for one in parts)


def raise_if_spoilt(outcome: Outcome) -> None:
    """Raise BlockedError for a run that says nothing because of what does not go away: no space, another target."""
    if (reason := outcome.completed.shortage or next(iter(outcome.void_marks), None)) is not None:
        raise BlockedError(reason)


def raise_if_interrupted(completed: Completed) -> None:
    """Raise InterruptedRunError for a process that was ended because the user asked for it."""
    if completed.ending is Ending.INTERRUPTED:
        raise InterruptedRunError("interrupted")
