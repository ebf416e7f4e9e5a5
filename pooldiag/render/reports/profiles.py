"""The report of `profiles`: all of them in a table, or all that is known of one."""

import shlex
from collections.abc import Iterator

from pooldiag.model.arms import AllocatorProfile, Arm, Canary, CanaryRule, Confidence, ProfilesReport
from pooldiag.model.runs import Environment
from pooldiag.render.blocks import Blocks, Cell, Column, Fact, Facts, Row, Table, Text

_LINE = 50  # characters beside the names at the edge of a sheet of 80 columns
_OBSERVED = {
    "fresh": "a new block holds {}",
    "freed": "a freed block is {}",
    "handed": "the block handed out next holds {}",
    "again": "a freed block comes back {}",
}
_COLUMNS = (
    Column("Profile", whole=True),
    Column("Allocator"),
    Column("Arms"),
    Column("Known from", whole=True),
    Column("Found by", whole=True),
)


def blocks(report: ProfilesReport) -> Blocks:
    """Return the table, or the sheets of those that are shown whole."""
    if report.whole:
        return tuple(Facts(tuple(_sheet(profile))) for profile in report.profiles)
    return (Table(columns=_COLUMNS, rows=tuple(map(_row, report.profiles)), plain=True),)


def _row(profile: AllocatorProfile) -> Row:
    roles = " ".join(str(arm.role) for arm in profile.arms) or "no switch"
    known = (arm.confidence for arm in profile.arms if arm.confidence)
    least_certain = max(known, key=list(Confidence).index, default="-")
    switched_by = "its names" if profile.markers or profile.symbols else "--profile"
    found_by = switched_by if profile.no_switch is None else "-"
    return tuple(map(Cell, (profile.name, profile.title, roles, least_certain, found_by)))


def _sheet(profile: AllocatorProfile) -> Iterator[Fact]:
    yield Fact(profile.name, profile.title)
    yield from _facts(profile)
    for arm in profile.arms:
        yield Fact()
        yield Fact(str(arm.role), below=(Facts(tuple(_arm_facts(arm, profile.canary))),))


def _facts(profile: AllocatorProfile) -> Iterator[Fact]:
    yield Fact("source", profile.source)
    if profile.no_switch is not None:
        yield Fact("no switch", "no variable takes this allocator away; this line of code does:")
        yield _lines("", profile.no_switch.split("\n"))
        return
    found = (*profile.markers, *profile.symbols)
    yield Fact("found by", f"{', '.join(found)} in the target's files" if found else f"--profile {profile.name}")
    if removed := [name for name in profile.variables if name not in profile.lists]:
        yield Fact("removed", f"{', '.join(removed)}, from the environment of every run")
    if profile.lists:
        yield Fact("kept", f"the user's own options in {', '.join(profile.lists)}, in front of those of an arm")
    if profile.always != Environment():
        yield _lines("every run", _switches(profile.always, ()))
    if profile.stats != Environment():
        yield Fact("counters", f"{' '.join(_switches(profile.stats, ()))} makes it print them")
    yield from (Fact(f"  {counter.name}", counter.pattern) for counter in profile.counters)
    if profile.beneath:
        yield Fact("beneath", f"its arms leave in place: {'; '.join(profile.beneath)}")
    if profile.linked is not None:
        yield Fact("for", f"targets that load {profile.linked.library}, and no other allocator")


def _arm_facts(arm: Arm, canary: Canary | None) -> Iterator[Fact]:
    yield _lines("sets", _switches(arm.environment, arm.arguments))
    yield Fact("source", arm.source or "-")
    yield Fact("known from", str(arm.confidence))
    if arm.proof is not None:
        yield Fact("proof", f"the counter {arm.proof.counter} reads {arm.proof.equals}")
    if arm.banner is not None:
        yield Fact("proof", f"{'prints' if arm.banner.printed else 'does not print'} {arm.banner.pattern!r}")
    for rule in canary.rules if canary is not None else ():
        if rule.role is arm.role:
            yield Fact("canary", _expected(rule))
    for one in arm.properties:
        yield Fact(one.name, f"{one.value.replace(',', ', ')} ({one.source})")
    if arm.caveat is not None:
        yield Fact("but", arm.caveat)


def _expected(rule: CanaryRule) -> str:
    """Say what a canary must see, in words."""
    facts = ((fact, " or ".join(values).replace("fill", "a fill byte")) for fact, values in rule.expects)
    return "; ".join(_OBSERVED[fact].format(values) for fact, values in facts)


def _switches(environment: Environment, arguments: tuple[str, ...]) -> list[str]:
    """Return the changes as words of a shell, on lines; a long list of options has one on each."""
    pairs = [f"{name}={shlex.quote(value)}" for name, value in environment.set]
    words = [*pairs, *(f"-{name}" for name in environment.unset), *arguments]
    if len(" ".join(words)) <= _LINE:
        return [" ".join(words)]
    return [line for word in words for line in _broken(word)]


def _broken(word: str) -> list[str]:
    """Break a long list of options where one ends."""
    return word.replace(":", ":\n  ").split("\n") if len(word) > _LINE else [word]


def _lines(name: str, lines: list[str]) -> Fact:
    return Fact(name, lines[0]) if len(lines) == 1 else Fact(name, below=tuple(map(Text, lines)))
