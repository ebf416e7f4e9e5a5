import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pooldiag.errors import BlockedError, ExitCode
from pooldiag.execute.evidence import BALLAST_BYTES, EvidenceFolder, folder_name, unfinished
from tests.execute.conftest import Mounter

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def evidence_in(folder: Path) -> EvidenceFolder:
    return EvidenceFolder(folder, command="attribute", target="test_forward", now=NOW)


def fill(folder: Path) -> None:
    """Leave no byte free, as any target can."""
    with (folder / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


@pytest.fixture
def evidence(tmp_path: Path) -> Iterator[EvidenceFolder]:
    with evidence_in(tmp_path) as folder:
        yield folder


def test_the_folder_is_named_by_time_command_and_target(evidence: EvidenceFolder, tmp_path: Path) -> None:
    assert evidence.path == tmp_path / ".pooldiag" / "20260304T050607Z-attribute-test_forward"
    assert evidence.path.is_dir()


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("../a b/[x]$(y).sh", "a_b_x_y_.sh"),
        ("..", "target"),
        ("", "target"),
        ("\udcff\n\x1b[31m", "31m"),
        ("ä" * 5 + "x", "x"),
        ("t" * 300, "t" * 60),
    ],
)
def test_a_hostile_target_name_gives_a_plain_folder_name(target: str, name: str) -> None:
    assert folder_name("attribute", target, NOW) == f"20260304T050607Z-attribute-{name}"


def test_two_diagnoses_in_one_second_get_a_folder_each(tmp_path: Path) -> None:
    paths = [evidence_in(tmp_path).path for _ in range(3)]
    assert [path.name.removeprefix("20260304T050607Z-") for path in paths] == [
        "attribute-test_forward",
        "attribute-test_forward-2",
        "attribute-test_forward-3",
    ]


def test_git_does_not_see_the_folder(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    with evidence_in(tmp_path) as evidence:
        evidence.save("{}")
        status = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
        assert subprocess.run(status, check=True, capture_output=True).stdout == b""


def test_a_gitignore_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".pooldiag").mkdir()
    (tmp_path / ".pooldiag" / ".gitignore").write_text("mine\n")
    evidence_in(tmp_path)
    assert (tmp_path / ".pooldiag" / ".gitignore").read_text() == "mine\n"


def test_a_report_is_replaced_as_a_whole(evidence: EvidenceFolder) -> None:
    path = evidence.save("first")
    with path.open() as reader:
        evidence.save("second, and longer")
        assert reader.read() == "first"
    assert path == evidence.path / "report.json"
    assert path.read_text() == "second, and longer"
    assert sorted(os.listdir(evidence.path)) == ["ballast", "report.json"]


def test_a_run_has_a_folder_with_an_empty_out(evidence: EvidenceFolder) -> None:
    folder = evidence.run_folder("7-bypass")
    assert folder == evidence.path / "7-bypass"
    assert os.listdir(folder) == ["out"]
    assert os.listdir(folder / "out") == []
    assert evidence.save("{}", "7-bypass/outcome.json").read_text() == "{}"


def test_a_run_has_its_folder_once(evidence: EvidenceFolder) -> None:
    evidence.run_folder("1")
    with pytest.raises(BlockedError, match="File exists"):
        evidence.run_folder("1")


def test_only_the_outputs_of_a_voided_run_are_dropped(evidence: EvidenceFolder) -> None:
    folder = evidence.run_folder("1")
    (folder / "out" / "deep").mkdir()
    (folder / "out" / "deep" / "x.f32").write_bytes(b"x")
    (folder / "out" / "link").symlink_to(folder / "stdout")
    (folder / "stdout").write_text("kept")
    evidence.drop_outputs("1")
    assert os.listdir(folder / "out") == []
    assert (folder / "stdout").read_text() == "kept"


def test_the_ballast_takes_real_blocks_and_is_gone_at_the_end(tmp_path: Path) -> None:
    with evidence_in(tmp_path) as evidence:
        assert (evidence.path / "ballast").stat().st_blocks * 512 >= BALLAST_BYTES
    assert os.listdir(evidence.path) == []


def test_a_report_is_saved_on_a_full_disk(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=8m")
    report = "x" * (BALLAST_BYTES // 4)
    with evidence_in(folder) as evidence:
        evidence.save("early")
        fill(folder)
        assert os.statvfs(folder).f_bavail == 0
        assert evidence.save(report).read_text() == report
        assert evidence.save(report[:-1]).read_text() == report[:-1]


def test_a_report_that_finds_no_room_at_all_is_told_and_the_last_one_kept(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=4m")
    with evidence_in(folder) as evidence:
        path = evidence.save("early")
        with pytest.raises(BlockedError, match="No space left on device") as raised:
            evidence.save("x" * (6 * 2**20))
        assert raised.value.problem.startswith(f"cannot save: {path}: ")
        assert path.read_text() == "early"
        assert os.listdir(evidence.path) == ["report.json"]


def test_a_disk_that_is_full_from_the_start_is_told_in_one_line(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=1m")
    with pytest.raises(BlockedError, match="No space left on device") as raised:
        evidence_in(folder)
    assert raised.value.problem.startswith(f"cannot make an evidence folder: {folder / '.pooldiag'}: ")
    assert raised.value.exit_code is ExitCode.BLOCKED
    assert raised.value.hint == "free some space there"


def test_a_read_only_folder_is_told_in_one_line(mount_tmpfs: Mounter) -> None:
    folder = mount_tmpfs("size=1m,ro")
    with pytest.raises(BlockedError, match="Read-only file system") as raised:
        evidence_in(folder)
    assert raised.value.hint == "run in a folder that you may write to"


# --- going on ---------------------------------------------------------------------------------------------------------


def leave(parent: Path, *, second: int = 7, target: str = "test_forward", report: str | None = None) -> Path:
    """Leave a folder as a bisection does that was killed, or one that ended with a report."""
    folder = EvidenceFolder(parent, command="bisect", target=target, now=NOW.replace(second=second))
    (folder.path / "journal.jsonl").touch()
    if report is not None:
        folder.save(report)
    return folder.path


def test_a_resumed_folder_has_its_ballast_and_goes_on_counting_its_runs(tmp_path: Path) -> None:
    path = leave(tmp_path)
    for name in ("07-bypass", "12-baseline", "00-listing-30", "canary-bypass"):
        (path / name).mkdir()
    (path / "99-file").touch()
    with EvidenceFolder.resume(path) as folder:
        assert folder.path == path
        assert (path / "ballast").stat().st_blocks * 512 >= BALLAST_BYTES
        assert folder.runs_there() == 12
        folder.save("{}")
    assert not (path / "ballast").exists()
    assert (path / "report.json").read_text() == "{}"


def test_a_new_folder_has_no_runs(evidence: EvidenceFolder) -> None:
    assert evidence.runs_there() == 0


def test_a_folder_that_an_interrupted_diagnosis_made_is_moved_aside_and_made_anew(tmp_path: Path) -> None:
    path = leave(tmp_path)
    (path / "00-listing-1").mkdir()
    (path / "00-listing-1" / "stdout").write_text("first")
    for earlier in (["first"], ["first", "second"]):
        with EvidenceFolder.resume(path) as folder:
            made = folder.run_folder("00-listing-1")
            assert os.listdir(made) == ["out"]
            (made / "stdout").write_text("second")
            with pytest.raises(BlockedError, match="File exists"):
                folder.run_folder("00-listing-1")
            assert folder.runs_there() == 0
        found = [(path / f"00-listing-1.before-{number}" / "stdout").read_text() for number in (1, 2)[: len(earlier)]]
        assert found == earlier


def test_a_folder_that_is_gone_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(BlockedError, match="No such file or directory") as raised:
        EvidenceFolder.resume(tmp_path / "none")
    assert raised.value.problem.startswith(f"cannot go on in the evidence folder: {tmp_path / 'none'}: ")


@pytest.mark.parametrize("report", [None, '{"partial": true}', "{}", "", "[]", "[" * 100_000, "\x00"])
def test_a_diagnosis_without_a_whole_report_is_unfinished(tmp_path: Path, report: str | None) -> None:
    path = leave(tmp_path, report=report)
    assert unfinished(tmp_path, command="bisect", target="test_forward") == path


def test_what_has_a_whole_report_or_no_journal_is_of_another_command_or_target_is_not_gone_on_with(
    tmp_path: Path,
) -> None:
    assert unfinished(tmp_path, command="bisect", target="test_forward") is None
    leave(tmp_path, report=json.dumps({"partial": False}))
    leave(tmp_path, target="test_forward_more")
    leave(tmp_path, target="more_test_forward")
    evidence_in(tmp_path)
    (leave(tmp_path) / "journal.jsonl").unlink()
    assert unfinished(tmp_path, command="bisect", target="test_forward") is None
    assert unfinished(tmp_path, command="bisect", target="test+forward") is None


def test_a_folder_that_cannot_be_listed_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".pooldiag").touch()
    with pytest.raises(BlockedError, match=r"cannot look for an interrupted diagnosis: .*: Not a directory"):
        unfinished(tmp_path, command="bisect", target="test_forward")


def test_the_newest_unfinished_diagnosis_is_gone_on_with(tmp_path: Path) -> None:
    paths = [leave(tmp_path, second=second) for second in (9, *[30] * 11, 8)]
    assert paths[11].name.endswith("-test_forward-11")
    assert unfinished(tmp_path, command="bisect", target="test_forward") == paths[11]
    EvidenceFolder.resume(paths[11]).save(json.dumps({"partial": False}))
    assert unfinished(tmp_path, command="bisect", target="test_forward") == paths[10]


def test_a_target_whose_name_ends_in_a_number_is_not_taken_for_another_one(tmp_path: Path) -> None:
    other = leave(tmp_path, target="test-2")
    assert unfinished(tmp_path, command="bisect", target="test") is None
    assert unfinished(tmp_path, command="bisect", target="test-2") == other


# --- what runs keep as their state ------------------------------------------------------------------------------------


def test_the_folders_for_the_state_of_a_run_are_made_once_and_keep_what_is_in_them(evidence: EvidenceFolder) -> None:
    state = evidence.state_folder("03-fresh-state", ("home/.cache", "tmp"))
    assert state == evidence.path / "03-fresh-state" / "state"
    assert (state / "tmp").is_dir()
    (state / "home" / ".cache" / "kernel").touch()
    assert evidence.state_folder("03-fresh-state", ("home/.cache", "tmp")) == state
    assert (state / "home" / ".cache" / "kernel").exists()
    evidence.drop_state("03-fresh-state")
    assert not state.exists()
    evidence.drop_state("03-fresh-state")


def test_of_a_run_that_keeps_none_nothing_is_made(evidence: EvidenceFolder) -> None:
    assert not evidence.state_folder("01-baseline", ()).exists()


def test_the_state_of_runs_goes_with_the_diagnosis_and_stays_when_that_was_interrupted(tmp_path: Path) -> None:
    with evidence_in(tmp_path) as folder:
        state = folder.state_folder("03-fresh-state", ("tmp",))
    assert not state.exists()
    with contextlib.suppress(KeyboardInterrupt), evidence_in(tmp_path) as folder:
        state = folder.state_folder("03-fresh-state", ("tmp",))
        raise KeyboardInterrupt
    assert (state / "tmp").is_dir()
