"""What the arms show of a red, in words: what takes it away, and what leaves it as it was."""

from collections.abc import Iterator

from pooldiag.model.arms import Role
from pooldiag.model.attributions import Shows
from pooldiag.model.readings import Reading, Sight
from pooldiag.model.reports import ArmResult, AttributeReport
from pooldiag.model.words import capital, listed
from pooldiag.render import run_words as words
from pooldiag.render.facts import NO_EVIDENCE, baseline_of, seen

_CHANGED = {
    Role.BYPASS: "without its free list",
    Role.EXACT: "without size rounding",
    Role.PER_CASE: "with a pool a case",
    Role.POISON_N: "with NaN in fresh blocks",
    Role.POISON_0: "with zeros in every block",
    Role.SERIAL: "when launches wait",
    Role.ISOLATE: "alone",
    Role.QUARANTINE: "when released blocks stay out of use",
    Role.GUARD: "with an unreadable page behind each block",
    Role.PAD: "with more room behind each block",
    Role.FRESH_STATE: "with fresh state folders",
    Role.USED_STATE: "with state folders that a run has used",
    Role.PLACEBO: "with a variable that nobody reads",
}
_TAKES_FROM_THE_POOL = {Role.BYPASS, Role.EXACT, Role.PER_CASE, Role.QUARANTINE, Role.PAD}


def is_red(report: AttributeReport) -> bool:
    """Say whether the baseline is; where it did not run, there is nothing that the pool could hide."""
    baseline = baseline_of(report)
    return baseline is None or not baseline.runs or any(run.reading.reading is Reading.RED for run in baseline.runs)


def flakes(report: AttributeReport) -> bool:
    """Say whether the baseline goes to and fro; a step is not that."""
    baseline = baseline_of(report)
    return baseline is not None and baseline.step is None and {Sight.SAME_RED, Sight.GREEN} <= set(baseline.sights)


def known(report: AttributeReport) -> Iterator[str]:
    """Yield what is known of the red, arm by arm, in a sentence or two."""
    shows = {one.role: one.shows for one in report.attribution.seen if one.role is not Role.BASELINE}
    if shows.pop(Role.PLACEBO, Shows.THERE) is not Shows.THERE:
        counted = next((_counted(arm) for arm in report.arms if arm.arm.role is Role.PLACEBO), "")
        yield f"A variable that nobody reads moves it, too{counted}: what an arm shows is no evidence."
    of = {look: listed(_phrases(report, *(role for role in shows if shows[role] is look))) for look in Shows}
    before, left, after, turned = "red", of[Shows.THERE], "green", of[Shows.GONE]
    if not is_red(report):
        before, left, after, turned = after, turned, before, left
    parts = (
        f"{_begun(report, before)}{f', {after} {turned}' if turned else ''}" if turned or flakes(report) else "",
        f"{before} as before {left}" if left else "",
        f"red at a rate of its own {of[Shows.OWN_RATE]}" if of[Shows.OWN_RATE] else "",
    )
    if any(parts):
        yield capital(f"{'; '.join(filter(None, parts))}.")
    if unsettled := _phrases(report, *_unsettled(report)):
        yield f"Not settled: {', '.join(unsettled)}."


def _begun(report: AttributeReport, color: str) -> str:
    """Say what the baseline shows, and how often where it shows both."""
    baseline = baseline_of(report)
    rate = f" in {words.rate(baseline)} runs" if baseline is not None and flakes(report) else ""
    asked_of_the_pool = any(arm.runs and arm.arm.role in _TAKES_FROM_THE_POOL for arm in report.arms)
    return f"{color} {'with the pool' if asked_of_the_pool else 'as it is'}{rate}"


def _unsettled(report: AttributeReport) -> Iterator[Role]:
    """Yield the roles that ran, and of which is not known what they show."""
    settled = {Role.BASELINE, Role.GUARD, *(one.role for one in report.attribution.seen)}
    for arm in report.arms:
        if arm.runs and arm.arm.role not in settled and arm.acted not in NO_EVIDENCE:
            yield arm.arm.role


def _phrases(report: AttributeReport, *roles: Role) -> tuple[str, ...]:
    """Say for each role what it changes, and in how many of its runs the red was there."""
    by_role = {arm.arm.role: arm for arm in report.arms}
    counts = ((role, _counted(by_role[role]) if role in by_role else "") for role in roles)
    return tuple(f"{_CHANGED.get(role, f'under {role}')}{counted}" for role, counted in counts)


def _counted(arm: ArmResult) -> str:
    """Count the reds among the runs that answer, in brackets."""
    red, answers = len(seen(arm, Sight.SAME_RED)), len(seen(arm, Sight.SAME_RED)) + len(seen(arm, Sight.GREEN))
    new = len(seen(arm, Sight.NEW_RED))
    parts = (f"{red}/{answers}" if answers else "", f"another red in {new}/{len(arm.runs)}" if new else "")
    return f" ({', '.join(filter(None, parts)) or 'no answer'})" if arm.runs else ""
