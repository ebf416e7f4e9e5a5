"""Reads a profile, one TOML file an allocator, and checks all of it: a misspelt switch would be an inert arm."""

import tomllib
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar

from pooldiag.errors import UsageError
from pooldiag.model.arm_properties import with_properties
from pooldiag.model.arms import (
    AllocatorProfile,
    Arm,
    ArmProperty,
    BannerRule,
    Confidence,
    CounterRule,
    Linkage,
    PoolCounter,
    Role,
)
from pooldiag.model.runs import Environment
from pooldiag.profiles.canary_programs import load_canary
from pooldiag.profiles.switches import (
    check_counter,
    check_environment,
    check_variable,
    checked_property,
    compiled,
    in_order,
    role_named,
)
from pooldiag.toml_tables import TomlTable

_ARM_KEYS = (
    *("set", "unset", "arguments", "proof", "banner", "source", "confidence", "caveat", "one_sided"),
    "properties",
)

_T = TypeVar("_T")


def load_profile(text: str, *, name: str) -> AllocatorProfile:
    """Read the TOML text of the profile `name`. Raises UsageError for anything that is not as it should be."""
    where = f"profile {name}"
    try:
        top = TomlTable(where=where, values=tomllib.loads(text)).only({*_keys(AllocatorProfile), "late"} - {"name"})
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not TOML: {error}") from error
    profile = AllocatorProfile(
        name=name,
        title=top.text("title"),
        source=top.text("source"),
        markers=top.texts("markers"),
        symbols=top.texts("symbols"),
        variables=tuple(check_variable(variable, where=f"{where}: variables") for variable in top.texts("variables")),
        lists=top.texts("lists"),
        arms=in_order(_arms(top.table("arms"), late=top.flag("late"))),
        always=_environment(top.table("always").only(_keys(Environment))),
        stats=_environment(top.table("stats").only(_keys(Environment))),
        counters=_counters(top.table("counters")),
        canary=_if_any(top, "canary", load_canary),
        linked=_if_any(top, "linked", _linkage),
        beneath=top.texts("beneath"),
        no_switch=top.text_if_any("no_switch"),
    )
    _check_names(profile, where=where)
    _check_proofs(profile, where=where)
    _check_poison(profile, where=where)
    _check_canary(profile, where=where)
    if profile.no_switch is not None and profile.arms:
        raise UsageError(f"{where}: has arms, and says that no switch exists", hint="leave no_switch out")
    return profile


def _keys(kind: type) -> frozenset[str]:
    """Return the keys of a table that becomes a data class, key by field."""
    return frozenset(field.name for field in fields(kind))


def _if_any(table: TomlTable, key: str, read: Callable[[TomlTable], _T]) -> _T | None:
    return read(table.table(key)) if key in table.values else None


def _arms(table: TomlTable, *, late: bool) -> list[Arm]:
    arms = [_arm(table.table(role).only(_ARM_KEYS), role_named(role, where=table.where)) for role in table.values]
    return [replace(arm, late=late) for arm in arms]


def _arm(table: TomlTable, role: Role) -> Arm:
    environment, arguments = _environment(table), table.texts("arguments")
    if not (environment.set or environment.unset or arguments):
        raise UsageError(f"{table.where}: changes nothing", hint="expected set, unset or arguments")
    arm = Arm(
        role=role,
        environment=environment,
        arguments=arguments,
        proof=_if_any(table, "proof", lambda proof: _proof(proof, role)),
        banner=_if_any(table, "banner", _banner),
        source=table.text("source"),  # a switch of which nobody can say where it was read is not shipped
        confidence=_confidence(table),
        caveat=table.text_if_any("caveat"),
        one_sided=table.flag("one_sided"),
    )
    return replace(arm, properties=with_properties(arm, _properties(table.table("properties"), role)))


def _properties(table: TomlTable, role: Role) -> tuple[ArmProperty, ...]:
    return tuple(_property(table.table(name), role, name) for name in table.values)


def _property(table: TomlTable, role: Role, name: str) -> ArmProperty:
    table.only(("value", "source"))
    return checked_property(role, name, table.text("value"), source=table.text("source"), where=table.where)


def _confidence(table: TomlTable) -> Confidence:
    text = table.text("confidence")
    if text not in set(Confidence):
        raise UsageError(f"{table.where}: no confidence {text!r}", hint=f"one of: {', '.join(Confidence)}")
    return Confidence(text)


def _banner(table: TomlTable) -> BannerRule:
    table.only(_keys(BannerRule))
    pattern = table.text("pattern")
    if compiled(pattern, where=table.where, hint="a line it prints").search("") is not None:
        raise UsageError(f"{table.where}: {pattern!r} matches an empty line", hint="name the words that it prints")
    printed, sufficient = table.flag("printed", default=True), table.flag("sufficient", default=True)
    return BannerRule(pattern=pattern, printed=printed, sufficient=sufficient)


def _linkage(table: TomlTable) -> Linkage:
    table.only(_keys(Linkage))
    return Linkage(library=table.text("library"), instead=table.texts("instead"), symbols=table.texts("symbols"))


def _environment(table: TomlTable) -> Environment:
    environment = Environment(set=table.pairs("set"), unset=table.texts("unset"))
    return check_environment(environment, where=table.where)


def _proof(table: TomlTable, role: Role) -> CounterRule:
    """Read a rule; under a NaN fill it speaks for the bypass beneath and not for the fill."""
    table.only(("counter", "equals"))
    sufficient = role is not Role.POISON_N
    return CounterRule(counter=table.text("counter"), equals=table.integer("equals"), sufficient=sufficient)


def _counters(table: TomlTable) -> tuple[PoolCounter, ...]:
    return tuple(check_counter(name, table.text(name), where=f"{table.where}: {name}") for name in table.values)


def _check_names(profile: AllocatorProfile, *, where: str) -> None:
    """Refuse a variable that is not listed: the baseline would inherit it."""
    named = [*profile.markers, *profile.lists, *(name for name, _ in (*profile.always.set, *profile.stats.set))]
    named += [name for arm in profile.arms for name, _ in arm.environment.set]
    for name in named:
        if name not in profile.variables:
            raise UsageError(f"{where}: {name} is used and not in variables", hint="add it to variables")


def _check_proofs(profile: AllocatorProfile, *, where: str) -> None:
    counters = [counter.name for counter in profile.counters]
    for arm in profile.arms:
        if arm.proof is not None and arm.proof.counter not in counters:
            raise UsageError(
                f"{where}: {arm.role} is proven by {arm.proof.counter!r}, which is no counter",
                hint=f"counters: {', '.join(counters) or 'none'}",
            )


def _check_canary(profile: AllocatorProfile, *, where: str) -> None:
    roles = [arm.role for arm in profile.arms]
    for rule in profile.canary.rules if profile.canary is not None else ():
        if rule.role not in roles:
            raise UsageError(f"{where}: the canary is asked about {rule.role}, which is no arm", hint="add the arm")


def _check_poison(profile: AllocatorProfile, *, where: str) -> None:
    """Refuse a NaN fill with the pool on: it is red for every kind of reuse, and so tells none from another."""
    arms = {arm.role: arm for arm in profile.arms}
    poison, bypass = arms.get(Role.POISON_N), arms.get(Role.BYPASS)
    if poison is None:
        return
    if bypass is None or not _contains(poison, bypass):
        raise UsageError(
            f"{where}: poison-n is without bypass", hint="set in poison-n all that bypass sets, and the fill"
        )


def _contains(poison: Arm, bypass: Arm) -> bool:
    """Say whether the NaN fill does all that the bypass does; one variable may hold both (`nopool,fill=255`)."""
    values = dict(poison.environment.set)
    return (
        all(value in values.get(name, "") and name in values for name, value in bypass.environment.set)
        and set(bypass.environment.unset) <= set(poison.environment.unset)
        and set(bypass.arguments) <= set(poison.arguments)
    )
