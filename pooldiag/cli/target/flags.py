"""What the commands that run a target take: groups of options, of which each command is composed."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.cli.parser import Subcommand, panel_of
from pooldiag.config.kinds import TEXT
from pooldiag.config.options import OPTIONS, Option, Options, options_with, read_texts
from pooldiag.errors import ExitCode

if TYPE_CHECKING:
    from pooldiag.model.settings import CommandLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What was typed after a command that runs a target."""

    target: str
    arguments: tuple[str, ...] = ()
    said: Options = Options()

    def line(self, command: str, taken: Iterable[Option]) -> "CommandLine":
        """Return the line that says the same to a command, as far as it takes it."""
        from pooldiag.model.settings import CommandLine  # noqa: PLC0415 - `--help` has no use for it

        flags = {option.flag for option in taken if not option.passing}
        options = (word for name, word in self.said.words if OPTIONS[name].flag in flags)
        # `--` keeps a name that looks like a flag a name.
        separator = ("--",) if self.target.startswith("-") else ()
        target = (*separator, self.target, *self.arguments)
        return CommandLine(command=command, options=tuple(options), target=target, directory=Path.cwd())

    def over_texts(self, **texts: str | list[str]) -> "Invocation":
        """Lay what was asked over what some further texts say, by the names of their fields."""
        return replace(self, said=self.said.over(options_with(*read_texts(OPTIONS.values(), texts))))


def invocation_of(
    *, target: str, arguments: tuple[str, ...] = (), words: tuple[tuple[str, str], ...], **values: object
) -> Invocation:
    """Return what a command was asked, of values that were read from words."""
    return Invocation(target=target, arguments=arguments, said=options_with(values, words))


panel = partial(panel_of, OPTIONS)

WHAT, ARMS, SEARCH = "What is run", "Arms", "The search"

ONE_ORDER = panel(WHAT, "order", "seed")
PROFILE = panel(ARMS, "profile")
SWITCHES = (*PROFILE, *panel(ARMS, "arm", "property", "stats", "counter", "arms", "no_witness"))
ALL_RUNS = (
    *panel("What is read", "outputs", "printed_census", "requires", "fresh_check"),
    *panel("Bounds", "timeout", "grace", "lock", "no_lock", "lock_wait", "disk_floor", "memory_floor", "need"),
    *panel("What is shown", "config", "format", "json", "dry_run", "quiet"),
)


def what_runs(victim: str) -> tuple[Option, ...]:
    """Return what says which cases run, and how; `victim` is what the command says of its victim."""
    return panel(WHAT, "case", "victim", "framework", "cwd", "before", "keep_env", victim=victim)


RUNS_ALIKE = (*(option for option in what_runs(victim="") if option.name != "victim"), *PROFILE, *ALL_RUNS)
"""What means the same to every command: the line of one can go along in that of another."""


def subcommand(
    work: Callable[[Invocation], ExitCode],
    options: tuple[Option, ...],
    target: str = "A test binary, or a name from pooldiag.toml.",
) -> Subcommand[Invocation]:
    """Return a command that runs a target; `target` is what help says of TARGET."""
    own = "The target's own arguments; {out} is the run's output folder."
    arguments = (
        Option(target, name="target", metavar="TARGET", kind=TEXT, required=True),
        Option(own, name="arguments", metavar="ARGS", kind=TEXT, many=True),
    )
    return Subcommand(flags=invocation_of, work=work, options=options, arguments=arguments, runs_target=True)


def with_environment(given: Invocation) -> Invocation:
    """Lay what was asked over the locks that the environment names, unless no lock is to be taken."""
    named = [path for path in os.environ.get(OPTIONS["lock"].variable or "", "").split(os.pathsep) if path]
    return given.over_texts(lock=named) if named and not given.said.no_lock else given
