"""The table of contents of a zip file, and where its members are: `zipfile` reads the table, under a bound."""

import io
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pooldiag.census.files.format import (
    Deflated,
    Place,
    check_places,
    check_unique,
    file_size,
    limited,
    read_exactly,
    shown,
)
from pooldiag.census.layouts import CensusError

MAGIC = b"PK\x03\x04"
NO_MEMBERS = b"PK\x05\x06"  # what a zip file of nothing begins with
TABLE_LIMIT = 2**23  # bytes: 100,000 members whose names have 80 characters
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ENCRYPTED = 0x1
_LONGEST = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}  # bytes that one packed byte can stand for
# What zipfile raises, beside its own, when the bytes are not as it expects.
_DAMAGES = (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OverflowError, EOFError, IndexError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file in a zip file."""

    name: str
    size: int  # unpacked
    packed: tuple[int, int]  # offset and size in the file
    place: Place


def first_name(head: bytes) -> bytes | None:
    """Return the name of the first member of what begins so; None if that is not a zip file."""
    if not head.startswith(MAGIC) or len(head) < _LOCAL_HEADER.size:
        return None
    _, length, _ = _LOCAL_HEADER.unpack_from(head)
    return head[_LOCAL_HEADER.size :][:length]


def zip_members(file: BinaryIO, *, path: str, format_name: str) -> Mapping[str, Member]:
    """Return the members by name, in the order of the table; raise CensusError when they cannot be as the table says.

    Every member lies within the file, apart from the others, and is not longer than deflating can make it.
    """
    end = file_size(file, path=path, format_name=format_name)
    members = [_member(file, info, path=path, end=end) for info in _table(file, path=path, end=end)]
    check_unique((member.name for member in members), path=path)
    check_places(((*member.packed, member.name) for member in members), path=path, end=end)
    return {member.name: member for member in members}


def _table(file: BinaryIO, *, path: str, end: int) -> list[zipfile.ZipInfo]:
    """Read the table of contents."""
    try:
        with zipfile.ZipFile(_Bounded(file, path=path, end=end)) as archive:  # closing it leaves our file open
            return list(limited((info for info in archive.infolist() if not info.is_dir()), path=path))
    except _DAMAGES as error:
        raise CensusError(
            f"{path}: the table of contents of this zip file is damaged: {shown(str(error))}",
            hint="it stands at the end: was the file cut while it was written or copied?",
        ) from error


def _member(file: BinaryIO, info: zipfile.ZipInfo, *, path: str, end: int) -> Member:
    """Find the bytes of a member: only the header in front of them says where they begin."""
    stored = info.compress_type == zipfile.ZIP_STORED
    if problem := _objection(info, end=end):
        raise CensusError(f"{path}: {shown(info.filename)} {problem}")
    file.seek(info.header_offset)
    header = read_exactly(file, _LOCAL_HEADER.size, path=path, what=f"the header of {shown(info.filename)}")
    magic, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    if magic != MAGIC:
        raise CensusError(f"{path}: {shown(info.filename)} is not where the table of contents says")
    offset = info.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
    size, packed_size = info.file_size, info.compress_size
    deflated = None if stored else Deflated(offset=offset, compressed_size=packed_size, size=size, crc=info.CRC)
    place = Place(offset=offset if stored else 0, size=size, deflated=deflated)
    return Member(name=info.filename, size=size, packed=(offset, packed_size), place=place)


def _objection(info: zipfile.ZipInfo, *, end: int) -> str | None:
    """Say why a member cannot be read, or return None."""
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if info.compress_type not in _LONGEST:
        return f"is neither stored nor deflated, but packed by method {info.compress_type}"
    shortest = info.compress_size if info.compress_type == zipfile.ZIP_STORED else 0
    if not shortest <= info.file_size <= info.compress_size * _LONGEST[info.compress_type]:
        return f"is said to unpack from {info.compress_size} to {info.file_size} bytes, which none can"
    return None if 0 <= info.header_offset <= end else "is said to be outside the file"


class _Bounded(io.RawIOBase):
    """A file of which no more is read at once than a table of contents may have."""

    def __init__(self, file: BinaryIO, *, path: str, end: int) -> None:
        self._file = file
        self._path = path
        self._end = end

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_SET and not 0 <= offset <= self._end:
            raise zipfile.BadZipFile("it is outside the file")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1, /) -> bytes:
        if size > TABLE_LIMIT:
            raise CensusError(f"{self._path}: a table of contents of {size} bytes: this is no file of tensors")
        return self._file.read(size)
