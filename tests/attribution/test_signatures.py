"""Which reds are one, and how they are known again in a saved report."""

import pytest

from pooldiag.attribution.signatures import is_at, not_reached, output_of, same_red, saved_place, signatures
from pooldiag.model.counts import PrintedCensus
from pooldiag.model.outcomes import CaseStatus, Outcome, OutputFile
from pooldiag.model.readings import PlaceKind, RedPlace, Signature, SignatureKind
from pooldiag.model.runs import Ending
from tests.builders import cases, completed, green, outcome, result, signalled, written

FIRST, SECOND, *_, LAST = cases()
VICTIM = LAST.name


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ("ended after a", "ended after b", True),
        ("between two cases", "after the last case", True),
        ("ended after a", "output video.bin: absent", False),
        ("exit code 3", "exit code 4", False),
    ],
)
def test_a_red_outside_the_cases_is_the_same_wherever_among_them_it_ends(found: str, wanted: str, same: bool) -> None:
    kind = SignatureKind.COUNT
    ends = [Signature(kind=kind, place=saved_place(text, kind=kind, case=None)) for text in (found, wanted)]
    assert same_red(*ends) is same


def test_a_red_of_a_case_is_the_same_only_at_the_same_place() -> None:
    failure = Signature(kind=SignatureKind.FAILURE, case=VICTIM, place=RedPlace(text="test.cpp:44"))
    other = Signature(kind=SignatureKind.FAILURE, case=VICTIM, place=RedPlace(text="after the last case"))
    assert not same_red(other, failure)


def short(*names: str) -> OutputFile:
    return OutputFile(path="/".join(names), problem="short")


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        (outcome(result(FIRST), result(SECOND, CaseStatus.CRASHED), end=signalled(11)), PlaceKind.TEXT),
        (outcome(result(FIRST), result(SECOND, CaseStatus.UNFINISHED)), PlaceKind.TEXT),
        (outcome(*(result(one, CaseStatus.FAILED, message="not reached") for one in cases())), PlaceKind.TEXT),
        (green(end=completed(3)), PlaceKind.TEXT),
        (outcome(end=completed(None, ending=Ending.LOST)), PlaceKind.TEXT),
        (green(end=signalled(11)), PlaceKind.AMONG_CASES),
        (outcome(result(FIRST), end=signalled(11)), PlaceKind.AMONG_CASES),
        (outcome(end=signalled(11)), PlaceKind.AMONG_CASES),
        (outcome(end=completed(None, ending=Ending.TIMED_OUT)), PlaceKind.AMONG_CASES),
        (outcome(result(FIRST)), PlaceKind.AMONG_CASES),
        (outcome(result(FIRST), result(SECOND), result(SECOND), result(LAST)), PlaceKind.AMONG_CASES),
        (green(outputs=(written(nan=1),)), PlaceKind.OUTPUT),
        (green(printed=(PrintedCensus(name="output video", n=4, nan=1),)), PlaceKind.OUTPUT),
        (green(outputs=(short("a: b", "c.bin"),)), PlaceKind.LACK),
    ],
)
def test_a_place_is_known_again_by_its_text_in_a_saved_report(run: Outcome, kind: PlaceKind) -> None:
    found = signatures(run)
    assert found
    for one in found:
        assert one.place is not None
        assert is_at(one, kind)
        assert saved_place(one.place.text, kind=one.kind, case=one.case) == one.place


def test_a_victim_that_was_not_reached_is_known_again_and_a_message_of_these_words_is_not_it() -> None:
    missing = not_reached(LAST)
    assert saved_place("not reached", kind=missing.kind, case=missing.case) == missing.place
    failed = saved_place("not reached", kind=SignatureKind.FAILURE, case=VICTIM)
    assert failed == RedPlace(text="not reached")
    assert saved_place(None, kind=SignatureKind.HANG, case=None) is None


def test_the_output_that_a_red_is_about_is_named() -> None:
    (nan,) = signatures(green(outputs=(written(nan=1),)))
    (lack,) = signatures(green(outputs=(short("a: b", "c.bin"),)))
    (crash,) = signatures(green(end=signalled(11)))
    assert [output_of(one) for one in (nan, lack, crash)] == ["video.bin", "a: b/c.bin", None]


def test_the_first_lines_of_a_message_stand_beside_a_red_and_are_not_part_of_it() -> None:
    said = "expected 3\n\n  got 4 at 0x7f\nin the sum\nof all"
    one, other = (
        signatures(outcome(result(FIRST, CaseStatus.FAILED, place="test.cpp:9", message=text)))[0]
        for text in (said, "expected 3\n  got 5 at 0x80")
    )
    assert one.message == "expected 3\n  got 4 at 0x7f\nin the sum"
    assert other.message == "expected 3\n  got 5 at 0x80"
    assert same_red(one, other)
    assert {one} == {other}


def test_a_crash_says_what_is_not_said_by_its_signal_or_what_the_process_printed_last() -> None:
    (told,) = signatures(
        outcome(result(FIRST, CaseStatus.CRASHED, signal="SIGABRT", message="SIGABRT - Abort"), end=signalled(6))
    )
    assert told.message is None
    printed = outcome(result(FIRST, CaseStatus.CRASHED), end=signalled(6), text_marks=("double free or corruption",))
    assert [one.message for one in signatures(printed)] == ["double free or corruption"]
    thrown = result(FIRST, CaseStatus.CRASHED, message="exception: no device")
    assert [one.message for one in signatures(outcome(thrown, end=signalled(6)))] == ["exception: no device"]


def test_a_failure_without_a_place_is_known_by_the_first_line_of_its_message() -> None:
    (found,) = signatures(outcome(result(FIRST, CaseStatus.FAILED, message="at 0x7f: 3\nassert 0x7f"), result(SECOND)))
    assert found.place == RedPlace(text="at …: …")
