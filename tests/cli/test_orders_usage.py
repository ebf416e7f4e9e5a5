"""`pooldiag orders` before it runs anything: which orders are asked for, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import Said, one_problem, script


@pytest.fixture
def planned(typed: Callable[..., Said]) -> Callable[..., list[str]]:
    """Return what the plan says of the orders, one line each."""

    def plan(*words: str | Path, cwd: Path) -> list[str]:
        said = typed("orders", "--dry-run", "--no-lock", *words, cwd=cwd)
        assert (said.code, said.err) == (0, "")
        return said.out.partition("\n\n")[2].splitlines()

    return plan


@pytest.fixture
def refused(typed: Callable[..., Said], tmp_path: Path) -> Callable[..., str]:
    """Return what is said to words that cannot be meant."""

    def refusal(*words: str | Path) -> str:
        said = typed("orders", "--dry-run", "--no-lock", *words, cwd=tmp_path)
        assert (said.code, said.out) == (2, "")
        return said.err

    return refusal


def test_the_help_names_every_option_and_none_of_an_arm(typed: Callable[..., Said], tmp_path: Path) -> None:
    text = typed("orders", "--help", cwd=tmp_path, COLUMNS="200").out
    options = (
        "orders seeds no-prefix case victim framework cwd before keep-env profile budget max-runs outputs requires "
        "fresh-check timeout grace lock no-lock lock-wait disk-floor memory-floor need config json dry-run quiet"
    )
    assert [option for option in options.split() if f"--{option} " not in text] == []
    assert [word for word in ("arm", "arms", "stats", "counter", "order", "seed") if f"--{word} " in text] == []
    assert "1..20" in text


def test_orders_without_a_seed_come_first_and_twenty_seeds_after_them(
    planned: Callable[..., list[str]], blind: Path, tmp_path: Path
) -> None:
    assert planned(blind, cwd=tmp_path) == [
        "Each of 23 orders runs once, 1000 runs at most:",
        "  file, name, suite",
        "  rand, seeds 1..20",
        "Where one is red, the shortest red prefix is looked for.",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("--seeds", "1..3,9,2..4"), ["  file, name, suite", "  rand, seeds 1..3, 9, 4"]),
        (("--seeds", "0,2147483647"), ["  file, name, suite", "  rand, seeds 0, 2147483647"]),
        (("--orders", "suite, file,suite", "--seeds", "none"), ["  suite, file"]),
        (("--orders", "none", "--seeds", "5"), ["  rand, seeds 5"]),
        (("--seeds", "1..10000"), ["  file, name, suite", "  rand, seeds 1..10000"]),
    ],
)
def test_orders_and_seeds_are_those_that_are_named_each_once(
    planned: Callable[..., list[str]], blind: Path, tmp_path: Path, words: tuple[str, ...], lines: list[str]
) -> None:
    assert planned("--no-prefix", *words, blind, cwd=tmp_path)[1:] == lines


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (("--seeds=1..",), "--seeds: '1..' is no seed and no range", "1..20"),
        (("--seeds=",), "--seeds: '' is no seed and no range", "1..20"),
        (("--seeds=9..3",), "--seeds: '9..3' ends before it begins", "write 3..9"),
        (("--seeds=2147483648",), "2147483648 is beyond the last seed", "1..20"),
        (("--seeds=1..2147483647",), "are more than 10000", "1..20"),
        (("--seeds=none", "--orders=none"), "leave no order to run", "one of them"),
        (("--orders=rand",), "'rand' is no order without a seed", "--seeds"),
        (("--orders=file,,name",), "'' is no order without a seed", "file, name, suite"),
        (("--order=file",), "no such option: --order", "orders --help"),
        (("--framework=blackbox",), "it has no cases to order", "doctest, listfile"),
        (("--json",), "--dry-run prints no report", "--json"),
    ],
)
def test_what_cannot_be_meant_is_one_line(
    refused: Callable[..., str], blind: Path, words: tuple[str, ...], problem: str, hint: str
) -> None:
    err = refused(*words, blind)
    assert problem in one_problem(err)
    assert hint in err.splitlines()[1]


def test_a_runner_that_takes_any_order_has_file_order_from_its_end_too(
    planned: Callable[..., list[str]], typed: Callable[..., Said], tmp_path: Path
) -> None:
    target = script(tmp_path, "exit 1")
    assert planned("--framework=listfile", target, cwd=tmp_path)[:2] == [
        "Each of 23 orders runs once, 1000 runs at most:",
        "  file, name, reverse",
    ]
    assert planned("--framework=listfile", "--orders=reverse", "--seeds=none", target, cwd=tmp_path)[1] == "  reverse"
    said = typed("bisect", "--dry-run", "--framework=listfile", "--order=reverse", target, cwd=tmp_path)
    assert "order      reverse order" in said.out


@pytest.mark.parametrize("words", [("orders", "--orders=name,reverse"), ("bisect", "--order=reverse")])
def test_doctest_cannot_be_asked_for_file_order_from_its_end(
    typed: Callable[..., Said], blind: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    said = typed(words[0], "--dry-run", "--no-lock", *words[1:], blind, cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    option = words[1].partition("=")[0]
    assert one_problem(said.err) == f"pooldiag: {option} reverse: a doctest target has no such order"
    assert "file, name, suite" in said.err


def test_seeds_may_stand_behind_target(typed: Callable[..., Said], blind: Path, tmp_path: Path) -> None:
    plans = [
        typed("orders", "--dry-run", "--no-lock", *words, cwd=tmp_path)
        for words in (("--seeds=3..5", blind), (blind, "--seeds", "3..5"), (blind, "--seeds=3..5"))
    ]
    assert len({plan.out for plan in plans}) == 1
    assert "seed 5" in plans[0].out or "3..5" in plans[0].out


def test_what_stands_behind_two_dashes_is_the_targets(typed: Callable[..., Said], blind: Path, tmp_path: Path) -> None:
    plan = typed("orders", "--dry-run", "--no-lock", blind, "--", "--seeds", "3..5", cwd=tmp_path)
    assert "-- --seeds 3..5" in plan.out


def test_an_option_behind_target_without_its_value_is_refused(refused: Callable[..., str], blind: Path) -> None:
    assert "--seeds: its value is missing" in one_problem(refused(blind, "--seeds"))


def test_a_script_has_no_orders(typed: Callable[..., Said], tmp_path: Path) -> None:
    said = typed("orders", "--no-lock", script(tmp_path, "touch ran"), cwd=tmp_path)
    assert said.code == 2
    assert "no test framework is known in it" in one_problem(said.err)
    assert {path.name for path in tmp_path.iterdir()} == {"target.sh"}


def test_the_commands_stand_in_the_help_in_the_order_of_their_use(typed: Callable[..., Said], tmp_path: Path) -> None:
    text = typed("--help", cwd=tmp_path).out
    places = [text.index(f"│ {name} ") for name in ("attribute", "bisect", "orders", "profiles")]
    assert places == sorted(places)
