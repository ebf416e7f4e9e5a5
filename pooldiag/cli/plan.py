"""What `--dry-run` prints: the plan, found without running anything of the target."""

import os
import shlex
from collections.abc import Iterator

from pooldiag.cli.flags import AttributeFlags
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
    if flags.json:
        raise UsageError("--dry-run prints no report, so there is no JSON of it", hint="leave --json out")
    say(plan(decided, inherited_changes(os.environ, decided.settings.profile, decided.settings.keep_environment)))
    return ExitCode.GREEN


def plan(decided: Decided, removed: tuple[tuple[str, str], ...]) -> str:
    """Return the plan as lines of text."""
    return "".join(f"{visible(line)}\n" for line in _lines(decided, removed))


def _lines(decided: Decided, removed: tuple[tuple[str, str], ...]) -> Iterator[str]:
    settings = decided.settings
    target = settings.target
    yield f"target     {shlex.join([target.shown, *target.arguments])}"
    yield f"directory  {target.directory}"
    yield f"framework  {decided.framework.name}"
    yield f"order      {settings.order}"
    yield f"cases      {', '.join(settings.case_patterns) or 'all'}"
    yield f"profile    {settings.profile.name}: {settings.profile.title}"
    yield f"lock       {', '.join(map(str, settings.lock.paths)) or 'none'}"
    if removed:
        yield f"removed    {', '.join(name for name, _ in removed)}"
    for path in settings.requires:
        yield f"requires   {path}"
    yield ""
    yield _strategy(settings)
    for arm in settings.arms:
        yield f"  {arm.role:<9} {_change(arm)}"


def _strategy(settings: AttributeSettings) -> str:
    if settings.repeat is not None:
        return f"The baseline runs {settings.repeat}x; once something is red, so does every arm."
    most = f"{settings.max_runs} runs at most"
    return f"The baseline runs {BASELINE_RUNS}x; what the runs show says which arm is next, {most}."


def _change(arm: Arm) -> str:
    if arm.isolation is Isolation.ALONE:
        return "every victim in a process of its own"
    environment: Environment = arm.environment
    own = [f"{name}={value}" for name, value in environment.set]
    return " ".join([*own, *(f"-{name}" for name in environment.unset), *arm.arguments]) or "nothing changed"
