"""The scripts of the checkout: with tools that only write down what they are asked, so that nothing is installed."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent

import pytest

import pooldiag
from tests.pages import PAGES

CHECKOUT = Path(__file__).parent.parent
NO_SUFFIX = sorted(path for path in (CHECKOUT / "scripts").iterdir() if path.is_file() and not path.suffix)
SCRIPTS = (CHECKOUT / ".ci" / "run", *NO_SUFFIX)
SHELL_SCRIPTS = tuple(path for path in SCRIPTS if path.read_bytes().startswith(b"#!/usr/bin/env bash\n"))

# Where a command is only looked for, or ends at once, this stands for it.
NEEDED_BY_SCRIPTS = ("bash", "cat", "cp", "dirname", "env", "grep", "mkdir", "mv", "rm", "sh", "sha256sum", "sleep")
ON_ALL_PROCESSORS = "-n logical --maxprocesses 8 --dist loadfile "
LOOKED_FOR_BY_SETUP = ("g++", "cmake", "make", "git", "mount", "tmux")

# Writes down `-m` calls; makes an "environment" by putting itself there.
FAKE_PYTHON = """\
    #!/bin/sh
    case "$1 $2" in
        "-c "*version.split*) echo 3.12.1 ;;
        "-m venv") echo "venv" >>"$CALLS"; mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
        "-m pip") echo "pip $*" >>"$CALLS"; sleep "${PIP_SECONDS:-0}"; exit "${PIP_EXIT:-0}" ;;
    esac
"""
FAKE_APT = """\
    #!/bin/sh
    echo "apt $*" >>"$CALLS"
    case "$*" in *install*) cp "$0" "${0%/*}/cmake" ;; esac
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeCheckout:
    """A copy of the checkout's scripts, and a PATH on which nothing but `tools` is found."""

    path: Path

    @property
    def tools(self) -> Path:
        return self.path / "tools"

    @property
    def calls(self) -> list[str]:
        """What the fake tools were asked to do, in order."""
        log = self.path / "calls"
        return log.read_text().splitlines() if log.exists() else []

    def write(self, name: str, source: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(source))
        path.chmod(0o755)

    def environment(self, **variables: str) -> dict[str, str]:
        return {"PATH": str(self.tools), "CALLS": str(self.path / "calls"), **variables}

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.path,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def checkout() -> Iterator[FakeCheckout]:
    """Copy what setup reads. Not to `tmp_path`, whose parents other users may not enter."""
    with tempfile.TemporaryDirectory() as folder:
        copy = FakeCheckout(path=Path(folder).resolve())
        copy.path.chmod(0o755)
        for name in ("scripts", ".ci"):
            shutil.copytree(CHECKOUT / name, copy.path / name, ignore=shutil.ignore_patterns("__pycache__"))
        (copy.path / "pooldiag").mkdir()
        for name in ("pyproject.toml", "pooldiag/__init__.py"):
            shutil.copy(CHECKOUT / name, copy.path / name)
        copy.tools.mkdir()
        for name in (*NEEDED_BY_SCRIPTS, "flock"):
            copy.tools.joinpath(name).symlink_to(shutil.which(name) or pytest.fail(f"no {name}"))
        for name in LOOKED_FOR_BY_SETUP:
            copy.write(f"tools/{name}", "#!/bin/sh\n")
        copy.write("tools/id", "#!/bin/sh\necho 0\n")
        copy.write("tools/python3", FAKE_PYTHON)
        copy.write("tools/apt-get", FAKE_APT)
        yield copy


PIP = "pip -m pip install --quiet --disable-pip-version-check --editable"


@pytest.mark.parametrize("script", SHELL_SCRIPTS, ids=lambda path: path.name)
def test_shell_script_parses(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script_can_be_run_by_its_name(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert script.read_bytes().startswith(b"#!")


@pytest.mark.parametrize(("options", "packages"), [((), ".[dev]"), (("--demo",), ".")])
def test_setup_makes_the_environment_once(checkout: FakeCheckout, options: tuple[str, ...], packages: str) -> None:
    assert checkout.run("scripts/setup", *options).returncode == 0
    assert checkout.calls == ["venv", f"{PIP} {packages}"]
    again = checkout.run("scripts/setup", *options)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert len(checkout.calls) == 2


def test_setup_takes_a_symbolic_link_to_the_checkout_for_the_checkout(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    checkout.tools.joinpath("link").symlink_to(checkout.path)
    checkout.run("tools/link/scripts/setup")
    assert len(checkout.calls) == 2


def test_setup_adds_the_development_tools_to_the_environment_of_the_demo(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup", "--demo")
    checkout.run("scripts/setup")
    assert checkout.calls == ["venv", f"{PIP} .", f"{PIP} .[dev]"]


def test_setup_for_the_demo_is_content_with_the_environment_of_the_tests(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    checkout.run("scripts/setup", "--demo")
    assert len(checkout.calls) == 2


def test_setup_for_the_demo_never_takes_the_development_tools_away(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    checkout.write("pyproject.toml", "# changed")
    checkout.run("scripts/setup", "--demo")
    assert checkout.calls == ["venv", f"{PIP} .[dev]", f"{PIP} .[dev]"]


def test_setup_updates_the_environment_when_the_project_file_changes(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    checkout.write("pyproject.toml", "# changed")
    assert checkout.run("scripts/setup").returncode == 0
    assert checkout.calls == ["venv", f"{PIP} .[dev]", f"{PIP} .[dev]"]


def test_setup_makes_the_environment_anew_after_a_failed_installation(checkout: FakeCheckout) -> None:
    assert checkout.run("scripts/setup", PIP_EXIT="1").returncode == 1
    checkout.write(".venv/half of a package", "")
    assert checkout.run("scripts/setup").returncode == 0
    assert checkout.calls == ["venv", f"{PIP} .[dev]"] * 2
    assert not checkout.path.joinpath(".venv/half of a package").exists()


def test_setup_makes_the_environment_anew_after_an_interrupted_update(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    checkout.write("pyproject.toml", "# changed")
    assert checkout.run("scripts/setup", PIP_EXIT="1").returncode == 1
    assert checkout.run("scripts/setup").returncode == 0
    assert checkout.calls[-2:] == ["venv", f"{PIP} .[dev]"]


def test_setup_makes_the_environment_anew_when_its_python_is_gone(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    checkout.path.joinpath(".venv/bin/python").unlink()
    assert checkout.run("scripts/setup").returncode == 0
    assert checkout.calls == ["venv", f"{PIP} .[dev]"] * 2


def test_setup_makes_the_environment_anew_in_a_moved_checkout(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    shutil.copytree(checkout.path, checkout.path / "moved", ignore=shutil.ignore_patterns("moved"), symlinks=True)
    moved = FakeCheckout(path=checkout.path / "moved")
    assert moved.run("scripts/setup").returncode == 0
    assert moved.calls == ["venv", f"{PIP} .[dev]"] * 2


def test_setup_works_while_the_environment_to_replace_is_active(checkout: FakeCheckout) -> None:
    checkout.run("scripts/setup")
    checkout.write(".venv/bin/python3", FAKE_PYTHON)
    checkout.path.joinpath(".venv/pooldiag-setup").unlink()
    active = f"{checkout.path}/.venv/bin:{checkout.tools}"
    assert checkout.run("scripts/setup", PATH=active).returncode == 0
    assert checkout.calls == ["venv", f"{PIP} .[dev]"] * 2


def test_two_setups_at_once_make_one_environment(checkout: FakeCheckout) -> None:
    environment = checkout.environment(PIP_SECONDS="0.5")
    both = [subprocess.Popen(["scripts/setup"], cwd=checkout.path, env=environment) for _ in range(2)]
    assert [setup.wait(timeout=60) for setup in both] == [0, 0]
    assert checkout.calls == ["venv", f"{PIP} .[dev]"]


def test_setup_shows_what_a_failed_installation_said(checkout: FakeCheckout) -> None:
    checkout.write("tools/apt-get", "#!/bin/sh\necho no network; exit 100\n")
    checkout.tools.joinpath("cmake").unlink()
    result = checkout.run("scripts/setup")
    assert result.returncode == 1
    assert result.stderr.splitlines()[1:] == ["no network", "scripts/setup: failed: apt-get -qq update"]


def test_setup_as_root_installs_only_what_is_missing(checkout: FakeCheckout) -> None:
    checkout.tools.joinpath("cmake").unlink()
    assert checkout.run("scripts/setup").returncode == 0
    update, install, *rest = checkout.calls
    assert update == "apt -qq update"
    assert install.endswith(" install -y --no-install-recommends cmake")
    assert rest == ["venv", f"{PIP} .[dev]"]


def test_setup_as_another_user_prints_the_command_and_changes_nothing(checkout: FakeCheckout) -> None:
    checkout.tools.joinpath("cmake").unlink()
    checkout.tools.joinpath("id").unlink()
    checkout.tools.joinpath("id").symlink_to(shutil.which("id") or pytest.fail("no id"))
    other_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    before = sorted(checkout.path.iterdir())
    result = subprocess.run(
        [*other_user, checkout.path / "scripts" / "setup"],
        cwd="/",
        env=checkout.environment(),
        executable=shutil.which("setpriv") if other_user else None,
        capture_output=True,
        text=True,
        check=False,
    )
    told = "scripts/setup: not root, so please run: sudo apt-get update && sudo apt-get install -y cmake\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", told)
    assert sorted(checkout.path.iterdir()) == before
    assert checkout.calls == []


def test_setup_on_another_system_names_what_is_missing(checkout: FakeCheckout) -> None:
    for name in ("apt-get", "cmake", "tmux"):
        checkout.tools.joinpath(name).unlink()
    result = checkout.run("scripts/setup")
    assert result.returncode == 1
    assert result.stderr.startswith("scripts/setup: missing: cmake tmux (Debian's names)")


def test_setup_says_so_when_the_only_python_is_too_old(checkout: FakeCheckout) -> None:
    checkout.write("tools/python3", "#!/bin/sh\n[ $1 = --version ] && echo Python 3.9.2\n")
    result = checkout.run("scripts/setup")
    assert result.returncode == 1
    assert result.stderr.endswith("needs Python 3.11 or newer with its venv module; on PATH is Python 3.9.2\n")


def test_check_without_an_environment_names_setup(checkout: FakeCheckout) -> None:
    result = checkout.run("scripts/check")
    assert result.returncode == 1
    assert result.stderr == "scripts/check: no environment yet, run scripts/setup first\n"


@pytest.fixture
def checked(checkout: FakeCheckout) -> FakeCheckout:
    """A checkout whose tools in .venv write down what they are asked, pytest also by its variable."""
    checkout.write(".venv/pooldiag-setup", "")
    for name, said in (("ruff", "ruff"), ("mypy", "mypy"), ("pytest", "pytest $PYTEST_ADDOPTS:")):
        checkout.write(f".venv/bin/{name}", f'#!/bin/sh\necho "{said} $*" >>"$CALLS"\n[ "$FAILS" != {name} ]\n')
    for path in checkout.path.joinpath("scripts").iterdir():
        if path.name not in {"setup", "check", "test", "demo"}:
            path.unlink()  # whatever is written in Python would be checked too
    return checkout


def test_check_runs_format_lint_types_and_tests(checked: FakeCheckout) -> None:
    checked.write("scripts/measure", "#!/usr/bin/env python3\n")
    checked.write("scripts/shared.py", '"""What commands share."""\n')
    checked.path.joinpath("scripts/__pycache__").mkdir()
    done = checked.run("scripts/check", "-k", "a b")
    assert (done.returncode, done.stderr) == (0, "")
    assert checked.calls == [
        "ruff format --check . scripts/measure",
        "ruff check . scripts/measure",
        "mypy --scripts-are-modules pooldiag tests scripts/measure scripts/shared.py",
        f"pytest {ON_ALL_PROCESSORS}: --cov -k a b",
    ]


def test_check_hands_the_option_for_slow_tests_on_to_pytest(checked: FakeCheckout) -> None:
    assert checked.run("scripts/check", "--all").returncode == 0
    assert checked.calls[-1] == f"pytest {ON_ALL_PROCESSORS}: --cov --all"


def test_check_of_the_core_runs_its_tests_and_nothing_else(checked: FakeCheckout) -> None:
    assert checked.run("scripts/check", "--core", "--all", "-x").returncode == 0
    (call,) = checked.calls
    _, asked = call.split(": ")
    core, *rooms, everything, end = asked.split()
    assert (core, everything, end) == ("--core", "--all", "-x")
    assert {"tests/model", "tests/attribution", "tests/reduce", "tests/diagnose"} <= set(rooms)
    assert all((CHECKOUT / room).is_dir() for room in rooms)


def test_what_the_user_asks_of_pytest_by_its_variable_comes_last(checked: FakeCheckout) -> None:
    assert checked.run("scripts/check", PYTEST_ADDOPTS="-n 0 -x").returncode == 0
    assert checked.calls[-1] == f"pytest {ON_ALL_PROCESSORS}-n 0 -x: --cov"


@pytest.mark.parametrize(("tool", "calls"), [("ruff", 1), ("mypy", 3), ("pytest", 4)])
def test_check_fails_at_the_first_tool_that_does(checked: FakeCheckout, tool: str, calls: int) -> None:
    assert checked.run("scripts/check", FAILS=tool).returncode == 1
    assert len(checked.calls) == calls


def test_continuous_integration_sets_up_and_checks(checkout: FakeCheckout) -> None:
    checkout.write("scripts/setup", "#!/bin/sh\necho setup $*\n")
    checkout.write("scripts/check", "#!/bin/sh\necho check $*\nexit 3\n")
    result = checkout.run(".ci/run", "-q")
    assert (result.returncode, result.stdout) == (3, "setup\ncheck --all -q\n")


def test_a_developer_leaves_the_slow_tests_out(checkout: FakeCheckout) -> None:
    checkout.write("scripts/setup", "#!/bin/sh\n")
    checkout.write("scripts/check", "#!/bin/sh\necho check $*\n")
    assert checkout.run("scripts/test").stdout == "check\n"
    assert checkout.run("scripts/test", "--all", "-k", "disk").stdout == "check --all -k disk\n"


SUITE = """\
    import os
    import pytest

    @pytest.mark.slow
    def test_slow(): pass

    @pytest.mark.process
    def test_process(): pass

    def test_plain(): assert "PYTEST_ADDOPTS" not in os.environ
"""


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        ((), "plain process"),
        (("--all",), "plain process slow"),
        (("--core",), "plain"),
        (("--core", "--all"), "plain slow"),
        (("-m", "slow"), "slow"),
        (("-n", "2"), "plain process"),
    ],
    ids=str,
)
def test_marks_say_which_tests_are_left_out(tmp_path: Path, words: tuple[str, ...], ran: str) -> None:
    shutil.copy(CHECKOUT / "tests" / "conftest.py", tmp_path / "conftest.py")
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path / "pyproject.toml")
    (tmp_path / "test_some.py").write_text(dedent(SUITE))
    command = [sys.executable, "-m", "pytest", "-rp", "-p", "no:cacheprovider", *words, "test_some.py"]
    environment = os.environ | {"PYTEST_ADDOPTS": "--color=no"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert " ".join(sorted(re.findall(r"^PASSED .*::test_(\w+)$", done.stdout, re.MULTILINE))) == ran


@pytest.mark.parametrize(("words", "examples"), [((), "few"), (("--all",), "many")])
def test_properties_have_more_examples_where_all_is_tested(
    tmp_path: Path, words: tuple[str, ...], examples: str
) -> None:
    shutil.copy(CHECKOUT / "tests" / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "test_some.py").write_text(
        "from hypothesis import settings\n\n"
        "def test_many():\n    assert settings.default.max_examples >= 100\n\n"
        "def test_few():\n    assert settings.default.max_examples < 100\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words, "-k", examples, "test_some.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed, 1 deselected" in done.stdout


@pytest.mark.parametrize(("keyed", "code"), [(0, 0), (1, 1), (4, 1)])
def test_demo_succeeds_only_when_every_diagnosis_comes_out_as_told(
    checkout: FakeCheckout, keyed: int, code: int
) -> None:
    checkout.write("scripts/setup", "#!/bin/sh\n")
    diagnosis = (
        f'#!/bin/sh\necho "$EXAMPLE_CHECKPOINT,$*" >>"$CALLS"\ncase "$*" in *keyed*) exit {keyed} ;; esac\nexit 1\n'
    )
    checkout.write(".venv/bin/pooldiag", diagnosis)
    result = checkout.run("scripts/demo")
    assert result.returncode == code
    commands = [call.partition(",")[2].partition(" ")[0] for call in checkout.calls]
    assert commands == ["attribute", "orders", "bisect", "attribute", "attribute", "attribute"]
    checkpoint = "examples/devicepool/shipped.ckpt"
    assert f"{checkpoint},attribute --no-lock --requires {checkpoint} " in checkout.calls[3]
    # What is printed is what runs.
    assert result.stdout.count("\n$ pooldiag ") == len(checkout.calls)
    assert f"\n$ export EXAMPLE_CHECKPOINT={checkpoint}\n$ pooldiag attribute " in result.stdout


def test_demo_shows_why_the_example_does_not_build(checkout: FakeCheckout) -> None:
    checkout.write("scripts/setup", "#!/bin/sh\n")
    checkout.write("tools/cmake", "#!/bin/sh\necho no compiler; exit 1\n")
    result = checkout.run("scripts/demo")
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "no compiler",
        "no compiler",
        "scripts/demo: the example does not build, see above",
    ]


def test_version_is_written_in_one_place() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert version("pooldiag") == pooldiag.__version__


def test_wheel_holds_the_data_files_beside_the_modules(tmp_path: Path) -> None:
    with zipfile.ZipFile(build("wheel", tmp_path)) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    package = CHECKOUT / "pooldiag"
    files = {str(path.relative_to(CHECKOUT)) for path in package.rglob("*") if path.is_file()}
    assert packed == {name for name in files if "__pycache__" not in name}
    assert "pooldiag/py.typed" in packed
    assert any(name.startswith("pooldiag/profiles/") and name.endswith(".toml") for name in packed)
    assert any(name.startswith("pooldiag/render/") and name.endswith(".schema.json") for name in packed)


def test_source_distribution_holds_sources_only(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pooldiag/__init__.py", "scripts/test", "tests/test_scripts.py", "LICENSE", "CHANGELOG.md"} <= packed
    assert {str(page.relative_to(CHECKOUT)) for page in PAGES} <= packed
    assert not {name for name in packed if name.startswith((".venv", ".pooldiag", "build/", "dist/"))}


def build(target: str, folder: Path) -> Path:
    """Build a distribution of the checkout; the development tools hold the build backend."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=True, timeout=60)
    (built,) = folder.iterdir()
    return built
