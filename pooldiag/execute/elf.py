"""What a target is, and the libraries it loads: read from its ELF headers, never by running it."""

import contextlib
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from typing import Literal

from pooldiag.errors import UsageError
from pooldiag.model.words import nearest

MACHINES = {3: "32-bit x86", 21: "ppc64", 22: "s390x", 40: "32-bit ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}
_OURS = {"x86_64": 62, "aarch64": 183, "ppc64le": 21, "ppc64": 21, "s390x": 22, "riscv64": 243}
_MAGIC = b"\x7fELF"
_SCRIPT = b"#!"
_CLASS_32, _CLASS_64 = 1, 2
_DATA_BIG = 2
_ET_EXEC, _ET_DYN = 2, 3
_TYPES = {1: "an object file that is not linked yet", 4: "a core dump"}
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH, _DT_FLAGS_1 = 1, 5, 15, 29, 0x6FFFFFFB
_DF_1_PIE = 0x08000000
_HEADER = struct.Struct("=16xH14xQ14xHH6x")  # type; program headers: offset in the file, size of one, how many
_SEGMENT = struct.Struct("=I4xQQ8xQ16x")  # type, offset in the file, address, size in the file
_TAG = struct.Struct("=qQ")
_SECTIONS = struct.Struct("=40xQ10xHH2x")  # of the header; section headers: offset in the file, size of one, how many
_SECTION = struct.Struct("=4xI16xQQI20x")  # type, offset in the file, size, the section that it refers to
_SYMBOL = struct.Struct("=IBxH16x")  # name, kind, section
_SHT_DYNSYM, _UNDEFINED = 11, 0
_MOST_SYMBOL_BYTES = 64 * 2**20
_NAME_BYTES = 4096
_CACHE = Path("/etc/ld.so.cache")
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_CACHE_HEADER = struct.Struct("=20sIIB3xI12x")
_CACHE_ENTRY = struct.Struct("=iIIIQ")
_TRIPLET = f"{platform.machine()}-linux-gnu"
_FOLDERS = (f"/lib/{_TRIPLET}", f"/usr/lib/{_TRIPLET}", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_PIECE_BYTES = 4 * 2**20
_LOADS = frozenset({"dlopen", "dlmopen"})
_STARTS = frozenset(
    {
        *("execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "execveat", "fexecve"),
        *("posix_spawn", "posix_spawnp", "system", "popen", "wordexp"),
    }
)
_NAMES_IN_HINT = 3


class Kind(Enum):
    """What a target that can be started is."""

    PROGRAM = "program"
    SCRIPT = "script"


class ElfError(Exception):
    """The file is not an ELF file of this machine that can be read; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elf:
    """What the headers of an ELF file say."""

    type: int
    interpreter: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    is_position_independent_program: bool = False


def describe(path: Path) -> Kind:
    """Say what the target is; raise UsageError, with what to do about it, when it cannot be started here."""
    start = _read_start(path)
    if not os.access(path, os.X_OK):
        raise UsageError(f"{path} is not executable", hint=_executable_hint(path))
    if not start:
        raise UsageError(f"{path} is empty", hint="build it again")
    if start.startswith(_SCRIPT):
        return Kind.SCRIPT
    if not start.startswith(_MAGIC):
        raise UsageError(
            f"{path} is neither an ELF program nor a script with a #! line", hint="name the test binary itself"
        )
    try:
        elf = read_elf(path)
    except ElfError as error:
        raise UsageError(f"{path} {error}", hint="build the test for this machine") from error
    _refuse_unless_program(path, elf)
    return Kind.PROGRAM


def libraries(path: Path) -> tuple[Path, ...]:
    """Find the shared libraries that a program loads at its start, as ld.so would; those not found are left out."""
    found: dict[str, Path] = {}
    waiting: list[tuple[Path, tuple[str, ...]]] = [(path, ())]
    while waiting:
        file, inherited = waiting.pop(0)
        with contextlib.suppress(ElfError, OSError):
            elf = read_elf(file)
            rpath = () if elf.runpath else (*_folders(elf.rpath, file), *inherited)
            for name in elf.needed:
                if name not in found and (library := _find_library(name, rpath, _folders(elf.runpath, file))):
                    found[name] = library
                    waiting.append((library, rpath))
    return tuple(dict.fromkeys(found.values()))


def find_markers(paths: Iterable[Path], markers: Iterable[bytes]) -> frozenset[bytes]:
    """Return the markers that stand in any of the files; a file that cannot be read has none."""
    wanted = {marker for marker in markers if marker}
    found: set[bytes] = set()
    for path in paths:
        with contextlib.suppress(OSError):
            for piece in _pieces(path, overlap=max(map(len, wanted), default=1) - 1):
                found |= {marker for marker in wanted - found if marker in piece}
                if found == wanted:
                    return frozenset(found)
    return frozenset(found)


def opening_calls(path: Path) -> frozenset[str] | None:
    """Return which functions a file imports that load a library later, or start another program; None: not known.

    A file without dynamic symbols (linked statically, or without section headers) has such functions built in, or not.
    """
    try:
        read_elf(path)
        with path.open("rb") as file:
            names = _imports(file.fileno())
    except (ElfError, OSError, struct.error, OverflowError, ValueError, IndexError):
        return None
    return None if names is None else names & (_LOADS | _STARTS)


def is_closed(files: Iterable[Path]) -> bool:
    """Tell whether a program and its libraries bring in no code but their own; False where that is not known.

    No interpreter is closed: each of them imports what loads a library, or what starts a program.
    """
    known = tuple(files)
    names = {path.name for path in known}
    return all(
        opening_calls(path) == frozenset() and {PurePath(name).name for name in read_elf(path).needed} <= names
        for path in known
    )


def read_elf(path: Path) -> Elf:
    """Read the headers of an ELF file of this machine; ElfError for any other."""
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
        _refuse_foreign(head)
        try:
            kind, offset, entry_bytes, entries = _HEADER.unpack(head)
            table = _read_at(file.fileno(), offset, entry_bytes * entries)
            starts = range(0, len(table), entry_bytes) if entry_bytes else ()
            return _read_dynamic(file.fileno(), kind, [_SEGMENT.unpack_from(table, start) for start in starts])
        except (struct.error, OSError, OverflowError) as error:
            raise ElfError("is a damaged ELF file") from error


def _read_start(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a directory", hint=_directory_hint(path))
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is not a regular file", hint="name the test binary")
        with path.open("rb") as file:
            return file.read(len(_MAGIC))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{path} does not exist", hint=_nearest_hint(path)) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint=f"see `ls -l {path}`") from error


def _nearest_hint(path: Path) -> str:
    """Name what stands there instead of a missing file."""
    folder = path.parent
    if path.is_symlink():
        return f"it is a link to {path.readlink()}, which is missing"
    if not folder.is_dir():
        return f"there is no folder {folder} either"
    near = nearest(path.name, os.listdir(folder), likeness=0.6)
    return f"did you mean {folder / near}?" if near else f"build it first; {folder} has no name like it"


def _directory_hint(path: Path) -> str:
    with contextlib.suppress(OSError):
        programs = sorted(file for file in path.iterdir() if file.is_file() and os.access(file, os.X_OK))
        if programs:
            return f"name a test binary, {' or '.join(map(str, programs[:_NAMES_IN_HINT]))}"
    return "name a test binary"


def _executable_hint(path: Path) -> str:
    if path.stat().st_mode & 0o111:
        return "it has an x bit: it is another user's, or its file system is mounted with noexec"
    return f"chmod +x {path}, or name the test binary"


def _refuse_foreign(head: bytes) -> None:
    """Raise ElfError unless the header is of this machine."""
    if not head.startswith(_MAGIC):
        raise ElfError("is not an ELF file")
    if len(head) < _HEADER.size:
        raise ElfError("is a damaged ELF file")
    order: Literal["big", "little"] = "big" if head[5] == _DATA_BIG else "little"
    machine = int.from_bytes(head[18:20], order)
    ours = _OURS.get(platform.machine())
    name = MACHINES.get(machine, f"machine type {machine}")
    if head[4] == _CLASS_32:
        name = name if name.startswith("32-bit") else f"32-bit {name}"
    if head[4] != _CLASS_64 or order != sys.byteorder or (ours is not None and machine != ours):
        raise ElfError(f"is built for {name}; this machine is {MACHINES.get(ours or 0, platform.machine())}")


def _refuse_unless_program(path: Path, elf: Elf) -> None:
    """Raise UsageError for a library, an object file, and a program whose ld.so is not there."""
    if elf.type in _TYPES:
        raise UsageError(f"{path} is {_TYPES[elf.type]}", hint="name the test binary")
    is_library = elf.type == _ET_DYN and elf.interpreter is None and not elf.is_position_independent_program
    if is_library or elf.type not in {_ET_EXEC, _ET_DYN}:
        raise UsageError(f"{path} is a shared library, not a program", hint="name the test binary that loads it")
    if elf.interpreter is not None and not os.path.exists(elf.interpreter):
        raise UsageError(
            f"{path} needs the loader {elf.interpreter}, which is not there",
            hint="it was built for another system (musl, another distribution): build it here",
        )


def _read_dynamic(descriptor: int, kind: int, segments: list[tuple[int, int, int, int]]) -> Elf:
    at = {segment[0]: segment for segment in segments if segment[0] in {_PT_DYNAMIC, _PT_INTERP}}
    interpreter = _string_at(descriptor, at[_PT_INTERP][1]) if _PT_INTERP in at else None
    if _PT_DYNAMIC not in at:
        return Elf(type=kind, interpreter=interpreter)
    _, offset, _, size = at[_PT_DYNAMIC]
    table = _read_at(descriptor, offset, size)
    tags = list(_TAG.iter_unpack(table[: len(table) // _TAG.size * _TAG.size]))
    strings = _file_offset(next((value for tag, value in tags if tag == _DT_STRTAB), 0), segments)

    def texts(wanted: int) -> tuple[str, ...]:
        return tuple(_string_at(descriptor, strings + value) for tag, value in tags if tag == wanted)

    return Elf(
        type=kind,
        interpreter=interpreter,
        needed=texts(_DT_NEEDED),
        rpath=texts(_DT_RPATH),
        runpath=texts(_DT_RUNPATH),
        is_position_independent_program=any(tag == _DT_FLAGS_1 and value & _DF_1_PIE for tag, value in tags),
    )


def _imports(descriptor: int) -> frozenset[str] | None:
    """Return the names of the dynamic symbols that a file takes from others; None where it has no table of them."""
    offset, entry_bytes, entries = _SECTIONS.unpack(_read_at(descriptor, 0, _SECTIONS.size))
    table = _read_at(descriptor, offset, entry_bytes * entries)
    starts = range(0, len(table), entry_bytes) if entry_bytes else ()
    sections = [_SECTION.unpack_from(table, start) for start in starts]
    dynamic = next((section for section in sections if section[0] == _SHT_DYNSYM), None)
    if dynamic is None:
        return None
    _, symbols, symbol_bytes, link = dynamic
    _, strings, string_bytes, _ = sections[link]
    if max(symbol_bytes, string_bytes) > _MOST_SYMBOL_BYTES:
        return None
    names = os.pread(descriptor, string_bytes, strings)
    entries_read = _SYMBOL.iter_unpack(os.pread(descriptor, symbol_bytes, symbols))
    return frozenset(
        os.fsdecode(names[name : names.index(b"\0", name)])
        for name, _, section in entries_read
        if section == _UNDEFINED
    )


def _file_offset(address: int, segments: list[tuple[int, int, int, int]]) -> int:
    for kind, offset, start, size in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return offset + address - start
    return address


def _read_at(descriptor: int, offset: int, size: int) -> bytes:
    return os.pread(descriptor, min(size, 2**20), offset)


def _string_at(descriptor: int, offset: int) -> str:
    return os.fsdecode(_read_at(descriptor, offset, _NAME_BYTES).partition(b"\0")[0])


def _folders(paths: tuple[str, ...], file: Path) -> tuple[str, ...]:
    """Split search paths, with `$ORIGIN` as the folder of the file that names them."""
    origin = str(file.resolve().parent)
    joined = ":".join(paths).replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
    return tuple(folder for folder in joined.split(":") if folder)


def _find_library(name: str, rpath: tuple[str, ...], runpath: tuple[str, ...]) -> Path | None:
    """Look where ld.so looks, in its order; the first file of this machine is it."""
    if "/" in name:
        return _usable(name)
    inherited = os.environ.get("LD_LIBRARY_PATH", "").replace(";", ":")
    asked = [folder or "." for folder in inherited.split(":")] if inherited else []
    for folder in (*rpath, *asked, *runpath):
        if library := _usable(os.path.join(folder, name)):
            return library
    candidates = [*cached_libraries().get(name, ()), *(f"{folder}/{name}" for folder in _FOLDERS)]
    return next((library for path in candidates if (library := _usable(path))), None)


def _usable(path: str) -> Path | None:
    library = Path(path)
    with contextlib.suppress(ElfError, OSError):
        read_elf(library)
        return library
    return None


@cache
def cached_libraries() -> dict[str, list[str]]:
    """Read ld.so's own list of libraries (what `ldconfig -p` prints); empty where there is none."""
    found: dict[str, list[str]] = {}
    with contextlib.suppress(OSError, struct.error):
        data = _CACHE.read_bytes()
        data = data[max(0, data.find(_CACHE_MAGIC)) :]  # an older list may stand before it
        magic, entries, *_ = _CACHE_HEADER.unpack_from(data)
        for index in range(entries if magic == _CACHE_MAGIC else 0):
            _, name, path, _, _ = _CACHE_ENTRY.unpack_from(data, _CACHE_HEADER.size + index * _CACHE_ENTRY.size)
            found.setdefault(_text_in(data, name), []).append(_text_in(data, path))
    return found


def _text_in(data: bytes, start: int) -> str:
    return os.fsdecode(data[start : data.index(b"\0", start)])


def _pieces(path: Path, *, overlap: int) -> Iterator[bytes]:
    """Yield a file in pieces; each begins with the end of the one before, so that no marker is cut."""
    with path.open("rb", buffering=0) as file:
        end = b""
        while piece := file.read(_PIECE_BYTES):
            yield end + piece
            end = (end + piece)[-overlap:] if overlap else b""
