"""What a diagnosis shows while it runs, on stderr: a live view on a terminal, one line an event elsewhere."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, OverflowMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pooldiag.model.arms import Arm
from pooldiag.model.events import CaseStarted, Event, LockHeld, LockWait, Planned, Reported, RunStarted
from pooldiag.model.reports import ArmResult, AttributeReport
from pooldiag.render import assertions, cases, duration, rate, result, run_line, runs_of, seconds, visible

REFRESHES_PER_SECOND = 8
SECONDS_BETWEEN_WAIT_LINES = 60.0

Clock = Callable[[], float]


class View(AbstractContextManager["View"], Protocol):
    """A `Progress` that is on screen between entry and exit."""

    def told(self, event: Event) -> None:
        """Take notice of an event. Never raises."""
        ...


def view_for(console: Console, *, quiet: bool = False) -> View:
    """Choose how to show progress on a console (of stderr): live needs a terminal that can move its cursor."""
    if quiet:
        return QuietView()
    return LiveView(console) if console.is_terminal and not console.is_dumb_terminal else PlainView(console)


class QuietView:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing."""

    def told(self, event: Event) -> None:
        """Take no notice."""


class PlainView:
    """Writes one line for each event that matters: the lock being waited for (at once, then rarely), a finished run."""

    def __init__(self, console: Console, *, clock: Clock = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._runs: set[str] = set()
        self._waited_at: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: every line is complete."""

    def told(self, event: Event) -> None:
        """Write what the event is worth; a stream that is gone is no reason to stop the diagnosis."""
        with suppress(Exception):
            for line in self._lines(event):
                self._console.file.write(_safe(self._console, line) + "\n")
                self._console.file.flush()

    def _lines(self, event: Event) -> list[str]:
        match event:
            case LockWait() if self._is_due():
                return [_waiting(event, event.seconds)]
            case LockHeld() if self._waited_at is not None:
                return [f"lock held after {duration(event.waited_seconds)}"]
            case Planned():
                return [_plan(event)]
            case Reported(report=report):
                fresh = [run for run in runs_of(report) if run.id not in self._runs]
                self._runs.update(run.id for run in fresh)
                return [run_line(run) for run in fresh]
        return []

    def _is_due(self) -> bool:
        now = self._clock()
        if self._waited_at is not None and now - self._waited_at < SECONDS_BETWEEN_WAIT_LINES:
            return False
        self._waited_at = now
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What the live view knows; replaced as a whole, since another thread draws it."""

    started: float
    planned: Planned | None = None
    wait: LockWait | None = None
    wait_told: float = 0.0
    run: RunStarted | None = None
    run_started: float = 0.0
    case: CaseStarted | None = None
    report: AttributeReport | None = None


@dataclass(slots=True)
class LiveView:
    """Keeps a few lines and the table of arms up to date on a terminal, and leaves nothing behind.

    `told` only takes note; Rich's own thread draws.
    """

    console: Console
    clock: Clock = time.monotonic
    _state: _State = field(init=False)
    _live: Live = field(init=False)

    def __post_init__(self) -> None:
        self._state = _State(started=self.clock())
        self._live = Live(
            console=self.console,
            get_renderable=self.screen,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,  # stdout may be a file, and the report goes there
        )

    def __enter__(self) -> Self:
        with suppress(Exception):
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the view; a terminal that is gone is no reason to fail."""
        with suppress(Exception):
            self._live.stop()

    def told(self, event: Event) -> None:
        """Take note of an event."""
        with suppress(Exception):
            self._state = self._after(event, self.clock())

    def _after(self, event: Event, now: float) -> _State:
        state = self._state
        match event:
            case LockWait():
                return replace(state, wait=event, wait_told=now)
            case LockHeld():
                return replace(state, wait=None)
            case Planned():
                return replace(state, planned=event)
            case RunStarted():
                return replace(state, run=event, run_started=now, case=None, wait=None)
            case CaseStarted():
                return replace(state, case=event)
            case Reported(report=report):
                return replace(state, report=report, run=None, case=None)

    def screen(self) -> RenderableType:
        """Return what is on screen now; a view that cannot be drawn is empty."""
        with suppress(Exception):
            return self._drawn(self._state, self.clock())
        return Text()

    def _drawn(self, state: _State, now: float) -> RenderableType:
        """Draw what moves first: a low terminal cuts the end."""
        lines = [Text(_safe(self.console, line), overflow="fold") for line in _lines(state, now)]
        if state.wait is None and state.run is not None and (state.case or state.run.cases is not None):
            lines.append(self._one_line(_case_line(state.run, state.case)))
        table = _arm_table(self.console, state)
        return Group(*lines, *(() if table is None else (table,)))

    def _one_line(self, line: str) -> Text:
        overflow: OverflowMethod = "ellipsis" if _speaks_unicode(self.console) else "crop"
        return Text(_safe(self.console, line), no_wrap=True, overflow=overflow)


def _lines(state: _State, now: float) -> list[str]:
    """Say what is going on: the wait for the lock, or the run."""
    if state.wait is not None:
        return [_waiting(state.wait, state.wait.seconds + now - state.wait_told)]
    elapsed = _clock_face(now - state.started)
    if state.run is None:
        return [f"{elapsed}  between runs" if state.report else f"{elapsed}  preparing"]
    return [f"{elapsed}  run {state.run.number}: {state.run.arm.role}, {_clock_face(now - state.run_started)}"]


def _case_line(run: RunStarted, case: CaseStarted | None) -> str:
    if case is None:
        return "       no case yet"
    of = "" if run.cases is None else f"/{run.cases}"
    return f"       case {case.number}{of}: {case.name}"


def _arm_table(console: Console, state: _State) -> Table | None:
    """Return the table of all planned arms, as far as it is filled; None before there is a plan."""
    results = {} if state.report is None else {arm.arm: arm for arm in state.report.arms}
    arms = dict.fromkeys((*(() if state.planned is None else state.planned.arms), *results))
    if not arms:
        return None
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("Arm", "Result", "Red", "Cases", "Assertions", "Seconds"):
        table.add_column(name, overflow="fold")
    for arm in arms:
        running = state.run is not None and state.run.arm == arm
        table.add_row(*(Text(_safe(console, cell)) for cell in _cells(arm, results.get(arm), running=running)))
    return table


def _cells(arm: Arm, found: ArmResult | None, *, running: bool) -> tuple[str, ...]:
    now = "running" if running else "-"
    if found is None or found.shown is None:
        return (arm.role, now, "-", "-", "-", "-")
    outcome = found.shown.outcome
    words = "running" if running else result(found)
    return (arm.role, words, rate(found), cases(outcome), assertions(outcome), seconds(found.shown.seconds))


def _waiting(wait: LockWait, waited: float) -> str:
    holder = "holder not visible" if wait.holder is None else f"held by {wait.holder}"
    return f"waiting for lock {wait.path}: {waited:.0f} of at most {wait.limit_seconds:.0f} s, {holder}"


def _plan(planned: Planned) -> str:
    roles = ", ".join(dict.fromkeys(str(arm.role) for arm in planned.arms))
    return f"arms: {roles}" + ("" if planned.cases is None else f"; {planned.cases} cases each")


def _clock_face(elapsed: float) -> str:
    """Say elapsed time as a clock does, `01:02` or `1:01:02`."""
    minutes, rest = divmod(int(max(elapsed, 0.0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def _safe(console: Console, line: str) -> str:
    return visible(line, unicode=_speaks_unicode(console))


def _speaks_unicode(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")
