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


def test_a_type_can_have_any_of_its_names_and_be_left_to_the_file(target: Path, tmp_path: Path) -> None:
    (tmp_path / "make" / "x.bin").write_bytes(bytes(8))
    np.save(tmp_path / "make" / "y.npy", GOOD)
    report = diagnose("--outputs=x.bin:bfloat16", "--outputs=y.npy:auto", target, cwd=tmp_path)
    assert {path: census["dtype"] for path, census in outputs(report).items()} == {"x.bin": "bf16", "y.npy": "f32"}
    assert report["status"] == "green"


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
