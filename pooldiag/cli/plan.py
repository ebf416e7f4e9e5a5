"""What `--dry-run` prints: the plan, found without running anything of the target."""

import os
import shlex
from collections.abc import Iterable, Iterator

from pooldiag.cli.flags import AttributeFlags, RunFlags
from pooldiag.cli.settings import Decided, decide
from pooldiag.cli.streams import say
from pooldiag.errors import ExitCode, UsageError
from pooldiag.model.arms import Arm, Isolation
from pooldiag.model.runs import Environment
from pooldiag.model.settings import BASELINE_RUNS, AttributeSettings
from pooldiag.profiles import inherited_changes
from pooldiag.render import visible


def say_plan(flags: AttributeFlags) -> ExitCode:
    """Do all of `pooldiag attribute --dry-run` and return its exit code."""
    decided = decide(flags)
    settings = decided.settings
    return say_lines(flags, [*fact_lines(decided, f"{settings.order}"), "", _strategy(settings), *arm_lines(settings)])


def say_lines(flags: RunFlags, lines: Iterable[str]) -> ExitCode:
    """Print the plan of a command, and return its exit code."""
    if flags.json:
        raise UsageError("--dry-run prints no report, so there is no JSON of it", hint="leave --json out")
    say("".join(f"{visible(line)}\n" for line in lines))
    return ExitCode.GREEN


def fact_lines(decided: Decided, order: str) -> Iterator[str]:
    """Yield what is known of the target, and how it is run."""
    settings = decided.settings
    target = settings.target
    yield f"target     {shlex.join([target.shown, *target.arguments])}"
    yield f"directory  {target.directory}"
    yield f"framework  {decided.framework.name}"
    yield f"order      {order}"
    yield f"cases      {', '.join(settings.case_patterns) or 'all'}"
    yield f"profile    {settings.profile.name}: {settings.profile.title}"
    yield f"lock       {', '.join(map(str, settings.lock.paths)) or 'none'}"
    if removed := inherited_changes(os.environ, settings.profile, settings.keep_environment):
        yield f"removed    {', '.join(name for name, _ in removed)}"
    for path in settings.requires:
        yield f"requires   {path}"


def _strategy(settings: AttributeSettings) -> str:
    if settings.repeat is not None:
        return f"The baseline runs {settings.repeat}x; once something is red, so does every arm."
    most = f"{settings.max_runs} runs at most"
    return f"The baseline runs {BASELINE_RUNS}x; what the runs show says which arm is next, {most}."


def arm_lines(settings: AttributeSettings) -> Iterator[str]:
    """Yield the arms, one a line."""
    return (f"  {arm.role:<9} {_change(arm)}" for arm in settings.arms)


def _change(arm: Arm) -> str:
    if arm.isolation is Isolation.ALONE:
        return "every victim in a process of its own"
    environment: Environment = arm.environment
    own = [f"{name}={value}" for name, value in environment.set]
    return " ".join([*own, *(f"-{name}" for name in environment.unset), *arm.arguments]) or "nothing changed"
