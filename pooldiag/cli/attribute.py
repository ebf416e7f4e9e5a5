"""`pooldiag attribute`: its flags, parse, wire, save, print.

What a run needs, and `--help` or `--dry-run` does not, is imported only where it is used.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.cli.target import flags
from pooldiag.cli.target.flags import ARMS, Invocation, panel
from pooldiag.errors import ExitCode

if TYPE_CHECKING:
    from pooldiag.model.settings import AttributeSettings

OPTIONS = (
    *flags.ONE_ORDER,
    *flags.what_runs(victim="The case that the verdict is about."),
    *flags.SWITCHES,
    *panel(ARMS, "confidence", "budget", "max_runs", "repeat"),
    *flags.ALL_RUNS,
)

BISECT_ALIKE = (*flags.ONE_ORDER, *flags.what_runs(victim=""), *flags.SWITCHES, *flags.ALL_RUNS)
"""What means the same to `bisect`."""


def attribute(given: Invocation) -> ExitCode:
    """Run TARGET under arms that take its pool away piece by piece, and say what the arms answer.

    Exit code: 0 nothing red; 1 red, and the answer is established; 3 red, not settled; 4 blocked; 2 usage.
    """
    from pooldiag.cli.target.decisions import configuration, decide  # noqa: PLC0415 - as said above

    given = flags.with_environment(given)
    config = configuration(given.said, Path.cwd())
    decided = decide(given, config, invocation=given.line("attribute", OPTIONS))
    settings = replace(decided.settings, bisect_alike=given.line("bisect", BISECT_ALIKE))
    if given.said.dry_run:
        from pooldiag.cli.target.plan import arm_lines, say_plan  # noqa: PLC0415

        return say_plan(decided, f"{settings.order}", ["", _strategy(settings), *arm_lines(settings)])
    from pooldiag.cli.target.wiring import run_target  # noqa: PLC0415
    from pooldiag.diagnose import attribute as driver  # noqa: PLC0415

    return run_target(partial(driver.attribute, settings), decided, command="attribute")


def _strategy(settings: "AttributeSettings") -> str:
    from pooldiag.attribution.greens import MOST_GREENS  # noqa: PLC0415
    from pooldiag.model.settings import BASELINE_RUNS  # noqa: PLC0415

    if settings.repeat is not None:
        return f"The baseline runs {settings.repeat}x; once something is red, so does every arm."
    most = f"{settings.max_runs} runs at most"
    baselines = f"The baseline runs {BASELINE_RUNS}x, up to {MOST_GREENS}x while it is green and quick"
    return f"{baselines}; what the runs show says which arm is next, {most}."


COMMAND = flags.subcommand(attribute, OPTIONS)
