"""Whether an arm did what its role says.

Best first: a counter of the pool, a line that it prints, a canary, and the names of the arm's variables in
the target's files, which are necessary and not sufficient.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pooldiag.model.arms import Acted, Arm, BannerRule, Confidence, CounterRule, Isolation, Role
from pooldiag.model.outcomes import Outcome

PRELOAD = "LD_PRELOAD"
ENVIRONMENT_CALLS = frozenset({"setenv", "putenv"})
"""Functions with which a target can undo an arm while it runs; looked for in the binary like a variable's name."""

_OF_EVERY_TARGET = {
    Role.FRESH_STATE: (Acted.PLAUSIBLE, "its folders are empty at the start"),
    Role.USED_STATE: (Acted.PLAUSIBLE, "its folders are as the run before left them"),
    Role.PLACEBO: (Acted.PROVEN, "a variable that nobody reads"),
}
"""Nobody knows whether the target looks into these folders: what its runs show says so."""

_KNOWN = {Confidence.SOURCE: "its source", Confidence.DOCUMENTATION: "documentation", Confidence.REPORT: "a report"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Beforehand:
    """What is known before any run.

    `names` are the variable names found in the target's binary and libraries; `searchable` is False for
    a target whose files cannot know them (a script, which may start anything), `closed` is True for one
    that loads no other library and starts no other program. `canary` is what was seen of the arm's switch
    on this machine.
    """

    names: frozenset[str]
    searchable: bool
    closed: bool = False
    canary: tuple[Acted, str] | None = None

    def missing(self, names: Sequence[str]) -> str:
        """List the variables that no file of the target names."""
        return ", ".join(name for name in names if name not in self.names)


def acted(
    arm: Arm, outcomes: Sequence[Outcome], *, baseline: Sequence[Outcome], beforehand: Beforehand, changed: bool = False
) -> tuple[Acted | None, str]:
    """Return the state of an arm and what it rests on, from its outcomes and those of the baseline.

    `changed`: the arm's runs do not read as the baseline's do.
    """
    if arm.role is Role.BASELINE:
        return None, "changes nothing"
    if arm.isolation is Isolation.ALONE:
        return Acted.PROVEN, "a process of its own"
    if arm.role in _OF_EVERY_TARGET:
        return _OF_EVERY_TARGET[arm.role]
    shown = _by_counter(arm.proof, outcomes, baseline) if arm.proof is not None else None
    if shown is not None and shown[0] is Acted.INERT:
        return Acted.INERT, "; ".join((shown[1], *_why_inert(arm, beforehand)))
    if shown is None and arm.banner is not None:
        shown = _by_banner(arm.banner, outcomes, baseline)
    return shown if shown is not None else _by_canary(arm, beforehand, changed=changed or not outcomes)


def _by_counter(
    rule: CounterRule, outcomes: Sequence[Outcome], baseline: Sequence[Outcome]
) -> tuple[Acted, str] | None:
    """Read the arm's counter; None when it settles nothing.

    One run that contradicts the rule outweighs any that agree. A counter that the baseline has too, or
    that speaks for a part of the arm only, proves nothing.
    """
    values = _values(rule, outcomes)
    wrong = next((value for value in values if value != rule.equals), None)
    if wrong is not None:
        return Acted.INERT, f"{rule.counter}={wrong}, not {rule.equals}: the pool went on as before"
    if not values or not rule.sufficient or rule.equals in _values(rule, baseline):
        return None
    return Acted.PROVEN, f"{rule.counter}={rule.equals}"


def _why_inert(arm: Arm, beforehand: Beforehand) -> Iterator[str]:
    """Yield what the target's files say about why a switch did nothing."""
    missing = beforehand.missing(_switches(arm))
    if missing and beforehand.searchable:
        yield f"neither the binary nor its libraries name {missing}"
    elif ENVIRONMENT_CALLS & beforehand.names:
        yield "the target calls setenv or putenv, so the arm may have been undone"


def _switches(arm: Arm) -> list[str]:
    """Return the variables that are the arm's own."""
    return [name for name, _ in arm.environment.set if name not in arm.shared]


def _values(rule: CounterRule, outcomes: Sequence[Outcome]) -> list[int]:
    return [outcome.counters[rule.counter] for outcome in outcomes if rule.counter in outcome.counters]


def _by_banner(rule: BannerRule, outcomes: Sequence[Outcome], baseline: Sequence[Outcome]) -> tuple[Acted, str] | None:
    """Read the arm's banner; None when it settles nothing: an arm and a baseline that both print it, or neither."""
    seen = [rule.pattern in outcome.banners for outcome in outcomes]
    before = any(rule.pattern in outcome.banners for outcome in baseline)
    if not rule.printed:
        if any(seen):
            return Acted.INERT, f"it prints {rule.pattern!r}: the pool is there as before"
        return (Acted.PROVEN, f"no longer prints {rule.pattern!r}") if seen and before and rule.sufficient else None
    if seen and not all(seen):
        return Acted.UNPROVEN, f"{seen.count(False)}/{len(seen)} runs do not print {rule.pattern!r}"
    return (Acted.PROVEN, f"prints {rule.pattern!r}") if seen and not before and rule.sufficient else None


def _by_canary(arm: Arm, beforehand: Beforehand, *, changed: bool) -> tuple[Acted, str]:
    """Let the canary convict; it proves only the switch, so the target's files have to name it as well."""
    canary = beforehand.canary
    if canary is not None and canary[0] is Acted.INERT:
        return canary
    named = _by_name(arm, beforehand, changed=changed)
    if canary is None or named[0] is Acted.INERT:
        return named
    unnamed = not arm.late and bool(beforehand.missing(_looked_for(arm)))
    return canary if beforehand.searchable and not unnamed else (Acted.UNPROVEN, f"{canary[1]}; {named[1]}")


def _by_name(arm: Arm, beforehand: Beforehand, *, changed: bool) -> tuple[Acted, str]:
    """Look for the arm's variables. A switch that nobody measured and that changes nothing may be none."""
    wanted = _looked_for(arm)
    if not wanted:
        return Acted.UNPROVEN, "no variable and no counter to go by"
    if not beforehand.searchable:
        return Acted.UNPROVEN, "not an ELF file: its text does not tell what it starts"
    missing = beforehand.missing(wanted)
    if missing and not arm.late:
        return _unnamed(arm, missing, beforehand)
    if not changed and missing:
        return Acted.UNPROVEN, f"changes nothing, and no file loaded at the start names {missing}"
    if not changed and arm.confidence not in {None, Confidence.MEASURED}:
        return Acted.UNPROVEN, f"changes nothing, and that it acts is known from {_KNOWN[arm.confidence]} only"
    return Acted.PLAUSIBLE, "its runs differ" if missing else f"the target's files name {', '.join(wanted)}"


def _looked_for(arm: Arm) -> list[str]:
    """Return the variables that some file has to name; what is preloaded reads all others."""
    wanted = _switches(arm)
    return [PRELOAD] if PRELOAD in wanted else wanted


def _unnamed(arm: Arm, missing: str, beforehand: Beforehand) -> tuple[Acted, str]:
    """Judge an arm whose variables no file names: inert for sure where nothing else can come to read them."""
    if not beforehand.closed:
        why = f"no file that it loads at its start names {missing}, and it may load or start others"
        return Acted.UNPROVEN, why
    if arm.arguments or arm.environment.unset:
        return Acted.UNPROVEN, f"its files do not name {missing}, and nothing proves what else the arm changes"
    return Acted.INERT, f"neither the binary nor its libraries name {missing}"
