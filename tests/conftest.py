"""Fixtures that more than one room's tests use."""

import shlex
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[1]
BUILD_LIMIT_SECONDS = 900


@pytest.fixture(scope="session")
def examples_build() -> Path:
    """Build the example targets and return CMake's build folder."""
    build = ROOT / "build" / "examples"
    build.parent.mkdir(exist_ok=True)
    configure = ["cmake", "-S", "examples", "-B", "build/examples"]
    # Two pytest processes may share one checkout; whoever comes second finds nothing left to do.
    with FileLock(build.parent / "examples.lock", timeout=BUILD_LIMIT_SECONDS):
        for command in (configure, ["cmake", "--build", "build/examples", "-j2"]):
            done = subprocess.run(
                command,
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=BUILD_LIMIT_SECONDS,
                check=False,
            )
            if done.returncode != 0:
                pytest.fail(f"{shlex.join(command)} failed:\n{done.stdout}", pytrace=False)
    return build
