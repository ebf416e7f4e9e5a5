"""The inherited environment: what is taken out of it before any run, and what stays and is worth telling."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from pooldiag.model.arms import AllocatorProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedRule:
    """Variables that belong together; in `names`, `*` stands for any characters. `kept` ones are only told."""

    names: tuple[str, ...]
    reason: str
    kept: bool

    def covers(self, variable: str) -> bool:
        """Say whether the rule is about this variable."""
        return any(fnmatchcase(variable, name) for name in self.names)


@cache
def inherited_rules() -> tuple[InheritedRule, ...]:
    """Return the rules for allocators and test frameworks, the same for every target."""
    tables = tomllib.loads((files(__package__) / "_inherited.toml").read_text(encoding="utf-8"))
    return tuple(
        InheritedRule(names=tuple(rule["names"]), reason=rule["reason"], kept=kind == "kept")
        for kind, rules in tables.items()
        for rule in rules
    )


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


def inherited_remarks(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that stay although they may change what an allocator does, each with the reason."""
    kept = [rule for rule in inherited_rules() if rule.kept]
    return tuple((name, rule.reason) for name in sorted(environ) for rule in kept if rule.covers(name))
