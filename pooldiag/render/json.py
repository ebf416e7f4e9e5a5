"""The report for machines: `report.schema.json` beside this file describes it.

Fields are added, never renamed. The text is ASCII, and none of its strings holds a lone surrogate.
"""

import json
import math
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pooldiag.model.attributions import Attribution, Candidate, Mechanism, Rate, RuledOut
from pooldiag.model.census import Census, Element, PatternCount, PrintedCensus
from pooldiag.model.outcomes import Outcome, OutputFile
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.reports import (
    SCHEMA,
    ArmResult,
    DiskReport,
    LockReport,
    MachineReport,
    Run,
    TargetReport,
)
from pooldiag.model.runs import Environment
from pooldiag.render._facts import name_bytes, runs_of, seen, shown_signature
from pooldiag.render._page import Page, Report
from pooldiag.render._text import shell_line, without_surrogates

Document = dict[str, Any]
_BETWEEN_RUNS = ",\n    "


def render(report: Report, page: Page) -> str:
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

    def __call__(self, report: Report, page: Page) -> str:  # noqa: ARG002 - a page changes nothing for machines
        """Return the report as one JSON document."""
        writer = _Writer(raw_names=name_bytes(report))
        sights = {run.id: sight for arm in report.arms for run, sight in zip(arm.runs, arm.sights, strict=False)}
        runs = [self._run(writer, run, sights.get(run.id)) for run in runs_of(report)]
        text = _text(writer.document(report))
        if runs:  # a line of this depth is no part of a string: those have no line ends
            text = text.replace('\n  "runs": [],\n', f'\n  "runs": [\n    {_BETWEEN_RUNS.join(runs)}\n  ],\n')
        return f"{text}\n"

    def fresh(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of every run that the last report had and the one before had not."""
        for run in [run for run in self._runs if run not in self._told]:
            self._told.add(run)
            yield run, f"{self._runs[run][2]}\n"

    def _run(self, writer: "_Writer", run: Run, sight: Sight | None) -> str:
        known, seen_as, text = self._runs.get(run.id, (None, None, ""))
        if known is not run or seen_as is not sight:
            text = _text(writer.run(run, sight)).replace("\n", "\n    ")
            self._runs[run.id] = (run, sight, text)
        return text


def _text(document: Document) -> str:
    return json.dumps(_clean(document), indent=2)


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Replace what JSON cannot say: lone surrogates, and numbers that are not finite."""
    match value:
        case str():
            return without_surrogates(value)
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case list() | tuple():
            return [_clean(item) for item in value]
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """Turns the parts of one report into JSON objects; `raw_names` are the names that are not UTF-8."""

    raw_names: dict[str, bytes]

    def document(self, report: Report) -> Document:
        attribution = report.attribution
        return {
            "schema": SCHEMA,
            "command": "attribute",
            "partial": report.partial,
            "status": attribution.status,
            "mechanism": attribution.mechanism,
            "confidence": attribution.confidence,
            "rate": _rate(attribution.rate),
            "rule": attribution.rule,
            "signature": self.signature(attribution.signature),
            "blocked_by": report.blocked_by,
            "hint": report.hint,
            "candidates": _candidates(attribution.candidates),
            "others": [self.attribution(other) for other in report.others],
            "ruled_out": _ruled_out(attribution.ruled_out),
            "not_established": attribution.not_established,
            "separators": attribution.separators,
            "arms": [self.arm(arm, attribution.signature) for arm in report.arms],
            "runs": [],  # `JsonReports` fills them in
            "removed_variables": [{"name": name, "value": value} for name, value in report.removed_variables],
            "notes": report.notes,
            "witnesses": report.witnesses,
            "reproducer": _command(report.reproducer),
            "next": None if report.next is None else _command(report.next.line),
            "next_purpose": None if report.next is None else report.next.purpose,
            "evidence": str(report.evidence),
            "lock": _lock(report.lock),
            "disk": _disk(report.disk),
            "target": _target(report.target),
            "machine": _machine(report.machine),
            "mechanisms": _mechanisms(report.mechanisms),
            "seconds": report.seconds,
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

    def signature(self, signature: Signature | None) -> Document | None:
        if signature is None:
            return None
        found = {
            "kind": signature.kind,
            "signal": signature.signal,
            "case": signature.case,
            "place": signature.place,
        }
        return found | self.bytes_beside(signature.case)

    def bytes_beside(self, name: str | None) -> Document:
        raw = None if name is None else self.raw_names.get(name)
        return {} if raw is None else {"name_bytes": b64encode(raw).decode("ascii")}

    def arm(self, arm: ArmResult, main: Signature | None) -> Document:
        outcome = None if arm.shown is None else arm.shown.outcome
        return {
            "role": arm.arm.role,
            "env": _environment(arm.arm.environment),
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
            "cases": _cases(outcome),
            "assertions": _assertions(outcome),
            "outputs": [] if outcome is None else _outputs(outcome.outputs),
            "output_problems": [] if outcome is None else _output_problems(outcome.outputs),
            "printed": [] if outcome is None else [_printed(line) for line in outcome.printed],
            "seconds": [run.seconds for run in arm.runs],
        }

    def run(self, run: Run, sight: Sight | None) -> Document:
        completed = run.outcome.completed
        return {
            "id": run.id,
            "arm": run.arm.role,
            "reading": run.reading.reading,
            "sight": sight,
            "ending": completed.words,
            "exit_code": completed.exit_code,
            "signal": completed.signal,
            "seconds": run.seconds,
            "signatures": [self.signature(signature) for signature in run.reading.signatures],
            "void_reason": run.reading.void_reason,
            "vacuous": [{"case": name} | self.bytes_beside(name) for name in run.reading.vacuous],
            "notes": run.reading.notes,
            "cases": _cases(run.outcome),
            "assertions": _assertions(run.outcome),
            "outputs": [
                {"path": output.path, "sha256": None if output.census is None else output.census.sha256}
                for output in run.outcome.outputs
            ],
            "counters": dict(sorted(run.outcome.counters.items())),
            "leftovers": [{"pid": left.pid, "command": left.command} for left in completed.leftovers],
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


def _environment(environment: Environment) -> Document:
    return {"set": dict(environment.set), "unset": environment.unset}


def _cases(outcome: Outcome | None) -> Document:
    """Count cases; `selected` is null where no framework told anything."""
    if outcome is None:
        return {"selected": None, "started": 0, "passed": 0, "failed": 0, "skipped": 0}
    selection = () if outcome.selection is None else outcome.selection.cases
    return {
        "selected": outcome.selected,
        "started": outcome.started,
        "passed": outcome.passed,
        "failed": outcome.failed,
        "skipped": sum(case.skipped for case in selection),
    }


def _assertions(outcome: Outcome | None) -> Document | None:
    if outcome is None or outcome.selection is None:
        return None
    return {"passed": outcome.report.assertions_passed, "failed": outcome.report.assertions_failed}


def _outputs(outputs: Iterable[OutputFile]) -> list[Document]:
    return [_census(output.census) | {"path": output.path} for output in outputs if output.census is not None]


def _output_problems(outputs: Iterable[OutputFile]) -> list[Document]:
    return [
        {"path": output.path, "problem": output.problem, "detail": output.detail}
        for output in outputs
        if output.problem is not None
    ]


def _census(census: Census) -> Document:
    return {
        "path": census.path,
        "tensor": census.tensor,
        "format": census.format,
        "dtype": census.dtype,
        "sha256": census.sha256,
        "n": census.n,
        "nan": census.nan,
        "inf": census.inf,
        "positive_inf": census.positive_inf,
        "negative_inf": census.negative_inf,
        "zero": census.zero,
        "negative_zero": census.negative_zero,
        "subnormal": census.subnormal,
        "min": census.minimum,
        "max": census.maximum,
        "absmax": census.absmax,
        "first": [_element(element) for element in census.first],
        "nan_patterns": [_pattern(pattern) for pattern in census.nan_patterns],
        "nan_runs": {
            "count": census.nan_runs.count,
            "longest": census.nan_runs.longest,
            "first": census.nan_runs.first,
        },
        "dominant": None if census.dominant is None else _pattern(census.dominant),
        "findings": [
            {"rule": finding.rule, "text": finding.text, "confidence": finding.confidence}
            for finding in census.findings
        ],
    }


def _element(element: Element) -> Document:
    return {"value": element.value, "bits": element.bits}


def _pattern(pattern: PatternCount) -> Document:
    return {"bits": pattern.bits, "count": pattern.count}


def _printed(line: PrintedCensus) -> Document:
    return {"name": line.name, "n": line.n, "nan": line.nan, "inf": line.inf, "zero": line.zero}


def _command(command: str | None) -> str | None:
    """Return a command line without raw bytes, so that strict readers of JSON take it and a shell still does."""
    return None if command is None else command if without_surrogates(command) == command else shell_line(command)


def _lock(lock: LockReport | None) -> Document | None:
    if lock is None:
        return None
    return {
        "paths": [str(path) for path in lock.paths],
        "waited_seconds": lock.waited_seconds,
        "held_seconds": lock.held_seconds,
    }


def _disk(disk: DiskReport | None) -> Document | None:
    if disk is None:
        return None
    return {"free_before": disk.free_before, "free_after": disk.free_after, "floor": disk.floor}


def _target(target: TargetReport) -> Document:
    return {
        "argv": target.argv,
        "directory": str(target.directory),
        "framework": target.framework,
        "version": target.version,
        "order": target.order.kind,
        "seed": target.order.seed,
        "cases": target.cases,
        "sha256": target.sha256,
        "built_seconds_ago": target.built_seconds_ago,
        "commit": target.commit,
        "profile": target.profile,
    }


def _machine(machine: MachineReport) -> Document:
    return {
        "host": machine.host,
        "system": machine.system,
        "cpus": machine.cpus,
        "memory_bytes": machine.memory_bytes,
        "gpus": machine.gpus,
        "boot_id": machine.boot_id,
    }
