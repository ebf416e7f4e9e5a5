"""`pooldiag attribute`: parse, wire, save, print."""

from pathlib import Path
from typing import Annotated

import typer

from pooldiag.cli.flags import AttributeFlags
from pooldiag.cli.problems import exit_code_of
from pooldiag.errors import ExitCode
from pooldiag.model.cases import OrderKind

_WHAT = "What is run"
_ARMS = "Arms"
_READ = "What is read"
_BOUNDS = "Bounds"
_SHOWN = "What is shown"


def attribute(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A test binary, or a name from pooldiag.toml.", show_default=False)
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGS", help="The target's own arguments; {out} is the run's output folder."),
    ] = None,
    order: Annotated[OrderKind | None, typer.Option(help="Running order.", rich_help_panel=_WHAT)] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31 - 1, help="Seed of --order rand.", rich_help_panel=_WHAT)
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Run only these cases; * and ? as in a shell.", rich_help_panel=_WHAT),
    ] = None,
    victim: Annotated[
        str | None, typer.Option(metavar="NAME", help="The case that the verdict is about.", rich_help_panel=_WHAT)
    ] = None,
    framework: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="doctest or blackbox; found by itself in a binary.", rich_help_panel=_WHAT),
    ] = None,
    cwd: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Working directory of every run.", rich_help_panel=_WHAT)
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="CMD", help="Run ahead of every run, to reset state.", rich_help_panel=_WHAT)
    ] = None,
    keep_env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Do not remove this inherited variable.", rich_help_panel=_WHAT),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Allocator, see `profiles`; most are found by themselves.", rich_help_panel=_ARMS
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=WORDS", help="An arm: 'bypass=MY_POOL=off -OTHER' (-NAME unsets).", rich_help_panel=_ARMS
        ),
    ] = None,
    stats: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Variables that make the pool print counters.", rich_help_panel=_ARMS),
    ] = None,
    counter: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=REGEX", help=r"A counter it prints: 'hits=(\d+)'.", rich_help_panel=_ARMS),
    ] = None,
    arms: Annotated[
        str | None,
        typer.Option(
            metavar="ROLES", help="Run only these arms, and the baseline: 'bypass,exact'.", rich_help_panel=_ARMS
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Posterior that a verdict needs (default: 0.99).", rich_help_panel=_ARMS),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start no run after that time.", rich_help_panel=_ARMS)
    ] = None,
    max_runs: Annotated[
        int | None, typer.Option(min=1, help="Most runs of all arms (default: 64).", rich_help_panel=_ARMS)
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(min=1, help="Run every arm so often, instead of as needed.", rich_help_panel=_ARMS),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB:DTYPE",
            help="Tensors that it writes into POOLDIAG_OUTPUT_DIR: 'video.bin:f32' (f64 f32 f16 bf16).",
            rich_help_panel=_READ,
        ),
    ] = None,
    requires: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="A file that must be readable, else blocked.", rich_help_panel=_READ),
    ] = None,
    fresh_check: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Must find nothing to build: 'ninja -n'.", rich_help_panel=_READ),
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Limit of one run (default: 10 x the longest green).", rich_help_panel=_BOUNDS
        ),
    ] = None,
    grace: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="From SIGTERM to SIGKILL (default: 10s).", rich_help_panel=_BOUNDS),
    ] = None,
    lock: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            envvar="POOLDIAG_LOCK",
            readable=False,  # whoever takes it finds out, and the report says so
            help="Device lock, held all along (default: ~/gpu.lock).",
            rich_help_panel=_BOUNDS,
        ),
    ] = None,
    no_lock: Annotated[bool, typer.Option("--no-lock", help="Take no lock.", rich_help_panel=_BOUNDS)] = False,
    lock_wait: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Longest wait for the lock (default: 45m).", rich_help_panel=_BOUNDS),
    ] = None,
    disk_floor: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Disk to stay free (default: 1GiB).", rich_help_panel=_BOUNDS)
    ] = None,
    memory_floor: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory to stay free (default: 512MiB).", rich_help_panel=_BOUNDS),
    ] = None,
    need: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Disk that must be free at the start.", rich_help_panel=_BOUNDS),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Configuration (default: the nearest pooldiag.toml).", rich_help_panel=_SHOWN
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.", rich_help_panel=_SHOWN)] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan; run nothing.", rich_help_panel=_SHOWN)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=_SHOWN)] = False,
) -> None:
    """Run TARGET under arms that take its pool away piece by piece, and say which mechanism the runs establish.

    Exit code: 0 nothing red; 1 red, and the mechanism is established; 3 red, unresolved; 4 blocked; 2 usage.
    """
    flags = AttributeFlags(
        target=target,
        arguments=tuple(arguments or ()),
        order=order,
        seed=seed,
        case=tuple(case or ()),
        victim=victim,
        framework=framework,
        cwd=cwd,
        before=before,
        keep_env=tuple(keep_env or ()),
        profile=profile,
        arm=tuple(arm or ()),
        stats=stats,
        counter=tuple(counter or ()),
        arms=arms,
        confidence=confidence,
        budget=budget,
        max_runs=max_runs,
        repeat=repeat,
        outputs=tuple(outputs or ()),
        requires=tuple(requires or ()),
        fresh_check=fresh_check,
        timeout=timeout,
        grace=grace,
        lock=tuple(lock or ()),
        no_lock=no_lock,
        lock_wait=lock_wait,
        disk_floor=disk_floor,
        memory_floor=memory_floor,
        need=need,
        config=config,
        json=json,
        dry_run=dry_run,
        quiet=quiet,
    )
    raise typer.Exit(int(exit_code_of(lambda: _attribute(flags))))


def _attribute(flags: AttributeFlags) -> ExitCode:
    """Do it; what a run needs and `--help` or `--dry-run` does not is imported only here."""
    if flags.dry_run:
        from pooldiag.cli.plan import say_plan  # noqa: PLC0415

        return say_plan(flags)
    from pooldiag.cli.attribution import run_attribute  # noqa: PLC0415

    return run_attribute(flags)
