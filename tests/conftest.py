"""How much is tested, and fixtures that more than one room's tests use."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

ROOT = Path(__file__).parents[1]
BUILD_LIMIT_SECONDS = 900

# Tests start hundreds of processes: where compiled modules are not kept, each would compile all of pooldiag.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ.pop("PYTEST_ADDOPTS", None)  # meant for this pytest, not for those that tests start

# No deadlines: a machine that is busy with other workers breaks them, and they say nothing of what is tested.
settings.register_profile("plain", max_examples=25, deadline=None)
settings.register_profile("all", max_examples=200, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that `scripts/test` and `scripts/check` hand on."""
    parser.addoption("--all", action="store_true", help="run slow tests, too, and properties with more examples")
    parser.addoption("--core", action="store_true", help="leave out the tests that start targets")


def pytest_configure(config: pytest.Config) -> None:
    """Say how many examples a property has, and leave tests out by their marks, unless marks are chosen by hand."""
    everything, core = config.getoption("--all"), config.getoption("--core")
    settings.load_profile("all" if everything else "plain")
    left_out = [mark for mark, is_left_out in (("slow", not everything), ("process", core)) if is_left_out]
    config.option.markexpr = config.option.markexpr or " and ".join(f"not {mark}" for mark in left_out)


@pytest.fixture(autouse=True)
def default_signals() -> Iterator[None]:
    """Start from the handlers of a terminal: a shell script's background job has SIGINT and SIGQUIT ignored."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def compiled() -> Callable[..., Path]:
    """Compile C++ once for all sessions: what is made is named by all that it is made from."""

    def compile_(name: str, source: str, *flags: str, includes: tuple[Path, ...] = ()) -> Path:
        words = ["g++", "-x", "c++", "-", *flags]
        contents = (*words, source, *(path.read_text() for path in includes))
        path = ROOT / "build" / "tests" / f"{name}-{sha256(repr(contents).encode()).hexdigest()[:16]}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=BUILD_LIMIT_SECONDS):
            if not path.exists():
                subprocess.run([*words, "-o", f"{path}.new"], input=source.encode(), check=True)
                os.replace(f"{path}.new", path)
        return path

    return compile_


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
