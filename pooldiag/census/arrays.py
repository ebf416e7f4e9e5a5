"""Counts an array in memory, wherever it is: NumPy's, any CPU array that speaks DLPack, or one on a GPU."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.device import NoGpuError, copy_to_host, is_on_gpu, open_gpu_array
from pooldiag.census.dlpack import CPU_DEVICES, AsUnsigned, Exporter
from pooldiag.census.elements import CHUNK_BYTES, Patterns, upper_halves
from pooldiag.census.findings import findings
from pooldiag.census.layouts import CensusError, Layout, find_layout
from pooldiag.census.pieces import tally_pieces
from pooldiag.census.places import BlockPlan
from pooldiag.census.tally import Tally
from pooldiag.errors import UsageError
from pooldiag.model.counts import Census

_UNPACKED_FP4 = "float4_e2m1fn"  # ml_dtypes keeps each of these in a byte of its own
_VIEW_HINT = "view it as unsigned integers of the same size, and name its type: take_census(view, dtype='bf16')"


@dataclass(frozen=True, slots=True, kw_only=True)
class _HostArray:
    """An array as bits: unsigned integers of the size of an element, in any layout and byte order."""

    bits: NDArray[np.unsignedinteger]
    layout: Layout
    shape: tuple[int, ...]
    unpacked: bool = False
    notes: tuple[str, ...] = ()


def take_census(
    array: object, *, dtype: str | None = None, name: str = "array", blocks: BlockPlan | None = None
) -> Census:
    """Count the elements of an array; an index is that in row-major order, whatever the layout in memory.

    `dtype` names the element type where the array's own does not: bf16 that was viewed as int16. An array on a GPU is
    counted there if CuPy works, else on the host from a copy, as `notes` of the census say. CensusError: a type
    that is not known, or memory that cannot be read.
    """
    notes: tuple[str, ...] = ()
    if is_on_gpu(array):
        try:
            found = open_gpu_array(array, dtype=dtype, name=name)
            tally, fetched = tally_pieces(found, found.layout, blocks=blocks)
            note = f"counted on {found.title}"
            if fetched:
                note += f"; {fetched} of {found.pieces} pieces hold NaN or infinities, and were counted on the host"
            return _finish(tally, (note,), name=name, shape=found.shape)
        except NoGpuError as error:
            notes = (f"counted on the host, from a copy: {error}",)
        array = copy_to_host(array, name=name, reason=notes[0])
    elements = _elements(array, dtype=dtype, name=name)
    return _finish(_count_on_host(elements, blocks), (*notes, *elements.notes), name=name, shape=elements.shape)


def _finish(tally: Tally, notes: tuple[str, ...], *, name: str, shape: tuple[int, ...]) -> Census:
    census = replace(tally.census(name), format="array", shape=shape, notes=notes)
    return replace(census, findings=findings(census))


def _count_on_host(elements: _HostArray, blocks: BlockPlan | None) -> Tally:
    tally = Tally(elements.layout, chunk_elements=CHUNK_BYTES, blocks=blocks)
    for patterns in _chunks(elements):
        tally.add(patterns)
    if tally.uncounted:
        tally.dominant.look_again(_chunks(elements))
    return tally


def _chunks(elements: _HostArray) -> Iterator[Patterns]:
    """Yield the elements in row-major order, in chunks that are copied only if the layout asks for it."""
    bits = elements.bits
    if not bits.size:
        return
    chunks = np.nditer(
        bits,
        flags=["external_loop", "buffered"],
        order="C",
        op_dtypes=[bits.dtype.newbyteorder("=")],
        casting="equiv",
        buffersize=CHUNK_BYTES // bits.itemsize // elements.layout.per_item,
    )
    for chunk in chunks:
        patterns: Patterns = np.asarray(chunk)
        if elements.layout.per_item == 1:
            yield patterns
        else:
            yield patterns * 16 if elements.unpacked else upper_halves(patterns)


def _elements(array: object, *, dtype: str | None, name: str) -> _HostArray:
    """Return the bits of an array on the host."""
    if not isinstance(array, np.ndarray) and isinstance(array, Exporter):
        return _exported(array, dtype=dtype, name=name)
    found = np.asarray(array)
    shape = found.shape
    notes: tuple[str, ...] = ()
    if isinstance(array, np.ma.MaskedArray):
        notes = ("its mask is ignored: the elements under it are counted too",)
    if found.dtype.kind == "c":
        parts = found.dtype.newbyteorder("=").type(0).real.dtype.newbyteorder(found.dtype.byteorder)
        found, shape = np.ascontiguousarray(found).reshape(-1).view(parts), (*shape, 2)
        notes = (*notes, "complex numbers are counted as pairs, real part first")
    own = found.dtype.name
    layout = _layout(own if dtype is None else dtype, found.dtype.itemsize, own=own, name=name)
    bits = found.view(np.dtype(f"u{found.dtype.itemsize}").newbyteorder(found.dtype.byteorder))
    return _HostArray(bits=bits, layout=layout, shape=shape, unpacked=own == _UNPACKED_FP4, notes=notes)


def _exported(array: Exporter, *, dtype: str | None, name: str) -> _HostArray:
    """Take an array over by DLPack, bits as they are."""
    unsigned = AsUnsigned(array, name=name)
    if unsigned.__dlpack_device__()[0] not in CPU_DEVICES:
        raise CensusError(f"{name}: it is on a device that is no CPU and no CUDA GPU", hint="copy it to the host")
    try:
        bits: NDArray[np.unsignedinteger] = np.from_dlpack(unsigned)  # type: ignore[arg-type, assignment] # a Protocol
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise CensusError(f"{name}: it cannot be taken over by DLPack: {error}", hint=_VIEW_HINT) from error
    layout = _layout(dtype or unsigned.dtype, bits.itemsize, own=unsigned.dtype, name=name)
    return _HostArray(bits=bits, layout=layout, shape=bits.shape)


def _layout(wanted: str, item_bytes: int, *, own: str, name: str) -> Layout:
    """Find the layout of elements of this size, or say why there is none."""
    try:
        layout = find_layout(wanted)
    except UsageError as error:
        hint = _VIEW_HINT if wanted == own else error.hint
        raise CensusError(f"{name}: no census of elements of type {wanted}", hint=hint) from error
    if layout.item_bytes != item_bytes:
        raise CensusError(
            f"{name}: its elements ({own}) are of {item_bytes} bytes, {layout.name} is of {layout.item_bytes}",
            hint="name a type of the same size",
        )
    return layout
