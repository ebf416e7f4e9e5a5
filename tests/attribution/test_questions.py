"""One run as a search reads it."""

from pooldiag.attribution.questions import Question, answer
from pooldiag.attribution.reading import read
from pooldiag.attribution.signatures import not_reached, signatures
from pooldiag.model.outcomes import CaseStatus, Outcome, Silence, SilenceKind
from pooldiag.model.readings import PlaceKind, Reading, RedPlace, Signature, SignatureKind
from pooldiag.model.runs import Ending
from tests.builders import cases, completed, green, outcome, result, signalled, written

VICTIM = cases()[-1]
FAILURE = Signature(kind=SignatureKind.FAILURE, case=VICTIM.name, place=RedPlace(text="test.cpp:44"))
NAN = Signature(kind=SignatureKind.NAN, place=RedPlace(text="video.bin", kind=PlaceKind.OUTPUT, output="video.bin"))
EXIT = Signature(kind=SignatureKind.FAILURE, place=RedPlace(text="exit code 3"))


def asked(run: Outcome, signature: Signature = FAILURE, *, asserts: bool = True, searched: bool = False) -> Reading:
    question = Question(signature=signature, victim=None if searched else VICTIM, asserts=asserts)
    return answer(run, read(run), question)


def with_victim(status: CaseStatus = CaseStatus.PASSED, **facts: object) -> Outcome:
    *before, victim = cases()
    return outcome(*(result(case) for case in before), result(victim, status, **facts), end=completed(1))


def test_the_same_failure_of_the_victim_is_red() -> None:
    assert asked(with_victim(CaseStatus.FAILED, place="test.cpp:44")) is Reading.RED


def test_another_failure_of_the_victim_is_neither_the_red_nor_green() -> None:
    assert asked(with_victim(CaseStatus.FAILED, place="test.cpp:45")) is Reading.OTHER


def test_a_victim_that_passes_is_green() -> None:
    assert asked(green()) is Reading.GREEN


def test_a_case_that_fails_beside_a_victim_that_passes_changes_nothing() -> None:
    first, *others = cases()
    run = outcome(result(first, CaseStatus.FAILED, place="x.cpp:1"), *(result(one) for one in others), end=completed(1))
    assert asked(run) is Reading.GREEN


def test_a_crash_before_the_victim_says_nothing() -> None:
    first, second, *_ = cases()
    assert asked(outcome(result(first), result(second, CaseStatus.CRASHED), end=signalled(11))) is Reading.VOID


def test_a_void_run_says_nothing() -> None:
    assert asked(green(found_silent=(Silence(kind=SilenceKind.SPACE, text="the disk was full"),))) is Reading.VOID


def test_a_pass_without_an_assertion_says_nothing_of_a_victim_that_makes_some() -> None:
    run = with_victim(assertions_passed=0)
    assert asked(run, asserts=True) is Reading.VOID
    assert asked(run, asserts=False) is Reading.GREEN


def test_a_victim_that_is_not_reached_is_a_red_of_its_own() -> None:
    first, second, *_ = cases()
    cut = outcome(result(first), result(second, CaseStatus.CRASHED), end=signalled(11))
    assert asked(cut, not_reached(VICTIM)) is Reading.RED
    assert asked(with_victim(CaseStatus.FAILED), not_reached(VICTIM)) is Reading.GREEN


def test_a_message_of_a_victim_that_reads_like_it_is_a_failure_like_any_other() -> None:
    failed = with_victim(CaseStatus.FAILED, message="not reached")
    (found,) = signatures(failed)
    assert asked(failed, found) is Reading.RED
    assert asked(with_victim(CaseStatus.FAILED, message="another"), found) is Reading.OTHER


def test_a_run_that_was_ended_at_the_verdict_is_read_by_the_verdict() -> None:
    ended = completed(None, ending=Ending.ENOUGH)
    *before, victim = cases()
    passed = outcome(*(result(case) for case in cases()), end=ended)
    failed = outcome(
        *(result(case) for case in before), result(victim, CaseStatus.FAILED, place="test.cpp:44"), end=ended
    )
    assert (asked(passed), asked(failed)) == (Reading.GREEN, Reading.RED)
    assert signatures(passed) == ()


def test_a_run_that_was_ended_before_the_verdict_is_short_of_cases() -> None:
    first, *_ = cases()
    (found,) = signatures(outcome(result(first), end=completed(None, ending=Ending.ENOUGH)))
    assert found.kind is SignatureKind.COUNT


def test_a_run_that_took_its_parent_along_is_the_crash_of_the_case_that_was_running() -> None:
    first, second, *_ = cases()
    lost = completed(None, ending=Ending.LOST)
    (found,) = signatures(outcome(result(first), result(second, CaseStatus.UNFINISHED), end=lost))
    assert (found.kind, found.case) == (SignatureKind.CRASH, second.name)
    assert "parent" in str(found)


def test_an_output_is_red_and_green_by_what_was_written() -> None:
    assert asked(green(outputs=(written(nan=1),)), NAN) is Reading.RED
    assert asked(green(outputs=(written(),)), NAN) is Reading.GREEN
    assert asked(green(), NAN) is Reading.VOID


def test_a_beginning_of_the_order_that_writes_no_output_yet_is_green() -> None:
    assert asked(green(), NAN, searched=True) is Reading.GREEN


def test_a_beginning_of_the_order_with_a_failing_case_does_not_hide_the_exit() -> None:
    assert asked(green(end=completed(3)), EXIT, searched=True) is Reading.RED
    assert asked(green(end=completed(4)), EXIT, searched=True) is Reading.VOID
    assert asked(green(), EXIT, searched=True) is Reading.GREEN
