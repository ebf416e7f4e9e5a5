"""Runs a profile's canary under its arms, before the target runs: which switches act on this machine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pooldiag.attribution.acted import PRELOAD
from pooldiag.attribution.canary_facts import CanaryFacts, judge, observed, properties_seen
from pooldiag.diagnose.processes import run_process
from pooldiag.diagnose.tools import Tools
from pooldiag.model.arm_properties import with_properties
from pooldiag.model.arms import OWN_ROLES, Acted, AllocatorProfile, Arm, ArmProperty, Canary, Linkage, Role
from pooldiag.model.runs import Environment, RunLimits, RunRequest

_LIMITS = RunLimits(timeout_seconds=30.0, grace_seconds=1.0)
_Verdict = tuple[Acted, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryFindings:
    """What is known of arms before any run: whether they act, and what they do beyond their names."""

    states: Mapping[Role, _Verdict] = field(default_factory=dict)
    properties: Mapping[Role, tuple[ArmProperty, ...]] = field(default_factory=dict)

    def known(self, arm: Arm) -> Arm:
        """Return an arm with what the canary saw of it in place of its profile's word; the user's word stands."""
        own = {one.name for one in arm.properties if one.source is None}
        seen = tuple(one for one in self.properties.get(arm.role, ()) if one.name not in own)
        return replace(arm, properties=with_properties(arm, seen)) if seen else arm


def canary_findings(profile: AllocatorProfile, arms: Sequence[Arm], tools: Tools) -> CanaryFindings:
    """Run the canary, and say which arms it proves or convicts, and what it saw of those that act.

    A canary proves the allocator of this machine, not that the target uses it: an arm of an allocator that
    the target replaces is inert, and is not tried.
    """
    displaced = dict(_displaced(profile.linked, arms, tools)) if profile.linked is not None else {}
    canary = profile.canary
    if canary is None or (preload := _preload(canary, tools)) is None:
        return CanaryFindings(states=displaced)
    rules = {rule.role: rule for rule in canary.rules if rule.role not in displaced}
    tried = [arm for arm in arms if arm.role in rules]
    baseline = next((arm for arm in arms if arm.role is Role.BASELINE), None)
    if baseline is None or not tried:
        return CanaryFindings(states=displaced)
    without = _observe(canary, baseline, preload, tools)
    seen = {arm.role: _observe(canary, arm, preload, tools) for arm in tried}
    judged = {role: judge(rules[role], facts, without) for role, facts in seen.items()}
    states = {role: verdict for role, verdict in judged.items() if verdict is not None}
    acting = [role for role, verdict in states.items() if verdict[0] is Acted.PROVEN]
    return CanaryFindings(
        states=displaced | states,
        properties={role: found for role in acting if (found := properties_seen(role, seen[role]))},
    )


def _displaced(linked: Linkage, arms: Sequence[Arm], tools: Tools) -> Iterator[tuple[Role, _Verdict]]:
    """Yield the arms whose allocator the target does not use. What an arm preloads comes before any other."""
    names = [path.name for path in tools.facts.libraries]
    others = [name for name in names if name.startswith(linked.instead)]
    others += [symbol for symbol in linked.symbols if symbol in tools.facts.names]
    static = tools.facts.searchable and linked.library not in names
    for arm in arms:
        own = arm.environment.set if arm.role not in OWN_ROLES else ()
        switches = [name for name, _ in own if name not in arm.shared]
        if PRELOAD in switches and static:
            yield arm.role, (Acted.INERT, f"the target does not load {linked.library}: nothing can be preloaded")
        elif switches and PRELOAD not in switches and others:
            yield arm.role, (Acted.INERT, f"the target has another allocator: {others[0]}")


def _preload(canary: Canary, tools: Tools) -> Environment | None:
    """Return what brings the target's allocator into the canary; None when the target has no such library."""
    if canary.preload is None:
        return Environment()
    found = [path for path in tools.facts.libraries if path.name.startswith(canary.preload)]
    return Environment(set=((PRELOAD, str(found[0])),)) if found else None


def _observe(canary: Canary, arm: Arm, preload: Environment, tools: Tools) -> CanaryFacts:
    """Run the canary under an arm; nothing was observed when it did not end well."""
    folder = tools.ports.evidence.run_folder(f"canary-{arm.role}")
    environment = tools.facts.removal.merged(arm.environment).merged(preload)
    request = RunRequest(argv=canary.argv, environment=environment, directory=folder, folder=folder, limits=_LIMITS)
    completed = run_process(request, tools.ports)
    return observed(tools.ports.files.lines(completed.stdout)) if completed.ended_well else {}
