"""What a diagnosis works with: every port, and what was found out about the target before the first run."""

from dataclasses import dataclass
from pathlib import Path

from pooldiag.frameworks.base import Framework
from pooldiag.model.reports import MachineReport, TargetReport
from pooldiag.ports import Clock, DeviceLock, Disk, Evidence, Executor, Files, Memo, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The ports and the facts; `names` are the variable names found in the target's binary and libraries.

    Among them are those of the profile's symbols that stand in the binary itself. `libraries` are what it
    loads at its start. `searchable` is False for a target whose files cannot know such names (a script).
    `removed` are the inherited variables that every run goes without, with the values they had; `surroundings`
    identifies all others, `changed_variables` are those that differ from a diagnosis that is gone on with.
    """

    executor: Executor
    lock: DeviceLock
    disk: Disk
    files: Files
    evidence: Evidence
    memo: Memo
    clock: Clock
    progress: Progress
    framework: Framework
    target: TargetReport
    machine: MachineReport
    names: frozenset[str]
    searchable: bool
    libraries: tuple[Path, ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    surroundings: str = ""
    changed_variables: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
