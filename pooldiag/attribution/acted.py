"""Whether an arm did what its role says: counters first, then the names of its variables in the target's files."""

from collections.abc import Sequence

from pooldiag.model.arms import Acted, Arm, CounterRule, Isolation, Role
from pooldiag.model.outcomes import Outcome


def acted(
    arm: Arm, outcomes: Sequence[Outcome], *, baseline: Sequence[Outcome], names: frozenset[str], searchable: bool
) -> tuple[Acted | None, str]:
    """Return the state of an arm and what it rests on, from its outcomes and those of the baseline.

    `names` are the variable names found in the target's binary and libraries; `searchable` is False for
    a target whose files cannot know them (a script, which may start anything).
    """
    if arm.role is Role.BASELINE:
        return None, "changes nothing"
    if arm.isolation is Isolation.ALONE:
        return Acted.PROVEN, "a process of its own"
    counted = _by_counter(arm.proof, outcomes, baseline) if arm.proof is not None else None
    return counted if counted is not None else _by_name(arm, names=names, searchable=searchable)


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


def _values(rule: CounterRule, outcomes: Sequence[Outcome]) -> list[int]:
    return [outcome.counters[rule.counter] for outcome in outcomes if rule.counter in outcome.counters]


def _by_name(arm: Arm, *, names: frozenset[str], searchable: bool) -> tuple[Acted, str]:
    wanted = [name for name, _ in arm.environment.set if name not in arm.shared]
    if not wanted:
        return Acted.UNPROVEN, "no variable and no counter to go by"
    if not searchable:
        return Acted.UNPROVEN, "not an ELF file: its text does not tell what it starts"
    missing = [name for name in wanted if name not in names]
    if missing:
        return Acted.INERT, f"neither the binary nor its libraries name {', '.join(missing)}"
    return Acted.PLAUSIBLE, f"the target's files name {', '.join(wanted)}"
