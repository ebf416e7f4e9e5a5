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


def results(report: FrameworkReport) -> list[tuple[str, CaseStatus]]:
    return [(result.case.name.rpartition("::")[2], result.status) for result in report.results]


def test_a_pytest_suite_is_listed_run_and_reported(suite: Target) -> None:
    names = [case.name.rpartition("::")[2] for case in suite.listing().cases]
    report, problem, code = suite.run(None)
    assert (problem, code) == (None, 1)
    assert results(report) == [*[(name, PASSED) for name in names[:3]], (names[3], FAILED)]
    failed = report.results[-1]
    assert (failed.place or "").endswith("suite/test_rounding.py:22")
    assert failed.message == "AssertionError: assert Decimal('1.06') == Decimal('1.07')"


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
        def test_exits(): os._exit(0)
        """)
    )
    own = Target(argv=(*suite.argv[:2], "--rootdir=.", "test_others.py"), folder=tmp_path)
    names = [case.name for case in own.listing().cases]
    report, problem, code = own.run(own.select(*names[1:], names[0]))
    statuses = [PASSED, FAILED, PASSED, PASSED, UNFINISHED]
    assert ([one.status for one in report.results], problem, code) == (statuses, None, 0)
    assert [one.assertions for one in report.results] == [0, 1, 1, 1, 0]
    assert report.results[1].message == "OSError: busy"
    report, _, code = own.run(own.select(names[0]))
    assert (results(report), report.results[0].message, code) == ([("test_setup", FAILED)], "OSError: no device", 1)
    assert not list(tmp_path.rglob("__pycache__"))


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
