"""Arrays on a GPU: the kernel compiled for real GPUs and run by an emulator, and every way in which CuPy may fail.

The tests marked `gpu` are the only ones that run on one.
"""

import ctypes
import io
import math
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

import pooldiag
from pooldiag.census import device
from pooldiag.census.device import kernel_options, kernel_source, open_gpu_array
from pooldiag.census.file_counts import take_census as census_of_file
from pooldiag.census.layouts import LAYOUTS, CensusError, Layout
from pooldiag.census.pieces import tally_pieces
from pooldiag.census.places import BlockPlan
from pooldiag.model.counts import Census
from tests.census.fake_cupy import Interface, fake_cupy
from tests.census.oracle import comparable, pack
from tests.census.test_arrays import Exported
from tests.census.test_file_counts import corners

KERNEL = Path(device.__file__).with_name("kernel.cu")
ON_GPU = [layout for layout in LAYOUTS.values() if layout.per_item == 1]
NVRTC_SUCCESS = 0


@pytest.fixture(scope="module")
def emulator(compiled: Callable[..., Path]) -> ctypes.CDLL:
    """Compile the kernel for this CPU."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile the emulator")
    source = Path(__file__).with_name("emulator.cpp").read_text()
    flags = ["-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", f'-DKERNEL="{KERNEL}"']
    library = compiled("emulator", source, *flags, includes=(KERNEL,))
    return ctypes.CDLL(str(library))


@pytest.fixture
def cupy(emulator: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """Install a CuPy that has the emulator for a GPU, with parts replaced by what the test gives."""

    def install(**broken: object) -> ModuleType:
        module = fake_cupy(emulator, **broken)
        monkeypatch.setitem(sys.modules, "cupy", module)
        return module

    return install


def some_patterns(layout: Layout, chance: random.Random) -> list[int]:
    few = [chance.randrange(2**layout.bits) for _ in range(chance.choice([1, 2, 300]))]
    pool = chance.choice([corners(layout), few])
    patterns: list[int] = []
    while len(patterns) < 1500:
        patterns += [chance.choice(pool)] * chance.choice([1, 1, 1, chance.randrange(1, 40), 600])
    return patterns[: chance.choice([1, 3, 40, 300, 1500])]


def without_findings(census: Census) -> Census:
    return comparable(replace(census, findings=(), sha256=""))


@pytest.mark.parametrize("layout", ON_GPU, ids=[layout.name for layout in ON_GPU])
@pytest.mark.parametrize("piece_bytes", [512, 2**19])
def test_the_kernel_counts_what_the_host_counts(
    layout: Layout, piece_bytes: int, cupy: Callable[..., ModuleType]
) -> None:
    cupy()
    chance = random.Random(f"{layout.name} {piece_bytes}")
    for shift in (0, 1):  # with and without loads of several elements at once
        patterns = some_patterns(layout, chance)
        array = np.array([0] * shift + patterns, f"u{layout.item_bytes}")[shift:]
        plan = BlockPlan(limit=16)
        opened = open_gpu_array(Interface(array), dtype=layout.name, name="x")
        tally, _ = tally_pieces(opened, layout, blocks=plan, piece_bytes=piece_bytes)
        on_host = census_of_file(io.BytesIO(pack(patterns, layout)), path="x", layout=layout, blocks=plan)
        assert without_findings(tally.census("x")) == without_findings(on_host)


def test_a_gpu_array_is_counted_there_and_says_so(cupy: Callable[..., ModuleType]) -> None:
    cupy()
    array = np.ones((300, 700), np.float32)
    array[-1, 5] = math.nan
    found = pooldiag.take_census(Interface(array), name="video")
    assert (found.path, found.dtype, found.nan, found.nan_runs.first) == ("video", "f32", 1, 299 * 700 + 5)
    assert found.notes == (
        "counted on GPU 0 (Emulated); 1 of 2 pieces hold NaN or infinities, and were counted on the host",
    )
    assert pooldiag.take_census(Interface(array[:10])).notes == ("counted on GPU 0 (Emulated)",)


@pytest.mark.parametrize(
    "array", [np.zeros((0, 2), np.float32), np.array(2, np.float32), np.arange(60, dtype=np.float32).reshape(6, 10).T]
)
def test_a_gpu_array_of_any_shape_is_counted(array: NDArray[np.float32], cupy: Callable[..., ModuleType]) -> None:
    cupy()
    found, right = pooldiag.take_census(Interface(array)), pooldiag.take_census(array)
    assert replace(found, notes=()) == right


def test_a_type_that_the_interface_has_no_word_for_is_taken_from_the_arrays_own(
    cupy: Callable[..., ModuleType],
) -> None:
    cupy()
    array = Interface(np.array([0x7FFF, 0x3F80], np.uint16), typestr="|V2", dtype="torch.bfloat16")
    found = pooldiag.take_census(array)
    assert (found.dtype, found.nan, found.maximum) == ("bf16", 1, 1)


def test_a_gpu_array_that_speaks_dlpack_alone_is_counted_there(cupy: Callable[..., ModuleType]) -> None:
    cupy()
    array = Exported(np.array([0x7FFF, 0x3F80], np.uint16), 4)
    array.device = 2, 0
    found = pooldiag.take_census(array)
    assert (found.dtype, found.nan, found.notes) == (
        "bf16",
        1,
        ("counted on GPU 0 (Emulated); 1 of 1 pieces hold NaN or infinities, and were counted on the host",),
    )


class WithCopy(Interface):
    """An array of a library that copies to the host, as torch does."""

    def cpu(self) -> NDArray[np.generic]:
        return self._array


def refuse(error: Exception) -> Callable[..., object]:
    def refusing(*_: object, **__: object) -> object:
        raise error

    return refusing


@pytest.mark.parametrize(
    ("part", "step"),
    [
        ({"is_available": lambda: False}, "CuPy finds no GPU"),
        ({"is_available": refuse(OSError("libcuda is odd\nvery"))}, "whether there is a GPU (libcuda is odd)"),
        ({"zeros": refuse(RuntimeError("cudaErrorInsufficientDriver"))}, "launch a kernel (cudaErrorInsufficient"),
        ({"asarray": refuse(ValueError("Unsupported strides"))}, "cannot take it over (Unsupported strides)"),
    ],
)
def test_a_cupy_that_does_not_work_is_told_and_the_array_copied(
    part: dict[str, object], step: str, cupy: Callable[..., ModuleType]
) -> None:
    cupy(**part)
    found = pooldiag.take_census(WithCopy(np.array([1, math.nan], np.float32)))
    (note,) = found.notes
    assert note.startswith("counted on the host, from a copy: ")
    assert step in note
    assert found.nan == 1


def test_without_cupy_the_array_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    (note,) = pooldiag.take_census(WithCopy(np.array([1, math.nan], np.float32))).notes
    assert "CuPy cannot be imported" in note


@pytest.mark.parametrize("typestr", [">f4", "<c8"])
def test_what_the_kernel_does_not_read_is_copied(typestr: str, cupy: Callable[..., ModuleType]) -> None:
    cupy()
    found = pooldiag.take_census(WithCopy(np.ones(4, typestr)))
    assert f"elements of type {typestr} are counted on the host only" in found.notes[0]
    assert found.maximum == 1


def test_an_array_that_cannot_be_copied_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(CensusError, match=r"x: counted on the host, from a copy: CuPy .*no method that copies"):
        pooldiag.take_census(Interface(np.ones(3, np.float32)), name="x")


def test_memory_that_cannot_be_read_is_told_before_a_kernel_touches_it(cupy: Callable[..., ModuleType]) -> None:
    cupy(asarray=refuse(RuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")))
    with pytest.raises(CensusError, match="x: its memory cannot be read: cudaErrorIllegalAddress"):
        pooldiag.take_census(WithCopy(np.ones(3, np.float32)), name="x")


def test_a_kernel_that_fails_is_one_line(cupy: Callable[..., ModuleType]) -> None:
    cupy(RawKernel=lambda *_, **__: refuse(RuntimeError("too many resources requested for launch")))
    with pytest.raises(CensusError, match=r"x: counting on GPU 0 \(Emulated\) failed: too many resources"):
        pooldiag.take_census(WithCopy(np.ones(3, np.float32)), name="x")


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("item_bytes", [1, 2, 4, 8])
def test_nvrtc_compiles_the_kernel(architecture: str, item_bytes: int) -> None:
    nvrtc = load_nvrtc()
    program = ctypes.c_void_p()
    source = kernel_source().encode()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"census.cu", 0, None, None) == NVRTC_SUCCESS
    words = [*kernel_options(item_bytes), f"--gpu-architecture={architecture}"]
    options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    result = nvrtc.nvrtcCompileProgram(program, len(words), options)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert (result, log.value) == (NVRTC_SUCCESS, b"")


def load_nvrtc() -> ctypes.CDLL:
    """Load NVRTC from where the wheels of NVIDIA put it, or from where the loader finds it."""
    wheels = sorted(path for folder in sys.path for path in Path(folder).glob("nvidia/*/lib/libnvrtc.so.*"))
    for name in (*map(str, wheels), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")


@pytest.mark.parametrize(("item_bytes", "architecture"), [(1, "90"), (2, "80"), (4, "80"), (8, "90")])
def test_nvcc_compiles_the_kernel(item_bytes: int, architecture: str, tmp_path: Path) -> None:
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("no nvcc")
    flags = [*kernel_options(item_bytes), "-ptx", f"-arch=compute_{architecture}", "-Werror", "all-warnings"]
    output = tmp_path / "kernel.ptx"
    subprocess.run([compiler, *flags, "-o", str(output), str(KERNEL)], check=True, timeout=120)
    assert ".entry census(" in output.read_text()


@pytest.mark.gpu
@pytest.mark.parametrize("layout", ON_GPU, ids=[layout.name for layout in ON_GPU])
def test_a_gpu_counts_what_the_host_counts(layout: Layout) -> None:
    cupy = pytest.importorskip("cupy")
    if not cupy.is_available():
        pytest.skip("no GPU")
    patterns = np.array(some_patterns(layout, random.Random(layout.name)), f"u{layout.item_bytes}")
    array = np.resize(patterns, 3 * 2**20 + 5)
    found = pooldiag.take_census(cupy.asarray(array), dtype=layout.name)
    assert found.notes[0].startswith("counted on GPU")
    assert comparable(replace(found, notes=())) == comparable(pooldiag.take_census(array, dtype=layout.name))
