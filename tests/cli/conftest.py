"""Fixtures of the command's tests; a lock to hold and a small file system are those of the room below."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pooldiag.cli.app import exit_code_of_words
from tests.cli.command import FLOORS, Said, environment
from tests.cli.processes import Pooldiag, Starter, started
from tests.execute.conftest import hold_lock, mount_tmpfs

__all__ = ["hold_lock", "mount_tmpfs"]


@pytest.fixture
def blind(examples_build: Path) -> Path:
    """The example runtime with its fault."""
    return examples_build / "devicepool" / "blind" / "test_forward"


@pytest.fixture
def keyed(examples_build: Path) -> Path:
    """The example runtime as it was mended."""
    return examples_build / "devicepool" / "keyed" / "test_forward"


@pytest.fixture
def checkpoint() -> str:
    """What one of its cases needs to run at all."""
    return str(Path(__file__).parents[2] / "examples" / "devicepool" / "shipped.ckpt")


@pytest.fixture
def zoo(examples_build: Path) -> Path:
    """The folder with the targets that each hold one trap."""
    return examples_build / "zoo"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Start `pooldiag attribute` processes in the test's folder; whatever still runs at the end is killed."""
    with ExitStack() as stack:

        def begin(*words: str | Path, **changes: str) -> Pooldiag:
            return stack.enter_context(started(*words, cwd=tmp_path, **changes))

        yield begin


@pytest.fixture
def refused(typed: Callable[..., Said], tmp_path: Path) -> Callable[..., str]:
    """Return what `pooldiag attribute` says to words that cannot be meant, in this process: nothing runs."""

    def refusal(*words: str | Path) -> str:
        said = typed("attribute", "--no-lock", *FLOORS, *words, cwd=tmp_path)
        assert (said.code, said.out) == (2, "")
        return said.err

    return refusal


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run `pooldiag` with these words as `command.pooldiag` does, but in this process: for what runs no target."""

    def run(*words: str | Path, cwd: Path, **changes: str) -> Said:
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            patch.setattr(sys, "argv", ["pooldiag", *map(str, words)])
            for name in os.environ.keys() - environment({}).keys():
                patch.delenv(name)
            for name, value in changes.items():
                patch.setenv(name, value)
            code = exit_code_of_words()
        said = capsys.readouterr()
        return Said(code=code, out=said.out, err=said.err)

    return run
