"""Real targets of `listfile`: the examples that users copy, and one that breaks the contract in every way."""

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from pooldiag.frameworks import FRAMEWORKS
from pooldiag.frameworks.base import ListingError, arranged
from pooldiag.model.cases import Listing, Order, OrderKind, Selection
from pooldiag.model.outcomes import CaseStatus, FrameworkReport

LISTFILE = FRAMEWORKS["listfile"]
EXAMPLES = Path(__file__).parents[2] / "examples" / "listfile"
LIMIT_SECONDS = 60
FILE_ORDER = Order()
PASSED, FAILED, UNFINISHED = CaseStatus.PASSED, CaseStatus.FAILED, CaseStatus.UNFINISHED

pytestmark = pytest.mark.process

# Cases that change what follows, and names that break a careless reader. BREAK says how not to keep the contract.
HOSTILE = """
    import os, sys
    NAMES = [b"sets", b" two  blanks ", b"needs", b"--case=x", b"end", b"\\xff\\xe9", b"dies", "漢字 [a-1]".encode()]
    options = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word and not word.startswith("--case="))
    broken = os.environ.get("BREAK")
    if "--list-cases" in options:
        with open(options["--list-cases"], "wb") as file:
            file.write(b"".join(b"case " + name + b"\\n" for name in NAMES) + b"end\\n"[: 2 if broken == "list" else 4])
        sys.exit()
    names = [os.fsencode(word[7:]) for word in sys.argv[1:] if word.startswith("--case=")] or NAMES
    if "--run-cases" in options:
        names = open(options["--run-cases"], "rb").read().split(b"\\n")[:-1]
    if broken == "order":
        names.sort(key=NAMES.index)
    if broken == "selection":
        names = NAMES
    report, state = open(options.get("--report", os.devnull), "wb", buffering=0), set()
    for name in names:
        report.write(b"begin " + name + b"\\n")
        state.add(name)
        print(name.decode(errors="replace"), flush=True)
        if name == b"dies":
            os.kill(os.getpid(), 9)
        report.write(b"pass 3\\n" if name != b"needs" or b"sets" in state else b"fail it is not set\\n")
    report.write(b"end\\n")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target, and the folder in which it is asked."""

    argv: tuple[str, ...]
    folder: Path

    def start(self, words: tuple[str, ...], **variables: str) -> subprocess.CompletedProcess[bytes]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | variables
        return subprocess.run(
            [*self.argv, *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_SECONDS,
            check=False,
        )

    def listing(self, order: Order = FILE_ORDER, **variables: str) -> Listing:
        report = self.folder / "list"
        report.unlink(missing_ok=True)
        self.start(LISTFILE.list_arguments(None, order, report), **variables)
        return arranged(LISTFILE.parse_listing(report.read_bytes() if report.exists() else b""), order)

    def select(self, *names: str) -> Selection:
        listing = self.listing()
        wanted = tuple(next(case for case in listing.cases if case.name.endswith(name)) for name in names)
        (selection,) = LISTFILE.selections(listing, wanted)
        return selection

    def run(
        self,
        selection: Selection | None,
        order: Order = FILE_ORDER,
        **variables: str,
    ) -> tuple[FrameworkReport, str | None, int]:
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        for file in LISTFILE.input_files(selection, order, report):
            assert file.path.parent == report.parent
            file.path.write_bytes(file.content)
        done = self.start(LISTFILE.run_arguments(selection, order, report), **variables)
        reader = LISTFILE.reader(selection)
        reader.feed(report.read_bytes())
        return reader.result(), reader.problem(), done.returncode


@pytest.fixture
def suite(tmp_path: Path) -> Target:
    return Target(argv=(sys.executable, str(EXAMPLES / "run_pytest"), str(EXAMPLES / "suite")), folder=tmp_path)


@pytest.fixture
def checks(tmp_path: Path) -> Target:
    return Target(argv=(str(EXAMPLES / "checks.sh"),), folder=tmp_path)


@pytest.fixture
def hostile(tmp_path: Path) -> Target:
    script = tmp_path / "hostile.py"
    script.write_text(dedent(HOSTILE))
    return Target(argv=(sys.executable, str(script)), folder=tmp_path)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(dedent(text))


def results(report: FrameworkReport) -> list[tuple[str, CaseStatus]]:
    return [(result.case.name.rpartition("::")[2], result.status) for result in report.results]


def test_a_pytest_suite_is_listed_run_and_reported(suite: Target) -> None:
    names = [case.name.rpartition("::")[2] for case in suite.listing().cases]
    report, problem, code = suite.run(None)
    assert (problem, code) == (None, 1)
    assert results(report) == [*[(name, PASSED) for name in names[:3]], (names[3], FAILED)]
    failed = report.results[-1]
    assert (failed.place or "").endswith("suite/test_rounding.py:22")
    first, *more = (failed.message or "").split("\n")
    assert first == "AssertionError: assert Decimal('1.06') == Decimal('1.07')"
    assert len(more) == 2
    assert "where Decimal('1.06') = " in more[0]


def test_a_pytest_suite_runs_in_the_wanted_order(suite: Target) -> None:
    tax, discount = "test_tax_is_rounded_to_the_nearest_cent", "test_a_discount_is_rounded_down"
    report, problem, code = suite.run(suite.select(tax, discount))
    assert (results(report), problem, code) == ([(tax, PASSED), (discount, PASSED)], None, 0)
    report, problem, code = suite.run(suite.select(discount, tax))
    assert (results(report), problem, code) == ([(discount, PASSED), (tax, FAILED)], None, 1)


def test_a_pytest_suites_skips_and_errors_are_told(suite: Target, tmp_path: Path) -> None:
    (tmp_path / "test_others.py").write_text(
        dedent("""
        import os, pytest
        @pytest.fixture
        def broken(): raise OSError("no device")
        @pytest.fixture
        def leaves(): yield; raise OSError("busy")
        def test_setup(broken): pass
        def test_skips(): pytest.skip("no GPU")
        def test_teardown(leaves): pass
        @pytest.mark.parametrize("text", ["a b", "é\\n"])
        def test_names(text): pass
        @pytest.mark.xfail(strict=True)
        def test_fails_as_it_should(): assert os.environ.get("NOBODY")
        def test_exits(): os._exit(0)
        """)
    )
    own = Target(argv=(*suite.argv[:2], "--rootdir=.", "test_others.py"), folder=tmp_path)
    names = [case.name for case in own.listing().cases]
    report, problem, code = own.run(own.select(*names[1:], names[0]))
    statuses = [PASSED, FAILED, PASSED, PASSED, PASSED, UNFINISHED]
    assert ([one.status for one in report.results], problem, code) == (statuses, None, 0)
    assert [one.assertions for one in report.results] == [0, 1, 1, 1, 1, 0]
    assert report.results[1].message == "OSError: busy"
    report, _, code = own.run(own.select(names[0]))
    assert (results(report), report.results[0].message, code) == ([("test_setup", FAILED)], "OSError: no device", 1)
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_pytest_failure_has_its_values_and_its_place_from_where_it_was_started(suite: Target, tmp_path: Path) -> None:
    write(
        tmp_path / "be low" / "test_values.py",
        """
        import os
        def test_scale(tmp_path):
            os.chdir(tmp_path)
            assert 1.0 == 1.5, "wrong scale"
        def test_lines(): raise ValueError("C:\\\\new\\n\\ntwo\\nthree\\nfour")
        def test_fixture(unknown): pass
        def test_frozen(tmp_path):
            os.chdir(tmp_path)
            os.rmdir(tmp_path)
            os.path.abspath("x")
        """,
    )
    own = Target(argv=(*suite.argv[:2], "be low"), folder=tmp_path)
    report, problem, _ = own.run(None)
    assert problem is None
    assert [(one.place, one.message) for one in report.results] == [
        ("be low/test_values.py:5", "AssertionError: wrong scale\nassert 1.0 == 1.5"),
        ("be low/test_values.py:6", "ValueError: C:\\new\ntwo\nthree"),
        (None, "fixture 'unknown' not found"),
        ("be low/test_values.py:11", "FileNotFoundError: [Errno 2] No such file or directory"),
    ]


def test_a_pytest_case_that_fails_in_two_ways_says_in_which(suite: Target, tmp_path: Path) -> None:
    write(
        tmp_path / "test_ways.py",
        """
        done = []
        def test_loads(): done.append("loads")
        def test_breaks(): done.append("breaks")
        def test_victim():
            assert done, "nothing is loaded"
            assert "breaks" not in done
        """,
    )
    own = Target(argv=suite.argv[:2], folder=tmp_path)
    ways = [("test_victim",), ("test_loads", "test_victim"), ("test_loads", "test_breaks", "test_victim")]
    ends = [own.run(own.select(*names))[0].results[-1] for names in ways]
    assert [(one.place, (one.message or "").partition("\n")[0]) for one in ends] == [
        ("test_ways.py:6", "AssertionError: nothing is loaded"),
        (None, ""),
        ("test_ways.py:7", "AssertionError: assert 'breaks' not in ['loads', 'breaks']"),
    ]


@pytest.mark.parametrize("arguments", [("a_test.py", "b_test.py"), ("a_test.py::test_a", "b_test.py::test_b"), ()])
def test_a_pytest_case_alone_has_the_files_of_the_whole_suite_imported(
    suite: Target, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write(tmp_path / "pytest.ini", "[pytest]\npython_files = *_test.py\npythonpath = .\n")
    write(tmp_path / "shared.py", "files = []")
    write(tmp_path / "a_test.py", "import shared\nshared.files.append(__name__)\ndef test_a(): pass")
    write(tmp_path / "b_test.py", "import shared\ndef test_b(): assert not shared.files")
    own = Target(argv=(*suite.argv[:2], *arguments), folder=tmp_path)
    expected = ("test_b", FAILED)
    assert results(own.run(None)[0])[-1] == expected
    alone = own.select("test_b")
    assert results(own.run(alone)[0]) == [expected]
    typed = own.start(LISTFILE.run_arguments(alone, FILE_ORDER, None))
    assert (typed.returncode, b"1 failed, 1 deselected" in typed.stdout) == (1, True)


def test_a_pytest_suite_that_shares_its_cases_out_runs_them_in_one_process_and_to_the_end(
    suite: Target, tmp_path: Path
) -> None:
    write(tmp_path / "pytest.ini", "[pytest]\naddopts = -n 2 --dist=load --maxfail=1")
    write(tmp_path / "test_state.py", "state = []\ndef test_1(): state.append(1)\ndef test_2(): assert 0\n")
    write(tmp_path / "test_last.py", "from test_state import state\ndef test_3(): assert state == [1]\n")
    own = Target(argv=suite.argv[:2], folder=tmp_path)
    wanted = own.select("test_2", "test_1", "test_3")
    for off in ("", "1"):  # with pytest-xdist, and without it
        report, problem, code = own.run(wanted, PYTEST_DISABLE_PLUGIN_AUTOLOAD=off)
        assert (problem, code) == (None, 1)
        assert results(report) == [("test_2", FAILED), ("test_1", PASSED), ("test_3", PASSED)]


def test_a_pytest_suite_that_cannot_be_collected_says_so_in_one_line(suite: Target, tmp_path: Path) -> None:
    write(tmp_path / "test_a.py", "def test_a(): pass")
    write(tmp_path / "test_b.py", "import nowhere_to_be_found")
    own, report = Target(argv=suite.argv[:2], folder=tmp_path), tmp_path / "list"
    done = own.start(LISTFILE.list_arguments(None, FILE_ORDER, report))
    assert (done.returncode, report.exists()) == (2, False)
    assert done.stderr.decode().splitlines() == [
        "1 error during collection: ModuleNotFoundError: No module named 'nowhere_to_be_found' (test_b.py)"
    ]
    for number in range(4):
        write(tmp_path / f"test_c{number}.py", "def")
    done = own.start(LISTFILE.list_arguments(None, FILE_ORDER, report))
    assert done.stderr.decode().startswith("5 errors during collection: ModuleNotFoundError: ")
    assert done.stderr.decode().endswith("SyntaxError: invalid syntax (test_c1.py); and 2 more\n")


def test_a_pytest_suite_without_a_case_has_a_listing_of_none(suite: Target) -> None:
    none = Target(argv=(*suite.argv, "-k", "nothing"), folder=suite.folder)
    done = none.start(LISTFILE.list_arguments(None, FILE_ORDER, suite.folder / "list"))
    assert (done.returncode, b"no tests collected (4 deselected)" in done.stdout) == (0, True)
    assert (suite.folder / "list").read_bytes() == b"end\n"


@pytest.mark.parametrize(
    ("breaks", "arguments"),
    [
        ("os.chdir(tmp_path); os.rmdir(tmp_path)", ()),
        ("os.rmdir(os.getcwd())", ()),
        ("sys.stdout.close()", ("-s",)),
        ("sys.__stdout__.close()", ()),
        ("os.close(1)", ("-s",)),
        ("os.close(1)", ()),
    ],
)
def test_a_pytest_report_goes_on_whatever_a_test_takes_away(
    suite: Target, tmp_path: Path, breaks: str, arguments: tuple[str, ...]
) -> None:
    write(
        tmp_path / "test_it.py",
        f"""
        import os, sys
        def test_1(): pass
        def test_breaks(tmp_path): {breaks}
        def test_2(): pass
        def test_3(): assert 0
        """,
    )
    (tmp_path / "start").mkdir()
    own = Target(argv=(*suite.argv[:2], *arguments, str(tmp_path / "test_it.py")), folder=tmp_path / "start")
    report = tmp_path / "report"
    done = own.start(LISTFILE.run_arguments(None, FILE_ORDER, report))
    reader = LISTFILE.reader(None)
    reader.feed(report.read_bytes())
    statuses = [("test_1", PASSED), ("test_breaks", PASSED), ("test_2", PASSED), ("test_3", FAILED)]
    assert (results(reader.result()), reader.problem(), done.returncode) == (statuses, None, 1)
    assert reader.result().results[-1].place == "../test_it.py:6"
    assert report.read_bytes().endswith(b"\nend\n")


def test_checks_in_sh_run_in_the_wanted_order(checks: Target) -> None:
    assert [case.name for case in checks.listing().cases] == ["three_words", "passwd_fields", "no_word", "two_words"]
    report, problem, code = checks.run(checks.select("two_words", "passwd_fields", "three_words"))
    expected = [("two_words", PASSED), ("passwd_fields", PASSED), ("three_words", FAILED)]
    assert (results(report), problem, code) == (expected, None, 1)
    assert checks.run(checks.select("no_word"))[2] == 0
    assert results(checks.run(None)[0])[-1] == ("two_words", FAILED)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("checks", ("two_words", "passwd_fields", "three_words")),
        ("suite", ("test_a_discount_is_rounded_down", "test_tax_is_rounded_to_the_nearest_cent")),
        ("hostile", ("漢字 [a-1]", "end", " two  blanks ")),
    ],
)
def test_the_line_for_people_runs_the_same_in_a_shell(
    target: str, names: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    asked: Target = request.getfixturevalue(target)
    selection = asked.select(*names)
    line = shlex.join([*asked.argv, *LISTFILE.run_arguments(selection, FILE_ORDER, None)])
    done = subprocess.run(["sh", "-c", line], cwd=asked.folder, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    report, _, code = asked.run(selection)
    assert (done.returncode, [result.case for result in report.results]) == (code, [*selection.cases])
    if target == "hostile":
        assert done.stdout.decode().splitlines() == [*names]


@pytest.mark.parametrize("order", [Order(), Order(kind=OrderKind.NAME), Order(kind=OrderKind.RAND, seed=3)], ids=str)
def test_any_name_runs_in_any_order_until_the_target_dies(hostile: Target, order: Order) -> None:
    listing = hostile.listing(order)
    (whole,) = LISTFILE.selections(listing, listing.cases)
    report, problem, code = hostile.run(whole, order)
    deaths = [number for number, case in enumerate(listing.cases, 1) if case.name == "dies"]
    assert [one.case for one in report.results] == [*listing.cases[: deaths[0]]]
    assert [one.status for one in report.results if one.status is not PASSED][-1] is UNFINISHED
    assert (problem, code) == (None, -9)


def test_a_polluter_that_must_come_first_is_asked_for_first(hostile: Target) -> None:
    assert results(hostile.run(hostile.select("needs"))[0]) == [("needs", FAILED)]
    assert results(hostile.run(hostile.select("sets", "needs"))[0])[-1] == ("needs", PASSED)
    assert results(hostile.run(hostile.select("needs", "sets"))[0])[0] == ("needs", FAILED)


def test_a_target_that_keeps_its_own_order_is_found_out(hostile: Target) -> None:
    _, problem, _ = hostile.run(hostile.select("needs", "sets"), BREAK="order")
    assert problem == "the target ran 'sets' where 'needs' was asked for"
    assert hostile.run(hostile.select("sets", "needs"), BREAK="order")[1] is None


def test_a_target_that_runs_what_it_was_not_asked_for_is_found_out(hostile: Target) -> None:
    _, problem, _ = hostile.run(hostile.select("sets"), BREAK="selection")
    assert problem == "the target ran ' two  blanks ' where nothing more was asked for"


def test_a_target_without_a_whole_list_gives_no_listing(hostile: Target, tmp_path: Path) -> None:
    with pytest.raises(ListingError, match="cut"):
        hostile.listing(BREAK="list")
    with pytest.raises(ListingError, match="no listing"):
        Target(argv=("true",), folder=tmp_path).listing()


def test_twenty_thousand_cases_are_asked_for(tmp_path: Path) -> None:
    script = tmp_path / "many.sh"
    script.write_text(
        dedent("""\
        #!/bin/sh
        case $1 in
        --list-cases=*) { seq -f "case %090g" 20000; echo end; } >"${1#*=}" ;;
        *) sed 's/.*/begin &\\npass/; $a end' "${1#*=}" >"${2#*=}" ;;
        esac
        """)
    )
    many = Target(argv=("sh", str(script)), folder=tmp_path)
    listing = many.listing()
    (selection,) = LISTFILE.selections(listing, listing.cases[::-1])
    report, problem, _ = many.run(selection)
    assert (len(report.results), problem) == (20_000, None)
