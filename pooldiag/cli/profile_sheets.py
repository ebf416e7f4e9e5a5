"""What `pooldiag profiles` prints: a table of all profiles, a sheet of one, or either as JSON."""

import json
import shlex
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pooldiag.cli.streams import say
from pooldiag.errors import UsageError
from pooldiag.model.arms import AllocatorProfile, Arm, Canary, CanaryRule, Confidence, Linkage
from pooldiag.model.runs import Environment
from pooldiag.model.words import nearest
from pooldiag.profiles import PROFILES

SCHEMA = "pooldiag.profiles/1"

_LINE = 50  # characters beside the names at the edge of a sheet of 80 columns
_FACTS = {
    "fresh": "a new block holds {}",
    "freed": "a freed block is {}",
    "handed": "the block handed out next holds {}",
    "again": "a freed block comes back {}",
}

_Rows = Iterator[tuple[str, str]]


def show(name: str | None, *, as_json: bool) -> None:
    """Print one profile, or all of them. Raises UsageError for a name that is none."""
    if name is not None and name not in PROFILES:
        raise UsageError(f"no profile {name!r}", hint=f"nearest: {nearest(name, PROFILES)}; see `pooldiag profiles`")
    shown = list(PROFILES.values()) if name is None else [PROFILES[name]]
    if as_json:
        entries = [_entry(profile) for profile in shown]
        say(json.dumps({"schema": SCHEMA, "profiles": entries}, indent=2, ensure_ascii=False) + "\n")
        return
    console = Console()
    color = console.is_terminal and not console.no_color
    page = Console(
        file=StringIO(), width=console.width, force_terminal=color, no_color=not color, markup=False, highlight=False
    )
    with page.capture() as capture:
        page.print(_overview(shown) if name is None else _sheet(shown[0]))
    say("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def _grid(gap: int) -> Table:
    return Table(box=None, show_header=False, pad_edge=False, padding=(0, gap, 0, 0))


def _overview(profiles: Sequence[AllocatorProfile]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Profile", no_wrap=True)
    table.add_column("Allocator", overflow="fold")
    table.add_column("Arms", overflow="fold")
    table.add_column("Known from", no_wrap=True)
    table.add_column("Found by", no_wrap=True)
    for profile in profiles:
        roles = " ".join(str(arm.role) for arm in profile.arms) or "no switch"
        table.add_row(*map(Text, (profile.name, profile.title, roles, _confidence(profile), _found_by(profile))))
    return table


def _confidence(profile: AllocatorProfile) -> str:
    """Return what the least certain of its arms is known from."""
    return max((arm.confidence for arm in profile.arms if arm.confidence), key=list(Confidence).index, default="-")


def _found_by(profile: AllocatorProfile) -> str:
    if profile.no_switch is not None:
        return "-"
    return "its names" if profile.markers or profile.symbols else "--profile"


def _sheet(profile: AllocatorProfile) -> RenderableType:
    grid = _grid(2)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    grid.add_row(Text(profile.name), Text(profile.title))
    for name, value in _facts(profile):
        grid.add_row(Text(name), Text(value))
    for arm in profile.arms:
        inner = _grid(2)
        inner.add_column(no_wrap=True)
        inner.add_column(overflow="fold")
        for name, value in _arm_facts(arm, profile.canary):
            inner.add_row(Text(name), Text(value))
        grid.add_row("", "")
        grid.add_row(Text(str(arm.role)), Padding(inner, 0))
    return grid


def _facts(profile: AllocatorProfile) -> _Rows:
    yield "source", profile.source
    if profile.no_switch is not None:
        yield "no switch", "no variable takes this allocator away; this line of code does:"
        yield "", profile.no_switch
        return
    found = (*profile.markers, *profile.symbols)
    yield "found by", f"{', '.join(found)} in the target's files" if found else f"--profile {profile.name}"
    if removed := [name for name in profile.variables if name not in profile.lists]:
        yield "removed", f"{', '.join(removed)}, from the environment of every run"
    if profile.lists:
        yield "kept", f"the user's own options in {', '.join(profile.lists)}, in front of those of an arm"
    if profile.always != Environment():
        yield "every run", _switches(profile.always, ())
    if profile.stats != Environment():
        yield "counters", f"{_switches(profile.stats, ())} makes it print them"
    for counter in profile.counters:
        yield f"  {counter.name}", counter.pattern
    if profile.beneath:
        yield "beneath", f"its arms leave in place: {'; '.join(profile.beneath)}"
    if profile.linked is not None:
        yield "for", f"targets that load {profile.linked.library}, and no other allocator"


def _arm_facts(arm: Arm, canary: Canary | None) -> _Rows:
    yield "sets", _switches(arm.environment, arm.arguments)
    yield "source", arm.source or "-"
    yield "known from", str(arm.confidence)
    if arm.proof is not None:
        yield "proof", f"the counter {arm.proof.counter} reads {arm.proof.equals}"
    if arm.banner is not None:
        yield "proof", f"{'prints' if arm.banner.printed else 'does not print'} {arm.banner.pattern!r}"
    for rule in canary.rules if canary is not None else ():
        if rule.role is arm.role:
            yield "canary", _seen(rule)
    if arm.caveat is not None:
        yield "but", arm.caveat


def _seen(rule: CanaryRule) -> str:
    """Say what a canary must see, in words."""
    told = ((fact, " or ".join(values).replace("fill", "a fill byte")) for fact, values in rule.expects)
    return "; ".join(_FACTS[fact].format(values) for fact, values in told)


def _switches(environment: Environment, arguments: tuple[str, ...]) -> str:
    """Return the changes as words of a shell; a long list of options is told one a line."""
    pairs = [f"{name}={shlex.quote(value)}" for name, value in environment.set]
    words = [*pairs, *(f"-{name}" for name in environment.unset), *arguments]
    if len(" ".join(words)) <= _LINE:
        return " ".join(words)
    return "\n".join(word.replace(":", ":\n  ") if len(word) > _LINE else word for word in words)


def _entry(profile: AllocatorProfile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "title": profile.title,
        "source": profile.source,
        "no_switch": profile.no_switch,
        "markers": profile.markers,
        "symbols": profile.symbols,
        "variables": profile.variables,
        "lists": profile.lists,
        "always": _changes(profile.always),
        "stats": _changes(profile.stats),
        "counters": {counter.name: counter.pattern for counter in profile.counters},
        "beneath": profile.beneath,
        "linked": None if profile.linked is None else _linkage(profile.linked),
        "canary": None if profile.canary is None else _canary(profile.canary),
        "arms": [_arm_entry(arm) for arm in profile.arms],
    }


def _linkage(linked: Linkage) -> dict[str, Any]:
    return {"library": linked.library, "instead": linked.instead, "symbols": linked.symbols}


def _canary(canary: Canary) -> dict[str, Any]:
    return {"preload": canary.preload, "arms": {str(rule.role): dict(rule.expects) for rule in canary.rules}}


def _changes(environment: Environment) -> dict[str, Any]:
    return {"set": dict(environment.set), "unset": environment.unset}


def _arm_entry(arm: Arm) -> dict[str, Any]:
    return {
        "role": str(arm.role),
        "env": _changes(arm.environment),
        "arguments": arm.arguments,
        "source": arm.source,
        "confidence": arm.confidence,
        "proof": None if arm.proof is None else {"counter": arm.proof.counter, "equals": arm.proof.equals},
        "banner": None if arm.banner is None else {"pattern": arm.banner.pattern, "printed": arm.banner.printed},
        "caveat": arm.caveat,
        "one_sided": arm.one_sided,
        "late": arm.late,
    }
