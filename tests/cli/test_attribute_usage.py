"""What is typed wrong gets one clear line; what is typed right is what happens."""

import json
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pooldiag.census.layouts import LAYOUTS
from pooldiag.frameworks import FRAMEWORKS
from tests.cli.command import FLOORS, Said, arm, attribute, diagnose, one_problem, pooldiag, script, shell


@pytest.fixture
def vacuous(examples_build: Path) -> Path:
    return examples_build / "zoo" / "vacuous"


def test_a_script_is_a_black_box_and_told_so(tmp_path: Path) -> None:
    report = diagnose(script(tmp_path, "exit 0"), cwd=tmp_path)
    assert (report["status"], report["target"]["framework"]) == ("green", "blackbox")
    assert any("black box" in note for note in report["notes"])
    assert [entry["role"] for entry in report["arms"]] == ["baseline", "fresh-state", "used-state", "placebo"]


def test_a_black_box_that_ends_with_0_says_what_is_not_known_and_what_is_excluded(tmp_path: Path) -> None:
    said = attribute("--repeat=4", script(tmp_path, "exit 0"), cwd=tmp_path)
    assert said.code == 0
    first, second, third, *_ = said.out.splitlines()
    assert first == "Green: exit code 0; whether any test ran is not known"
    assert second == "Nothing red in 4 runs."
    assert third == "A fault that shows in more than 53 % of the runs is excluded (95 %)."
    assert "Next (more runs exclude rarer faults):" in said.out
    assert "--repeat=30" in said.out


def test_a_script_around_a_runner_without_tests_is_void_and_one_with_tests_is_not(tmp_path: Path) -> None:
    report = diagnose(script(tmp_path, "echo; echo 'Ran 0 tests in 0.000s' >&2; echo OK"), cwd=tmp_path)
    assert (report["status"], report["blocked_by"]) == (
        "blocked",
        "no test ran: unittest says «Ran 0 tests in 0.000s»",
    )
    both = script(tmp_path, "echo 'running 0 tests'; echo 'running 2 tests'")
    assert diagnose("--repeat=1", both, cwd=tmp_path)["status"] == "green"


def test_census_lines_that_a_target_prints_can_be_left_out(tmp_path: Path) -> None:
    target = script(tmp_path, "echo 'reference: n=4 nan=4 inf=0 zero=0'")
    report = diagnose("--repeat=1", target, cwd=tmp_path)
    assert report["signature"]["kind"] == "nan"
    (note,) = (note for note in report["notes"] if "printed by the target" in note)
    assert "--no-printed-census" in note
    assert diagnose("--no-printed-census", "--repeat=1", target, cwd=tmp_path)["status"] == "green"
    config = f"[target.quiet]\ncommand = '{target}'\nprinted_census = false\n"
    (tmp_path / "pooldiag.toml").write_text(config)
    assert diagnose("--repeat=1", "quiet", cwd=tmp_path)["status"] == "green"
    assert diagnose("--printed-census", "--repeat=1", "quiet", cwd=tmp_path)["signature"] == report["signature"]


def test_a_script_that_is_red_stays_unresolved_and_its_signal_is_read_through_the_shell(tmp_path: Path) -> None:
    report = diagnose(script(tmp_path, "sh -c 'kill -SEGV $$'"), cwd=tmp_path)
    assert report["status"] == "unresolved"
    assert (report["signature"]["kind"], report["signature"]["signal"]) == ("crash", "SIGSEGV")
    assert {entry["mechanism"] for entry in report["candidates"]} >= {"independent", "cross-device-reuse"}


def test_a_script_around_a_binary_can_be_told_its_framework(blind: Path, tmp_path: Path) -> None:
    wrapper = script(tmp_path, f'exec {blind} "$@"')
    words = ("--framework=doctest", "--profile=vt", "--order=rand", "--seed=7")
    report = diagnose(*words, wrapper, cwd=tmp_path)
    assert report["signature"]["case"] == "bf16 production forward, one layer (CPU backend)"
    assert arm(report, "bypass")["acted"] == "proven"  # its counter says so
    assert arm(report, "exact")["acted"] == "unproven"  # a script's text cannot be searched
    assert report["status"] == "unresolved"


def test_a_report_is_printed_in_the_format_that_is_named(tmp_path: Path) -> None:
    target = script(tmp_path, "exit 0")
    report = json.loads(attribute("--quiet", "--format=json", target, cwd=tmp_path).out)
    assert (report["command"], report["status"]) == ("attribute", "green")
    assert attribute("-q", "--format", "table", target, cwd=tmp_path).out.startswith("Green: ")


def elf32(folder: Path) -> Path:
    """Write the header of a 32-bit x86 program."""
    path = folder / "old"
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    path.write_bytes(
        ident + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048000, 52, 0, 0, 52, 32, 0, 40, 0, 0) + bytes(64)
    )
    path.chmod(0o755)
    return path


def test_targets_that_cannot_be_run_get_one_line_each(refused: Callable[..., str], tmp_path: Path) -> None:
    plain = tmp_path / "notes.txt"
    plain.write_text("no program")
    text = tmp_path / "text"
    text.write_text("no program")
    text.chmod(0o755)
    empty = tmp_path / "empty"
    empty.touch(mode=0o755)
    for target, words in (
        (tmp_path / "nosuch", "no such file"),
        (tmp_path, "is a directory"),
        (elf32(tmp_path), "32-bit"),
        (plain, "is not executable"),
        (text, "neither an ELF program nor a script"),
        (empty, "is empty"),
        (Path(), "is a directory"),
    ):
        assert words in one_problem(refused(target)), target
    assert not (tmp_path / ".pooldiag").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--seed=7",), "--seed 7 changes nothing in file order"),
        (("--outputs=out.bin",), "--outputs out.bin: a raw file does not say what type it is of"),
        (("--outputs=out.npy:",), "'out.npy:' is not GLOB:DTYPE"),
        (("--outputs=out.bin:f8",), "f8"),
        (("--outputs=../out.bin:f32",), "leads out of the run's folder"),
        (("--arm=bypass",), "no = after the role"),
        (("--arm=bypas=X=1",), "no role 'bypas'"),
        (("--arm=baseline=X=1",), "no switch plays the role baseline"),
        (("--arm=poison-n=X=1",), "no bypass is known"),
        (("--property=bypass=apart",), "is not ROLE.NAME=VALUE"),
        (("--property=bypass.addresses=apart",), "no switch plays the role bypass here"),
        (("--counter=hits",), "no name before a ="),
        ((r"--counter=hits=(\d+",), "is no regular expression"),
        (("--timeout=soon",), "'soon' is no duration"),
        (("--timeout=0",), "--timeout 0 ends every run at once"),
        (("--disk-floor=lots",), "'lots' is no size"),
        (("--need=34G",), "has two readings"),
        (("--profile=vtt",), "'vtt' is not known"),
        (("--framework=gtest",), "'gtest' is not known"),
        (("--cwd=nowhere",), "no such directory"),
        (("--before='",), "cannot be split into words"),
        (("--before=a && b",), "no shell reads '&&'"),
        (("--config=no.toml",), "no such file"),
        (("--lock=a.lock",), "contradict each other"),
        (("--dry-run", "--json"), "--dry-run prints no report"),
    ],
)
def test_a_flag_that_cannot_be_meant_is_refused_with_its_value(
    refused: Callable[..., str], vacuous: Path, words: tuple[str, ...], problem: str
) -> None:
    assert problem in one_problem(refused(*words, vacuous))


def test_a_case_that_is_not_there_is_refused_with_its_name(vacuous: Path, tmp_path: Path) -> None:
    said = attribute("--case=nobody", vacuous, cwd=tmp_path)
    assert said.code == 2
    assert "'nobody' names no case" in one_problem(said.err)


@pytest.mark.parametrize("flag", ["-tc=x", "--test-case=x", "-dt-o=x", "-r=xml", "--order-by=rand", "-ltc", "-aa=1"])
def test_a_flag_of_the_targets_own_that_would_fight_ours_is_refused_by_name(
    refused: Callable[..., str], vacuous: Path, flag: str
) -> None:
    assert flag.partition("=")[0] in one_problem(refused(vacuous, flag))


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (("attribute", "--nonsense", "x"), "no such option: --nonsense", "pooldiag attribute --help"),
        (("attribute", "--no-lock"), "missing argument 'TARGET'", "pooldiag attribute --help"),
        (("attribute", "--seed=x", "x"), "invalid value for '--seed': ", "pooldiag attribute --help"),
        (("attribute", "--seed=-1", "x"), "invalid value for '--seed': ", "pooldiag attribute --help"),
        (("attribute", "--order=up", "x"), "'up' is not one of 'file', 'name', 'suite', 'reverse', 'rand'", "--help"),
        (("attribute", "--seed"), "option '--seed' requires an argument", "pooldiag attribute --help"),
        (("attribute", "--no-lock=1", "x"), "option '--no-lock' does not take a value", "pooldiag attribute --help"),
        (("attribute", "-qx", "x"), "no such option: -x", "pooldiag attribute --help"),
        (("attribute", "--ordr=file", "x"), "no such option: --ordr (Possible options: --order)", "--help"),
        (("bisect", "-j0", "x"), "invalid value for '--jobs': '0' is not a whole number, 1 or more", "bisect --help"),
        (("attribute", "--confidence=x", "x"), "invalid value for '--confidence': 'x' is not a number", "--help"),
        (("profiles", "vt", "glibc"), "got unexpected extra argument(s) (glibc)", "pooldiag profiles --help"),
        (("--nonsense",), "no such option: --nonsense", "pooldiag --help"),
        (("atribute", "x"), "'atribute' is no command", "nearest: attribute"),
        (("a\nb\x1b[1m",), "'a\\nb\\x1b[1m' is no command", "nearest: "),
        (("attribute", "--a\nb\x1b[1m", "x"), "no such option: --a", "--help"),
    ],
)
def test_words_that_no_command_understands_are_one_line_with_where_to_look(
    typed: Callable[..., Said], tmp_path: Path, words: tuple[str, ...], problem: str, hint: str
) -> None:
    said = typed(*words, cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert problem in one_problem(said.err)
    assert hint in said.err.splitlines()[1]
    assert "\x1b" not in said.err


def test_a_command_without_a_word_is_its_help(typed: Callable[..., Said], tmp_path: Path) -> None:
    for command in ("attribute", "bisect", "orders"):
        said = typed(command, cwd=tmp_path)
        assert (said.code, said.err) == (2, "")
        assert said.out.strip() == typed(command, "--help", cwd=tmp_path).out.strip()


def test_words_that_no_command_understands_leave_no_trace_of_python(tmp_path: Path) -> None:
    for words in (("atribute", "x"), ("attribute", "--nonsense", "x")):
        said = pooldiag(*words, cwd=tmp_path)
        assert (said.code, said.out) == (2, "")
        one_problem(said.err)


def test_a_filter_of_the_targets_own_is_listed_and_run_alike(blind: Path, tmp_path: Path) -> None:
    report = diagnose(blind, "-tce=*CUDA*", cwd=tmp_path)
    cases = arm(report, "baseline")["cases"]
    assert cases["passed"] == cases["selected"] == 8
    assert report["target"]["cases"] == 8


def test_a_dry_run_runs_nothing_and_needs_no_lock(typed: Callable[..., Said], tmp_path: Path) -> None:
    target = script(tmp_path, f"touch {tmp_path}/ran")
    said = typed("attribute", "--dry-run", f"--lock={tmp_path}/l", "--arm=bypass=A=1 -B", target, cwd=tmp_path)
    assert said.code == 0
    assert re.search(r"bypass +A=1 -B", said.out)
    baselines = "The baseline runs 2x, up to 30x while it is green and quick"
    assert f"{baselines}; what the runs show says which arm is next, 96 runs at most." in said.out
    again = typed("attribute", "--dry-run", "--repeat=3", target, cwd=tmp_path)
    assert "The baseline runs 3x; once something is red, so does every arm." in again.out
    assert {path.name for path in tmp_path.iterdir()} == {"target.sh"}


def test_the_configuration_names_targets_and_a_flag_wins(blind: Path, tmp_path: Path) -> None:
    (tmp_path / "pooldiag.toml").write_text(
        f'[target.forward]\ncommand = "{blind}"\norder = "rand"\nseed = 7\n[lock]\npaths = []\n[run]\nrepeat = 2\n'
    )
    (tmp_path / "below").mkdir()
    report = diagnose("forward", cwd=tmp_path / "below")
    assert report["answer"] == "carried-by-pool"
    assert {entry["runs"] for entry in report["arms"]} == {2}
    assert report["lock"] is None
    assert diagnose("--order=file", "--repeat=1", "forward", cwd=tmp_path)["status"] == "green"


def test_a_mistake_in_the_configuration_is_one_line_with_the_nearest_key(
    refused: Callable[..., str], vacuous: Path, tmp_path: Path
) -> None:
    (tmp_path / "pooldiag.toml").write_text('[target.t]\ncomand = "x"\n')
    err = refused(vacuous)
    assert "unknown key" in one_problem(err)
    assert "nearest: command" in err
    (tmp_path / "pooldiag.toml").write_text("[target.t\n")
    assert "pooldiag.toml:1: not TOML" in one_problem(refused(vacuous))


def test_a_folder_that_cannot_be_written_is_one_line(vacuous: Path, tmp_path: Path) -> None:
    (tmp_path / ".pooldiag").write_text("in the way")
    said = attribute(vacuous, cwd=tmp_path)
    assert said.code in {2, 4}
    assert ".pooldiag" in one_problem(said.err)


def test_a_working_directory_is_where_the_target_runs(vacuous: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    script(tmp_path, "pwd; test -e ../target.sh")
    report = diagnose("--cwd=there", "./target.sh", cwd=tmp_path)
    assert report["status"] == "green"
    assert (Path(report["evidence"]) / "01-baseline" / "stdout").read_text() == f"{tmp_path}/there\n"
    assert report["target"]["argv"] == ["./target.sh"]
    assert diagnose("--cwd=there", vacuous, cwd=tmp_path)["status"] == "green"


def test_help_names_every_framework_and_every_type(typed: Callable[..., Said], tmp_path: Path) -> None:
    text = typed("attribute", "--help", cwd=tmp_path, COLUMNS="200").out
    assert all(name in text for name in (*FRAMEWORKS, *LAYOUTS))
    assert "default" in text


def test_nothing_typed_is_help() -> None:
    assert "attribute" in pooldiag(cwd=Path()).out


def test_without_a_home_only_the_default_lock_is_missing(vacuous: Path, tmp_path: Path) -> None:
    nobody = ["unshare", "--user", "--map-user=54321", "env", "-u", "HOME", sys.executable, "-m", "pooldiag"]
    words = ["attribute", "--quiet", *FLOORS, "--dry-run", str(vacuous)]
    refused = subprocess.run([*nobody, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    if "unshare" in refused.stderr:
        pytest.skip(f"no user namespace can be made here: {refused.stderr.strip()}")
    assert (refused.returncode, "name a lock with --lock" in refused.stderr) == (2, True)
    planned = subprocess.run(
        [*nobody, words[0], "--no-lock", *words[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (planned.returncode, planned.stderr) == (0, "")


def test_a_directory_that_is_gone_is_one_line(vacuous: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"cd {gone} && rmdir {gone} && {sys.executable} -m pooldiag attribute --no-lock {vacuous}"
    done = shell(line, cwd=tmp_path)
    assert done.returncode == 2
    assert one_problem(done.stderr) == "pooldiag: the current directory is gone"


def test_a_reproducer_of_another_directory_names_the_target_from_there(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "there").mkdir()
    script(tmp_path / "a b", "exit 3")
    report = diagnose("--cwd=../there", "../a b/target.sh", cwd=tmp_path / "a b")
    assert shell(report["reproducer"], cwd=tmp_path / "a b").returncode == 3


def test_what_the_first_run_changes_is_told(tmp_path: Path) -> None:
    target = script(tmp_path, "test ! -e cache.tmp || exit 1; touch cache.tmp")
    report = diagnose(target, cwd=tmp_path)
    assert any("cache.tmp" in note and "01-baseline" in note for note in report["notes"])


@pytest.mark.parametrize("odd", ["mkfifo", "mkdir"])
def test_a_report_that_is_no_file_is_no_report_and_no_hang(tmp_path: Path, odd: str) -> None:
    take = 'for word; do case $word in -dt-out=*) out=${word#-dt-out=};; esac; done; rm -f "$out"'
    target = script(tmp_path, f'{take}; {odd} "$out"')
    report = diagnose("--framework=doctest", target, cwd=tmp_path)
    assert report["status"] == "green"
    assert any("no list of cases" in note for note in report["notes"])


def test_a_seed_that_no_framework_reads_is_refused(vacuous: Path, tmp_path: Path) -> None:
    said = attribute("--order=rand", "--seed=4294967296", vacuous, cwd=tmp_path)
    assert said.code == 2
    assert "2147483647" in said.err
