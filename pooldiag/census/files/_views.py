"""The bytes of one tensor as a file of its own, read piece by piece: never more in memory than a piece."""

import io
import zlib
from typing import TYPE_CHECKING, BinaryIO

from pooldiag.census.buffers import reader_of
from pooldiag.census.files.format import Deflated, Place, Scales, Tensor
from pooldiag.census.layouts import CensusError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIECE_BYTES = 2**16
_UPPER_NIBBLES = bytes(byte >> 4 for byte in range(256))
_UPPER_NIBBLES_IN_PLACE = bytes(byte & 0xF0 for byte in range(256))


def open_tensor(file: BinaryIO, tensor: Tensor, *, path: str) -> BinaryIO:
    """Return the bytes of a tensor's elements, and nothing else; closing it leaves `file` open.

    It can seek if `file` can. Reading raises CensusError when the file has become shorter, or a compressed
    member does not hold what it declares.
    """
    if tensor.obstacle is not None:
        raise CensusError(tensor.obstacle.problem, hint=tensor.obstacle.hint)
    view = open_place(file, tensor.place, path=path)
    if tensor.scales is None:
        return view
    return io.BufferedReader(_Fields(view, tensor.scales, size=tensor.place.size or 0), PIECE_BYTES)


def open_place(file: BinaryIO, place: Place, *, path: str) -> BinaryIO:
    """Return the bytes of a place, as `open_tensor` does."""
    if place.deflated is not None:
        file = io.BufferedReader(_Inflated(file, place.deflated, path=path), PIECE_BYTES)
    return io.BufferedReader(_Window(file, start=place.offset, size=place.size, path=path), PIECE_BYTES)


class _DerivedFile(io.RawIOBase):
    """A file that is made while it is read. `fill` fills a buffer from a place on, and says how far."""

    def __init__(self, *, size: int | None, seekable: bool, path: str) -> None:
        self._size = size
        self._seekable = seekable
        self._path = path
        self._at = 0

    def fill(self, at: int, buffer: memoryview) -> int:
        """Fill some of a buffer, which is not empty and does not reach beyond the size; 0 at the end."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place; the end is known only if the size is."""
        if not self._seekable:
            raise io.UnsupportedOperation("seek")
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size or 0}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill a buffer as far as the size allows; raise CensusError when the bytes end before it."""
        with memoryview(buffer).cast("B") as whole:
            length = len(whole) if self._size is None else max(0, min(len(whole), self._size - self._at))
            if not length:
                return 0
            with whole[:length] as wanted:
                count = self.fill(self._at, wanted)
        if not count and self._size is not None:
            raise CensusError(
                f"{self._path}: the file ends {self._size - self._at} bytes early",
                hint="it was cut, or is still being written",
            )
        self._at += count
        return count


class _Window(_DerivedFile):
    """A range of a file; of one that cannot seek, the bytes from where it stands."""

    def __init__(self, file: BinaryIO, *, start: int, size: int | None, path: str) -> None:
        super().__init__(size=size, seekable=file.seekable(), path=path)
        self._file = file
        self._read = reader_of(file)
        self._start = start

    def fill(self, at: int, buffer: memoryview) -> int:
        if self._seekable:
            self._file.seek(self._start + at)  # another window may have moved it
        return self._read(buffer)


class _Inflated(_DerivedFile):
    """What a deflated member unpacks to. Going back unpacks it anew."""

    def __init__(self, file: BinaryIO, member: Deflated, *, path: str) -> None:
        super().__init__(size=member.size, seekable=True, path=path)
        self._file = file
        self._member = member
        self._restart()

    def _restart(self) -> None:
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._unpacked = 0  # bytes
        self._taken = 0  # compressed bytes
        self._crc = 0

    def fill(self, at: int, buffer: memoryview) -> int:
        if at < self._unpacked:
            self._restart()
        while self._unpacked < at:
            self._unpack(min(PIECE_BYTES, at - self._unpacked))
        data = self._unpack(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _unpack(self, limit: int) -> bytes:
        """Unpack some bytes, `limit` at most; raise CensusError when there are none, or they are not the declared."""
        data = b""
        while not data:
            packed = self._inflater.unconsumed_tail or self._next_packed()
            try:
                data = self._inflater.decompress(packed, limit)
            except zlib.error as error:
                raise CensusError(f"{self._path}: compressed data are damaged ({error})") from error
            if not data and (self._inflater.eof or not packed):
                raise CensusError(f"{self._path}: compressed data end {self._member.size - self._unpacked} bytes early")
        self._unpacked += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._unpacked == self._member.size and self._crc != self._member.crc:
            raise CensusError(f"{self._path}: compressed data are damaged (the checksum is another)")
        return data

    def _next_packed(self) -> bytes:
        self._file.seek(self._member.offset + self._taken)
        packed = self._file.read(min(PIECE_BYTES, self._member.compressed_size - self._taken))
        self._taken += len(packed)
        return packed


class _Fields(_DerivedFile):
    """The fields of blocks, without what stands between them."""

    def __init__(self, blocks: BinaryIO, scales: Scales, *, size: int) -> None:
        self._blocks = blocks
        self._scales = scales
        self._block_bytes = scales.width if scales.nibbles else scales.width * len(scales.places)
        super().__init__(size=size // scales.stride * self._block_bytes, seekable=True, path="")

    def fill(self, at: int, buffer: memoryview) -> int:
        first, skipped = divmod(at, self._block_bytes)
        count = -(-(skipped + len(buffer)) // self._block_bytes)
        self._blocks.seek(first * self._scales.stride)
        data = self._blocks.read(min(count, PIECE_BYTES // self._scales.stride) * self._scales.stride)
        found = self._extract(data)[skipped : skipped + len(buffer)]
        buffer[: len(found)] = found
        return len(found)

    def _extract(self, data: bytes) -> bytes:
        scales = self._scales
        if scales.nibbles:
            halves = [data[place :: scales.stride] for place in scales.places]
            columns = [_joined(low, high) for low, high in zip(halves[::2], halves[1::2], strict=True)]
        else:
            columns = [data[place + byte :: scales.stride] for place in scales.places for byte in range(scales.width)]
        found = bytearray(len(columns[0]) * len(columns))
        for place, column in enumerate(columns):
            found[place :: len(columns)] = column
        return bytes(found)


def _joined(low: bytes, high: bytes) -> bytes:
    """Make bytes of the upper halves of two others."""
    lower = int.from_bytes(low.translate(_UPPER_NIBBLES))
    upper = int.from_bytes(high.translate(_UPPER_NIBBLES_IN_PLACE))
    return (lower | upper).to_bytes(len(low))
