import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pooldiag.errors import BlockedError, ExitCode
from pooldiag.execute.disk import SystemDisk, readable
from pooldiag.execute.guard import GuardedExecutor, not_run
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.model.runs import Completed, Ending, RunRequest
from pooldiag.model.settings import Floors
from tests.execute.conftest import Mounter, Requester

MIB = 2**20
NO_FLOORS = Floors(disk_bytes=0, memory_bytes=0)


class FakeDisk:
    """A disk whose shortages are given, one a look."""

    def __init__(self, *shortages: str | None) -> None:
        self._shortages: Iterator[str | None] = iter(shortages)

    def shortage(self) -> str | None:
        return next(self._shortages)

    def full(self) -> str | None:
        return None

    def check_need(self) -> None:
        pass

    def free_bytes(self) -> int:
        return 0


class FakeExecutor:
    """An executor that counts, and ends as it is told."""

    def __init__(self, shortage: str | None = None) -> None:
        self.runs = 0
        self.restored = False
        self._shortage = shortage

    def execute(self, request: RunRequest) -> Completed:
        self.runs += 1
        return not_run(request, Ending.EXITED, shortage=self._shortage)

    def restore(self) -> None:
        self.restored = True


# --- the guard --------------------------------------------------------------------------------------------------------


def test_nothing_starts_while_something_is_under_its_floor(request_for: Requester) -> None:
    inner = FakeExecutor()
    completed = GuardedExecutor(inner, FakeDisk("/x is full")).execute(request_for("true"))
    assert (completed.ending, completed.stopped_by, completed.shortage) == (Ending.STOPPED, "/x is full", "/x is full")
    assert completed.words == "/x is full"
    assert inner.runs == 0


@pytest.mark.parametrize(
    ("during", "after", "told"), [(None, None, None), (None, "after", "after"), ("during", "after", "during")]
)
def test_the_first_shortage_of_a_run_is_told(
    request_for: Requester, during: str | None, after: str | None, told: str | None
) -> None:
    completed = GuardedExecutor(FakeExecutor(during), FakeDisk(None, after)).execute(request_for("true"))
    assert (completed.ending, completed.shortage) == (Ending.EXITED, told)


def test_a_guarded_executor_is_restored_with_the_one_that_it_guards() -> None:
    inner = FakeExecutor()
    GuardedExecutor(inner, FakeDisk()).restore()
    assert inner.restored


# --- the disk ---------------------------------------------------------------------------------------------------------


def disk_of(evidence: Path, floors: Floors, *, target: Path | None = None) -> SystemDisk:
    return SystemDisk(evidence=evidence, target=target or evidence, floors=floors)


def test_a_machine_with_room_has_no_shortage(tmp_path: Path) -> None:
    disk = disk_of(tmp_path, NO_FLOORS)
    assert disk.shortage() is None
    assert disk.free_bytes() > 0


def test_too_few_bytes_are_told_with_folder_value_and_floor(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=8m")
    disk = disk_of(folder, Floors(disk_bytes=4 * MIB, memory_bytes=0))
    assert disk.shortage() is None
    (folder / "filler").write_bytes(bytes(6 * MIB))
    assert disk.shortage() == f"{folder} has 2.0 MiB free, under the floor of 4.0 MiB"
    assert disk.free_bytes() == 2 * MIB


def test_too_few_inodes_are_a_shortage_as_well(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=8m,nr_inodes=100")
    assert disk_of(folder, NO_FLOORS).shortage() == f"{folder} has 99 free inodes, under the floor of 1024"


def test_a_file_system_that_does_not_count_inodes_is_not_asked_for_them(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=8m,nr_inodes=0")
    assert os.statvfs(folder).f_files == 0
    assert disk_of(folder, NO_FLOORS).shortage() is None


def test_too_little_memory_is_told(tmp_path: Path) -> None:
    shortage = disk_of(tmp_path, Floors(disk_bytes=0, memory_bytes=2**60)).shortage()
    assert shortage is not None
    assert shortage.startswith("free memory is ")
    assert shortage.endswith(", under the floor of 1024.0 PiB")


def test_the_folder_of_the_target_and_tmpdir_are_watched_too(
    tmp_path: Path, mount_tmpfs: Mounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    target_folder, temporary = mount_tmpfs("size=4m"), mount_tmpfs("size=8m")
    monkeypatch.setenv("TMPDIR", str(temporary))
    (target_folder / "test").touch()
    disk = disk_of(tmp_path, NO_FLOORS, target=target_folder / "test")
    assert disk.watched.folders == (tmp_path, target_folder, temporary)
    assert disk.free_bytes() == 4 * MIB


def test_folders_on_one_file_system_are_watched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    assert disk_of(tmp_path, NO_FLOORS, target=tmp_path / "a").watched.folders == (tmp_path,)


def test_a_need_that_is_not_met_blocks_and_names_the_folder(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=8m")
    disk_of(folder, Floors(disk_bytes=MIB, memory_bytes=0, need_bytes=7 * MIB)).check_need()
    with pytest.raises(BlockedError) as raised:
        disk_of(folder, Floors(disk_bytes=2 * MIB, memory_bytes=0, need_bytes=7 * MIB)).check_need()
    assert raised.value.problem == f"{folder} has 8.0 MiB free; needed are 7.0 MiB and the floor of 2.0 MiB"
    assert raised.value.exit_code is ExitCode.BLOCKED


def test_no_need_is_no_check(mount_tmpfs: Mounter) -> None:
    disk_of(mount_tmpfs("size=1m"), Floors(disk_bytes=2**60)).check_need()


def test_sizes_are_said_in_the_unit_that_fits() -> None:
    sizes = [0, 1, 1023, 1024, 1536, 10**9, 2**30, 34 * 2**30, 2**70]
    expected = ["0 B", "1 B", "1023 B", "1.0 KiB", "1.5 KiB", "953.7 MiB", "1.0 GiB", "34.0 GiB", "1048576.0 PiB"]
    assert [readable(size) for size in sizes] == expected


# --- while a run goes on ----------------------------------------------------------------------------------------------


def test_a_run_that_fills_the_disk_is_ended_and_says_so(
    supervisor: Supervisor, request_for: Requester, mount_tmpfs: Mounter
) -> None:
    folder = mount_tmpfs("size=8m")
    disk = disk_of(folder, Floors(disk_bytes=4 * MIB, memory_bytes=0))
    executor = GuardedExecutor(SupervisedExecutor(supervisor, disk.watched), disk)
    script = "head -c 6M /dev/zero > filler; while :; do sleep 0.01; done"
    completed = executor.execute(request_for("sh", "-c", script, directory=folder))
    words = f"{folder} has 2.0 MiB free, under the floor of 4.0 MiB"
    assert (completed.ending, completed.stopped_by, completed.shortage) == (Ending.STOPPED, words, words)
    assert executor.execute(request_for("true")).ending is Ending.STOPPED


def test_a_run_that_leaves_the_disk_full_ends_by_itself_and_says_so(
    supervisor: Supervisor, request_for: Requester, mount_tmpfs: Mounter
) -> None:
    folder = mount_tmpfs("size=8m")
    disk = disk_of(folder, Floors(disk_bytes=4 * MIB, memory_bytes=0))
    executor = GuardedExecutor(SupervisedExecutor(supervisor, disk.watched), disk)
    completed = executor.execute(request_for("sh", "-c", "head -c 6M /dev/zero > filler; exit 5", directory=folder))
    assert (completed.ending, completed.exit_code) == (Ending.EXITED, 5)
    assert completed.shortage == f"{folder} has 2.0 MiB free, under the floor of 4.0 MiB"


def test_memory_and_inodes_are_watched_during_a_run(
    supervisor: Supervisor, request_for: Requester, mount_tmpfs: Mounter, tmp_path: Path
) -> None:
    memory = disk_of(tmp_path, Floors(disk_bytes=0, memory_bytes=2**60)).watched
    inodes = disk_of(mount_tmpfs("size=8m,nr_inodes=100"), NO_FLOORS).watched
    for watched, words in ((memory, "free memory is"), (inodes, "has 99 free inodes, under the floor of 1024")):
        request = request_for("sh", "-c", "while :; do sleep 0.01; done")
        completed = SupervisedExecutor(supervisor, watched).execute(request)
        assert completed.ending is Ending.STOPPED
        assert words in str(completed.stopped_by)


def test_a_folder_that_goes_away_is_no_shortage(supervisor: Supervisor, request_for: Requester, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    disk = disk_of(gone, Floors(disk_bytes=0, memory_bytes=0))
    script = "rmdir gone; sleep 1.2"  # past the look that comes every second
    completed = GuardedExecutor(SupervisedExecutor(supervisor, disk.watched), disk).execute(
        request_for("sh", "-c", script)
    )
    assert (completed.ending, completed.shortage) == (Ending.EXITED, None)


def test_output_that_finds_no_room_is_not_started(
    supervisor: Supervisor, request_for: Requester, mount_tmpfs: Mounter
) -> None:
    folder = mount_tmpfs("size=1m,nr_inodes=2")
    (folder / "last").touch()
    request = request_for("true")
    (request.folder).rmdir()
    request.folder.symlink_to(folder)
    completed = SupervisedExecutor(supervisor, disk_of(folder, NO_FLOORS).watched).execute(request)
    assert completed.ending is Ending.NOT_STARTED
    assert completed.stopped_by == f"cannot start true: {request.folder / 'stdout'}: No space left on device"


def test_a_file_system_in_memory_that_is_full_is_named_wherever_it_is_mounted(
    tmp_path: Path, mount_tmpfs: Mounter
) -> None:
    disk, elsewhere = disk_of(tmp_path, Floors()), mount_tmpfs("size=1m")
    assert disk.full() is None
    (elsewhere / "filler").write_bytes(bytes(2**20))
    assert disk.full() == f"{elsewhere} is full"
