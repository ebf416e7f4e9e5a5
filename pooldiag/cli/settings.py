"""From flags and configuration to settings: a flag wins over the file, the file over the default."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TypeVar

from pooldiag.attribution.acted import ENVIRONMENT_CALLS
from pooldiag.census.files import FORMATS
from pooldiag.census.layouts import find_layout
from pooldiag.cli.flags import AttributeFlags, RunFlags
from pooldiag.config import (
    Config,
    TargetConfig,
    find_config,
    parse_duration,
    parse_output,
    parse_roles,
    parse_size,
    parse_words,
    read_config,
    resolve_target,
)
from pooldiag.errors import UsageError
from pooldiag.execute.elf import Kind, describe, find_markers, libraries
from pooldiag.frameworks import BLACKBOX, FRAMEWORKS, recognise
from pooldiag.frameworks.base import Framework
from pooldiag.model.arms import AllocatorProfile, Arm, Role
from pooldiag.model.cases import Order, OrderKind, Target
from pooldiag.model.settings import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LOCK_WAIT_SECONDS,
    DEFAULT_MAX_RUNS,
    AttributeSettings,
    CommandLine,
    Floors,
    LockSettings,
    OutputSpec,
)
from pooldiag.profiles import PROFILES, arms_of, custom_profile, markers, others, with_inherited
from pooldiag.profiles import recognise as recognise_profile

DEFAULT_LOCK = Path("~/gpu.lock")

LEAST_CONFIDENCE = 0.5
"""With less, two mechanisms could both be established."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Settings, and what was found out about the target on the way to them."""

    settings: AttributeSettings
    framework: Framework
    names: frozenset[str]
    searchable: bool
    libraries: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def decide(flags: AttributeFlags) -> Decided:
    """Read the configuration, look at the target's files, and decide everything; nothing of the target runs."""
    decided = decide_common(flags, configuration(flags, Path.cwd()))
    repeat = flags.repeat or decided.settings.repeat
    return replace(decided, settings=replace(decided.settings, repeat=repeat))


def configuration(flags: RunFlags, start: Path) -> Config:
    """Read the configuration that is named, or the nearest one of a folder."""
    return find_config(start) if flags.config is None else read_config(flags.config)


def decide_common(flags: RunFlags, config: Config) -> Decided:
    """Decide what is the same for every command that runs a target."""
    entry = _entry(flags, config)
    path, shown = _program(entry, named=flags.target == entry.name)
    searchable = describe(Path(entry.command[0]) if shown == entry.command[0] else path) is Kind.PROGRAM
    files = (path, *libraries(path)) if searchable else ()
    marks = find_markers(files, {*markers(), *(mark for known in FRAMEWORKS.values() for mark in known.markers)})
    framework = _framework(flags, entry, marks)
    framework.refuse((*entry.command[1:], *flags.arguments))
    profile = _profile(flags, entry, marks)
    target = Target(
        path=path,
        shown=shown,
        arguments=(*entry.command[1:], *flags.arguments),
        directory=_directory(flags, entry),
        shell_directory=Path.cwd(),
        framework=framework.name,
    )
    return Decided(
        settings=_settings(flags, config, entry, target, profile),
        framework=framework,
        names=_names(profile, files),
        searchable=searchable,
        libraries=files[1:],
        notes=(*_notes(flags, framework, profile, config), *_other_pools(profile, marks)),
    )


def _entry(flags: RunFlags, config: Config) -> TargetConfig:
    """Return the target as the file has it, or an entry made of a path."""
    found = resolve_target(flags.target, config, Path.exists)
    if isinstance(found, TargetConfig):
        return found
    return TargetConfig(name="", command=(str(found),), directory=Path.cwd())


def _program(entry: TargetConfig, *, named: bool) -> tuple[Path, str]:
    """Return the absolute path of the program, and the word that a shell would take for it."""
    word = entry.command[0]
    if "/" not in word and named and (found := shutil.which(word)) is not None:
        return Path(found), word
    return Path.cwd() / word, word if "/" in word else f"./{word}"


def _directory(flags: RunFlags, entry: TargetConfig) -> Path:
    directory = Path.cwd() / flags.cwd if flags.cwd is not None else entry.directory
    if not directory.is_dir():
        raise UsageError(f"--cwd {directory}: no such directory", hint="name the directory that the runs start in")
    return directory


def _framework(flags: RunFlags, entry: TargetConfig, marks: frozenset[bytes]) -> Framework:
    wanted = flags.framework or entry.framework
    return recognise(marks) if wanted is None else _named(FRAMEWORKS, wanted, "--framework")


def _profile(flags: RunFlags, entry: TargetConfig, marks: frozenset[bytes]) -> AllocatorProfile:
    wanted = flags.profile or entry.profile
    found = None if wanted is not None else recognise_profile(marks)
    base = found if wanted is None else _switched(_named(PROFILES, wanted, "--profile"))
    base = None if base is None else with_inherited(base, os.environ)
    return custom_profile(
        base, (*entry.arms, *flags.arm), flags.stats or entry.stats, (*entry.counters, *flags.counter)
    )


def _switched(profile: AllocatorProfile) -> AllocatorProfile:
    """Return a profile that has switches; UsageError with the line of code for an allocator that has none."""
    if profile.no_switch is not None:
        raise UsageError(
            f"--profile {profile.name}: no variable switches {profile.title} off",
            hint=f"code does it: {profile.no_switch}",
        )
    return profile


def _named(registry: Mapping[str, _T], name: str, option: str) -> _T:
    if name not in registry:
        raise UsageError(f"{option} {name!r} is not known", hint=f"known: {', '.join(registry)}")
    return registry[name]


def _names(profile: AllocatorProfile, files: tuple[Path, ...]) -> frozenset[str]:
    """Return which variables that an arm sets stand in the target's files, and what the program itself can call."""
    wanted = {name for arm in arms_of(profile) for name, _ in arm.environment.set}
    found = find_markers(files, [name.encode() for name in wanted])
    # Built into the program itself: a library may hold these words for other reasons.
    symbols = (*ENVIRONMENT_CALLS, *(profile.linked.symbols if profile.linked is not None else ()))
    built_in = find_markers(files[:1], [symbol.encode() for symbol in symbols])
    return frozenset(name.decode() for name in found | built_in)


def _settings(
    flags: RunFlags, config: Config, entry: TargetConfig, target: Target, profile: AllocatorProfile
) -> AttributeSettings:
    arms = _arms(flags, config, profile)
    return AttributeSettings(
        invocation=command_line("attribute", flags, AttributeFlags),
        target=target,
        order=_order(flags, entry),
        case_patterns=flags.case or entry.cases,
        victim=flags.victim or entry.victim,
        profile=profile,
        arms=arms,
        left_out=tuple(arm.role for arm in arms_of(profile) if arm not in arms),
        repeat=config.run.repeat,
        confidence=_confidence(flags, config),
        max_runs=flags.max_runs or config.run.max_runs or DEFAULT_MAX_RUNS,
        budget_seconds=_budget(flags, config),
        outputs=tuple(map(_known_type, (*map(parse_output, flags.outputs),) or entry.outputs)),
        requires=flags.requires or entry.requires,
        before=_words(flags.before, "--before") or entry.before,
        fresh_check=_words(flags.fresh_check, "--fresh-check") or entry.fresh_check,
        timeout_seconds=_timeout(flags, entry),
        grace_seconds=_first(_seconds(flags.grace, "--grace"), entry.grace_seconds, 10.0),
        keep_environment=(*entry.keep_environment, *flags.keep_env),
        lock=_lock(flags, config),
        floors=_floors(flags, config),
    )


def _arms(flags: RunFlags, config: Config, profile: AllocatorProfile) -> tuple[Arm, ...]:
    """Return the baseline and the arms that may run: all, or those of the roles that were asked for."""
    arms = arms_of(profile)
    roles = (config.run.roles or ()) if flags.arms is None else parse_roles(flags.arms, what="--arms")
    missing = [role for role in roles if role not in {arm.role for arm in arms}]
    if missing:
        raise UsageError(
            f"--arms {missing[0]}: no switch plays this role here",
            hint=f"name one: --arm '{missing[0]}=NAME=VALUE'; there are: {', '.join(arm.role for arm in arms[1:])}",
        )
    return tuple(arm for arm in arms if not roles or arm.role in {Role.BASELINE, *roles})


def _confidence(flags: RunFlags, config: Config) -> float:
    share = _first(flags.confidence, config.run.confidence, DEFAULT_CONFIDENCE)
    if not LEAST_CONFIDENCE <= share < 1:
        raise UsageError(
            f"--confidence {share:g} is no share between {LEAST_CONFIDENCE} and 1", hint="for instance 0.99"
        )
    return share


def _budget(flags: RunFlags, config: Config) -> float | None:
    seconds = _seconds(flags.budget, "--budget")
    if seconds == 0:
        raise UsageError("--budget 0 leaves no time for a run", hint="for instance 30m, 2h")
    return seconds if seconds is not None else config.run.budget_seconds


def command_line(command: str, flags: RunFlags, taken: type[RunFlags]) -> CommandLine:
    """Return the line that gives these flags to a command, as far as it takes them."""
    words = tuple(_target_words(flags))
    return CommandLine(command=command, options=flags.words_for(taken), target=words, directory=Path.cwd())


def _target_words(flags: RunFlags) -> Iterable[str]:
    """Return TARGET and its arguments as they were typed; `--` keeps a name that looks like a flag a name."""
    if flags.target.startswith("-"):
        yield "--"
    yield flags.target
    yield from flags.arguments


def _order(flags: RunFlags, entry: TargetConfig) -> Order:
    kind = flags.order or entry.order or OrderKind.FILE
    seed = flags.seed if flags.seed is not None else entry.seed
    if kind is OrderKind.RAND:
        return Order(kind=kind, seed=seed)
    if flags.seed is not None:
        raise UsageError(f"--seed {flags.seed} changes nothing in {kind} order", hint="add --order rand")
    return Order(kind=kind)


def _known_type(spec: OutputSpec) -> OutputSpec:
    """Return a declared output with its type by the name that layouts have; UsageError where none can be read so."""
    if spec.dtype is not None:
        try:
            return replace(spec, dtype=find_layout(spec.dtype).name)
        except UsageError as error:
            raise UsageError(f"--outputs {spec.glob}:{spec.dtype}: no such element type", hint=error.hint) from error
    if PurePath(spec.glob).suffix.lower() in FORMATS["raw"].suffixes:
        raise UsageError(
            f"--outputs {spec.glob}: a raw file does not say what type it is of", hint=f"name it: '{spec.glob}:f32'"
        )
    return spec


def _words(text: str | None, option: str) -> tuple[str, ...]:
    return () if text is None else parse_words(text, what=option)


def _seconds(text: str | None, option: str) -> float | None:
    return None if text is None else parse_duration(text, what=option)


def _size(text: str | None, option: str) -> int | None:
    return None if text is None else parse_size(text, what=option)


def _timeout(flags: RunFlags, entry: TargetConfig) -> float | None:
    seconds = _seconds(flags.timeout, "--timeout")
    if seconds == 0:
        raise UsageError("--timeout 0 ends every run at once", hint="for instance 90, 30m, 2h")
    return seconds if seconds is not None else entry.timeout_seconds


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def _lock(flags: RunFlags, config: Config) -> LockSettings:
    if flags.no_lock and flags.lock and not os.environ.get("POOLDIAG_LOCK"):
        raise UsageError(f"--no-lock and --lock {flags.lock[0]} contradict each other", hint="give one of them")
    configured = config.lock.paths
    paths = flags.lock or (configured if configured is not None else (() if flags.no_lock else (_default_lock(),)))
    wait = _first(_seconds(flags.lock_wait, "--lock-wait"), config.lock.wait_seconds, DEFAULT_LOCK_WAIT_SECONDS)
    return LockSettings(paths=() if flags.no_lock else tuple(Path.cwd() / path for path in paths), wait_seconds=wait)


def _default_lock() -> Path:
    try:
        return DEFAULT_LOCK.expanduser()
    except RuntimeError as error:
        raise UsageError(f"{DEFAULT_LOCK}: there is no home directory", hint="name a lock with --lock PATH") from error


def _floors(flags: RunFlags, config: Config) -> Floors:
    default = Floors()
    given = {
        "disk_bytes": (_size(flags.disk_floor, "--disk-floor"), config.disk.floor_bytes),
        "memory_bytes": (_size(flags.memory_floor, "--memory-floor"), config.memory.floor_bytes),
        "need_bytes": (_size(flags.need, "--need"), config.disk.need_bytes),
    }
    chosen = {name: next((value for value in values if value is not None), None) for name, values in given.items()}
    return replace(default, **{name: value for name, value in chosen.items() if value is not None})


def _notes(flags: RunFlags, framework: Framework, profile: AllocatorProfile, config: Config) -> Iterable[str]:
    if framework is BLACKBOX and flags.framework is None:
        yield "no known test framework: run as a black box, which reads the exit code and the outputs only"
    if not profile.arms:
        yield "no switch of an allocator is known here: name them, --arm 'bypass=NAME=VALUE', one for each role"
    yield from _profile_notes(profile)
    for key in config.shadowed:
        yield f"{key} in pyproject.toml is not used: pooldiag.toml has it too"


def _other_pools(profile: AllocatorProfile, marks: frozenset[bytes]) -> Iterable[str]:
    """Warn of pools that no arm takes away: a green under the bypass is then of one pool of several."""
    if found := others(marks, profile):
        yield f"partially bypassed: the target's files also name switches of {', '.join(found)}, which stay unset"


def _profile_notes(profile: AllocatorProfile) -> Iterable[str]:
    """Tell what the arms of the profile leave in place, and what every run sets."""
    if profile.beneath:
        yield f"partially bypassed: the arms of {profile.name} leave in place {'; '.join(profile.beneath)}"
    for name, value in profile.always.set:
        yield f"every run sets {name}={value}, the baseline too"
