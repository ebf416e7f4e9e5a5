"""Targets that exist only as rates: a mechanism, a red rate, and the arms that can be run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from pooldiag.attribution.engine import Plan, Spent, conclude, next_step
from pooldiag.attribution.evidence import RoleEvidence
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.model.arms import Acted, Role
from pooldiag.model.attributions import Attribution, Prediction
from pooldiag.model.readings import Sight, Signature, SignatureKind

ROLES = (
    Role.BASELINE,
    Role.BYPASS,
    Role.EXACT,
    Role.PER_CASE,
    Role.POISON_N,
    Role.POISON_0,
    Role.SERIAL,
    Role.ISOLATE,
)
RED = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case="victim", place="test.cpp:20")
ROWS = {mechanism.id: mechanism for mechanism in MECHANISMS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A target with one fault. `free` are the red rates of the arms about which its mechanism says nothing."""

    mechanism: str
    rate: float = 1.0
    free: dict[Role, float] = field(default_factory=dict)

    def run(self, role: Role, random: Random) -> Sight:
        """Play one run of a role."""
        match ROWS[self.mechanism].predictions[role]:
            case Prediction.GREEN:
                rate = 0.0
            case Prediction.ANYTHING:
                rate = self.free.get(role, 0.0)
            case _:
                rate = self.rate
        return Sight.SAME_RED if random.random() < rate else Sight.GREEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one diagnosis of a simulated target went."""

    attribution: Attribution
    runs: int
    sights: dict[Role, list[Sight]]


def evidence(sights: dict[Role, list[Sight]]) -> tuple[RoleEvidence, ...]:
    return tuple(
        RoleEvidence(
            role=role,
            acted=None if role is Role.BASELINE else Acted.PROVEN,
            runs=tuple(f"{number:02d}-{role}" for number, _ in enumerate(seen)),
            sights=tuple(seen),
        )
        for role, seen in sights.items()
    )


def diagnose(target: Simulated, random: Random, *, roles: Sequence[Role] = ROLES, plan: Plan | None = None) -> Trial:
    """Run the engine on a simulated target until it asks for no more."""
    plan = plan or Plan()
    sights: dict[Role, list[Sight]] = {role: [] for role in roles}
    runs = 0
    while (step := next_step(evidence(sights), plan, Spent(runs=runs))).role is not None:
        sights[step.role].append(target.run(step.role, random))
        runs += 1
    attribution = conclude(evidence(sights), signature=RED, plan=plan, reason=step.reason)
    return Trial(attribution=attribution, runs=runs, sights=sights)
