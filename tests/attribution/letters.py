"""Arms as letters: R the same red, G green, N a new red, - nothing; what they show, and a diagnosis run by run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from pooldiag.attribution.answers import Circumstances
from pooldiag.attribution.conclusions import conclude
from pooldiag.attribution.engine import Spent, Stop, StopRule, circumstances, next_step
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.model.arms import Acted, ArmProperty, Role
from pooldiag.model.attributions import Attribution, Witness
from pooldiag.model.readings import RedPlace, Sight, Signature, SignatureKind

RED = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case="victim", place=RedPlace(text="test.cpp:20"))
LETTERS = {sight.value: sight for sight in Sight}
PLAIN = (ArmProperty(name="fills_on", value="hand-out"), ArmProperty(name="ordered", value="yes"))
PLAIN_FILLS: Mapping[Role, tuple[ArmProperty, ...]] = {Role.POISON_N: PLAIN, Role.POISON_0: PLAIN}


def role_named(name: str) -> Role:
    return Role(name.replace("_", "-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is known of a target and its arms beside the letters, and how far its diagnosis may go."""

    plan: StopRule = StopRule()
    acted: Mapping[Role, Acted] = field(default_factory=dict)
    properties: Mapping[Role, tuple[ArmProperty, ...]] = field(default_factory=lambda: PLAIN_FILLS)
    out_of_memory: bool = False
    loads_alike: bool = True


ALL_ACT = Given()


def arms(given: Given = ALL_ACT, /, **letters: str) -> tuple[RoleEvidence, ...]:
    """Return the evidence of arms with these runs, all of which acted if nothing else is given."""
    states = {Role.BASELINE: None, **given.acted}
    return tuple(
        RoleEvidence(
            role=role,
            acted=states.get(role, Acted.PROVEN),
            runs=tuple(f"{number:02d}-{role}" for number, _ in enumerate(text, 1)),
            sights=tuple(LETTERS[letter] for letter in text),
            properties=given.properties.get(role, ()),
        )
        for role, text in ((role_named(name), text) for name, text in letters.items())
    )


def known_of(evidence: tuple[RoleEvidence, ...], *, witnesses: tuple[Witness, ...] = ()) -> Circumstances:
    known = circumstances(evidence, out_of_memory=False, loads_alike=True)
    return replace(known, witnesses=witnesses)


def concluded(
    evidence: tuple[RoleEvidence, ...], *, plan: StopRule | None = None, witnesses: tuple[Witness, ...] = ()
) -> Attribution:
    """Conclude from these arms."""
    known = known_of(evidence, witnesses=witnesses)
    return conclude(evidence, signature=RED, plan=plan or StopRule(), known=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosed:
    """How the diagnosis of a target of letters went: what was concluded, and the roles in the order they were asked."""

    attribution: Attribution
    asked: tuple[Role, ...]
    evidence: tuple[RoleEvidence, ...]

    def runs_of(self, role: Role) -> int:
        return self.asked.count(role)


Shown = str | Callable[[int], str]
"""A letter for each run of a role, the last one for all others; or what the run of a number, of all, shows."""


def diagnosed(given: Given = ALL_ACT, /, **shown: Shown) -> Diagnosed:
    """Run the engine on a target of letters until it asks for no more."""
    runs = dict.fromkeys(shown, "")
    asked: list[Role] = []
    for number in count(1):
        evidence = arms(given, **runs)
        known = circumstances(evidence, out_of_memory=given.out_of_memory, loads_alike=given.loads_alike)
        step = next_step(evidence, given.plan, Spent(runs=len(asked)), known)
        if isinstance(step, Stop):
            attribution = conclude(evidence, signature=RED, plan=given.plan, known=known, stop=step)
            return Diagnosed(attribution=attribution, asked=tuple(asked), evidence=evidence)
        name = step.replace("-", "_")
        letters = shown[name]
        runs[name] += letters(number) if callable(letters) else letters[min(len(runs[name]), len(letters) - 1)]
        asked.append(step)
    raise AssertionError


FEW = {"baseline": "R", "bypass": "R", "exact": "R", "per_case": "R", "isolate": "R"}
MOST = {
    **FEW,
    **dict.fromkeys(("poison_n", "poison_0", "serial", "quarantine", "fresh_state", "used_state", "placebo"), "R"),
}
"""A target that no arm changes, with these arms: what a test says besides takes the place of its letters."""
