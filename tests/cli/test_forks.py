"""What tests run in forked processes is what a user's process does."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli import forks
from tests.cli.command import LIMIT_SECONDS, by_itself, environment, script


def both(*words: str, cwd: Path) -> tuple[subprocess.CompletedProcess[bytes], subprocess.CompletedProcess[bytes]]:
    """Run the same words in a forked process and in one of their own."""
    variables = environment({})
    forked = forks.run(words, cwd=cwd, environment=variables, limit_seconds=LIMIT_SECONDS)
    return forked, by_itself(words, cwd=cwd, variables=variables)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--version",), 0),
        (("bisect", "--help"), 0),
        (("attribute", "--no-lock", "--dry-run", "./target.sh"), 0),
        (("attribute", "--no-such-option"), 2),
        (("census", "--dtype=f32", "target.sh", "not there"), 2),
    ],
    ids=str,
)
def test_a_forked_command_says_what_a_process_of_its_own_says(
    words: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    script(tmp_path, "exit 0")
    forked, own = both(*words, cwd=tmp_path)
    assert forked.returncode == own.returncode == code
    assert (forked.stdout, forked.stderr) == (own.stdout, own.stderr)


def test_a_forked_command_leaves_the_next_one_alone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        script(tmp_path / name, f'test "$WHO" = {name} && test "$(basename "$PWD")" = {name}')
        done = forks.run(
            ("attribute", "--no-lock", "--quiet", "./target.sh"),
            cwd=tmp_path / name,
            environment=environment({"WHO": name}),
            limit_seconds=LIMIT_SECONDS,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert (tmp_path / name / ".pooldiag").is_dir()


def test_what_is_read_as_a_process_begins_needs_one_of_its_own() -> None:
    assert forks.begins_like_others({**os.environ, "WHO": "a"})
    assert not forks.begins_like_others({**os.environ, "PYTHONIOENCODING": "ascii"})
    assert not forks.begins_like_others({**os.environ, "LC_ALL": "no_such"})


def test_a_forked_command_is_ended_at_the_limit(tmp_path: Path) -> None:
    script(tmp_path, "exec sleep 60")
    words = ("attribute", "--no-lock", "./target.sh")
    with pytest.raises(subprocess.TimeoutExpired):
        forks.run(words, cwd=tmp_path, environment=environment({}), limit_seconds=0.5)
    done = forks.run(("--version",), cwd=tmp_path, environment=environment({}), limit_seconds=LIMIT_SECONDS)
    assert done.stdout.startswith(b"pooldiag ")
