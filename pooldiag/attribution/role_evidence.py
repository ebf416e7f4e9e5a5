"""The runs of one role, as seen from one signature: what every rule of attribution works on."""

from dataclasses import dataclass

from pooldiag.model.arms import Acted, Role
from pooldiag.model.readings import Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleEvidence:
    """The runs of one role as seen from one signature: run ids and sights, in step."""

    role: Role
    acted: Acted | None = None
    runs: tuple[str, ...] = ()
    sights: tuple[Sight, ...] = ()

    def first(self, sight: Sight) -> str | None:
        """Return the id of the first run that was seen so."""
        return next((run for run, seen in zip(self.runs, self.sights, strict=True) if seen is sight), None)

    @property
    def counts(self) -> bool:
        """Whether the arm's runs are evidence at all: an arm that did not act is none."""
        return self.acted in {None, Acted.PROVEN, Acted.PLAUSIBLE}
