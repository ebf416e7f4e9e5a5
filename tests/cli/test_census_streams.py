"""`pooldiag census` of what is no quiet file: pipes, files that change, a reader that is gone, an interrupt."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pooldiag.cli.census import CensusFlags, settings_of
from pooldiag.diagnose.census import CensusInput, FileCounter
from pooldiag.execute.tensor_files import LocalTensorFiles
from tests.cli.command import LIMIT_SECONDS, Said, checked, environment, one_problem
from tests.cli.processes import PROGRAM

MIB = 2**20
Typed = Callable[..., Said]


def census(
    *words: str, cwd: Path, stdin: bytes | int, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """Run `census` with bytes or a descriptor as its standard input."""
    return subprocess.run(
        [*PROGRAM, "census", *words],
        cwd=cwd,
        env=environment({}),
        stdin=stdin if isinstance(stdin, int) else None,
        input=stdin if isinstance(stdin, bytes) else None,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def counted(path: Path, while_it_counts: Callable[[str], object]) -> FileCounter:
    """Count a file of f32, to which something happens after it was opened and before it is read."""
    settings = settings_of(CensusFlags(files=("x",), dtype="f32"))
    counter = FileCounter(settings=settings, files=LocalTensorFiles(), show=while_it_counts)
    counter.count(CensusInput(path=str(path)))
    return counter


@pytest.fixture
def bad() -> bytes:
    values = np.zeros(300, "<f4")
    values[7] = np.nan
    return values.tobytes()


def test_standard_input_is_counted(tmp_path: Path, bad: bytes) -> None:
    done = census("--json", "--dtype=f32", "-", cwd=tmp_path, stdin=bad)
    (file,) = checked(done.stdout.decode())["files"]
    assert (file["path"], file["n"], file["nan"], file["shape"]) == ("-", 300, 1, None)
    assert done.returncode == 1


def test_an_array_on_standard_input_says_its_type(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((3, 5)))
    done = census("--json", "-", cwd=tmp_path, stdin=(tmp_path / "x.npy").read_bytes())
    (file,) = checked(done.stdout.decode())["files"]
    assert (file["format"], file["dtype"], file["shape"], file["n"]) == ("npy", "f64", [3, 5], 15)


def test_a_file_on_standard_input_is_not_a_pipe(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.ones(3))
    with (tmp_path / "x.npz").open("rb") as file:
        assert census("-", cwd=tmp_path, stdin=file.fileno()).returncode == 0


def test_a_file_of_which_somebody_read_the_beginning_is_counted_from_there(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(b"head" * 4 + bad)
    descriptor = os.open(tmp_path / "x.bin", os.O_RDONLY)
    os.read(descriptor, 16)
    done = census("--json", "--dtype=f32", "-", cwd=tmp_path, stdin=descriptor)
    os.close(descriptor)
    assert checked(done.stdout.decode())["files"][0]["n"] == 300


def test_an_empty_standard_input_is_told(tmp_path: Path) -> None:
    done = census("--dtype=f32", "-", cwd=tmp_path, stdin=b"")
    assert done.returncode == 2
    assert one_problem(done.stderr.decode()) == "pooldiag: -: is empty: there is nothing to count"


def test_a_long_stream_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    """What is written is one piece again and again; the peak is measured against the same census of 1 MiB."""
    peaks = [peak_of_fifo(tmp_path / f"{size}.fifo", size) for size in (1, 192)]
    assert peaks[1] - peaks[0] < 16 * MIB


def peak_of_fifo(path: Path, size: int) -> int:
    os.mkfifo(path)
    script = (
        "import resource, sys; from pooldiag.cli.app import exit_code_of_words; code = exit_code_of_words();"
        "sys.stdout.flush();"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "census", "--json", "--dtype=f32", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with path.open("wb", buffering=0) as pipe:
        for _ in range(size):
            pipe.write(bytes(MIB))
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    (file,) = checked(out.decode())["files"]
    assert (file["n"], file["zero"], process.returncode) == (size * MIB // 4, size * MIB // 4, 0)
    return int(err) * 1024


def test_a_file_that_shrinks_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(8 * MIB))
    counter = counted(path, lambda _: os.truncate(path, 4096))
    (problem,) = counter.problems
    assert problem.problem == f"{path}: the file ends {8 * MIB - 4096} bytes early"
    assert counter.tensors == []


def test_a_file_that_changes_while_it_is_read_is_counted_and_told(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(MIB))

    def change(_: str) -> None:
        with path.open("r+b") as file:
            file.write(b"\xff" * 4096)
        os.utime(path, ns=(0, 1))

    counter = counted(path, change)
    (problem,) = counter.problems
    assert "it changed while it was counted" in problem.problem
    (one,) = counter.tensors
    assert one.census.n == MIB // 4
    assert any("changed while it was counted" in note for note in one.census.notes)


def test_a_growing_file_is_counted_as_far_as_it_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(4096))

    def grow(_: str) -> None:
        with path.open("ab") as file:
            file.write(bytes(4096))

    counter = counted(path, grow)
    assert [one.census.n for one in counter.tensors] == [1024]
    assert len(counter.problems) == 1


def test_a_device_is_read_as_far_as_its_shape_goes(tmp_path: Path, typed: Typed) -> None:
    said = typed("census", "--json", "--dtype=f32", "--shape=1000", "/dev/zero", cwd=tmp_path)
    assert checked(said.out)["files"][0]["zero"] == 1000


def test_only_a_regular_file_has_marks_of_its_content(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a")
    with LocalTensorFiles().open(str(tmp_path / "x")) as (_, stamp):
        assert stamp is not None
    with LocalTensorFiles().open("/dev/null") as (file, stamp):
        assert (stamp, file.seekable()) == (None, False)


def test_a_reader_that_is_gone_is_no_error(tmp_path: Path, bad: bytes) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = census("--dtype=f32", "-", cwd=tmp_path, stdin=bad, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_full_disk_for_the_report_is_told(tmp_path: Path, bad: bytes) -> None:
    with open("/dev/full", "wb") as full:
        done = census("--dtype=f32", "-", cwd=tmp_path, stdin=bad, stdout=full.fileno())
    assert done.returncode == 4
    assert "cannot write to stdout: No space left on device" in one_problem(done.stderr.decode())


def test_closed_standard_streams_keep_the_exit_code(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(bad)
    line = f"{sys.executable} -m pooldiag census --dtype=f32 x.bin >&- 2>&- <&-"
    assert subprocess.run(["sh", "-c", line], cwd=tmp_path, env=environment({}), check=False).returncode == 1


def test_an_interrupt_prints_what_was_counted_so_far(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / "a.bin").write_bytes(bad)
    fifo = tmp_path / "b.fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [*PROGRAM, "census", "--json", "--dtype=f32", "a.bin", "b.fifo"],
        cwd=tmp_path,
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with fifo.open("wb"):  # it reads now, and waits
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    report = checked(out.decode())
    assert report["partial"]
    assert [file["nan"] for file in report["files"]] == [1]
    assert process.returncode == 130
    assert err == b"pooldiag: interrupted\n"
