"""How one outcome reads: what outranks what."""

from dataclasses import replace
from typing import Any

import pytest

from pooldiag.attribution.reading import read, sight
from pooldiag.model.cases import Case
from pooldiag.model.counts import PrintedCensus
from pooldiag.model.outcomes import CaseStatus, Outcome, OutputFile, Silence, SilenceKind
from pooldiag.model.readings import PlaceKind, Reading, RedPlace, Sight, Signature, SignatureKind
from pooldiag.model.runs import Completed, Ending
from tests.builders import cases, completed, green, outcome, result, signalled, written

FIRST, CPU, CUDA, SHAPE = cases()


def text(words: str) -> RedPlace:
    return RedPlace(text=words)


def among(words: str) -> RedPlace:
    return RedPlace(text=words, kind=PlaceKind.AMONG_CASES)


def in_output(name: str) -> RedPlace:
    return RedPlace(text=name, kind=PlaceKind.OUTPUT, output=name)


def lack(name: str, problem: str) -> RedPlace:
    return RedPlace(text=f"output {name}: {problem}", kind=PlaceKind.LACK, output=name)


CRASH = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case=CPU.name, place=text("test.cpp:20"))


def crash(case: Case = CPU) -> Outcome:
    return outcome(result(FIRST), result(case, CaseStatus.CRASHED, signal="SIGSEGV"), end=signalled(11))


def test_all_cases_passed_is_green() -> None:
    assert read(green()).reading is Reading.GREEN
    assert read(green()).signatures == ()


def test_crash_beside_zero_failed_assertions_is_red_with_its_case_and_line() -> None:
    assert read(crash()).signatures == (CRASH,)


@pytest.mark.parametrize("end", [signalled(11), completed(139), completed(-11, ending=Ending.SIGNALLED, signal=11)])
def test_a_shells_128_plus_n_is_the_same_signal(end: Completed) -> None:
    seen = outcome(result(FIRST), result(CPU, CaseStatus.UNFINISHED), end=end)
    assert read(seen).signatures == (CRASH,)


def test_exit_0_inside_a_case_is_red_in_that_case() -> None:
    seen = outcome(result(FIRST), result(CPU, CaseStatus.UNFINISHED))
    (found,) = read(seen).signatures
    assert (found.kind, found.case, found.place) == (SignatureKind.COUNT, CPU.name, text("exit code 0 inside the case"))


def test_cases_that_never_started_are_red_even_with_a_clean_exit() -> None:
    (found,) = read(outcome(result(FIRST), result(CPU))).signatures
    assert (found.kind, found.case, found.place) == (SignatureKind.COUNT, None, among(f"ended after {CPU.name}"))


def test_a_hang_is_red_with_the_case_that_was_running() -> None:
    end = completed(None, ending=Ending.TIMED_OUT, signal=15)
    seen = outcome(result(FIRST), result(CPU, CaseStatus.CRASHED, signal="SIGTERM"), end=end)
    (found,) = read(seen).signatures
    assert (found.kind, found.signal, found.case) == (SignatureKind.HANG, None, CPU.name)


def test_a_crash_handler_that_deadlocked_is_a_crash_and_no_hang() -> None:
    end = completed(None, ending=Ending.TIMED_OUT, signal=15)
    marks = ("malloc(): corrupted top size",)
    seen = outcome(result(FIRST), result(CPU, CaseStatus.UNFINISHED), end=end, text_marks=marks)
    (found,) = read(seen).signatures
    assert (found.kind, found.place) == (SignatureKind.CRASH, text(marks[0]))


def test_a_sanitizer_that_ends_the_process_is_a_crash_in_the_case() -> None:
    marks = ("ERROR: AddressSanitizer: heap-buffer-overflow",)
    seen = outcome(result(FIRST), result(CPU, CaseStatus.UNFINISHED), end=completed(1), text_marks=marks)
    (found,) = read(seen).signatures
    assert (found.kind, found.case, found.place) == (SignatureKind.CRASH, CPU.name, text(marks[0]))


def test_a_crash_after_a_green_summary_is_red_outside_any_case() -> None:
    (found,) = read(green(end=signalled(11))).signatures
    assert (found.kind, found.case, found.place) == (SignatureKind.CRASH, None, among("after the last case"))


def test_a_bad_exit_code_beside_a_green_report_is_red_outside_any_case() -> None:
    (found,) = read(green(end=completed(1))).signatures
    assert (found.kind, found.case, found.place) == (SignatureKind.FAILURE, None, text("exit code 1"))


def test_failures_with_a_suppressed_exit_code_are_red() -> None:
    failed = result(CPU, CaseStatus.FAILED, assertions_failed=1, place="test.cpp:22")
    seen = outcome(result(FIRST), failed, result(CUDA), result(SHAPE))
    assert read(seen).signatures == (Signature(kind=SignatureKind.FAILURE, case=CPU.name, place=text("test.cpp:22")),)


def test_the_ending_comes_before_an_earlier_failure() -> None:
    failed = result(FIRST, CaseStatus.FAILED, place="test.cpp:11")
    seen = outcome(failed, result(CPU, CaseStatus.CRASHED, signal="SIGSEGV"), end=signalled(11))
    assert [found.kind for found in read(seen).signatures] == [SignatureKind.CRASH, SignatureKind.FAILURE]


def test_nan_in_an_output_is_red_with_exit_0() -> None:
    (found,) = read(green(outputs=(written(nan=1024),))).signatures
    assert (found.kind, found.case, found.place) == (SignatureKind.NAN, None, in_output("video.bin"))


def test_a_printed_census_counts_unless_the_file_itself_was_counted() -> None:
    printed = (PrintedCensus(name="video", n=1024, nan=1),)
    assert [found.place for found in read(green(printed=printed)).signatures] == [in_output("video")]
    assert [found.place for found in read(green(printed=printed, outputs=(written(nan=1),))).signatures] == [
        in_output("video.bin")
    ]


@pytest.mark.parametrize("problem", ["absent", "short"])
def test_an_output_that_is_absent_or_short_is_red_only_where_it_is_due(problem: str) -> None:
    outputs = (OutputFile(path="video.bin", problem=problem),)
    (found,) = read(green(outputs=outputs)).signatures
    assert (found.kind, found.place) == (SignatureKind.COUNT, lack("video.bin", problem))
    assert read(green(outputs=outputs, outputs_due=False)).reading is Reading.GREEN


def test_a_crashed_run_is_not_blamed_for_its_missing_output_as_well() -> None:
    assert read(replace(crash(), outputs=(OutputFile(path="video.bin", problem="absent"),))).signatures == (CRASH,)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"found_silent": (Silence(kind=SilenceKind.SPACE, text="the disk was full: x"),)}, "the disk was full: x"),
        ({"completed": completed(1, shortage="free memory is 1 MiB")}, "free memory is 1 MiB"),
        ({"completed": completed(None, ending=Ending.STOPPED, stopped_by="under the floor")}, "under the floor"),
    ],
)
def test_a_run_without_space_says_nothing_whatever_it_printed(facts: dict[str, Any], reason: str) -> None:
    read_as = read(replace(outcome(result(FIRST, CaseStatus.FAILED)), **facts))
    assert (read_as.reading, read_as.void_reason, read_as.signatures) == (Reading.VOID, reason, ())


def test_a_run_in_which_nothing_ran_is_void_with_the_count() -> None:
    read_as = read(outcome())
    assert (read_as.reading, read_as.void_reason) == (Reading.VOID, "nothing ran: 0/4 cases started, exit code 0")


def test_a_run_in_which_everything_is_skipped_is_void() -> None:
    assert read(outcome(names=())).void_reason == "nothing ran: every case is skipped or filtered out"


def test_a_crash_before_the_first_case_is_red() -> None:
    (found,) = read(outcome(end=signalled(11))).signatures
    assert (found.kind, found.case, found.place) == (SignatureKind.CRASH, None, among("before the first case"))


def test_a_case_that_passed_with_zero_assertions_is_named() -> None:
    quiet = result(CPU, assertions_passed=0)
    seen = outcome(result(FIRST), quiet, result(CUDA), result(SHAPE))
    assert (read(seen).reading, read(seen).vacuous) == (Reading.GREEN, (CPU.name,))


def test_an_isolated_run_holds_the_signatures_of_all_its_processes() -> None:
    one = outcome(result(FIRST), names=(FIRST.name,))
    two = outcome(result(CPU, CaseStatus.CRASHED, signal="SIGSEGV"), names=(CPU.name,), end=signalled(11))
    assert read(replace(one, parts=(one, two))).signatures == (CRASH,)


def see(seen: Outcome, signature: Signature | None = CRASH, known: frozenset[Signature] = frozenset({CRASH})) -> Sight:
    return sight(seen, read(seen), signature=signature, known=known)


def test_the_same_signature_is_the_same_red() -> None:
    assert see(crash()) is Sight.SAME_RED


def test_the_same_signal_in_another_case_is_a_new_red() -> None:
    assert see(crash(CUDA)) is Sight.NEW_RED


def test_a_green_run_clears_only_when_the_victim_asserted_something() -> None:
    assert see(green()) is Sight.GREEN
    vacuous = outcome(result(FIRST), result(CPU, assertions_passed=0), result(CUDA), result(SHAPE))
    assert see(vacuous) is Sight.NOTHING


def test_a_red_of_another_case_that_the_baseline_showed_too_does_not_stand_in_the_way() -> None:
    other = Signature(kind=SignatureKind.FAILURE, case=FIRST.name, place=text("test.cpp:11"))
    failed = result(FIRST, CaseStatus.FAILED, place="test.cpp:11")
    seen = outcome(failed, result(CPU), result(CUDA), result(SHAPE))
    assert see(seen, known=frozenset({CRASH, other})) is Sight.GREEN


def test_a_run_that_died_before_the_victim_says_nothing_about_it() -> None:
    earlier = Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case=FIRST.name, place=text(str(FIRST.place)))
    died = outcome(result(FIRST, CaseStatus.CRASHED, signal="SIGSEGV"), end=signalled(11))
    assert see(died, known=frozenset({CRASH, earlier})) is Sight.NOTHING


def test_a_nan_clears_only_where_its_output_was_written() -> None:
    nan = Signature(kind=SignatureKind.NAN, place=in_output("video.bin"))
    assert see(green(outputs=(written(),)), nan, frozenset({nan})) is Sight.GREEN
    assert see(green(), nan, frozenset({nan})) is Sight.NOTHING


def test_a_black_box_clears_a_nan_only_where_it_was_counted_again() -> None:
    nan = Signature(kind=SignatureKind.NAN, place=in_output("video"))
    box = outcome(selection=None)
    assert see(box, nan, frozenset({nan})) is Sight.NOTHING
    counted = replace(box, printed=(PrintedCensus(name="video", n=4, nan=0),))
    assert see(counted, nan, frozenset({nan})) is Sight.GREEN


def test_an_absent_output_clears_only_where_it_is_there() -> None:
    absent = Signature(kind=SignatureKind.COUNT, place=lack("video.bin", "absent"))
    assert see(green(outputs=(written(),)), absent, frozenset({absent})) is Sight.GREEN
    assert see(green(), absent, frozenset({absent})) is Sight.NOTHING


def test_on_a_green_baseline_every_red_is_a_new_one() -> None:
    assert see(crash(), None, frozenset()) is Sight.NEW_RED
    assert see(green(), None, frozenset()) is Sight.GREEN


def test_a_victim_that_failed_at_another_place_is_not_cleared() -> None:
    elsewhere = Signature(kind=SignatureKind.FAILURE, case=CPU.name, place=text("test.cpp:29"))
    failed = result(CPU, CaseStatus.FAILED, assertions_failed=1, place="test.cpp:29")
    seen = outcome(result(FIRST), failed, result(CUDA), result(SHAPE))
    assert see(seen, known=frozenset({CRASH, elsewhere})) is Sight.NOTHING


def test_a_crash_that_a_forked_child_wrote_into_the_report_is_no_crash_of_the_target() -> None:
    seen = outcome(result(FIRST), result(CPU, CaseStatus.CRASHED, signal="SIGABRT"), end=completed(0))
    read_as = read(seen)
    assert read_as.reading is Reading.VOID
    assert CPU.name in str(read_as.void_reason)


def test_another_case_in_the_place_of_a_selected_one_is_red() -> None:
    stranger = Case(name="stranger", file="test.cpp", line=99)
    seen = outcome(result(FIRST), result(CPU), result(CUDA), result(stranger))
    (found,) = read(seen).signatures
    assert (found.kind, found.place) == (SignatureKind.COUNT, among(f"never started: {SHAPE.name}"))


def test_numbers_in_a_message_do_not_make_another_red() -> None:
    def thrown(message: str) -> Outcome:
        failed = result(CPU, CaseStatus.FAILED, message=message)
        return outcome(result(FIRST), failed, result(CUDA), result(SHAPE), end=completed(1))

    assert read(thrown("bad block 17 at 0x7ffe12")).signatures == read(thrown("bad block 4242 at 0x55aa")).signatures
    assert read(thrown("bad block 17")).signatures != read(thrown("good block 17")).signatures


def test_an_arm_that_was_too_slow_says_nothing() -> None:
    slow = replace(green(), found_silent=(Silence(kind=SilenceKind.SLOW, text="not done after 60 s"),))
    assert (read(slow).reading, read(slow).void_reason) == (Reading.VOID, "not done after 60 s")
