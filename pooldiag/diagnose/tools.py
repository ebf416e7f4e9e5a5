"""What a diagnosis works with: the ports, the framework, and what was found out before the first run."""

from dataclasses import dataclass, replace
from pathlib import Path

from pooldiag.frameworks.base import Framework
from pooldiag.model.arms import InheritedFill
from pooldiag.model.cases import Listing, Order
from pooldiag.model.reports import MachineReport, TargetReport
from pooldiag.model.runs import Environment
from pooldiag.ports import Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    """What is known of the target, and of where it runs, before the first run.

    `names` are the variable names found in its binary and libraries, among them those of the profile's symbols that
    stand in the binary itself. `libraries` are what it loads at its start. `searchable` is False for a target whose
    files cannot know such names (a script); `closed` is True for one whose files are all that is ever loaded, and that
    starts no other program. `project` are folders from which paths are shown, the first that holds one. `removed`
    are the inherited variables that every run goes without, with the values they had, `fills` those of them that fill
    memory; `surroundings` identifies all others, `changed_variables` are those that differ from an interrupted
    diagnosis that is continued.
    """

    report: TargetReport
    machine: MachineReport
    names: frozenset[str]
    searchable: bool
    closed: bool = False
    libraries: tuple[Path, ...] = ()
    project: tuple[Path, ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    fills: tuple[InheritedFill, ...] = ()
    surroundings: str = ""
    changed_variables: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def report_of(self, listing: Listing | None, order: Order | None = None) -> TargetReport:
        """Say what was run, with what its listing says; `order` where it is not the one of the settings."""
        if listing is None:
            return self.report
        version, cases = listing.framework_version, len(listing.cases)
        return replace(self.report, version=version, cases=cases, order=order or self.report.order)

    @property
    def removal(self) -> Environment:
        """What the environment of every process of ours goes without."""
        return Environment(unset=tuple(name for name, _ in self.removed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The world, the test framework, and the facts."""

    ports: Ports
    framework: Framework
    facts: TargetFacts
