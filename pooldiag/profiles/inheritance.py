"""The inherited environment: what is taken out of it before any run, and what stays and is worth telling."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from pooldiag.model.arms import AllocatorProfile, InheritedFill, Role
from pooldiag.model.runs import Environment

_FILL = "fill"


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedRule:
    """Variables that belong together; in `names`, `*` stands for any characters. `kept` ones are only named."""

    names: tuple[str, ...]
    reason: str
    kept: bool

    def covers(self, variable: str) -> bool:
        """Say whether the rule is about this variable."""
        return any(fnmatchcase(variable, name) for name in self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class FillRule:
    """Variables that fill memory where they have one of these values, or any; `profile` has a fill of the same kind."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    reason: str
    profile: str | None

    def covers(self, variable: str, value: str) -> bool:
        """Say whether the rule is about this variable, with this value."""
        named = any(fnmatchcase(variable, name) for name in self.names)
        return named and (not self.values or any(fnmatchcase(value, one) for one in self.values))


@cache
def inherited_rules() -> tuple[InheritedRule, ...]:
    """Return the rules for allocators and test frameworks, the same for every target."""
    tables = tomllib.loads((files(__package__) / "_inherited.toml").read_text(encoding="utf-8"))
    return tuple(
        InheritedRule(names=tuple(rule["names"]), reason=rule["reason"], kept=kind == "kept")
        for kind, rules in tables.items()
        for rule in rules
        if kind != _FILL
    )


@cache
def fill_rules() -> tuple[FillRule, ...]:
    """Return which variables fill memory, or bring an allocator that checks it."""
    tables = tomllib.loads((files(__package__) / "_inherited.toml").read_text(encoding="utf-8"))
    return tuple(
        FillRule(
            names=tuple(rule["names"]),
            values=tuple(rule.get("values", ())),
            reason=rule["reason"],
            profile=rule.get("profile"),
        )
        for rule in tables[_FILL]
    )


def fills_among(variables: Iterable[tuple[str, str]], profile: AllocatorProfile) -> tuple[InheritedFill, ...]:
    """Return those of some variables that fill memory, or bring an allocator that checks it.

    A variable of a fill of the profile is one, too: that arm runs anyway.
    """
    own = {
        pair[0]
        for arm in profile.arms
        if arm.role in {Role.POISON_0, Role.POISON_N}
        for pair in arm.environment.set
        if pair not in _always_or_bypass(profile)
    }
    found: list[InheritedFill] = []
    for name, value in variables:
        rule = next((one for one in fill_rules() if one.covers(name, value)), None)
        if rule is not None:
            other = None if rule.profile == profile.name.partition("+")[0] else rule.profile
            found.append(InheritedFill(name=name, value=value, reason=rule.reason, profile=other))
        elif name in own and not any(name in one.names for one in fill_rules()):
            found.append(InheritedFill(name=name, value=value, reason=f"a fill of {profile.title}"))
    return tuple(found)


def _always_or_bypass(profile: AllocatorProfile) -> set[tuple[str, str]]:
    bypass = (pair for arm in profile.arms if arm.role is Role.BYPASS for pair in arm.environment.set)
    return {*bypass, *profile.always.set}


def inherited_changes(
    environ: Mapping[str, str], profile: AllocatorProfile, keep: tuple[str, ...] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the variables to remove from `environ`, with their values, sorted by name.

    `keep` names those that stay. A variable that an arm of the profile unsets stays too: without it the
    arm would be a second baseline.
    """
    staying = {*keep, *(name for arm in profile.arms for name in arm.environment.unset)}
    removed = [rule for rule in inherited_rules() if not rule.kept]
    return tuple(
        (name, value)
        for name, value in sorted(environ.items())
        if name not in staying and (name in profile.variables or any(rule.covers(name) for rule in removed))
    )


def with_inherited(profile: AllocatorProfile, environ: Mapping[str, str]) -> AllocatorProfile:
    """Return the profile with the user's own options kept, where a variable holds a list of them.

    What every run and every arm sets goes behind the inherited value: the last of two options counts. Such
    a variable stays in the environment of a run that sets none.
    """
    own = {name: environ[name] for name in profile.lists if environ.get(name)}
    if not own:
        return profile

    def behind(environment: Environment) -> Environment:
        pairs = tuple((name, f"{own[name]}:{value}" if name in own else value) for name, value in environment.set)
        return replace(environment, set=pairs)

    return replace(
        profile,
        variables=tuple(name for name in profile.variables if name not in own),
        always=behind(profile.always),
        arms=tuple(replace(arm, environment=behind(arm.environment)) for arm in profile.arms),
    )


def inherited_remarks(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that stay although they may change what an allocator does, each with the reason."""
    kept = [rule for rule in inherited_rules() if rule.kept]
    return tuple((name, rule.reason) for name in sorted(environ) for rule in kept if rule.covers(name))
