"""The table of contents of a zip file, and where its members are: `zipfile` reads the table, under a bound."""

import io
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from pooldiag.census.files.format import Deflated, Place, Source, shown

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


def zip_members(source: Source) -> Mapping[str, Member]:
    """Return the members by name, in the order of the table; raise CensusError when they cannot be as the table says.

    Every member lies within the file, apart from the others, and is not longer than deflating can make it.
    """
    end = source.size()
    members = [_member(source, info, end=end) for info in _table(source, end=end)]
    source.check_unique(member.name for member in members)
    source.check_places(((*member.packed, member.name) for member in members), end=end)
    return {member.name: member for member in members}


def _table(source: Source, *, end: int) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(_Bounded(source, end=end)) as archive:  # closing it leaves our file open
            return list(source.limited(info for info in archive.infolist() if not info.is_dir()))
    except _DAMAGES as error:
        raise source.error(
            f"the table of contents of this zip file is damaged: {shown(str(error))}",
            hint="it stands at the end: was the file cut while it was written or copied?",
        ) from error


def _member(source: Source, info: zipfile.ZipInfo, *, end: int) -> Member:
    """Find the bytes of a member: only the header in front of them says where they begin."""
    stored = info.compress_type == zipfile.ZIP_STORED
    if problem := _objection(info, end=end):
        raise source.error(f"{shown(info.filename)} {problem}")
    source.file.seek(info.header_offset)
    header = source.read(_LOCAL_HEADER.size, what=f"the header of {shown(info.filename)}")
    magic, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    if magic != MAGIC:
        raise source.error(f"{shown(info.filename)} is not where the table of contents says")
    offset = info.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
    size, packed_size = info.file_size, info.compress_size
    deflated = None if stored else Deflated(offset=offset, compressed_size=packed_size, size=size, crc=info.CRC)
    place = Place(offset=offset if stored else 0, size=size, deflated=deflated)
    return Member(name=info.filename, size=size, packed=(offset, packed_size), place=place)


def _objection(info: zipfile.ZipInfo, *, end: int) -> str | None:
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if info.compress_type not in _LONGEST:
        return f"is neither stored nor deflated, but packed by method {info.compress_type}"
    shortest = info.compress_size if info.compress_type == zipfile.ZIP_STORED else 0
    if not shortest <= info.file_size <= info.compress_size * _LONGEST[info.compress_type]:
        return f"is said to unpack from {info.compress_size} to {info.file_size} bytes, which none can"
    return None if 0 <= info.header_offset <= end else "is said to be outside the file"


class _Bounded:
    """A file of which no more is read at once than a table of contents may have."""

    def __init__(self, source: Source, *, end: int) -> None:
        self._source = source
        self._end = end

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_SET and not 0 <= offset <= self._end:
            raise zipfile.BadZipFile("it is outside the file")
        return self._source.file.seek(offset, whence)

    def tell(self) -> int:
        return self._source.file.tell()

    def read(self, size: int = -1, /) -> bytes:
        if size > TABLE_LIMIT:
            raise self._source.error(f"a table of contents of {size} bytes: this is no file of tensors")
        return self._source.file.read(size)
