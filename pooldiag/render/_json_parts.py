"""What several reports for machines are made of: JSON objects of a run, its counts, the target, the machine."""

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass

from pooldiag.model.outcomes import Outcome
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.reports import Blockage, DiskReport, LockReport, MachineReport, NextCommand, Run, TargetReport
from pooldiag.model.runs import Environment
from pooldiag.model.settings import CommandLine
from pooldiag.render._json_text import Document, command
from pooldiag.render._renderer import RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Turns the parts of one report into JSON objects; `raw_names` are the names that are not UTF-8."""

    raw_names: dict[str, bytes]

    def signature(self, signature: Signature | None) -> Document | None:
        """Return what identifies a failure."""
        if signature is None:
            return None
        found = {
            "kind": signature.kind,
            "signal": signature.signal,
            "case": signature.case,
            "place": None if signature.place is None else signature.place.text,
        }
        return found | self.bytes_beside(signature.case)

    def bytes_beside(self, name: str | None) -> Document:
        """Return the field with a name's bytes; nothing where the name itself holds them."""
        raw = None if name is None else self.raw_names.get(name)
        return {} if raw is None else {"name_bytes": _base64(raw)}

    def all_bytes(self) -> Document:
        """Return the bytes of every name that is not UTF-8, by the name as it is printed."""
        return {name: _base64(raw) for name, raw in sorted(self.raw_names.items())}

    def run(self, run: Run, sight: Sight | None) -> Document:
        """Return one run, its counts and its ending."""
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
            "cases": cases(run.outcome),
            "assertions": assertions(run.outcome),
            "outputs": [
                {"path": output.path, "sha256": None if output.census is None else output.census.sha256}
                for output in run.outcome.outputs
            ],
            "counters": dict(sorted(run.outcome.counters.items())),
            "leftovers": [{"pid": left.pid, "command": left.command} for left in completed.leftovers],
        }


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode("ascii")


def environment(changes: Environment) -> Document:
    """Return what is set and unset."""
    return {"set": dict(changes.set), "unset": changes.unset}


def cases(outcome: Outcome | None) -> Document:
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


def assertions(outcome: Outcome | None) -> Document | None:
    """Count assertions; None where no framework told anything."""
    if outcome is None or outcome.selection is None:
        return None
    return {"passed": outcome.report.assertions_passed, "failed": outcome.report.assertions_failed}


def following(found: NextCommand | None) -> Document:
    """Return the command to type next, and what it is for."""
    return {
        "next": None if found is None else command(found.line),
        "next_purpose": None if found is None else found.purpose,
    }


def blockage(found: Blockage | None) -> Document:
    """Return what blocks, and what to do about it."""
    return {
        "blocked_by": None if found is None else found.problem,
        "hint": None if found is None else found.hint,
    }


def removed(variables: Iterable[tuple[str, str]]) -> list[Document]:
    """Return the variables that were removed from the inherited environment."""
    return [{"name": name, "value": value} for name, value in variables]


def surroundings(report: RunReport) -> Document:
    """Return where and on what a report was made: the same fields in every report."""
    return {
        "invocation": _invocation(report.session.invocation),
        "evidence": str(report.session.evidence),
        "lock": _lock(report.session.lock),
        "disk": _disk(report.session.disk),
        "target": _target(report.session.target),
        "machine": _machine(report.session.machine),
    }


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


def _invocation(invocation: CommandLine | None) -> Document | None:
    if invocation is None or invocation.directory is None:
        return None
    return {
        "command": invocation.command,
        "options": invocation.options,
        "target": invocation.target,
        "directory": str(invocation.directory),
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
