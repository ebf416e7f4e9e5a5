"""The JSON documents of `bisect` and `orders`."""

from pooldiag.model.bisections import (
    BisectReport,
    BothEnds,
    CheckedCommand,
    Confirmation,
    OrderResult,
    OrdersReport,
    Probed,
    ShortestPrefix,
    Tried,
)
from pooldiag.model.cases import Order
from pooldiag.model.readings import Reading
from pooldiag.model.schema import SCHEMA
from pooldiag.render import _json_parts as parts
from pooldiag.render._facts import run_of_order
from pooldiag.render._json_parts import Parts
from pooldiag.render._json_text import Document, command


def bisect_document(writer: Parts, report: BisectReport) -> Document:
    """Return the whole report but for `attribution`, which is filled in as text."""
    return {
        "schema": SCHEMA,
        "command": "bisect",
        "partial": report.session.partial,
        "status": report.status,
        **_found(writer, report),
        "reason": report.reason,
        **parts.blockage(report.session.blocked),
        "runs": report.runs,
        "recalled": report.recalled,
        "speculative": report.speculative,
        "cases_run": report.cases_run,
        "red_with": report.red_with,
        "green_with": report.green_with,
        "seconds": report.session.seconds,
        "probed": [_probed(one) for one in report.probed],
        "whole": None if report.whole is None else writer.run(report.whole, None),
        "others": [writer.signature(other) for other in report.others],
        "attribution": None,
        "confirmations": [_confirmation(writer, one) for one in report.confirmations],
        **_checked("reproducer", report.reproducer),
        **_checked("green_command", report.green_command),
        **parts.following(report.next),
        "notes": report.session.notes,
        "removed_variables": parts.removed(report.session.removed_variables),
        **parts.surroundings(report),
        "name_bytes": writer.all_bytes(),
    }


def _found(writer: Parts, report: BisectReport) -> Document:
    found = report.found
    return {
        "prefix": found.prefix,
        "smallest": found.smallest,
        "victim": found.victim,
        "named_by": found.named_by,
        "position": found.position,
        "signature": writer.signature(found.signature),
        "polluters": found.polluters,
        "cleaners": found.cleaners,
        "state_setters": found.setters,
        "sets": found.sets,
        "red_alone": found.red_alone,
        "noisy": found.noisy,
        "confidence": found.confidence,
        "prefix_proof": _both_ends(found.prefix_proof),
        "set_proof": _both_ends(found.set_proof),
    }


def _both_ends(proof: BothEnds | None) -> Document | None:
    if proof is None:
        return None
    return {"red": _tried(proof.red), "green": [_tried(one) for one in proof.green]}


def _tried(tried: Tried) -> Document:
    return {"cases": tried.cases, "red": tried.red, "green": tried.green, "void": tried.void}


def _probed(one: Probed) -> Document:
    return {"run": one.run, "phase": one.phase, "cases": one.cases, "reading": one.reading}


def _confirmation(writer: Parts, one: Confirmation) -> Document:
    return {
        "role": one.arm.role,
        "env": parts.environment(one.arm.environment),
        "arguments": one.arm.arguments,
        "isolation": one.arm.isolation,
        "sight": one.sight,
        "run": writer.run(one.run, one.sight),
    }


def _checked(name: str, found: CheckedCommand | None) -> Document:
    return {
        name: None if found is None else command(found.line),
        f"{name}_ended": None if found is None else found.ended,
    }


def orders_document(writer: Parts, report: OrdersReport) -> Document:
    """Return the whole report."""
    return {
        "schema": SCHEMA,
        "command": "orders",
        "partial": report.session.partial,
        "orders": [_order(writer, report, one) for one in report.orders],
        "asked": report.asked,
        "shortest": _shortest(report.shortest),
        "by_accident": report.by_accident,
        "runs": report.runs,
        "cases_run": report.cases_run,
        "seconds": report.session.seconds,
        **parts.blockage(report.session.blocked),
        **parts.following(report.next),
        "notes": report.session.notes,
        "removed_variables": parts.removed(report.session.removed_variables),
        **parts.surroundings(report),
        "name_bytes": writer.all_bytes(),
    }


def _order(writer: Parts, report: OrdersReport, result: OrderResult) -> Document:
    """Return one order; what it shares with an earlier one is told with both."""
    run = run_of_order(report, result)
    outcome = None if run is None else run.outcome
    return {
        **_asked(result.order),
        "reading": Reading.VOID if run is None else run.reading.reading,
        "signatures": [] if run is None else [writer.signature(one) for one in run.reading.signatures],
        "cases": parts.cases(outcome),
        "assertions": parts.assertions(outcome),
        "same_as": None if result.same_as is None else _asked(result.same_as),
        "failing": result.failing,
        "victim": result.victim,
        "position": result.position,
        "prefix": result.prefix,
        "run": None if run is None else run.id,
        "void_reason": None if run is None else run.reading.void_reason,
        "seconds": None if run is None else run.seconds,
    }


def _asked(order: Order) -> Document:
    return {"order": order.kind, "seed": order.seed}


def _shortest(found: ShortestPrefix | None) -> Document | None:
    if found is None:
        return None
    return {
        **_asked(found.order),
        "prefix": found.prefix,
        "cases": found.cases,
        "victim": found.victim,
        "proof": _both_ends(found.proof),
        **_checked("reproducer", found.reproducer),
    }
