"""The command as a user runs it: a real process in a folder of its own, its report checked against the schema."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema

from tests.cli import forks
from tests.cli.forks import begins_like_others

LIMIT_SECONDS = 120
FLOORS = ("--disk-floor=1MiB", "--memory-floor=1MiB")  # what this machine has free is no subject of these tests


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    """The environment of a test: nothing in it colors, locks or widens the output but what the test says."""
    left_out = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "POOLDIAG_LOCK", "EXAMPLE_CHECKPOINT", "TERM", "PYTEST_ADDOPTS"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | dict(changes)


def by_itself(words: Sequence[str], *, cwd: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run `pooldiag` in a process that nobody prepared."""
    return subprocess.run(
        [sys.executable, "-m", "pooldiag", *words],
        cwd=cwd,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def pooldiag(*words: str | Path, cwd: Path, **changes: str) -> Said:
    """Run `pooldiag` with these words."""
    variables = environment(changes)
    texts = tuple(map(str, words))
    if begins_like_others(variables):
        done = forks.run(texts, cwd=cwd, environment=variables, limit_seconds=LIMIT_SECONDS)
    else:
        done = by_itself(texts, cwd=cwd, variables=variables)
    return Said(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def attribute(*words: str | Path, cwd: Path, **changes: str) -> Said:
    """Run `pooldiag attribute` without the lock of this machine."""
    return pooldiag("attribute", "--no-lock", *FLOORS, *words, cwd=cwd, **changes)


def diagnose(*words: str | Path, cwd: Path, **changes: str) -> dict[str, Any]:
    """Run `pooldiag attribute --json` and return the report; it is the saved one, and both are valid."""
    said = attribute("--json", *words, cwd=cwd, **changes)
    assert said.out, said.err
    report = checked(said.out)
    saved = checked((Path(report["evidence"]) / "report.json").read_text())
    assert saved == report
    codes = {"green": 0, "established": 1, "unresolved": 3, "blocked": 4}
    assert said.code == codes[report["status"]]
    return report


def diagnose_in_words(*words: str | Path, cwd: Path, **changes: str) -> tuple[dict[str, Any], Said]:
    """Run `pooldiag attribute` once, for its table and for the report that it saves."""
    before = {*cwd.glob(".pooldiag/*/report.json")}
    said = attribute(*words, cwd=cwd, **changes)
    (saved,) = {*cwd.glob(".pooldiag/*/report.json")} - before
    return checked(saved.read_text()), said


def bisect(*words: str | Path, cwd: Path, **changes: str) -> dict[str, Any]:
    """Run `pooldiag bisect --json` without the lock of this machine, and return the report, checked as above."""
    return _reported("bisect", *words, cwd=cwd, **changes)


def survey(*words: str | Path, cwd: Path, **changes: str) -> dict[str, Any]:
    """Run `pooldiag orders --json` in the same way."""
    return _reported("orders", *words, cwd=cwd, **changes)


def _reported(command: str, *words: str | Path, cwd: Path, **changes: str) -> dict[str, Any]:
    said = pooldiag(command, "--no-lock", *FLOORS, "--json", *words, cwd=cwd, **changes)
    assert said.out, said.err
    report = checked(said.out)
    assert checked((Path(report["evidence"]) / "report.json").read_text()) == report
    assert said.code == expected_code(report)
    return report


def expected_code(report: Mapping[str, Any]) -> int:
    """The exit code that a report of `bisect` or `orders` must come with."""
    if report["command"] == "bisect":
        return {"green": 0, "found": 1, "unresolved": 3, "blocked": 4}[report["status"]]
    if report["blocked_by"] is not None:
        return 4
    return int(any(entry["reading"] == "red" for entry in report["orders"]))


def checked(text: str) -> dict[str, Any]:
    """Parse a report and validate it against the published schema."""
    report: dict[str, Any] = json.loads(text)
    validator().validate(report)
    return report


@cache
def validator() -> jsonschema.Draft202012Validator:
    """What checks a report; made once, because it looks at all of the schema first."""
    return jsonschema.Draft202012Validator(schema())


@cache
def schema() -> dict[str, Any]:
    """The schema as it is published with the package."""
    text = (files("pooldiag.render") / "report.schema.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def arm(report: Mapping[str, Any], role: str) -> dict[str, Any]:
    """The arm of a report that plays this role."""
    (found,) = (entry for entry in report["arms"] if entry["role"] == role)
    return dict(found)


def shell(line: str, *, cwd: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Type a command line that pooldiag printed into a shell."""
    return subprocess.run(
        ["sh", "-c", line],
        cwd=cwd,
        env=environment(changes) | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=LIMIT_SECONDS,
        check=False,
    )


def one_problem(err: str) -> str:
    """Return the problem; there is nothing but one and its hint, and no traceback."""
    problem, *hint = err.splitlines()
    assert problem.startswith("pooldiag: ")
    assert len(hint) <= 1
    assert all(line.startswith("  ") for line in hint)
    return problem


def script(folder: Path, text: str) -> Path:
    """Write an executable shell script."""
    path = folder / "target.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def candidates(report: dict[str, Any]) -> list[str]:
    """Return the mechanisms that stay possible, in their order."""
    return [entry["mechanism"] for entry in report["candidates"]]
