"""The files of a census: what is found below a folder, and what marks that a file has changed."""

import os
from pathlib import Path

from pooldiag.execute.tensor_files import LocalTensorFiles

FILES = LocalTensorFiles()


def test_regular_files_are_found_below_and_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "a" / "deep" / "x").touch()
    (tmp_path / "a" / "y").symlink_to(tmp_path / "a" / "deep" / "x")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "a" / "pipe")
    names, problems = FILES.below(str(tmp_path / "a"))
    assert (sorted(names), problems) == (["deep/x", "y"], ())


def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path: Path) -> None:
    names, (problem,) = FILES.below(f"{tmp_path}/no")
    assert (names, problem.path) == ((), f"{tmp_path}/no")
    assert problem.problem == f"{tmp_path}/no: cannot be read: No such file or directory"


def test_a_file_has_another_stamp_once_it_was_written_to(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a")
    with FILES.open(str(path)) as (file, stamp):
        assert stamp == FILES.stamp_of(file) == FILES.stamp_at(str(path))
        os.utime(path, ns=(0, 1))
        assert FILES.stamp_of(file) != stamp
    assert FILES.stamp_at(str(tmp_path)) is None
    assert FILES.stamp_at(f"{tmp_path}/no") is None


def test_a_dash_is_standard_input_and_not_a_folder(tmp_path: Path) -> None:
    assert FILES.is_folder(str(tmp_path))
    assert not FILES.is_folder("-")
