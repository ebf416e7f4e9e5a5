"""What pooldiag asks of a tensor file format: which tensors are in the file, of what type, and where their bytes are.

Nothing here or beside imports NumPy, and nothing trusts a file: what it says is bounded and checked first.
"""

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Self, TypeVar

from pooldiag.census.layouts import LAYOUTS, ByteOrder, CensusError, Layout, find_layout
from pooldiag.model import words

_T = TypeVar("_T")

TENSOR_LIMIT = 100_000
NAME_LIMIT = 1024  # characters
RANK_LIMIT = 64  # axes, as in NumPy
ELEMENT_LIMIT = 2**63
HEAD_BYTES = 512  # what formats want to see of a file to recognise it


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What the user says of a file that does not say it. None: nothing."""

    layout: Layout | None = None
    shape: tuple[int, ...] | None = None
    offset: int = 0  # bytes before the first element
    byte_order: ByteOrder | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementType:
    """An element as a format has it: `parts` numbers (two in a complex one) of `bits` bits, of a layout's type."""

    dtype: str  # a name in LAYOUTS; the format's own word where there is none
    bits: int
    parts: int = 1

    @classmethod
    def of(cls, name: str, *, parts: int = 1) -> Self:
        """Return the element that is made of numbers of a layout, by any of its names."""
        layout = find_layout(name)
        return cls(dtype=layout.name, bits=layout.bits, parts=parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deflated:
    """A compressed member of a zip file: where its bytes are in the file, and what they have to unpack to."""

    offset: int
    compressed_size: int
    size: int
    crc: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where bytes are: in the file, or in what `deflated` unpacks to. A size of None: to the end of a stream."""

    offset: int = 0
    size: int | None
    deflated: Deflated | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """Fields that stand at the same `places` (byte offsets) of every block of `stride` bytes.

    With `nibbles`, `places` are those of bytes whose upper halves make up the one field, lowest first.
    """

    stride: int
    places: tuple[int, ...] = (0,)
    width: int = 2  # bytes of a field
    nibbles: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why a tensor that is there cannot be counted, and what to do."""

    problem: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor of a file, and where its bytes are.

    `shape` is in the order of memory, the last axis the fastest; its product is `count`. With `scales`, only those
    fields of the bytes are elements. `open_tensor` gives the elements, one after the other. `axes` is set where memory
    is not in the order of the tensor's own axes: which of these, of more than one element, come one after the other.
    """

    name: str | None  # None: the only one of a file that has no names
    dtype: str  # a name in LAYOUTS, or the format's own word: then there is an obstacle
    shape: tuple[int, ...] | None
    count: int | None
    byte_order: ByteOrder = "little"
    place: Place
    scales: Scales | None = None
    axes: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file whose tensors are listed. What is wrong with it is said with its path."""

    file: BinaryIO
    path: str
    format_name: str

    def error(self, problem: str, *, hint: str | None = None) -> CensusError:
        """Return what is wrong."""
        return CensusError(f"{self.path}: {problem}", hint=hint)

    def obstacle(self, name: str | None, problem: str, *, hint: str | None = None) -> Obstacle:
        """Return why one of its tensors cannot be counted."""
        return Obstacle(problem=f"{self.path}: {called(name)} {problem}", hint=hint)

    def size(self) -> int:
        """Return the size of the file and go to its start; raise CensusError for one that cannot seek."""
        if not self.file.seekable():
            problem = f"{self.format_name} cannot be read from a pipe: one has to go back and forth in it"
            raise self.error(problem, hint="save it to a file first")
        size = self.file.seek(0, io.SEEK_END)
        self.file.seek(0)
        return size

    def read(self, size: int, *, what: str) -> bytes:
        """Read `size` bytes, which the caller has bounded; raise CensusError when the file ends first."""
        data = self.file.read(size)
        while len(data) < size and (more := self.file.read(size - len(data))):  # a pipe may give less at any time
            data += more
        if len(data) < size:
            problem = f"the file ends within {what}: {len(data)} of {size} bytes"
            raise self.error(problem, hint="was it cut while it was written?")
        return data

    def element_count(self, name: str | None, shape: tuple[int, ...]) -> int:
        """Multiply a shape that the file declares; raise CensusError when no tensor can have it."""
        if len(shape) > RANK_LIMIT:
            raise self.error(f"{called(name)} has {len(shape)} axes, more than {RANK_LIMIT}")
        count = math.prod(shape)
        if any(not 0 <= size < ELEMENT_LIMIT for size in shape) or count >= ELEMENT_LIMIT:
            raise self.error(f"{called(name)} has a shape that no tensor has")
        return count

    def tensor(self, name: str | None, element: ElementType, shape: tuple[int, ...], *, offset: int) -> Tensor:
        """Return a tensor whose elements stand one after the other from `offset` on, little-endian."""
        count = self.element_count(name, shape) * element.parts
        unknown = f"is of type {shown(element.dtype)}, which cannot be counted"
        notes: tuple[str, ...] = ()
        if element.parts > 1:
            shape = (*shape, element.parts)
            notes = (f"each element is {element.parts} of {element.dtype}",)
        return Tensor(
            name=name,
            dtype=element.dtype,
            shape=shape,
            count=count,
            place=Place(offset=offset, size=-(-count * element.bits // 8)),
            notes=notes,
            obstacle=None if element.dtype in LAYOUTS else self.obstacle(name, unknown),
        )

    def limited(self, tensors: Iterable[_T]) -> Iterator[_T]:
        """Yield them all; raise CensusError for more tensors than any file has."""
        for count, tensor in enumerate(tensors, 1):
            if count > TENSOR_LIMIT:
                raise self.error(f"more than {TENSOR_LIMIT} tensors")
            yield tensor

    def checked(self, tensors: Iterable[Tensor], *, end: int) -> tuple[Tensor, ...]:
        """Return the tensors, if the file ends there; raise CensusError for two of one name, or in one place."""
        found = tuple(self.limited(tensors))
        self.check_unique(tensor.name for tensor in found)
        self.check_places(((each.place.offset, each.place.size or 0, each.name) for each in found), end=end)
        return found

    def check_unique(self, names: Iterable[str | None]) -> None:
        """Raise CensusError when two tensors have one name: which one is meant cannot be said."""
        for name, count in Counter(names).items():
            if count > 1:
                raise self.error(f"{count} tensors have the name {shown(name or '')}")

    def check_places(self, places: Iterable[tuple[int, int, str | None]], *, end: int) -> None:
        """Raise CensusError when one of (offset, size, name) reaches beyond the `end` of the file, or into another."""
        last, owner = 0, None
        for offset, size, name in sorted(places, key=lambda place: place[:2]):
            if size and offset + size > end:
                problem = f"{called(name)} ends at byte {offset + size}, the file at {end}"
                raise self.error(problem, hint="was it cut while it was written or copied?")
            if size and offset < last:
                raise self.error(f"{called(name)} begins at byte {offset}, within {called(owner)}")
            if size:
                last, owner = offset + size, name


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFile:
    """One tensor file format: its name, as `--input-format` takes it, and its suffixes, in lower case.

    `recognises` says by the first HEAD_BYTES bytes of a file, or all if it has fewer, whether it is of this format.
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[bytes], bool]
    read: Callable[[Source, Declared], tuple[Tensor, ...]]
    can_be_declared: bool = False  # the user says where its elements are, because nothing in the file does

    def tensors(self, file: BinaryIO, declared: Declared, *, path: str) -> tuple[Tensor, ...]:
        """List the tensors in the order of the file; `path` is for messages. Raise CensusError for anything wrong.

        A file that cannot seek is left where the bytes of its one tensor begin.
        """
        source = Source(file=file, path=path, format_name=self.name)
        given = {
            "--shape": declared.shape is not None,
            "--offset": declared.offset != 0,
            "--byte-order": declared.byte_order is not None,
        }
        flags = [flag for flag, is_given in given.items() if is_given]
        if flags and not self.can_be_declared:
            raise source.error(f"{' and '.join(flags)} cannot be given for {self.name}, which says it itself")
        return self.read(source, declared)


def with_rest(tensor: Tensor, size: int) -> Tensor:
    """Return a tensor with a note of so many bytes that are left out."""
    note = f"{words.count(size, 'byte')} after the elements {'is' if size == 1 else 'are'} not counted"
    return replace(tensor, notes=(*tensor.notes, note)) if size else tensor


def called(name: str | None) -> str:
    """Name a tensor in a message, whatever its name is made of."""
    return "the tensor" if name is None else shown(name)


def shown(text: str) -> str:
    """Quote outside text for a message: short, on one line, without control characters."""
    return repr(text if len(text) <= 80 else f"{text[:80]}…")  # noqa: PLR2004 - a line of a terminal
