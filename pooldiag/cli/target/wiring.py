"""What every command that runs a target is wired with: the folder, the journal, the supervisors, the ports."""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Generic, TypeVar

from rich.console import Console

from pooldiag import __version__
from pooldiag.cli.streams import form_of, say_report
from pooldiag.cli.target.decisions import Decided
from pooldiag.cli.target.live import QuietView, view_for
from pooldiag.diagnose.tools import TargetFacts, Tools
from pooldiag.errors import BlockedError, ExitCode, InterruptedRunError
from pooldiag.execute.disk import SystemDisk
from pooldiag.execute.evidence import EvidenceFolder
from pooldiag.execute.executor_pool import PooledExecutor
from pooldiag.execute.guard import GuardedExecutor
from pooldiag.execute.interrupts import interruptible
from pooldiag.execute.journal import Journal
from pooldiag.execute.local_files import LocalFiles
from pooldiag.execute.machine import age_seconds, commit_of, machine_report, project_of, sha256_of
from pooldiag.execute.supervision import SupervisedExecutor, SupervisedLock, Supervisor
from pooldiag.model.cases import Target
from pooldiag.model.reports import RunReport, TargetReport
from pooldiag.ports import Ports
from pooldiag.profiles import fills_among, inherited_changes, inherited_remarks
from pooldiag.render import Page
from pooldiag.render.run_json import JsonReports

ENVIRONMENT = "environment.json"

_OF_THE_SESSION = re.compile(
    "_|COLORTERM|COLUMNS|DISPLAY|HIST.*|INVOCATION_ID|JOURNAL_STREAM|LINES|LS_COLORS|MAIL|OLDPWD|PS[0-4]|PWD|SHLVL"
    "|TERM.*|WINDOWID|.*_TTY|(DBUS|KONSOLE|POOLDIAG|PYTEST|SSH|SYSTEMD|TMUX|VTE|WAYLAND|XDG)(_.*)?"
)
"""Variables that differ between two sessions of one user and change no run."""

_R = TypeVar("_R", bound=RunReport)

Work = Callable[[Tools, Callable[[_R], None]], object]
"""Does what a command is for with its tools, and hands over every report, the final one last."""


class _Keeper(Generic[_R]):
    """Saves every report in the evidence folder, and has the last one."""

    def __init__(self) -> None:
        self.evidence: EvidenceFolder | None = None  # once there is one
        self.last: list[_R] = []
        self._to_json = JsonReports()

    def keep(self, report: _R) -> None:
        """Save a report, and what each run did that is new in it."""
        if self.evidence is None:
            return
        self.evidence.save(self._to_json(report, Page()))
        self.last = [report]
        with suppress(BlockedError):  # on a full disk the report is enough: it holds them all
            for run, text in self._to_json.fresh():
                self.evidence.save(text, f"{run}/outcome.json")


def run_target(
    work: Work[_R], decided: Decided, *, command: str, jobs: int = 1, resume: Path | None = None
) -> ExitCode:
    """Do the work, save every report, print the last one (also of work that is interrupted), return its exit code."""
    form = form_of(decided.said.format, json=decided.said.json)
    view = view_for(Console(stderr=True), quiet=decided.said.quiet)
    keeper = _Keeper[_R]()
    interrupted: InterruptedRunError | None = None
    try:
        with _wired(decided, view, command=command, jobs=jobs, resume=resume) as (tools, keeper.evidence):
            work(tools, keeper.keep)
    except InterruptedRunError as error:
        interrupted = error
    for report in keeper.last:
        say_report(report, form, hint=f"the report is saved in {report.session.evidence}")
    if interrupted is not None:
        raise interrupted
    return ExitCode[keeper.last[0].verdict.name]


@contextmanager
def _wired(
    decided: Decided, view: QuietView, *, command: str, jobs: int, resume: Path | None
) -> Iterator[tuple[Tools, EvidenceFolder]]:
    """Yield the tools of a command and the folder that its report is saved in; all of it ends with the `with`."""
    with ExitStack() as stack:
        evidence, journal = _folder(decided, command, resume, stack)
        interrupts = stack.enter_context(interruptible())
        supervisors = [stack.enter_context(Supervisor(interrupts, kept=(journal.descriptor,))) for _ in range(jobs)]
        stack.enter_context(view)
        yield _tools(decided, view, evidence, journal, supervisors), evidence


def _folder(decided: Decided, command: str, resume: Path | None, stack: ExitStack) -> tuple[EvidenceFolder, Journal]:
    if resume is not None:
        journal = stack.enter_context(Journal(resume))  # whoever has the journal has the folder
        return stack.enter_context(EvidenceFolder.resume(resume)), journal
    name = decided.settings.target.path.name
    evidence = stack.enter_context(EvidenceFolder(Path.cwd(), command=command, target=name))
    return evidence, stack.enter_context(Journal(evidence.path))


def _tools(
    decided: Decided, view: QuietView, evidence: EvidenceFolder, journal: Journal, supervisors: list[Supervisor]
) -> Tools:
    settings = decided.settings
    disk = SystemDisk(evidence=evidence.path, target=settings.target.path, floors=settings.floors)
    executors = [GuardedExecutor(SupervisedExecutor(one, disk.watched), disk) for one in supervisors]
    remarks = [f"{name} stays set: {reason}" for name, reason in inherited_remarks(os.environ)]
    removed = inherited_changes(os.environ, settings.profile, settings.keep_environment)
    kept = [(name, os.environ[name]) for name in settings.keep_environment if name in os.environ]
    remarks += [
        f"the baseline runs with {fill.name}={fill.value}, kept: it is a fill itself ({fill.reason})"
        for fill in fills_among(kept, settings.profile)
    ]
    inherited = _inherited({name for name, _ in removed})
    ports = Ports(
        executor=executors[0] if len(executors) == 1 else PooledExecutor(executors),
        lock=SupervisedLock(supervisors[0], settings.lock, progress=view),
        disk=disk,
        files=LocalFiles(settings.target, evidence=evidence.path),
        evidence=evidence,
        memo=journal,
        clock=time,
        progress=view,
    )
    facts = TargetFacts(
        report=_target(decided),
        machine=machine_report(),
        names=decided.names,
        searchable=decided.searchable,
        closed=decided.closed,
        libraries=decided.libraries,
        project=_project(settings.target),
        removed=removed,
        fills=fills_among(removed, settings.profile),
        surroundings=_digest(repr((__version__, inherited))),
        changed_variables=_changed_variables(evidence, inherited),
        notes=(*decided.notes, *remarks),
    )
    return Tools(ports=ports, framework=decided.framework, facts=facts)


def _project(target: Target) -> tuple[Path, ...]:
    """Return the folders that paths are shown from: the user's own, the projects of where the target runs and lies."""
    places = (target.directory, target.path, target.path.resolve())
    return tuple(filter(None, (target.shell_directory, *map(project_of, places))))


def _inherited(removed: set[str]) -> dict[str, str]:
    """Return a digest of each variable that runs inherit: no value is written down, but a change is seen."""
    kept = {name for name in os.environ if name not in removed and not _OF_THE_SESSION.fullmatch(name)}
    return {name: _digest(os.environ[name])[:16] for name in sorted(kept)}


def _changed_variables(evidence: EvidenceFolder, inherited: dict[str, str]) -> tuple[str, ...]:
    """Name the variables that are not what they were when the diagnosis of this folder began, if it began before."""
    path = evidence.path / ENVIRONMENT
    if not path.exists():
        evidence.save(json.dumps(inherited, indent=2) + "\n", ENVIRONMENT)
        return ()
    try:
        before = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return ()
    if not isinstance(before, dict):
        return ()
    return tuple(sorted(name for name in before.keys() | inherited if before.get(name) != inherited.get(name)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


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
        profile=decided.profile_name,
    )
