"""README is typed by a test: every command runs, and prints what README shows."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.model.arms import Role
from tests.cli.command import environment

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CODES = {0, 1, 3, 4}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARYING = (
    (re.compile(r"\d+(\.\d+)? (ms|s|min|h|days?)\b( \d+ (s|min|h)\b)*"), "TIME"),
    (re.compile(r"\b0\.\d+\b"), "TIME"),
    (re.compile(r"\d{8}T\d{6}Z"), "WHEN"),
    (re.compile(r"^Evidence:\n.*$", re.MULTILINE), "EVIDENCE"),
    (re.compile(r"^directory .*$", re.MULTILINE), "DIRECTORY"),
    (re.compile(r"[ \n]+"), " "),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A command of README and what stands below it."""

    command: str
    output: str


def examples() -> list[Example]:
    blocks = [text for language, text in _BLOCK.findall(README) if language == "console"]
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    pairs = (part.partition("\n") for part in parts)
    return [Example(command=command, output=output) for command, _, output in pairs]


def steady(text: str) -> str:
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text.strip()


@pytest.fixture
def place(examples_build: Path, tmp_path: Path) -> Path:
    """A folder that looks like the checkout, with README's configuration in it."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "examples").symlink_to(examples_build)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (config,) = (text for language, text in _BLOCK.findall(README) if language == "toml")
    (tmp_path / "pooldiag.toml").write_text(config)
    return tmp_path


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.command[:70])
def test_every_command_runs_and_prints_what_readme_shows(example: Example, place: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", example.command],
        cwd=place,
        env=environment({"PATH": path}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in CODES, done.stderr
    assert done.stderr == ""
    if example.output:
        assert steady(done.stdout) == steady(example.output)


def test_the_scripts_that_readme_names_are_there_and_ci_runs_the_second() -> None:
    named = {line for language, text in _BLOCK.findall(README) if language == "sh" for line in text.splitlines()}
    scripts = {line for line in named if line.startswith("scripts/")}
    assert scripts == {"scripts/demo", "scripts/test"}
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)
    assert "scripts/test" in (ROOT / ".ci" / "run").read_text()


def test_readme_names_every_role_and_every_mechanism() -> None:
    for mechanism in MECHANISMS:
        assert f"`{mechanism.id}`" in README
    for role in Role:
        assert f"| `{role}` |" in README


def help_of(command: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "pooldiag", command, "--help"],
        env=environment({"COLUMNS": "200"}),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_options_that_readme_names_are_options() -> None:
    help_text = "".join(map(help_of, ("attribute", "bisect", "orders", "census")))
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    assert named
    assert named <= set(re.findall(r"--[a-z][a-z-]+", help_text))
