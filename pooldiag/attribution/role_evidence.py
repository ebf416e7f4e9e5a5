"""The runs of one role as they weigh for one signature."""

from dataclasses import dataclass

from pooldiag.model.arms import Acted, ArmProperty, Role
from pooldiag.model.readings import Sight

_FRUITLESS_RUNS = 2  # one may be chance


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleEvidence:
    """The runs of one role as seen from one signature: run ids and sights, in step, and what is known of its arm."""

    role: Role
    acted: Acted | None = None
    runs: tuple[str, ...] = ()
    sights: tuple[Sight, ...] = ()
    properties: tuple[ArmProperty, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether the arm's runs are evidence at all: an arm that did not act is none."""
        return self.acted in {None, Acted.PROVEN, Acted.PLAUSIBLE}

    @property
    def red(self) -> int:
        """How many runs show the red."""
        return self.sights.count(Sight.SAME_RED)

    @property
    def green(self) -> int:
        """How many runs clear it."""
        return self.sights.count(Sight.GREEN)

    @property
    def can_tell(self) -> bool:
        """Whether a run more may tell: not where the arm did not act, or showed nothing of use however often it ran."""
        if self.acted is Acted.INERT or (self.sights and not self.counts):
            return False
        fruitless = len(self.sights) - self.red - self.green
        return not (fruitless >= _FRUITLESS_RUNS and fruitless == len(self.sights))

    def property(self, name: str) -> str | None:
        """Return what is known of this property of its arm; None where nobody knows."""
        return next((one.value for one in self.properties if one.name == name), None)

    def has(self, name: str, value: str) -> bool:
        """Tell whether the arm is known to have this property."""
        return self.property(name) == value
