"""Names that a shell, a terminal, a pattern or a parser could take for something else: of cases and of targets."""

import base64
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import FLOORS, LIMIT_SECONDS, attribute, checked, diagnose, environment, shell
from tests.cli.processes import PROGRAM

SOURCE = Path(__file__).parents[2] / "examples" / "zoo" / "traps" / "hostile_names.cpp"
ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "\\": b"\\", '"': b'"'}
SPELLED_LIKE_AN_ESCAPE = 35  # in XML it is written as 18 is; the place tells them apart
NEVER_RUNS = 46  # the second of two from one macro


# --- what there is: the source itself ---------------------------------------------------------------------------------


def literal(text: str) -> bytes:
    """Return the bytes of C++ string literals, without their outer quotes where there are several."""
    found = bytearray()
    for piece in re.finditer(r"\\x([0-9a-fA-F]+)|\\u([0-9a-fA-F]{4})|\\(.)|([^\\])", text, re.DOTALL):
        byte, code, letter, plain = piece.groups()
        if byte is not None:
            found.append(int(byte, 16))
        elif code is not None:
            found += chr(int(code, 16)).encode()
        else:
            found += ESCAPES[letter] if letter is not None else plain.encode()
    return bytes(found)


@cache
def names() -> dict[int, bytes]:
    """Return the name of every case that doctest keeps, by its index, in running order."""
    found: dict[int, bytes] = {}
    for line in SOURCE.read_text().splitlines():
        if line.startswith(("#", "//")):
            continue
        if "HUNDRED" in line:
            found[40] = b"0123456789" * 30
        elif match := re.search(r'NAMED(?:_TWICE)?\((\d+), (?:\d+, )?"((?:[^"\\]|\\.)*)"\)', line):
            found[int(match[1])] = literal(match[2])
        elif line.startswith('TEST_CASE_TEMPLATE("template"'):
            found |= {31: b"template<int>", 32: b"template<char>", 33: b"template<float>"}
        elif line.startswith('TEST_CASE_TEMPLATE("twin"'):
            found[34] = b"twin<int>"
    return found


def listed(name: bytes) -> bytes:
    """Return a name as XML brings it: tabs and line ends are blanks there."""
    return re.sub(rb"[\t\n\r]", b" ", name)


def same_name(index: int) -> list[int]:
    """Return the indices whose names read alike in a listing: they can only be told apart by their place."""
    spelled = {18, SPELLED_LIKE_AN_ESCAPE}
    if index in spelled:
        return sorted(spelled)
    return [other for other, name in names().items() if listed(name) == listed(names()[index])]


def runs_of(index: int) -> list[int]:
    """Return what the cases of this name print; the twins print the same."""
    return [index, index] if index == 34 else [index]


def test_the_source_has_all_hostile_names() -> None:
    assert list(names()) == [*range(1, NEVER_RUNS), *range(NEVER_RUNS + 1, 51)]
    assert names()[21] == b"invalid \xff\xfe utf-8 \xc3("
    assert names()[8] == b"middle\\backslash"


# --- what ran ---------------------------------------------------------------------------------------------------------


def ran(stderr: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb"(?m)^ran#(\d+)$", stderr)]


def ran_in(report: dict[str, Any], run: str) -> list[int]:
    return ran((Path(report["evidence"]) / run / "stderr").read_bytes())


def diagnose_bytes(target: bytes | Path, *words: bytes, cwd: Path, **changes: str) -> dict[str, Any]:
    """Run `pooldiag attribute --json` with words that are bytes, as the system hands them over."""
    done = subprocess.run(
        [*PROGRAM, "attribute", "--no-lock", "--json", "--quiet", *FLOORS, *words, target],
        cwd=cwd,
        env=environment(changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode in {0, 1, 3}, done.stderr.decode(errors="backslashreplace")
    return checked(done.stdout.decode("utf-8"))


def test_every_case_is_listed_and_run_in_the_order_of_the_source(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(zoo / "hostile_names", cwd=tmp_path)
    expected = [run for index in names() for run in runs_of(index)]
    assert report["status"] == "green"
    assert report["target"]["cases"] == len(expected) == 50
    assert ran_in(report, "01-baseline") == expected


def place_of(index: int) -> int:
    """Return the line of the source with this case's assertion."""
    lines = SOURCE.read_text().splitlines()
    texts = {32: "!= index_of<T>", 34: "!= 34"}
    text = texts.get(index, f"({index}, ")
    return next(number for number, line in enumerate(lines, 1) if text in line and not line.startswith(("#", "//")))


def check_one(index: int, zoo: Path, folder: Path) -> None:
    """Select a case by its exact name, make it red, and check what ran, the name in the report, and the reproducer."""
    folder.mkdir()
    name = names()[index]
    switch = {"ZOO_FAIL": str(index)}
    report = diagnose_bytes(zoo / "hostile_names", b"--repeat=1", b"--case=" + name, cwd=folder, **switch)
    expected = [run for other in same_name(index) for run in runs_of(other)]
    assert ran_in(report, "01-baseline") == expected, name
    signature = report["signature"]
    assert (signature["kind"], report["status"]) == ("failure", "unresolved")
    assert signature["place"].endswith(f"hostile_names.cpp:{place_of(index)}"), name
    shown = signature["case"].encode()
    if index != SPELLED_LIKE_AN_ESCAPE and "name_bytes" in signature:
        shown = base64.b64decode(signature["name_bytes"])
    assert shown == listed(name)
    reproduced = shell(report["reproducer"], cwd=folder, **switch)
    assert (reproduced.returncode, ran(reproduced.stderr.encode(errors="surrogateescape"))) == (1, [index]), name
    green = shell(report["reproducer"], cwd=folder)
    assert green.returncode == 0


HOSTILE = [3, 7, 9, 11, 13, 16, 18, 21, 22, 23, 28, 30, 34, 35, 36, 37, 41]


@pytest.mark.parametrize("indices", [HOSTILE[::4], pytest.param(HOSTILE, marks=pytest.mark.slow)], ids=len)
def test_an_exact_name_selects_its_case_alone_and_the_reproducer_runs_the_victim_alone(
    indices: list[int], zoo: Path, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(check_one, index, zoo, tmp_path / str(index)) for index in indices]
        for future in done:
            future.result()


def test_a_name_that_is_nobodys_is_a_pattern(zoo: Path, tmp_path: Path) -> None:
    for word, expected in (("any*", [11, 12]), ("wha??now", []), ("what?*now", [13, 14]), ("letter*", [16])):
        said = attribute("--json", f"--case={word}", zoo / "hostile_names", cwd=tmp_path)
        if expected:
            assert ran_in(checked(said.out), "01-baseline") == expected
        else:
            assert (said.code, "names no case that runs" in said.err) == (2, True)


# --- what a terminal gets ---------------------------------------------------------------------------------------------


def is_plain(output: bytes) -> bool:
    """Tell whether nothing in an output moves a cursor, hides, reorders or is not UTF-8."""
    text = output.decode("utf-8")
    return not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize(
    ("index", "shown"),
    [
        (3, "[red]x[/red] [link=http://example.invalid]y[/link] [/]"),
        (18, "\\x1B[31mred\\x1B[0m"),
        (19, "title\\x1B]0;another title\\x07 set"),
        (21, "invalid \\xFF\\xFE utf-8 \\xC3("),
        (22, "control \\x01\\x02\\x7F bytes"),
        (42, "bidi \\u202eoverride"),
        (43, '<TestCase name="forged"/> &amp; ]]>'),
    ],
)
def test_no_name_does_anything_to_the_terminal(zoo: Path, tmp_path: Path, index: int, shown: str) -> None:
    done = subprocess.run(
        [*PROGRAM, "attribute", "--no-lock", "--repeat=1", *FLOORS, zoo / "hostile_names"],
        cwd=tmp_path,
        env=environment({"ZOO_FAIL": str(index), "COLUMNS": "200"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 3
    assert is_plain(done.stdout)
    assert is_plain(done.stderr)
    for output in (done.stdout, done.stderr):
        assert shown in output.decode()
    reproducer = done.stdout.decode().split("Reproduce:\n")[1].split("\n\n")[0]
    again = shell(reproducer, cwd=tmp_path, ZOO_FAIL=str(index))
    assert (again.returncode, ran(again.stderr.encode(errors="surrogateescape"))) == (1, [index])


# --- targets ----------------------------------------------------------------------------------------------------------

PATHS = [
    b"a b; $(touch x) [red].bin",
    b"new\nline `touch x`",
    b"\x1b[31minv\xff\xfealid",
    b"-quo'te\"s\\ #*?{a,b}~",
]


@pytest.fixture(params=PATHS, ids=ascii)
def hostile_path(request: pytest.FixtureRequest, zoo: Path, tmp_path: Path) -> bytes:
    """A target with a name that does harm where it is not quoted, in a folder with such a name; relative to it."""
    name: bytes = request.param
    folder = os.fsencode(tmp_path) + b"/in $(touch y) \xe9"
    os.mkdir(folder)
    with open(folder + b"/" + name, "wb") as file:
        file.write((zoo / "own_main").read_bytes())
    os.chmod(folder + b"/" + name, 0o755)
    return name


def test_a_target_with_a_hostile_path_is_run_and_both_command_lines_are_safe(
    hostile_path: bytes, tmp_path: Path
) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/in $(touch y) \xe9"))
    named = (b"./" if hostile_path.startswith(b"-") else b"") + hostile_path
    red = diagnose_bytes(named, b"--repeat=1", cwd=folder)
    assert red["signature"]["case"] == "area, red"
    assert shell(red["reproducer"], cwd=folder).returncode == 1
    assert shell(red["reproducer"], cwd=folder, ZOO_GREEN="1").returncode == 0
    green = diagnose_bytes(named, b"--repeat=1", cwd=folder, ZOO_GREEN="1")
    assert green["status"] == "green"
    following = shell(green["next"], cwd=folder, ZOO_GREEN="1")
    assert following.returncode == 0, following.stderr
    assert "Green: " in following.stdout
    for place in (folder, tmp_path):
        assert not {"x", "y"} & {path.name for path in place.iterdir()}


def test_the_terminal_gets_a_hostile_path_as_text(hostile_path: bytes, tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/in $(touch y) \xe9")
    path = os.path.join(os.fsencode(folder), hostile_path)
    done = subprocess.run(
        [*PROGRAM, "attribute", "--no-lock", "--repeat=1", *FLOORS, path],
        cwd=folder,
        env=environment({}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 3
    assert is_plain(done.stdout)
    assert is_plain(done.stderr)
    text = done.stdout.decode()
    reproducer = text.split("Reproduce:\n")[1].split("\n\nEvidence:")[0].split("\n\nNext (")[0]
    assert shell(reproducer, cwd=Path(folder)).returncode == 1


def test_a_path_that_is_not_there_is_named_without_harm(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "attribute", b"no\xff such \x1b[31m[red]\nfile"],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 2
    assert is_plain(done.stderr)
    assert "no\\xff such \\x1b[31m[red]\\x0afile: no such file" in done.stderr.decode()
