"""Fixtures of the command's tests; a lock to hold and a small file system are those of the room below."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.processes import Pooldiag, Starter, started
from tests.execute.conftest import hold_lock, mount_tmpfs

__all__ = ["hold_lock", "mount_tmpfs"]


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
