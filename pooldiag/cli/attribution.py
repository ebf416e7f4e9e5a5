"""`attribute` from settings to exit code: wires the ports, saves every report, prints the last."""

import os
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from rich.console import Console

from pooldiag.cli.flags import AttributeFlags
from pooldiag.cli.live import View, view_for
from pooldiag.cli.settings import Decided, decide
from pooldiag.cli.streams import say
from pooldiag.diagnose.attribute import attribute
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError, ExitCode, InterruptedRunError
from pooldiag.execute.clock import SystemClock
from pooldiag.execute.disk import SystemDisk
from pooldiag.execute.evidence import EvidenceFolder
from pooldiag.execute.files import LocalFiles
from pooldiag.execute.guarded import GuardedExecutor
from pooldiag.execute.interrupts import interruptible
from pooldiag.execute.machine import age_seconds, commit_of, machine_report, sha256_of
from pooldiag.execute.supervised import SupervisedExecutor, SupervisedLock, Supervisor
from pooldiag.model.attributions import Status
from pooldiag.model.reports import AttributeReport, TargetReport
from pooldiag.profiles import inherited_changes, inherited_remarks
from pooldiag.render import RENDERERS, JsonReports, Page

_EXIT_CODES = {
    Status.GREEN: ExitCode.GREEN,
    Status.ESTABLISHED: ExitCode.ESTABLISHED,
    Status.UNRESOLVED: ExitCode.UNRESOLVED,
    Status.BLOCKED: ExitCode.BLOCKED,
}


def run_attribute(flags: AttributeFlags) -> ExitCode:
    """Do all of `pooldiag attribute` and return its exit code."""
    decided = decide(flags)
    view = view_for(Console(stderr=True), quiet=flags.quiet)
    last: deque[AttributeReport] = deque(maxlen=1)
    interrupted: InterruptedRunError | None = None
    try:
        with ExitStack() as stack:
            last.extend(_reports(decided, view, stack))
    except InterruptedRunError as error:
        interrupted = error
    for report in last:
        _print(report, as_json=flags.json)
    if interrupted is not None:
        raise interrupted
    return _EXIT_CODES[last[0].attribution.status]


def _reports(decided: Decided, view: View, stack: ExitStack) -> Iterator[AttributeReport]:
    """Diagnose; save every report in the evidence folder before it is passed on."""
    name = decided.settings.target.path.name
    evidence = stack.enter_context(EvidenceFolder(Path.cwd(), command="attribute", target=name))
    interrupts = stack.enter_context(interruptible())
    supervisor = stack.enter_context(Supervisor(interrupts))
    tools = _tools(decided, view, evidence, supervisor)
    to_json = JsonReports()
    with view:
        for report in attribute(decided.settings, tools):
            evidence.save(to_json(report, Page()))
            with suppress(BlockedError):  # on a full disk the report is enough: it holds them all
                for run, text in to_json.fresh():
                    evidence.save(text, f"{run}/outcome.json")
            yield report


def _tools(decided: Decided, view: View, evidence: EvidenceFolder, supervisor: Supervisor) -> Tools:
    settings = decided.settings
    disk = SystemDisk(evidence=evidence.path, target=settings.target.path, floors=settings.floors)
    clock = SystemClock()
    remarks = [f"{name} stays set: {reason}" for name, reason in inherited_remarks(os.environ)]
    return Tools(
        executor=GuardedExecutor(SupervisedExecutor(supervisor, disk.watched), disk),
        lock=SupervisedLock(supervisor, settings.lock, progress=view, clock=clock),
        disk=disk,
        files=LocalFiles(settings.target, evidence=evidence.path),
        evidence=evidence,
        clock=clock,
        progress=view,
        framework=decided.framework,
        target=_target(decided),
        machine=machine_report(),
        names=decided.names,
        searchable=decided.searchable,
        libraries=decided.libraries,
        removed=inherited_changes(os.environ, settings.profile, settings.keep_environment),
        notes=(*decided.notes, *remarks),
    )


def _target(decided: Decided) -> TargetReport:
    settings = decided.settings
    target = settings.target
    return TargetReport(
        argv=(target.shown, *target.arguments),
        directory=target.directory,
        framework=decided.framework.name,
        order=settings.order,
        sha256=sha256_of(target.path),
        built_seconds_ago=age_seconds(target.path),
        commit=commit_of(target.path.parent),
        profile=settings.profile.name,
    )


def _print(report: AttributeReport, *, as_json: bool) -> None:
    """Print the report on stdout."""
    console = Console()
    page = Page(
        width=console.width,
        color=console.is_terminal and not console.no_color and not console.is_dumb_terminal,
        unicode=(sys.stdout.encoding or "").lower().startswith("utf"),
        directory=Path.cwd(),
    )
    say(RENDERERS["json" if as_json else "table"](report, page), hint=f"the report is saved in {report.evidence}")
