"""doctest itself, as the example targets are built with it: what is asked for is what runs."""

import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pooldiag.frameworks import FRAMEWORKS
from pooldiag.frameworks.base import ListingError, confirms
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection
from pooldiag.model.outcomes import CaseStatus, FrameworkReport

DOCTEST = FRAMEWORKS["doctest"]
LIMIT_SECONDS = 60
FILE_ORDER = Order()


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """One target, and the file in which it reports."""

    path: Path
    report: Path

    def start(self, arguments: tuple[str, ...]) -> tuple[bytes, subprocess.CompletedProcess[bytes]]:
        self.report.unlink(missing_ok=True)
        done = subprocess.run(
            [self.path, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False
        )
        return self.report.read_bytes() if self.report.exists() else b"", done

    def listing(self, selection: Selection | None = None, order: Order = FILE_ORDER) -> Listing:
        return DOCTEST.parse_listing(self.start(DOCTEST.list_arguments(selection, order, self.report))[0])

    def run(self, selection: Selection | None, order: Order = FILE_ORDER) -> tuple[FrameworkReport, str]:
        data, done = self.start(DOCTEST.run_arguments(selection, order, self.report))
        reader = DOCTEST.reader(selection)
        reader.feed(data)
        return reader.result(), done.stderr.decode(errors="replace")

    def verified(self, wanted: tuple[Case, ...], order: Order = FILE_ORDER) -> Iterator[Selection]:
        """Yield the selections of the wanted cases that a listing confirms."""
        for selection in DOCTEST.selections(self.listing(order=order), wanted):
            if confirms(self.listing(selection, order), selection):
                yield selection


@pytest.fixture
def zoo(examples_build: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Binary:
    return Binary(path=examples_build / "zoo" / request.param, report=tmp_path / "report.xml")


def on(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("zoo", [name], indirect=True, ids=[name])


def ran(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"ran#(\d+)", text)]


@on("hostile_names")
def test_every_case_with_a_hostile_name_can_be_selected_alone(zoo: Binary) -> None:
    cases = zoo.listing().runnable
    everything, text = zoo.run(None)
    assert [result.case for result in everything.results] == list(cases)
    for case, index in zip(cases, ran(text), strict=True):
        selection = next(zoo.verified((case,)))
        report, alone = zoo.run(selection)
        assert [result.case for result in report.results] == [case]
        assert report.complete
        assert ran(alone) == [index]


@on("hostile_names")
@pytest.mark.parametrize("order", [Order(), Order(kind=OrderKind.RAND, seed=7), Order(kind=OrderKind.NAME)], ids=str)
def test_a_subset_runs_as_selected_in_every_order(zoo: Binary, order: Order) -> None:
    cases = zoo.listing(order=order).runnable
    everything, _ = zoo.run(None, order)
    assert [(result.case.name, result.case.line) for result in everything.results] == [
        (case.name, case.line) for case in cases
    ]
    chosen = random.Random(3)
    for size in (2, 10, 40):
        plain = [case for case in cases if case.name not in {"", "duplicate", "what? now", "whatX now"}]
        plain = [case for case in plain if "\\x1B" not in case.name and not case.name.startswith("twin")]
        picked = set(chosen.sample(plain, min(size, len(plain))))
        wanted = tuple(case for case in cases if case in picked)
        report, _ = zoo.run(next(zoo.verified(wanted, order)), order)
        assert [result.case for result in report.results] == list(wanted)


@on("hostile_names")
def test_bytes_that_are_not_utf8_select_by_name(zoo: Binary) -> None:
    (case,) = [case for case in zoo.listing().cases if case.name.startswith("invalid")]
    assert case.name_bytes == b"invalid \xff\xfe utf-8 \xc3("
    assert next(zoo.verified((case,))).patterns


@on("hostile_names")
def test_a_name_that_only_looks_escaped_is_not_mistaken_for_the_real_one(zoo: Binary) -> None:
    real, look_alike = [case for case in zoo.listing().cases if case.name == "\\x1B[31mred\\x1B[0m"]
    assert ran(zoo.run(next(zoo.verified((real,))))[1]) == [18]
    assert ran(zoo.run(next(zoo.verified((look_alike,))))[1]) == [35]


@on("hostile_names")
def test_two_folded_names_apart_from_each_other_are_selected(zoo: Binary) -> None:
    wanted = tuple(case for case in zoo.listing().cases if case.name in {"line one line two", "plain"})
    assert ran(zoo.run(next(zoo.verified(wanted)))[1]) == [1, 23]


@on("all_skipped")
def test_skipped_cases_are_listed_and_do_not_run(zoo: Binary) -> None:
    listing = zoo.listing()
    assert len(listing.cases) == 3
    assert listing.runnable == ()
    assert zoo.run(None)[0].results == ()


@on("deaf_main")
def test_a_main_that_ignores_its_arguments_gives_no_listing(zoo: Binary) -> None:
    with pytest.raises(ListingError, match="no listing"):
        zoo.listing()


@on("crash_before_main")
def test_a_target_that_dies_before_main_gives_no_listing(zoo: Binary) -> None:
    with pytest.raises(ListingError, match="no listing"):
        zoo.listing()


@on("crash_after_summary")
def test_a_target_that_dies_after_its_list_is_listed(zoo: Binary) -> None:
    assert [case.name for case in zoo.listing().cases] == ["first", "second", "third"]
    report, _ = zoo.run(None)
    assert report.complete
    assert all(result.status is CaseStatus.PASSED for result in report.results)


@on("own_main")
def test_options_reach_a_build_that_takes_the_prefixed_ones_only(zoo: Binary) -> None:
    cases = zoo.listing().runnable
    assert cases
    report, _ = zoo.run(next(zoo.verified(cases[:1])))
    assert [result.case for result in report.results] == [cases[0]]


@on("crash_zero_failed")
def test_the_case_that_crashed_is_told_beside_zero_failed_assertions(zoo: Binary) -> None:
    report, _ = zoo.run(None)
    assert [result.status for result in report.results] == [*[CaseStatus.PASSED] * 3, CaseStatus.CRASHED]
    assert (report.assertions_passed, report.assertions_failed) == (44, 0)
    assert report.results[-1].signal == "SIGSEGV"


@on("exit_in_middle")
def test_the_case_that_left_the_process_is_unfinished(zoo: Binary) -> None:
    report, _ = zoo.run(None)
    assert not report.complete
    assert [result.status for result in report.results] == [*[CaseStatus.PASSED] * 2, CaseStatus.UNFINISHED]


@on("vacuous")
def test_cases_without_an_assertion_are_seen_one_by_one(zoo: Binary) -> None:
    report, _ = zoo.run(None)
    assert sum(result.assertions == 0 for result in report.results) == 5
    assert all(result.status is CaseStatus.PASSED for result in report.results)


@on("fails")
def test_what_doctest_calls_failed_is_failed(zoo: Binary) -> None:
    _, done = zoo.start(())
    summary = re.search(rb"test cases: +\d+ \| +(\d+) passed \| +(\d+) failed", done.stdout)
    assert summary is not None
    report, _ = zoo.run(None)
    statuses = [result.status for result in report.results]
    assert [statuses.count(CaseStatus.PASSED), statuses.count(CaseStatus.FAILED)] == [
        int(text) for text in summary.groups()
    ]
    failed = [result for result in report.results if result.status is CaseStatus.FAILED]
    assert all(result.message for result in failed)
    assert any(result.place for result in failed)


@on("hostile_names")
def test_seeds_zero_and_one_and_none_are_one_order(zoo: Binary) -> None:
    rand = [zoo.listing(order=Order(kind=OrderKind.RAND, seed=seed)).cases for seed in (None, 0, 1, 2)]
    assert rand[0] == rand[1] == rand[2] != rand[3]
