"""The document of `profiles`."""

from collections.abc import Mapping
from dataclasses import dataclass

from pooldiag.model.arms import AllocatorProfile, Arm, BannerRule, CounterRule, ProfilesReport
from pooldiag.model.runs import Environment
from pooldiag.render.json import DocumentForm, Forms


@dataclass(frozen=True, slots=True, kw_only=True)
class _CanaryDocument:
    """What a canary must observe under each arm."""

    preload: str | None
    arms: Mapping[str, Mapping[str, tuple[str, ...]]]


def variables(environment: Environment) -> Mapping[str, str]:
    """Return what is set."""
    return dict(environment.set)


def _counters(profile: AllocatorProfile) -> Mapping[str, str]:
    return {counter.name: counter.pattern for counter in profile.counters}


def _canary(profile: AllocatorProfile) -> _CanaryDocument | None:
    found = profile.canary
    if found is None:
        return None
    return _CanaryDocument(preload=found.preload, arms={str(rule.role): dict(rule.expects) for rule in found.rules})


FORMS: Forms = {
    ProfilesReport: DocumentForm(head={"schema": "pooldiag.profiles/1"}, without=("whole",)),
    AllocatorProfile: DocumentForm(made={"counters": _counters, "canary": _canary}),
    Arm: DocumentForm(names={"environment": "env"}, without=("isolation", "shared")),
    CounterRule: DocumentForm(without=("sufficient",)),
    BannerRule: DocumentForm(without=("sufficient",)),
    Environment: DocumentForm(made={"set": variables}),
}
