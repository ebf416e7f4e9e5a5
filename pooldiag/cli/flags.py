"""The flags of the commands that run a target: each is written once, with what the command line says of it.

A command takes the flags of its class (`pooldiag.cli.options` makes it so), all but the fields that stand outside
`__init__`: with these a command leaves out what another one takes. None, empty and False: not given.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pooldiag.model.cases import OrderKind

_NOT_REPEATED = {"target", "arguments", "resume", "resume_from", "json", "dry_run", "quiet"}


def option_of(name: str) -> str:
    """Return the option that fills a field."""
    return f"--{name.replace('_', '-')}"


class Panel(StrEnum):
    """Where an option stands in the help."""

    WHAT = "What is run"
    ARMS = "Arms"
    SEARCH = "The search"
    READ = "What is read"
    BOUNDS = "Bounds"
    SHOWN = "What is shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags:
    """What may be typed after a command that runs a target."""

    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A test binary, or a name from pooldiag.toml.", show_default=False)
    ]
    arguments: Annotated[
        tuple[str, ...],
        typer.Argument(metavar="ARGS", help="The target's own arguments; {out} is the run's output folder."),
    ] = ()
    order: Annotated[OrderKind | None, typer.Option(help="Running order.", rich_help_panel=Panel.WHAT)] = None
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31 - 1, help="Seed of --order rand.", rich_help_panel=Panel.WHAT)
    ] = None
    case: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="PATTERN", help="Run only these cases; * and ? as in a shell.", rich_help_panel=Panel.WHAT
        ),
    ] = ()
    victim: Annotated[
        str | None, typer.Option(metavar="NAME", help="The case that the verdict is about.", rich_help_panel=Panel.WHAT)
    ] = None
    framework: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="doctest, listfile or blackbox; found by itself in a binary.",
            rich_help_panel=Panel.WHAT,
        ),
    ] = None
    cwd: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Working directory of every run.", rich_help_panel=Panel.WHAT)
    ] = None
    before: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Run ahead of every run, to reset state.", rich_help_panel=Panel.WHAT),
    ] = None
    keep_env: Annotated[
        tuple[str, ...],
        typer.Option(metavar="NAME", help="Do not remove this inherited variable.", rich_help_panel=Panel.WHAT),
    ] = ()
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Allocator, see `profiles`; most are found by themselves.", rich_help_panel=Panel.ARMS
        ),
    ] = None
    arm: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="ROLE=WORDS",
            help="An arm: 'bypass=MY_POOL=off -OTHER' (-NAME unsets).",
            rich_help_panel=Panel.ARMS,
        ),
    ] = ()
    stats: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Variables that make the pool print counters.", rich_help_panel=Panel.ARMS),
    ] = None
    counter: Annotated[
        tuple[str, ...],
        typer.Option(metavar="NAME=REGEX", help=r"A counter it prints: 'hits=(\d+)'.", rich_help_panel=Panel.ARMS),
    ] = ()
    arms: Annotated[
        str | None,
        typer.Option(
            metavar="ROLES", help="Run only these arms, and the baseline: 'bypass,exact'.", rich_help_panel=Panel.ARMS
        ),
    ] = None
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Posterior that a verdict needs (default: 0.99).", rich_help_panel=Panel.ARMS
        ),
    ] = None
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start no run after that time.", rich_help_panel=Panel.ARMS)
    ] = None
    max_runs: Annotated[
        int | None, typer.Option(min=1, help="Most runs of all arms (default: 64).", rich_help_panel=Panel.ARMS)
    ] = None
    outputs: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="GLOB[:DTYPE]",
            help="Tensors that it writes into POOLDIAG_OUTPUT_DIR: 'out.npy', or 'video.bin:f32' of a raw file (f64 "
            "f32 f16 bf16 e4m3fn e4m3fnuz e5m2 e5m2fnuz e8m0 e2m1 i8 u8 i16 u16 i32 u32 i64 u64 bool).",
            rich_help_panel=Panel.READ,
        ),
    ] = ()
    requires: Annotated[
        tuple[Path, ...],
        typer.Option(metavar="PATH", help="A file that must be readable, else blocked.", rich_help_panel=Panel.READ),
    ] = ()
    fresh_check: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Must find nothing to build: 'ninja -n'.", rich_help_panel=Panel.READ),
    ] = None
    timeout: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Limit of one run (default: 10 x the longest green).", rich_help_panel=Panel.BOUNDS
        ),
    ] = None
    grace: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="From SIGTERM to SIGKILL (default: 10s).", rich_help_panel=Panel.BOUNDS),
    ] = None
    lock: Annotated[
        tuple[Path, ...],
        typer.Option(
            metavar="PATH",
            envvar="POOLDIAG_LOCK",
            readable=False,  # whoever takes it finds out, and the report says so
            help="Device lock, held all along (default: ~/gpu.lock).",
            rich_help_panel=Panel.BOUNDS,
        ),
    ] = ()
    no_lock: Annotated[bool, typer.Option("--no-lock", help="Take no lock.", rich_help_panel=Panel.BOUNDS)] = False
    lock_wait: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Longest wait for the lock (default: 45m).", rich_help_panel=Panel.BOUNDS),
    ] = None
    disk_floor: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Disk to stay free (default: 1GiB).", rich_help_panel=Panel.BOUNDS),
    ] = None
    memory_floor: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory to stay free (default: 512MiB).", rich_help_panel=Panel.BOUNDS),
    ] = None
    need: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Disk that must be free at the start.", rich_help_panel=Panel.BOUNDS),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Configuration (default: the nearest pooldiag.toml).", rich_help_panel=Panel.SHOWN
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.", rich_help_panel=Panel.SHOWN)] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan; run nothing.", rich_help_panel=Panel.SHOWN)
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=Panel.SHOWN)] = False

    @property
    def words(self) -> tuple[str, ...]:
        """The options as words, `--name=value` each; without those that only say how the report is shown."""
        return self.words_for(type(self))

    def words_for(self, command: "type[RunFlags]") -> tuple[str, ...]:
        """Return the words that a command with other flags takes too."""
        shared = {entry.name for entry in fields(command) if entry.init} - _NOT_REPEATED
        return tuple(word for entry in fields(self) if entry.name in shared for word in self._word(entry.name))

    def _word(self, name: str) -> Iterator[str]:
        option = option_of(name)
        value = getattr(self, name)
        if value is True:
            yield option
        elif value is not None and value is not False:
            for one in value if isinstance(value, tuple) else (value,):
                yield f"{option}={one}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeFlags(RunFlags):
    """What may be typed after `pooldiag attribute`."""

    repeat: Annotated[
        int | None,
        typer.Option(min=1, help="Run every arm so often, instead of as needed.", rich_help_panel=Panel.ARMS),
    ] = None
