"""From what was said to settings: a flag wins over the file, the file over the default."""

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from pooldiag.attribution.acted import ENVIRONMENT_CALLS
from pooldiag.attribution.witnesses import WITNESS_IDS
from pooldiag.census.files import FORMATS
from pooldiag.census.layouts import find_layout
from pooldiag.cli.problems import registered
from pooldiag.cli.target.flags import Invocation
from pooldiag.config.file import Config, TargetConfig, find_config, read_config, resolve_target
from pooldiag.config.options import Options
from pooldiag.errors import UsageError
from pooldiag.execute.elf import Kind, describe, find_markers, is_closed, libraries
from pooldiag.frameworks import BLACKBOX, FRAMEWORKS, recognise
from pooldiag.frameworks.base import Framework
from pooldiag.model.arms import SWITCHED_ROLES, AllocatorProfile, Arm, Role
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
from pooldiag.profiles import NO_PROFILE, PROFILES, arms_of, custom_profile, markers, others, with_inherited
from pooldiag.profiles import recognise as recognise_profile

DEFAULT_LOCK = Path("~/gpu.lock")

_PRELOADING = frozenset({"LD_PRELOAD", "LD_AUDIT"})  # each brings in libraries that no file of the target names

_INTERPRETER = re.compile(r"(?:python|pypy|perl|ruby|node|php|lua|bash|dash|sh)[\d.]*")

WITNESS_NAMES = {name: name for name in WITNESS_IDS}

LEAST_CONFIDENCE = 0.5
"""With less, two mechanisms could both be established."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Settings, and what was found out about the target on the way to them."""

    settings: AttributeSettings
    said: Options
    framework: Framework
    names: frozenset[str]
    searchable: bool
    closed: bool
    libraries: tuple[Path, ...] = ()
    profile_name: str | None = None  # None where a script runs test cases, and nothing speaks of an allocator
    notes: tuple[str, ...] = ()


def configuration(said: Options, start: Path) -> Config:
    """Read the configuration that is named, or the nearest one of a folder."""
    return find_config(start) if said.config is None else read_config(said.config)


NO_SWITCH = "no switch of an allocator is known here: name them, --arm 'bypass=NAME=VALUE', one for each role"


def decide(given: Invocation, config: Config, *, invocation: CommandLine) -> Decided:
    """Look at the target's files, and decide what is the same for every command; nothing of the target runs."""
    found = resolve_target(given.target, config, Path.exists)
    entry = found if isinstance(found, TargetConfig) else TargetConfig(name="", command=(str(found),))
    said = given.said.over(entry.said).over(config.said)
    _check(given.said, said)
    path, shown = _program(entry, named=given.target == entry.name)
    searchable = describe(Path(entry.command[0]) if shown == entry.command[0] else path) is Kind.PROGRAM
    files = (path, *libraries(path)) if searchable else ()
    marks = find_markers(files, {*markers(), *(mark for known in FRAMEWORKS.values() for mark in known.markers)})
    framework = recognise(marks) if said.framework is None else registered(FRAMEWORKS, said.framework, "--framework")
    require_orders(framework, () if said.order is None else (said.order,), "--order")
    arguments = (*entry.command[1:], *given.arguments)
    framework.refuse(arguments)
    profile = _profile(said, marks)
    is_script = not searchable or _INTERPRETER.fullmatch(path.name) is not None
    without_pool = framework.any_order and is_script and profile == NO_PROFILE
    target = Target(
        path=path,
        shown=shown,
        arguments=arguments,
        directory=_directory(said),
        shell_directory=Path.cwd(),
        framework=framework.name,
    )
    return Decided(
        settings=_settings(said, target, profile, invocation),
        said=said,
        framework=framework,
        names=_names(profile, files),
        searchable=searchable,
        closed=searchable and not _PRELOADING & os.environ.keys() and is_closed(files),
        libraries=files[1:],
        profile_name=None if without_pool else profile.name,
        notes=tuple(_notes(given.said, framework, profile, config, marks, without_pool=without_pool)),
    )


def with_cases(decided: Decided) -> Decided:
    """Return what was decided on a target whose framework knows its cases; UsageError where none does."""
    if not decided.framework.lists_cases:
        known = ", ".join(name for name, framework in FRAMEWORKS.items() if framework.lists_cases)
        raise UsageError(
            f"{decided.settings.target.shown}: no test framework is known in it, so it has no cases to order",
            hint=f"name what is inside it: --framework NAME, one of {known}",
        )
    return decided


def require_orders(framework: Framework, kinds: Iterable[OrderKind], option: str) -> None:
    """Raise UsageError for an order that a framework cannot be asked for."""
    known = [str(order.kind) for order in framework.plain_orders]
    if OrderKind.REVERSE in kinds and str(OrderKind.REVERSE) not in known:
        raise UsageError(
            f"{option} {OrderKind.REVERSE}: a {framework.name} target has no such order",
            hint=f"it has {', '.join(known)}, and those of seeds",
        )


def _check(typed: Options, said: Options) -> None:
    """Raise UsageError for what contradicts itself, or cannot be meant."""
    if typed.no_lock and typed.lock:
        raise UsageError(f"--no-lock and --lock {typed.lock[0]} contradict each other", hint="give one of them")
    if typed.seed is not None and said.order is not OrderKind.RAND:
        kind = said.order or OrderKind.FILE
        raise UsageError(f"--seed {typed.seed} changes nothing in {kind} order", hint="add --order rand")
    for share in (said.search_confidence, said.confidence):
        if share is not None and not LEAST_CONFIDENCE <= share < 1:
            raise UsageError(
                f"--confidence {share:g} is no share between {LEAST_CONFIDENCE} and 1", hint="for instance 0.99"
            )


def _program(entry: TargetConfig, *, named: bool) -> tuple[Path, str]:
    """Return the absolute path of the program, and the word that a shell would take for it."""
    word = entry.command[0]
    if "/" not in word and named and (found := shutil.which(word)) is not None:
        return Path(found), word
    return Path.cwd() / word, word if "/" in word else f"./{word}"


def _directory(said: Options) -> Path:
    directory = Path.cwd() if said.cwd is None else Path.cwd() / said.cwd
    if not directory.is_dir():
        raise UsageError(f"--cwd {directory}: no such directory", hint="name the directory that the runs start in")
    return directory


def _profile(said: Options, marks: frozenset[bytes]) -> AllocatorProfile:
    wanted = said.profile
    base = recognise_profile(marks) if wanted is None else _switched(registered(PROFILES, wanted, "--profile"))
    base = None if base is None else with_inherited(base, os.environ)
    return custom_profile(base, said.arm, said.stats, said.counter, said.property)


def _switched(profile: AllocatorProfile) -> AllocatorProfile:
    """Return a profile that has switches; UsageError with the line of code for an allocator that has none."""
    if profile.no_switch is not None:
        raise UsageError(
            f"--profile {profile.name}: no variable switches {profile.title} off",
            hint=f"code does it: {profile.no_switch}",
        )
    return profile


def _names(profile: AllocatorProfile, files: tuple[Path, ...]) -> frozenset[str]:
    """Return which variables that an arm sets stand in the target's files, and what the program itself can call."""
    switched = (arm for arm in arms_of(profile) if arm.role in SWITCHED_ROLES)
    wanted = {name for arm in switched for name, _ in arm.environment.set}
    found = find_markers(files, [name.encode() for name in wanted])
    # Built into the program itself: a library may hold these words for other reasons.
    symbols = (*ENVIRONMENT_CALLS, *(profile.linked.symbols if profile.linked is not None else ()))
    built_in = find_markers(files[:1], [symbol.encode() for symbol in symbols])
    return frozenset(name.decode() for name in found | built_in)


def _settings(said: Options, target: Target, profile: AllocatorProfile, invocation: CommandLine) -> AttributeSettings:
    arms = _arms(said.arms or (), profile)
    floors = {"disk_bytes": said.disk_floor, "memory_bytes": said.memory_floor, "need_bytes": said.need}
    return AttributeSettings(
        invocation=invocation,
        target=target,
        order=Order(kind=said.order or OrderKind.FILE, seed=said.seed if said.order is OrderKind.RAND else None),
        case_patterns=said.case,
        victim=said.victim or None,
        profile=profile,
        arms=arms,
        left_out=tuple(arm.role for arm in arms_of(profile) if arm not in arms),
        left_out_witnesses=tuple(registered(WITNESS_NAMES, name, "--no-witness") for name in said.no_witness),
        repeat=said.repeat,
        confidence=said.confidence or DEFAULT_CONFIDENCE,
        max_runs=said.max_runs or DEFAULT_MAX_RUNS,
        budget_seconds=said.budget,
        outputs=tuple(map(_known_type, said.outputs)),
        printed_census=said.printed_census is not False,
        requires=said.requires,
        before=said.before or (),
        fresh_check=said.fresh_check or (),
        timeout_seconds=said.timeout,
        grace_seconds=10.0 if said.grace is None else said.grace,
        keep_environment=said.keep_env,
        lock=_lock(said),
        floors=replace(Floors(), **{name: size for name, size in floors.items() if size is not None}),
    )


def _arms(roles: tuple[Role, ...], profile: AllocatorProfile) -> tuple[Arm, ...]:
    """Return the baseline and the arms that may run: all, or those of the roles that were asked for.

    The second use of a folder comes with the first one, and says nothing without it; a placebo comes with all others.
    """
    arms = arms_of(profile)
    if Role.USED_STATE in roles and Role.FRESH_STATE not in roles:
        raise UsageError(
            f"--arms {Role.USED_STATE}: uses the folder that {Role.FRESH_STATE} left, and comes along with it",
            hint=f"name {Role.FRESH_STATE}",
        )
    missing = [role for role in roles if role not in {arm.role for arm in arms}]
    if missing:
        raise UsageError(
            f"--arms {missing[0]}: no switch plays this role here",
            hint=f"name one: --arm '{missing[0]}=NAME=VALUE'; there are: {', '.join(arm.role for arm in arms[1:])}",
        )
    wanted = {Role.BASELINE, Role.PLACEBO, *roles, *((Role.USED_STATE,) if Role.FRESH_STATE in roles else ())}
    return tuple(arm for arm in arms if not roles or arm.role in wanted)


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


def _lock(said: Options) -> LockSettings:
    paths = () if said.no_lock else (_default_lock(),) if said.lock is None else said.lock
    wait = DEFAULT_LOCK_WAIT_SECONDS if said.lock_wait is None else said.lock_wait
    return LockSettings(paths=tuple(Path.cwd() / path for path in paths), wait_seconds=wait)


def _default_lock() -> Path:
    try:
        return DEFAULT_LOCK.expanduser()
    except RuntimeError as error:
        raise UsageError(f"{DEFAULT_LOCK}: there is no home directory", hint="name a lock with --lock PATH") from error


def _notes(
    typed: Options,
    framework: Framework,
    profile: AllocatorProfile,
    config: Config,
    marks: frozenset[bytes],
    *,
    without_pool: bool,
) -> Iterable[str]:
    """Say what is not known, what arms leave in place (a green under them is then of less), and what every run sets."""
    if framework is BLACKBOX and typed.framework is None:
        yield "no known test framework: run as a black box, which reads the exit code and the outputs only"
    if not profile.arms and not without_pool:
        yield NO_SWITCH
    if profile.beneath:
        yield f"partially bypassed: the arms of {profile.name} leave in place {'; '.join(profile.beneath)}"
    for name, value in profile.always.set:
        yield f"every run sets {name}={value}, the baseline too"
    for key in config.shadowed:
        yield f"{key} in pyproject.toml is not used: pooldiag.toml has it too"
    if found := others(marks, profile):
        yield f"partially bypassed: the target's files also name switches of {', '.join(found)}, which stay unset"
