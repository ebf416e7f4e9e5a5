"""`pooldiag bisect`: its flags, parse, wire, save, print.

What a run needs, and `--help` or `--dry-run` does not, is imported only where it is used.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.cli.attribute import OPTIONS as ATTRIBUTE_OPTIONS
from pooldiag.cli.target import flags
from pooldiag.cli.target.flags import ARMS, SEARCH, WHAT, Invocation, panel
from pooldiag.config.options import Options
from pooldiag.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pooldiag.cli.target.decisions import Decided
    from pooldiag.cli.target.earlier import EarlierReport
    from pooldiag.config.file import Config
    from pooldiag.model.readings import Signature
    from pooldiag.model.settings import BisectSettings

OPTIONS = (
    *flags.ONE_ORDER,
    *flags.what_runs(victim="The case whose red is bisected."),
    *panel(WHAT, "sequence"),
    *flags.SWITCHES,
    *panel(ARMS, "no_arms"),
    *panel(SEARCH, "search_confidence", "budget", "search_runs", "search_repeat"),
    *panel(SEARCH, "all", "jobs", "resume", "resume_from"),
    *flags.ALL_RUNS,
)

MOST_BYTES = 16 * 2**20

_STANDARD_INPUT = Path("-")
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_SEQUENCE_HINT = "names of cases, one a line; the last one is the victim, or the one that --victim names"


def bisect(given: Invocation) -> ExitCode:
    """Find the victim of a red order, its shortest red prefix, and the fewest earlier cases that turn it red.

    Exit code: 0 nothing red; 1 red, and the answer is proven; 3 red, unresolved; 4 blocked; 2 usage.
    """
    settings, decided = decide_bisect(given)
    if given.said.dry_run:
        from pooldiag.cli.target.plan import say_plan  # noqa: PLC0415 - as said above

        names = _up_to(settings.common.victim, settings.sequence)
        sequence = f"{len(names) - 1} cases, then {names[-1]}" if names else None
        return say_plan(decided, sequence or f"{settings.common.order}", _plan(settings))
    from pooldiag.cli.target.wiring import run_target  # noqa: PLC0415
    from pooldiag.diagnose import bisect as driver  # noqa: PLC0415

    return run_target(
        partial(driver.bisect, settings), decided, command="bisect", jobs=settings.jobs, resume=settings.resume
    )


def decide_bisect(given: Invocation) -> "tuple[BisectSettings, Decided]":
    """Decide everything; what an earlier report says stands behind the flags."""
    from pooldiag.cli.target.decisions import decide, with_cases  # noqa: PLC0415
    from pooldiag.model.settings import BASELINE_RUNS, DEFAULT_MAX_PROBES, BisectSettings  # noqa: PLC0415
    from pooldiag.reduce.search import DEFAULT_CONFIDENCE  # noqa: PLC0415

    whole, config, earlier = _with_report(given)
    whole = flags.with_environment(whole)
    typed = whole if earlier is None else given
    sequence = _sequence(whole.said)
    wanted = None if earlier is None else _wanted(given.said, earlier, sequence)
    decided = with_cases(decide(whole, config, invocation=whole.line("attribute", ATTRIBUTE_OPTIONS)))
    said = decided.said
    settings = BisectSettings(
        invocation=typed.line("bisect", OPTIONS),
        orders_alike=whole.line("orders", flags.RUNS_ALIKE),
        repeatable=whole.line("bisect", OPTIONS),
        common=decided.settings,
        sequence=sequence,
        order_is_free=said.order is None and not sequence and wanted is None,
        wanted=wanted,
        repeat=said.search_repeat or BASELINE_RUNS,
        every_set=said.all,
        arms=not said.no_arms,
        confidence=said.search_confidence or DEFAULT_CONFIDENCE,
        max_runs=said.search_runs or DEFAULT_MAX_PROBES,
        jobs=_jobs(decided),
        resume=_resume(given.said, earlier, decided),
    )
    return settings, decided


def _with_report(given: Invocation) -> "tuple[Invocation, Config, EarlierReport | None]":
    """Return all as if it had been typed here, and the configuration of there, where TARGET names a report.

    A target of that name in the configuration goes first.
    """
    from pooldiag.cli.target.decisions import configuration  # noqa: PLC0415
    from pooldiag.cli.target.earlier import read_report, repeated, report_at  # noqa: PLC0415

    config = configuration(given.said, Path.cwd())
    path = None if config.has(given.target) else report_at(Path(given.target))
    if path is None:
        return given, config, None
    earlier = read_report(path)
    whole = repeated(given, earlier, COMMAND)
    config = configuration(whole.said, earlier.directory)
    if earlier.directory == Path.cwd():
        return whole, config, earlier
    if config.has(whole.target):
        return whole.over_texts(config=str(config.files[0])), config, earlier
    located = replace(whole, target=str(earlier.directory / whole.target))
    return located.over_texts(cwd=str(earlier.directory)), config, earlier


def _sequence(said: Options) -> tuple[str, ...]:
    """Return the lines of the wanted running order; () without one."""
    if said.sequence is None:
        return ()
    if said.order is not None or said.seed is not None:
        raise UsageError("--sequence is an order of its own", hint="leave --order and --seed out")
    return read_sequence(said.sequence)


def _up_to(victim: str | None, lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in a sequence up to its victim, as far as they are known before a listing."""
    from pooldiag.diagnose.sequences import names_in  # noqa: PLC0415 - as said above

    names = names_in(lines)
    return names[: names.index(victim) + 1] if victim in names else names


def _jobs(decided: "Decided") -> int:
    """Return how many runs may go on at once: more than one only where none can disturb another."""
    settings, jobs = decided.settings, decided.said.jobs or 1
    if jobs > 1 and settings.lock.paths:
        raise UsageError(f"--jobs {jobs}: a lock is for one run at a time", hint="add --no-lock, or say --jobs 1")
    for option, words in (("--before", settings.before), ("--fresh-check", settings.fresh_check)):
        if jobs > 1 and words:
            raise UsageError(f"--jobs {jobs}: {option} is for one run at a time", hint="leave it out, or say --jobs 1")
    return jobs


def _resume(said: Options, earlier: "EarlierReport | None", decided: "Decided") -> Path | None:
    """Return the evidence folder of the bisection that is to be continued."""
    from pooldiag.cli.target.earlier import BISECT, bisection_at, last_interrupted  # noqa: PLC0415

    if said.resume and said.resume_from is not None:
        raise UsageError("--resume and --resume-from contradict each other", hint="give one of them")
    if said.resume_from is not None:
        return bisection_at(said.resume_from)
    if not said.resume:
        return None
    if earlier is not None and earlier.command == BISECT:
        return earlier.path.parent
    return last_interrupted(decided.settings.target.path)


def _wanted(said: Options, earlier: "EarlierReport", sequence: tuple[str, ...]) -> "Signature | None":
    """Return the red that the report shows: that of the victim, if one is named now."""
    if not earlier.signatures:
        if said.resume and earlier.command == "bisect":
            return None  # interrupted before it knew
        raise UsageError(f"{earlier.path}: nothing in it is red", hint="`pooldiag orders` finds orders that are")
    if earlier.hidden_by is not None:
        raise UsageError(
            f"{earlier.path}: red under {earlier.hidden_by} only, and bisect looks for the red of no arm",
            hint="set the variables of that arm, keep them with --keep-env NAME, and bisect the target itself",
        )
    names = _up_to(said.victim, sequence)
    return earlier.red_of(names[-1] if names else said.victim)


def read_sequence(path: Path) -> tuple[str, ...]:
    """Return the lines of a file that are not empty, each as it is; `-` is standard input.

    What pytest prints behind the names is left to whoever knows the cases. What is not UTF-8 becomes what frameworks
    make of it in the name of a case.
    """
    from pooldiag.diagnose.sequences import names_in  # noqa: PLC0415 - as said above

    try:
        with nullcontext(sys.stdin.buffer) if path == _STANDARD_INPUT else path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)  # a device has no end
    except OSError as error:
        raise UsageError(f"--sequence {path}: {error.strerror}", hint=_SEQUENCE_HINT) from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"--sequence {path}: more than {MOST_BYTES} bytes", hint=_SEQUENCE_HINT)
    text = _RAW_BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:02X}", data.decode("utf-8-sig", "surrogateescape"))
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    names = tuple(line for line in lines if line)
    if not names_in(names):
        raise UsageError(f"--sequence {path}: no name in it", hint=_SEQUENCE_HINT)
    return names


def _plan(settings: "BisectSettings") -> Iterator[str]:
    """Yield what is looked for, and how."""
    from pooldiag.cli.target.plan import arm_lines  # noqa: PLC0415

    if victim := settings.common.victim or next(reversed(_up_to(None, settings.sequence)), None):
        yield f"victim     {victim}"
    if settings.wanted is not None:
        yield f"red        {settings.wanted}"
    if settings.jobs > 1:
        yield f"at once    {settings.jobs} runs"
    if settings.resume is not None:
        yield f"goes on    {settings.resume}"
    yield ""
    found = "every independent set of polluters" if settings.every_set else "the polluters in it"
    yield f"First the red; then the shortest red prefix, and {found}; {settings.max_runs} runs at most."
    yield "With m cases before the victim, one polluter and no chance: ceil(log2 m) + 8 runs at most, proofs included."
    if settings.arms:
        yield "On the cases that are left:"
        yield from arm_lines(settings.common)


COMMAND = flags.subcommand(
    bisect, OPTIONS, target="A test binary, a name from pooldiag.toml, or the report of an earlier diagnosis."
)
