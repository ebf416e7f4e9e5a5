"""`pooldiag census --against`: files, folders and evidence of runs, tensor by tensor."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.command import Said, checked, diagnose, one_problem, script

Typed = Callable[..., Said]
NORMAL = np.random.default_rng(4).standard_normal(500).astype("<f4")


@pytest.fixture
def against(typed: Typed, tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    def run(*words: str | Path) -> tuple[int, dict[str, Any]]:
        said = typed("census", "--json", *words, cwd=tmp_path)
        return said.code, checked(said.out)

    return run


Against = Callable[..., tuple[int, dict[str, Any]]]


def sameness(report: dict[str, Any]) -> dict[str, str]:
    return {file["path"]: file["comparison"]["sameness"] for file in report["files"] if "comparison" in file}


def test_equal_files_are_equal_and_the_exit_code_is_0(tmp_path: Path, against: Against) -> None:
    NORMAL.tofile(tmp_path / "a.bin")
    NORMAL.tofile(tmp_path / "b.bin")
    code, report = against("--dtype=f32", "a.bin", "--against=b.bin")
    assert (code, sameness(report)) == (0, {"a.bin": "bitwise-equal"})
    assert report["reference"] == "b.bin"


def test_a_difference_is_an_exit_code_of_1_and_told_by_its_place(tmp_path: Path, against: Against) -> None:
    NORMAL.tofile(tmp_path / "b.bin")
    other = NORMAL.copy()
    other[[17, 40]] += 1
    other.tofile(tmp_path / "a.bin")
    code, report = against("--dtype=f32", "a.bin", "--against=b.bin")
    comparison = report["files"][0]["comparison"]
    assert (code, comparison["value_different"], comparison["first"]["index"]) == (1, 2, 17)


def test_other_bits_of_nan_are_told_and_the_nan_itself_is_the_exit_code(tmp_path: Path, against: Against) -> None:
    for name, bits in (("a.bin", 0x7FC00000), ("b.bin", 0x7FFFFFFF)):
        values = NORMAL.copy()
        values.view("<u4")[3] = bits
        values.tofile(tmp_path / name)
    code, report = against("--dtype=f32", "a.bin", "--against=b.bin")
    assert (code, sameness(report)) == (1, {"a.bin": "equal-but-for-nan-bits"})


def test_a_raw_reference_is_of_the_type_of_what_is_compared_with_it(tmp_path: Path, against: Against) -> None:
    np.save(tmp_path / "a.npy", NORMAL)
    NORMAL.tofile(tmp_path / "b.bin")
    assert against("a.npy", "--against=b.bin") == (0, against("a.npy", "--against=b.bin")[1])
    assert sameness(against("a.npy", "--against=b.bin")[1]) == {"a.npy": "bitwise-equal"}


def test_tensors_go_together_by_name_and_a_single_one_with_a_single_one(tmp_path: Path, against: Against) -> None:
    np.savez(tmp_path / "a.npz", w=NORMAL, only_here=NORMAL)
    np.savez(tmp_path / "b.npz", only_there=NORMAL, w=NORMAL)
    code, report = against("a.npz", "--against=b.npz")
    assert [file["tensor"] for file in report["files"] if "comparison" in file] == ["w"]
    assert (report["here_only"], report["there_only"]) == (["a.npz::only_here"], ["b.npz::only_there"])
    assert code == 1
    assert against("--tensor=w", "a.npz", "--against=b.npz")[0] == 0
    np.save(tmp_path / "c.npy", NORMAL)
    np.savez(tmp_path / "d.npz", w=NORMAL)
    assert sameness(against("c.npy", "--against=d.npz")[1]) == {"c.npy": "bitwise-equal"}


def test_folders_are_compared_file_by_file(tmp_path: Path, against: Against) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / "deep").mkdir(parents=True)
        np.save(tmp_path / folder / "deep" / "x.npy", NORMAL)
        (tmp_path / folder / "notes.txt").write_text("no tensor")
    np.save(tmp_path / "a" / "new.npy", NORMAL)
    np.save(tmp_path / "b" / "old.npy", NORMAL)
    code, report = against("a", "--against=b")
    assert (code, sameness(report)) == (1, {"a/deep/x.npy": "bitwise-equal"})
    assert (report["here_only"], report["there_only"]) == (["a/new.npy"], ["b/old.npy"])
    assert len(report["files"]) == 2


def test_a_file_is_compared_with_that_of_its_name_in_a_folder(tmp_path: Path, against: Against) -> None:
    (tmp_path / "b").mkdir()
    for path in ("x.npy", "b/x.npy", "y.npy"):
        np.save(tmp_path / path, NORMAL)
    code, report = against("x.npy", "y.npy", "--against=b")
    assert (code, sameness(report), report["here_only"]) == (1, {"x.npy": "bitwise-equal"}, ["y.npy"])


def test_runs_of_two_diagnoses_go_together_by_their_arms(tmp_path: Path, against: Against) -> None:
    target = script(tmp_path, 'printf "aaaabbbb" > "$POOLDIAG_OUTPUT_DIR/out.bin"; exit "${CODE:-0}"')
    words = ("--framework=blackbox", "--outputs=out.bin:f32", "--repeat=2", target)
    first, second = (diagnose(*words, cwd=tmp_path)["evidence"] for _ in range(2))
    code, report = against("--dtype=f32", first, f"--against={second}")
    assert code == 0
    assert len(sameness(report)) == 2
    assert set(sameness(report).values()) == {"bitwise-equal"}
    assert report["here_only"] == report["there_only"] == []


def test_a_reference_that_cannot_be_read_is_told_and_the_census_is_taken(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "a.npy", NORMAL)
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY")
    said = typed("census", "a.npy", "--against=b.npy", cwd=tmp_path)
    assert said.code == 2
    assert "b.npy: the file ends within the magic of .npy" in one_problem(said.err)
    assert "500 elements of a.npy" in said.out


def test_types_that_no_type_holds_exactly_are_not_compared(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "a.npy", NORMAL.astype("<f8"))
    np.save(tmp_path / "b.npy", np.arange(500, dtype="<i8"))
    said = typed("census", "a.npy", "--against=b.npy", cwd=tmp_path)
    assert said.code == 2
    assert "f64 and i64 (b.npy) cannot be compared exactly" in one_problem(said.err)


def test_what_can_be_read_once_is_counted_and_not_compared(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "b.npy", NORMAL)
    said = typed("census", "--dtype=f32", "--shape=8", "/dev/zero", "--against=b.npy", cwd=tmp_path)
    assert said.code == 2
    assert "/dev/zero: it can be read once: it is counted, and not compared" in one_problem(said.err)
    assert "8 elements of /dev/zero" in said.out


def test_a_raw_file_is_equal_to_a_tensor_of_any_shape_with_its_bytes(tmp_path: Path, against: Against) -> None:
    np.save(tmp_path / "a.npy", NORMAL.reshape(20, 25))
    NORMAL.tofile(tmp_path / "b.bin")
    for here, there in (("a.npy", "b.bin"), ("b.bin", "a.npy")):
        words = ["--dtype=f32"] if here == "b.bin" else []
        code, report = against(*words, here, f"--against={there}")
        assert (code, sameness(report)) == (0, {here: "bitwise-equal"})
    assert against("--dtype=f32", "--shape=25,20", "b.bin", "--against=a.npy")[0] == 1


def test_tensors_in_two_orders_are_not_compared(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "c.npy", NORMAL.reshape(20, 25))
    np.save(tmp_path / "f.npy", np.asfortranarray(NORMAL.reshape(20, 25)))
    said = typed("census", "f.npy", "--against=c.npy", cwd=tmp_path)
    assert said.code == 2
    assert "in another order than those of c.npy: orders differ, not compared" in one_problem(said.err)
    assert "Different" not in said.out
    assert typed("census", "f.npy", "--against=f.npy", cwd=tmp_path).code == 0


def test_an_order_that_only_has_another_name_is_compared(tmp_path: Path, against: Against) -> None:
    np.save(tmp_path / "c.npy", NORMAL.reshape(1, 500))
    header = (tmp_path / "c.npy").read_bytes()
    (tmp_path / "f.npy").write_bytes(header.replace(b"'fortran_order': False", b"'fortran_order': True "))
    assert against("f.npy", "--against=f.npy")[0] == 0
    code, report = against("c.npy", "--against=f.npy")
    assert (code, sameness(report)) == (0, {"c.npy": "bitwise-equal"})


def test_a_file_without_a_counterpart_is_in_the_title(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "b").mkdir()
    for path in ("x.npy", "y.npy", "b/x.npy"):
        np.save(tmp_path / path, NORMAL)
    for words in (("y.npy",), ("x.npy", "y.npy")):
        said = typed("census", *words, "--against=b", cwd=tmp_path)
        assert (said.code, said.out.splitlines()[0]) == (
            1,
            "Different: 1 stands on one side only; no NaN, no infinity",
        )


def test_another_size_is_told_as_such(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "a.npy", NORMAL[:400])
    np.save(tmp_path / "b.npy", NORMAL)
    said = typed("census", "a.npy", "--against=b.npy", cwd=tmp_path)
    assert said.code == 1
    assert "another size, 400 here and 500 in the reference" in " ".join(said.out.split())
    assert said.out.splitlines()[1].startswith("Another size, 400 here")


def test_one_of_anything_is_no_plural(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "a").mkdir()
    for path in ("x.npy", "a/x.npy", "a/y.npy"):
        np.save(tmp_path / path, NORMAL[:1])
    assert "No NaN, no infinity: 1 element of x.npy" in typed("census", "x.npy", cwd=tmp_path).out
    (tmp_path / "odd.bin").write_bytes(bytes(5))
    said = typed("census", "--dtype=f32", "--shape=1", "odd.bin", cwd=tmp_path)
    assert "1 byte after the elements is not counted" in said.out
    said = typed("census", "x.npy", "a/y.npy", "--against=a/x.npy", cwd=tmp_path)
    assert "0 of 2 compared tensors differ from a/x.npy." in said.out
