"""`attribute`: declared outputs of every format, each tensor an output of its own. No process is started."""

import io
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import pytest

from pooldiag.frameworks import BLACKBOX
from pooldiag.model.arms import Role
from pooldiag.model.attributions import Status
from pooldiag.model.counts import Census
from pooldiag.model.outcomes import OutputFile
from pooldiag.model.readings import SignatureKind
from pooldiag.model.reports import AttributeReport
from pooldiag.model.settings import OutputSpec
from tests.census.files import hostile
from tests.played.commands import BASELINE, attribute_in, switch
from tests.played.suite import PlayedSuite
from tests.played.world import World

GOOD = np.ones((4, 8), np.float32)


def npy(values: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def npz(**tensors: Any) -> bytes:  # noqa: ANN401 - arrays, and an option of NumPy's
    file = io.BytesIO()
    np.savez(file, **tensors)
    return file.getvalue()


def safetensors(**tensors: np.ndarray[Any, np.dtype[np.float32]]) -> bytes:
    header, data = {}, b""
    for name, values in tensors.items():
        header[name] = hostile.tensor_entry(len(data), len(data) + values.nbytes, shape=list(values.shape))
        data += values.tobytes()
    return hostile.safetensors(header, data)


def diagnosed(spec: str, written: Mapping[str, bytes], less: Mapping[str, bytes] | None = None) -> AttributeReport:
    """Run a program that writes these files, and under the bypass, if they are given, `less`."""
    glob, _, dtype = spec.partition(":")
    world = World(
        PlayedSuite(cases=1),
        framework=BLACKBOX,
        facts={"searchable": False},
        written=lambda variables: less if less is not None and "LESS" in variables else written,
    )
    arms = (BASELINE, switch(Role.BYPASS, "LESS"))
    return attribute_in(world, arms=arms, outputs=(OutputSpec(glob=glob, dtype=dtype or None),))


def outputs(report: AttributeReport, arm: int = 0) -> tuple[OutputFile, ...]:
    return report.arms[arm].runs[0].outcome.outputs


def counted(report: AttributeReport) -> dict[str, Census]:
    return {output.path: output.census for output in outputs(report) if output.census is not None}


def place(report: AttributeReport) -> tuple[SignatureKind, str | None]:
    assert report.attribution.signature is not None
    return report.attribution.signature.kind, str(report.attribution.signature.place)


def test_an_array_says_its_type_itself() -> None:
    bad = GOOD.astype("<f8")
    bad[1, 2] = np.nan
    report = diagnosed("out.npy", {"out.npy": npy(bad)})
    census = counted(report)["out.npy"]
    assert (census.dtype, census.format, census.shape) == ("f64", "npy", (4, 8))
    assert census.nan_runs.first == 10
    assert place(report) == (SignatureKind.NAN, "out.npy")


@pytest.mark.parametrize(
    ("dtype", "one", "nan"),
    [
        ("f64", np.float64(1).tobytes(), np.float64("nan").tobytes()),
        ("f16", np.float16(1).tobytes(), np.float16("nan").tobytes()),
        ("bf16", b"\x80\x3f", b"\xc0\x7f"),
    ],
)
def test_every_type_finds_the_same_nan(dtype: str, one: bytes, nan: bytes) -> None:
    report = diagnosed(f"out.bin:{dtype}", {"out.bin": nan * 7 + one * 1017})
    census = counted(report)["out.bin"]
    assert (census.dtype, census.n, census.nan) == (dtype, 1024, 7)
    assert place(report) == (SignatureKind.NAN, "out.bin")


def test_each_tensor_of_a_file_is_an_output_of_its_own() -> None:
    bad = np.full(6, np.inf, np.float32)
    report = diagnosed("*.safetensors", {"out.safetensors": safetensors(good=GOOD, bad=bad)})
    found = counted(report)
    assert list(found) == ["out.safetensors::good", "out.safetensors::bad"]
    assert (found["out.safetensors::bad"].tensor, found["out.safetensors::bad"].inf) == ("bad", 6)
    assert len(found["out.safetensors::good"].sha256) == 64
    assert place(report) == (SignatureKind.NAN, "out.safetensors::bad")


def test_a_star_means_the_files_that_say_what_they_are() -> None:
    report = diagnosed("*", {"y.npy": npy(GOOD), "log.txt": b"no tensor", "raw.bin": bytes(8)})
    assert (report.attribution.status, list(counted(report))) == (Status.GREEN, ["y.npy"])


@pytest.mark.parametrize(
    ("data", "spec", "problem", "detail"),
    [
        (b"\x93NUMPY\x01\x00", "out.npy", "unreadable", "the file ends within"),
        (b"no array", "out.npy", "unreadable", "no .npy"),
        (b"", "out.bin:f32", "short", "is empty"),
        (b"abc", "out.bin:f32", "short", "no whole number of f32 elements"),
    ],
)
def test_an_output_that_cannot_be_counted_is_red(data: bytes, spec: str, problem: str, detail: str) -> None:
    report = diagnosed(spec, {PurePath(spec.partition(":")[0]).name: data})
    (found,) = outputs(report)
    assert found.problem == problem
    assert detail in (found.detail or "")
    assert place(report)[0] is SignatureKind.COUNT


def test_a_type_that_the_file_contradicts_is_told() -> None:
    (found,) = outputs(diagnosed("out.npy:bf16", {"out.npy": npy(GOOD)}))
    assert "the tensor is of type f32, as the file says itself, and not bf16" in (found.detail or "")


def test_a_tensor_that_an_earlier_run_wrote_and_this_one_did_not_is_absent() -> None:
    report = diagnosed("x.npz", {"x.npz": npz(a=GOOD, b=GOOD)}, less={"x.npz": npz(a=GOOD)})
    assert outputs(report, 1)[1:] == (OutputFile(path="x.npz::b", problem="absent"),)
    assert place(report) == (SignatureKind.COUNT, "output x.npz::b: absent")


def test_an_output_that_is_shorter_than_in_an_earlier_run_is_short() -> None:
    report = diagnosed("out.bin:f32", {"out.bin": bytes(8)}, less={"out.bin": bytes(4)})
    (found,) = outputs(report, 1)
    assert (found.problem, found.detail) == ("short", "1 of 2 elements")
    assert place(report) == (SignatureKind.COUNT, "output out.bin: short")
