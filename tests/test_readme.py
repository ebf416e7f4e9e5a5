"""README, CONTRIBUTING and docs/ are typed by a test: every command runs once, and prints what each page shows."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from pooldiag.attribution.answers import ALL_ANSWERS
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.witnesses import WITNESSES
from pooldiag.config.file import parse_config, parse_pyproject
from pooldiag.model.arms import Role
from tests.cli.command import environment
from tests.pages import (
    GUIDES,
    LINKING,
    PAGES,
    README,
    ROOT,
    Block,
    Command,
    anchors,
    blocks,
    commands,
    config_name,
    every_block,
    links,
)

CODES = {0, 1, 3, 4}
LANGUAGES = {"console", "python", "sh", "text", "toml"}
MOST_LINES_OF_README = 250
REPORTING = ("attribute", "bisect", "orders", "census", "profiles")
_VARYING = (
    (re.compile(r"\d+(\.\d+)? (ms|s|min|h|days?)\b( \d+ (s|min|h)\b)*"), "TIME"),
    (re.compile(r"\b0\.\d+\b"), "TIME"),
    (re.compile(r"\d{8}T\d{6}Z"), "WHEN"),
    (re.compile(r"^Evidence:\n.*$", re.MULTILINE), "EVIDENCE"),
    (re.compile(r"^directory .*$", re.MULTILINE), "DIRECTORY"),
    (re.compile(r"[ \n]+"), " "),
)
_LEFT_OUT = re.compile(r"^\.\.\.$", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
_BENCH = re.compile(r"`scripts/bench (\w+) ([^`]*)`")  # a line that speaks of options of its own


def steady(text: str) -> str:
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text.strip()


def agrees(printed: str, shown: str) -> bool:
    """Whether a page shows what was printed; a line `...` stands for at least one word that is left out."""
    pieces = (f" {re.escape(steady(piece))} ".replace("  ", " ") for piece in _LEFT_OUT.split(shown))
    return re.fullmatch(".*".join(pieces), f" {steady(printed)} ", re.DOTALL) is not None


def name_of(value: Path | Block | Command) -> str:
    match value:
        case Path():
            return str(value.relative_to(ROOT))
        case Block():
            return f"{name_of(value.page)}:{value.line}"
        case Command():
            return f"{commands()[value][0].place} {value.text[:60]}"


@pytest.fixture
def place(examples_build: Path, tmp_path: Path) -> Path:
    """A folder that looks like the checkout."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "examples").symlink_to(examples_build)
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("command", commands(), ids=name_of)
def test_every_command_runs_and_prints_what_the_pages_show(command: Command, place: Path) -> None:
    if command.config is not None:
        (place / config_name(command.config)).write_text(command.config)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command.text],
        cwd=place,
        env=environment({"PATH": path}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in CODES, done.stderr
    assert done.stderr == ""
    for example in commands()[command]:
        if example.output and not agrees(done.stdout, example.output):
            assert steady(done.stdout).split() == steady(example.output).split(), example.place


@pytest.mark.parametrize(
    ("printed", "shown", "agreed"),
    [
        ("a\nb\nc\n", "a\n...\nc\n", True),
        ("a\nb\nc\n", "...\nc\n", True),
        ("a\nb\nc\n", "a\nb\n...\n", True),
        ("a\nb\nc\n", "a\nb\n", False),
        ("a\nb\nc\n", "a\n...\nb\n", False),
        ("a\nb\nc\n", "b\n...\nc\n", False),
        ("a\nb\nc\n", "a\n...\nb\nc\n", False),
        ("ab\nb\ncc\n", "a\n...\nc\n", False),
        ("took 3 s\n", "took 4.1 min\n", True),
        ("took 3 runs\n", "took 4 runs\n", False),
    ],
)
def test_only_a_line_of_dots_stands_for_lines_left_out(printed: str, shown: str, agreed: bool) -> None:
    assert agrees(printed, shown) is agreed


@pytest.mark.parametrize("block", every_block("toml"), ids=name_of)
def test_every_configuration_is_one(block: Block) -> None:
    read = parse_pyproject if config_name(block.text) == "pyproject.toml" else parse_config
    assert read(block.text, path=ROOT / "pooldiag.toml") is not None


@pytest.mark.parametrize("block", every_block("sh"), ids=name_of)
def test_a_shell_can_read_what_is_typed_into_it(block: Block) -> None:
    subprocess.run(["sh", "-n", "-c", block.text], check=True)
    for script in re.findall(r"^scripts/\w+", block.text, re.MULTILINE):
        assert os.access(ROOT / script, os.X_OK)
    for module in re.findall(r"-m (tests\.[\w.]+)", block.text):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_language_that_is_looked_at(page: Path) -> None:
    found = [block.language for block in blocks(page)]
    assert set(found) <= LANGUAGES
    assert page.read_text().count("```") == 2 * len(found)


@pytest.mark.parametrize("page", LINKING, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_readme_leads_to_every_page_in_few_lines() -> None:
    assert {name_of(page) for page in PAGES[1:]} <= set(links(README))
    assert len(README.read_text().splitlines()) <= MOST_LINES_OF_README


def test_readme_begins_with_the_two_scripts_and_ci_runs_the_second() -> None:
    first = [block.text for block in blocks(README)][:2]
    assert first == ["scripts/demo\n", "scripts/test\n"]
    assert "scripts/test" in (ROOT / ".ci" / "run").read_text()


def test_the_pages_name_every_role_and_every_mechanism() -> None:
    verdicts = (ROOT / "docs" / "verdicts.md").read_text()
    arms = (ROOT / "docs" / "attribute.md").read_text()
    for mechanism in MECHANISMS:
        assert f"`{mechanism.id}`" in verdicts
    for role in Role:
        assert f"| `{role}` |" in arms
    for answer in ALL_ANSWERS:
        assert f"`{answer.id}`" in verdicts


def test_the_page_of_the_verdicts_says_of_each_witness_what_it_speaks_for() -> None:
    verdicts = (ROOT / "docs" / "verdicts.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in verdicts.splitlines()]
    found = {row[0]: row[1:] for row in rows if len(row) == 6}
    for rule in WITNESSES:
        kind, _, speaks_for, speaks_against, source = found[f"`{rule.id}`"]
        assert (kind, source) == (rule.kind, rule.source)
        assert [name.strip("`") for name in speaks_for.split(", ")] == [*(rule.speaks_for or ("-",))]
        assert [name.strip("`") for name in speaks_against.split(", ")] == [*(rule.speaks_against or ("-",))]


@cache
def options_of_commands() -> frozenset[str]:
    help_texts = [
        subprocess.run(
            [sys.executable, "-m", "pooldiag", command, "--help"],
            env=environment({"COLUMNS": "200"}),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for command in REPORTING
    ]
    return frozenset(_OPTION.findall("".join(help_texts)))


def test_the_pages_name_the_options_that_there_are_and_no_other() -> None:
    named = {option for page in (README, *GUIDES) for option in _OPTION.findall(_BENCH.sub("", page.read_text()))}
    assert named <= options_of_commands()
    assert options_of_commands() - {"--help"} <= named


def test_the_pages_name_options_of_a_bench_that_it_has() -> None:
    lines = {line for page in (README, *GUIDES) for line in _BENCH.findall(page.read_text())}
    assert lines
    for bench, words in lines:
        told = subprocess.run([ROOT / "scripts" / "bench", bench, "--help"], capture_output=True, text=True, check=True)
        assert set(_OPTION.findall(words)) <= set(_OPTION.findall(told.stdout))
