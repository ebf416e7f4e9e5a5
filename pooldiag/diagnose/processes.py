"""The processes of a run, from the request to the outcome, and how long one may take: as users or runs say."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pooldiag.attribution.signatures import ending_signal, signatures
from pooldiag.diagnose.observations import TextFacts, merge, process_notes, read_text, take_outputs, with_lengths
from pooldiag.diagnose.run_memory import OUT, RunBegun, lost
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, InterruptedRunError, RunLostError
from pooldiag.model.arms import OWN_ROLES, STATE_WORD, Arm, Isolation, Role
from pooldiag.model.cases import Case, Selection
from pooldiag.model.outcomes import CaseResult, CaseStatus, Outcome, Silence, SilenceKind
from pooldiag.model.runs import Completed, Ending, Environment, RunLimits, RunRequest
from pooldiag.model.settings import AttributeSettings
from pooldiag.ports import Ports

_OUTPUT_VARIABLE = "POOLDIAG_OUTPUT_DIR"
OUTPUT_WORD = "{out}"
"""Stands for the output folder in words of the user's."""

HERE = "."
"""The output folder of a line for people: where they type it."""

# Chosen. A limit that is too short makes a slow run a hang, one that is too long costs only the time of a real hang.
_FIRST_TIMEOUT_SECONDS = 30 * 60.0  # where no run is known: whole suites take minutes
_SHORTEST_TIMEOUT_SECONDS = 60.0  # ten times a run of milliseconds would not outlast a busy machine
_TIMEOUT_FACTOR = 10  # an arm may be several times slower than the runs that the limit grew from


class Processes:
    """Makes the processes of a run; learns from runs how much they write, and how long the next ones can take."""

    def __init__(self, settings: AttributeSettings, tools: Tools) -> None:
        self._settings = settings
        self._tools = tools
        self._longest_green_seconds = 0.0
        self._case_seconds: dict[Case, float] = {}  # the longest pass of each
        self._longest_output: dict[str, int] = {}

    def outcome(self, begun: RunBegun) -> Outcome:
        """Run the processes of one run, one after the other."""
        selections, parts = begun.plan.selections, []
        if begun.plan.arm.isolation is Isolation.TOGETHER:
            return self._process(begun, selections[0], begun.folder)
        for number, one in enumerate(selections, 1):  # in the run's own folder, or in one below it for each
            below = f"{begun.run}/{number:03d}"
            folder = self._tools.ports.evidence.run_folder(below) if len(selections) > 1 else begun.folder
            parts.append(self._process(begun, one, folder))
        return merge(parts, Selection(cases=tuple(case for one in selections if one for case in one.cases)))

    def limits(self, selection: Selection | None = None) -> RunLimits:
        """Bound the next process: ten times the longest green run, or what its cases took, else half an hour."""
        timeout, cases = self._settings.timeout_seconds, () if selection is None else selection.cases
        known = [self._case_seconds[case] for case in cases if case in self._case_seconds]
        # How long these cases took counts where each of them passed.
        expected = self._longest_green_seconds or (sum(known) if len(known) == len(cases) else 0.0)
        if timeout is None and expected:
            timeout = max(_SHORTEST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * expected)
        timeout = _FIRST_TIMEOUT_SECONDS if timeout is None else timeout
        return RunLimits(timeout_seconds=timeout, grace_seconds=self._settings.grace_seconds)

    def learn(self, outcome: Outcome) -> None:
        """Remember how long each case took that passed, and how much was written."""
        for result in outcome.report.results:
            if result.status is CaseStatus.PASSED and result.seconds is not None:
                self._case_seconds[result.case] = max(result.seconds, self._case_seconds.get(result.case, 0.0))
        for output in outcome.outputs:
            if output.census is not None:
                self._longest_output[output.path] = max(self._longest_output.get(output.path, 0), output.census.n)

    def learn_whole(self, outcome: Outcome) -> None:
        """Learn from a run that came to its end: the limit of the next ones grows from it."""
        self._longest_green_seconds = max(self._longest_green_seconds, outcome.completed.seconds)

    def _process(self, begun: RunBegun, selection: Selection | None, folder: Path) -> Outcome:
        plan, framework, ports = begun.plan, self._tools.framework, self._tools.ports
        report = folder / framework.report_name
        for file in framework.input_files(selection, plan.order, report):
            ports.evidence.put(file.path, file.content)
        reader = framework.reader(selection)
        ended: set[Case] = set()

        def on_report(piece: bytes) -> None:
            for event in reader.feed(piece):
                if isinstance(event, CaseResult):
                    ended.add(event.case)
                else:  # of several runs at a time each says which one its cases are of
                    ports.progress.notice(replace(event, run=begun.run) if begun.beside else event)

        request = replace(
            self._request(begun, selection, report), on_report=on_report, enough=lambda: plan.until in ended
        )
        completed = run_or_lose(request, ports)
        text = read_text(completed, self._settings.profile, ports.files, runners=framework.holds_runners)
        found = take_outputs(folder / "out", self._settings.outputs, ports.files)
        outcome = Outcome(
            run=begun.run,
            arm=plan.arm,
            selection=selection,
            completed=completed,
            report=reader.result(),
            outputs=with_lengths(found, self._longest_output),
            outputs_due=plan.outputs_due and plan.arm.isolation is Isolation.TOGETHER,
            printed=tuple(text.printed.values()) if self._settings.printed_census else (),
            counters=text.counters,
            banners=frozenset(text.banners),
            text_marks=tuple(text.marks),
            notes=tuple(process_notes(completed)),
        )
        return replace(outcome, found_silent=tuple(self._silences(outcome, text, reader.problem())))

    def _silences(self, outcome: Outcome, text: TextFacts, problem: str | None) -> Iterator[Silence]:
        arm, completed, disk = outcome.arm, outcome.completed, self._tools.ports.disk
        # The words alone are nothing: a test of an error path prints them, and passes.
        if text.no_space is not None and (signatures(outcome) or disk.full() or disk.shortage()):
            yield Silence(kind=SilenceKind.SPACE, text=f"the disk was full: {text.no_space}")
        if problem is not None:
            yield Silence(kind=SilenceKind.UNASKED, text=problem)
        if text.empty.reason is not None and completed.ending is Ending.EXITED and ending_signal(completed) is None:
            yield Silence(kind=SilenceKind.EMPTY, text=text.empty.reason)
        guessed = self._settings.timeout_seconds is None and self._longest_green_seconds > 0
        if completed.ending is Ending.TIMED_OUT and arm.role is not Role.BASELINE and guessed:
            # The limit grew from faster runs: an arm may be slow, and need not hang.
            limit = f"{self.limits().timeout_seconds:g} s, {_TIMEOUT_FACTOR} x the longest green run or more"
            yield Silence(kind=SilenceKind.SLOW, text=f"not done after {limit}: give --timeout if it is slow")

    def _request(self, begun: RunBegun, selection: Selection | None, report: Path) -> RunRequest:
        target, arm, out = self._settings.target, begun.plan.arm, str(report.parent / "out")
        if (line := begun.plan.line) is not None:
            line = line.replace(OUT, shlex.quote(out))
            return RunRequest(
                argv=("sh", "-c", f'{line} "$@"', "sh", *self._tools.framework.report_arguments(report)),
                directory=target.shell_directory,
                folder=report.parent,
                report=report,
                limits=self.limits(selection),
            )
        words = (word.replace(OUTPUT_WORD, out) for word in (str(target.path), *target.arguments, *arm.arguments))
        return RunRequest(
            argv=(*words, *self._tools.framework.run_arguments(selection, begun.plan.order, report)),
            environment=environment_of(arm, self._tools, out, state=str(begun.state)),
            directory=target.directory,
            folder=report.parent,
            report=report,
            limits=self.limits(selection),
        )


def environment_of(arm: Arm, tools: Tools, out: str | None, *, state: str, without: Sequence[str] = ()) -> Environment:
    """Return the environment of an arm, some variables excepted; without an `out` nothing names the output folder.

    In the arms of every target `state` is the folder in which the run keeps its state.
    """
    changes = ((name, value.replace(OUTPUT_WORD, out or HERE)) for name, value in arm.environment.set)
    if arm.role in OWN_ROLES:
        changes = ((name, value.replace(STATE_WORD, state)) for name, value in changes)
    own = Environment(set=tuple(one for one in changes if one[0] not in without), unset=arm.environment.unset)
    output = Environment(set=() if out is None else ((_OUTPUT_VARIABLE, out),))
    return tools.facts.removal.merged(own).merged(output)


def state_folders_of(arm: Arm) -> tuple[str, ...]:
    """Return the folders that an arm's variables name, relative to the one in which the run keeps its state."""
    start = f"{STATE_WORD}/"
    return tuple(value.removeprefix(start) for _, value in arm.environment.set if value.startswith(start))


def run_process(request: RunRequest, ports: Ports) -> Completed:
    """Run a process to its end; InterruptedRunError when it was ended because the user asked for it."""
    completed = ports.executor.execute(request)
    if completed.ending is Ending.INTERRUPTED:
        raise InterruptedRunError("interrupted")
    return completed


def run_or_lose(request: RunRequest, ports: Ports) -> Completed:
    """Run a process that may kill what starts it: then make the next ones possible, and hold the lock again."""
    try:
        return run_process(request, ports)
    except RunLostError:
        ports.executor.restore()
        ports.lock.retake()
        return lost(request.folder, None)


def raise_if_lasting(outcome: Outcome) -> None:
    """Raise BlockedError for a run that says nothing because of what does not go away: no space, another target."""
    for silence in outcome.silences:
        if silence.kind.lasts:
            raise BlockedError(silence.text)
