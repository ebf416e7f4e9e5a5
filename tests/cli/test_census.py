"""`pooldiag census`: what is counted, what is told of it, and what the exit code is."""

import base64
import hashlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from pooldiag.census.files import FORMATS
from pooldiag.census.layouts import LAYOUTS
from pooldiag.render import FORMAT_NAMES
from tests.census.files import hostile
from tests.cli.command import Said, checked, environment, one_problem, pooldiag

Typed = Callable[..., Said]
NORMAL = np.random.default_rng(2).standard_normal((4, 6, 8)).astype(np.float32)


def save(path: Path, **tensors: NDArray[np.generic]) -> None:
    np.savez(path, allow_pickle=False, **tensors)


@pytest.fixture
def video(tmp_path: Path) -> Path:
    """The output of the story: every element is bf16's canonical NaN of NVIDIA, widened."""
    path = tmp_path / "video.bin"
    path.write_bytes(struct.pack("<I", 0x7FFF0000) * 1024)
    return path


@pytest.fixture
def report(typed: Typed, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run `census --json` in the test's folder; the report is what the schema says, and the exit code is of it."""

    def run(*words: str | Path) -> dict[str, Any]:
        said = typed("census", "--json", *words, cwd=tmp_path)
        found = checked(said.out)
        bad = any(file["nan"] + file["inf"] for file in found["files"])
        different = any(file.get("comparison", {}).get("sameness") == "different" for file in found["files"])
        differs = bool(different or found["here_only"] or found["there_only"])
        assert said.code == (2 if found["problems"] else int(bad or differs)), said.err
        assert (said.err == "") == (not found["problems"])
        return found

    return run


Report = Callable[..., dict[str, Any]]


def test_the_video_of_the_story_is_one_pattern_as_nvidia_gpus_write_it(video: Path, report: Report) -> None:
    (file,) = report("--dtype=f32", video)["files"]
    assert (file["n"], file["nan"], file["inf"], file["zero"]) == (1024, 1024, 0, 0)
    assert file["nan_patterns"] == [{"bits": "0x7fff0000", "count": 1024}]
    assert file["first"] == [{"value": "nan", "bits": "0x7fff0000"}] * 8
    rules = {finding["rule"]: finding for finding in file["findings"]}
    assert list(rules) == ["uniform-nan", "nvidia-nan"]
    assert "Garbage read upstream is not excluded" in rules["uniform-nan"]["text"]


def test_the_video_written_as_bf16_has_the_canonical_pattern_itself(tmp_path: Path, report: Report) -> None:
    (tmp_path / "video.bin").write_bytes(struct.pack("<H", 0x7FFF) * 1024)
    (file,) = report("--dtype=bfloat16", "video.bin")["files"]
    assert (file["dtype"], file["n"], file["nan"]) == ("bf16", 1024, 1024)
    assert file["nan_patterns"] == [{"bits": "0x7fff", "count": 1024}]
    assert "nvidia-nan" in {finding["rule"] for finding in file["findings"]}


def test_the_video_read_as_a_narrower_type_is_suspected_and_the_next_command_guesses(
    video: Path, report: Report
) -> None:
    found = report("--dtype=bf16", video.name)
    (finding,) = found["files"][0]["findings"]
    assert finding["rule"] == "strided-nan"
    assert "Try f32" in finding["text"]
    assert found["next"] == "pooldiag census --guess video.bin"


def test_normal_numbers_read_as_a_narrower_type_are_suspected(tmp_path: Path, report: Report) -> None:
    np.random.default_rng(0).standard_normal(100_000).astype("<f4").tofile(tmp_path / "x.bin")
    (file,) = report("--dtype=bf16", "x.bin")["files"]
    (finding,) = (found for found in file["findings"] if found["rule"] == "wider-type")
    assert finding["confidence"] == "very high"
    assert file["nan_at_even"] == file["nan"]


def test_a_clean_tensor_is_clean(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "x.npy", NORMAL)
    said = typed("census", "x.npy", cwd=tmp_path)
    assert said.code == 0
    assert said.out.startswith("No NaN, no infinity: 192 elements of x.npy\n")
    assert said.err == ""


def test_an_infinity_alone_is_found(tmp_path: Path, report: Report) -> None:
    values = NORMAL.copy()
    values[1, 2, 3] = -np.inf
    np.save(tmp_path / "x.npy", values)
    found = report("x.npy")
    assert (found["files"][0]["inf"], found["files"][0]["negative_inf"]) == (1, 1)
    assert found["first_nan"] is None
    assert found["first_not_finite"] == {"path": "x.npy", "tensor": None}


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.safetensors", "x.unknown"])
def test_a_format_is_found_by_its_content(name: str, tmp_path: Path, report: Report) -> None:
    values = NORMAL.copy()
    values[3, 5, 7] = np.nan
    with (tmp_path / name).open("wb") as file:
        if name == "x.npz":
            np.savez_compressed(file, weight=values)
        elif name == "x.safetensors":
            entry = hostile.tensor_entry(0, values.nbytes, shape=list(values.shape))
            file.write(hostile.safetensors({"weight": entry}, values.tobytes()))
        else:
            np.save(file, values)
    (found,) = report(name)["files"]
    assert (found["dtype"], found["shape"], found["n"], found["nan"]) == ("f32", [4, 6, 8], 192, 1)
    assert found["nan_runs"]["first"] == 191
    assert found["format"] == {"x.unknown": "npy"}.get(name, name[2:])


@pytest.mark.parametrize("dtype", LAYOUTS)
def test_every_type_can_be_named(dtype: str, tmp_path: Path, report: Report) -> None:
    (tmp_path / "x.bin").write_bytes(bytes(64))
    (found,) = report(f"--dtype={dtype}", "x.bin")["files"]
    assert found["dtype"] == dtype
    assert found["n"] == 512 // LAYOUTS[dtype].bits


def test_a_big_endian_file_with_a_header_and_a_shape(tmp_path: Path, report: Report) -> None:
    values = NORMAL.astype(">f4")
    (tmp_path / "x.bin").write_bytes(b"h" * 1024 + values.tobytes())
    words = ("--dtype=f32", "--offset=1KiB", "--byte-order=big", "--shape=4,6,8", "x.bin")
    (found,) = report(*words)["files"]
    assert found["shape"] == [4, 6, 8]
    assert found["max"] == float(NORMAL.max())
    assert found["max_index"] == int(NORMAL.argmax())


def test_a_type_that_numpy_lost_has_to_be_named(tmp_path: Path, report: Report) -> None:
    np.save(tmp_path / "x.npy", NORMAL.astype(ml_dtypes.bfloat16))
    (problem,) = report("x.npy")["problems"]
    assert "elements of 2 bytes, and the file does not say of what type" in problem["problem"]
    (found,) = report("--dtype=bf16", "x.npy")["files"]
    assert (found["dtype"], found["n"]) == ("bf16", 192)


def test_a_type_that_the_file_itself_contradicts_is_refused(tmp_path: Path, report: Report) -> None:
    np.save(tmp_path / "x.npy", NORMAL)
    (problem,) = report("--dtype=bf16", "x.npy")["problems"]
    assert problem["problem"] == "x.npy: the tensor is of type f32, as the file says itself, and not bf16"
    assert report("--dtype=float32", "x.npy")["files"]
    (raw,) = report("--dtype=bf16", "--input-format=raw", "x.npy")["files"]
    assert raw["n"] == (tmp_path / "x.npy").stat().st_size // 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--shape=7,9",), "x.npy: --shape cannot be given for npy, which says it itself"),
        (("--offset=4", "--byte-order=big"), "x.npy: --offset and --byte-order cannot be given for npy"),
        (("--input-format=npz",), "x.npy: the table of contents of this zip file is damaged"),
        (("--tensor=weight",), "--tensor 'weight' names no tensor"),
    ],
)
def test_what_a_file_says_itself_is_not_said_again(
    words: tuple[str, ...], problem: str, tmp_path: Path, typed: Typed
) -> None:
    np.save(tmp_path / "x.npy", NORMAL)
    said = typed("census", *words, "x.npy", cwd=tmp_path)
    assert said.code == 2
    assert problem in one_problem(said.err)


def test_a_shape_that_does_not_fit_is_told_with_both_sizes(video: Path, tmp_path: Path, typed: Typed) -> None:
    said = typed("census", "--dtype=f32", "--shape=5,5,100", video, cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert "5x5x100 elements of f32 have 10000 bytes, the file has 4096 of them" in one_problem(said.err)
    said = typed("census", "--dtype=f32", "--shape=10,10", video, cwd=tmp_path)
    assert "- 3696 bytes after the elements are not counted" in said.out


def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_being_counted(
    video: Path, tmp_path: Path, report: Report
) -> None:
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00")
    found = report("--dtype=f32", "no.bin", "cut.npy", video.name)
    assert [problem["path"] for problem in found["problems"]] == ["no.bin", "cut.npy"]
    assert found["problems"][0]["problem"] == "no.bin: cannot be read: No such file or directory"
    assert [file["nan"] for file in found["files"]] == [1024]


def test_a_tensor_that_cannot_be_counted_is_told_and_the_others_are_counted(tmp_path: Path, report: Report) -> None:
    np.savez(tmp_path / "x.npz", a=NORMAL, b=np.array([{}], dtype=object), c=NORMAL)
    found = report("x.npz")
    assert [file["tensor"] for file in found["files"]] == ["a", "c"]
    (problem,) = found["problems"]
    assert "'b' holds pickled Python objects, which are never read" in problem["problem"]


@pytest.mark.parametrize(
    ("data", "words", "problem"),
    [
        (b"", ("--dtype=f32",), "x.bin: is empty: there is nothing to count"),
        (b"", (), "x.bin: is empty: there is nothing to count"),
        (b"a", ("--dtype=f32",), "1 bytes are no whole number of f32 elements of 4 bytes, 1 too many"),
        (b"a", (), "x.bin: a raw file does not say what type it is of"),
        (b"abcd", ("--dtype=f32", "--offset=4"), "no element follows the 4 bytes of --offset"),
        (b"abcd", ("--dtype=f32", "--offset=8"), "--offset 8 is beyond the end of the file, 4 bytes"),
    ],
)
def test_a_raw_file_without_a_whole_element_is_told(
    data: bytes, words: tuple[str, ...], problem: str, tmp_path: Path, typed: Typed
) -> None:
    (tmp_path / "x.bin").write_bytes(data)
    said = typed("census", *words, "x.bin", cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert problem in one_problem(said.err)


def test_one_byte_is_one_element_of_a_small_type(tmp_path: Path, report: Report) -> None:
    (tmp_path / "x.bin").write_bytes(b"\x7f")
    (found,) = report("--dtype=e4m3fn", "x.bin")["files"]
    assert (found["n"], found["nan"]) == (1, 1)


def test_a_tensor_without_elements_that_its_file_describes_is_no_problem(tmp_path: Path, report: Report) -> None:
    np.save(tmp_path / "x.npy", np.empty((0, 3), np.float32))
    (found,) = report("x.npy")["files"]
    assert (found["n"], found["shape"], found["min"]) == (0, [0, 3], None)


def test_a_format_that_is_not_known_is_told_how_to_go_on(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "notes.txt").write_text("no tensor")
    said = typed("census", "notes.txt", cwd=tmp_path)
    assert "its format is not known, and raw bytes do not say what type it is of" in one_problem(said.err)
    assert "--guess" in said.err


# Several tensors


def test_tensors_are_chosen_by_name_and_by_pattern(tmp_path: Path, report: Report) -> None:
    save(tmp_path / "x.npz", **dict.fromkeys(("w.0", "w.1", "b.0", "w.*"), NORMAL))

    def chosen(*patterns: str) -> list[str]:
        return [file["tensor"] for file in report(*(f"--tensor={one}" for one in patterns), "x.npz")["files"]]

    assert chosen() == ["w.0", "w.1", "b.0", "w.*"]
    assert chosen("w.0") == ["w.0"]
    assert chosen("?.0") == ["w.0", "b.0"]
    assert chosen("w.*") == ["w.*"]  # one has exactly this name
    assert chosen("b.0", "w.?") == ["w.0", "w.1", "b.0", "w.*"]
    (problem,) = report("--tensor=w.7", "--tensor=w.0", "x.npz")["problems"]
    assert problem["problem"] == "--tensor 'w.7' names no tensor"
    assert problem["hint"] in {"the nearest is 'w.0'", "the nearest is 'w.1'"}


def test_a_folder_is_counted_in_the_order_of_its_numbers_and_the_first_nan_is_named(
    tmp_path: Path, report: Report
) -> None:
    folder = tmp_path / "run" / "dumps"
    folder.mkdir(parents=True)
    for layer in range(12):
        values = NORMAL.copy()
        values[0] = np.nan if layer in {9, 10} else 0
        np.save(folder / f"layer_{layer}.npy", values)
    (folder / "notes.txt").write_text("no tensor")
    (folder / "raw.bin").write_bytes(bytes(8))
    found = report("run")
    assert [file["path"] for file in found["files"]] == [f"run/dumps/layer_{layer}.npy" for layer in range(12)]
    assert found["first_nan"]["path"] == "run/dumps/layer_9.npy"
    assert found["skipped"] == 2
    assert len(report("--dtype=f32", "run")["files"]) == 13  # now the raw one says its type
    assert [file["path"] for file in report("--dtype=f32", "--input-format=raw", "run")["files"]] == [
        "run/dumps/raw.bin"
    ]


def test_what_is_said_of_raw_files_is_not_held_against_the_others_of_a_folder(tmp_path: Path, report: Report) -> None:
    np.save(tmp_path / "x.npy", NORMAL)
    (tmp_path / "y.bin").write_bytes(struct.pack(">4H", 0, 0, 0x7FC0, 0x3F80))
    found = report("--dtype=bf16", "--offset=4", "--byte-order=big", ".")
    assert [(file["path"], file["dtype"], file["n"]) for file in found["files"]] == [
        ("x.npy", "f32", 192),
        ("y.bin", "bf16", 2),
    ]
    assert found["files"][1]["nan"] == 1


def test_a_folder_without_tensors_is_told(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x.bin").write_bytes(b"abcd")
    os.mkfifo(tmp_path / "d" / "pipe.npy")
    said = typed("census", "d", cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert one_problem(said.err) == "pooldiag: d: no tensor file in it, of 1 files"
    assert "--dtype" in said.err


def test_several_files_have_a_row_each_and_totals(video: Path, tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "x.npy", NORMAL)
    said = typed("census", "--dtype=f32", "x.npy", video.name, cwd=tmp_path)
    assert said.code == 1
    assert said.out.startswith("NaN in 1 of 2 tensors; the first with NaN is video.bin\n")
    assert "\n2 tensors in 2 files" in said.out
    assert said.out.endswith("\n")


def test_a_file_that_states_its_type_is_doubted_and_not_contradicted(tmp_path: Path, report: Report) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(2).standard_normal(20_000).astype("<f4").view("<f2"))
    rules = {found["rule"]: found["text"] for found in report("x.npy")["files"][0]["findings"]}
    assert "But npy says itself of what type it is" in rules["wider-type"]


# What is shown


def test_elements_are_hashed_only_where_that_is_asked_for(video: Path, report: Report) -> None:
    assert report("--dtype=f32", video)["files"][0]["sha256"] is None
    (file,) = report("--dtype=f32", "--sha256", video)["files"]
    assert file["sha256"] == hashlib.sha256(video.read_bytes()).hexdigest()


def tiled(folder: Path) -> None:
    values = np.zeros((64, 32), np.float32)
    values[8:16, 8:16] = np.nan
    np.save(folder / "x.npy", values)


def test_where_nan_are_is_drawn_unless_it_is_not_wanted(tmp_path: Path, typed: Typed) -> None:
    tiled(tmp_path)
    said = typed("census", "x.npy", cwd=tmp_path, COLUMNS="60", PYTHONIOENCODING="utf-8")
    assert "Where they are" in said.out
    assert said.out.isascii() or "········████████················" in said.out
    assert "Where they are" not in typed("census", "--no-picture", "x.npy", cwd=tmp_path).out


def test_a_map_is_in_the_report_where_it_is_asked_for(tmp_path: Path, report: Report) -> None:
    tiled(tmp_path)
    assert "blocks" not in report("x.npy")["files"][0]
    (file,) = report("--picture", "x.npy")["files"]
    assert sum(file["blocks"]["nan"]) == 64


@pytest.mark.parametrize(("name", "magic"), [("map.svg", b"<svg "), ("map.PNG", b"\x89PNG")])
def test_a_map_is_saved(name: str, magic: bytes, tmp_path: Path, report: Report) -> None:
    tiled(tmp_path)
    found = report(f"--save={name}", "x.npy")
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert "blocks" not in found["files"][0]


def test_a_map_is_of_one_tensor(tmp_path: Path, typed: Typed) -> None:
    np.savez(tmp_path / "x.npz", a=NORMAL, b=NORMAL)
    said = typed("census", "--save=map.png", "x.npz", cwd=tmp_path)
    assert said.code == 2
    assert "a picture is of one tensor, and 2 were counted" in one_problem(said.err)
    assert not (tmp_path / "map.png").exists()
    assert typed("census", "--save=map.png", "--tensor=b", "x.npz", cwd=tmp_path).code == 0


def test_a_map_that_cannot_be_written_is_told_and_the_rest_is_done(tmp_path: Path, typed: Typed) -> None:
    tiled(tmp_path)
    (tmp_path / "map.svg").mkdir()
    said = typed("census", "--save=map.svg", "x.npy", cwd=tmp_path)
    assert said.code == 2
    assert one_problem(said.err) == "pooldiag: --save map.svg: cannot be written: Is a directory"
    assert said.out.startswith("NaN: 64 of 2048 elements")


def test_a_picture_of_no_elements_is_not_drawn(tmp_path: Path, typed: Typed) -> None:
    np.save(tmp_path / "x.npy", np.zeros((0, 3), np.float32))
    said = typed("census", "--save=map.svg", "x.npy", cwd=tmp_path)
    assert (said.code, one_problem(said.err)) == (
        2,
        "pooldiag: --save map.svg: x.npy has no element: there is nothing to draw",
    )
    assert not (tmp_path / "map.svg").exists()
    assert "Where they are" not in said.out


# What cannot be meant


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "no FILE to count"),
        (("--dtype=f8", "x.bin"), "f8: no such element type"),
        (("--input-format=numpy", "x.bin"), "--input-format 'numpy' is not known"),
        (("--shape=4,,8", "x.bin"), "--shape '4,,8' is no list of sizes"),
        (("--shape=4,-8", "x.bin"), "--shape '4,-8' is no list of sizes"),
        (("--offset=soon", "x.bin"), "--offset: 'soon' is no size"),
        (("--byte-order=middle", "x.bin"), "middle"),
        (("--guess", "--dtype=f32", "x.bin"), "--guess and --dtype f32 contradict each other"),
        (("--guess", "--byte-order=big", "x.bin"), "--guess finds the byte order, too"),
        (("--save=map.gif", "x.bin"), "--save map.gif: not a picture that can be made"),
        (("--save=no/map.svg", "x.bin"), "--save no/map.svg: no such folder"),
        (("--watch=nowhere",), "--watch nowhere: no such folder"),
        (("--watch-for=3s", "x.bin"), "--watch-for 3s: there is no --watch"),
        (("--watch=.", "--watch-for=soon"), "--watch-for: 'soon' is no duration"),
        (("--watch=.", "--guess"), "--watch and --guess"),
        (("--against=nowhere", "x.bin"), "--against nowhere: no such file or folder"),
        (("--against=-", "x.bin"), "--against -: a reference is read more than once"),
        (("-", "-"), "standard input can be read once, and is named twice"),
        (("--against=x.bin", "."), "--against x.bin is a file, and . a folder"),
    ],
)
def test_words_that_cannot_be_meant_are_refused_before_anything_is_read(
    words: tuple[str, ...], problem: str, tmp_path: Path, typed: Typed
) -> None:
    (tmp_path / "x.bin").write_bytes(b"abcd")
    said = typed("census", *words, cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert problem in one_problem(said.err)


def test_the_help_names_every_type_and_every_format(typed: Typed, tmp_path: Path) -> None:
    text = " ".join(typed("census", "--help", cwd=tmp_path, COLUMNS="200").out.replace("│", " ").split())
    assert " ".join(LAYOUTS) in text
    names = list(FORMATS)
    assert f"{', '.join(names[:-1])} or {names[-1]}" in text


# Names from outside


def test_hostile_names_reach_no_terminal_and_no_reader_of_json(tmp_path: Path, typed: Typed) -> None:
    name = os.fsdecode(b"a\x1b[31m\xff\n[b].npy")
    (tmp_path / name).write_bytes(b"")
    save(tmp_path / "x.npz", **{"t\x1b[2J\n": np.array([np.nan], np.float32)})
    said = typed("census", name, "x.npz", cwd=tmp_path)
    assert said.code == 2
    assert "\x1b" not in said.out + said.err
    assert "a\\x1b[31m\\xff\\x0a[b].npy: is empty" in one_problem(said.err)
    found = checked(typed("census", "--json", name, "x.npz", cwd=tmp_path).out)
    assert found["problems"][0]["path"] == "a\x1b[31m\\xff\n[b].npy"
    assert found["files"][0]["tensor"] == "t\x1b[2J\n"


def test_a_name_of_half_a_character_is_escaped_and_has_its_bytes(tmp_path: Path, report: Report) -> None:
    entry = hostile.tensor_entry()
    (tmp_path / "x.safetensors").write_bytes(hostile.safetensors({"\ud800": entry}, bytes(4)))
    (file,) = report("x.safetensors")["files"]
    assert file["tensor"] == "\\ud800"
    assert file["tensor_bytes"] == base64.b64encode(b"\xed\xa0\x80").decode()


def test_many_problems_are_counted_on_stderr_and_all_told_in_json(tmp_path: Path, typed: Typed) -> None:
    names = [f"no{number}.bin" for number in range(25)]
    said = typed("census", "--json", *names, cwd=tmp_path)
    assert len(json.loads(said.out)["problems"]) == 25
    assert said.err.count("No such file") == 20
    assert said.err.endswith("pooldiag: 5 more problems; --json tells them all\n")


def test_a_census_is_printed_in_the_format_that_is_named(video: Path, tmp_path: Path, typed: Typed) -> None:
    words = ("census", "--dtype=f32", video.name)
    forms = {form: typed(*words, f"--format={form}", cwd=tmp_path) for form in FORMAT_NAMES}
    assert forms["json"] == typed(*words, "--json", cwd=tmp_path)
    assert forms["table"] == typed(*words, cwd=tmp_path)
    assert len({said.out for said in forms.values()}) == len(FORMAT_NAMES)
    refused = typed(*words, "--json", "--format=table", cwd=tmp_path)
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "pooldiag: --json and --format table contradict each other",
    )


def test_it_is_the_same_as_a_process_of_its_own(video: Path, tmp_path: Path, typed: Typed) -> None:
    words = ("census", "--dtype=f32", video.name)
    alone, here = pooldiag(*words, cwd=tmp_path), typed(*words, cwd=tmp_path)
    assert (alone.code, alone.err) == (here.code, here.err) == (1, "")
    assert alone.out.startswith("NaN: 1024 of 1024 elements of video.bin\n")


def test_what_a_census_in_json_does_not_need_is_not_imported(video: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from pooldiag.cli.app import exit_code_of_words; exit_code_of_words();"
        "unwanted = {'pydantic', 'rich', 'tomllib', 'pooldiag.model.arms'};"
        "print(*sorted(unwanted & sys.modules.keys()), file=sys.stderr)"
    )
    words = [sys.executable, "-c", script, "census", "--json", "--dtype=f32", "--byte-order=little", video.name]
    done = subprocess.run(words, cwd=tmp_path, env=environment({}), capture_output=True, text=True, check=True)
    assert done.stderr == "\n"
