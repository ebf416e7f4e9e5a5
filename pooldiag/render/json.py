"""The report for machines: `report.schema.json` beside this file describes it.

Fields are added, never renamed. The text is ASCII, and none of its strings holds a lone surrogate.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pooldiag.model.attributions import Attribution, Candidate, Mechanism, Rate, RuledOut
from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.counts import PrintedCensus
from pooldiag.model.outcomes import OutputFile
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.reports import ArmResult, AttributeReport, Run
from pooldiag.model.schema import SCHEMA
from pooldiag.render import _json_parts as parts
from pooldiag.render._bisections_json import bisect_document, orders_document
from pooldiag.render._census_json import census_document
from pooldiag.render._facts import name_bytes, runs_of, seen, shown_signature
from pooldiag.render._json_parts import Parts
from pooldiag.render._json_text import Document, command, written
from pooldiag.render._page import Page
from pooldiag.render._renderer import RunReport

_BETWEEN_RUNS = ",\n    "


def render(report: RunReport, page: Page) -> str:
    """Return the report as one JSON document."""
    return JsonReports()(report, page)


class JsonReports:
    """Renders every report of one diagnosis, as `render` does; the text of a run is made once.

    A report is saved after every run: without this the cost of a run would grow with the runs before it.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._runs: dict[str, tuple[Run, Sight | None, str]] = {}
        self._told: set[str] = set()

    def __call__(self, report: RunReport, page: Page) -> str:  # noqa: ARG002 - a page changes nothing for machines
        """Return the report as one JSON document."""
        return f"{self._text(report)}\n"

    def fresh(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of every run that the last report had and the one before had not."""
        for run in [run for run in self._runs if run not in self._told]:
            self._told.add(run)
            yield run, f"{self._runs[run][2]}\n"

    def _text(self, report: RunReport) -> str:
        writer = _Writer(raw_names=name_bytes(report))
        match report:
            case AttributeReport():
                return self._attribute(writer, report)
            case BisectReport():
                return self._bisect(writer, report)
            case OrdersReport():
                for run in runs_of(report):
                    self._run(writer, run, None)
                return written(orders_document(writer, report))

    def _attribute(self, writer: "_Writer", report: AttributeReport) -> str:
        sights = {run.id: sight for arm in report.arms for run, sight in zip(arm.runs, arm.sights, strict=False)}
        runs = [self._run(writer, run, sights.get(run.id)) for run in runs_of(report)]
        text = written(writer.document(report))
        if runs:  # a line of this depth is no part of a string: those have no line ends
            text = text.replace('\n  "runs": [],\n', f'\n  "runs": [\n    {_BETWEEN_RUNS.join(runs)}\n  ],\n')
        return text

    def _bisect(self, writer: "_Writer", report: BisectReport) -> str:
        text = written(bisect_document(writer, report))
        if report.attribution is not None:
            inner = self._text(report.attribution).replace("\n", "\n  ")
            text = text.replace('\n  "attribution": null,\n', f'\n  "attribution": {inner},\n')
        sights = {confirmation.run.id: confirmation.sight for confirmation in report.confirmations}
        own = [*(() if report.whole is None else (report.whole,)), *(one.run for one in report.confirmations)]
        for run in own:
            self._run(writer, run, sights.get(run.id))
        return text

    def _run(self, writer: "_Writer", run: Run, sight: Sight | None) -> str:
        known, seen_as, text = self._runs.get(run.id, (None, None, ""))
        if known is not run or seen_as is not sight:
            text = written(writer.run(run, sight)).replace("\n", "\n    ")
            self._runs[run.id] = (run, sight, text)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer(Parts):
    """Turns the parts of a report of `attribute` into JSON objects."""

    def document(self, report: AttributeReport) -> Document:
        attribution = report.attribution
        return {
            "schema": SCHEMA,
            "command": "attribute",
            "partial": report.session.partial,
            "status": attribution.status,
            "mechanism": attribution.mechanism,
            "confidence": attribution.confidence,
            "rate": _rate(attribution.rate),
            "rule": attribution.rule,
            "signature": self.signature(attribution.signature),
            **parts.blockage(report.session.blocked),
            "candidates": _candidates(attribution.candidates),
            "others": [self.attribution(other) for other in report.others],
            "ruled_out": _ruled_out(attribution.ruled_out),
            "not_established": attribution.not_established,
            "separators": attribution.separators,
            "arms": [self.arm(arm, attribution.signature) for arm in report.arms],
            "runs": [],  # `JsonReports` fills them in
            "removed_variables": parts.removed(report.session.removed_variables),
            "notes": report.session.notes,
            "witnesses": report.witnesses,
            "reproducer": command(report.reproducer),
            **parts.following(report.next),
            **parts.surroundings(report),
            "mechanisms": _mechanisms(report.mechanisms),
            "seconds": report.session.seconds,
        }

    def attribution(self, attribution: Attribution) -> Document:
        return {
            "signature": self.signature(attribution.signature),
            "status": attribution.status,
            "mechanism": attribution.mechanism,
            "confidence": attribution.confidence,
            "rate": _rate(attribution.rate),
            "candidates": _candidates(attribution.candidates),
            "ruled_out": _ruled_out(attribution.ruled_out),
            "not_established": attribution.not_established,
            "separators": attribution.separators,
        }

    def arm(self, arm: ArmResult, main: Signature | None) -> Document:
        outcome = None if arm.shown is None else arm.shown.outcome
        return {
            "role": arm.arm.role,
            "env": parts.environment(arm.arm.environment),
            "arguments": arm.arm.arguments,
            "isolation": arm.arm.isolation,
            "acted": arm.acted,
            "why": arm.why,
            "runs": len(arm.runs),
            "red": len(seen(arm, Sight.SAME_RED)),
            "new_red": len(seen(arm, Sight.NEW_RED)),
            "void": len(seen(arm, Sight.NOTHING)),
            "rate": _rate(arm.rate),
            "greens_needed": arm.greens_needed,
            "signature": self.signature(shown_signature(arm, main)),
            "cases": parts.cases(outcome),
            "assertions": parts.assertions(outcome),
            "outputs": [] if outcome is None else _outputs(outcome.outputs),
            "output_problems": [] if outcome is None else _output_problems(outcome.outputs),
            "printed": [] if outcome is None else [_printed(line) for line in outcome.printed],
            "seconds": [run.seconds for run in arm.runs],
        }


def _rate(rate: Rate | None) -> Document | None:
    return None if rate is None else {"red": rate.red, "runs": rate.runs, "low": rate.low, "high": rate.high}


def _candidates(candidates: Iterable[Candidate]) -> list[Document]:
    return [{"mechanism": candidate.mechanism, "posterior": candidate.posterior} for candidate in candidates]


def _ruled_out(ruled_out: Iterable[RuledOut]) -> list[Document]:
    return [
        {"mechanism": out.mechanism, "arm": out.arm, "run": out.run, "expected": out.expected, "saw": out.saw}
        for out in ruled_out
    ]


def _mechanisms(mechanisms: Iterable[Mechanism]) -> list[Document]:
    return [
        {
            "id": row.id,
            "title": row.title,
            "meaning": row.meaning,
            "advice": row.advice,
            "leaves_open": row.leaves_open,
        }
        for row in mechanisms
    ]


def _outputs(outputs: Iterable[OutputFile]) -> list[Document]:
    return [census_document(output.census) | {"path": output.path} for output in outputs if output.census is not None]


def _output_problems(outputs: Iterable[OutputFile]) -> list[Document]:
    return [
        {"path": output.path, "problem": output.problem, "detail": output.detail}
        for output in outputs
        if output.problem is not None
    ]


def _printed(line: PrintedCensus) -> Document:
    return {"name": line.name, "n": line.n, "nan": line.nan, "inf": line.inf, "zero": line.zero}
