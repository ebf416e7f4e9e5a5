"""Exchanges arrays by DLPack whose element types the consumer does not know: it gets the bits, as unsigned integers.

NumPy and CuPy refuse bfloat16 and the 8-bit floats. The structure that an exporter hands out says the type in four
bytes, and belongs to whoever takes it: here it is made to hold unsigned integers of the same size.
"""

import ctypes
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from pooldiag.census.layouts import CensusError

CPU_DEVICES = frozenset({1, 3, 11})  # kDLCPU, and host memory that is pinned for CUDA or ROCm

_UNSIGNED = 1
# DLDataTypeCode and bits, from dlpack.h. Types below a byte are not here: exporters pack them in different ways.
_TYPES: Mapping[tuple[int, int], str] = {
    (2, 64): "f64",
    (2, 32): "f32",
    (2, 16): "f16",
    (4, 16): "bf16",
    (10, 8): "e4m3fn",
    (11, 8): "e4m3fnuz",
    (12, 8): "e5m2",
    (13, 8): "e5m2fnuz",
    (14, 8): "e8m0",
    (6, 8): "bool",
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
}


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class _DLManagedTensor(ctypes.Structure):
    """DLManagedTensorVersioned; the older DLManagedTensor begins with the tensor itself."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


@runtime_checkable
class Exporter(Protocol):
    """An array that DLPack can take out of its library."""

    def __dlpack__(self, **options: object) -> object:
        """Return a capsule with the structure."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the kind of device, and which one."""


class AsUnsigned:
    """Exports another's array as unsigned integers; `dtype` says, once it was exported, of what layout they are."""

    def __init__(self, exporter: Exporter, *, name: str) -> None:
        self._exporter = exporter
        self._name = name
        self.dtype = ""

    def __dlpack__(self, **options: object) -> object:
        """Return the other's capsule, with the type changed."""
        capsule = self._exporter.__dlpack__(**options)
        tensor = _tensor_in(capsule)
        wanted = _TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
        if wanted is None:
            raise CensusError(
                f"{self._name}: DLPack type {tensor.code} of {tensor.bits} bits times {tensor.lanes} is not known",
                hint="view it as unsigned integers of the same size, and name its type: dtype='e2m1'",
            )
        self.dtype = wanted
        tensor.code = _UNSIGNED
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._exporter.__dlpack_device__()


def _tensor_in(capsule: object) -> _DLTensor:
    """Return the tensor that a capsule holds, not a copy of it."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.restype, is_valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
    if is_valid(capsule, b"dltensor_versioned"):
        versioned: _DLTensor = _DLManagedTensor.from_address(pointer(capsule, b"dltensor_versioned")).tensor
        return versioned
    return _DLTensor.from_address(pointer(capsule, b"dltensor"))
