"""The table of `attribute`: the answer and what to do first, then the arms, then what they ruled out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pooldiag.model.arms import Acted
from pooldiag.model.reports import ArmResult, AttributeReport
from pooldiag.render import _outputs as outputs
from pooldiag.render import _words as words
from pooldiag.render._facts import baseline_of, runs_of
from pooldiag.render._sheet import Sheet, following, indented

_NO_EVIDENCE = {Acted.INERT, Acted.UNPROVEN}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSheet(Sheet):
    """One report of `attribute` being laid out on one page."""

    report: AttributeReport

    def render(self) -> str:
        """Return the whole report."""
        report = self.report
        target = words.target(report.session.target)
        sections = (
            self.answer(words.headline(report), words.interruption(report)),
            (self.facts((*self.red(), ("Target", target), ("Runs", self.runs()), *self.sure())),),
            *self.evidence(),
            self.section("Notes", words.notes(report.session.removed_variables, report.session.notes)),
        )
        named = (("Reproduce:", report.reproducer), *following(report.next))
        return "\n".join([*self.pages(sections), self.commands(named, report.session.evidence)])

    def evidence(self) -> Iterator[Iterable[RenderableType]]:
        """Yield what the arms show, section by section."""
        yield self.arms()
        yield self.section("Rates", words.rates(self.report))
        yield self.section("Not counted as evidence", self.left_out())
        yield self.section("Ruled out", words.ruled_out(self.report))
        yield self.section("Not established", self.report.attribution.not_established)
        yield self.section("Other reds", self.others())
        yield self.outputs()
        yield self.section("Witnesses, not counted as runs", self.report.witnesses)

    def red(self) -> Iterator[tuple[str, str]]:
        signature = self.report.attribution.signature
        if signature is not None:
            baseline = baseline_of(self.report)
            rate = "" if baseline is None or not baseline.runs else f", {words.rate(baseline)} runs of the baseline"
            yield "Red", f"{signature}{rate}"

    def sure(self) -> Iterator[tuple[str, str]]:
        if (certainty := words.certainty(self.report)) is not None:
            yield "Sure" if self.report.attribution.confidence is not None else "Ended", certainty

    def runs(self) -> str:
        return words.spent(len(runs_of(self.report)), self.report.session.seconds, self.report.session.lock)

    def arms(self) -> Iterator[RenderableType]:
        evidence = [arm for arm in self.report.arms if arm.runs and arm.acted not in _NO_EVIDENCE]
        if not evidence:
            return
        yield self.arm_table(evidence)
        if particulars := tuple(words.particulars(self.report)):
            yield indented(self.items(particulars))

    def arm_table(self, arms: list[ArmResult]) -> Table:
        table = self.table(
            ("Arm", "left"),
            ("Result", "left"),
            ("Red", "right"),
            ("Cases", "right"),
            ("Assertions", "left"),
            ("Seconds", "right"),
            ("Acted", "left"),
        )
        for arm in arms:
            table.add_row(*self.arm_row(arm))
        return table

    def arm_row(self, arm: ArmResult) -> Iterator[Text]:
        outcome = None if arm.shown is None else arm.shown.outcome
        yield self.text(arm.arm.role)
        yield self.result(words.result(arm))
        yield self.text(words.rate(arm) if arm.runs else "-")
        yield self.text(words.cases(outcome))
        yield self.text(words.assertions(outcome))
        yield self.text("-" if arm.shown is None else words.seconds(arm.shown.seconds))
        yield self.text(self.acted(arm))

    def acted(self, arm: ArmResult) -> str:
        if arm.acted is None:
            return "-"
        return f"{arm.acted}: {arm.why}" if self.is_wide and arm.why else str(arm.acted)

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
                parts.extend([indented(self.text(f"{writers}:")), Padding(self.items(lines), (0, 0, 0, 4))])
        parts.extend(self.text(line) for line in outputs.problems(self.report))
        if lines := tuple(outputs.printed(self.report)):
            parts.extend([self.text("printed by the target"), indented(self.items(lines))])
        if parts:
            yield self.text("Outputs", "bold")
            yield indented(*parts)

    def others(self) -> Iterator[str]:
        for other in self.report.others:
            yield f"{other.signature}: {words.verdict(self.report, other)}"
