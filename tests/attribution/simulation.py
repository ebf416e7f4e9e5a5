"""Targets that exist only as rates, to see how the engine does on faults that are known: in tests and in calibration.

A simulated target has a pattern, what every role shows, and a red rate; the engine diagnoses it run by run, as it would
a real one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from pooldiag.attribution.answers import Circumstances
from pooldiag.attribution.conclusions import conclude
from pooldiag.attribution.engine import PATTERN_ROLES, Spent, Stop, StopRule, circumstances, next_step
from pooldiag.attribution.faults import FaultVariant
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.model.arms import Acted, ArmProperty, Role
from pooldiag.model.attributions import Attribution, Shows
from pooldiag.model.readings import RedPlace, Sight, Signature, SignatureKind

RED = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case="victim", place=RedPlace(text="simulated"))
_SECONDS_A_RUN = 0.01  # so that a green baseline is made as often as a quick target's
ALL_ROLES = (Role.BASELINE, *PATTERN_ROLES, Role.USED_STATE)
PLAIN = {
    role: (ArmProperty(name="fills_on", value="hand-out"), ArmProperty(name="ordered", value="yes"))
    for role in (Role.POISON_N, Role.POISON_0)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A target with one fault: what each role shows, the rate of the red, and rates of arms with one of their own."""

    pattern: Mapping[Role, Shows]
    rate: float = 1.0
    own: Mapping[Role, float] = field(default_factory=dict)
    out_of_memory: bool = False
    loads_alike: bool = True
    properties: Mapping[Role, tuple[ArmProperty, ...]] = field(default_factory=lambda: PLAIN)

    def run(self, role: Role, random: Random) -> Sight:
        """Play one run of a role; state that is there before the run is there at a folder's second use."""
        shows = Shows.THERE if role is Role.USED_STATE else self.pattern.get(role, Shows.THERE)
        rate = {Shows.THERE: self.rate, Shows.GONE: 0.0}.get(shows, self.own.get(role, 0.0))
        return Sight.SAME_RED if random.random() < rate else Sight.GREEN


def targets_of(fault: FaultVariant, random: Random, *, rate: float) -> Simulated:
    """Draw a target with this fault: what may show either is drawn, and its arms have properties that allow it."""
    pattern = {role: random.choice(fault.allows(role)) for role in PATTERN_ROLES}
    pattern[Role.PLACEBO] = Shows.THERE if fault.placebo else Shows.GONE
    properties: dict[Role, tuple[ArmProperty, ...]] = dict(PLAIN) if fault.plain_fills else {}
    if not fault.apart:
        properties[Role.BYPASS] = (ArmProperty(name="addresses", value="returned"),)
    return Simulated(
        pattern=pattern,
        rate=rate,
        out_of_memory=fault.out_of_memory,
        loads_alike=fault.loads_alike,
        properties=properties,
    )


def own_rates_beside(rate: float) -> list[float]:
    """Return rates of an arm's own, well apart from the baseline's and from never, as the engine takes them."""
    return [
        own / 100
        for own in range(1, 100)
        if 0.25 * rate <= own / 100 <= 0.6 * rate or (rate < 1 and 1 - own / 100 <= 0.6 * (1 - rate))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How the diagnosis of a simulated target went."""

    attribution: Attribution
    runs: int
    sights: Mapping[Role, Sequence[Sight]]


def evidence(
    sights: Mapping[Role, Sequence[Sight]], properties: Mapping[Role, tuple[ArmProperty, ...]] = PLAIN
) -> tuple[RoleEvidence, ...]:
    """Return the evidence of arms that all acted, run ids made of a number and the role."""
    return tuple(
        RoleEvidence(
            role=role,
            acted=None if role is Role.BASELINE else Acted.PROVEN,
            runs=tuple(f"{number:02d}-{role}" for number, _ in enumerate(seen)),
            sights=tuple(seen),
            properties=properties.get(role, ()),
        )
        for role, seen in sights.items()
    )


def diagnose(
    target: Simulated, random: Random, *, roles: Sequence[Role] = ALL_ROLES, plan: StopRule | None = None
) -> Trial:
    """Run the engine on a simulated target until it asks for no more."""
    plan = plan or StopRule()
    sights: dict[Role, list[Sight]] = {role: [] for role in roles}
    runs = 0
    while True:
        seen = evidence(sights, target.properties)
        known = known_of(target, seen)
        spent = Spent(runs=runs, baseline_seconds=_SECONDS_A_RUN * len(sights[Role.BASELINE]))
        step = next_step(seen, plan, spent, known)
        if isinstance(step, Stop):
            break
        sights[step].append(target.run(step, random))
        runs += 1
    attribution = conclude(seen, signature=RED, plan=plan, known=known, stop=step)
    return Trial(attribution=attribution, runs=runs, sights=sights)


def known_of(target: Simulated, seen: Sequence[RoleEvidence]) -> Circumstances:
    """Return the circumstances of a simulated target."""
    return circumstances(seen, out_of_memory=target.out_of_memory, loads_alike=target.loads_alike)


def wrong_roles(target: Simulated, attribution: Attribution) -> Iterator[Role]:
    """Yield the roles that are said to show what they do not show."""
    yield from (one.role for one in attribution.seen if target.pattern.get(one.role, Shows.THERE) is not one.shows)
