"""`pooldiag census --guess`: the type is found by trying, told with its reason, and taken only where it is alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.cli.command import Said, checked, one_problem

Typed = Callable[..., Said]
NORMAL = np.random.default_rng(6).standard_normal(40_000)


def guessed(typed: Typed, folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    said = typed("census", "--json", "--guess", *words, cwd=folder)
    return said.code, checked(said.out)


def test_the_video_of_the_story_is_f32(tmp_path: Path, typed: Typed) -> None:
    np.full(1024, 0x7FFF0000, "<u4").tofile(tmp_path / "video.bin")
    code, report = guessed(typed, tmp_path, "video.bin")
    assert [guess["dtype"] for guess in report["guesses"][0]["fitting"]] == ["f32"]
    (file,) = report["files"]
    assert (code, file["dtype"], file["nan"]) == (1, "f32", 1024)
    doubts = {guess["dtype"]: guess["doubts"] for guess in report["guesses"][0]["tried"]}
    assert "strided-nan" in doubts["bf16"]


def test_the_next_command_of_a_suspicion_finds_the_type(tmp_path: Path, typed: Typed) -> None:
    NORMAL.astype("<f4").tofile(tmp_path / "x.bin")
    suspected = checked(typed("census", "--json", "--dtype=bf16", "x.bin", cwd=tmp_path).out)
    program, command, *words = suspected["next"].split()
    assert (program, command) == ("pooldiag", "census")
    said = typed(command, *words, cwd=tmp_path)
    assert said.code == 0
    assert "f32 little-endian fits best" in " ".join(said.out.split())
    assert said.out.startswith("No NaN, no infinity: 40000 elements of x.bin\n")


def test_a_byte_order_is_found_and_an_offset_is_kept(tmp_path: Path, typed: Typed) -> None:
    values = NORMAL.astype(">f4")
    (tmp_path / "x.dat").write_bytes(b"h" * 100 + values.tobytes())
    _, report = guessed(typed, tmp_path, "--offset=100", "x.dat")
    (file,) = report["files"]
    assert (file["dtype"], file["n"], file["max"]) == ("f32", 40_000, float(values.max()))
    assert report["guesses"][0]["fitting"][0]["byte_order"] == "big"


def test_types_that_cannot_be_told_apart_are_all_told_and_none_is_taken(tmp_path: Path, typed: Typed) -> None:
    NORMAL.astype(ml_dtypes.float8_e4m3fn).tofile(tmp_path / "x.bin")
    code, report = guessed(typed, tmp_path, "x.bin")
    assert {guess["dtype"] for guess in report["guesses"][0]["fitting"]} >= {"e4m3fn", "e5m2"}
    assert (code, report["files"]) == (2, [])
    assert "cannot be told apart" in report["guesses"][0]["why"]
    said = typed("census", "--guess", "x.bin", cwd=tmp_path)
    assert one_problem(said.err) == "pooldiag: x.bin: no one type fits its bytes"
    assert "Types of x.bin, by 40000 bytes" in said.out


def test_random_bytes_fit_nothing(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "x.bin").write_bytes(np.random.default_rng(0).bytes(200_000))
    code, report = guessed(typed, tmp_path, "x.bin")
    assert (code, report["guesses"][0]["fitting"]) == (2, [])
    assert "No type fits: the bytes look random" in report["guesses"][0]["why"]


def test_a_type_that_numpy_lost_is_guessed_among_those_of_its_size(tmp_path: Path, typed: Typed) -> None:
    np.savez(tmp_path / "x.npz", w=NORMAL.astype(ml_dtypes.bfloat16))
    code, report = guessed(typed, tmp_path, "x.npz")
    (guesses,) = report["guesses"]
    assert {guess["dtype"] for guess in guesses["tried"]} == {"bf16", "f16", "i16"}
    assert (code, report["files"][0]["dtype"], report["files"][0]["nan"]) == (0, "bf16", 0)


def test_each_type_that_numpy_lost_is_guessed(tmp_path: Path, typed: Typed) -> None:
    narrow = np.frombuffer(np.random.default_rng(0).bytes(8000), "V2")
    values = NORMAL.astype(ml_dtypes.bfloat16)
    np.savez(tmp_path / "x.npz", a=values, b=narrow, c=NORMAL, d=values[:30_000])
    code, report = guessed(typed, tmp_path, "x.npz")
    assert [(guesses["tensor"], len(guesses["fitting"])) for guesses in report["guesses"]] == [
        ("a", 1),
        ("b", 0),
        ("d", 1),
    ]
    assert [(file["tensor"], file["dtype"]) for file in report["files"]] == [("a", "bf16"), ("c", "f64"), ("d", "bf16")]
    assert code == 2
    assert [problem["problem"] for problem in report["problems"]] == ["x.npz::b: no one type fits its bytes"]


def test_a_file_that_says_its_type_is_counted_as_it_says(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "x.npy", NORMAL)
    code, report = guessed(typed, tmp_path, "x.npy")
    assert (code, report["guesses"], report["files"][0]["dtype"]) == (0, [], "f64")


def test_only_a_sample_of_a_long_file_is_looked_at(tmp_path: Path, typed: Typed) -> None:
    np.tile(NORMAL.astype("<f4"), 20).tofile(tmp_path / "x.bin")
    _, report = guessed(typed, tmp_path, "x.bin")
    (guesses,) = report["guesses"]
    assert (guesses["sample_bytes"], guesses["file_bytes"]) == (2**20, 3_200_000)
    assert report["files"][0]["n"] == 800_000


@pytest.mark.parametrize("data", [b"", b"a"])
def test_what_is_too_short_is_told(data: bytes, tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "x.bin").write_bytes(data)
    said = typed("census", "--guess", "x.bin", cwd=tmp_path)
    assert said.code == 2
    assert one_problem(said.err)
