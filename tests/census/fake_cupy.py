"""A CuPy without a GPU: NumPy arrays that say that they are on one, and kernels that an emulator runs."""

import ctypes
import re
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray


class OnGpu(np.ndarray[tuple[int, ...], np.dtype[np.unsignedinteger]]):
    """An array whose memory counts as a GPU's."""

    device = None  # type: ignore[assignment] # NumPy's is a word, CuPy's a device

    def __getitem__(self, key: Any) -> "OnGpu":  # noqa: ANN401 - NumPy takes many kinds
        return on_gpu(super().__getitem__(key))  # CuPy has no scalars

    def get(self) -> NDArray[np.unsignedinteger]:
        return np.array(self)


class _Device:
    id = 0

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


OnGpu.device = _Device()  # type: ignore[assignment]


def on_gpu(array: object) -> OnGpu:
    return np.asarray(array).view(OnGpu)


class Interface:
    """An array that another library has on the GPU."""

    def __init__(self, array: NDArray[np.generic], *, typestr: str | None = None, dtype: object = None) -> None:
        self._array = array
        host = array.__array_interface__
        self.__cuda_array_interface__ = {
            **{key: host[key] for key in ("shape", "data", "strides")},
            "typestr": typestr or host["typestr"],
            "version": 3,
        }
        self.dtype = dtype or array.dtype


def _taken_over(array: object) -> OnGpu:
    interface = array.__cuda_array_interface__  # type: ignore[attr-defined]
    return on_gpu(np.asarray(SimpleNamespace(__array_interface__=dict(interface))))


def fake_cupy(library: ctypes.CDLL, **broken: object) -> ModuleType:
    """Make the module; `broken` replaces parts of it."""

    class RawKernel:
        def __init__(self, source: str, name: str, *, options: tuple[str, ...]) -> None:
            assert f"void {name}(" in source
            (found,) = re.findall(r"^-DBITS=(\d+)$", "\n".join(options))
            self._bits = int(found)

        def __call__(self, blocks: tuple[int], threads: tuple[int], arguments: tuple[object, ...]) -> None:
            words, *numbers, has_special, kind, rows = arguments
            assert threads == (256,)
            assert isinstance(words, OnGpu)
            assert isinstance(rows, OnGpu)
            library.emulate(
                self._bits,
                *blocks,
                words.ctypes.data_as(ctypes.c_void_p),
                (ctypes.c_uint64 * 6)(*(int(number) for number in numbers if isinstance(number, np.uint64))),
                int(has_special),  # type: ignore[call-overload]
                int(kind),  # type: ignore[call-overload]
                rows.ctypes.data_as(ctypes.c_void_p),
            )

    module = ModuleType("cupy")
    parts: dict[str, object] = {
        "is_available": lambda: True,
        "asarray": _taken_over,
        "from_dlpack": _from_dlpack,
        "ascontiguousarray": lambda array: on_gpu(np.ascontiguousarray(array)),
        "empty": lambda size, dtype: on_gpu(np.empty(size, dtype)),
        "zeros": lambda size, dtype: on_gpu(np.zeros(size, dtype)),
        "equal": np.equal,
        "RawKernel": RawKernel,
        "cuda": SimpleNamespace(runtime=SimpleNamespace(getDeviceProperties=lambda _: {"name": b"Emulated"})),
    }
    for name, part in (parts | broken).items():
        setattr(module, name, part)
    return module


class _OnCpu:
    """The same export, of an array that says that it is on the CPU: NumPy takes no other."""

    def __init__(self, exporter: object) -> None:
        self._export: Callable[..., object] = exporter.__dlpack__  # type: ignore[attr-defined]

    def __dlpack__(self, **_: object) -> object:
        return self._export()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def _from_dlpack(exporter: object) -> OnGpu:
    return on_gpu(np.from_dlpack(_OnCpu(exporter)))  # type: ignore[arg-type]
