import hashlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from pooldiag.execute.machine import age_seconds, commit_of, machine_report, nvidia_gpus, project_of, sha256_of
from pooldiag.ports import Clock


def test_a_machine_says_what_it_is() -> None:
    report = machine_report()
    assert report.host == os.uname().nodename
    assert f"Linux {os.uname().release} {os.uname().machine}" in report.system
    assert report.cpus == len(os.sched_getaffinity(0))
    assert report.memory_bytes > 2**27
    assert report.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_gpus_are_those_that_the_driver_lists(tmp_path: Path) -> None:
    assert nvidia_gpus(tmp_path) == ()
    (tmp_path / "version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build\nGCC version: gcc 12.3.0\n"
    )
    for bus, text in (("0000:01:00.0", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 1\n"), ("0000:02:00.0", "broken")):
        (tmp_path / "gpus" / bus).mkdir(parents=True)
        (tmp_path / "gpus" / bus / "information").write_text(text)
    assert nvidia_gpus(tmp_path) == ("NVIDIA H200, driver 570.124.06",)


def test_a_file_has_a_hash_and_an_age(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"x" * 100_000)
    assert sha256_of(path) == hashlib.sha256(b"x" * 100_000).hexdigest()
    os.utime(path, (time.time() - 100, time.time() - 100))
    assert 100 <= age_seconds(path) < 200
    os.utime(path, (time.time() + 100, time.time() + 100))
    assert age_seconds(path) == 0


def test_the_commit_of_a_folder_tells_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    assert commit_of(tmp_path) is None
    git("init", "--quiet")
    assert commit_of(tmp_path) is None, "nothing is committed yet"
    (tmp_path / "x").write_text("1")
    git("add", "x")
    git("commit", "--quiet", "--message=x")
    commit = git("rev-parse", "HEAD")
    (tmp_path / "untracked").touch()
    assert commit_of(tmp_path) == commit
    (tmp_path / "x").write_text("2")
    assert commit_of(tmp_path) == f"{commit}+changes"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(tmp_path) is None, "no git on this machine"


def test_the_clock_goes_forward() -> None:
    clock: Clock = time
    assert clock.monotonic() <= clock.monotonic()


def test_a_project_is_the_nearest_folder_that_git_keeps_or_that_is_one_of_python(tmp_path: Path) -> None:
    deep = tmp_path / "engine" / "python" / "tests" / "test_x.py"
    deep.parent.mkdir(parents=True)
    deep.touch()
    (tmp_path / "engine" / ".git").touch()  # of a worktree it is a file
    assert project_of(deep) == tmp_path / "engine"
    (tmp_path / "engine" / "python" / "pyproject.toml").touch()
    assert project_of(deep) == tmp_path / "engine" / "python"
    assert project_of(Path("/proc")) is None
