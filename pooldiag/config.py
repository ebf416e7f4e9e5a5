"""`pooldiag.toml`, or `[tool.pooldiag]` of `pyproject.toml`: found, read and checked; flags share the parsers."""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from pooldiag.errors import UsageError
from pooldiag.model.arms import Role
from pooldiag.model.cases import OrderKind
from pooldiag.model.settings import OutputSpec

FILE_NAME = "pooldiag.toml"
PYPROJECT = "pyproject.toml"
LAST_SEED = 2**31 - 1
MOST_SEEDS = 10_000
OWN_TYPE = "auto"  # of an output: as its file says

_UNITS_OF_BYTES = {"": 1, "b": 1} | {
    f"{prefix}{unit}": base**power
    for unit, base in (("b", 1000), ("ib", 1024), ("i", 1024))
    for power, prefix in enumerate("kmgtp", start=1)
}
_UNITS_OF_SECONDS = {
    name: seconds
    for names, seconds in (
        (("ms",), Decimal("0.001")),
        (("s", "sec", "secs", "second", "seconds"), Decimal(1)),
        (("m", "min", "mins", "minute", "minutes"), Decimal(60)),
        (("h", "hour", "hours"), Decimal(3600)),
        (("d", "day", "days"), Decimal(86400)),
    )
    for name in names
}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_LONGEST_TEXT = 40  # of a number with its unit; longer ones are no slip, and slow to compute with
_MOST_BYTES = 2**63 - 1
_MOST_SECONDS = 366 * 86400  # the system's timers overflow somewhere beyond
_SEEDS = re.compile(r"\s*([0-9]{1,10})(?:\s*\.\.\s*([0-9]{1,10}))?\s*")
_SHOWN = 60  # characters of a value in an error
_SHELL_OPERATORS = frozenset({"&&", "||", "|", "&", ">", ">>", "<", "2>&1"})
_ROLES = tuple(str(role) for role in Role if role not in {Role.BASELINE, Role.ISOLATE})

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetConfig:
    """One `[target.NAME]`. `arms`, `stats` and `counters` are written as for the flags of these names.

    The first word of `command` is a path when it holds a slash.
    """

    name: str
    command: tuple[str, ...]
    directory: Path
    framework: str | None = None
    profile: str | None = None
    order: OrderKind | None = None
    seed: int | None = None
    cases: tuple[str, ...] = ()
    victim: str | None = None
    outputs: tuple[OutputSpec, ...] = ()
    requires: tuple[Path, ...] = ()
    before: tuple[str, ...] = ()
    fresh_check: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    grace_seconds: float | None = None
    keep_environment: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    stats: str | None = None
    counters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockConfig:
    """`[lock]`; no paths (`paths = []`) is no lock, None is the default lock."""

    paths: tuple[Path, ...] | None = None
    wait_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskConfig:
    """`[disk]`, in bytes."""

    floor_bytes: int | None = None
    need_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """`[memory]`, in bytes."""

    floor_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """`[run]`."""

    roles: tuple[Role, ...] | None = None
    repeat: int | None = None
    max_runs: int | None = None
    budget_seconds: float | None = None
    confidence: float | None = None
    jobs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the configuration says; None and nothing where it says nothing.

    `folder` holds the `files`. `shadowed` names what pyproject.toml says in vain beside pooldiag.toml.
    """

    folder: Path | None = None
    files: tuple[Path, ...] = ()
    targets: tuple[TargetConfig, ...] = ()
    lock: LockConfig = LockConfig()
    disk: DiskConfig = DiskConfig()
    memory: MemoryConfig = MemoryConfig()
    run: RunConfig = RunConfig()
    shadowed: tuple[str, ...] = ()


def find_config(start: Path) -> Config:
    """Read the configuration of `start` or of its nearest parent that has one, up to a folder with `.git`."""
    for folder in (start, *start.parents):
        found = _read_folder(folder)
        if found is not None:
            return found
        if (folder / ".git").exists():
            break
    return Config()


def read_config(path: Path) -> Config:
    """Read a file that the user names: pyproject.toml by its name, any other as pooldiag.toml."""
    data = _bytes(path)
    if data is None:
        raise UsageError(f"{path}: no such file", hint="name a pooldiag.toml")
    if path.name != PYPROJECT:
        return parse_config(_decoded(data, path), path=path)
    found = parse_pyproject(_decoded(data, path), path=path)
    if found is None:
        raise UsageError(f"{path}: no table [tool.pooldiag]", hint="write one, or name a pooldiag.toml")
    return found


def parse_config(text: str, *, path: Path) -> Config:
    """Read the text of a pooldiag.toml; relative paths in it are relative to the folder of `path`."""
    return _config(_loaded(text, path), path=path, prefix="")


def parse_pyproject(text: str, *, path: Path) -> Config | None:
    """Read `[tool.pooldiag]`; None when there is no such table."""
    tool = _loaded(text, path).get("tool")
    values = tool.get("pooldiag") if isinstance(tool, dict) else None
    if values is None:
        return None
    if not isinstance(values, dict):
        raise UsageError(f"{path}: tool.pooldiag = {_shown(values)}", hint="expected a table")
    return _config(values, path=path, prefix="tool.pooldiag.")


def resolve_target(text: str, config: Config, exists: Callable[[Path], bool]) -> TargetConfig | Path:
    """Return what TARGET names: without a slash, a target of the configuration if there is one; else a file.

    A program that a target names without a slash is looked for beside the configuration; it is left as it is
    when it is not there, and stands somewhere in PATH.
    """
    named = {target.name: target for target in config.targets}
    if text in named:
        return _located(named[text], config.folder, exists)
    if text and exists(Path(text)):
        return Path(text)
    where = f" and no target in {_names(config.files)}" if config.files and "/" not in text else ""
    raise UsageError(
        f"{text or 'an empty TARGET'}: no such file{where}",
        hint=f"nearest target: {_nearest(text, named)}" if named else "give the path of a test binary",
    )


def parse_size(text: str, *, what: str = "size") -> int:
    """Return bytes: `34GB` is decimal, `1GiB` binary, a bare number bytes. `34G` could be either, and is refused."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    number, unit = match.groups() if match else ("", "?")
    factor = _UNITS_OF_BYTES.get(unit.lower())
    if factor is None and f"{unit.lower()}b" in _UNITS_OF_BYTES:
        raise UsageError(f"{what}: {text!r} has two readings", hint=f"write {number}{unit}B or {number}{unit}iB")
    if factor is None:
        raise UsageError(f"{what}: {text!r} is no size", hint="for instance 34GB, 1GiB, 512 MiB")
    size = int(Decimal(number) * factor)
    if size > _MOST_BYTES:
        raise UsageError(f"{what}: {text!r} is larger than any disk", hint="for instance 34GB, 1GiB, 512 MiB")
    return size


def parse_duration(text: str, *, what: str = "duration") -> float:
    """Return seconds: `90`, `30m`, `45 min`, `1h30m`; a bare number is seconds."""
    seconds = _seconds(text) if len(text) <= _LONGEST_TEXT else None
    if seconds is None:
        raise UsageError(f"{what}: {text!r} is no duration", hint="for instance 90, 30m, 45 min, 2h, 1h30m")
    if seconds > _MOST_SECONDS:
        raise UsageError(f"{what}: {text!r} is longer than a year", hint="for instance 90, 30m, 45 min, 2h, 1h30m")
    return float(seconds)


def _seconds(text: str) -> Decimal | None:
    parts: list[tuple[str, str]] = []
    position = 0
    while position < len(text) and (match := _QUANTITY.match(text, position)):
        parts.append((match[1], match[2].lower()))
        position = match.end()
    if not parts or position < len(text):
        return None
    if len(parts) == 1 and not parts[0][1]:
        return Decimal(parts[0][0])
    if any(unit not in _UNITS_OF_SECONDS for _, unit in parts):
        return None
    return sum((Decimal(number) * _UNITS_OF_SECONDS[unit] for number, unit in parts), Decimal(0))


def parse_words(text: str, *, what: str) -> tuple[str, ...]:
    """Split a command as a shell does. What only a shell could do is refused, for no shell will see it."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{what}: {text!r} cannot be split into words: {error}", hint="close the quote") from error
    operator = next((word for word in words if word in _SHELL_OPERATORS or word.endswith(";")), None)
    if operator is not None:
        raise UsageError(f"{what}: no shell reads {operator!r}", hint=f"write sh -c {shlex.quote(text)}")
    return _checked_words(words, what=what)


def _checked_words(words: tuple[str, ...], *, what: str) -> tuple[str, ...]:
    if not words or not words[0]:
        raise UsageError(f"{what}: no program named", hint="the first word is the program")
    if any("\0" in word for word in words):
        raise UsageError(f"{what}: a word holds a NUL character", hint="no program can be given it")
    return words


def parse_roles(text: str, *, what: str = "roles") -> tuple[Role, ...]:
    """Read roles with commas between; isolation is one, the baseline need not be named."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = {str(role): role for role in Role}
    for name in names:
        if name not in known:
            raise UsageError(f"{what}: no arm plays the role {name!r}", hint=f"nearest: {_nearest(name, known)}")
    return tuple(known[name] for name in names)


def parse_seeds(text: str, *, what: str = "seeds") -> tuple[int, ...]:
    """Read `1..20,31`: numbers and ranges, both ends included, each seed once."""
    ranges = [_seeds(part, what) for part in text.split(",")]
    if sum(map(len, ranges)) > MOST_SEEDS:
        raise UsageError(f"{what}: {_shown(text)} are more than {MOST_SEEDS}", hint="for instance 1..20")
    return tuple(dict.fromkeys(seed for seeds in ranges for seed in seeds))


def _seeds(text: str, what: str) -> range:
    found = _SEEDS.fullmatch(text)
    if found is None:
        raise UsageError(f"{what}: {_shown(text)} is no seed and no range", hint="for instance 1..20, or 3,7,11..15")
    first, last = int(found[1]), int(found[2] or found[1])
    if last > LAST_SEED:
        raise UsageError(f"{what}: {last} is beyond the last seed, {LAST_SEED}", hint="for instance 1..20")
    if last < first:
        raise UsageError(f"{what}: {_shown(text)} ends before it begins", hint=f"write {last}..{first}")
    return range(first, last + 1)


def parse_output(text: str, *, what: str = "output") -> OutputSpec:
    """Read `GLOB:DTYPE`, or `GLOB` alone for files that say their type; the glob is relative to the folder of the run.

    Whether the type is known is asked elsewhere.
    """
    glob, separator, dtype = text.rpartition(":") if ":" in text else (text, ":", OWN_TYPE)
    if not (separator and glob.strip() and dtype.strip()):
        raise UsageError(f"{what}: {text!r} is not GLOB:DTYPE", hint="for instance '*.bin:f32', or '*.npy'")
    if Path(glob).is_absolute() or ".." in Path(glob).parts:
        raise UsageError(
            f"{what}: {glob!r} leads out of the run's folder",
            hint="the target finds that folder in POOLDIAG_OUTPUT_DIR",
        )
    dtype = dtype.strip().lower()
    return OutputSpec(glob=glob, dtype=None if dtype == OWN_TYPE else dtype)


class _UnexpectedError(Exception):
    """A value of the wrong kind; the message says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """One table of the file. Every key asked for becomes a known one; `finish` refuses all others."""

    path: Path
    name: str
    values: dict[str, object]
    asked: list[str] = field(default_factory=list)

    def take(self, key: str, read: Callable[[object], _T]) -> _T | None:
        """Return the value of a key, read and checked; None when it is absent."""
        self.asked.append(key)
        if key not in self.values:
            return None
        value = self.values[key]
        try:
            return read(value)
        except _UnexpectedError as error:
            raise UsageError(f"{self.say(key)} = {_shown(value)}", hint=f"expected {error}") from error
        except UsageError as error:
            raise UsageError(f"{self.say(key)}: {error.problem}", hint=error.hint) from error

    def finish(self) -> None:
        """Refuse the keys that nobody asked for."""
        for key in self.values:
            if key not in self.asked:
                raise UsageError(f"{self.say(key)}: unknown key", hint=f"nearest: {_nearest(key, self.asked)}")

    def table(self, key: str) -> "_Table":
        """Return a table of this one, empty when absent."""
        return _Table(path=self.path, name=f"{self.name}{key}.", values=self.take(key, _as_table) or {})

    def say(self, key: str) -> str:
        """Say where a key stands: `pooldiag.toml: lock.wait`."""
        return f"{self.path}: {self.name}{key}"


def _config(values: dict[str, object], *, path: Path, prefix: str) -> Config:
    top = _Table(path=path, name=prefix, values=values)
    targets, lock, disk, memory, run = map(top.table, ("target", "lock", "disk", "memory", "run"))
    top.finish()
    return Config(
        folder=path.parent,
        files=(path,),
        targets=tuple(_target(name, targets) for name in targets.values),
        lock=_lock(lock),
        disk=_disk(disk),
        memory=_memory(memory),
        run=_run(run),
    )


def _target(name: str, targets: _Table) -> TargetConfig:
    if not name.strip() or "/" in name or name.startswith("-"):
        raise UsageError(
            f"{targets.path}: {name!r} cannot be the name of a target",
            hint="no slash (that is a path) and no leading - (that is a flag)",
        )
    table = targets.table(name)
    folder = table.path.parent

    def path(value: object) -> Path:
        return _as_path(value, folder)

    target = TargetConfig(
        name=name,
        command=_program(table.take("command", _as_words) or (), folder),
        directory=table.take("cwd", path) or folder,
        framework=table.take("framework", _as_text),
        profile=table.take("profile", _as_text),
        order=table.take("order", _as_order),
        seed=table.take("seed", _as_whole),
        cases=table.take("cases", _as_texts) or (),
        victim=table.take("victim", _as_text),
        outputs=table.take("outputs", _each(_as_output)) or (),
        requires=table.take("requires", _each(path)) or (),
        before=table.take("before", _as_words) or (),
        fresh_check=table.take("fresh_check", _as_words) or (),
        timeout_seconds=table.take("timeout", _as_time_limit),
        grace_seconds=table.take("grace", _as_duration),
        keep_environment=table.take("keep_env", _as_texts) or (),
        arms=table.take("arms", _as_arms) or (),
        stats=table.take("stats", _as_words_text),
        counters=table.take("counter", _as_texts) or (),
    )
    table.finish()
    if not target.command:
        raise UsageError(f"{table.say('command')} is missing", hint="what is run: command = 'build/test_x --flag'")
    return target


def _lock(table: _Table) -> LockConfig:
    config = LockConfig(
        paths=table.take("paths", _each(lambda value: _as_path(value, table.path.parent))),
        wait_seconds=table.take("wait", _as_duration),
    )
    table.finish()
    return config


def _disk(table: _Table) -> DiskConfig:
    config = DiskConfig(floor_bytes=table.take("floor", _as_size), need_bytes=table.take("need", _as_size))
    table.finish()
    return config


def _memory(table: _Table) -> MemoryConfig:
    config = MemoryConfig(floor_bytes=table.take("floor", _as_size))
    table.finish()
    return config


def _run(table: _Table) -> RunConfig:
    config = RunConfig(
        roles=table.take("roles", _as_roles),
        repeat=table.take("repeat", _as_count),
        max_runs=table.take("max_runs", _as_count),
        budget_seconds=table.take("budget", _as_time_limit),
        confidence=table.take("confidence", _as_confidence),
        jobs=table.take("jobs", _as_count),
    )
    table.finish()
    return config


def _as_table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _UnexpectedError("a table")
    return value


def _as_text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _UnexpectedError("a string that is not empty")
    return value


def _each(read: Callable[[object], _T]) -> Callable[[object], tuple[_T, ...]]:
    """Return a reader of a string, or of an array of strings, by the reader of one."""

    def read_all(value: object) -> tuple[_T, ...]:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise _UnexpectedError("a string, or an array of strings")
        return tuple(read(item) for item in items)

    return read_all


def _as_texts(value: object) -> tuple[str, ...]:
    return _each(_as_text)(value)


def _as_words(value: object) -> tuple[str, ...]:
    """Read a string, split as a shell does, or an array of words, taken as they are."""
    if isinstance(value, str):
        return parse_words(value, what="command")
    return _checked_words(_each(str)(value), what="command")


def _as_words_text(value: object) -> str:
    """Read words into one text that a shell would split into them again."""
    return value if isinstance(value, str) else shlex.join(_each(str)(value))


def _as_arms(value: object) -> tuple[str, ...]:
    """Read `{ ROLE = WORDS }` into texts as the flag takes them."""
    arms = _as_table(value)
    for role in arms:
        if role not in _ROLES:
            raise UsageError(f"no switch plays the role {role!r}", hint=f"nearest: {_nearest(role, _ROLES)}")
    return tuple(f"{role}={_as_words_text(words)}" for role, words in arms.items())


def _as_roles(value: object) -> tuple[Role, ...]:
    return parse_roles(",".join(_as_texts(value)))


def _as_path(value: object, folder: Path) -> Path:
    text = _as_text(value)
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:  # a user that the system does not know
        raise _UnexpectedError("a path; there is no such user after its ~") from error
    if "\0" in text:
        raise _UnexpectedError("a path, without a NUL character")
    return folder / path


def _program(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Make the program of a command absolute when it is a path; else it stands beside the file, or in PATH."""
    if not command or "/" not in command[0]:
        return command
    return (str(_as_path(command[0], folder)), *command[1:])


def _as_output(value: object) -> OutputSpec:
    return parse_output(_as_text(value))


def _as_order(value: object) -> OrderKind:
    if not isinstance(value, str) or value not in set(OrderKind):
        raise _UnexpectedError(f"one of {', '.join(OrderKind)}")
    return OrderKind(value)


def _as_whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _UnexpectedError("a whole number, 0 or more")
    return value


def _as_count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _UnexpectedError("a whole number, 1 or more")
    return value


def _as_confidence(value: object) -> float:
    if not isinstance(value, float) or not 0 < value < 1:
        raise _UnexpectedError("a number between 0 and 1, such as 0.99")
    return value


def _as_size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or _is_endless(value):
        raise _UnexpectedError("a size, such as '34GB' or '1GiB', or a whole number of bytes")
    return parse_size(str(value))


def _as_duration(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str) or _is_endless(value):
        raise _UnexpectedError("a duration, such as '30m' or '2h', or a number of seconds")
    return parse_duration(str(value))


def _is_endless(value: float | str) -> bool:
    """Say whether an integer is so long (TOML has hexadecimal ones) that Python refuses to write it out."""
    return isinstance(value, int) and value.bit_length() > _MOST_BYTES.bit_length()


def _as_time_limit(value: object) -> float:
    seconds = _as_duration(value)
    if seconds == 0:
        raise _UnexpectedError("a duration above 0, such as '30m'")
    return seconds


def _read_folder(folder: Path) -> Config | None:
    """Read what one folder has. Where both files say the same thing, pooldiag.toml is right."""
    own_path, shared_path = folder / FILE_NAME, folder / PYPROJECT
    own_data, shared_data = _bytes(own_path), _bytes(shared_path)
    own = None if own_data is None else parse_config(_decoded(own_data, own_path), path=own_path)
    if shared_data is None or b"pooldiag" not in shared_data:  # most are none of our business, broken ones too
        return own
    shared = parse_pyproject(_decoded(shared_data, shared_path), path=shared_path)
    return _over(own, shared) if own is not None and shared is not None else own or shared


def _over(own: Config, shared: Config) -> Config:
    """Join two configurations of one folder: a target as a whole, a section key by key."""
    taken = {target.name for target in own.targets}
    lock, lock_shadowed = _section_over(own.lock, shared.lock, "lock")
    disk, disk_shadowed = _section_over(own.disk, shared.disk, "disk")
    memory, memory_shadowed = _section_over(own.memory, shared.memory, "memory")
    run, run_shadowed = _section_over(own.run, shared.run, "run")
    targets_shadowed = [f"target.{target.name}" for target in shared.targets if target.name in taken]
    return Config(
        folder=own.folder,
        files=(*own.files, *shared.files),
        targets=(*own.targets, *(target for target in shared.targets if target.name not in taken)),
        lock=lock,
        disk=disk,
        memory=memory,
        run=run,
        shadowed=(*targets_shadowed, *lock_shadowed, *disk_shadowed, *memory_shadowed, *run_shadowed),
    )


_S = TypeVar("_S", LockConfig, DiskConfig, MemoryConfig, RunConfig)


def _section_over(own: _S, shared: _S, name: str) -> tuple[_S, tuple[str, ...]]:
    names = [entry.name for entry in fields(own)]
    said = [entry for entry in names if getattr(own, entry) is not None]
    changes = {entry: getattr(own, entry) for entry in said}
    shadowed = tuple(
        f"{name}.{entry.removesuffix('_bytes').removesuffix('_seconds')}"
        for entry in said
        if getattr(shared, entry) is not None
    )
    return replace(shared, **changes), shadowed


def _located(target: TargetConfig, folder: Path | None, exists: Callable[[Path], bool]) -> TargetConfig:
    program = target.command[0]
    if folder is None or "/" in program or not exists(folder / program):
        return target
    return replace(target, command=(str(folder / program), *target.command[1:]))


def _bytes(path: Path) -> bytes | None:
    """Return a file's bytes; None when there is no such file."""
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", hint="look at its permissions") from error


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8", hint="save the file as UTF-8"
        ) from error


def _loaded(text: str, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not all that tomllib raises is a TOMLDecodeError
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        if found is None:
            raise UsageError(f"{path}: not TOML: {error}", hint="see toml.io") from error
        line = found[1] or max(1, len(text.splitlines()))
        raise UsageError(f"{path}:{line}: not TOML: {str(error)[: found.start()]}", hint="see toml.io") from error


def _nearest(text: str, known: Iterable[str]) -> str:
    return get_close_matches(text, list(known), n=1, cutoff=0)[0]


def _names(files: tuple[Path, ...]) -> str:
    return " or ".join(path.name for path in files)


def _shown(value: object) -> str:
    """Say a value briefly, as TOML has it where Python differs."""
    try:
        text = str(value).lower() if isinstance(value, bool) else repr(value)
    except (ValueError, RecursionError):  # an endless integer, alone or in an array
        return f"a value of type {type(value).__name__}, too long to show"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
