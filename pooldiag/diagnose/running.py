"""Running one arm once: checks before it, its processes, checks after it, and the outcome."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pooldiag.diagnose.observing import merge, process_notes, read_text, take_outputs, with_lengths
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError
from pooldiag.model.arms import Arm, Isolation, Role
from pooldiag.model.cases import Selection
from pooldiag.model.events import CaseStarted, RunStarted
from pooldiag.model.outcomes import Outcome, OutputFile
from pooldiag.model.runs import Completed, Ending, Environment, Limits, RunRequest
from pooldiag.model.settings import AttributeSettings

OUTPUT_VARIABLE = "POOLDIAG_OUTPUT_DIR"
OUTPUT_WORD = "{out}"
FIRST_TIMEOUT_SECONDS = 30 * 60.0
_SHORTEST_TIMEOUT_SECONDS = 60.0
_TIMEOUT_FACTOR = 10
_SIGBUS = 7  # what a write to a mapping of a full tmpfs ends with
_NOTHING_TO_BUILD = (b"no work to do", b"nothing to be done", b"up to date")  # ninja; make; make and others


class Runner:
    """Runs arms, one at a time; remembers how long green runs took and how much they wrote."""

    def __init__(self, settings: AttributeSettings, tools: Tools) -> None:
        """Take the settings and the tools; nothing runs yet."""
        self._settings = settings
        self._tools = tools
        self._count = 0
        self._longest_green_seconds = 0.0
        self._longest_output: dict[str, int] = {}
        self._fingerprint = tools.files.fingerprint()
        tools.files.changes()  # what the first run changes is seen against this

    def run(self, arm: Arm, selections: tuple[Selection | None, ...]) -> Outcome:
        """Run an arm once: one process a selection. Raises BlockedError when it cannot be run at all."""
        self._count += 1
        run = f"{self._count:02d}-{arm.role}"
        cases = None if selections[0] is None else sum(len(one.cases) for one in selections if one)
        self._tools.progress.told(RunStarted(run=run, number=self._count, arm=arm, cases=cases))
        folder = self._tools.evidence.run_folder(run)
        self._prepare(folder)
        parts = [
            self._process(run, arm, selection, folder if len(selections) == 1 else folder / f"{number:03d}")
            for number, selection in enumerate(selections, 1)
        ]
        whole = parts[0] if arm.isolation is Isolation.TOGETHER else merge(parts, _union(selections))
        return self._checked(whole)

    def green(self, outcome: Outcome) -> None:
        """Learn from a run that read green: the time limit of the next ones grows from it."""
        self._longest_green_seconds = max(self._longest_green_seconds, outcome.completed.seconds)

    def limits(self) -> Limits:
        """Bound the next process: ten times the longest green run, or half an hour while there is none."""
        timeout = self._settings.timeout_seconds
        if timeout is None and self._longest_green_seconds:
            timeout = max(_SHORTEST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * self._longest_green_seconds)
        return Limits(
            timeout_seconds=FIRST_TIMEOUT_SECONDS if timeout is None else timeout,
            grace_seconds=self._settings.grace_seconds,
        )

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
        if completed.ending is not Ending.EXITED or completed.exit_code != 0:
            raise BlockedError(f"{option} {argv[0]} ended with {completed.words}", hint=f"its output is in {folder}")
        if option == "--fresh-check" and words.strip() and not any(quiet in words for quiet in _NOTHING_TO_BUILD):
            raise BlockedError(
                f"{option} {argv[0]} finds something to build", hint=f"build first; its output is in {folder}"
            )

    def _process(self, run: str, arm: Arm, selection: Selection | None, folder: Path) -> Outcome:
        out = folder / "out"
        out.mkdir(parents=True, exist_ok=True)
        reader = self._tools.framework.reader(selection)

        def on_report(piece: bytes) -> None:
            for event in reader.feed(piece):
                if isinstance(event, CaseStarted):
                    self._tools.progress.told(event)

        completed = self._tools.executor.execute(self._request(arm, selection, folder, on_report))
        raise_if_interrupted(completed)
        text = read_text(completed, self._settings.profile, self._tools.files)
        return Outcome(
            run=run,
            arm=arm,
            selection=selection,
            completed=completed,
            report=reader.result(),
            outputs=self._lengths(take_outputs(out, self._settings.outputs, self._tools.files)),
            outputs_due=arm.isolation is Isolation.TOGETHER,
            printed=tuple(text.printed.values()),
            counters=text.counters,
            banners=frozenset(text.banners),
            text_marks=tuple(text.marks),
            void_marks=(f"the disk was full: {text.no_space}",) if text.no_space else (),
            no_answer=self._too_slow(arm, completed),
            notes=tuple(process_notes(completed)),
        )

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
        self, arm: Arm, selection: Selection | None, folder: Path, on_report: Callable[[bytes], None]
    ) -> RunRequest:
        target, out = self._settings.target, str(folder / "out")
        report = folder / "report.xml"
        words = self._tools.framework.run_arguments(selection, self._settings.order, report)
        return RunRequest(
            argv=tuple(word.replace(OUTPUT_WORD, out) for word in (str(target.path), *target.arguments, *arm.arguments))
            + words,
            environment=self.environment(arm, out),
            directory=target.directory,
            folder=folder,
            report=report,
            limits=self.limits(),
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

    def _lengths(self, outputs: tuple[OutputFile, ...]) -> tuple[OutputFile, ...]:
        """Compare lengths with earlier runs: an output that another run wrote in full can be short in this one."""
        checked = with_lengths(outputs, self._longest_output)
        for output in outputs:
            if output.census is not None:
                self._longest_output[output.path] = max(self._longest_output.get(output.path, 0), output.census.n)
        return checked

    def _checked(self, outcome: Outcome) -> Outcome:
        """Void a run after which the target, a fixture or the disk is not what it was before."""
        marks = list(outcome.void_marks)
        fingerprint = self._tools.files.fingerprint()
        if fingerprint != self._fingerprint:
            marks.append("the binary or one of its libraries changed between two runs")
        if (problem := self._tools.files.unreadable(self._settings.requires)) is not None:
            marks.append(problem)
        if outcome.completed.ending is Ending.SIGNALLED and outcome.completed.signal == _SIGBUS:
            marks.extend(filter(None, [self._tools.disk.full()]))
        changed = self._tools.files.changes()
        notes = (f"changed in the working directory: {', '.join(changed)}",) if changed else ()
        return replace(outcome, void_marks=tuple(marks), notes=(*outcome.notes, *notes))


def _union(selections: tuple[Selection | None, ...]) -> Selection:
    return Selection(cases=tuple(case for one in selections if one for case in one.cases))


def raise_if_interrupted(completed: Completed) -> None:
    """Raise InterruptedRunError for a process that was ended because the user asked for it."""
    if completed.ending is Ending.INTERRUPTED:
        raise InterruptedRunError("interrupted")
