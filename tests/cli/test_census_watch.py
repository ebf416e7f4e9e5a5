"""`pooldiag census --watch`: a folder is watched until a signal or the time ends it, and the report is printed."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.command import LIMIT_SECONDS, Said, checked, environment, one_problem
from tests.cli.processes import PROGRAM
from tests.execute.helpers import wait_until

Typed = Callable[..., Said]
GOOD, BAD = np.ones(64, np.float32), np.full(64, np.nan, np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "dumps"
    path.mkdir()
    return path


def test_a_watch_in_which_nothing_appeared_is_no_success(folder: Path, typed: Typed, tmp_path: Path) -> None:
    said = typed("census", "--watch=dumps", "--watch-for=1ms", "--quiet", cwd=tmp_path)
    assert (said.code, one_problem(said.err)) == (2, "pooldiag: dumps: no tensor file appeared")
    assert folder.is_dir()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_watch_and_prints_the_report(ending: signal.Signals, folder: Path, tmp_path: Path) -> None:
    with (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            [*PROGRAM, "census", "--json", "--watch=dumps"],
            cwd=tmp_path,
            env=environment({}),
            stdout=subprocess.PIPE,
            stderr=err,
        )

        def told() -> str:
            return (tmp_path / "err").read_text()

        wait_until(lambda: "Ctrl-C ends it" in told(), "it watches")
        np.save(folder / "layer_0.npy", GOOD)
        np.save(folder / "layer_1.npy", BAD)
        wait_until(lambda: "the first NaN is in dumps/layer_1.npy" in told(), "it told the first NaN")
        process.send_signal(ending)
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    report = checked(out.decode())
    assert process.returncode == 1
    assert report["watched"] == "dumps"
    assert report["first_nan"] == {"path": "dumps/layer_1.npy", "tensor": None}
    assert not report["partial"]
