"""Which element type bytes are of: each type is tried, and judged by how few bits the bytes can be written with.

Numbers of one tensor are of similar size, so that sign and exponent have few values; the bits below look random. Read
as another type, random bits stand where sign and exponent are expected, or similar ones where random bits are. What
that costs in bits is the same measure for all types. It says nothing of types whose bits are laid out alike.

This module needs NumPy: import it when a type is guessed, not at start-up.
"""

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.comparison_values import decode, magnitudes
from pooldiag.census.elements import ElementReader, Patterns
from pooldiag.census.file_counts import take_census
from pooldiag.census.files import recognise
from pooldiag.census.files._views import open_place
from pooldiag.census.files.format import Declared, Obstacle, Place, Tensor, TensorFile
from pooldiag.census.findings import OTHER_TYPE
from pooldiag.census.layouts import LAYOUTS, ByteOrder, CensusError, FloatLayout, IntegerLayout, Layout
from pooldiag.census.tensors import RAW, TensorList, place_of, suffix_of, with_head
from pooldiag.model.censuses import TypeGuess, TypeGuesses
from pooldiag.model.counts import Census
from pooldiag.model.words import count

_ORDERS: tuple[ByteOrder, ...] = ("little", "big")

NOT_ONE_TYPE = "the report ranks those that were tried; name one"
SAMPLE_BYTES = 2**20
PIECES = 16  # that a sample of a longer file is taken in, evenly from all over
MOST_OFFSET = 2**24  # bytes of a stream that are kept to begin it again
UNIT = 16  # bytes: an offset that is a multiple of it is one of every type

_TRIED = ("f64", "f32", "bf16", "f16", "e4m3fn", "e5m2", "i64", "i32", "i16", "i8", "u8")
_RANDOM = 7.9  # bits a byte: what cannot be written with less fits nothing
_MARGIN = 0.12  # bits a byte: types nearer to each other than that are not distinguished,
_MARGIN_ALIKE = 0.04  # nor are types of one size that are nearer than this share of all their bits,
_MARGIN_BITS = 256  # nor are they when all bytes together do not say more
_ATOM_SHARE = 1 / 256  # from this share on a pattern counts as a value of its own: zeros, fills
_ATOM_COUNT = 8
_SYMBOL_BITS = 4  # beside its own: how often a sign with an exponent occurs
_DOUBT_BITS = 8  # that an element costs of which the type makes an unlikely number
_FLOAT_RANGE = (2.0**-24, 2.0**17)  # magnitudes that are usual in tensors
_INTEGER_RANGE = 2**20
_DOUBTED = 0.02  # share of elements from which a doubt is reported
_KNOWN_NAN = {"nvidia-nan", "x86-nan", "x86-or-cuda-nan", "plain-nan", "all-ones-nan"}
_LOST = re.compile(r"[<>|]V([1248])")  # what NumPy writes of a type that it does not know: its size


@dataclass(frozen=True, slots=True, kw_only=True)
class Guessed:
    """A file that begins where it did, what is declared of it now, and why; no guesses: it says its type itself.

    Of tensors with names, each has a guess of its own.
    """

    file: BinaryIO
    declared: Declared
    guesses: tuple[TypeGuesses, ...] = ()


def guess_file(file: BinaryIO, declared: Declared, *, path: str, wanted: TensorFile | None = None) -> Guessed:
    """Find the type of a file that does not say it: a raw one, or one of NumPy's whose type NumPy does not know.

    A type is declared where one alone fits.
    """
    file, head = with_head(file)
    found = wanted or recognise(head, suffix_of(path)) or RAW
    if found is not RAW:
        return _guess_lost_types(file, declared, found, path=path)
    if file.seekable():
        size = max(0, file.seek(0, io.SEEK_END) - declared.offset)
        data = sample_of(open_place(file, Place(offset=declared.offset, size=size), path=path), size)
    else:
        if declared.offset > MOST_OFFSET:
            raise CensusError(
                f"{path}: too far into a stream to guess: --offset {declared.offset}", hint="save it first"
            )
        file, head = with_head(file, declared.offset + SAMPLE_BYTES)
        size, data = None, head[declared.offset :]
    if not data:
        return Guessed(file=file, declared=declared)  # an empty file is reported as such
    guesses = guess_types(data, path=path, file_bytes=size)
    if len(guesses.fitting) == 1:
        (best,) = guesses.fitting
        declared = replace(declared, layout=LAYOUTS[best.dtype], byte_order=best.byte_order)
    return Guessed(file=file, declared=declared, guesses=(guesses,))


def _guess_lost_types(file: BinaryIO, declared: Declared, found: TensorFile, *, path: str) -> Guessed:
    guesses = []
    for tensor in found.tensors(file, declared, path=path) if file.seekable() else ():
        lost = _LOST.fullmatch(tensor.dtype)
        if lost is not None and tensor.place.size:
            data = sample_of(open_place(file, tensor.place, path=path), tensor.place.size)
            guesses.append(
                guess_types(data, path=path, tensor=tensor.name, file_bytes=tensor.place.size, item_bytes=int(lost[1]))
            )
    return Guessed(file=file, declared=declared, guesses=tuple(guesses))


def with_types(listing: TensorList, guesses: Sequence[TypeGuesses]) -> TensorList:
    """Return a listing in which each tensor whose type a file of NumPy lost is of the one type that fits its bytes."""
    if listing.format is RAW:
        return listing
    by_name = {one.tensor: one for one in guesses}
    tensors = tuple(
        _typed(tensor, by_name[tensor.name], path=listing.path) if tensor.name in by_name else tensor
        for tensor in listing.tensors
    )
    return replace(listing, tensors=tensors)


def _typed(tensor: Tensor, guesses: TypeGuesses, *, path: str) -> Tensor:
    if len(guesses.fitting) != 1:
        problem = f"{place_of(path, tensor.name)}: no one type fits its bytes"
        return replace(tensor, obstacle=Obstacle(problem=problem, hint=NOT_ONE_TYPE))
    (best,) = guesses.fitting
    return replace(tensor, dtype=best.dtype, byte_order=best.byte_order or "little", obstacle=None)


def guess_types(
    data: bytes, *, path: str, tensor: str | None = None, file_bytes: int | None = None, item_bytes: int | None = None
) -> TypeGuesses:
    """Rank element types by how well bytes fit them: those of `item_bytes`, or all."""
    tried = [
        _tried(data, LAYOUTS[name], order)
        for name in _TRIED
        for order in _ORDERS[: LAYOUTS[name].item_bytes]  # of one byte: one order
        if item_bytes in {None, LAYOUTS[name].item_bytes} and len(data) >= LAYOUTS[name].item_bytes
    ]
    tried.sort(key=lambda one: (_is_wrong(one), one.bits_per_byte))
    fitting, why = _verdict(tried, margin=max(_MARGIN, _MARGIN_BITS / max(1, len(data))))
    return TypeGuesses(
        path=path,
        tensor=tensor,
        sample_bytes=len(data),
        file_bytes=file_bytes,
        tried=tuple(tried),
        fitting=fitting,
        why=why,
    )


def sample_of(file: BinaryIO, size: int) -> bytes:
    """Return some of the `size` bytes of a file that can seek, evenly from all over; all of them if they are few."""
    if size <= SAMPLE_BYTES:
        file.seek(0)
        return file.read(size)
    piece = SAMPLE_BYTES // PIECES
    step = (size - piece) // (PIECES - 1) // UNIT * UNIT
    pieces = []
    for number in range(PIECES):
        file.seek(number * step)
        pieces.append(file.read(piece))
    return b"".join(pieces)


def _is_wrong(guess: TypeGuess) -> bool:
    """Say whether a rule says that it is another type."""
    return not OTHER_TYPE.isdisjoint(guess.doubts)


def _tried(data: bytes, layout: Layout, order: ByteOrder) -> TypeGuess:
    whole = data[: len(data) // layout.item_bytes * layout.item_bytes]
    census = take_census(io.BytesIO(whole), path="", layout=layout, byte_order=order, sha256=False)
    reader = ElementReader(layout, path="", byte_order=order, chunk_bytes=max(len(whole), layout.item_bytes))
    patterns = next(reader.chunks(io.BytesIO(whole)))
    cost, unlikely = _cost(patterns, layout, census)
    rules = [finding.rule for finding in census.findings]
    return TypeGuess(
        dtype=layout.name,
        byte_order=order if layout.item_bytes > 1 else None,
        bits_per_byte=round(cost / len(whole), 3),
        nan=census.nan,
        n=census.n,
        minimum=census.minimum,
        maximum=census.maximum,
        doubts=tuple(_doubts(census, rules, unlikely)),
    )


def _doubts(census: Census, rules: list[str], unlikely: int) -> Iterator[str]:
    yield from (rule for rule in rules if rule in OTHER_TYPE)
    if census.nan and _KNOWN_NAN.isdisjoint(rules) and OTHER_TYPE.isdisjoint(rules):
        yield f"NaN of {count(len(census.nan_patterns), 'pattern')}"
    if unlikely >= _DOUBTED * census.n:
        yield f"{unlikely}/{census.n} unusual"


def _cost(patterns: Patterns, layout: Layout, census: Census) -> tuple[float, int]:
    """Return how many bits write the elements down, and how many of them are unlikely numbers."""
    values, counts = np.unique(patterns, return_counts=True)
    often = counts >= max(_ATOM_COUNT, _ATOM_SHARE * patterns.size)
    atoms, rest = counts[often], values[~often]
    weights = counts[~often]
    symbols, plain_bits = _symbols(rest, layout)
    kinds, places = np.unique(symbols, return_inverse=True)
    sizes = np.bincount(places.reshape(-1), weights=weights, minlength=len(kinds)) if len(kinds) else np.empty(0)
    unlikely = _unlikely(values, layout, census)
    # Those that hold sign and exponent, or say how long an integer is.
    head_bits = layout.bits - layout.fraction_bits if isinstance(layout, FloatLayout) else layout.bits.bit_length()
    bits = (
        _entropy_bits(np.concatenate([atoms.astype(np.float64), sizes]))
        + float((plain_bits * weights).sum())
        + len(atoms) * layout.bits
        + len(kinds) * (_SYMBOL_BITS + head_bits)
    )
    doubted = int(counts[unlikely].sum())
    return bits + _DOUBT_BITS * doubted, doubted


def _entropy_bits(counts: NDArray[np.float64]) -> float:
    """Return how many bits say which symbol each element has."""
    total = counts.sum()
    return float(-(counts * np.log2(counts / total)).sum()) if total else 0.0


def _symbols(patterns: Patterns, layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return what orders elements by size (sign and exponent), and how many bits below that say which it is."""
    if isinstance(layout, FloatLayout):
        used = int(np.bitwise_or.reduce(patterns)) if patterns.size else 0
        unused = (used & -used).bit_length() - 1 if used else 0  # zeros at the end throughout: it was widened
        below = max(0, layout.fraction_bits - unused)
        return (patterns >> layout.fraction_bits).astype(np.int64), np.full(patterns.size, below, np.float64)
    numbers = decode(patterns, layout)
    lengths = np.ceil(np.log2(np.abs(numbers.astype(np.float64)) + 1.0))
    return (lengths * np.where(numbers < 0, -1, 1)).astype(np.int64), np.maximum(lengths - 1, 0)


def _unlikely(values: Patterns, layout: Layout, census: Census) -> NDArray[np.bool_]:
    """Say which patterns are numbers that tensors seldom hold: of unusual size, or NaN that nobody is known to make."""
    if not isinstance(layout, FloatLayout):
        return np.asarray(magnitudes(decode(values, layout)) >= _INTEGER_RANGE)
    sizes = values & values.dtype.type(layout.magnitudes)
    low, high = (_pattern_of(limit, layout) for limit in _FLOAT_RANGE)
    unlikely = (sizes != 0) & ((sizes < low) | (sizes >= high))
    if not _KNOWN_NAN.isdisjoint(finding.rule for finding in census.findings):
        unlikely &= sizes <= layout.finite_limit
    return np.asarray(unlikely)


def _pattern_of(limit: float, layout: FloatLayout) -> int:
    """Return the magnitude with the exponent of a power of two; the first or the last of the type if it has none."""
    bias = (1 << (layout.exponent_bits - 1)) - 1 + layout.extra_bias
    exponent = int(math.log2(limit)) + bias
    return min(max(exponent, 0) << layout.fraction_bits, layout.finite_limit)


def _verdict(tried: list[TypeGuess], *, margin: float) -> tuple[tuple[TypeGuess, ...], str]:
    """Return the types that cannot be distinguished from the best, and why; none if nothing fits."""
    likely = [guess for guess in tried if not _is_wrong(guess)]
    if not likely or likely[0].bits_per_byte >= _RANDOM:
        return (), "No type fits: the bytes look random, as compressed or encrypted ones do, or they mix several types."
    near = [
        guess for guess in likely if guess.bits_per_byte <= likely[0].bits_per_byte + _margin(guess, likely[0], margin)
    ]
    passed_by = [guess for guess in near if _is_outranked(guess, near)]
    near = [guess for guess in near if guess not in passed_by]
    order = " the little-endian reading is preferred, as nearly all files are written so."
    order = f" So do {_listed(passed_by)}:{order}" if passed_by else ""
    best, *rivals = near
    if rivals:
        return tuple(near), f"These cannot be told apart by the bytes alone: {_listed(near)}.{order}"
    others = [guess for guess in tried if guess not in {best, *passed_by}]
    if not others:
        return tuple(near), f"{_named(best)} is the only type of this size that was tried.{order}"
    return tuple(near), (
        f"{_named(best)} fits best: its elements take {best.bits_per_byte:.2f} of 8 bits a byte, those of the next,"
        f" {_named(others[0])}, {others[0].bits_per_byte:.2f}.{order}"
        " That the file was written as such does not follow."
    )


def _margin(guess: TypeGuess, best: TypeGuess, margin: float) -> float:
    """Return how near a guess has to come: types of one size are laid out alike, and distinguished less surely."""
    alike = LAYOUTS[guess.dtype].item_bytes == LAYOUTS[best.dtype].item_bytes and guess.dtype != best.dtype
    return max(margin, _MARGIN_ALIKE * best.bits_per_byte) if alike else margin


def _is_outranked(guess: TypeGuess, near: list[TypeGuess]) -> bool:
    """Say whether a big-endian reading gives way to a little-endian one: of its own type, or of any to an integer."""
    if guess.byte_order != "big":
        return False
    integer = isinstance(LAYOUTS[guess.dtype], IntegerLayout)
    return any(other.byte_order == "little" and (integer or other.dtype == guess.dtype) for other in near)


def _listed(guesses: list[TypeGuess]) -> str:
    return ", ".join(map(_named, guesses))


def _named(guess: TypeGuess) -> str:
    return guess.dtype if guess.byte_order is None else f"{guess.dtype} {guess.byte_order}-endian"
