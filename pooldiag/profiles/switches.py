"""What profiles and flags have in common: which roles a switch can play, and when names and patterns are usable."""

import re
from collections.abc import Iterable
from dataclasses import replace

from pooldiag.errors import UsageError
from pooldiag.model.arm_properties import PROPERTIES
from pooldiag.model.arms import SWITCHED_ROLES, AllocatorProfile, Arm, ArmProperty, PoolCounter, Role
from pooldiag.model.runs import Environment
from pooldiag.model.words import nearest
from pooldiag.profiles.state_folders import own_arms
from pooldiag.toml_tables import shown

HITS = "hits"
"""The counter of requests that a free list served."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def arms_of(profile: AllocatorProfile) -> tuple[Arm, ...]:
    """Return every arm that a diagnosis can run: the profile's own between the baseline and those of every target.

    All of them set what every run of the profile sets and make the target print its counters, the
    baseline included: else they would differ in more than their role.
    """
    baseline = Arm(role=Role.BASELINE)
    shared = tuple(name for name, _ in profile.stats.set)
    everywhere = profile.always.merged(profile.stats)
    return tuple(
        replace(arm, environment=everywhere.merged(arm.environment), shared=shared)
        for arm in (baseline, *in_order(profile.arms), *own_arms(profile.arms))
    )


def in_order(arms: Iterable[Arm]) -> tuple[Arm, ...]:
    """Return the arms sorted by role."""
    return tuple(sorted(arms, key=lambda arm: SWITCHED_ROLES.index(arm.role)))


def role_named(text: str, *, where: str) -> Role:
    """Return the role that an arm is to play, or raise UsageError: the baseline and isolation need no switch."""
    roles = {str(role): role for role in SWITCHED_ROLES}
    if text in roles:
        return roles[text]
    if text in set(Role):
        raise UsageError(f"{where}: no switch plays the role {text}", hint=f"roles: {', '.join(roles)}")
    raise UsageError(f"{where}: no role {text!r}", hint=f"nearest: {nearest(text, roles)}; roles: {', '.join(roles)}")


def checked_property(role: Role, name: str, value: str, *, source: str | None, where: str) -> ArmProperty:
    """Return a property of an arm, or raise UsageError for one that its role has not, or a value that is not one."""
    rules = {rule.name: rule for rule in PROPERTIES.get(role, ())}
    if not rules:
        raise UsageError(f"{where}: {role} has no properties", hint=f"roles that have: {', '.join(PROPERTIES)}")
    if name not in rules:
        near = nearest(name, rules)
        raise UsageError(
            f"{where}: {role} has no property {name!r}", hint=f"nearest: {near}; of {role}: {', '.join(rules)}"
        )
    read = rules[name].read(value)
    if read is None:
        hint = f"expected {rules[name].expected} ({rules[name].means})"
        raise UsageError(f"{where}: {shown(value)} is not a value of {name}", hint=hint)
    return ArmProperty(name=name, value=read, source=source)


def check_variable(name: str, *, where: str) -> str:
    """Return the name of an environment variable, or raise UsageError."""
    if _VARIABLE.fullmatch(name) is None:
        raise UsageError(
            f"{where}: {name!r} cannot be the name of an environment variable",
            hint="letters, digits and _ only, no digit first",
        )
    return name


def check_environment(environment: Environment, *, where: str) -> Environment:
    """Return the environment, or raise UsageError for a name or value that no process can be given."""
    for name, value in environment.set:
        check_variable(name, where=where)
        if "\0" in value:
            raise UsageError(f"{where}: the value of {name} holds a NUL character", hint="no process can be given it")
    for name in environment.unset:
        check_variable(name, where=where)
    both = [name for name, _ in environment.set if name in environment.unset]
    if both:
        raise UsageError(f"{where}: {both[0]} is both set and unset", hint="leave one of them out")
    return environment


def check_counter(name: str, pattern: str, *, where: str) -> PoolCounter:
    """Return a counter whose pattern finds one number, or raise UsageError."""
    expression = compiled(pattern, where=where, hint=r"for instance 'hits=(\d+)'")
    if expression.groups != 1:
        raise UsageError(
            f"{where}: {pattern!r} has {expression.groups} groups, not 1",
            hint=r"put the number, and nothing else, in parentheses: 'hits=(\d+)'; (?:...) groups without counting",
        )
    if expression.search("") is not None:
        raise UsageError(f"{where}: {pattern!r} matches an empty line", hint=r"a number has a digit: (\d+), not (\d*)")
    return PoolCounter(name=name, pattern=pattern)


def compiled(pattern: str, *, where: str, hint: str) -> re.Pattern[str]:
    """Return a regular expression, or raise UsageError."""
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{where}: {pattern!r} is no regular expression: {error}", hint=hint) from error


def on_top_of(bypass: Arm, poison: Arm) -> Arm:
    """Return the NaN fill with the bypass beneath it: with the pool on, a fill tells nothing."""
    missing = tuple(word for word in bypass.arguments if word not in poison.arguments)
    proof = poison.proof or bypass.proof
    return replace(
        poison,
        environment=bypass.environment.merged(poison.environment),
        arguments=(*missing, *poison.arguments),
        proof=None if proof is None else replace(proof, sufficient=False),
    )
