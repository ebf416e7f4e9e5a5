"""The report for people: the answer and what to do first, then the arms, then what they ruled out.

A command stands alone on its line, at the left edge and never wrapped, so that it can be copied.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from pooldiag.model.arms import Acted
from pooldiag.model.reports import ArmResult, LockReport
from pooldiag.render import _outputs as outputs
from pooldiag.render import _words as words
from pooldiag.render._facts import baseline_of, runs_of
from pooldiag.render._page import Page, Report
from pooldiag.render._text import shell_line, visible
from pooldiag.render._words import Tone

WIDE = 110  # columns from which the table of arms has room for what each arm's state rests on
SHORTEST_WAIT_SECONDS = 0.1

_TONES = {Tone.GREEN: "bold green", Tone.RED: "bold red", Tone.OPEN: "bold yellow"}
_RESULTS = {"green": "green", "same red": "red", "new red": "magenta", "mixed": "yellow"}
_NO_EVIDENCE = {Acted.INERT, Acted.UNPROVEN}
_RULE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def render(report: Report, page: Page) -> str:
    """Return the report as a terminal of the page's width shows it."""
    return _Sheet(page=page, report=report).render()


def _wait(lock: LockReport) -> str:
    """Say how long the lock was waited for; a lock that was never held did not come."""
    if lock.waited_seconds < SHORTEST_WAIT_SECONDS:
        return "was free"
    return f"{'came after' if lock.held_seconds else 'did not come in'} {words.duration(lock.waited_seconds)}"


def _indented(*parts: RenderableType) -> Padding:
    return Padding(Group(*parts), (0, 0, 0, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """One report being laid out on one page."""

    page: Page
    report: Report

    def render(self) -> str:
        sections = (
            self.answer(),
            self.facts(),
            self.arms(),
            self.section("Rates", words.rates(self.report)),
            self.section("Not counted as evidence", self.left_out()),
            self.section("Ruled out", words.ruled_out(self.report)),
            self.section("Not established", self.report.attribution.not_established),
            self.section("Other reds", self.others()),
            self.outputs(),
            self.section("Witnesses, not counted as runs", self.report.witnesses),
            self.section("Notes", words.notes(self.report)),
        )
        laid_out = (self.laid_out(parts) for parts in map(list, sections) if parts)
        return "\n".join([*laid_out, self.commands()])

    def laid_out(self, parts: list[RenderableType]) -> str:
        """Return parts as lines; without color nothing but their characters."""
        console = Console(
            file=StringIO(),
            width=self.page.width,
            height=25,
            force_terminal=self.page.color,
            force_jupyter=False,
            color_system="standard" if self.page.color else None,
            no_color=not self.page.color,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
        )
        with console.capture() as capture:
            console.print(Group(*parts))
        return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())

    def text(self, text: str, style: str | Style = "") -> Text:
        """Return outside text as text and nothing else; long words fold rather than being cut."""
        return Text(visible(text, unicode=self.page.unicode), style=style, overflow="fold")

    def items(self, lines: Iterable[str]) -> Table:
        """Return lines as a list whose folded lines hang."""
        grid = Table.grid(padding=(0, 1))
        grid.add_column()
        grid.add_column(overflow="fold")
        for line in lines:
            grid.add_row("-", self.text(line))
        return grid

    def section(self, title: str, lines: Iterable[str]) -> Iterator[RenderableType]:
        """Yield a titled list; nothing when it is empty."""
        if found := tuple(lines):
            yield self.text(title, "bold")
            yield _indented(self.items(found))

    def answer(self) -> Iterator[RenderableType]:
        if interruption := words.interruption(self.report):
            yield self.text(interruption, "bold yellow")
        head = words.headline(self.report)
        yield self.text(head.title, _TONES[head.tone])
        if head.points:
            yield _indented(self.items(head.points))
        yield from (self.text(line) for line in head.lines)

    def facts(self) -> Iterator[RenderableType]:
        grid = Table.grid(padding=(0, 2))
        grid.add_column()
        grid.add_column(overflow="fold")
        for name, value in (*self.red(), ("Target", self.target()), ("Runs", self.runs()), *self.sure()):
            grid.add_row(self.text(name, "bold"), self.text(value))
        yield grid

    def red(self) -> Iterator[tuple[str, str]]:
        signature = self.report.attribution.signature
        if signature is not None:
            baseline = baseline_of(self.report)
            rate = "" if baseline is None or not baseline.runs else f", {words.rate(baseline)} runs of the baseline"
            yield "Red", f"{signature}{rate}"

    def near(self, path: Path) -> Path:
        """Return a path as one would type it in the page's directory."""
        directory = self.page.directory
        return path.relative_to(directory) if directory is not None and path.is_relative_to(directory) else path

    def sure(self) -> Iterator[tuple[str, str]]:
        if (certainty := words.certainty(self.report)) is not None:
            yield "Sure" if self.report.attribution.confidence is not None else "Ended", certainty

    def target(self) -> str:
        target = self.report.target
        framework = target.framework if target.version is None else f"{target.framework} {target.version}"
        cases = () if target.cases is None else (words.count(target.cases, "case"), str(target.order))
        age = () if target.built_seconds_ago is None else (f"built {words.duration(target.built_seconds_ago)} ago",)
        profile = () if target.profile is None else (f"profile {target.profile}",)
        return ", ".join((target.argv[0] if target.argv else "-", framework, *cases, *profile, *age))

    def runs(self) -> str:
        made = f"{len(runs_of(self.report))} in {words.duration(self.report.seconds)}"
        lock = self.report.lock
        if lock is None:
            return made
        return f"{made}; the lock {_wait(lock)}"

    def arms(self) -> Iterator[RenderableType]:
        evidence = [arm for arm in self.report.arms if arm.runs and arm.acted not in _NO_EVIDENCE]
        if not evidence:
            return
        yield self.arm_table(evidence)
        if particulars := tuple(words.particulars(self.report)):
            yield _indented(self.items(particulars))

    def arm_table(self, arms: list[ArmResult]) -> Table:
        table = Table(
            box=box.SIMPLE_HEAD if self.page.unicode else _RULE,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0),  # and the divider, which is a space
            header_style="bold",
        )
        for name in ("Arm", "Result"):
            table.add_column(name, overflow="fold")
        for name in ("Red", "Cases"):
            table.add_column(name, overflow="fold", justify="right")
        table.add_column("Assertions", overflow="fold")
        table.add_column("Seconds", overflow="fold", justify="right")
        table.add_column("Acted", overflow="fold")
        for arm in arms:
            table.add_row(*self.arm_row(arm))
        return table

    def arm_row(self, arm: ArmResult) -> Iterator[Text]:
        outcome = None if arm.shown is None else arm.shown.outcome
        result = words.result(arm)
        yield self.text(arm.arm.role)
        yield self.text(result, _RESULTS.get(result, ""))
        yield self.text(words.rate(arm) if arm.runs else "-")
        yield self.text(words.cases(outcome))
        yield self.text(words.assertions(outcome))
        yield self.text("-" if arm.shown is None else words.seconds(arm.shown.seconds))
        yield self.text(self.acted(arm))

    def acted(self, arm: ArmResult) -> str:
        if arm.acted is None:
            return "-"
        return f"{arm.acted}: {arm.why}" if self.page.width >= WIDE and arm.why else str(arm.acted)

    def left_out(self) -> Iterator[str]:
        for arm in self.report.arms:
            if arm.acted in _NO_EVIDENCE:
                counted = "" if arm.shown is None else f", {words.denominators(arm.shown.outcome)}"
                runs = words.count(len(arm.runs), "run")
                seen = f"{words.result(arm)} in {runs}{counted}" if arm.runs else "not run"
                yield f"{arm.arm.role}: {arm.acted}, {arm.why}; {seen}"

    def outputs(self) -> Iterator[RenderableType]:
        parts: list[RenderableType] = []
        for output in outputs.outputs(self.report):
            parts.append(self.text(output.title))
            for writers, lines in output.contents:
                parts.extend([_indented(self.text(f"{writers}:")), Padding(self.items(lines), (0, 0, 0, 4))])
        parts.extend(self.text(line) for line in outputs.problems(self.report))
        if lines := tuple(outputs.printed(self.report)):
            parts.extend([self.text("printed by the target"), _indented(self.items(lines))])
        if parts:
            yield self.text("Outputs", "bold")
            yield _indented(*parts)

    def others(self) -> Iterator[str]:
        for other in self.report.others:
            yield f"{other.signature}: {words.verdict(self.report, other)}"

    def commands(self) -> str:
        """Return what can be copied: each on a line of its own, however long."""
        unicode = self.page.unicode
        following = self.report.next
        named = (
            ("Reproduce:", self.report.reproducer),
            *(() if following is None else ((f"Next ({following.purpose}):", following.line),)),
        )
        blocks = [
            f"{self.laid_out([self.text(title, 'bold')])}{shell_line(command, unicode=unicode)}\n"
            for title, command in named
            if command is not None
        ]
        evidence = visible(str(self.near(self.report.evidence)), unicode=unicode)
        return "\n".join([*blocks, f"{self.laid_out([self.text('Evidence:', 'bold')])}{evidence}\n"])
