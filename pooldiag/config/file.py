"""`pooldiag.toml`, or `[tool.pooldiag]` of `pyproject.toml`: found, read and checked."""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path

from pooldiag.config.kinds import command_of_file, path_of_file
from pooldiag.config.options import OPTIONS, Options, options_with
from pooldiag.errors import UsageError
from pooldiag.model.words import nearest
from pooldiag.toml_tables import TomlTable, shown

FILE_NAME = "pooldiag.toml"
PYPROJECT = "pyproject.toml"

_TARGET = "target"
_SECTIONS = ("lock", "disk", "memory", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetConfig:
    """One `[target.NAME]`. The first word of `command` is a path when it holds a slash."""

    name: str
    command: tuple[str, ...]
    said: Options = Options()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the configuration says; `said` is what stands beside the targets, for all of them.

    `folder` holds the `files`. `shadowed` names what pyproject.toml says in vain beside pooldiag.toml.
    """

    folder: Path | None = None
    files: tuple[Path, ...] = ()
    targets: tuple[TargetConfig, ...] = ()
    said: Options = Options()
    shadowed: tuple[str, ...] = ()

    def has(self, target: str) -> bool:
        """Say whether a target has this name."""
        return target in {entry.name for entry in self.targets}


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
    found = _parsed(data, path)
    if found is None:
        raise UsageError(f"{path}: no table [tool.pooldiag]", hint="write one, or name a pooldiag.toml")
    return found


def _parsed(data: bytes, path: Path) -> Config | None:
    return (parse_pyproject if path.name == PYPROJECT else parse_config)(_decoded(data, path), path=path)


def parse_config(text: str, *, path: Path) -> Config:
    """Read the text of a pooldiag.toml; relative paths in it are relative to the folder of `path`."""
    return _config(TomlTable(where=f"{path}", values=_loaded(text, path)), path)


def parse_pyproject(text: str, *, path: Path) -> Config | None:
    """Read `[tool.pooldiag]`; None when there is no such table."""
    tool = _loaded(text, path).get("tool")
    values = tool.get("pooldiag") if isinstance(tool, dict) else None
    if values is None:
        return None
    if not isinstance(values, dict):
        raise UsageError(f"{path}: tool.pooldiag = {shown(values)}", hint="expected a table")
    return _config(TomlTable(where=f"{path}: tool.pooldiag", gap=".", values=values), path)


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
    files = " or ".join(path.name for path in config.files)
    where = f" and no target in {files}" if files and "/" not in text else ""
    raise UsageError(
        f"{text or 'an empty TARGET'}: no such file{where}",
        hint=f"nearest target: {nearest(text, named)}" if named else "give the path of a test binary",
    )


def _config(top: TomlTable, path: Path) -> Config:
    top.only((_TARGET, *_SECTIONS))
    targets = top.table(_TARGET, gap=".")
    return Config(
        folder=path.parent,
        files=(path,),
        targets=tuple(_target(name, targets, path) for name in targets.values),
        said=reduce(Options.over, (_said(name, top.table(name, gap="."), path.parent) for name in _SECTIONS)),
    )


def _target(name: str, targets: TomlTable, path: Path) -> TargetConfig:
    if not name.strip() or "/" in name or name.startswith("-"):
        raise UsageError(
            f"{path}: {name!r} cannot be the name of a target",
            hint="no slash (that is a path) and no leading - (that is a flag)",
        )
    table, folder = targets.table(name), path.parent
    command = table.take("command", lambda value: _program(command_of_file(value, folder), folder))
    said = _said(_TARGET, table, folder, others=("command",)).over(Options(cwd=folder))
    if command is None:
        raise UsageError(f"{table.place('command')} is missing", hint="what is run: command = 'build/test_x --flag'")
    return TargetConfig(name=name, command=command, said=said)


def _said(section: str, table: TomlTable, folder: Path, others: tuple[str, ...] = ()) -> Options:
    """Return what a table says in keys of options, and refuse any but the `others` beside them."""
    keyed = {option.key: option for option in OPTIONS.values() if option.key is not None}
    keys = {key.partition(".")[2]: option for key, option in keyed.items() if key.startswith(f"{section}.")}
    table.only((*others, *keys))
    values = {option.name: table.take(key, partial(option.read, folder=folder)) for key, option in keys.items()}
    return options_with({name: value for name, value in values.items() if value is not None})


def _program(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Make the program of a command absolute when it is a path; else it stands beside the file, or in PATH."""
    return (str(path_of_file(command[0], folder)), *command[1:]) if "/" in command[0] else command


def _read_folder(folder: Path) -> Config | None:
    """Read what one folder has. Where both files say the same thing, pooldiag.toml is right."""
    own_path, shared_path = folder / FILE_NAME, folder / PYPROJECT
    own_data, shared_data = _bytes(own_path), _bytes(shared_path)
    own = None if own_data is None else _parsed(own_data, own_path)
    if shared_data is None or b"pooldiag" not in shared_data:  # most are none of our business, broken ones too
        return own
    shared = _parsed(shared_data, shared_path)
    return _joined(own, shared) if own is not None and shared is not None else own or shared


def _joined(own: Config, shared: Config) -> Config:
    """Join two configurations of one folder: a target as a whole, a section key by key."""
    taken = {target.name for target in own.targets}
    both = [name for name in OPTIONS if own.said.says(name) and shared.said.says(name)]
    return Config(
        folder=own.folder,
        files=(*own.files, *shared.files),
        targets=(*own.targets, *(target for target in shared.targets if target.name not in taken)),
        said=own.said.over(shared.said),
        shadowed=(
            *(f"{_TARGET}.{target.name}" for target in shared.targets if target.name in taken),
            *(OPTIONS[name].key or name for name in both),
        ),
    )


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
