"""A census of files in memory: which are counted, what each is compared with, and what is kept of it."""

from dataclasses import replace

import numpy as np
import pytest

from pooldiag.census.files.format import Declared
from pooldiag.census.layouts import find_layout
from pooldiag.diagnose.census import CensusInput, CensusSettings, FileCounter, natural
from pooldiag.errors import UsageError
from pooldiag.model.censuses import CensusReport
from pooldiag.model.comparisons import Sameness
from tests.diagnose.played_files import PlayedFiles, npy, npz

GOOD, BAD = np.ones(64, np.float32), np.full(64, np.nan, np.float32)
F32 = Declared(layout=find_layout("f32"))


def files_of(**content: bytes) -> PlayedFiles:
    """Return files; `__` in a name is a `/`, and the last `_` its dot."""
    files = PlayedFiles()
    for name, data in content.items():
        files.write(".".join(name.replace("__", "/").rsplit("_", 1)), data)
    return files


def counter_of(files: PlayedFiles, settings: CensusSettings) -> FileCounter:
    return FileCounter(settings=settings, files=files, show=lambda _: None)


def report_of(files: PlayedFiles, settings: CensusSettings) -> CensusReport:
    counter = counter_of(files, settings)
    for given in counter.inputs():
        counter.count(given)
    counter.check_patterns()
    return counter.report()


def test_files_are_counted_in_their_order_and_a_folder_in_the_order_of_its_numbers() -> None:
    files = files_of(z_npy=npy(BAD), d__layer10_npy=npy(GOOD), d__layer9_npy=npy(GOOD), d__notes_txt=b"no tensor")
    report = report_of(files, CensusSettings(files=("z.npy", "d")))
    assert [one.census.path for one in report.files] == ["z.npy", "d/layer9.npy", "d/layer10.npy"]
    assert (report.skipped, report.problems) == (1, ())
    assert report.first_nan is report.files[0].census


def test_numbers_in_paths_are_sorted_by_value() -> None:
    assert sorted(["b2", "b10", "a10", "a9/x", "a9"], key=natural) == ["a9", "a9/x", "a10", "b2", "b10"]


def test_a_raw_file_of_a_folder_is_counted_where_its_type_is_said() -> None:
    files = files_of(d__x_bin=BAD.tobytes())
    (problem,) = report_of(files, CensusSettings(files=("d",))).problems
    assert problem.problem == "d: no tensor file in it, of 1 files"
    assert problem.hint == "raw files (.bin, .raw) do not say their type: name it, --dtype f32"
    report = report_of(files, CensusSettings(files=("d",), declared=F32))
    assert [one.census.nan for one in report.files] == [64]


def test_what_goes_wrong_in_one_file_is_kept_and_the_others_are_counted() -> None:
    files = files_of(a_npy=npy(GOOD), cut_npy=npy(GOOD)[:60], denied_npy=npy(GOOD))
    files.unreadable["denied.npy"] = PermissionError(13, "Permission denied")
    report = report_of(files, CensusSettings(files=("no.npy", "cut.npy", "denied.npy", "a.npy")))
    assert [one.census.path for one in report.files] == ["a.npy"]
    assert [(one.path, one.problem) for one in report.problems] == [
        ("no.npy", "no.npy: cannot be read: No such file or directory"),
        ("cut.npy", "cut.npy: the file ends within the header: 50 of 118 bytes"),
        ("denied.npy", "denied.npy: cannot be read: Permission denied"),
    ]


def test_a_file_that_changes_while_it_is_counted_is_counted_and_told() -> None:
    files = files_of(x_npy=npy(GOOD))
    counter = FileCounter(
        settings=CensusSettings(files=("x.npy",)), files=files, show=lambda _: files.write("x.npy", npy(BAD))
    )
    counter.count(CensusInput(path="x.npy"))
    (one,), (problem,) = counter.tensors, counter.problems
    assert one.census.n == 64
    assert "changed while it was counted" in one.census.notes[0]
    assert problem.hint == "count it again when whoever writes it is done"


def test_a_file_and_its_reference_are_compared_tensor_by_tensor() -> None:
    files = files_of(a_npz=npz(w=GOOD, here=GOOD), b_npz=npz(w=BAD, there=GOOD))
    report = report_of(files, CensusSettings(files=("a.npz",), reference="b.npz"))
    assert {one.census.tensor: one.comparison and one.comparison.sameness for one in report.files} == {
        "w": Sameness.DIFFERENT,
        "here": None,
    }
    assert (report.here_only, report.there_only) == (("a.npz::here",), ("b.npz::there",))
    assert report.differs


def test_folders_are_compared_file_by_file() -> None:
    files = files_of(a__x_npy=npy(GOOD), a__new_npy=npy(GOOD), b__x_npy=npy(GOOD), b__old_npy=npy(GOOD), b__y_txt=b"y")
    report = report_of(files, CensusSettings(files=("a",), reference="b"))
    assert (report.here_only, report.there_only) == (("a/new.npy",), ("b/old.npy",))
    assert [one.comparison is not None for one in report.files] == [False, True]


def of_stream(data: bytes, settings: CensusSettings) -> CensusReport:
    """Count what is on standard input."""
    files = PlayedFiles(streams={"-"})
    files.write("-", data)
    return report_of(files, replace(settings, files=("-",)))


def test_a_format_that_goes_back_and_forth_cannot_be_read_from_a_pipe() -> None:
    (problem,) = of_stream(npz(a=GOOD), CensusSettings()).problems
    assert "npz cannot be read from a pipe" in problem.problem
    (one,) = of_stream(npy(GOOD), CensusSettings()).files
    assert (one.census.format, one.census.shape, one.census.n) == ("npy", (64,), 64)


def test_a_stream_that_ends_within_an_element_is_told() -> None:
    (problem,) = of_stream(BAD.tobytes() + b"a", CensusSettings(declared=F32)).problems
    assert "-: 257 bytes are no whole number of f32 elements" in problem.problem


def test_a_type_is_guessed_of_a_stream_too() -> None:
    values = np.random.default_rng(0).standard_normal(10_000).astype("<f4")
    report = of_stream(values.tobytes(), CensusSettings(guess=True))
    assert [guess.dtype for guess in report.guesses[0].fitting] == ["f32"]
    assert report.files[0].census.maximum == float(values.max())


def test_what_can_be_read_once_is_counted_and_neither_side_of_a_comparison() -> None:
    files = files_of(a_npy=npy(GOOD), b_npy=npy(GOOD))
    files.streams.add("a.npy")
    for path, reference in (("a.npy", "b.npy"), ("b.npy", "a.npy")):
        report = report_of(files, CensusSettings(files=(path,), reference=reference))
        assert [(one.census.path, one.comparison) for one in report.files] == [(path, None)]
        assert [one.hint for one in report.problems] == ["save it first"]


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("no", "--against no: no such file or folder"),
        ("-", "--against -: a reference is read more than once"),
        ("x.npy", "--against x.npy is a file, and d a folder"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_counted(reference: str, problem: str) -> None:
    files = files_of(x_npy=npy(GOOD), d__x_npy=npy(GOOD))
    with pytest.raises(UsageError) as refused:
        counter_of(files, CensusSettings(files=("d",), reference=reference)).inputs()
    assert refused.value.problem == problem


def test_a_pattern_that_names_no_tensor_is_told_with_the_nearest_name() -> None:
    files = files_of(x_npz=npz(weight=GOOD, bias=GOOD))
    report = report_of(files, CensusSettings(files=("x.npz",), patterns=("bia?", "weigth", "0123")))
    assert [one.census.tensor for one in report.files] == ["bias"]
    assert [(one.problem, one.hint) for one in report.problems] == [
        ("--tensor 'weigth' names no tensor", "the nearest is 'weight'"),
        ("--tensor '0123' names no tensor", "2 tensors have names"),
    ]


def test_garbage_in_many_tensors_keeps_few_patterns_of_the_later_ones() -> None:
    garbage = np.arange(0x7F800001, 0x7F800001 + 70_000, dtype="<u4").view("<f4")
    files = files_of(x_npz=npz(**{f"t{number}": garbage for number in range(3)}))
    report = report_of(files, CensusSettings(files=("x.npz",)))
    kept = [(len(one.census.nan_patterns), one.census.nan_patterns_complete) for one in report.files]
    assert kept == [(65536, False)] + [(64, False)] * 2


def test_a_map_of_one_color_is_kept_only_where_it_is_asked_for() -> None:
    files = files_of(good_npy=npy(GOOD), bad_npy=npy(BAD), mixed_npy=npy(np.concatenate([GOOD, BAD])))
    settings = CensusSettings(files=("good.npy", "bad.npy", "mixed.npy"), mapped=True)
    assert [one.census.blocks is not None for one in report_of(files, settings).files] == [False, False, True]
    always = CensusSettings(files=("good.npy",), mapped=True, always_mapped=True)
    assert report_of(files, always).files[0].census.blocks is not None


def test_a_type_is_guessed_and_taken_where_one_alone_fits() -> None:
    values = np.random.default_rng(6).standard_normal(10_000).astype("<f4")
    files = files_of(x_bin=values.tobytes(), noise_bin=np.random.default_rng(0).bytes(50_000))
    report = report_of(files, CensusSettings(files=("x.bin", "noise.bin"), guess=True))
    assert [(one.census.path, one.census.dtype) for one in report.files] == [("x.bin", "f32")]
    assert [one.problem for one in report.problems] == ["noise.bin: no one type fits its bytes"]
    assert [len(one.fitting) for one in report.guesses] == [1, 0]


def test_a_raw_file_that_seems_to_be_of_another_type_makes_guessing_the_next_command() -> None:
    values = np.random.default_rng(0).standard_normal(100_000).astype("<f4")
    files = files_of(**{"-x_bin": b"head" + values.tobytes()})
    declared = Declared(layout=find_layout("bf16"), offset=4)
    report = report_of(files, CensusSettings(files=("-x.bin",), declared=declared))
    assert report.next == "pooldiag census --guess --offset=4 -- -x.bin"
    assert report.next_purpose == "to see which type fits"
