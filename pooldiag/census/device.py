"""Counts arrays on an NVIDIA GPU with CuPy, where it is installed and works; says which step failed where not.

Nothing here touches the GPU, or imports CuPy, before an array asks for it.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.resources import files
from types import ModuleType, SimpleNamespace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.dlpack import AsUnsigned, Exporter
from pooldiag.census.elements import Patterns
from pooldiag.census.layouts import CensusError, FloatLayout, Layout, Specials, find_layout
from pooldiag.errors import UsageError

THREADS = 256  # as in kernel.cu
# The fields of `struct Row` in kernel.cu, in order.
ROW_FIELDS = (
    *("special", "zero", "negative_zero", "small", "lowest_word", "highest_word"),
    *("lowest", "lowest_place", "highest", "highest_place", "largest", "largest_place"),
)
ROW = np.dtype([(field, np.uint64) for field in ROW_FIELDS])
# `enum Kind` in kernel.cu.
FLOAT, MINUS_ZERO_IS_NAN, UNSIGNED, SIGNED = range(4)
_SAMPLE = 4096
_CUDA_DEVICES = frozenset({2, 13})  # kDLCUDA, and memory that CUDA manages
_AT_A_TIME = 2**26  # elements that are compared at a time: a flag each on the device


class NoGpuError(Exception):
    """An array cannot be counted on its GPU: which step failed, and how."""


class _Device(AbstractContextManager[object], Protocol):
    """A device: the current one within a `with`."""

    id: int


class DeviceArray(Protocol):
    """What is used of `cupy.ndarray`."""

    size: int
    itemsize: int
    ndim: int
    shape: tuple[int, ...]
    dtype: np.dtype[np.unsignedinteger]
    device: _Device

    def __getitem__(self, key: slice | tuple[slice, ...], /) -> "DeviceArray": ...

    def get(self) -> NDArray[np.unsignedinteger]:
        """Copy to the host."""


def kernel_source() -> str:
    """Return the source of the kernel, CUDA C++ for NVRTC."""
    return files("pooldiag.census").joinpath("kernel.cu").read_text(encoding="utf-8")


def kernel_options(item_bytes: int) -> tuple[str, ...]:
    """Return the options that NVRTC compiles the kernel with, for elements of this size."""
    return (f"-DBITS={8 * item_bytes}",)


def kernel_layout(layout: Layout) -> tuple[int, int, int, int, int, int]:
    """Return what the kernel wants to know of a layout: sign, magnitudes, special, normal, has_special, kind."""
    if isinstance(layout, FloatLayout):
        has_special = layout.specials in {Specials.IEEE, Specials.ALL_ONES}
        kind = MINUS_ZERO_IS_NAN if layout.specials is Specials.MINUS_ZERO else FLOAT
        limit = layout.finite_limit if has_special else 0
        return layout.sign, layout.magnitudes, limit, layout.smallest_normal, int(has_special), kind
    sign = 1 << (layout.bits - 1) if layout.signed else 0
    return sign, (1 << layout.bits) - 1, 0, 0, 0, SIGNED if layout.signed else UNSIGNED


def is_on_gpu(array: object) -> bool:
    """Say whether an array is in a GPU's memory."""
    if isinstance(array, np.ndarray):
        return False
    if _interface(array) is not None:
        return True
    return isinstance(array, Exporter) and array.__dlpack_device__()[0] in _CUDA_DEVICES


def copy_to_host(array: object, *, name: str, reason: str) -> object:
    """Copy an array to the host by its own means: torch's `cpu`, Numba's `copy_to_host`, CuPy's `get`."""
    for method in ("cpu", "copy_to_host", "get", "__array__"):
        if (copy := getattr(array, method, None)) is not None:
            found: object = copy()
            return found
    raise CensusError(f"{name}: {reason}, and it has no method that copies", hint="copy it to the host first")


def open_gpu_array(array: object, *, dtype: str | None, name: str) -> "GpuArray":
    """Take an array over as bits in row-major order, on its device; NoGpuError if that does not work here."""
    cupy = load_cupy()
    interface = _interface(array)
    if interface is None:
        if not isinstance(array, Exporter):
            raise NoGpuError("it speaks neither __cuda_array_interface__ nor DLPack")
        unsigned = AsUnsigned(array, name=name)
        return _opened(cupy, lambda: cupy.from_dlpack(unsigned), lambda: dtype or unsigned.dtype, name=name)
    typestr = str(interface["typestr"])
    if typestr[0] == ">" or typestr[1] == "c":
        raise NoGpuError(f"elements of type {typestr} are counted on the host only")
    own = str(getattr(array, "dtype", "")) or np.dtype(typestr).name
    unsigned_interface = {**interface, "typestr": f"<u{typestr[2:]}"}
    relabelled = SimpleNamespace(kept=array, __cuda_array_interface__=unsigned_interface)  # which keeps it alive
    return _opened(cupy, lambda: cupy.asarray(relabelled), lambda: dtype or own, name=name)


def load_cupy() -> ModuleType:
    """Import CuPy and see it work: NoGpuError names the step that failed."""
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        raise NoGpuError(f"CuPy cannot be imported ({_line(error)})") from error
    try:
        available = cupy.is_available()
    except Exception as error:  # some versions let through whatever the driver says
        raise NoGpuError(f"CuPy cannot say whether there is a GPU ({_line(error)})") from error
    if not available:
        raise NoGpuError("CuPy finds no GPU")
    try:
        cupy.zeros(1, np.uint8).get()
    except RuntimeError as error:
        raise NoGpuError(f"CuPy cannot launch a kernel ({_line(error)})") from error
    return cupy


class GpuArray:
    """The bits of an array on a GPU, in row-major order."""

    def __init__(self, cupy: ModuleType, bits: DeviceArray, layout: Layout, *, name: str) -> None:
        self._cupy = cupy
        self._flat: DeviceArray = cupy.ascontiguousarray(bits).reshape(-1)
        self.shape = tuple(bits.shape)
        self._name = name
        self.layout = layout
        self.n = self._flat.size
        self.pieces = 0

    @property
    def title(self) -> str:
        """What the device is called."""
        place = self._flat.device.id
        model = self._cupy.cuda.runtime.getDeviceProperties(place)["name"].decode(errors="backslashreplace")
        return f"GPU {place} ({model})"

    def rows(self, piece_elements: int) -> NDArray[np.void]:
        """Count pieces of this size, the last one maybe shorter, and return a `ROW` for each."""
        self.pieces = -(-self.n // piece_elements)
        kernel = self._cupy.RawKernel(kernel_source(), "census", options=kernel_options(self.layout.item_bytes))
        *numbers, has_special, kind = kernel_layout(self.layout)
        with self._flat.device:
            rows = self._cupy.empty(self.pieces * len(ROW_FIELDS), np.uint64)
            sizes = (np.uint64(number) for number in (self.n, piece_elements, *numbers))
            try:
                kernel((self.pieces,), (THREADS,), (self._flat, *sizes, np.int32(has_special), np.int32(kind), rows))
                found: NDArray[np.void] = rows.get().view(ROW)
            except RuntimeError as error:
                raise CensusError(f"{self._name}: counting on {self.title} failed: {_line(error)}") from error
        return found

    def fetch(self, begin: int, n: int) -> Patterns:
        """Copy elements to the host."""
        return self._flat[begin : begin + n].get()

    def sample(self) -> Patterns:
        """Copy some elements to the host, taken evenly from all over."""
        return self._flat[:: max(1, self.n // _SAMPLE) | 1].get()

    def count(self, pattern: int, page_elements: int) -> tuple[int, int]:
        """Return how often a pattern occurs, and how many whole pages of elements hold nothing else."""
        count = pages = 0
        for begin in range(0, self.n, _AT_A_TIME):
            hits = self._cupy.equal(self._flat[begin : begin + _AT_A_TIME], self._flat.dtype.type(pattern))
            whole = hits.size // page_elements
            count += int(hits.sum())
            pages += int(hits[: whole * page_elements].reshape(whole, page_elements).all(axis=1).sum())
        return count, pages


def _opened(cupy: ModuleType, take: Callable[[], DeviceArray], dtype: Callable[[], str], *, name: str) -> GpuArray:
    """Take an array over and read one element of it before a kernel does: it may be what is under suspicion."""
    try:
        bits = take()
        bits[(slice(0, 1),) * bits.ndim].get()
    except RuntimeError as error:
        raise CensusError(f"{name}: its memory cannot be read: {_line(error)}") from error
    except (BufferError, TypeError, ValueError) as error:
        raise NoGpuError(f"CuPy cannot take it over ({_line(error)})") from error
    try:
        layout = find_layout(dtype())
    except UsageError as error:
        raise CensusError(f"{name}: {error.problem}", hint=error.hint) from error
    if layout.per_item > 1 or layout.item_bytes != bits.itemsize:
        raise NoGpuError(f"elements of {bits.itemsize} bytes are not counted as {layout.name} there")
    return GpuArray(cupy, bits, layout, name=name)


def _interface(array: object) -> Mapping[str, object] | None:
    try:
        found = getattr(array, "__cuda_array_interface__", None)
    except (KeyError, RuntimeError, TypeError):  # torch: for a type that the interface has no word for
        return None
    return found if isinstance(found, Mapping) else None


def _line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0]
