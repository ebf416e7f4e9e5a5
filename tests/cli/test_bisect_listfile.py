"""`bisect` of a runner that takes a file of names: a pytest suite, and a harness in plain sh."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.cli.command import bisect, checked, one_problem, pooldiag, script, shell, survey

EXAMPLES = Path(__file__).parents[2] / "examples" / "listfile"
LISTFILE = "--framework=listfile"


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of these tests is the one that the example's first line finds."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.usefixtures("path")
def test_a_pytest_suite_is_bisected_through_the_example(tmp_path: Path) -> None:
    report = bisect(LISTFILE, "--no-arms", EXAMPLES / "run_pytest", EXAMPLES / "suite", cwd=tmp_path)
    assert (report["status"], report["target"]["framework"]) == ("found", "listfile")
    (polluter,) = report["polluters"]
    assert "test_rounding.py::" in polluter
    assert shell(report["reproducer"], cwd=tmp_path).returncode == 1
    assert shell(report["green_command"], cwd=tmp_path).returncode == 0


@pytest.mark.usefixtures("path")
def test_a_case_of_pytest_that_deletes_its_working_directory_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import os, tempfile\n"
        "def test_1(): pass\n"
        "def test_deletes(): os.chdir(gone := tempfile.mkdtemp()); os.rmdir(gone)\n"
        "def test_2(): pass\n"
        "def test_3():\n"
        "    os.getcwd()\n"
        "def test_4(): pass\n"
    )
    report = bisect(LISTFILE, "--no-arms", EXAMPLES / "run_pytest", "test_it.py", cwd=tmp_path)
    assert (report["status"], report["victim"]) == ("found", "test_it.py::test_3")
    assert report["polluters"] == ["test_it.py::test_deletes"]
    assert report["signature"]["place"] == "test_it.py:6"


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("closes", ["sys.stdout.close()", "os.close(1)"])
def test_a_case_of_pytest_that_closes_stdout_is_found(tmp_path: Path, closes: str) -> None:
    (tmp_path / "test_it.py").write_text(
        f"import os, sys\ndef test_1(): pass\ndef test_closes(): {closes}\ndef test_2(): pass\n"
        "def test_3():\n    print('x', flush=True)\n"
    )
    report = bisect(LISTFILE, "--no-arms", EXAMPLES / "run_pytest", "-s", "test_it.py", cwd=tmp_path)
    assert (report["status"], report["victim"]) == ("found", "test_it.py::test_3")
    assert report["polluters"] == ["test_it.py::test_closes"]
    assert report["others"] == []


@pytest.mark.usefixtures("path")
def test_what_the_import_of_another_file_does_to_a_pytest_case_is_no_other_cases_doing(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("import os\nos.environ['SET_BY_IMPORT'] = '1'\ndef test_a(): pass\n")
    (tmp_path / "test_b.py").write_text("import os\ndef test_b(): assert 'SET_BY_IMPORT' not in os.environ\n")
    report = bisect(LISTFILE, "--no-arms", EXAMPLES / "run_pytest", "test_a.py", "test_b.py", cwd=tmp_path)
    assert (report["victim"], report["polluters"], report["prefix"]) == ("test_b.py::test_b", [], 0)


@pytest.mark.usefixtures("path")
def test_the_lines_of_a_collection_are_a_sequence_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_1(): pass\n@pytest.mark.unknown\ndef test_2(): pass\ndef test_3(): pass\n"
    )
    typed = "pytest -p no:cacheprovider --collect-only -q -k 'not 3' | pooldiag bisect --no-lock --dry-run --sequence=-"
    said = shell(f"{typed} --framework listfile {EXAMPLES / 'run_pytest'}", cwd=tmp_path)
    assert (said.returncode, said.stderr) == (0, "")
    assert "order      1 cases, then test_it.py::test_2" in said.stdout.splitlines()


def test_a_harness_in_plain_sh_is_bisected_too(tmp_path: Path) -> None:
    report = bisect(LISTFILE, "--no-arms", EXAMPLES / "checks.sh", cwd=tmp_path)
    assert (report["status"], len(report["polluters"])) == ("found", 1)
    assert shell(report["reproducer"], cwd=tmp_path).returncode != 0
    assert shell(report["green_command"], cwd=tmp_path).returncode == 0


@pytest.mark.usefixtures("path")
def test_a_suite_that_cannot_be_collected_blocks_in_the_words_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n")
    (tmp_path / "test_x.py").write_text("import nowhere_to_be_found\n")
    report = bisect(LISTFILE, EXAMPLES / "run_pytest", cwd=tmp_path)
    assert (report["status"], report["runs"]) == ("blocked", 0)
    assert report["blocked_by"] == (
        "the target could not list its cases (exit code 2): 1 error during collection: ModuleNotFoundError: No module"
        " named 'nowhere_to_be_found' (test_x.py)"
    )


def test_a_whole_listing_beside_an_error_is_not_used(tmp_path: Path) -> None:
    target = script(tmp_path, 'printf "case a\\nend\\n" >"${1#*=}"; echo no device >&2; exit 3')
    report = bisect(LISTFILE, target, cwd=tmp_path)
    assert report["blocked_by"] == "the target could not list its cases (exit code 3): no device"


def test_any_wanted_order_runs_as_it_is_wanted(tmp_path: Path) -> None:
    found = bisect(LISTFILE, "--no-arms", EXAMPLES / "checks.sh", cwd=tmp_path)
    (polluter,), victim = found["polluters"], found["victim"]
    (tmp_path / "backwards").write_text(f"{victim}\n{polluter}\n")
    backwards = bisect(LISTFILE, "--no-arms", "--sequence=backwards", EXAMPLES / "checks.sh", cwd=tmp_path)
    assert (backwards["status"], backwards["victim"]) == ("green", None)
    (tmp_path / "forwards").write_text(f"{polluter}\n{victim}\n")
    forwards = bisect(LISTFILE, "--no-arms", "--sequence=forwards", EXAMPLES / "checks.sh", cwd=tmp_path)
    assert (forwards["polluters"], forwards["victim"], forwards["prefix"]) == ([polluter], victim, 1)
    assert {report["target"]["order"] for report in (backwards, forwards)} == {"sequence"}


def test_a_sequence_in_the_words_of_a_collection_has_its_victim_anywhere(tmp_path: Path) -> None:
    lines = ("passwd_fields", "no_word", "two_words", "three_words", "", "4 tests collected in 0.02s")
    (tmp_path / "collected").write_text("".join(f"{line}\n" for line in lines))
    target = EXAMPLES / "checks.sh"
    said = pooldiag(
        "bisect", "--no-lock", "--no-arms", LISTFILE, "--sequence=collected", "--victim=two_words", target, cwd=tmp_path
    )
    assert said.code == 1, said.out
    assert "Polluter  passwd_fields, case 1 of 3" in said.out
    assert ", listfile, 4 cases, sequence, " in " ".join(said.out.split())
    assert "file order" not in said.out
    wrong = pooldiag("bisect", "--no-lock", LISTFILE, "--sequence=collected", "--victim=two_wods", target, cwd=tmp_path)
    assert (wrong.code, one_problem(wrong.err)) == (2, "pooldiag: --victim 'two_wods' is not in --sequence")
    assert "'two_words'" in wrong.err


@pytest.mark.parametrize(
    "words", [("bisect",), ("attribute",), ("orders", "--orders=file,name,reverse", "--seeds=none")]
)
def test_where_a_script_runs_the_cases_nothing_is_said_of_pools_and_devices(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    said = pooldiag(*words, "--lock=l", "-q", LISTFILE, EXAMPLES / "checks.sh", cwd=tmp_path)
    assert said.code in {1, 3}, said.err
    about = re.compile(
        r"\b(pool|allocator|profile|lock|block|scratch|stream|bypass|poison|serial|switch)", re.IGNORECASE
    )
    waited = re.sub(r"; the\s+lock\s+came\s+after", "", said.out)  # on a busy machine even a free one takes a while
    assert about.findall(waited.replace(".pooldiag", "").replace("pooldiag ", "").replace("--lock=l", "")) == []
    (saved,) = tmp_path.glob(".pooldiag/*/report.json")
    assert checked(saved.read_text())["target"]["profile"] is None
    plan = pooldiag(words[0], "--dry-run", "--no-lock", LISTFILE, EXAMPLES / "checks.sh", cwd=tmp_path).out
    assert "profile" not in plan


def test_where_a_switch_is_named_for_a_script_its_pool_is_spoken_of(tmp_path: Path) -> None:
    arm = "--arm=bypass=MY_POOL=off"
    said = pooldiag("attribute", "--lock=l", "-q", LISTFILE, arm, EXAMPLES / "checks.sh", cwd=tmp_path)
    assert ", profile custom, " in " ".join(said.out.split())
    assert "the lock was free" in " ".join(said.out.split())
    assert "What would decide: " in said.out


def test_seeds_give_such_a_runner_orders_of_ours(tmp_path: Path) -> None:
    report = survey(LISTFILE, "--orders=file,name", "--seeds=0..5", EXAMPLES / "checks.sh", cwd=tmp_path)
    readings = {entry["reading"] for entry in report["orders"]}
    assert readings == {"green", "red"}
