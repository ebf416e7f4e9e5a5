"""Reports of doctest runs: captured ones against the truth, and each of the format's traps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.frameworks import FRAMEWORKS
from pooldiag.frameworks.base import CaseEvent
from pooldiag.model.cases import Case, Selection
from pooldiag.model.events import CaseStarted
from pooldiag.model.outcomes import CaseResult, CaseStatus, FrameworkReport
from tests.frameworks.reports import FAILED_CHECK, HEAD, PASSED, TRUTHS, Truth, one_case, run, sample

DOCTEST = FRAMEWORKS["doctest"]
ENDED = {CaseStatus.PASSED, CaseStatus.FAILED}


def read(*pieces: bytes, selection: Selection | None = None) -> FrameworkReport:
    reader = DOCTEST.reader(selection)
    for piece in pieces:
        reader.feed(piece)
    return reader.result()


def events(*pieces: bytes) -> list[CaseEvent]:
    reader = DOCTEST.reader(None)
    return [event for piece in pieces for event in reader.feed(piece)]


def only(report: bytes) -> CaseResult:
    (result,) = read(report).results
    return result


def count(report: FrameworkReport, *statuses: CaseStatus) -> int:
    return sum(result.status in statuses for result in report.results)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: f"{truth.path.parent.name}-{truth.path.stem}")
def test_a_captured_run_reads_as_what_it_was(truth: Truth) -> None:
    report = read(truth.path.read_bytes())
    assert len(report.results) == truth.started
    assert count(report, CaseStatus.PASSED) == truth.passed
    assert count(report, CaseStatus.FAILED) == truth.failed
    bad = tuple(result.case.name for result in report.results if result.status is not CaseStatus.PASSED)
    assert bad == truth.culprits


def test_counts_of_assertions_stand_beside_a_crash() -> None:
    report = read(sample("2.5.2", "pool-seed7-xml"))
    assert (report.assertions_passed, report.assertions_failed) == (44, 0)
    crashed = report.results[-1]
    assert (crashed.status, crashed.signal, crashed.place) == (CaseStatus.CRASHED, "SIGSEGV", None)
    assert crashed.message == "SIGSEGV - Segmentation violation signal"


def test_the_first_failing_assertion_gives_place_and_message() -> None:
    failed = read(sample("2.4.9", "pool-ckpt-xml")).results[11]
    assert failed.place == "src/doctest_pool.cpp:60"
    assert failed.message == "REQUIRE( std::isfinite(v) ) is false: false"
    assert failed.case.name == "SHIPPED 21.00B forward is finite on CUDA"


def test_durations_are_told_where_doctest_tells_them() -> None:
    assert [result.seconds for result in read(sample("2.4.9", "fail-xml")).results] == [9e-06, 0.000158, 9.3e-05]
    assert [result.seconds for result in read(sample("2.4.9", "subcases-xml")).results] == [None]


def test_a_report_beside_a_lying_summary_counts_cases_that_ran() -> None:
    data = sample("2.4.9", "first-last-xml")
    assert b'<OverallResultsTestCases successes="2"' in data
    assert count(read(data), CaseStatus.PASSED) == 0


@given(st.sampled_from(TRUTHS), st.data())
def test_the_bytes_may_be_cut_into_any_pieces(truth: Truth, data: st.DataObject) -> None:
    whole = truth.path.read_bytes()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=20)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read(*pieces) == read(whole)
    assert events(*pieces) == events(whole)


@given(st.sampled_from(TRUTHS), st.data())
def test_a_cut_report_never_tells_more_than_the_whole(truth: Truth, data: st.DataObject) -> None:
    whole = truth.path.read_bytes()
    report, complete = read(whole[: data.draw(st.integers(0, len(whole)))]), read(whole)
    finished = [result for result in report.results if result.status in ENDED]
    assert finished == list(complete.results[: len(finished)])
    assert len(report.results) - len(finished) in {0, 1}
    assert [result.case for result in report.results] == [
        result.case for result in complete.results[: len(report.results)]
    ]
    assert report.assertions_passed <= complete.assertions_passed


@given(st.binary(max_size=300), st.integers(0, 400))
def test_garbage_written_into_a_report_is_no_error(garbage: bytes, place: int) -> None:
    whole = sample("2.4.9", "fail-xml")
    report = read(whole[:place], garbage, whole[place:])
    assert count(report, *ENDED) <= 3


@given(st.sampled_from(TRUTHS))
def test_every_tag_is_told_at_once_when_bytes_come_one_by_one(truth: Truth) -> None:
    whole = truth.path.read_bytes()
    reader = DOCTEST.reader(None)
    end_of_first = whole.index(b">", whole.index(b"<TestCase")) + 1
    seen = [event for byte in whole[:end_of_first] for event in reader.feed(bytes([byte]))]
    assert len(seen) == (b'skipped="true"' not in whole[:end_of_first])


def test_a_case_is_told_when_it_starts_and_when_it_ends() -> None:
    first, second = '<TestCase name="a" line="1" filename="f">', '<TestCase name="b" line="2" filename="f">'
    reader = DOCTEST.reader(None)
    assert reader.feed((HEAD + "<TestSuite>" + first).encode()) == (CaseStarted(name="a", number=1),)
    (ended,) = reader.feed(PASSED.encode())
    assert isinstance(ended, CaseResult)
    assert ended.status is CaseStatus.PASSED
    assert reader.feed(f"</TestCase>{second}".encode()) == (CaseStarted(name="b", number=2),)
    assert [result.status for result in reader.result().results] == [CaseStatus.PASSED, CaseStatus.UNFINISHED]


def test_skipped_and_filtered_out_cases_are_not_started() -> None:
    data = run('<TestCase name="a" skipped="true"/>', f'<TestCase name="b">{PASSED}</TestCase>')
    assert events(data)[0] == CaseStarted(name="b", number=1)
    assert [result.case.name for result in read(data).results] == ["b"]


def test_elements_that_a_case_prints_are_not_believed() -> None:
    forged = '<TestCase name="forged"/><OverallResultsTestCases successes="9"/><TestSuite name="x"/>'
    result = only(one_case(forged + PASSED))
    assert (result.case.name, result.status, result.assertions) == ("one", CaseStatus.PASSED, 1)


def test_a_forged_end_does_not_end_a_subcase() -> None:
    inner = f'<SubCase name="s"><OverallResultsAsserts successes="7"/>{FAILED_CHECK}</SubCase>'
    assert only(one_case(inner)).status is CaseStatus.UNFINISHED
    assert only(one_case(inner)).assertions_failed == 1


def test_a_crash_without_an_end_is_a_crash() -> None:
    data = one_case('<Exception crash="true">SIGABRT - Abort (abnormal termination) signal</Exception>')
    assert (only(data).status, only(data).signal) == (CaseStatus.CRASHED, "SIGABRT")
    cut = data[: data.index(b"SIGABRT") + 4]
    assert (only(cut).status, only(cut).signal) == (CaseStatus.CRASHED, None)


def test_assertions_known_before_the_end_are_counted() -> None:
    passed = '<Expression success="true" type="CHECK" filename="a.cpp" line="8"/>'
    warned = '<Expression success="false" type="WARN_EQ" filename="a.cpp" line="8"/>'
    message = '<Message type="WARNING" filename="a.cpp" line="8"><Text>hello</Text></Message>'
    result = only(one_case(passed + warned + message + passed + FAILED_CHECK))
    assert (result.assertions_passed, result.assertions_failed) == (2, 1)
    assert (result.place, result.message) == ("a.cpp:9", "CHECK( f(x) == 2 ) is false: 1 == 2")


def test_a_failure_message_of_the_test_itself_is_a_failure() -> None:
    fail = '<Message type="FATAL ERROR" filename="a.cpp" line="4"><Text>\n  no\n device </Text></Message>'
    end = '<OverallResultsAsserts successes="0" failures="1" test_case_success="false"/>'
    result = only(one_case(fail + FAILED_CHECK + end))
    assert (result.status, result.place, result.message) == (CaseStatus.FAILED, "a.cpp:4", "no device")


def test_an_exception_fails_a_case_without_a_failed_assertion() -> None:
    later = '<Exception crash="false">exception thrown in subcase - will translate later when ...</Exception>'
    end = '<OverallResultsAsserts successes="3" failures="0" test_case_success="false"/>'
    result = only(one_case(f'<SubCase name="s">{later}</SubCase><Exception crash="false">boom</Exception>{end}'))
    assert (result.status, result.assertions_failed, result.message) == (CaseStatus.FAILED, 0, "exception: boom")


def test_an_assertion_that_threw_says_so() -> None:
    threw = FAILED_CHECK.replace("Expanded", "Exception")
    assert only(one_case(threw)).message == "CHECK( f(x) == 2 ) threw 1 == 2"
    assert only(one_case(threw)).status is CaseStatus.UNFINISHED


def test_a_warning_that_threw_fails_nothing() -> None:
    warned = '<Expression success="false" type="WARN_NOTHROW"><Exception>boom</Exception></Expression>'
    result = only(one_case(warned + '<OverallResultsAsserts successes="1" failures="0"/>'))
    assert (result.status, result.message) == (CaseStatus.PASSED, None)


def test_a_green_case_with_failed_assertions_has_no_place_of_failure() -> None:
    end = '<OverallResultsAsserts successes="0" failures="1" test_case_success="true"/>'
    result = only(one_case(FAILED_CHECK + end, 'may_fail="true"'))
    assert (result.status, result.assertions_failed) == (CaseStatus.PASSED, 1)
    assert (result.place, result.message) == (None, None)


@pytest.mark.parametrize(
    ("decorators", "inside", "end", "status", "message"),
    [
        ("", "", 'failures="0"', CaseStatus.PASSED, None),
        ("", FAILED_CHECK, 'failures="1"', CaseStatus.FAILED, "CHECK( f(x) == 2 ) is false: 1 == 2"),
        ("", '<Exception crash="false">x</Exception>', 'failures="0"', CaseStatus.FAILED, "exception: x"),
        ('may_fail="true"', FAILED_CHECK, 'failures="1"', CaseStatus.PASSED, None),
        ('should_fail="true"', FAILED_CHECK, 'failures="1"', CaseStatus.PASSED, None),
        ('should_fail="true"', "", 'failures="0"', CaseStatus.FAILED, "did not fail, and is marked should_fail"),
        ("", FAILED_CHECK, 'failures="2" expected_failures="2"', CaseStatus.PASSED, None),
        (
            "",
            "",
            'failures="0" expected_failures="2"',
            CaseStatus.FAILED,
            "0 failed assertions, and is marked expected_failures(2)",
        ),
        (
            'timeout="0.5"',
            "",
            'failures="0" duration="0.6"',
            CaseStatus.FAILED,
            "took longer than its timeout(0.5)",
        ),
        ('timeout="0.5"', "", 'failures="0" duration="0.4"', CaseStatus.PASSED, None),
    ],
)
def test_an_old_doctest_that_does_not_tell_success_is_understood(
    decorators: str, inside: str, end: str, status: CaseStatus, message: str | None
) -> None:
    result = only(one_case(f'{inside}<OverallResultsAsserts successes="1" {end}/>', decorators))
    assert (result.status, result.message) == (status, message)


@pytest.mark.parametrize("number", ["", "-1", "nan", "9" * 5000, "1e3", "٣"])
def test_numbers_that_are_none_are_not_believed(number: str) -> None:
    end = f'<OverallResultsAsserts successes="{number}" failures="{number}" test_case_success="true" duration="inf"/>'
    result = only(one_case(end))
    assert (result.status, result.assertions, result.seconds) == (CaseStatus.PASSED, 0, None)
    assert only(one_case(f'<OverallResultsAsserts duration="{number}x"/>')).seconds is None


def test_a_doctype_ends_the_useful_part() -> None:
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    bomb = f'<?xml version="1.0"?><!DOCTYPE doctest [<!ENTITY e0 "boom">{entities}]><doctest>&e9;'
    whole = bomb.encode() + run(f'<TestCase name="a">{PASSED}</TestCase>')
    assert read(whole) == FrameworkReport()


def test_what_follows_a_doctype_in_a_later_piece_is_ignored() -> None:
    head, rest = b"<?xml version='1.0'?><!DOCTYPE doctest []>", run(f'<TestCase name="a">{PASSED}</TestCase>')
    assert read(head, rest[rest.index(b"<doctest") :]) == FrameworkReport()


def test_a_report_after_the_report_is_ignored() -> None:
    whole = sample("2.4.9", "fail-xml")
    assert read(whole + whole) == read(whole)


@pytest.mark.parametrize("byte", [b"\x0b", b"\x0c", b"\x00", b"\x1b", b"\xff", b"\xed\xa0\x80", b"\xef\xbf\xbf"])
def test_characters_that_xml_forbids_do_not_end_the_useful_part(byte: bytes) -> None:
    result = only(one_case(FAILED_CHECK + PASSED.replace("true", "false")).replace(b"f(x)", b"f(" + byte + b")"))
    assert result.status is CaseStatus.FAILED
    escaped = "".join(f"\\x{value:02X}" for value in byte)
    assert result.message == f"CHECK( f({escaped}) == 2 ) is false: 1 == 2"


def test_a_huge_message_is_cut() -> None:
    result = only(one_case(FAILED_CHECK.replace("1 == 2", "x" * 1_000_000)))
    assert result.message is not None
    assert len(result.message) == 300
    assert result.message.endswith("x…")


def test_results_name_the_cases_that_were_asked_for() -> None:
    cases = (
        Case(name="a", suite="s", file="f", line=1, twin=0),
        Case(name="a", suite="s", file="f", line=1, twin=1),
        Case(name="a", suite="s", file="f", line=2),
    )
    started = [f'<TestCase name="a" filename="f" line="{line}">{PASSED}</TestCase>' for line in (1, 2, 1)]
    report = read(run(*started, suite="s"), selection=Selection(cases=cases))
    assert [result.case for result in report.results] == [cases[0], cases[2], cases[1]]


def test_the_second_twin_alone_is_the_one_that_was_asked_for() -> None:
    second = Case(name="a", file="f", line=1, twin=1)
    report = read(
        run(f'<TestCase name="a" filename="f" line="1">{PASSED}</TestCase>'), selection=Selection(cases=(second,))
    )
    assert report.results[0].case == second


def test_a_list_without_places_is_matched_by_name() -> None:
    listed = Case(name="a")
    data = run(f'<TestCase name="a" filename="f" line="1">{PASSED}</TestCase>', suite="s")
    assert read(data, selection=Selection(cases=(listed,))).results[0].case == listed


def test_a_case_that_was_not_asked_for_is_told_as_it_is() -> None:
    data = run(*[f'<TestCase name="b" filename="f" line="1">{PASSED}</TestCase>'] * 2, suite="s")
    report = read(data, selection=Selection(cases=(Case(name="a", file="f", line=1),)))
    assert [result.case for result in report.results] == [
        Case(name="b", suite="s", file="f", line=1, twin=twin) for twin in (0, 1)
    ]
