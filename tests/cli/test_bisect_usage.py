"""`pooldiag bisect` before it runs anything: what is asked for, what is refused, what an earlier report adds."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pooldiag.cli.bisect import COMMAND, decide_bisect, read_sequence
from pooldiag.model.settings import BisectSettings
from tests.cli.command import FLOORS, Said, diagnose, environment, one_problem, script

VICTIM = "bf16 production forward, one layer (CPU backend)"


Plan = Callable[..., str]
Refusal = Callable[..., Said]
Reporter = Callable[..., Path]


@pytest.fixture
def planned(typed: Callable[..., Said], tmp_path: Path) -> Plan:
    """Return the plan of a bisection without a lock."""

    def plan(*words: str | Path, cwd: Path = tmp_path, **changes: str) -> str:
        said = typed("bisect", "--dry-run", "--no-lock", *words, cwd=cwd, **changes)
        assert (said.code, said.err) == (0, "")
        return said.out

    return plan


@pytest.fixture
def refused(typed: Callable[..., Said], tmp_path: Path) -> Refusal:
    """Return what is said to words that cannot be meant."""

    def refusal(*words: str | Path, cwd: Path = tmp_path, **changes: str) -> Said:
        said = typed("bisect", "--dry-run", *words, cwd=cwd, **changes)
        assert (said.code, said.out) == (2, "")
        one_problem(said.err)
        return said

    return refusal


def fact(plan: str, name: str) -> str:
    """Return one line of the head of a plan, without its name."""
    (line,) = (line for line in plan.splitlines() if line.startswith(f"{name:<11}"))
    return line[11:]


def settings_of(*words: str) -> BisectSettings:
    """Return what such words decide."""
    settings, _ = decide_bisect(COMMAND.read(words))
    return settings


# Words


def test_the_help_names_every_option_and_what_follows_target_is_the_targets(
    planned: Plan, typed: Callable[..., Said], blind: Path, tmp_path: Path
) -> None:
    text = typed("bisect", "--help", cwd=tmp_path, COLUMNS="200").out
    options = (
        "order seed case victim framework cwd before keep-env sequence profile arm stats counter arms no-arms "
        "confidence budget max-runs repeat all jobs resume resume-from outputs requires fresh-check timeout grace lock "
        "no-lock lock-wait disk-floor memory-floor need config json dry-run quiet"
    )
    assert [option for option in options.split() if f"--{option} " not in text] == []
    panels = [text.index(f"─ {title} ─") for title in ("What is run", "Arms", "The search", "What is read", "Bounds")]
    assert panels == sorted(panels)
    assert fact(planned(blind, "--seed=1"), "target").endswith("test_forward --seed=1")


def test_a_plan_says_what_is_looked_for_and_which_arms_run_on_what_is_left(
    planned: Plan, blind: Path, tmp_path: Path
) -> None:
    plan = planned("--order=rand", "--seed=7", f"--victim={VICTIM}", "--all", blind)
    assert fact(plan, "order") == "rand order, seed 7"
    assert fact(plan, "victim") == VICTIM
    assert "every independent set of polluters; 1000 runs at most" in plan
    assert "ceil(log2 m)" in plan
    assert "bypass " in plan
    bare = planned("--no-arms", "--max-runs=30", blind)
    assert "30 runs at most" in bare
    assert "bypass " not in bare
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (("--jobs=2",), "--jobs 2: a lock is for one run at a time", "--no-lock"),
        (("--jobs=2", "--no-lock", "--before=true"), "--jobs 2: --before is for one run at a time", "--jobs 1"),
        (("-j", "2", "--no-lock", "--fresh-check=true"), "--jobs 2: --fresh-check is for one run", "--jobs 1"),
        (("--jobs=0",), "invalid value for '--jobs'", "bisect --help"),
        (("--resume", "--resume-from=x"), "--resume and --resume-from contradict each other", "one of them"),
        (("--resume",), "has no interrupted bisection of test_forward", "begin anew"),
        (("--resume-from=x",), "--resume-from x: no such folder", "evidence folder"),
        (("--sequence=x",), "--sequence x: No such file or directory", "one a line"),
        (("--sequence=.",), "--sequence .: Is a directory", "one a line"),
        (("--sequence=/dev/null",), "--sequence /dev/null: no name in it", "one a line"),
        (("--sequence=/dev/zero",), "--sequence /dev/zero: more than", "one a line"),
        (("--sequence=-", "--order=rand"), "--sequence is an order of its own", "--order"),
        (("--framework=blackbox",), "it has no cases to order", "doctest, listfile"),
        (("--confidence=2",), "--confidence 2 is no share", "0.99"),
        (("--dry-run", "--json"), "--dry-run prints no report", "--json"),
    ],
)
def test_what_cannot_be_meant_is_one_line(
    refused: Refusal, blind: Path, words: tuple[str, ...], problem: str, hint: str
) -> None:
    said = refused(*words, blind)
    assert problem in said.err.splitlines()[0]
    assert hint in said.err.splitlines()[1]


@pytest.mark.parametrize("word", ["--no-arms", "--all", "--jobs=2", "--resume"])
def test_an_option_of_its_own_may_stand_behind_target(
    typed: Callable[..., Said], blind: Path, tmp_path: Path, word: str
) -> None:
    before, behind = (
        typed("bisect", "--dry-run", "--no-lock", *words, cwd=tmp_path) for words in ((word, blind), (blind, word))
    )
    assert before == behind


def test_a_script_has_no_cases_until_its_framework_is_named(planned: Plan, refused: Refusal, tmp_path: Path) -> None:
    target = script(tmp_path, "exit 1")
    assert "no test framework is known in it" in refused("--no-lock", target).err
    assert fact(planned("--framework=listfile", target), "framework") == "listfile"


def test_jobs_may_stand_in_the_configuration_and_runs_of_the_arms_do_not_bound_the_search(
    planned: Plan, blind: Path, tmp_path: Path
) -> None:
    (tmp_path / "pooldiag.toml").write_text("[lock]\npaths = []\n[run]\njobs = 3\nmax_runs = 7\n")
    assert fact(planned(blind), "at once") == "3 runs"
    assert "1000 runs at most" in planned(blind)
    assert "8 runs at most" in planned("--max-runs=8", blind)
    assert fact(planned("-j5", blind), "at once") == "5 runs"
    assert "at once" not in planned("--jobs=1", blind)


def test_further_commands_can_be_made_of_what_was_typed(
    blind: Path, report: Reporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    resumed = f"--resume-from={report('bisect')}"
    settings = settings_of("--jobs=2", "--quiet", "--all", "--no-lock", resumed, str(blind), "-x")
    assert settings.invocation.having("--jobs=3") == f"pooldiag bisect --no-lock --all --jobs=3 {blind} -x"
    assert settings.common.invocation.having("--repeat=3") == f"pooldiag attribute --no-lock --repeat=3 {blind} -x"
    assert settings.common.invocation.directory == tmp_path


def test_commands_made_of_a_report_are_right_where_they_are_typed_now(
    blind: Path, report: Reporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pooldiag.toml").write_text(f'[target.fwd]\ncommand = "{blind}"\n')
    (tmp_path / "test").symlink_to(blind)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    for target, line in (
        ("fwd", f"pooldiag attribute --no-lock --config={tmp_path}/pooldiag.toml fwd"),
        ("./test", f"pooldiag attribute --cwd={tmp_path} --no-lock {tmp_path}/test"),
    ):
        folder = report(invocation={"options": ["--no-lock"], "target": [target], "directory": str(tmp_path)})
        settings = settings_of(str(folder))
        assert settings.common.invocation.having() == line
        assert settings.invocation.having() == f"pooldiag bisect {folder}"


# A wanted order


def test_a_sequence_is_read_as_it_stands_and_its_last_name_is_the_victim(
    planned: Plan, blind: Path, tmp_path: Path
) -> None:
    (tmp_path / "names").write_bytes(b"\xef\xbb\xbfone\r\n\n  two, [x] \nlast\xe9 #1")
    plan = planned("--sequence=names", blind)
    assert fact(plan, "order") == r"2 cases, then last\xE9 #1"
    assert read_sequence(tmp_path / "names") == ("one", "  two, [x] ", r"last\xE9 #1")
    assert fact(plan, "victim") == r"last\xE9 #1"


def test_a_sequence_is_followed_up_to_the_victim_that_is_named_and_a_summary_is_not_a_case(
    planned: Plan, blind: Path, tmp_path: Path
) -> None:
    (tmp_path / "names").write_text("one\ntwo\nthree\nfour\n\n4/5 tests collected (1 deselected) in 0.01s\n")
    plan = planned("--sequence=names", "--victim=three", blind)
    assert (fact(plan, "order"), fact(plan, "victim")) == ("2 cases, then three", "three")
    assert fact(planned("--sequence=names", blind), "victim") == "four"


def test_a_sequence_may_come_from_another_command(blind: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pooldiag", "bisect", "--dry-run", "--no-lock", "--sequence=-", str(blind)]
    done = subprocess.run(
        ["sh", "-c", f"printf 'a\\nb\\nc\\n' | {shlex.join(words)}"],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert fact(done.stdout, "order") == "2 cases, then c"


# An earlier report


@pytest.fixture
def report(blind: Path, tmp_path: Path) -> Reporter:
    """Save a report as an earlier command in `tmp_path` would have, and return its evidence folder."""

    def save(command: str = "attribute", *options: str, name: str = "test_forward", **facts: Any) -> Path:  # noqa: ANN401 - JSON
        red = {"kind": "crash", "signal": "SIGSEGV", "case": VICTIM, "place": "test_forward.cpp:65"}
        other = {"kind": "failure", "signal": None, "case": "shape", "place": None}
        document = {
            "schema": "pooldiag.report/1",
            "command": command,
            "partial": False,
            "signature": red,
            "others": [{"signature": other}],
            "arms": [{"role": "baseline", "red": 2, "new_red": 0}],
            "invocation": {"options": list(options), "target": [str(blind)], "directory": str(tmp_path)},
        } | facts
        time = f"20260101T00000{len(list(tmp_path.glob('.pooldiag/*')))}Z"
        folder = tmp_path / ".pooldiag" / f"{time}-{command}-{name}"
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").touch()
        (folder / "report.json").write_text(json.dumps(document))
        return folder

    return save


def test_the_report_of_a_real_diagnosis_names_target_order_directory_and_red(
    planned: Plan, blind: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "test").symlink_to(blind)
    evidence = Path(diagnose("--order=rand", "--seed=7", "--repeat=1", "./test", cwd=here)["evidence"])
    for target, cwd in ((evidence, here), (evidence / "report.json", here), (evidence, tmp_path)):
        plan = planned(target, cwd=cwd)
        assert fact(plan, "order") == "rand order, seed 7"
        assert fact(plan, "directory") == str(here)
        assert fact(plan, "red").startswith(f"SIGSEGV in {VICTIM}")
        assert fact(plan, "target") == ("./test" if cwd == here else f"{here}/test")


def test_the_options_of_a_report_are_those_of_the_bisection_but_for_what_attribute_may_spend(
    planned: Plan, report: Reporter, tmp_path: Path
) -> None:
    (tmp_path / "weights").touch()
    folder = report(
        "attribute",
        *("--order=rand", "--seed=3", "--case=a*", "--case=b", "--requires=weights", "--keep-env=MALLOC_CONF"),
        *("--arms=bypass", "--max-runs=5", "--budget=1s", "--confidence=0.9", "--repeat=2", "--timeout=5"),
    )
    (tmp_path / "below").mkdir()
    plan = planned(folder, cwd=tmp_path / "below", MALLOC_CONF="x")
    assert fact(plan, "cases") == "a*, b"
    assert fact(plan, "requires") == str(tmp_path / "weights")
    assert fact(plan, "directory") == str(tmp_path)
    assert "1000 runs at most" in plan
    assert "bypass " in plan
    assert "exact " not in plan
    assert "MALLOC_CONF" not in plan


def test_a_flag_outranks_what_the_report_says(
    planned: Plan, typed: Callable[..., Said], report: Reporter, tmp_path: Path
) -> None:
    (tmp_path / "names").write_text("one\nshape\n")
    folder = report("attribute", "--order=rand", "--seed=3", f"--victim={VICTIM}", "--no-lock", "--cwd=.")
    assert fact(planned("--order=name", folder), "order") == "name order"
    assert fact(planned("--seed=4", folder), "order") == "rand order, seed 4"
    sequence = planned("--sequence=names", folder)
    assert fact(sequence, "order") == "1 cases, then shape"
    assert fact(sequence, "red") == "failure in shape"
    victim = planned("--victim=nobody", folder)
    assert fact(victim, "victim") == "nobody"
    assert "red  " not in victim
    assert fact(planned(folder, "--own"), "target").endswith(" --own")
    locked = typed("bisect", "--dry-run", "--lock=l", folder, cwd=tmp_path)
    assert fact(locked.out, "lock") == str(tmp_path / "l")
    kept = typed("bisect", "--dry-run", folder, cwd=tmp_path, POOLDIAG_LOCK="l")
    assert fact(kept.out, "lock") == "none"


def test_a_lock_of_the_report_is_held_and_can_be_left_out(
    planned: Plan, typed: Callable[..., Said], report: Reporter, tmp_path: Path
) -> None:
    folder = report("attribute", "--lock=a.lock", "--lock=b.lock")
    (tmp_path / "below").mkdir()
    said = typed("bisect", "--dry-run", folder, cwd=tmp_path / "below")
    assert fact(said.out, "lock") == f"{tmp_path}/a.lock, {tmp_path}/b.lock"
    assert fact(planned(folder, cwd=tmp_path / "below"), "lock") == "none"
    outranked = report("attribute", "--lock=of-the-environment", "--no-lock")
    assert fact(typed("bisect", "--dry-run", outranked, cwd=tmp_path).out, "lock") == "none"


def test_a_target_of_a_configuration_is_found_in_the_one_of_the_report(
    planned: Plan, report: Reporter, blind: Path, tmp_path: Path
) -> None:
    (tmp_path / "pooldiag.toml").write_text(f'[target.fwd]\ncommand = "{blind}"\norder = "rand"\nseed = 9\n')
    folder = report(invocation={"options": [], "target": ["--", "fwd"], "directory": str(tmp_path)})
    (tmp_path / "below" / ".git").mkdir(parents=True)
    plan = planned(folder, cwd=tmp_path / "below")
    assert fact(plan, "order") == "rand order, seed 9"
    assert fact(plan, "directory") == str(tmp_path)


def test_a_configured_name_outranks_an_evidence_folder_of_that_name(
    planned: Plan, report: Reporter, blind: Path, tmp_path: Path
) -> None:
    report().rename(tmp_path / "fwd")
    assert fact(planned("fwd"), "red")
    (tmp_path / "pooldiag.toml").write_text(f'[target.fwd]\ncommand = "{blind}"\n')
    assert "red  " not in planned("fwd")


def test_a_report_that_does_not_say_how_it_was_asked_for_says_what_was_run(
    planned: Plan, report: Reporter, blind: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "test").symlink_to(blind)
    run = {"argv": ["./test", "-x"], "directory": str(tmp_path / "there"), "framework": "doctest", "order": "name"}
    evidence = str(tmp_path / ".pooldiag" / "x")
    saved = report(invocation=None, target=run, evidence=evidence) / "report.json"
    moved = saved.rename(tmp_path / "there" / "moved.json")
    plan = planned(moved, cwd=tmp_path / "there")
    assert fact(plan, "target") == f"{tmp_path}/test -x"
    assert fact(plan, "directory") == str(tmp_path / "there")
    assert fact(plan, "order") == "name order"


def test_a_case_that_is_red_alone_and_green_among_the_others_is_bisected(planned: Plan, report: Reporter) -> None:
    arms = [{"role": "baseline", "red": 0, "new_red": 0}, {"role": "isolate", "red": 1, "new_red": 0}]
    assert fact(planned(report(arms=arms)), "red").startswith("SIGSEGV in")


@pytest.mark.parametrize(
    ("facts", "problem", "hint"),
    [
        ({"schema": "other/1"}, "not a report of pooldiag", "report.json"),
        ({"command": None}, "not a report of pooldiag", "report.json"),
        ({"schema": "pooldiag.report/2"}, "of the schema pooldiag.report/2", "pooldiag.report/1"),
        ({"command": "census"}, "a report of `census`", "report.json"),
        ({"command": "orders"}, "a report of `orders`", "--seed=N"),
        ({"signature": None, "others": []}, "nothing in it is red", "pooldiag orders"),
        (
            {"arms": [{"role": "baseline", "red": 0, "new_red": 0}, {"role": "bypass", "red": 1, "new_red": 0}]},
            "red under bypass only",
            "--keep-env",
        ),
        ({"signature": {"kind": "odd"}}, "a damaged report: 'odd'", "report.json"),
        ({"signature": {"kind": "hang", "case": 3}}, "a damaged report: no text", "report.json"),
        ({"arms": 3}, "a damaged report", "report.json"),
        ({"invocation": None}, "a damaged report: no 'target'", "report.json"),
        ({"invocation": {"options": ["--new"], "target": ["x"], "directory": "/"}}, "--new is not known", "target"),
        ({"invocation": {"options": ["--seed=x"], "target": ["x"], "directory": "/"}}, "'x'", "target"),
        ({"invocation": {"options": "--seed=1", "target": ["x"], "directory": "/"}}, "no list of words", "report.json"),
        ({"invocation": {"options": [], "target": [], "directory": "/"}}, "a damaged report", "report.json"),
        ({"invocation": {"options": [], "target": ["gone"], "directory": "/"}}, "/gone: no such file", "test binary"),
    ],
)
def test_a_report_that_names_nothing_to_bisect_is_one_line(
    refused: Refusal, report: Reporter, facts: dict[str, Any], problem: str, hint: str
) -> None:
    said = refused("--no-lock", report(**facts))
    assert problem in said.err.splitlines()[0]
    assert hint in said.err.splitlines()[1]


@pytest.mark.parametrize("text", ["", "[]", "3", '{"a":', "\xff", "[" * 10**5])
def test_a_file_that_is_no_report_is_one_line(refused: Refusal, tmp_path: Path, text: str) -> None:
    (tmp_path / "some.json").write_bytes(text.encode("latin-1"))
    assert "some.json: not" in one_problem(refused("--no-lock", "some.json").err)


def test_a_folder_without_a_report_is_no_target(refused: Refusal, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "is a directory" in one_problem(refused("--no-lock", "empty").err)


# An interrupted bisection


def test_the_newest_interrupted_bisection_of_the_target_is_gone_on_with(
    planned: Plan, report: Reporter, blind: Path, tmp_path: Path
) -> None:
    report("bisect", partial=True)
    wanted = report("bisect", partial=True)
    report("bisect", partial=False)
    report("attribute", partial=True)
    report("bisect", partial=True, name="test_forwards")
    elsewhere = {"options": [], "target": ["/bin/true"], "directory": str(tmp_path)}
    report("bisect", partial=True, invocation=elsewhere)
    assert fact(planned("--resume", blind), "goes on") == str(wanted)
    early = report("bisect")
    (early / "report.json").unlink()  # killed before it had a report
    assert fact(planned("--resume", blind), "goes on") == str(early)
    same_second = [early.with_name(f"{early.name}-{number}") for number in (10, 2, 9)]
    for folder in same_second:
        folder.mkdir()
        (folder / "journal.jsonl").touch()
    assert fact(planned("--resume", blind), "goes on") == str(same_second[0])


def test_a_folder_can_be_named_to_go_on_with_but_only_of_a_bisection(
    planned: Plan, refused: Refusal, report: Reporter, blind: Path, tmp_path: Path
) -> None:
    folder = report("bisect", partial=False)
    named = folder.relative_to(tmp_path)
    assert fact(planned(f"--resume-from={named}", blind), "goes on") == str(folder)
    said = refused(f"--resume-from={report()}", "--no-lock", blind)
    assert "not of a bisection" in said.err


def test_the_other_reds_of_a_bisection_can_be_bisected_from_its_report(planned: Plan, report: Reporter) -> None:
    folder = report("bisect", others=[{"kind": "hang", "signal": None, "case": "slow", "place": None}])
    assert fact(planned("--victim=slow", folder), "red") == "hang in slow"


def test_the_report_of_an_interrupted_bisection_is_enough_to_go_on(
    planned: Plan, refused: Refusal, report: Reporter
) -> None:
    folder = report("bisect", "--order=rand", "--seed=7", "--max-runs=9", partial=True, signature=None, others=[])
    plan = planned("--resume", folder)
    assert fact(plan, "goes on") == str(folder)
    assert fact(plan, "order") == "rand order, seed 7"
    assert "9 runs at most" in plan
    assert "nothing in it is red" in refused("--no-lock", folder).err
    report("bisect", partial=True)
    assert fact(planned("--resume", folder), "goes on") == str(folder)
    assert "nothing in it is red" in refused("--no-lock", "--resume", report(signature=None, others=[])).err


def test_floors_and_other_bounds_are_taken_as_by_attribute(planned: Plan, refused: Refusal, blind: Path) -> None:
    assert "is no size" in refused("--no-lock", "--disk-floor=lots", blind).err
    assert planned(*FLOORS, "--timeout=5", "--need=1MB", blind)
