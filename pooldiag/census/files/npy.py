"""NumPy's `.npy`: a magic, a version, the text of a Python dictionary, and the elements. Pickles are never read."""

import ast
import re
import struct
import warnings
from dataclasses import replace
from typing import TypeAlias

from pooldiag.census.files.format import (
    Declared,
    ElementType,
    Obstacle,
    Source,
    Tensor,
    TensorFile,
    called,
    shown,
    with_rest,
)
from pooldiag.census.layouts import ByteOrder, Layout
from pooldiag.model.words import count

MAGIC = b"\x93NUMPY"
HEADER_LIMIT = 10_000  # bytes, NumPy's own; a longer one could exhaust Python's parser
_LENGTHS = {1: "<H", 2: "<I", 3: "<I"}  # by version: how the length of the header is written
_KEYS = {"descr", "fortran_order", "shape"}
_DESCRIPTION = re.compile(r"([<>|])([a-zA-Z])([0-9]{1,9})")
_NUMBERS = {
    "b1": ElementType.of("bool"),
    "f1": ElementType.of("e5m2"),  # as ml_dtypes has it saved; NumPy has none like it
    **{f"{kind}{size}": ElementType.of(f"{kind}{size * 8}") for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{size}": ElementType.of(f"f{size * 8}") for size in (2, 4, 8)},
    **{f"c{size}": ElementType.of(f"f{size * 4}", parts=2) for size in (8, 16)},
}
# The type in NumPy's words, whether it is in Fortran order, and the shape.
_ArrayFacts: TypeAlias = tuple[object, bool, tuple[int, ...]]
_VOID, _OBJECT, _TEXT = "V", "O", "U"
_NO_TYPE = "structure"


def _recognises(head: bytes) -> bool:
    return head.startswith(MAGIC)


def _read(source: Source, declared: Declared) -> tuple[Tensor, ...]:
    """Return the one tensor. Of a type that NumPy does not know only the size is in the file: it is declared."""
    end = source.size() if source.file.seekable() else None
    tensor = read_header(source, declared.layout, name=None)
    return (tensor if end is None else checked(source, tensor, end=end),)


NPY = TensorFile(name="npy", suffixes=(".npy",), recognises=_recognises, read=_read)


def read_header(source: Source, layout: Layout | None, *, name: str | None) -> Tensor:
    """Read the header of an array, as a tensor whose place begins where the header did."""
    inside = source if name is None else replace(source, path=f"{source.path}: {shown(name)}")
    magic = inside.read(len(MAGIC) + 2, what="the magic of .npy")
    length_format = _LENGTHS.get(magic[len(MAGIC)])
    if not magic.startswith(MAGIC) or length_format is None:
        raise inside.error(f"no .npy: it begins with {shown(repr(magic))}")
    length_bytes = inside.read(struct.calcsize(length_format), what="the header")
    (length,) = struct.unpack(length_format, length_bytes)
    if length > HEADER_LIMIT:
        raise inside.error(f"a header of {length} bytes: this is no array of numbers")
    header = inside.read(length, what="the header")
    offset = len(magic) + len(length_bytes) + length
    return _described(source, name, _parse(inside, header), layout, offset=offset)


def checked(source: Source, tensor: Tensor, *, end: int) -> Tensor:
    """Return the tensor, with a note of what stands after it; raise CensusError if its bytes are not all there."""
    missing = tensor.place.offset + (tensor.place.size or 0) - end
    if missing > 0:
        problem = f"{called(tensor.name)} lacks {missing} of {tensor.place.size} bytes"
        raise source.error(problem, hint="was it cut while it was written or copied?")
    return tensor if tensor.obstacle is not None else with_rest(tensor, -missing)


def _parse(source: Source, header: bytes) -> _ArrayFacts:
    try:
        with warnings.catch_warnings(action="ignore"):  # the parser comments on odd escapes
            fields = ast.literal_eval(header.decode("utf-8").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise source.error(f"the header is no dictionary: {shown(repr(header))}") from error
    match fields:
        case {"descr": description, "fortran_order": bool(fortran), "shape": tuple(shape)} if fields.keys() == _KEYS:
            if all(type(size) is int for size in shape):
                return description, fortran, shape
    raise source.error(f"the header does not describe an array: {shown(repr(header))}")


def _described(source: Source, name: str | None, header: _ArrayFacts, layout: Layout | None, *, offset: int) -> Tensor:
    words, fortran, shape = header
    found = _DESCRIPTION.match(words) if isinstance(words, str) else None
    if not isinstance(words, str) or found is None or found[2] == _OBJECT:
        tensor = source.tensor(name, ElementType(dtype=_NO_TYPE, bits=0), shape, offset=offset)
        return replace(tensor, obstacle=_no_numbers(source, name, words))
    element = _element(words, found, layout)
    order: ByteOrder = "big" if found[1] == ">" else "little"
    long_axes = tuple(axis for axis, size in enumerate(shape) if size > 1)
    axes = long_axes[::-1] if fortran and len(long_axes) > 1 else None  # of one axis, the order is that of C, too
    in_memory = shape if axes is None else shape[::-1]
    tensor = replace(source.tensor(name, element, in_memory, offset=offset), byte_order=order, axes=axes)
    if found[2] == _VOID and element.dtype == words:
        tensor = replace(tensor, obstacle=_lost_type(source, name, element, layout))
    if axes is not None:
        note = f"in Fortran order: the {shape} elements are counted in the order of memory"
        tensor = replace(tensor, notes=(*tensor.notes, note))
    return tensor


def _element(words: str, found: re.Match[str], layout: Layout | None) -> ElementType:
    """Return the type of elements; one without a layout has NumPy's words for its name."""
    size = int(found[3]) * (4 if found[2] == _TEXT else 1)
    if found.end() == len(words) and (number := _NUMBERS.get(f"{found[2]}{size}")):
        return number
    if found[2] == _VOID and layout is not None and layout.bits == size * 8:
        return ElementType(dtype=layout.name, bits=layout.bits)
    return ElementType(dtype=words, bits=size * 8)


def _no_numbers(source: Source, name: str | None, words: object) -> Obstacle:
    if isinstance(words, str) and _OBJECT in words:
        problem = "holds pickled Python objects, which are never read"
        return source.obstacle(name, problem, hint="save it as numbers: array.astype(float)")
    what = shown(words) if isinstance(words, str) else "structures"
    return source.obstacle(name, f"is no array of numbers, but of {what}", hint="save its fields one by one")


def _lost_type(source: Source, name: str | None, element: ElementType, layout: Layout | None) -> Obstacle:
    of_size = f"has elements of {count(element.bits // 8, 'byte')}"
    if layout is not None:
        return source.obstacle(name, f"{of_size}, {layout.name} of {layout.bits} bits")
    problem = f"{of_size}, and the file does not say of what type"
    return source.obstacle(name, problem, hint="NumPy saves bf16 and fp8 so; name the type: --dtype bf16")
