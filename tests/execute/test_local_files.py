import os
from pathlib import Path

import pytest

from pooldiag.errors import UsageError
from pooldiag.execute.local_files import LINE_BYTES, MOST_ENTRIES, LocalFiles
from pooldiag.execute.supervision import SupervisedExecutor
from pooldiag.model.cases import Target
from pooldiag.model.runs import Stream
from tests.execute.conftest import Requester
from tests.execute.test_elf import Compiler


def files_of(directory: Path, *, path: Path = Path("/bin/sh"), evidence: Path | None = None) -> LocalFiles:
    target = Target(path=path, shown=str(path), directory=directory, shell_directory=directory, framework="none")
    return LocalFiles(target, evidence=evidence or directory / ".pooldiag" / "x")


@pytest.fixture
def files(tmp_path: Path) -> LocalFiles:
    return files_of(tmp_path)


# --- lines ------------------------------------------------------------------------------------------------------------


def stream_of(path: Path, content: bytes, *, size_bytes: int | None = None) -> Stream:
    path.write_bytes(content)
    return Stream(path=path, size_bytes=len(content) if size_bytes is None else size_bytes)


def test_lines_come_without_their_ends(files: LocalFiles, tmp_path: Path) -> None:
    stream = stream_of(tmp_path / "s", b"one\r\n\ntwo\rx\n\xff\0\nlast")
    assert list(files.lines(stream)) == [b"one", b"", b"two\rx", b"\xff\0", b"last"]


def test_a_long_line_comes_in_pieces(files: LocalFiles, tmp_path: Path) -> None:
    line = b"x" * (LINE_BYTES + 10)
    assert list(files.lines(stream_of(tmp_path / "s", line + b"\ny\n"))) == [line[:LINE_BYTES], b"x" * 10, b"y"]


def test_nothing_is_read_past_the_size_or_from_a_file_that_is_not_there(files: LocalFiles, tmp_path: Path) -> None:
    assert list(files.lines(stream_of(tmp_path / "s", b"one\ntwo\n", size_bytes=5))) == [b"one", b"t"]
    assert list(files.lines(Stream(path=tmp_path / "none", size_bytes=9))) == []


def test_the_hole_of_a_flood_is_not_read(
    executor: SupervisedExecutor, request_for: Requester, files: LocalFiles
) -> None:
    completed = executor.execute(request_for("seq", "2000000", stream_bytes=65536))
    lines = list(files.lines(completed.stdout))
    assert completed.stdout.dropped_bytes > 10 * 2**20
    assert lines[0] == b"1"
    assert lines[-1] == b"2000000"
    assert sum(map(len, lines)) < 65536 + 4096
    assert not any(b"\0" in line for line in lines)


# --- matches ----------------------------------------------------------------------------------------------------------


def test_matches_are_regular_files_below_the_folder_in_order(files: LocalFiles, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "deep").mkdir(parents=True)
    for name in ("b.f32", "a.f32", "deep/c.f32", "deep/d.bin"):
        (out / name).touch()
    (out / "folder.f32").mkdir()
    os.mkfifo(out / "pipe.f32")
    assert files.matches(out, "*.f32") == (out / "a.f32", out / "b.f32")
    assert files.matches(out, "**/*.f32") == (out / "a.f32", out / "b.f32", out / "deep" / "c.f32")
    assert files.matches(out, "none*") == ()


def test_links_are_followed_only_within_the_folder(files: LocalFiles, tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.mkdir()
    (other / "x.f32").touch()
    (out / "real.f32").touch()
    (out / "a-link.f32").symlink_to("real.f32")
    (out / "file.f32").symlink_to(other / "x.f32")
    (out / "folder").symlink_to(other)
    (out / "loop.f32").symlink_to("loop.f32")
    (out / "lost.f32").symlink_to("none")
    assert files.matches(out, "*.f32") == (out / "a-link.f32", out / "real.f32")
    assert files.matches(out, "*/*.f32") == ()


@pytest.mark.parametrize("glob", ["../*", "a/../../b", "/etc/*", "", "."])
def test_a_pattern_that_leaves_the_folder_is_refused(files: LocalFiles, tmp_path: Path, glob: str) -> None:
    with pytest.raises(UsageError, match="does not stay in the run's folder"):
        files.matches(tmp_path, glob)


def test_a_file_is_read_whole_and_a_missing_one_is_empty(files: LocalFiles, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\0x")
    assert (files.read(tmp_path / "x"), files.read(tmp_path / "none")) == (b"\0x", b"")
    with files.open(tmp_path / "x") as file:
        assert file.read() == b"\0x"


# --- what is required -------------------------------------------------------------------------------------------------


def test_readable_files_and_folders_are_no_hindrance(files: LocalFiles, tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    os.mkfifo(tmp_path / "pipe")
    assert files.unreadable((tmp_path / "x", tmp_path, tmp_path / "pipe")) is None


def test_what_cannot_be_read_is_named_with_the_reason(files: LocalFiles, tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert files.unreadable((tmp_path, missing)) == f"{missing} cannot be read: No such file or directory"


# --- fingerprint ------------------------------------------------------------------------------------------------------


def test_a_fingerprint_holds_the_target_and_its_libraries(tmp_path: Path, compile_c: Compiler) -> None:
    compile_c("libone.so", "int one(void) { return 1; }", "-shared", "-fPIC")
    program = compile_c("program", "int one(void); int main(void) { return one(); }", "libone.so", "-Wl,-rpath,$ORIGIN")
    files = files_of(tmp_path, path=program)
    first = files.fingerprint()
    assert first[0].startswith(f"{program}: sha256 ")
    assert any(entry.startswith(f"{tmp_path / 'libone.so'}: sha256 ") for entry in first)
    assert files.fingerprint() == first

    os.utime(program, (1, 1))
    assert files.fingerprint() == first, "the same content is no change"

    compile_c("libone.so", "int one(void) { return 2; }", "-shared", "-fPIC")
    changed = files.fingerprint()
    assert [new.partition(":")[0] for old, new in zip(first, changed, strict=True) if old != new] == [
        str(tmp_path / "libone.so")
    ]

    program.unlink()
    assert files.fingerprint()[0] == f"{program}: gone"


# --- changes ----------------------------------------------------------------------------------------------------------


def test_changed_new_and_removed_files_are_named(files: LocalFiles, tmp_path: Path) -> None:
    for name in ("stays", "grows", "goes"):
        (tmp_path / name).write_text("x")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "grows").touch()
    assert files.changes() == ()
    (tmp_path / "grows").write_text("xy")
    (tmp_path / "goes").unlink()
    (tmp_path / "new").touch()
    (tmp_path / "below" / "grows").write_text("x")
    assert files.changes() == ("below/grows", "goes", "grows", "new")
    assert files.appeared() == ("new",)
    assert files.changes() == ()
    assert files.appeared() == ()


def test_ours_and_the_tools_own_files_are_no_changes(tmp_path: Path) -> None:
    evidence = tmp_path / "kept"
    folders = [evidence, *(tmp_path / name for name in (".git", ".pooldiag", "__pycache__"))]
    for folder in folders:
        folder.mkdir(parents=True)
    files = files_of(tmp_path, evidence=evidence)
    files.changes()
    for folder in folders:
        (folder / "file").touch()
    assert files.changes() == ()


def test_a_huge_folder_is_looked_at_in_part(files: LocalFiles, tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES + 10):
        (tmp_path / str(number)).touch()
    files.changes()
    for path in tmp_path.iterdir():
        path.write_text("x")
    assert len(files.changes()) == MOST_ENTRIES


def test_of_a_folder_that_is_looked_at_in_part_no_file_is_called_new(files: LocalFiles, tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES + 10):
        (tmp_path / str(number)).touch()
    files.changes()
    for path in [*tmp_path.iterdir()][:20]:
        path.unlink()
    assert files.changes()
    assert files.appeared() == ()
