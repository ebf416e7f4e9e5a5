"""What `--dry-run` prints: the plan, found without running anything of the target."""

import os
import shlex
from collections.abc import Iterable, Iterator

from pooldiag.cli.streams import JSON, TABLE, form_of, say
from pooldiag.cli.target.decisions import Decided
from pooldiag.errors import ExitCode, UsageError
from pooldiag.model.arms import Arm, Isolation, Role
from pooldiag.model.runs import Environment
from pooldiag.model.settings import AttributeSettings
from pooldiag.profiles import inherited_changes
from pooldiag.render import visible

_IN_SHORT = {
    Role.FRESH_STATE: "HOME, TMPDIR, the XDG folders and the caches of kernels empty",
    Role.USED_STATE: "the same folders, as the last run of fresh-state left them",
    Role.PLACEBO: "a variable that nobody reads, as long as those of an arm",
}
"""The arms whose variables would fill the screen."""


def say_plan(decided: Decided, order: str, lines: Iterable[str]) -> ExitCode:
    """Print the plan of a command: what is known of the target, then what is to be done; return its exit code."""
    form = form_of(decided.said.format, json=decided.said.json)
    if form != TABLE:
        name, option = ("JSON", "--json") if form == JSON else (form, f"--format {form}")
        raise UsageError(f"--dry-run prints no report, so there is no {name} of it", hint=f"leave {option} out")
    say("".join(f"{visible(line)}\n" for line in (*_facts(decided, order), *lines)))
    return ExitCode.GREEN


def _facts(decided: Decided, order: str) -> Iterator[str]:
    settings = decided.settings
    target = settings.target
    yield f"target     {shlex.join([target.shown, *target.arguments])}"
    yield f"directory  {target.directory}"
    yield f"framework  {decided.framework.name}"
    yield f"order      {order}"
    yield f"cases      {', '.join(settings.case_patterns) or 'all'}"
    if decided.profile_name is not None:
        yield f"profile    {decided.profile_name}: {settings.profile.title}"
    yield f"lock       {', '.join(map(str, settings.lock.paths)) or 'none'}"
    if removed := inherited_changes(os.environ, settings.profile, settings.keep_environment):
        yield f"removed    {', '.join(name for name, _ in removed)}"
    for path in settings.requires:
        yield f"requires   {path}"


def arm_lines(settings: AttributeSettings) -> Iterator[str]:
    """Yield the arms, one a line."""
    width = max(len(arm.role) for arm in settings.arms)
    return (f"  {arm.role:<{width}}  {_change(arm)}" for arm in settings.arms)


def _change(arm: Arm) -> str:
    if arm.isolation is Isolation.ALONE:
        return "every victim in a process of its own"
    if arm.role in _IN_SHORT:
        return _IN_SHORT[arm.role]
    environment: Environment = arm.environment
    own = [f"{name}={value}" for name, value in environment.set]
    return " ".join([*own, *(f"-{name}" for name in environment.unset), *arm.arguments]) or "nothing changed"
