"""Declared outputs of every format: counted by the code of `census`, each tensor an output of its own."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.census.files import hostile
from tests.cli.command import Said, arm, attribute, diagnose, one_problem, script

GOOD = np.ones((4, 8), np.float32)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A target that copies what lies in `make` into its output folder."""
    (tmp_path / "make").mkdir()
    return script(tmp_path, f'cp "{tmp_path}"/make/* "$POOLDIAG_OUTPUT_DIR"')


def safetensors(**tensors: np.ndarray[Any, np.dtype[np.float32]]) -> bytes:
    header, data = {}, b""
    for name, values in tensors.items():
        header[name] = hostile.tensor_entry(len(data), len(data) + values.nbytes, shape=list(values.shape))
        data += values.tobytes()
    return hostile.safetensors(header, data)


def outputs(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {census["path"]: census for census in arm(report, "baseline")["outputs"]}


def test_an_array_says_its_type_itself(target: Path, tmp_path: Path) -> None:
    bad = GOOD.astype("<f8")
    bad[1, 2] = np.nan
    np.save(tmp_path / "make" / "out.npy", bad)
    report = diagnose("--outputs=out.npy", target, cwd=tmp_path)
    census = outputs(report)["out.npy"]
    assert (census["dtype"], census["format"], census["shape"]) == ("f64", "npy", [4, 8])
    assert census["nan_runs"]["first"] == 10
    assert report["signature"]["kind"] == "nan"
    assert report["signature"]["place"] == "out.npy"


def test_each_tensor_of_a_file_is_an_output_of_its_own(target: Path, tmp_path: Path) -> None:
    bad = np.full(6, np.inf, np.float32)
    (tmp_path / "make" / "out.safetensors").write_bytes(safetensors(good=GOOD, bad=bad))
    report = diagnose("--outputs=*.safetensors", target, cwd=tmp_path)
    found = outputs(report)
    assert list(found) == ["out.safetensors::good", "out.safetensors::bad"]
    assert (found["out.safetensors::bad"]["tensor"], found["out.safetensors::bad"]["inf"]) == ("bad", 6)
    assert len(found["out.safetensors::good"]["sha256"]) == 64
    assert report["signature"]["place"] == "out.safetensors::bad"


def test_a_type_can_have_any_of_its_names_and_be_left_to_the_file(target: Path, tmp_path: Path) -> None:
    (tmp_path / "make" / "x.bin").write_bytes(bytes(8))
    np.save(tmp_path / "make" / "y.npy", GOOD)
    report = diagnose("--outputs=x.bin:bfloat16", "--outputs=y.npy:auto", target, cwd=tmp_path)
    assert {path: census["dtype"] for path, census in outputs(report).items()} == {"x.bin": "bf16", "y.npy": "f32"}
    assert report["status"] == "green"


def test_a_star_means_the_files_that_say_what_they_are(target: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "make" / "y.npy", GOOD)
    (tmp_path / "make" / "log.txt").write_text("no tensor")
    (tmp_path / "make" / "raw.bin").write_bytes(bytes(8))
    report = diagnose("--outputs=*", target, cwd=tmp_path)
    assert (report["status"], list(outputs(report))) == ("green", ["y.npy"])


@pytest.mark.parametrize(
    ("data", "spec", "problem", "detail"),
    [
        (b"\x93NUMPY\x01\x00", "out.npy", "unreadable", "the file ends within"),
        (b"no array", "out.npy", "unreadable", "no .npy"),
        (b"", "out.bin:f32", "short", "is empty"),
        (b"abc", "out.bin:f32", "short", "no whole number of f32 elements"),
    ],
)
def test_an_output_that_cannot_be_counted_is_red(
    data: bytes, spec: str, problem: str, detail: str, target: Path
) -> None:
    (target.parent / "make" / ("out.bin" if "bin" in spec else "out.npy")).write_bytes(data)
    report = diagnose(f"--outputs={spec}", target, cwd=target.parent)
    (found,) = arm(report, "baseline")["output_problems"]
    assert found["problem"] == problem
    assert detail in (found["detail"] or "")
    assert report["signature"]["kind"] == "count"


def test_a_type_that_the_file_contradicts_is_told(target: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "make" / "out.npy", GOOD)
    report = diagnose("--outputs=out.npy:bf16", target, cwd=tmp_path)
    (found,) = arm(report, "baseline")["output_problems"]
    assert "the tensor is of type f32, as the file says itself, and not bf16" in found["detail"]


def test_a_tensor_that_an_earlier_run_wrote_and_this_one_did_not_is_absent(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.npz", tmp_path / "part.npz"
    np.savez(whole, a=GOOD, b=GOOD)
    np.savez(part, a=GOOD)
    target = script(
        tmp_path,
        f'cp "{whole}" "$POOLDIAG_OUTPUT_DIR/x.npz"; [ -z "$LESS" ] || cp "{part}" "$POOLDIAG_OUTPUT_DIR/x.npz"',
    )
    report = diagnose("--outputs=x.npz", "--arm=bypass=LESS=1", target, cwd=tmp_path)
    assert arm(report, "bypass")["output_problems"] == [{"path": "x.npz::b", "problem": "absent", "detail": None}]
    assert report["signature"]["place"] == "output x.npz::b: absent"


def test_a_real_program_that_writes_arrays_is_counted(tmp_path: Path) -> None:
    program = (
        "import os, numpy as np; out = os.environ['POOLDIAG_OUTPUT_DIR'];"
        "np.save(out + '/a.npy', np.array([1.0, np.nan], np.float16));"
        "np.savez_compressed(out + '/b.npz', w=np.arange(6, dtype=np.int32).reshape(2, 3))"
    )
    target = script(tmp_path, f'exec {sys.executable} -c "{program}"')
    report = diagnose("--outputs=a.npy", "--outputs=*.npz", target, cwd=tmp_path)
    found = outputs(report)
    assert (found["a.npy"]["dtype"], found["a.npy"]["nan"]) == ("f16", 1)
    assert (found["b.npz::w"]["dtype"], found["b.npz::w"]["shape"]) == ("i32", [2, 3])


def test_outputs_are_told_in_the_table(target: Path, tmp_path: Path) -> None:
    (tmp_path / "make" / "out.safetensors").write_bytes(safetensors(bad=np.full(6, np.nan, np.float32)))
    said = attribute("--outputs=*.safetensors", target, cwd=tmp_path, COLUMNS="120")
    assert "out.safetensors::bad, f32" in said.out
    assert "n=6 nan=6 inf=0 zero=0" in said.out


def test_a_type_that_is_not_known_is_refused_with_the_nearest(
    typed: Callable[..., Said], target: Path, tmp_path: Path
) -> None:
    said = typed("attribute", "--no-lock", "--outputs=x.bin:float23", target, cwd=tmp_path)
    assert one_problem(said.err) == "pooldiag: --outputs x.bin:float23: no such element type"
    assert "did you mean float32" in said.err
