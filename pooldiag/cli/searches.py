"""From flags and configuration to the settings of `bisect` and `orders`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pooldiag.cli.interrupted import bisection_at, last_interrupted
from pooldiag.cli.recorded import over
from pooldiag.cli.reports import EarlierReport, read_report, report_at
from pooldiag.cli.search_flags import BisectFlags, OrdersFlags, with_options_behind
from pooldiag.cli.sequences import read_sequence
from pooldiag.cli.settings import Decided, command_line, configuration, decide_common
from pooldiag.config import Config, parse_seeds
from pooldiag.errors import UsageError
from pooldiag.frameworks import FRAMEWORKS
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.readings import Signature
from pooldiag.model.settings import (
    BASELINE_RUNS,
    DEFAULT_MAX_PROBES,
    DEFAULT_MAX_RUNS,
    AttributeSettings,
    BisectSettings,
    OrdersSettings,
)
from pooldiag.model.settings import DEFAULT_CONFIDENCE as DEFAULT_ARMS_CONFIDENCE
from pooldiag.reduce.search import DEFAULT_CONFIDENCE

DEFAULT_SEEDS = "1..20"

_NONE = "none"
_PLAIN_ORDERS = {str(kind): Order(kind=kind) for kind in OrderKind if kind is not OrderKind.RAND}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedBisect:
    """What `bisect` does, and what was found out about the target on the way."""

    settings: BisectSettings
    common: Decided


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedOrders:
    """What `orders` does, and what was found out about the target on the way."""

    settings: OrdersSettings
    common: Decided


def decide_bisect(flags: BisectFlags) -> DecidedBisect:
    """Decide everything, as `decide` does; what an earlier report says stands behind the flags."""
    flags = with_options_behind(flags)
    earlier = _earlier(flags)
    whole, config = (flags, configuration(flags, Path.cwd())) if earlier is None else _from_report(flags, earlier)
    sequence = _sequence(whole)
    if sequence:
        whole = replace(whole, victim=sequence[-1])
    wanted = None if earlier is None else _wanted(flags, earlier, sequence)
    common = _with_cases(decide_common(whole, config))
    return DecidedBisect(
        common=common,
        settings=BisectSettings(
            invocation=command_line("bisect", flags, BisectFlags),
            repeatable=command_line("bisect", whole, BisectFlags),
            common=_of_the_arms(common.settings, config),
            sequence=sequence,
            wanted=wanted,
            repeat=whole.repeat or BASELINE_RUNS,
            every_set=whole.all,
            arms=not whole.no_arms,
            confidence=whole.confidence or DEFAULT_CONFIDENCE,
            max_runs=whole.max_runs or DEFAULT_MAX_PROBES,
            jobs=_jobs(whole, config, common),
            resume=_resume(flags, earlier, common),
        ),
    )


def decide_orders(flags: OrdersFlags) -> DecidedOrders:
    """Decide everything, as `decide` does."""
    flags = with_options_behind(flags)
    config = configuration(flags, Path.cwd())
    orders = (*_plain_orders(flags), *_rand_orders(flags))
    if not orders:
        raise UsageError("--orders none and --seeds none leave no order to run", hint="leave one of them out")
    common = _with_cases(decide_common(flags, config))
    return DecidedOrders(
        common=common,
        settings=OrdersSettings(
            invocation=command_line("orders", flags, OrdersFlags),
            common=common.settings,
            orders=orders,
            prefix=not flags.no_prefix,
            max_runs=flags.max_runs or DEFAULT_MAX_PROBES,
        ),
    )


def _with_cases(common: Decided) -> Decided:
    if not common.framework.lists_cases:
        known = ", ".join(name for name, framework in FRAMEWORKS.items() if framework.lists_cases)
        raise UsageError(
            f"{common.settings.target.shown}: no test framework is known in it, so it has no cases to order",
            hint=f"name what is inside it: --framework NAME, one of {known}",
        )
    return common


def _of_the_arms(settings: AttributeSettings, config: Config) -> AttributeSettings:
    """Return the settings of the arms, which the flags of the search do not bound: the configuration does."""
    return replace(
        settings,
        confidence=config.run.confidence or DEFAULT_ARMS_CONFIDENCE,
        max_runs=config.run.max_runs or DEFAULT_MAX_RUNS,
    )


def _jobs(flags: BisectFlags, config: Config, common: Decided) -> int:
    """Return how many runs may go on at once: more than one only where none can disturb another."""
    jobs = flags.jobs or config.run.jobs or 1
    settings = common.settings
    if jobs > 1 and settings.lock.paths:
        raise UsageError(f"--jobs {jobs}: a lock is for one run at a time", hint="add --no-lock, or say --jobs 1")
    for option, words in (("--before", settings.before), ("--fresh-check", settings.fresh_check)):
        if jobs > 1 and words:
            raise UsageError(f"--jobs {jobs}: {option} is for one run at a time", hint="leave it out, or say --jobs 1")
    return jobs


def _sequence(flags: BisectFlags) -> tuple[str, ...]:
    """Return the wanted running order; () without one."""
    if flags.sequence is None:
        return ()
    if flags.order is not None or flags.seed is not None:
        raise UsageError("--sequence is an order of its own", hint="leave --order and --seed out")
    names = read_sequence(flags.sequence)
    if flags.victim not in {None, names[-1]}:
        raise UsageError(
            f"--victim {flags.victim} is not the last case of --sequence, {names[-1]}",
            hint="the last one is the victim",
        )
    return names


def _resume(flags: BisectFlags, earlier: EarlierReport | None, common: Decided) -> Path | None:
    """Return the evidence folder of the bisection that is to be gone on with."""
    if flags.resume and flags.resume_from is not None:
        raise UsageError("--resume and --resume-from contradict each other", hint="give one of them")
    if flags.resume_from is not None:
        return bisection_at(flags.resume_from)
    if not flags.resume:
        return None
    if earlier is not None and earlier.command == "bisect":
        return earlier.path.parent
    return last_interrupted(common.settings.target.path)


def _earlier(flags: BisectFlags) -> EarlierReport | None:
    """Read the report that TARGET names; a target of that name in the configuration goes first."""
    path = report_at(Path(flags.target))
    if path is None or _is_named(flags.target, configuration(flags, Path.cwd())):
        return None
    return read_report(path)


def _is_named(target: str, config: Config) -> bool:
    return target in {entry.name for entry in config.targets}


def _from_report(flags: BisectFlags, earlier: EarlierReport) -> tuple[BisectFlags, Config]:
    """Return the flags as if all had been typed here, and the configuration of there."""
    try:
        whole = over(flags, earlier)
    except ValueError as error:
        raise UsageError(
            f"{earlier.path}: its command is none of this version: {error}", hint="name the target itself"
        ) from error
    config = configuration(whole, earlier.directory)
    if earlier.directory == Path.cwd():
        return whole, config
    if _is_named(whole.target, config):
        return replace(whole, config=whole.config or config.files[0]), config
    return replace(whole, target=str(earlier.directory / whole.target), cwd=whole.cwd or earlier.directory), config


def _wanted(flags: BisectFlags, earlier: EarlierReport, sequence: tuple[str, ...]) -> Signature | None:
    """Return the red that the report shows: that of the victim, if one is named now."""
    if not earlier.signatures:
        if flags.resume and earlier.command == "bisect":
            return None  # interrupted before it knew
        raise UsageError(f"{earlier.path}: nothing in it is red", hint="`pooldiag orders` finds orders that are")
    if earlier.hidden_by is not None:
        raise UsageError(
            f"{earlier.path}: red under {earlier.hidden_by} only, and bisect looks for the red of no arm",
            hint="set the variables of that arm, keep them with --keep-env NAME, and bisect the target itself",
        )
    return earlier.red_of(sequence[-1] if sequence else flags.victim)


def _plain_orders(flags: OrdersFlags) -> Iterator[Order]:
    """Yield the orders without a seed, each once."""
    names = [*_PLAIN_ORDERS] if flags.orders is None else [name.strip() for name in flags.orders.split(",")]
    for name in dict.fromkeys(names if names != [_NONE] else ()):
        if name not in _PLAIN_ORDERS:
            raise UsageError(
                f"--orders {flags.orders}: {name!r} is no order without a seed",
                hint=f"known: {', '.join(_PLAIN_ORDERS)}, or {_NONE}; --seeds says which rand orders",
            )
        yield _PLAIN_ORDERS[name]


def _rand_orders(flags: OrdersFlags) -> Iterator[Order]:
    text = DEFAULT_SEEDS if flags.seeds is None else flags.seeds
    if text.strip() != _NONE:
        yield from (Order(kind=OrderKind.RAND, seed=seed) for seed in parse_seeds(text, what="--seeds"))
