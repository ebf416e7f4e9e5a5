"""GGUF, versions 2 and 3, of either byte order. Quantized tensors are counted by the scales of their blocks.

Types and block layouts are those of llama.cpp: `enum ggml_type` in ggml.h, the `block_*` structures in ggml-common.h.
A block's other fields are integers, which no NaN can be in. llama.cpp reads two scales in a way of its own: an e8m0 of
0xff as a finite number, an e4m3 of 0x7f as zero.
"""

import struct
from dataclasses import dataclass, replace

from pooldiag.census.files.format import (
    NAME_LIMIT,
    Declared,
    ElementType,
    Place,
    Scales,
    Source,
    Tensor,
    TensorFile,
    shown,
)
from pooldiag.census.layouts import ByteOrder

MAGIC = b"GGUF"
HEADER_LIMIT = 2**25  # bytes: vocabularies stand in it
AXES = 4
ALIGNMENT = "general.alignment"
_STRING, _ARRAY, _UINT32 = 8, 9, 4
_VALUE_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # by type of metadata value
_TYPES = {0: "f32", 1: "f16", 24: "i8", 25: "i16", 26: "i32", 27: "i64", 28: "f64", 30: "bf16"}
_PLAIN = {kind: ElementType.of(dtype) for kind, dtype in _TYPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _BlockType(Scales):
    """A type of blocks: how many elements one stands for, how many bytes it has, and where its scales are in them."""

    name: str
    elements: int
    dtype: str = "f16"


_BLOCKS = {
    2: _BlockType(name="Q4_0", elements=32, stride=18),
    3: _BlockType(name="Q4_1", elements=32, stride=20, places=(0, 2)),
    6: _BlockType(name="Q5_0", elements=32, stride=22),
    7: _BlockType(name="Q5_1", elements=32, stride=24, places=(0, 2)),
    8: _BlockType(name="Q8_0", elements=32, stride=34),
    10: _BlockType(name="Q2_K", elements=256, stride=84, places=(80, 82)),
    11: _BlockType(name="Q3_K", elements=256, stride=110, places=(108,)),
    12: _BlockType(name="Q4_K", elements=256, stride=144, places=(0, 2)),
    13: _BlockType(name="Q5_K", elements=256, stride=176, places=(0, 2)),
    14: _BlockType(name="Q6_K", elements=256, stride=210, places=(208,)),
    15: _BlockType(name="Q8_K", elements=256, stride=292, dtype="f32", width=4),
    16: _BlockType(name="IQ2_XXS", elements=256, stride=66),
    17: _BlockType(name="IQ2_XS", elements=256, stride=74),
    18: _BlockType(name="IQ3_XXS", elements=256, stride=98),
    19: _BlockType(name="IQ1_S", elements=256, stride=50),
    20: _BlockType(name="IQ4_NL", elements=32, stride=18),
    21: _BlockType(name="IQ3_S", elements=256, stride=110),
    22: _BlockType(name="IQ2_S", elements=256, stride=82),
    23: _BlockType(name="IQ4_XS", elements=256, stride=136),
    # The f16 scale is spread over the upper quarters of four 16-bit words.
    29: _BlockType(name="IQ1_M", elements=256, stride=56, places=(49, 51, 53, 55), nibbles=True),
    34: _BlockType(name="TQ1_0", elements=256, stride=54, places=(52,)),
    35: _BlockType(name="TQ2_0", elements=256, stride=66, places=(64,)),
    39: _BlockType(name="MXFP4", elements=32, stride=17, dtype="e8m0", width=1),
    40: _BlockType(name="NVFP4", elements=64, stride=36, places=(0, 1, 2, 3), dtype="e4m3fn", width=1),
    41: _BlockType(name="Q1_0", elements=128, stride=18),
    42: _BlockType(name="Q2_0", elements=64, stride=18),
}


def _recognises(head: bytes) -> bool:
    return head.startswith(MAGIC)


def _read(source: Source, _: Declared) -> tuple[Tensor, ...]:
    """Return the tensors in the order of the header; shapes have the last axis the fastest, unlike GGUF's own."""
    end = source.size()
    header = _GgufHeader(source=source)
    tensor_count, value_count = header.begin()
    alignment = _alignment(header, value_count)
    tensors = list(source.limited(_tensor(header) for _ in range(tensor_count)))
    start = -(-header.read_bytes // alignment) * alignment
    moved = (replace(each, place=replace(each.place, offset=start + each.place.offset)) for each in tensors)
    return source.checked(moved, end=end)


GGUF = TensorFile(name="gguf", suffixes=(".gguf",), recognises=_recognises, read=_read)


@dataclass(slots=True, kw_only=True)
class _GgufHeader:
    """Reads what stands before the elements, no more of it than the limit."""

    source: Source
    read_bytes: int = 0
    byte_order: ByteOrder = "little"

    def begin(self) -> tuple[int, int]:
        """Read magic, version and the counts of tensors and of metadata values; the version shows the byte order."""
        if self.take(len(MAGIC)) != MAGIC:
            raise self.source.error(f"no GGUF file: it does not begin with {MAGIC.decode()}")
        version = self.take(4)
        if version.startswith(b"\0"):  # no version is so high
            self.byte_order = "big"
        number = int.from_bytes(version, self.byte_order)
        if number not in {2, 3}:
            raise self.source.error(f"GGUF version {number}; versions 2 and 3 can be read")
        return self.number("Q"), self.number("Q")

    def take(self, size: int) -> bytes:
        self._grow(size)
        return self.source.read(size, what="the header")

    def number(self, form: str) -> int:
        """Read an unsigned number, of a form in `struct`'s words."""
        return int.from_bytes(self.take(struct.calcsize(f"={form}")), self.byte_order)

    def text(self) -> str:
        size = self.number("Q")
        if size > NAME_LIMIT:
            raise self.source.error(f"a name of {size} bytes")
        return self.take(size).decode("utf-8", "surrogateescape")

    def skip(self, size: int) -> None:
        """Go on without reading; an end of the file shows at the next reading."""
        self._grow(size)
        if size:
            self.source.file.seek(self.read_bytes)

    def skip_value(self, kind: int) -> None:
        """Skip a metadata value, or all values of an array."""
        count, what = 1, f"type {kind}, which GGUF does not have"
        if kind == _ARRAY:
            kind, count = self.number("I"), self.number("Q")
            what = f"arrays of type {kind}"
        if kind == _STRING:
            for _ in range(count):  # each has eight bytes or more, so the limit ends it
                self.skip(self.number("Q"))
        elif kind in _VALUE_BYTES:
            self.skip(count * _VALUE_BYTES[kind])
        else:
            raise self.source.error(f"metadata of {what}")

    def _grow(self, size: int) -> None:
        self.read_bytes += size
        if self.read_bytes > HEADER_LIMIT:
            raise self.source.error(f"a header of more than {HEADER_LIMIT} bytes: this is no list of tensors")


def _alignment(header: _GgufHeader, value_count: int) -> int:
    """Pass the metadata by; return to what multiple of bytes the elements are aligned."""
    alignment = 32
    for _ in range(value_count):
        key, kind = header.text(), header.number("I")
        if key == ALIGNMENT and kind == _UINT32:
            alignment = header.number("I")
        else:
            header.skip_value(kind)
    if alignment.bit_count() != 1:
        raise header.source.error(f"{ALIGNMENT} is {alignment}, no power of two")
    return alignment


def _tensor(header: _GgufHeader) -> Tensor:
    """Read what the header says of a tensor; its offset is still that in the data."""
    source, name = header.source, header.text()
    axes = header.number("I")
    if axes > AXES:
        raise source.error(f"{shown(name)} has {axes} axes, more than {AXES}")
    shape = tuple(header.number("Q") for _ in range(axes))[::-1]
    kind, offset = header.number("I"), header.number("Q")
    if kind in _PLAIN:
        tensor = source.tensor(name, _PLAIN[kind], shape, offset=offset)
    elif kind in _BLOCKS and not (_BLOCKS[kind].nibbles and header.byte_order == "big"):
        tensor = _scales(source, name, _BLOCKS[kind], shape, offset=offset)
    else:
        dtype = f"type {kind} of GGUF, {header.byte_order}-endian"
        obstacle = source.obstacle(name, f"is of {dtype}, which cannot be counted")
        tensor = replace(source.tensor(name, ElementType(dtype=dtype, bits=0), shape, offset=0), obstacle=obstacle)
    return replace(tensor, byte_order=header.byte_order)


def _scales(source: Source, name: str, block: _BlockType, shape: tuple[int, ...], *, offset: int) -> Tensor:
    """Return the scales of a quantized tensor as a tensor: its last axis is one of blocks."""
    blocks = source.element_count(name, shape) // block.elements
    row, rest = divmod(shape[-1] if shape else 1, block.elements)
    if rest:
        raise source.error(f"{shown(name)} has rows that are no whole number of {block.name} blocks")
    fields = 1 if block.nibbles else len(block.places)
    return Tensor(
        name=name,
        dtype=block.dtype,
        shape=(*shape[:-1], row * fields),
        count=blocks * fields,
        place=Place(offset=offset, size=blocks * block.stride),
        scales=block,
        notes=(f"the scales of {blocks} {block.name} blocks of {block.elements} elements",),
    )
