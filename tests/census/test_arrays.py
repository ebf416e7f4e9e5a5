"""Arrays in memory: NumPy's in any layout, and any other's by DLPack, bits as they are."""

import ctypes
import math
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import pooldiag
from pooldiag.census.elements import CHUNK_BYTES
from pooldiag.census.layouts import LAYOUTS, CensusError
from pooldiag.model.counts import Census, PatternCount
from tests.census.oracle import comparable, slow_census

VALUES = np.array([[1.5, -2.0, math.nan, 0.0], [math.inf, -0.0, 3.0, -7.0], [1.0, 1.0, 1.0, 1.0]], np.float32)
# More than one chunk, and no multiple of one.
LONG = np.resize(VALUES, CHUNK_BYTES + 77)


def expected(array: NDArray[np.generic], dtype: str) -> Census:
    layout = LAYOUTS[dtype]
    patterns = np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}").tolist()
    return slow_census(patterns, path="array", layout=layout)


def agree(found: Census, right: Census) -> bool:
    names = ("n", "nan", "inf", "zero", "negative_zero", "minimum", "maximum", "absmax", "dominant", "nan_patterns")
    indices = ("minimum_index", "maximum_index", "absmax_index", "nan_runs", "nan_residues", "first")
    found, right = comparable(found), comparable(right)
    return all(getattr(found, name) == getattr(right, name) for name in (*names, *indices))


@pytest.mark.parametrize(
    "array",
    [
        VALUES,
        VALUES.T,
        VALUES[::-1, ::2],
        np.asfortranarray(VALUES),
        np.broadcast_to(VALUES[0], (5, 4)),
        VALUES[0, 2],
        np.array(3.0, np.float32),
        np.empty((0, 3), np.float32),
        VALUES.astype(">f4"),
        VALUES.T.astype(">f4", order="F"),
        LONG[1:],
        LONG[::-3],
    ],
    ids=range(12),
)
def test_an_array_of_any_layout_is_counted_in_row_major_order(array: NDArray[np.float32]) -> None:
    before = array.copy()
    found = pooldiag.take_census(array)
    assert (found.format, found.dtype, found.sha256) == ("array", "f32", "")
    assert agree(found, expected(array.astype("<f4"), "f32"))
    assert before.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.float64, "f64"),
        (np.float16, "f16"),
        (ml_dtypes.bfloat16, "bf16"),
        (ml_dtypes.float8_e4m3fn, "e4m3fn"),
        (ml_dtypes.float8_e4m3fnuz, "e4m3fnuz"),
        (ml_dtypes.float8_e5m2, "e5m2"),
        (ml_dtypes.float8_e5m2fnuz, "e5m2fnuz"),
        (ml_dtypes.float8_e8m0fnu, "e8m0"),
        (np.int8, "i8"),
        (np.uint16, "u16"),
        (np.int64, "i64"),
        (np.bool_, "bool"),
    ],
)
def test_the_type_is_the_arrays_own(dtype: type, name: str) -> None:
    array: NDArray[np.generic] = np.array([1, 2, 0, 5, 4], np.float32).astype(dtype)
    found = pooldiag.take_census(array)
    assert found.dtype == name
    assert agree(found, expected(array, name))


def test_4_bit_floats_of_ml_dtypes_are_one_a_byte_and_others_two() -> None:
    found = pooldiag.take_census(np.array([0.5, -6, 0], ml_dtypes.float4_e2m1fn))
    assert (found.n, found.minimum, found.maximum) == (3, -6, 0.5)
    packed = pooldiag.take_census(np.array([0xF1], np.uint8), dtype="fp4")
    assert (packed.n, [each.value for each in packed.first]) == (2, [0.5, -6])


@pytest.mark.parametrize("array", [np.array([0x7FFF, 1], np.int16), np.frombuffer(b"\xff\x7f\x01\x00", "V2")])
def test_a_type_that_the_array_does_not_know_is_named(array: NDArray[np.generic]) -> None:
    found = pooldiag.take_census(array, dtype="bfloat16", name="out")
    assert (found.path, found.dtype, found.nan) == ("out", "bf16", 1)


def test_complex_numbers_are_counted_in_parts() -> None:
    found = pooldiag.take_census(np.array([1 + 2j, complex(math.nan, 3)], ">c8"))
    assert (found.n, found.dtype, found.nan_runs.first, found.maximum) == (4, "f32", 2, 3)
    assert found.notes == ("complex numbers are counted as pairs, real part first",)


def test_what_numpy_can_make_an_array_of_is_counted() -> None:
    assert pooldiag.take_census([1.0, math.nan]).nan == 1
    assert pooldiag.take_census(memoryview(b"abc")).dtype == "u8"


@pytest.mark.parametrize(
    ("array", "dtype", "problem"),
    [
        (np.array(["x"]), None, "no census of elements of type str32"),
        (np.array([object()]), None, "no census of elements of type object"),
        (np.zeros(1, "V2"), None, "no census of elements of type void16"),
        (np.zeros(1, ml_dtypes.float8_e4m3), None, "no census of elements of type float8_e4m3"),
        (np.zeros(1, "M8[s]"), None, "no census of elements of type datetime64"),
        (VALUES, "f16", "its elements (float32) are of 4 bytes, f16 is of 2"),
        (VALUES, "nonsense", "no census of elements of type nonsense"),
    ],
)
def test_what_cannot_be_counted_is_one_line_and_a_way_out(array: object, dtype: str | None, problem: str) -> None:
    with pytest.raises(CensusError) as raised:
        pooldiag.take_census(array, dtype=dtype, name="x")
    assert raised.value.problem.startswith(f"x: {problem}")
    assert raised.value.hint


def test_a_dominant_pattern_that_shows_up_late_is_counted_in_all_of_an_array() -> None:
    array = np.arange(2**20, dtype=np.uint32)
    array[2**19 :: 2] = 7
    assert pooldiag.take_census(array.reshape(1024, 1024)).dominant == PatternCount(bits="0x00000007", count=2**18 + 1)


class Exported:
    """Another library's array: NumPy's export, told to be of a type that NumPy does not know."""

    def __init__(self, array: NDArray[np.generic], code: int | None = None, *, bits: int | None = None) -> None:
        self._array = array
        self._code = code
        self._bits = bits
        self.device = 1, 0
        self.exports = 0

    def __dlpack__(self, **options: object) -> object:
        self.exports += 1
        capsule = self._array.__dlpack__(**options)  # type: ignore[arg-type, misc] # what NumPy asks for
        name = b"dltensor_versioned" if "max_version" in options else b"dltensor"
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        place = get(capsule, name) + (32 if "max_version" in options else 0) + 20  # of the code in a DLTensor
        if self._code is not None:
            ctypes.c_uint8.from_address(place).value = self._code
        if self._bits is not None:
            ctypes.c_uint8.from_address(place + 1).value = self._bits
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class OldExported(Exported):
    """An exporter from before DLPack had versions."""

    def __dlpack__(self, **options: object) -> object:
        if options.keys() - {"stream"}:
            raise TypeError(f"unexpected: {', '.join(options)}")
        return super().__dlpack__()


@pytest.mark.parametrize("exporter", [Exported, OldExported])
@pytest.mark.parametrize(
    ("code", "item", "name"),
    [
        (None, np.float32, "f32"),
        (None, np.int64, "i64"),
        (None, np.bool_, "bool"),
        (4, np.uint16, "bf16"),
        (10, np.uint8, "e4m3fn"),
        (11, np.uint8, "e4m3fnuz"),
        (12, np.uint8, "e5m2"),
        (13, np.uint8, "e5m2fnuz"),
        (14, np.uint8, "e8m0"),
    ],
)
def test_an_array_of_another_library_is_taken_over_with_its_type(
    exporter: type[Exported], code: int | None, item: type, name: str
) -> None:
    bits: NDArray[np.generic] = np.arange(40).reshape(5, 8).astype(item)
    found = pooldiag.take_census(exporter(bits[:, ::2], code))
    assert found.dtype == name
    assert agree(found, expected(bits[:, ::2], name))


def test_an_array_of_another_library_may_be_of_a_type_that_is_told() -> None:
    assert pooldiag.take_census(Exported(np.array([0x7FFF], np.int16)), dtype="f16").nan == 1


@pytest.mark.parametrize("code", [3, 5, 7, 8, 9, 17])
def test_a_type_that_dlpack_names_and_no_layout_has_is_one_line_and_a_way_out(code: int) -> None:
    with pytest.raises(CensusError, match=f"x: DLPack type {code} of 8 bits times 1 is not known") as raised:
        pooldiag.take_census(Exported(np.zeros(3, np.uint8), code), name="x")
    assert "dtype=" in (raised.value.hint or "")


def test_an_exporter_that_refuses_is_one_line_and_a_way_out() -> None:
    class Refusing(Exported):
        def __dlpack__(self, **_: object) -> object:
            raise BufferError("float8 types are not supported by dlpack")

    with pytest.raises(CensusError, match="x: it cannot be taken over by DLPack: float8 types are") as raised:
        pooldiag.take_census(Refusing(VALUES), name="x")
    assert "view it as unsigned integers" in (raised.value.hint or "")


def test_an_array_on_another_device_is_one_line() -> None:
    array = Exported(VALUES)
    array.device = 8, 0  # Metal
    with pytest.raises(CensusError, match="x: it is on a device that is no CPU and no CUDA GPU"):
        pooldiag.take_census(array, name="x")
    assert array.exports == 0


def test_importing_the_package_imports_neither_numpy_nor_any_room() -> None:
    script = "import sys, pooldiag; sys.exit('numpy' in sys.modules or 'pooldiag.census' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
    with pytest.raises(AttributeError, match="'pooldiag' has no attribute 'nothing'"):
        pooldiag.nothing  # noqa: B018


def test_a_type_that_is_not_known_is_answered_with_those_that_are() -> None:
    with pytest.raises(CensusError) as raised:
        pooldiag.take_census(VALUES, dtype="zzz")
    assert "bf16" in (raised.value.hint or "")
    assert "view it" not in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("array", "shape"),
    [
        (VALUES, (3, 4)),
        (VALUES.T, (4, 3)),
        (np.float32(1), ()),
        (np.zeros((0, 2)), (0, 2)),
        ([[1, 2]], (1, 2)),
        (np.zeros((2, 3), np.complex64), (2, 3, 2)),
    ],
    ids=range(6),
)
def test_the_shape_of_an_array_is_told(array: object, shape: tuple[int, ...]) -> None:
    assert pooldiag.take_census(array).shape == shape


def test_elements_under_a_mask_are_counted_and_that_is_told() -> None:
    found = pooldiag.take_census(np.ma.masked_invalid(VALUES))
    assert (found.n, found.nan) == (12, 1)
    assert found.notes == ("its mask is ignored: the elements under it are counted too",)
    assert pooldiag.take_census(VALUES).notes == ()
