"""Reports of `census` that the renderers are looked at with: tensors that were counted as the command does it."""

import io
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pooldiag.census.comparison import Operand, compare
from pooldiag.census.files import FORMATS
from pooldiag.census.files.format import Declared
from pooldiag.census.layouts import LAYOUTS
from pooldiag.census.tensors import count_tensor, list_tensors
from pooldiag.census.type_guesses import guess_types
from pooldiag.model.censuses import CensusProblem, CensusReport, CountedTensor
from pooldiag.model.comparisons import Comparison
from pooldiag.model.counts import Census
from tests.render.attribute_samples import HOSTILE

NORMAL = np.random.default_rng(5).standard_normal(8 * 24 * 64).astype("<f4")


def counted(
    data: bytes, dtype: str, *, path: str, tensor: str | None = None, shape: tuple[int, ...] | None = None
) -> Census:
    declared = Declared(layout=LAYOUTS[dtype], shape=shape)
    listing = list_tensors(io.BytesIO(data), declared, path=path, wanted=FORMATS["raw"])
    census = count_tensor(listing, listing.tensors[0], sha256=False, mapped=True)
    return replace(census, tensor=tensor)


def told(census: Census, comparison: Comparison | None = None) -> CountedTensor:
    """A map of one color is not kept."""
    one_color = census.nan == census.n or not census.nan + census.inf
    return CountedTensor(census=replace(census, blocks=None) if one_color else census, comparison=comparison)


def video() -> Census:
    return counted(np.full(1024, 0x7FFF0000, "<u4").tobytes(), "f32", path="video.bin")


def video_as_bf16() -> Census:
    return counted(np.full(1024, 0x7FFF0000, "<u4").tobytes(), "bf16", path="video.bin")


def clean(name: str = "layers.0.weight") -> Census:
    return counted(NORMAL.tobytes(), "f32", path="model.npz", tensor=name, shape=(8, 24, 64))


def tile() -> Census:
    """A tensor of which rows 4 to 15, columns 32 to 47 of the fourth tile are NaN, and one element is infinite."""
    values = NORMAL.reshape(8, 24, 64).copy()
    values[3, 4:16, 32:48] = np.nan
    values[6, 20, 5] = -np.inf
    return counted(values.tobytes(), "f32", path="model.npz", tensor="layers.1.weight", shape=(8, 24, 64))


def strip() -> Census:
    """A stream without a shape whose last third is NaN."""
    values = NORMAL[:3000].copy()
    values[2000:] = np.nan
    return replace(counted(values.tobytes(), "f32", path="-"), shape=None)


def integers() -> Census:
    return counted(np.arange(-4, 60, dtype="<i4").tobytes(), "i32", path="ids.bin")


def compared(here: NDArray[np.float32], there: NDArray[np.float32], *, path: str, ref: str) -> CountedTensor:
    sides = [
        Operand(file=io.BytesIO(values.tobytes()), path=name, layout=LAYOUTS["f32"], shape=(len(values),))
        for name, values in ((path, here), (ref, there))
    ]
    return told(counted(here.tobytes(), "f32", path=path), compare(*sides))


def against() -> CensusReport:
    other = NORMAL.copy()
    other[100:105] += np.float32(0.25)
    nan = NORMAL.copy()
    nan[7] = np.nan
    return CensusReport(
        files=(
            compared(NORMAL, NORMAL, path="a/same.bin", ref="b/same.bin"),
            compared(other, NORMAL, path="a/other.bin", ref="b/other.bin"),
            compared(nan, NORMAL, path="a/nan.bin", ref="b/nan.bin"),
        ),
        reference="b",
        here_only=("a/new.bin",),
        there_only=tuple(f"b/old{number}.bin" for number in range(11)),
        skipped=3,
    )


def hostile() -> CensusReport:
    name = "a\x1b[31m\udcff\u202e[b]" + "long" * 60
    return CensusReport(
        files=(told(replace(video(), path=name)), told(replace(clean(), path="x", tensor=f"t\n{name}"))),
        problems=(CensusProblem(path=name, problem=f"{name}: is empty", hint="was\nit?"),),
        notes=(name, HOSTILE),
        next="pooldiag census --guess 'a\x1b[31m\udcff'",
        next_purpose="to see which type fits",
    )


REPORTS: dict[str, CensusReport] = {
    "census-video": CensusReport(files=(told(video()),)),
    "census-suspected": CensusReport(
        files=(told(video_as_bf16()),),
        next="pooldiag census --guess video.bin",
        next_purpose="to see which type fits",
    ),
    "census-clean": CensusReport(files=(told(clean()),)),
    "census-tile": CensusReport(files=(told(tile()),)),
    "census-strip": CensusReport(files=(told(strip()),)),
    "census-several": CensusReport(
        files=(told(clean()), told(tile()), told(video()), told(integers())),
        problems=(
            CensusProblem(path="cut.npy", problem="cut.npy: the tensor lacks 4 of 40 bytes", hint="was it cut?"),
        ),
        skipped=2,
        partial=True,
    ),
    "census-against": against(),
    "census-different": CensusReport(files=against().files[1:2], reference="b/other.bin"),
    "census-guess": CensusReport(
        files=(told(replace(clean(), tensor=None, notes=("a note",))),),
        guesses=(guess_types(NORMAL.tobytes(), path="model.bin", file_bytes=NORMAL.nbytes),),
    ),
    "census-hostile": hostile(),
    "census-nothing": CensusReport(
        problems=(CensusProblem(path="no.bin", problem="no.bin: cannot be read: No such file or directory"),)
    ),
}
