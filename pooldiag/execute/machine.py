"""What is known of the machine and of the target's file, without running either."""

import contextlib
import hashlib
import os
import platform
import re
import subprocess
import time
from pathlib import Path

import psutil

from pooldiag.model.reports import MachineReport

_PROJECT = (".git", "pyproject.toml")
GIT_SECONDS = 5


def machine_report() -> MachineReport:
    """Describe this machine."""
    system = os.uname()
    return MachineReport(
        host=system.nodename,
        system=f"{_distribution()}{system.sysname} {system.release} {system.machine}",
        cpus=len(psutil.Process().cpu_affinity()),
        memory_bytes=psutil.virtual_memory().total,
        gpus=nvidia_gpus(Path("/proc/driver/nvidia")),
        boot_id=boot_id(),
    )


def boot_id() -> str | None:
    """Return what the kernel drew at its last start; None where it does not tell."""
    return _text(Path("/proc/sys/kernel/random/boot_id")).strip() or None


def nvidia_gpus(driver: Path) -> tuple[str, ...]:
    """Name the GPUs that the driver's folder in /proc lists, each with the driver's version."""
    version = re.search(r"\b\d+\.\d+(\.\d+)*\b", _text(driver / "version"))
    paths = sorted(driver.glob("gpus/*/information"))
    models = [re.search(r"^Model:\s*(.+?)\s*$", _text(path), re.MULTILINE) for path in paths]
    suffix = f", driver {version.group()}" if version else ""
    return tuple(model.group(1) + suffix for model in models if model)


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def age_seconds(path: Path) -> float:
    """Return how long ago a file was last written."""
    return max(0.0, time.time() - path.stat().st_mtime)


def commit_of(folder: Path) -> str | None:
    """Return the git commit that a folder is at, with `+changes` when tracked files differ; None outside git."""
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    changed = commit and _git(folder, "status", "--porcelain", "--untracked-files=no")
    return f"{commit}+changes" if changed else commit or None


def project_of(path: Path) -> Path | None:
    """Return the nearest folder at or above a path that holds a project: one that git keeps, or one of Python's."""
    folders = (path, *path.parents)
    return next((folder for folder in folders if any((folder / name).exists() for name in _PROJECT)), None)


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints, None when it fails, is not there or takes too long (on a network folder, say)."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.check_output(
            ["git", "-C", str(folder), *arguments],
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            text=True,
            errors="replace",
        ).strip()
    return None


def _distribution() -> str:
    with contextlib.suppress(OSError):
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, "
    return ""


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""
