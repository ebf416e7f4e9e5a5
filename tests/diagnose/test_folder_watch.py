"""A folder that is watched: files are counted when they are whole, in the order of their writing."""

from collections.abc import Callable, Iterator

import numpy as np

from pooldiag.census.files.format import Declared
from pooldiag.census.layouts import find_layout
from pooldiag.diagnose.census import CensusSettings, FileCounter
from pooldiag.diagnose.folder_watch import LOOK_SECONDS, FolderWatch
from tests.diagnose.played_files import PlayedFiles, Steps, npy, npz

GOOD, BAD = np.ones(64, np.float32), np.full(64, np.nan, np.float32)
F32 = CensusSettings(declared=Declared(layout=find_layout("f32")))
Script = Callable[[PlayedFiles, FolderWatch], Iterator[object]]


def watched(
    steps: Script, *, settings: CensusSettings = F32, before: dict[str, bytes] | None = None
) -> tuple[FolderWatch, list[str]]:
    """Watch a folder of files while a script goes on; the watch as it is at the end, and what it told."""
    files = PlayedFiles()
    for path, data in (before or {}).items():
        files.write(path, data)
    told: list[str] = []
    found = FolderWatch(
        folder="dumps",
        counter=FileCounter(settings=settings, files=files, show=lambda _: None),
        tell=told.append,
    )
    found.begin()
    found.watch(seconds=4.0, pace=Steps(steps(files, found)), ended=lambda: False)
    return found, told


def names(found: FolderWatch) -> list[str]:
    return [one.census.path.removeprefix("dumps/") for one in found.counter.tensors]


def test_each_file_is_counted_once_it_appeared_and_the_first_nan_is_named() -> None:
    def steps(files: PlayedFiles, found: FolderWatch) -> Iterator[object]:
        files.write("dumps/layer_0.npy", npy(GOOD))
        yield from [None] * 3
        assert names(found) == ["layer_0.npy"]  # already
        for number in (1, 2):
            files.write(f"dumps/layer_{number}.npy", npy(BAD))
            yield None

    found, told = watched(steps)
    assert names(found) == ["layer_0.npy", "layer_1.npy", "layer_2.npy"]
    assert told == [
        "dumps/layer_0.npy: n=64 nan=0 inf=0 zero=0",
        "dumps/layer_1.npy: n=64 nan=64 inf=0 zero=0",
        "the first NaN is in dumps/layer_1.npy",
        "dumps/layer_2.npy: n=64 nan=64 inf=0 zero=0",
    ]


def test_a_file_that_still_grows_is_not_counted() -> None:
    def steps(files: PlayedFiles, found: FolderWatch) -> Iterator[object]:
        for pages in range(1, 7):
            files.write("dumps/x.bin", bytes(4096 * pages))
            assert names(found) == []
            yield None

    found, _ = watched(steps)
    assert [one.census.n for one in found.counter.tensors] == [6 * 1024]


def test_a_file_that_turns_out_unfinished_is_counted_again() -> None:
    def steps(files: PlayedFiles, found: FolderWatch) -> Iterator[object]:
        files.write("dumps/x.bin", bytes(8))
        yield None
        yield from [None] * 3
        assert [one.census.n for one in found.counter.tensors] == [2]
        files.write("dumps/x.bin", BAD.tobytes())
        yield None

    found, _ = watched(steps)
    assert [(one.census.n, one.census.nan) for one in found.counter.tensors] == [(64, 64)]


def test_a_file_that_could_not_be_read_is_forgiven_when_it_is_whole() -> None:
    def steps(files: PlayedFiles, found: FolderWatch) -> Iterator[object]:
        files.write("dumps/x.npy", npy(GOOD)[:200])
        yield None
        yield from [None] * 3
        assert len(found.counter.problems) == 1
        files.write("dumps/x.npy", npy(GOOD))
        yield None

    found, _ = watched(steps)
    assert found.counter.problems == []
    assert names(found) == ["x.npy"]


def test_files_of_one_look_are_counted_in_the_order_they_were_written() -> None:
    def steps(files: PlayedFiles, _: FolderWatch) -> Iterator[object]:
        for name, time in (("z.npy", 1), ("layer_10.npy", 2), ("layer_9.npy", 2), ("a.npy", 3)):
            files.write(f"dumps/{name}", npy(GOOD), time=time)
        yield None

    assert names(watched(steps)[0]) == ["z.npy", "layer_9.npy", "layer_10.npy", "a.npy"]


def test_what_is_there_already_is_left_out_until_it_is_written_again() -> None:
    def steps(files: PlayedFiles, _: FolderWatch) -> Iterator[object]:
        files.write("dumps/again.npy", npy(np.concatenate([GOOD, BAD])))
        yield None

    found, _ = watched(steps, before={"dumps/old.npy": npy(GOOD), "dumps/again.npy": npy(GOOD)})
    assert names(found) == ["again.npy"]
    assert found.counter.tensors[0].census.nan == 64


def test_folders_below_and_other_files_are_looked_at_too_and_told_in_the_end() -> None:
    def steps(files: PlayedFiles, _: FolderWatch) -> Iterator[object]:
        files.write("dumps/rank0/x.npy", npy(GOOD))
        files.write("dumps/log.txt", b"no tensor")
        files.write("dumps/empty.npy", b"")
        yield None

    found, _ = watched(steps)
    found.close()
    assert names(found) == ["rank0/x.npy"]
    assert found.skipped == {"dumps/log.txt"}
    assert found.counter.report().notes == (
        "1 of the files that appeared hold no tensors, as far as is known",
        "dumps/empty.npy: was not written to its end when the watch ended: not counted",
    )
    assert found.counter.problems == []


def test_many_tensors_of_one_file_are_told_in_one_line() -> None:
    def steps(files: PlayedFiles, _: FolderWatch) -> Iterator[object]:
        files.write("dumps/x.npz", npz(**{f"t{number}": GOOD for number in range(5)}, bad=BAD))
        yield None

    _, told = watched(steps)
    assert told == [
        "dumps/x.npz, 6 tensors: n=384 nan=64 inf=0 zero=0",
        "the first NaN is in dumps/x.npz::bad",
    ]


def test_each_file_is_compared_with_its_reference() -> None:
    def steps(files: PlayedFiles, _: FolderWatch) -> Iterator[object]:
        files.write("dumps/x.npy", npy(GOOD + 1))
        yield None

    found, _ = watched(steps, settings=CensusSettings(reference="ref"), before={"ref/x.npy": npy(GOOD)})
    (one,) = found.counter.tensors
    assert one.differs


def test_what_has_no_counterpart_is_told_once_however_often_it_is_counted() -> None:
    def steps(files: PlayedFiles, _: FolderWatch) -> Iterator[object]:
        for values in (GOOD, BAD):
            files.write("dumps/x.npy", npy(values))
            files.write("dumps/y.npz", npz(both=values, here=np.concatenate([values, GOOD])))
            yield from [None] * 4

    reference = {"ref/y.npz": npz(both=GOOD, there=GOOD)}
    counter = watched(steps, settings=CensusSettings(reference="ref"), before=reference)[0].counter
    assert sorted(counter.here_only) == ["dumps/x.npy", "dumps/y.npz::here"]
    assert counter.there_only == ["ref/y.npz::there"]


def test_it_ends_in_time_or_when_it_is_ended_and_looks_once_more() -> None:
    files, pace = PlayedFiles(), Steps(iter(()))
    counter = FileCounter(settings=F32, files=files, show=lambda _: None)
    found = FolderWatch(folder="dumps", counter=counter, tell=lambda _: None)
    found.watch(seconds=3.0, pace=pace, ended=lambda: False)
    assert 3.0 <= pace.now < 3.0 + 2 * LOOK_SECONDS
    files.write("dumps/x.npy", npy(GOOD))
    found.watch(seconds=None, pace=pace, ended=lambda: "dumps/x.npy" in found.fresh)
    assert names(found) == ["x.npy"]
    assert pace.now < 3.0 + 3 * LOOK_SECONDS
