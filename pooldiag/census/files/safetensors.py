"""`.safetensors`: the length of a JSON header, the header, and the elements."""

import json
import re
import struct
from collections.abc import Iterator
from typing import BinaryIO

from pooldiag.census.files.format import (
    ELEMENT_LIMIT,
    Declared,
    ElementType,
    Place,
    Tensor,
    checked_tensors,
    element_count,
    file_size,
    obstacle_of,
    only_raw_places,
    plain_tensor,
    read_exactly,
    shown,
)
from pooldiag.census.layouts import CensusError

HEADER_LIMIT = 2**24  # bytes; the format itself allows 100 MB, which no list of tensors needs
ENTRY_LIMIT = 2**14  # bytes of what is said of one tensor
METADATA = "__metadata__"
_LENGTH = struct.Struct("<Q")
_KNOWN = "F64 F32 F16 BF16 F8_E4M3 F8_E4M3FNUZ F8_E5M2 F8_E5M2FNUZ F8_E8M0 F4 BOOL I8 U8 I16 U16 I32 U32 I64 U64"
_TYPES = {
    **{name: ElementType.of(name) for name in _KNOWN.split()},
    "F6_E2M3": ElementType(dtype="F6_E2M3", bits=6),
    "F6_E3M2": ElementType(dtype="F6_E3M2", bits=6),
    "C64": ElementType.of("f32", parts=2),
}
# One `"name": {...}` of the header. Its object has no objects in it, so that it ends at the first brace that is not in
# a string. No part of the pattern gives back what it took: a hostile header is read once, in time that is linear.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_ENTRY = re.compile(rb"\s*+(%b)\s*+:\s*+(\{(?:[^\"{}]++|%b)*+\})\s*+(,|\})" % (_STRING, _STRING), re.DOTALL)
_EMPTY = re.compile(rb"\s*+\{\s*+\}\s*+")
_BEGIN = re.compile(rb"\s*+\{")


class Safetensors:
    """Tensors by name."""

    name = "safetensors"
    suffixes = (".safetensors",)

    def recognises(self, head: bytes) -> bool:
        """Say whether a length that can be and a JSON object stand at the start."""
        start = _LENGTH.size
        return (
            len(head) > start + 1
            and _LENGTH.unpack_from(head)[0] <= HEADER_LIMIT
            and head[start : start + 1] == b"{"
            and head[start + 1 : start + 2] in {b'"', b"}", b" ", b"\n"}
        )

    def tensors(self, file: BinaryIO, declared: Declared, *, path: str) -> tuple[Tensor, ...]:
        """Return the tensors in the order of the header."""
        only_raw_places(declared, path=path, format_name=self.name)
        end = file_size(file, path=path, format_name=self.name)
        (length,) = _LENGTH.unpack(read_exactly(file, _LENGTH.size, path=path, what="the length of the header"))
        if length > HEADER_LIMIT:
            raise CensusError(f"{path}: a header of {length} bytes, larger than is read: {HEADER_LIMIT} at most")
        header = read_exactly(file, length, path=path, what="the header")
        data_offset = _LENGTH.size + length
        entries = _entries(header, path=path)
        tensors = (_tensor(name, entry, path=path, data_offset=data_offset) for name, entry in entries)
        return checked_tensors(tensors, path=path, end=end)


def _entries(header: bytes, *, path: str) -> Iterator[tuple[str, object]]:
    """Yield what the header says, tensor by tensor: parsed as a whole, a hostile one would swell."""
    if _EMPTY.fullmatch(header):
        return
    begin = _BEGIN.match(header)
    at, closing = begin.end() if begin else 0, b","
    while closing == b",":
        found = _ENTRY.match(header, at)
        if begin is None or found is None:
            raise CensusError(f"{path}: the header is no JSON object of tensors, from byte {at} on")
        name = _json(found[1], path=path)
        if name != METADATA:
            yield str(name), _json(found[2], path=path)
        at, closing = found.end(), found[3]
    if header[at:].strip():
        raise CensusError(f"{path}: the header goes on after its JSON object, at byte {at}")


def _json(text: bytes, *, path: str) -> object:
    if len(text) > ENTRY_LIMIT:
        raise CensusError(f"{path}: the header says {len(text)} bytes of one tensor, or in its name")
    try:
        value: object = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CensusError(f"{path}: not JSON: {shown(repr(text))}") from error
    return value


def _tensor(name: str, entry: object, *, path: str, data_offset: int) -> Tensor:
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(begin), int(end)]}:
            if all(type(number) is int for number in (*shape, begin, end)) and 0 <= begin <= end < ELEMENT_LIMIT:
                place = Place(offset=data_offset + begin, size=end - begin)
                return _placed(name, dtype, tuple(shape), place, path=path)
    raise CensusError(f"{path}: {shown(name)} is not described as a tensor: {shown(str(entry))}")


def _placed(name: str, dtype: str, shape: tuple[int, ...], place: Place, *, path: str) -> Tensor:
    element = _TYPES.get(dtype)
    if element is None:
        count = element_count(shape, path=path, name=name)
        obstacle = obstacle_of(dtype, path=path, name=name)
        return Tensor(name=name, dtype=dtype, shape=shape, count=count, place=place, obstacle=obstacle)
    tensor = plain_tensor(element, shape, path=path, name=name, offset=place.offset)
    if tensor.place.size != place.size:
        raise CensusError(
            f"{path}: {shown(name)} has {place.size} bytes, and {dtype} {list(shape)} needs {tensor.place.size}"
        )
    return tensor
