"""What is typed: words before TARGET, behind it and of an earlier report are read alike, and laid over the file."""

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooldiag.cli
from pooldiag.census.files import FORMATS
from pooldiag.census.layouts import LAYOUTS
from pooldiag.cli.app import COMMANDS, command_named
from pooldiag.cli.attribute import COMMAND as ATTRIBUTE
from pooldiag.cli.bisect import COMMAND as BISECT
from pooldiag.cli.help import filled_in
from pooldiag.cli.orders import COMMAND as ORDERS
from pooldiag.cli.orders import DEFAULT_SEEDS
from pooldiag.cli.target.decisions import DEFAULT_LOCK
from pooldiag.cli.target.flags import Invocation
from pooldiag.config.options import OPTIONS, Options, options_with
from pooldiag.errors import UsageError
from pooldiag.frameworks import FRAMEWORKS
from pooldiag.model.settings import (
    BASELINE_RUNS,
    DEFAULT_LOCK_WAIT_SECONDS,
    DEFAULT_MAX_PROBES,
    AttributeSettings,
    Floors,
)
from pooldiag.reduce.search import DEFAULT_CONFIDENCE
from pooldiag.render import FORMAT_NAMES
from tests.cli.command import Said, one_problem, script


def test_the_table_of_commands_names_every_file_that_has_one() -> None:
    folder = Path(pooldiag.cli.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if "\nCOMMAND = " in path.read_text(encoding="utf-8")}
    assert files == set(COMMANDS)
    assert [command_named(name).name for name in COMMANDS] == list(COMMANDS)


def test_no_command_offers_a_flag_twice_and_every_option_is_offered_by_one() -> None:
    offered: set[str] = set()
    for command in (ATTRIBUTE, BISECT, ORDERS):
        flags = [flag for option in command.options for flag in (option.flag, option.short) if flag]
        assert len(set(flags)) == len(flags)
        assert all(option.panel for option in command.options)
        offered |= {option.name for option in command.options}
    assert offered == set(OPTIONS)


def test_the_defaults_that_help_tells_are_those_that_hold() -> None:
    arms = {entry.name: entry.default for entry in fields(AttributeSettings)}
    holding = {
        "confidence": arms["confidence"],
        "search_confidence": DEFAULT_CONFIDENCE,
        "max_runs": arms["max_runs"],
        "search_runs": DEFAULT_MAX_PROBES,
        "search_repeat": BASELINE_RUNS,
        "grace": arms["grace_seconds"],
        "lock": DEFAULT_LOCK,
        "lock_wait": DEFAULT_LOCK_WAIT_SECONDS,
        "disk_floor": Floors().disk_bytes,
        "memory_floor": Floors().memory_bytes,
        "seeds": DEFAULT_SEEDS,
    }
    in_words = {"timeout", "config", "orders"}
    found = {name: re.search(r"\(default: ([^)]+)\)", option.help) for name, option in OPTIONS.items()}
    told = {name: match[1] for name, match in found.items() if match is not None and name not in in_words}
    assert {name: OPTIONS[name].kind.word(text, name) for name, text in told.items()} == holding  # type: ignore[union-attr]


def test_help_names_what_the_registries_have() -> None:
    for place, registry in (("frameworks", FRAMEWORKS), ("files", FORMATS), ("formats", FORMAT_NAMES)):
        assert set(re.findall(r"\w+", filled_in(f"{{{place}}}"))) == {*registry, "or"}
    assert filled_in("{types}").split() == [*LAYOUTS]


def test_values_are_read_where_words_are_and_the_words_are_kept_in_one_order() -> None:
    said = ATTRIBUTE.read(
        ["-q", "--lock-wait", "1m", "--case=a", "--seed=7", "--case", "b", "--seed=8", "t", "--seed=9"]
    )
    words = ("--seed=8", "--case=a", "--case=b", "--lock-wait=1m")
    assert said.said == Options(
        seed=8,
        case=("a", "b"),
        lock_wait=60.0,
        quiet=True,
        words=tuple(zip(("seed", "case", "case", "lock_wait", "quiet"), (*words, "--quiet"), strict=True)),
    )
    assert (said.target, said.arguments) == ("t", ("--seed=9",))
    assert said.line("attribute", ATTRIBUTE.options).options == words


def test_a_command_is_repeated_for_another_one_as_far_as_that_takes_it() -> None:
    said = BISECT.read(["--order=rand", "--seed=1", "--max-runs=5", "--no-arms", "--resume", "--", "-odd", "x"])
    line = said.line("attribute", ATTRIBUTE.options)
    assert line.having() == "pooldiag attribute --order=rand --seed=1 --max-runs=5 -- -odd x"
    assert said.line("orders", ORDERS.options).options == ("--max-runs=5",)


@pytest.mark.parametrize("words", [["-j", "2"], ["-j2"], ["-qj2"], ["-qj", "2"], ["--jobs", "2"], ["--jobs=2"]])
def test_a_short_option_has_its_value_with_it_or_behind_it(words: list[str]) -> None:
    assert BISECT.read([*words, "t"]).said.jobs == 2


def test_behind_target_only_options_of_their_own_are_taken() -> None:
    said = ORDERS.read(["t", "--seeds", "1..3", "--budget=1s", "-q", "--no-prefix", "--", "--seeds=9"])
    assert (said.said.seeds, said.said.no_prefix, said.said.budget) == ((1, 2, 3), True, None)
    assert said.arguments == ("--budget=1s", "-q", "--", "--seeds=9")


values = st.fixed_dictionaries(
    {
        "seed": st.none() | st.integers(0, 5),
        "case": st.lists(st.sampled_from("ab")).map(tuple),
        "keep_env": st.lists(st.sampled_from("XY")).map(tuple),
        "lock": st.none() | st.lists(st.sampled_from([Path("k"), Path("l")])).map(tuple),
        "no_lock": st.booleans(),
    }
)


@given(values.map(options_with), values.map(options_with))
def test_what_is_said_above_replaces_or_follows_what_is_said_beneath(above: Options, beneath: Options) -> None:
    both = above.over(beneath)
    assert both.seed == (beneath.seed if above.seed is None else above.seed)
    assert both.case == (above.case or beneath.case)
    assert both.keep_env == (*beneath.keep_env, *above.keep_env)
    assert both.lock == (beneath.lock if above.lock is None else above.lock)
    assert both.no_lock is (above.no_lock or beneath.no_lock)
    assert above.over(Options()) == above == Options().over(above)


def test_words_are_laid_over_each_other_as_the_values_are() -> None:
    asked = ATTRIBUTE.read(["--seed=1", "--case=a", "--keep-env=X", "t"])
    again = asked.over_texts(case=["b"], keep_env=["Y"], order="rand")
    words = ("--order=rand", "--seed=1", "--case=a", "--keep-env=Y", "--keep-env=X")
    assert again.line("attribute", ATTRIBUTE.options).options == words
    assert asked == Invocation(target="t", said=asked.said)


def test_a_value_that_cannot_be_read_names_its_option() -> None:
    with pytest.raises(UsageError, match=r"^--timeout: 'soon' is no duration$"):
        ATTRIBUTE.read(["--timeout=soon", "t"])
    with pytest.raises(
        UsageError, match=r"^invalid value for '--seed': '-1' is not a whole number from 0 to 2147483647$"
    ):
        ATTRIBUTE.read(["--seed=-1", "t"])


def test_a_format_is_chosen_by_name_and_json_is_short_for_one(typed: Callable[..., Said], tmp_path: Path) -> None:
    short, named = (typed("profiles", "vt", *words, cwd=tmp_path) for words in (("--json",), ("--format", "json")))
    assert short == named
    assert typed("profiles", "vt", cwd=tmp_path) == typed("profiles", "vt", "--format=table", cwd=tmp_path)
    assert typed("profiles", "vt", "--json", "--format=json", cwd=tmp_path) == short


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (("--format=xml",), "--format 'xml' is not known", f"known: {', '.join(FORMAT_NAMES)}"),
        (("--json", "--format=table"), "--json and --format table contradict each other", "give one of them"),
        (("--format=json",), "--dry-run prints no report, so there is no JSON of it", "leave --json out"),
    ],
)
def test_a_format_that_cannot_be_meant_is_one_line(
    typed: Callable[..., Said], tmp_path: Path, words: tuple[str, ...], problem: str, hint: str
) -> None:
    said = typed("attribute", "--dry-run", "--no-lock", *words, script(tmp_path, "true"), cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert one_problem(said.err) == f"pooldiag: {problem}"
    assert hint in said.err


def test_the_environment_names_a_lock_beneath_what_is_typed(typed: Callable[..., Said], tmp_path: Path) -> None:
    target = script(tmp_path, "true")
    for words, lock in (
        ((), f"{tmp_path}/l, {tmp_path}/m"),
        (("--lock=n",), f"{tmp_path}/n"),
        (("--no-lock",), "none"),
    ):
        said = typed("attribute", "--dry-run", *words, target, cwd=tmp_path, POOLDIAG_LOCK="l:m")
        assert f"lock       {lock}\n" in said.out


def test_an_empty_text_says_nothing_and_no_paths_at_all_say_something() -> None:
    assert not Options(stats="").says("stats")
    assert Options(stats="").over(Options(stats="POOL_STATS=1")).stats == "POOL_STATS=1"
    assert Options(lock=()).says("lock")
