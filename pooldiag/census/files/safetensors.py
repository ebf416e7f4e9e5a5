"""`.safetensors`: the length of a JSON header, the header, and the elements."""

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import replace

from pooldiag.census.files.format import ELEMENT_LIMIT, Declared, ElementType, Place, Source, Tensor, TensorFile, shown

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


def _recognises(head: bytes) -> bool:
    """Say whether a length that can be and a JSON object stand at the start."""
    start = _LENGTH.size
    if len(head) <= start + 1 or _LENGTH.unpack_from(head)[0] > HEADER_LIMIT:
        return False
    return head[start : start + 2] in {b'{"', b"{}", b"{ ", b"{\n"}


def _read(source: Source, _: Declared) -> tuple[Tensor, ...]:
    end = source.size()
    (length,) = _LENGTH.unpack(source.read(_LENGTH.size, what="the length of the header"))
    if length > HEADER_LIMIT:
        raise source.error(f"a header of {length} bytes, larger than is read: {HEADER_LIMIT} at most")
    header = source.read(length, what="the header")
    start = _LENGTH.size + length
    tensors = (_tensor(source, name, entry, start) for name, entry in _entries(source, header))
    return source.checked(tensors, end=end)


SAFETENSORS = TensorFile(name="safetensors", suffixes=(".safetensors",), recognises=_recognises, read=_read)


def _entries(source: Source, header: bytes) -> Iterator[tuple[str, object]]:
    """Yield what the header says, tensor by tensor: parsed as a whole, a hostile one would swell."""
    if _EMPTY.fullmatch(header):
        return
    begin = _BEGIN.match(header)
    at, closing = begin.end() if begin else 0, b","
    while closing == b",":
        found = _ENTRY.match(header, at)
        if begin is None or found is None:
            raise source.error(f"the header is no JSON object of tensors, from byte {at} on")
        name = _json(source, found[1])
        if name != METADATA:
            yield str(name), _json(source, found[2])
        at, closing = found.end(), found[3]
    if header[at:].strip():
        raise source.error(f"the header goes on after its JSON object, at byte {at}")


def _json(source: Source, text: bytes) -> object:
    if len(text) > ENTRY_LIMIT:
        raise source.error(f"the header says {len(text)} bytes of one tensor, or in its name")
    try:
        value: object = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise source.error(f"not JSON: {shown(repr(text))}") from error
    return value


def _tensor(source: Source, name: str, entry: object, start: int) -> Tensor:
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(begin), int(end)]}:
            if all(type(number) is int for number in (*shape, begin, end)) and 0 <= begin <= end < ELEMENT_LIMIT:
                return _placed(source, name, dtype, tuple(shape), Place(offset=start + begin, size=end - begin))
    raise source.error(f"{shown(name)} is not described as a tensor: {shown(str(entry))}")


def _placed(source: Source, name: str, dtype: str, shape: tuple[int, ...], place: Place) -> Tensor:
    element = _TYPES.get(dtype, ElementType(dtype=dtype, bits=0))
    tensor = source.tensor(name, element, shape, offset=place.offset)
    needed = tensor.place.size
    if dtype in _TYPES and needed != place.size:
        raise source.error(f"{shown(name)} has {place.size} bytes, and {dtype} {list(shape)} needs {needed}")
    return replace(tensor, place=place)
