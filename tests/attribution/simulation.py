"""Targets that exist only as rates, to see how the engine does on faults that are known: in tests and in calibration.

A simulated target has one mechanism of the table and a red rate; the engine diagnoses it run by run, as it
would a real one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from pooldiag.attribution.engine import Spent, Stop, StopRule, conclude, next_step
from pooldiag.attribution.posterior import RoleEvidence
from pooldiag.model.arms import Acted, Role
from pooldiag.model.attributions import Attribution, Mechanism, Prediction
from pooldiag.model.readings import RedPlace, Sight, Signature, SignatureKind

_RED = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case="victim", place=RedPlace(text="simulated"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A target with one fault. `free` are the red rates of the arms about which its mechanism says nothing."""

    mechanism: Mechanism
    rate: float = 1.0
    free: Mapping[Role, float] = field(default_factory=dict)

    def run(self, role: Role, random: Random) -> Sight:
        """Play one run of a role."""
        match self.mechanism.predictions[role]:
            case Prediction.GREEN:
                rate = 0.0
            case Prediction.ANYTHING:
                rate = self.free.get(role, 0.0)
            case _:
                rate = self.rate
        return Sight.SAME_RED if random.random() < rate else Sight.GREEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How the diagnosis of a simulated target went."""

    attribution: Attribution
    runs: int
    sights: Mapping[Role, Sequence[Sight]]


def evidence(sights: Mapping[Role, Sequence[Sight]]) -> tuple[RoleEvidence, ...]:
    """Return the evidence of arms that all acted, run ids made of a number and the role."""
    return tuple(
        RoleEvidence(
            role=role,
            acted=None if role is Role.BASELINE else Acted.PROVEN,
            runs=tuple(f"{number:02d}-{role}" for number, _ in enumerate(seen)),
            sights=tuple(seen),
        )
        for role, seen in sights.items()
    )


def diagnose(
    target: Simulated, random: Random, *, roles: Sequence[Role] = tuple(Role), plan: StopRule | None = None
) -> Trial:
    """Run the engine on a simulated target until it asks for no more."""
    plan = plan or StopRule()
    sights: dict[Role, list[Sight]] = {role: [] for role in roles}
    runs = 0
    while not isinstance(step := next_step(evidence(sights), plan, Spent(runs=runs)), Stop):
        sights[step].append(target.run(step, random))
        runs += 1
    attribution = conclude(evidence(sights), signature=_RED, plan=plan, stop=step)
    return Trial(attribution=attribution, runs=runs, sights=sights)
