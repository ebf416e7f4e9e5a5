"""Profiles from flags: anybody else's pool."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from pooldiag.errors import UsageError
from pooldiag.model.arm_properties import with_properties
from pooldiag.model.arms import AllocatorProfile, Arm, ArmProperty, CounterRule, PoolCounter, Role
from pooldiag.model.runs import Environment
from pooldiag.profiles.switches import (
    HITS,
    check_counter,
    check_environment,
    checked_property,
    in_order,
    on_top_of,
    role_named,
)
from pooldiag.toml_tables import shown

NO_PROFILE = AllocatorProfile(
    name="none", title="no known allocator", source="no profile's variables in the target, and no switch given"
)

_COUNTER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def custom_profile(
    base: AllocatorProfile | None,
    arms: Sequence[str],
    stats: str | None,
    counters: Sequence[str],
    properties: Sequence[str] = (),
) -> AllocatorProfile:
    """Return the profile that flags make of `base`; without any flag it is `base`, or NO_PROFILE.

    An arm is `ROLE=WORDS`, WORDS split as a shell does: `NAME=VALUE` sets, `-NAME` unsets. It replaces the
    base's arm of that role, and an earlier one given for it: the file's come first, then the flags. The
    bypass goes under the NaN fill by itself. `stats` are words of the same kind.

    A property is `ROLE.NAME=VALUE`, of the arm that plays the role once all arms are known. Those of the base go with
    its switches: an arm that takes another's place has none but what is said of it.
    """
    switched = _switched(base or NO_PROFILE, arms, stats, counters)
    given = tuple(map(parse_property, properties))
    for text, (role, _) in zip(properties, given, strict=True):
        if role not in {arm.role for arm in switched.arms}:
            hint = f"name a switch, --arm '{role}=NAME=VALUE', or leave it out"
            raise UsageError(f"property {shown(text)}: no switch plays the role {role} here", hint=hint)
    if not given:
        return switched
    return replace(switched, arms=tuple(_knowing(arm, given) for arm in switched.arms))


def _switched(
    start: AllocatorProfile, arms: Sequence[str], stats: str | None, counters: Sequence[str]
) -> AllocatorProfile:
    if not arms and stats is None and not counters:
        return start
    known = start is not NO_PROFILE
    given = {arm.role: arm for arm in map(parse_arm, arms)}
    return _with_variables(
        replace(
            start,
            name=f"{start.name}+custom" if known else "custom",
            title=f"{start.title}, with switches of the user" if known else "switches of the user",
            source=f"{start.source}; the user" if known else "the user",
            arms=_joined({arm.role: arm for arm in start.arms}, given),
            stats=start.stats if stats is None else parse_environment(stats, where=f"stats {stats!r}"),
            counters=tuple({one.name: one for one in (*start.counters, *map(parse_counter, counters))}.values()),
        )
    )


def parse_arm(text: str) -> Arm:
    """Read `ROLE=WORDS`."""
    where = f"arm {text!r}"
    role, separator, words = text.partition("=")
    if not separator:
        raise UsageError(f"{where}: no = after the role", hint="write ROLE=WORDS: 'bypass=MY_POOL=off'")
    return Arm(role=role_named(role.strip(), where=where), environment=parse_environment(words, where=where))


def parse_property(text: str) -> tuple[Role, ArmProperty]:
    """Read `ROLE.NAME=VALUE`."""
    where = f"property {shown(text)}"
    place, separator, value = text.partition("=")
    role, dot, name = place.partition(".")
    if not (separator and dot):
        raise UsageError(f"{where}: is not ROLE.NAME=VALUE", hint="for instance bypass.addresses=apart")
    played = role_named(role.strip(), where=where)
    return played, checked_property(played, name.strip(), value.strip(), source=None, where=where)


def parse_environment(text: str, *, where: str) -> Environment:
    """Read words, split as a shell does: `NAME=VALUE` sets, `-NAME` unsets; an empty value is a value."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{where}: cannot be split into words: {error}", hint="close the quote") from error
    if not words:
        raise UsageError(f"{where}: changes nothing", hint="NAME=VALUE sets a variable, -NAME unsets one")
    unset = tuple(word.removeprefix("-") for word in words if word.startswith("-"))
    setting = [word for word in words if not word.startswith("-")]
    if (wrong := next((word for word in setting if "=" not in word), None)) is not None:
        raise UsageError(f"{where}: {wrong!r} neither sets nor unsets", hint="write NAME=VALUE, or -NAME to unset it")
    pairs = tuple((name, value) for name, _, value in (word.partition("=") for word in setting))
    names = [*(name for name, _ in pairs), *unset]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{where}: {twice} is named twice", hint="leave one of them out")
    return check_environment(Environment(set=pairs, unset=unset), where=where)


def parse_counter(text: str) -> PoolCounter:
    r"""Read `NAME=REGEX`, of which one group is the number.

    `hits=(\d+)` is the counter `hits`, and the whole text is what is searched for: a REGEX that would match
    a bare number does not say where it stands. Any other REGEX is searched by itself:
    `hits=served from cache: (\d+)`.
    """
    where = f"counter {text!r}"
    name, separator, rest = text.partition("=")
    if not separator or _COUNTER_NAME.fullmatch(name) is None:
        raise UsageError(f"{where}: no name before a =", hint=r"write NAME=REGEX: 'hits=(\d+)'")
    counter = check_counter(name, rest, where=where)
    return counter if re.fullmatch(rest, "0") is None else replace(counter, pattern=text)


def _knowing(arm: Arm, given: Sequence[tuple[Role, ArmProperty]]) -> Arm:
    """Add what the user knows of an arm; it stands over the profile's word."""
    own = tuple(one for role, one in given if role is arm.role)
    return replace(arm, properties=with_properties(arm, own)) if own else arm


def _joined(known: dict[Role, Arm], given: dict[Role, Arm]) -> tuple[Arm, ...]:
    """Replace roles, then put the bypass in force under the NaN fill."""
    arms = known | given
    bypass, poison = arms.get(Role.BYPASS), arms.get(Role.POISON_N)
    if poison is None:
        return in_order(arms.values())
    if bypass is None:
        raise UsageError(
            "a NaN fill (poison-n) with the pool on tells nothing, and no bypass is known",
            hint="give one: --arm 'bypass=NAME=VALUE'",
        )
    if Role.POISON_N not in given and Role.BYPASS in known:
        poison = _without(known[Role.BYPASS], poison)
    return in_order((arms | {Role.POISON_N: on_top_of(bypass, poison)}).values())


def _without(bypass: Arm, poison: Arm) -> Arm:
    """Take the profile's bypass out of its NaN fill, where another one is to go under it."""
    own = tuple(pair for pair in poison.environment.set if pair not in bypass.environment.set)
    unset = tuple(name for name in poison.environment.unset if name not in bypass.environment.unset)
    arguments = tuple(word for word in poison.arguments if word not in bypass.arguments)
    return replace(poison, environment=Environment(set=own, unset=unset), arguments=arguments)


def _with_variables(profile: AllocatorProfile) -> AllocatorProfile:
    """Name what is taken out of the inherited environment, and let a hits counter prove the bypass."""
    environments = (profile.stats, *(arm.environment for arm in profile.arms))
    used = [*profile.variables, *(name for environment in environments for name, _ in environment.set)]
    counted = any(counter.name == HITS for counter in profile.counters)
    return replace(
        profile,
        variables=tuple(dict.fromkeys(used)),
        arms=tuple(_proven(arm) if counted else arm for arm in profile.arms),
    )


def _proven(arm: Arm) -> Arm:
    if arm.proof is not None or arm.role not in {Role.BYPASS, Role.POISON_N}:
        return arm
    return replace(arm, proof=CounterRule(counter=HITS, equals=0, sufficient=arm.role is Role.BYPASS))
