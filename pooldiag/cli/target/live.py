"""What a diagnosis shows while it runs, on stderr: a live view on a terminal, one line an event elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

from rich.console import Console, Group, OverflowMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pooldiag.model.arms import Arm
from pooldiag.model.bisections import BisectReport, OrdersReport, Probed
from pooldiag.model.events import (
    CaseStarted,
    Event,
    LockHeld,
    LockWait,
    OrderStarted,
    Planned,
    Reported,
    RunEnded,
    RunStarted,
    Searching,
)
from pooldiag.model.reports import ArmResult, AttributeReport, RunReport
from pooldiag.model.words import count
from pooldiag.render import visible
from pooldiag.render.facts import runs_of, short
from pooldiag.render.reports.bisect import best, phase
from pooldiag.render.reports.orders import red_orders
from pooldiag.render.run_words import assertions, cases, duration, rate, result, run_line, seconds

REFRESHES_PER_SECOND = 8
SECONDS_BETWEEN_WAIT_LINES = 60.0


def view_for(console: Console, *, quiet: bool = False) -> "QuietView":
    """Choose how to show progress on a console (of stderr): live needs a terminal that can move its cursor."""
    if quiet:
        return QuietView()
    return LiveView(console) if console.is_terminal and not console.is_dumb_terminal else PlainView(console)


class QuietView:
    """A `Progress` that is on screen between entry and exit. This one shows nothing; the others say what they show."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    def notice(self, event: Event) -> None:
        """Take notice of an event. Never raises."""


class PlainView(QuietView):
    """Writes one line for each event that matters: the lock being waited for (at once, then rarely), a finished run.

    A phase of a search has a line when it begins, and each of its runs one when it ends.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._runs: set[str] = set()
        self._waited_at: float | None = None
        self._phase: str | None = None

    def notice(self, event: Event) -> None:
        """Write what the event is worth; a stream that is gone is no reason to stop the diagnosis."""
        with suppress(Exception):
            for line in self._lines(event):
                self._console.file.write(_safe(self._console, line) + "\n")
                self._console.file.flush()

    def _lines(self, event: Event) -> list[str]:
        lines: list[str] = []
        match event:
            case LockWait() if self._is_due():
                lines = [_waiting(event, event.seconds)]
            case LockHeld() if self._waited_at is not None:
                lines = [f"lock held after {duration(event.waited_seconds)}"]
            case Planned():
                lines = [_plan(event)]
            case Searching():
                lines = self._step(event)
            case OrderStarted():
                lines = [_order(event)]
            case Reported(report=report):
                fresh = [run for run in runs_of(report) if run.id not in self._runs]
                self._runs.update(run.id for run in fresh)
                lines = [run_line(run) for run in fresh]
        return lines

    def _step(self, event: Searching) -> list[str]:
        """Say that a phase begins, and how a run of the search ended; its report need not say it again."""
        begins = [] if event.phase == self._phase else [phase(event.phase)]
        self._phase = event.phase
        if event.probed is None:
            return begins
        self._runs.add(event.probed.run)
        return [*begins, _probe_line(event, event.probed)]

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
    wait_noticed: float = 0.0
    running: tuple[tuple[RunStarted, float], ...] = ()  # with the times at which they began
    case: CaseStarted | None = None
    search: Searching | None = None
    order: OrderStarted | None = None
    report: RunReport | None = None

    @property
    def run(self) -> RunStarted | None:
        """The only run that goes on."""
        return self.running[0][0] if len(self.running) == 1 else None

    def without(self, run: str) -> "_State":
        """Forget a run that is over."""
        running = tuple(entry for entry in self.running if entry[0].run != run)
        return replace(self, running=running, case=None)


class LiveView(QuietView):
    """Keeps a few lines and the table of arms up to date on a terminal, and leaves nothing behind.

    `notice` only takes note; Rich's own thread draws.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._state = _State(started=clock())
        self._live = Live(
            console=console,
            get_renderable=self.screen,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,  # stdout may be a file, and the report goes there
        )

    def __enter__(self) -> Self:
        with suppress(Exception):
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the view; a terminal that is gone is no reason to fail."""
        with suppress(Exception):
            self._live.stop()

    def notice(self, event: Event) -> None:
        """Take note of an event."""
        with suppress(Exception):
            self._state = self._after(event, self._clock())

    def _after(self, event: Event, now: float) -> _State:
        state = self._state
        match event:
            case LockWait():
                state = replace(state, wait=event, wait_noticed=now)
            case LockHeld():
                state = replace(state, wait=None)
            case Planned():
                state = replace(state, planned=event)
            case RunStarted():
                others = state.without(event.run).running
                state = replace(state, running=(*others, (event, now)), case=None, wait=None)
            case CaseStarted():
                state = replace(state, case=event)
            case RunEnded(run=run):
                state = state.without(run)
            case Searching(probed=probed):
                state = replace(state if probed is None else state.without(probed.run), search=event)
            case OrderStarted():
                state = replace(state, order=event)
            case Reported(report=report):
                state = replace(_after_report(state, report), report=report, case=None)
        return state

    def screen(self) -> RenderableType:
        """Return what is on screen now; a view that cannot be drawn is empty."""
        with suppress(Exception):
            return self._drawn(self._state, self._clock())
        return Text()

    def _drawn(self, state: _State, now: float) -> RenderableType:
        """Draw what moves first: a low terminal cuts the end."""
        lines = [Text(_safe(self._console, line), overflow="fold") for line in _lines(state, now)]
        if state.search is not None and state.search.victim is not None:
            lines.append(self._one_line(f"       victim: {state.search.victim}"))
        if state.wait is None and state.run is not None and (state.case or state.run.cases is not None):
            lines.append(self._one_line(_case_line(state.run, state.case)))
        table = _arm_table(self._console, state)
        return Group(*lines, *(() if table is None else (table,)))

    def _one_line(self, line: str) -> Text:
        overflow: OverflowMethod = "ellipsis" if _speaks_unicode(self._console) else "crop"
        return Text(_safe(self._console, line), no_wrap=True, overflow=overflow)


def _after_report(state: _State, report: RunReport) -> _State:
    """Forget the runs that are over: `attribute` makes one at a time, elsewhere others may go on."""
    if isinstance(report, AttributeReport):
        return replace(state, running=())
    over = {run.id for run in runs_of(report)}
    return replace(state, running=tuple(entry for entry in state.running if entry[0].run not in over))


def _lines(state: _State, now: float) -> list[str]:
    """Say what is going on: the wait for the lock, or the search or the order, and the runs."""
    if state.wait is not None:
        return [_waiting(state.wait, state.wait.seconds + now - state.wait_noticed)]
    lines = (
        *(() if state.search is None else _search_lines(state.search)),
        *(() if state.order is None else (_order_line(state.order, state.report),)),
        _runs_line(state, now),
    )
    elapsed = _clock_face(now - state.started)
    return [f"{elapsed}  {lines[0]}", *(f"{' ' * len(elapsed)}  {line}" for line in lines[1:])]


def _runs_line(state: _State, now: float) -> str:
    if not state.running:
        return "between runs" if state.report or state.search else "preparing"
    if state.run is not None:
        return f"run {state.run.number}: {state.run.arm.role}, {_clock_face(now - state.running[0][1])}"
    numbers = ", ".join(str(run.number) for run, _ in state.running)
    return f"{len(state.running)} runs at once: {numbers}; the longest for {_clock_face(now - state.running[0][1])}"


def _search_lines(search: Searching) -> Iterator[str]:
    """Yield what the search does, what it has spent and may need, and what it knows."""
    yield f"{phase(search.phase)}: {_spent(search)}"
    if known := best(search.red_with, search.green_with):
        yield f"so far: {known}"


def _spent(search: Searching) -> str:
    runs = f"{count(search.runs, 'run')} done"
    return f"{runs}, at most {search.most_left} left" if search.most_left else runs


def _probe_line(search: Searching, probed: Probed) -> str:
    """Say how one run of the search ended."""
    known = best(search.red_with, search.green_with)
    line = f"run {short(probed.run)}: {count(probed.cases, 'case')} run, {probed.reading}; {_spent(search)}"
    return f"{line}; {known}" if known else line


def _order(event: OrderStarted) -> str:
    return f"order {event.number}/{event.of}: {event.order}"


def _order_line(event: OrderStarted, report: RunReport | None) -> str:
    """Say which order runs, and how the earlier ones read."""
    if isinstance(report, OrdersReport) and report.orders:
        return f"{_order(event)}; {red_orders(report)} red so far"
    return _order(event)


def _case_line(run: RunStarted, case: CaseStarted | None) -> str:
    if case is None:
        return "       no case yet"
    of = "" if run.cases is None else f"/{run.cases}"
    return f"       case {case.number}{of}: {case.name}"


def _arm_table(console: Console, state: _State) -> Table | None:
    """Return the table of all planned arms, as far as it is filled; None before there is a plan."""
    report = _arms_of(state.report)
    results = {} if report is None else {arm.arm: arm for arm in report.arms}
    arms = dict.fromkeys((*(() if state.planned is None else state.planned.arms), *results))
    if not arms:
        return None
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("Arm", "Result", "Red", "Cases", "Assertions", "Seconds"):
        table.add_column(name, overflow="fold")
    for arm in arms:
        running = any(run.arm == arm for run, _ in state.running)
        table.add_row(*(Text(_safe(console, cell)) for cell in _cells(arm, results.get(arm), running=running)))
    return table


def _arms_of(report: RunReport | None) -> AttributeReport | None:
    """Return the report of the arms: of a bisection the one about the minimal set."""
    match report:
        case AttributeReport():
            return report
        case BisectReport():
            return report.attribution
    return None


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
