"""The tensors of an open file: its format found, what is said of it held against what it says itself, each counted.

Nothing here imports NumPy until something is counted.
"""

import io
import math
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, BinaryIO

from pooldiag.census.buffers import reader_of
from pooldiag.census.files import FORMATS, open_tensor, recognise
from pooldiag.census.files.format import HEAD_BYTES, Declared, Tensor, TensorFile, called
from pooldiag.census.layouts import LAYOUTS, CensusError
from pooldiag.model.counts import Census

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

RAW = FORMATS["raw"]
MAP_COLUMNS = 256  # stretches of a row that a map keeps apart
MAP_BLOCKS = 2**16

_NO_TYPE = "name it: --dtype f32; or let --guess try them all"


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorList:
    """The tensors of a file in its order, and the file to read them from."""

    file: BinaryIO
    path: str
    format: TensorFile
    declared: Declared
    tensors: tuple[Tensor, ...]


def list_tensors(
    file: BinaryIO, declared: Declared, *, path: str, wanted: TensorFile | None = None, of_raw_files: bool = False
) -> TensorList:
    """List what is in a file of a format that is wanted, or recognised by its first bytes and its suffix.

    A type that is declared is for a file that says none; CensusError when the file says another one, unless all that
    is declared is said `of_raw_files`, of which this one may be none.
    """
    file, head = with_head(file)
    if not head:
        raise CensusError(f"{path}: is empty: there is nothing to count", hint="was it written to its end?")
    found = wanted or recognise(head, suffix_of(path)) or RAW
    if found is RAW and declared.layout is None:
        known = wanted is not None or suffix_of(path).lower() in RAW.suffixes
        who = "a raw file does not say" if known else "its format is not known, and raw bytes do not say"
        raise CensusError(f"{path}: {who} what type it is of", hint=_NO_TYPE)
    if of_raw_files and found is not RAW:
        declared = Declared(layout=declared.layout)
    tensors = found.tensors(file, declared, path=path)
    if not of_raw_files:
        _check_declared(tensors, declared, found, path=path)
    return TensorList(file=file, path=path, format=found, declared=declared, tensors=tensors)


def suffix_of(path: str) -> str:
    """Return the ending of a file's name, with its dot."""
    return posixpath.splitext(path)[1]


def with_head(file: BinaryIO, size: int = HEAD_BYTES) -> tuple[BinaryIO, bytes]:
    """Return a file, and its first bytes, which it still begins with; one that can seek is read from its start."""
    if file.seekable():
        file.seek(0)
    head = b""
    while len(head) < size and (more := file.read(size - len(head))):  # a pipe may give less at any time
        head += more
    if file.seekable():
        file.seek(0)
        return file, head
    return io.BufferedReader(_Again(head, file), HEAD_BYTES), head


class _Again(io.RawIOBase):
    """A stream whose beginning was read already."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = io.BytesIO(head)
        self._read_rest = reader_of(rest)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill a buffer with what is there: less of it is not the end."""
        if count := self._head.readinto(buffer):
            return count
        with memoryview(buffer).cast("B") as room:
            return self._read_rest(room)


def is_self_describing(file: BinaryIO, *, suffix: str) -> bool:
    """Say whether a file is of a format that says what type its tensors are of."""
    return recognise(with_head(file)[1], suffix) not in {None, RAW}


def _check_declared(tensors: Sequence[Tensor], declared: Declared, found: TensorFile, *, path: str) -> None:
    """Raise CensusError when no tensor is of the type that was declared, and the file says so itself."""
    layout = declared.layout
    if layout is None or found is RAW or any(tensor.dtype == layout.name or tensor.obstacle for tensor in tensors):
        return
    for tensor in tensors[:1]:
        raise CensusError(
            f"{path}: {called(tensor.name)} is of type {tensor.dtype}, as the file says itself, and not {layout.name}",
            hint=f"leave --dtype out; --input-format {RAW.name} counts all bytes of the file, the header too",
        )


def place_of(path: str, tensor: str | None) -> str:
    """Name a tensor with its file: `model.npz::weight`."""
    return path if tensor is None else f"{path}::{tensor}"


def matching(tensors: Sequence[Tensor], pattern: str) -> list[Tensor]:
    """Return the tensor of exactly this name; those that it matches as a pattern where none has it."""
    exact = [tensor for tensor in tensors if tensor.name == pattern]
    return exact or [tensor for tensor in tensors if tensor.name is not None and fnmatchcase(tensor.name, pattern)]


def chosen(tensors: Sequence[Tensor], patterns: Sequence[str]) -> tuple[Tensor, ...]:
    """Return the tensors that some pattern names, in their order; without patterns all of them."""
    if not patterns:
        return tuple(tensors)
    named = [id(tensor) for pattern in patterns for tensor in matching(tensors, pattern)]
    return tuple(tensor for tensor in tensors if id(tensor) in named)


def count_tensor(listing: TensorList, tensor: Tensor, *, sha256: bool = True, mapped: bool = False) -> Census:
    """Count one tensor; `mapped` asks for a map of its NaN and infinities. CensusError when it cannot be counted."""
    from pooldiag.census.file_counts import take_census  # noqa: PLC0415 - NumPy, only where something is counted
    from pooldiag.census.findings import findings  # noqa: PLC0415 - the same
    from pooldiag.census.places import BlockPlan  # noqa: PLC0415 - the same

    view = open_tensor(listing.file, tensor, path=listing.path)
    census = take_census(
        view,
        path=listing.path,
        layout=LAYOUTS[tensor.dtype],
        byte_order=tensor.byte_order,
        count=tensor.count,
        sha256=sha256,
        blocks=BlockPlan(elements=block_elements(tensor.shape, tensor.count), limit=MAP_BLOCKS) if mapped else None,
    )
    if not census.n and listing.format is RAW and listing.declared.shape is None:
        raise CensusError(
            f"{listing.path}: no element follows the {listing.declared.offset} bytes of --offset",
            hint="was the file written to its end?",
        )
    census = replace(
        census, tensor=tensor.name, format=listing.format.name, shape=tensor.shape, notes=(*census.notes, *tensor.notes)
    )
    return replace(census, findings=findings(census))  # rules look at the format and the shape, too


def block_elements(shape: tuple[int, ...] | None, count: int | None) -> int:
    """Return of how many elements a block of a map is to be: equal parts of a row where there are rows, or whole rows.

    A row is the last axis. Without a shape, or with one axis alone, blocks may begin anywhere; so they do in rows that
    have no equal parts.
    """
    least = -(-(count or 0) // MAP_BLOCKS)
    if shape is None or not count or sum(size > 1 for size in shape) <= 1:
        return max(1, least)
    row = shape[-1]
    for parts in range(min(row, MAP_COLUMNS), 0, -1):
        if row % parts == 0 and row // parts >= least:
            return row // parts if parts > 1 or row <= max(1, least) else max(1, least)
    rows = math.prod(shape[:-1])
    return row * -(-rows // MAP_BLOCKS)
