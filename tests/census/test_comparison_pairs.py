"""Which tensors or files go together."""

from pooldiag.census.comparison_pairs import pair_paths, pair_tensors
from pooldiag.model.comparisons import Pairing


def test_tensors_are_paired_by_name_in_the_order_of_here() -> None:
    found = pair_tensors(["w", "b", "new"], ["old", "b", "w"])
    assert found == Pairing(pairs=(("w", "w"), ("b", "b")), here_only=("new",), there_only=("old",))


def test_the_only_tensors_of_two_files_are_paired_whatever_their_names() -> None:
    assert pair_tensors([""], ["w"]) == Pairing(pairs=(("", "w"),))
    assert pair_tensors([""], ["w", "b"]) == Pairing(here_only=("",), there_only=("w", "b"))
    assert pair_tensors([], []) == Pairing()


def test_files_of_two_folders_are_paired_by_path() -> None:
    found = pair_paths(["a/x.bin", "b.bin", "c.bin"], ["b.bin", "a/x.bin", "a/y.bin"])
    assert found == Pairing(
        pairs=(("a/x.bin", "a/x.bin"), ("b.bin", "b.bin")), here_only=("c.bin",), there_only=("a/y.bin",)
    )


def test_the_only_files_of_two_folders_are_not_paired_by_that() -> None:
    assert pair_paths(["x.bin"], ["y.bin"]) == Pairing(here_only=("x.bin",), there_only=("y.bin",))


RUN = ["stdout", "stderr", "report.xml", "out/video.bin"]


def test_of_runs_the_outputs_are_compared() -> None:
    assert pair_paths(RUN, [*RUN, "out/a/b.bin", "2/out/c.bin", "2/stdout"]) == Pairing(
        pairs=(("out/video.bin", "out/video.bin"),), there_only=("out/a/b.bin", "2/out/c.bin")
    )


def test_a_folder_that_is_no_run_may_have_a_folder_out_in_it() -> None:
    assert pair_paths(["out/x.bin", "y.bin"], ["y.bin"]).here_only == ("out/x.bin",)


def diagnosis(*runs: str) -> list[str]:
    return ["report.json", "journal.jsonl", *(f"{run}/{path}" for run in runs for path in RUN)]


def test_runs_of_two_diagnoses_are_paired_by_role_and_the_order_of_their_numbers() -> None:
    found = pair_paths(
        diagnosis("01-baseline", "11-baseline", "02-poison-n", "9-exact"),
        diagnosis("10-baseline", "9-baseline", "3-poison-n", "4-poison-0"),
    )
    assert found.pairs == (
        ("01-baseline/out/video.bin", "9-baseline/out/video.bin"),
        ("11-baseline/out/video.bin", "10-baseline/out/video.bin"),
        ("02-poison-n/out/video.bin", "3-poison-n/out/video.bin"),
    )
    assert (found.here_only, found.there_only) == (("9-exact/out/video.bin",), ("4-poison-0/out/video.bin",))


def test_a_run_without_outputs_keeps_its_place() -> None:
    without = [path for path in diagnosis("1-exact", "2-exact") if path != "1-exact/out/video.bin"]
    assert pair_paths(without, diagnosis("1-exact", "2-exact")).pairs == (
        ("2-exact/out/video.bin", "2-exact/out/video.bin"),
    )


def test_what_is_no_run_of_a_diagnosis_is_left_out() -> None:
    paths = [*diagnosis("1-baseline"), "notes/out/x.bin", "1-baseline.before-1/out/video.bin", "1-baseline/a/b/out/x"]
    assert pair_paths(paths, paths).pairs == (("1-baseline/out/video.bin",) * 2,)
