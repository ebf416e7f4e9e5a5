"""`pooldiag census --watch`: files are counted when they are whole, in the order of their writing."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pooldiag.cli.census_asked import decide
from pooldiag.cli.census_counter import Counter
from pooldiag.cli.census_flags import CensusFlags
from pooldiag.cli.census_watch import LOOK_SECONDS, Watch, watch
from tests.cli.command import LIMIT_SECONDS, Said, checked, environment, one_problem
from tests.cli.processes import PROGRAM
from tests.execute.helpers import wait_until

Typed = Callable[..., Said]
GOOD, BAD = np.ones(64, np.float32), np.full(64, np.nan, np.float32)


def save(path: Path, **tensors: NDArray[np.float32]) -> None:
    np.savez(path, allow_pickle=False, **tensors)


class Steps:
    """Time that stands still but for one step of a script in each sleep."""

    def __init__(self, steps: Iterator[object]) -> None:
        self.steps = steps
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        next(self.steps, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "dumps"
    path.mkdir()
    return path


def watched(folder: Path, steps: Callable[[Watch], Iterator[object]], *, seconds: float = 4.0, **flags: str) -> Watch:
    """Watch a folder while a script goes on; the watch as it is at the end."""
    asked = decide(CensusFlags(watch=str(folder), **flags))  # type: ignore[arg-type] # all of them are texts
    told: list[str] = []
    found = Watch(folder=str(folder), counter=Counter(asked=asked, progress=lambda _: None), tell=told.append)
    found.begin()
    watch(found, seconds=seconds, pace=Steps(steps(found)), ended=lambda: False)
    LINES[:] = told
    return found


LINES: list[str] = []


def names(found: Watch) -> list[str]:
    return [Path(one.census.path).name for one in found.counter.files]


def test_each_file_is_counted_once_it_appeared_and_the_first_nan_is_named(folder: Path) -> None:
    def steps(found: Watch) -> Iterator[object]:
        np.save(folder / "layer_0.npy", GOOD)
        yield None
        yield None
        yield None
        assert names(found) == ["layer_0.npy"]  # already
        for number in (1, 2):
            np.save(folder / f"layer_{number}.npy", BAD)
            yield None

    found = watched(folder, steps)
    assert names(found) == ["layer_0.npy", "layer_1.npy", "layer_2.npy"]
    assert [
        f"{folder}/layer_0.npy: n=64 nan=0 inf=0 zero=0",
        f"{folder}/layer_1.npy: n=64 nan=64 inf=0 zero=0",
        f"the first NaN is in {folder}/layer_1.npy",
        f"{folder}/layer_2.npy: n=64 nan=64 inf=0 zero=0",
    ] == LINES


def test_a_file_that_still_grows_is_not_counted(folder: Path) -> None:
    def steps(found: Watch) -> Iterator[object]:
        with (folder / "x.bin").open("wb") as file:
            for _ in range(6):
                file.write(bytes(4096))
                file.flush()
                assert names(found) == []
                yield None

    found = watched(folder, steps, dtype="f32")
    assert [one.census.n for one in found.counter.files] == [6 * 1024]


def test_a_file_that_turns_out_unfinished_is_counted_again(folder: Path) -> None:
    def steps(found: Watch) -> Iterator[object]:
        path = folder / "x.bin"
        yield path.write_bytes(bytes(8))
        yield from [None] * 3
        assert [one.census.n for one in found.counter.files] == [2]
        yield path.write_bytes(BAD.tobytes())

    found = watched(folder, steps, dtype="f32")
    assert [(one.census.n, one.census.nan) for one in found.counter.files] == [(64, 64)]


def test_a_file_that_could_not_be_read_is_forgiven_when_it_is_whole(folder: Path) -> None:
    def steps(found: Watch) -> Iterator[object]:
        np.save(folder / "x.npy", GOOD)
        whole = (folder / "x.npy").read_bytes()
        yield (folder / "x.npy").write_bytes(whole[:200])
        yield from [None] * 3
        assert len(found.counter.problems) == 1
        yield (folder / "x.npy").write_bytes(whole)

    found = watched(folder, steps)
    assert found.counter.problems == []
    assert names(found) == ["x.npy"]


def test_files_of_one_look_are_counted_in_the_order_they_were_written(folder: Path) -> None:
    def steps(_: Watch) -> Iterator[object]:
        for name, time in (("z.npy", 1), ("layer_10.npy", 2), ("layer_9.npy", 2), ("a.npy", 3)):
            np.save(folder / name, GOOD)
            os.utime(folder / name, ns=(time, time))
        yield None

    assert names(watched(folder, steps)) == ["z.npy", "layer_9.npy", "layer_10.npy", "a.npy"]


def test_what_is_there_already_is_left_out_until_it_is_written_again(folder: Path) -> None:
    for name in ("old.npy", "again.npy"):
        np.save(folder / name, GOOD)

    def steps(_: Watch) -> Iterator[object]:
        np.save(folder / "again.npy", np.concatenate([GOOD, BAD]))
        yield None

    found = watched(folder, steps)
    assert names(found) == ["again.npy"]
    assert found.counter.files[0].census.nan == 64


def test_folders_below_and_other_files_are_looked_at_too(folder: Path) -> None:
    def steps(_: Watch) -> Iterator[object]:
        (folder / "rank0").mkdir()
        np.save(folder / "rank0" / "x.npy", GOOD)
        (folder / "log.txt").write_text("no tensor")
        (folder / "empty.npy").touch()
        yield None

    found = watched(folder, steps)
    assert names(found) == ["x.npy"]
    assert found.skipped == {f"{folder}/log.txt"}
    assert list(found.fresh) == [f"{folder}/empty.npy"]  # not whole: told in the end


def test_many_tensors_of_one_file_are_told_in_one_line(folder: Path) -> None:
    def steps(_: Watch) -> Iterator[object]:
        save(folder / "x.npz", **{f"t{number}": GOOD for number in range(5)}, bad=BAD)
        yield None

    watched(folder, steps)
    assert [
        f"{folder}/x.npz, 6 tensors: n=384 nan=64 inf=0 zero=0",
        f"the first NaN is in {folder}/x.npz::bad",
    ] == LINES


def test_each_file_is_compared_with_its_reference(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "ref").mkdir()
    np.save(tmp_path / "ref" / "x.npy", GOOD)

    def steps(_: Watch) -> Iterator[object]:
        np.save(folder / "x.npy", GOOD + 1)
        yield None

    (one,) = watched(folder, steps, against=str(tmp_path / "ref")).counter.files
    assert one.differs


def test_what_has_no_counterpart_is_told_once_however_often_it_is_counted(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "ref").mkdir()
    save(tmp_path / "ref" / "y.npz", both=GOOD, there=GOOD)

    def steps(_: Watch) -> Iterator[object]:
        for values in (GOOD, BAD):
            np.save(folder / "x.npy", values)
            save(folder / "y.npz", both=values, here=np.concatenate([values, GOOD]))
            yield from [None] * 4

    counter = watched(folder, steps, against=str(tmp_path / "ref")).counter
    assert sorted(counter.here_only) == [f"{folder}/x.npy", f"{folder}/y.npz::here"]
    assert counter.there_only == [f"{tmp_path}/ref/y.npz::there"]


def test_it_ends_in_time(folder: Path) -> None:
    pace = Steps(iter(()))
    found = Watch(
        folder=str(folder),
        counter=Counter(asked=decide(CensusFlags(watch=str(folder))), progress=lambda _: None),
        tell=lambda _: None,
    )
    watch(found, seconds=3.0, pace=pace, ended=lambda: False)
    assert 3.0 <= pace.now < 3.0 + 2 * LOOK_SECONDS


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
