"""Reads a profile, one TOML file an allocator, and checks all of it: a misspelt switch would be an inert arm."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from pooldiag.errors import UsageError
from pooldiag.model.arms import AllocatorProfile, Arm, Counter, CounterRule, Role
from pooldiag.model.runs import Environment
from pooldiag.profiles.switches import (
    check_counter,
    check_environment,
    check_variable,
    in_order,
    nearest,
    role_named,
)

_PROFILE_KEYS = ("title", "source", "markers", "variables", "stats", "counters", "arms")
_ENVIRONMENT_KEYS = ("set", "unset")
_ARM_KEYS = (*_ENVIRONMENT_KEYS, "arguments", "proof", "source")
_PROOF_KEYS = ("counter", "equals")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """One TOML table; every error names the profile and the key."""

    where: str
    values: dict[str, object]

    def only(self, keys: Iterable[str]) -> "_Table":
        """Refuse a key that is not among `keys`."""
        known = tuple(keys)
        for key in self.values:
            if key not in known:
                raise UsageError(f"{self.where}: unknown key {key!r}", hint=f"nearest: {nearest(key, known)}")
        return self

    def text(self, key: str) -> str:
        """Return a string that must be there and say something."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(key, "a string that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an array of strings; empty when absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "an array of strings")
        return tuple(value)

    def integer(self, key: str) -> int:
        """Return an integer that must be there."""
        value = self.values.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "an integer")
        return value

    def table(self, key: str) -> "_Table":
        """Return a table; empty when absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, "a table")
        return _Table(where=f"{self.where}: {key}", values=value)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return a table of strings as pairs; a number is refused, for 1 and "01" are not the same to a getenv."""
        table = self.table(key)
        return tuple((name, table.string(name)) for name in table.values)

    def string(self, key: str) -> str:
        """Return a string that must be there, and may be empty."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def _wrong(self, key: str, expected: str) -> UsageError:
        if key not in self.values:
            return UsageError(f"{self.where}: {key} is missing", hint=f"expected {expected}")
        return UsageError(f"{self.where}: {key} = {self.values[key]!r}", hint=f"expected {expected}")


def load_profile(text: str, *, name: str) -> AllocatorProfile:
    """Read the TOML text of the profile `name`. Raises UsageError for anything that is not as it should be."""
    where = f"profile {name}"
    try:
        top = _Table(where=where, values=tomllib.loads(text)).only(_PROFILE_KEYS)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not TOML: {error}") from error
    profile = AllocatorProfile(
        name=name,
        title=top.text("title"),
        source=top.text("source"),
        markers=top.texts("markers"),
        variables=tuple(check_variable(variable, where=f"{where}: variables") for variable in top.texts("variables")),
        arms=in_order(_arms(top.table("arms"))),
        stats=_environment(top.table("stats").only(_ENVIRONMENT_KEYS)),
        counters=_counters(top.table("counters")),
    )
    _check_names(profile, where=where)
    _check_proofs(profile, where=where)
    _check_poison(profile, where=where)
    return profile


def _arms(table: _Table) -> list[Arm]:
    return [_arm(table.table(role).only(_ARM_KEYS), role_named(role, where=table.where)) for role in table.values]


def _arm(table: _Table, role: Role) -> Arm:
    table.text("source")  # a switch of which nobody can say where it was read is not shipped
    environment, arguments = _environment(table), table.texts("arguments")
    if not (environment.set or environment.unset or arguments):
        raise UsageError(f"{table.where}: changes nothing", hint="expected set, unset or arguments")
    proof = _proof(table.table("proof").only(_PROOF_KEYS), role) if "proof" in table.values else None
    return Arm(role=role, environment=environment, arguments=arguments, proof=proof)


def _environment(table: _Table) -> Environment:
    environment = Environment(set=table.pairs("set"), unset=table.texts("unset"))
    return check_environment(environment, where=table.where)


def _proof(table: _Table, role: Role) -> CounterRule:
    """Read a rule; under a NaN fill it speaks for the bypass beneath and not for the fill."""
    sufficient = role is not Role.POISON_N
    return CounterRule(counter=table.text("counter"), equals=table.integer("equals"), sufficient=sufficient)


def _counters(table: _Table) -> tuple[Counter, ...]:
    return tuple(check_counter(name, table.text(name), where=f"{table.where}: {name}") for name in table.values)


def _check_names(profile: AllocatorProfile, *, where: str) -> None:
    """Refuse a variable that is not listed: the baseline would inherit it."""
    named = [*profile.markers, *(name for name, _ in profile.stats.set)]
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
