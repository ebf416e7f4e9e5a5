"""A disk that fills, output without bound, and floors: a real tmpfs, real gigabytes."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from pooldiag.execute.supervisor import descendants
from tests.cli.command import LIMIT_SECONDS, arm, checked, diagnose, pooldiag
from tests.cli.processes import Starter

Mounter = Callable[[str], Path]

MIB = 2**20
CAP = 64 * MIB  # of each stream
SPARE = 256 * MIB  # what a target can write between two looks of a busy machine, and the report
NO_FLOOR = "--disk-floor=0"


def blocks(folder: Path) -> int:
    """Return the bytes on disk of all files below a folder."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def is_void(report: dict[str, Any], folder: Path) -> None:
    """Check that a full disk blocked the first run, and that nothing of what that run wrote is left there."""
    assert (report["status"], report["partial"], report["signature"]) == ("blocked", False, None)
    assert [(run["id"], run["reading"]) for run in report["runs"]] == [("01-baseline", "void")]
    assert report["runs"][0]["void_reason"] == report["blocked_by"]
    assert list((Path(report["evidence"]) / "01-baseline" / "out").iterdir()) == []
    assert not list(folder.rglob("fill.bin"))


@pytest.mark.parametrize("keep_green", ["0", "1"])
@pytest.mark.parametrize("floor", ["16MiB", "0"])
def test_a_run_that_fills_the_disk_of_the_evidence_is_void(
    zoo: Path, mount_tmpfs: Mounter, floor: str, keep_green: str
) -> None:
    folder = mount_tmpfs("size=64m")
    changes = {"ZOO_FILL_LIMIT_MB": "128", "ZOO_FILL_KEEP_GREEN": keep_green}
    report = diagnose(f"--disk-floor={floor}", zoo / "fills_disk", cwd=folder, **changes)  # saved, and valid
    is_void(report, folder)
    assert report["blocked_by"] == f"{report['evidence']} is full: No space left on device"
    assert report["disk"]["free_after"] > 48 * MIB
    assert not list(folder.rglob("ballast"))


def test_a_run_that_leaves_less_than_the_floor_is_void(zoo: Path, mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=64m")
    report = diagnose("--disk-floor=40MiB", zoo / "fills_disk", cwd=folder, ZOO_FILL_LIMIT_MB="32")
    is_void(report, folder)
    assert " MiB free, under the floor of 40.0 MiB" in report["blocked_by"]


@pytest.mark.parametrize("keep_green", ["0", "1"])
def test_where_only_the_words_tell_of_a_full_disk_the_words_count(
    zoo: Path, tmp_path: Path, mount_tmpfs: Mounter, keep_green: str
) -> None:
    folder = mount_tmpfs("size=8m")  # not watched: neither evidence nor target nor temporary files are there
    changes = {"ZOO_FILL_DIR": str(folder), "ZOO_FILL_KEEP_GREEN": keep_green}
    report = diagnose(NO_FLOOR, zoo / "fills_disk", cwd=tmp_path, **changes)
    assert report["status"] == "blocked"
    assert report["blocked_by"] == "the disk was full: fill.bin: No space left on device"


def test_a_disk_that_somebody_else_fills_between_two_runs_blocks_the_next_one(zoo: Path, mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=64m")
    fill = "sh -c 'test -e again && cat /dev/zero > filler; touch again'"
    changes = {"ZOO_FILL_LIMIT_MB": "1"}  # red, and small: the arm that runs the case alone follows
    words = (NO_FLOOR, "--repeat=1", f"--before={fill}", zoo / "fills_disk")
    report = diagnose(*words, cwd=folder, **changes)
    assert report["status"] == "blocked"
    assert report["blocked_by"] == f"{report['evidence']} is full: No space left on device"
    assert [run["reading"] for run in report["runs"]] == ["red", "void"]


def test_a_disk_that_is_full_for_a_case_alone_blocks_as_well(zoo: Path, tmp_path: Path, mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=8m")
    fill = f"sh -c 'rm -f {folder}/fill.bin; test -e again && cat /dev/zero > {folder}/filler; touch again'"
    changes = {"ZOO_FILL_DIR": str(folder), "ZOO_FILL_LIMIT_MB": "1"}
    words = (NO_FLOOR, "--repeat=1", f"--before={fill}", zoo / "fills_disk")
    report = diagnose(*words, cwd=tmp_path, **changes)
    assert report["status"] == "blocked"
    assert report["blocked_by"] == "the disk was full: fill.bin: No space left on device"
    assert [run["id"] for run in report["runs"]] == ["01-baseline", "02-isolate"]


def test_a_blocked_disk_is_told_on_the_terminal_with_exit_code_4(zoo: Path, mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=64m")
    said = pooldiag("attribute", "--no-lock", NO_FLOOR, "--memory-floor=0", zoo / "fills_disk", cwd=folder)
    assert said.code == 4
    assert said.out.startswith("Blocked:")
    assert "is full: No space left on device" in " ".join(said.out.split())


def nothing_ran(report: dict[str, Any], folder: Path) -> None:
    assert report["status"] == "blocked"
    assert not (folder / "started").exists()
    assert report["runs"] == [] or [run["reading"] for run in report["runs"]] == ["void"]


@pytest.mark.parametrize("framework", ["doctest", "blackbox"])
@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("--need=1PiB", "needed are 1.0 PiB and the floor of 1.0 MiB"),
        ("--disk-floor=1PiB", "under the floor of 1.0 PiB"),
        ("--memory-floor=1PiB", "free memory is "),
    ],
)
def test_with_too_little_space_or_memory_nothing_starts(tmp_path: Path, word: str, why: str, framework: str) -> None:
    target = tmp_path / "marks"
    target.write_text("#!/bin/sh\ntouch started\n")
    target.chmod(0o755)
    report = diagnose(word, f"--framework={framework}", target, cwd=tmp_path)
    nothing_ran(report, tmp_path)
    assert why in report["blocked_by"]


def test_too_little_space_for_a_listing_is_no_mistake_of_the_user(zoo: Path, tmp_path: Path) -> None:
    report = diagnose("--disk-floor=1PiB", "--case=first", zoo / "fills_disk", cwd=tmp_path)
    assert "under the floor of 1.0 PiB" in report["blocked_by"]


def test_space_that_is_there_is_enough(zoo: Path, mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=64m")
    words = ("--disk-floor=20MiB", zoo / "vacuous")
    assert diagnose("--need=40MiB", *words, cwd=folder)["status"] == "green"
    assert "needed are 44.0 MiB" in diagnose("--need=44MiB", *words, cwd=folder)["blocked_by"]


# --- output without bound ---------------------------------------------------------------------------------------------


def ends_of(path: Path, bytes_: int) -> tuple[bytes, bytes]:
    """Return the first and the last bytes of a file."""
    with path.open("rb") as file:
        first = file.read(bytes_)
        file.seek(-bytes_, os.SEEK_END)
        return first, file.read()


@pytest.mark.parametrize("mib", [512, pytest.param(2048, marks=pytest.mark.slow)])
def test_gigabytes_of_output_cost_neither_memory_nor_disk_nor_the_verdict(
    mib: int, zoo: Path, tmp_path: Path, start: Starter
) -> None:
    process = start("--json", "--no-lock", "--repeat=1", zoo / "floods_output", ZOO_FLOOD_MB=str(mib))
    most, peak_memory = wait_and_look(process.process, lambda: blocks(tmp_path / ".pooldiag"))
    report = checked(process.said.out)
    assert (report["status"], process.said.code) == ("green", 0)
    assert 0 < peak_memory < 120 * MIB  # pooldiag, its supervisor and the target: the largest of them
    assert most < CAP + SPARE
    stdout = Path(report["evidence"]) / "01-baseline" / "stdout"
    assert stdout.stat().st_size == mib * MIB
    assert stdout.stat().st_blocks * 512 <= CAP + 2 * MIB
    first, last = ends_of(stdout, MIB)
    lines = mib * 1024
    assert f"flood 1 of {lines}: error FAILED".encode() in first
    assert f"flood {lines} of {lines}: error FAILED".encode() in last
    (note,) = (note for note in report["notes"] if "were not kept" in note)
    assert note.startswith("stdout: 20" if mib == 2048 else "stdout: 4")
    assert note.endswith("bytes were not kept (the middle) (01-baseline)")


def peak_memory_bytes(pid: int) -> int:
    """The most memory of a process since its exec; 0 when it is gone. wait4 counts what it was before: us."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def wait_and_look(process: subprocess.Popen[bytes], look: Callable[[], int]) -> tuple[int, int]:
    """Wait for the end of a child; return the most that was seen meanwhile, and the most memory of its processes."""
    most, memory, deadline = 0, 0, time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        pids = [process.pid, *(below.pid for below in descendants(process.pid))]
        memory = max([memory, *map(peak_memory_bytes, pids)])
        most = max(most, look())
        if process.poll() is not None:
            return most, memory
        time.sleep(0.02)
    raise AssertionError(f"still running after {LIMIT_SECONDS} s")


def test_output_without_end_is_a_hang_of_its_case_and_stays_within_the_cap(zoo: Path, tmp_path: Path) -> None:
    words = ("--timeout=1", "--grace=200ms", "--repeat=1", zoo / "floods_output")
    report = diagnose(*words, cwd=tmp_path, ZOO_FLOOD_MB="0")
    signature = report["signature"]
    assert (signature["kind"], signature["signal"], signature["case"]) == ("hang", None, "floods")
    cases = arm(report, "baseline")["cases"]
    assert (cases["selected"], cases["started"], cases["passed"], cases["failed"]) == (3, 2, 1, 1)
    assert arm(report, "isolate")["red"] == 1
    streams = flooded(tmp_path.glob(".pooldiag/*/*/stdout"))
    assert len(streams) == len(report["runs"]) > 2
    assert all(on_disk <= CAP + 2 * MIB for on_disk in streams)


def flooded(paths: Iterable[Path]) -> list[int]:
    """Return the bytes on disk of the files that are longer than the cap."""
    found = [path.stat() for path in paths]
    return [status.st_blocks * 512 for status in found if status.st_size > CAP]
