import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path

import pyte
import pytest
from rich.console import Console

from pooldiag.cli.target.live import LiveView, PlainView, QuietView, view_for
from pooldiag.model.arms import Role
from pooldiag.model.bisections import Phase, Probed
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
from pooldiag.model.readings import Reading
from pooldiag.model.reports import AttributeReport
from tests.render.attribute_samples import CRASHING, HOSTILE, NAMES, SAMPLES, arm, changed
from tests.render.bisect_samples import BISECTIONS, ORDERS, seed

WAIT = LockWait(path=Path("/home/ada/gpu.lock"), seconds=61.0, limit_seconds=2700.0, holder="pid 4242, python train.py")
PLANNED = Planned(arms=tuple(arm(role) for role in (Role.BASELINE, Role.BYPASS, Role.EXACT)), cases=13)
STARTED = RunStarted(run="03", number=3, arm=arm(Role.BYPASS), cases=13)
CASE = CaseStarted(name=NAMES[4], number=5)
PROBE = RunStarted(run="05-search", number=5, arm=arm(Role.BASELINE), cases=7)
SEARCH = Searching(
    phase=Phase.SEARCH,
    runs=5,
    cases_run=41,
    most_left=4,
    victim=CRASHING,
    probed=Probed(run="05-search", phase=Phase.SEARCH, cases=7, reading=Reading.GREEN),
    red_with=12,
    green_with=6,
)


@dataclass
class Hands:
    """A clock that a test moves."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


class Gone(StringIO):
    """A terminal that was closed."""

    def write(self, _: str) -> int:
        raise OSError(5, "Input/output error")


@dataclass
class Screen:
    """A terminal of 80 columns, and what a user sees on it."""

    stream: StringIO = field(default_factory=StringIO)
    rows: int = 24

    def console(self) -> Console:
        environment = {"TERM": "xterm-256color"}
        return Console(
            file=self.stream,
            force_terminal=True,
            width=80,
            height=self.rows,
            _environ=environment,
            legacy_windows=False,
        )

    def lines(self) -> list[str]:
        screen = pyte.Screen(80, self.rows)
        pyte.Stream(screen).feed(self.stream.getvalue().replace("\n", "\r\n"))
        return [line.rstrip() for line in screen.display if line.strip()]

    def sees(self, *texts: str) -> bool:
        """Wait, at most for a while, until all texts are on the screen."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            seen = "\n".join(self.lines())
            if all(text in seen for text in texts):
                return True
            time.sleep(0.02)
        return False


def after(runs: int) -> AttributeReport:
    """The report of seed 7 as it is after the first runs."""
    arms = [
        replace(
            one,
            runs=tuple(run for run in one.runs if int(run.id[:2]) <= runs),
            sights=tuple(sight for run, sight in zip(one.runs, one.sights, strict=True) if int(run.id[:2]) <= runs),
        )
        for one in SAMPLES["loud"].arms
    ]
    known = tuple(replace(one, shown=one.runs[0] if one.runs else None) for one in arms)
    return changed(SAMPLES["loud"], partial=True, arms=known)


def plain(*events: Event, clock: Callable[[], float] | None = None) -> list[str]:
    stream = StringIO()
    with PlainView(Console(file=stream), clock=clock or Hands()) as view:
        for event in events:
            view.notice(event)
    return stream.getvalue().splitlines()


def test_a_terminal_shows_the_run_the_case_and_the_table_as_it_fills() -> None:
    screen, clock = Screen(), Hands()
    with LiveView(screen.console(), clock=clock) as view:
        for event in (PLANNED, Reported(report=after(2)), STARTED, CASE):
            view.notice(event)
        clock.now += 65
        assert screen.sees("01:05  run 3: bypass, 01:05", "case 5/13: rope table")
        rows = [line.split() for line in screen.lines()]
        assert ["baseline", "same", "red", "2/2", "3/13", "44,", "0", "failed", "0.020"] in rows
        assert ["bypass", "running", "-", "-", "-", "-"] in rows
        assert ["exact", "-", "-", "-", "-", "-"] in rows


def test_a_wait_for_the_lock_counts_on_and_names_the_holder() -> None:
    screen, clock = Screen(), Hands()
    with LiveView(screen.console(), clock=clock) as view:
        view.notice(WAIT)
        clock.now += 9
        assert screen.sees("waiting for lock /home/ada/gpu.lock: 70 of at most 2700 s, held by pid 4242")
        view.notice(LockHeld(paths=(WAIT.path,), waited_seconds=70.0))
        assert screen.sees("preparing")
        assert not any("waiting" in line for line in screen.lines())


def test_nothing_is_left_behind() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(PLANNED)
        view.notice(STARTED)
        assert screen.sees("run 3: bypass", "no case yet")
    assert screen.lines() == []
    assert "\x1b[?25h" in screen.stream.getvalue()  # the cursor is back


def test_what_is_going_on_is_seen_on_a_low_terminal() -> None:
    screen = Screen(rows=4)
    with LiveView(screen.console()) as view:
        for event in (PLANNED, STARTED, CASE):
            view.notice(event)
        assert screen.sees("run 3: bypass", "case 5/13: rope table")


def test_a_black_box_has_no_line_about_cases() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(replace(STARTED, cases=None))
        assert screen.sees("run 3: bypass")
        assert not any("case" in line for line in screen.lines())


def test_a_hostile_name_reaches_no_terminal() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(STARTED)
        view.notice(CaseStarted(name=HOSTILE, number=1))
        assert screen.sees("case 1/13: [red]x[/red] \\x1b[31m\\u009b2J\\x0d\\x0a\\u202egnp")
        view.notice(replace(WAIT, holder="\x1b]0;owned\x07[bold]"))
        assert screen.sees("\\x1b]0;owned\\x07[bold]")
    assert "owned\x07" not in screen.stream.getvalue()


def test_between_runs_it_says_so() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(STARTED)
        view.notice(Reported(report=after(3)))
        assert screen.sees("between runs", "bypass    green")


@pytest.mark.parametrize("view", [LiveView(Screen(stream=Gone()).console()), PlainView(Console(file=Gone()))])
def test_a_terminal_that_is_gone_stops_nothing(view: QuietView) -> None:
    with view:
        for event in (PLANNED, WAIT, STARTED, CASE, Reported(report=after(2))):
            view.notice(event)


def test_an_event_that_makes_no_sense_is_no_reason_to_stop() -> None:
    broken = Reported(report=replace(after(2), arms=(None,)))  # type: ignore[arg-type] # what no type checker allows
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(broken)
        time.sleep(0.3)
        view.notice(Reported(report=after(2)))
        assert screen.sees("baseline")
    assert plain(broken, Reported(report=after(1)))[0].startswith("run 01 baseline: red")


def test_telling_costs_the_core_next_to_nothing() -> None:
    with LiveView(Screen().console()) as view:
        view.notice(STARTED)
        began = time.process_time()
        for number in range(2000):
            view.notice(CaseStarted(name=HOSTILE, number=number))
        assert time.process_time() - began < 0.5


def test_a_terminal_shows_how_far_a_search_is_and_what_it_knows() -> None:
    screen, clock = Screen(), Hands()
    with LiveView(screen.console(), clock=clock) as view:
        view.notice(SEARCH)
        view.notice(replace(PROBE, run="06", number=6))
        view.notice(CASE)
        clock.now += 3
        assert screen.sees("00:03  search for the polluters: 5 runs done, at most 4 left\n")
        assert screen.sees("       so far: red with 12 cases, green with 6\n")
        assert screen.sees("       run 6: baseline, 00:03", "victim: bf16 production", "case 5/7: rope table")


def test_a_run_of_a_search_that_is_over_is_not_shown_any_longer() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(PROBE)
        assert screen.sees("run 5: baseline")
        view.notice(SEARCH)
        assert screen.sees("between runs")
        assert not any("run 5" in line for line in screen.lines())


def test_runs_at_once_are_counted_and_each_goes_when_it_ends() -> None:
    screen, clock = Screen(), Hands()
    runs = [replace(PROBE, run=f"0{number}", number=number) for number in (6, 7, 8)]
    with LiveView(screen.console(), clock=clock) as view:
        for run in runs:
            view.notice(run)
            clock.now += 2
        assert screen.sees("3 runs at once: 6, 7, 8; the longest for 00:06")
        view.notice(RunEnded(run="07"))
        assert screen.sees("2 runs at once: 6, 8;")
        view.notice(Reported(report=BISECTIONS["bisect-found"]))
        assert screen.sees("2 runs at once: 6, 8;")
        view.notice(RunEnded(run="06"))
        assert screen.sees("run 8: baseline, 00:02")


def test_the_arms_on_the_minimal_set_fill_the_table_of_a_bisection() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(PLANNED)
        view.notice(Reported(report=BISECTIONS["bisect-found"]))
        assert screen.sees("bypass    green")


def test_a_terminal_shows_which_order_runs() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(OrderStarted(order=seed(1), number=3, of=20))
        assert screen.sees("order 3/20: rand order, seed 1")
        view.notice(Reported(report=ORDERS["orders-partial"]))
        view.notice(STARTED)
        assert screen.sees("order 3/20: rand order, seed 1; 1/2 red so far", "run 3: bypass")
        view.notice(Reported(report=ORDERS["orders-mixed"]))
        assert screen.sees("5/8 red so far")


def test_a_hostile_victim_reaches_no_terminal() -> None:
    screen = Screen()
    with LiveView(screen.console()) as view:
        view.notice(replace(SEARCH, victim=f"\x1b]0;owned\x07{HOSTILE}"))
        assert screen.sees("victim: \\x1b]0;owned\\x07[red]x[/red]", "search for the polluters: 5 runs done")
    assert "owned\x07" not in screen.stream.getvalue()


def test_elsewhere_each_run_of_a_search_is_one_line_below_its_phase() -> None:
    begun = replace(SEARCH, probed=None, red_with=None, green_with=None)
    again = replace(SEARCH, runs=6, most_left=None)
    end = replace(SEARCH, phase=Phase.PREFIX, runs=7, most_left=1)
    lines = plain(begun, SEARCH, again, end, Reported(report=BISECTIONS["bisect-found"]))
    assert lines[:5] == [
        "search for the polluters",
        "run 05: 7 cases run, green; 5 runs done, at most 4 left; red with 12 cases, green with 6",
        "run 05: 7 cases run, green; 6 runs done; red with 12 cases, green with 6",
        "both ends of the prefix",
        "run 05: 7 cases run, green; 7 runs done, at most 1 left; red with 12 cases, green with 6",
    ]
    assert lines[5].startswith("run 01 baseline: red 3/13 cases")


def test_elsewhere_a_run_that_was_told_as_a_probe_is_not_told_again() -> None:
    whole = BISECTIONS["bisect-partial"]
    assert whole.whole is not None
    probed = Probed(run=whole.whole.id, phase=Phase.BASELINE, cases=13, reading=Reading.RED)
    lines = plain(Searching(phase=Phase.BASELINE, runs=1, probed=probed), Reported(report=whole))
    assert lines == ["all of them, and the victim alone", "run 01: 13 cases run, red; 1 run done"]


def test_elsewhere_each_order_is_one_line_and_its_run_another() -> None:
    lines = plain(
        OrderStarted(order=seed(7), number=4, of=20), Reported(report=changed(ORDERS["orders-mixed"], partial=True))
    )
    assert lines[0] == "order 4/20: rand order, seed 7"
    assert lines[1] == "run 01 baseline: green 13/13 cases, 552 assertions, 0.594 s"


def test_elsewhere_each_finished_run_is_one_line() -> None:
    lines = plain(PLANNED, STARTED, CASE, Reported(report=after(2)), Reported(report=after(3)))
    counts = "baseline: red 3/13 cases, 44 assertions, 0 failed, 0.020 s"
    red = f"{counts}: SIGSEGV in bf16 production forward, one layer (CPU backend) (test_forward.cpp:212)"
    assert lines == [
        "arms: baseline, bypass, exact; 13 cases each",
        f"run 01 {red}",
        f"run 02 {red}",
        "run 03 bypass: green 13/13 cases, 552 assertions, 0.594 s",
    ]


def test_elsewhere_a_void_run_has_its_reason() -> None:
    assert (
        "run 06 isolate: void 0/13 cases, 0 assertions, 0 failed, 0.594 s: No space left on device (stderr, line 3)"
        in (plain(Reported(report=SAMPLES["another-red"])))
    )


def test_elsewhere_a_wait_is_told_at_once_and_then_rarely() -> None:
    clock = Hands()
    stream = StringIO()
    view = PlainView(Console(file=stream), clock=clock)
    for second in range(150):
        clock.now = 100.0 + second
        view.notice(replace(WAIT, seconds=float(second)))
    view.notice(LockHeld(paths=(WAIT.path,), waited_seconds=150.0))
    waits = [line.split(": ")[1].split(" of")[0] for line in stream.getvalue().splitlines()[:-1]]
    assert waits == ["0", "60", "120"]
    assert stream.getvalue().splitlines()[-1] == "lock held after 2 min 30 s"


def test_elsewhere_a_lock_that_was_free_is_not_worth_a_line() -> None:
    assert plain(LockHeld(paths=(WAIT.path,), waited_seconds=0.0)) == []


def test_elsewhere_a_hostile_name_is_shown_escaped() -> None:
    text = "\n".join(plain(Reported(report=SAMPLES["hostile"])))
    assert "[red]x[/red] \\x1b[31m" in text
    assert "\x1b" not in text
    assert "\udcff" not in text


def test_quiet_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    with QuietView() as view:
        view.notice(PLANNED)
        view.notice(Reported(report=after(2)))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("environment", "terminal", "quiet", "expected"),
    [
        ({"TERM": "xterm"}, True, False, LiveView),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False, LiveView),
        ({"TERM": "dumb"}, True, False, PlainView),
        ({"TERM": "xterm"}, False, False, PlainView),
        ({"TERM": "xterm"}, True, True, QuietView),
    ],
)
def test_the_view_fits_where_it_is_shown(
    environment: dict[str, str], *, terminal: bool, quiet: bool, expected: type
) -> None:
    console = Console(file=StringIO(), force_terminal=terminal, _environ=environment)
    assert isinstance(view_for(console, quiet=quiet), expected)


def test_without_color_nothing_is_colored() -> None:
    screen = Screen()
    console = Console(
        file=screen.stream, force_terminal=True, width=80, height=24, _environ={"NO_COLOR": "1", "TERM": "xterm"}
    )
    with LiveView(console) as view:
        view.notice(PLANNED)
        view.notice(Reported(report=after(3)))
        assert screen.sees("bypass    green")
    assert "\x1b[3" not in screen.stream.getvalue()
