"""Which reds say the same, so that only the first of them has something to tell."""

import pytest

from pooldiag.attribution.cascades import cascades, followers
from pooldiag.model.readings import RedPlace, Signature, SignatureKind

ORDER = tuple(f"case {number}" for number in range(1, 10))
CUDA = "RuntimeError: CUDA error: an illegal memory access was encountered"


def red(number: int, message: str | None = CUDA, place: str | None = "gpu.py:5", **facts: str) -> Signature:
    where = None if place is None else RedPlace(text=place)
    kind = SignatureKind.CRASH if facts else SignatureKind.FAILURE
    return Signature(kind=kind, case=f"case {number}", place=where, message=message, **facts)


def numbers(*reds: Signature) -> list[list[int]]:
    """The cases of each group, by their numbers, the first one first."""
    return [[int((one.case or "")[5:]) for one in (found.first, *found.followers)] for found in cascades(reds, ORDER)]


def test_reds_with_one_message_at_one_line_follow_the_first_and_another_stands_apart() -> None:
    other = red(7, "AssertionError: wrong scale", "gpu.py:14")
    assert numbers(red(4), red(5), red(6), other) == [[4, 5, 6]]
    assert followers(cascades([red(4), red(5), other], ORDER)) == {red(5)}


def test_the_first_is_the_first_in_running_order_however_they_were_seen() -> None:
    assert numbers(red(8), red(4), red(6)) == [[4, 6, 8]]


def test_numbers_and_addresses_in_a_message_may_differ() -> None:
    assert numbers(red(1, "at 0x7f00, thread 3"), red(2, "at 0x7f10, thread 4")) == [[1, 2]]


def test_many_reds_with_one_message_are_one_wherever_they_failed_and_few_are_not() -> None:
    many = [red(number, place=f"gpu.py:{number}") for number in range(1, 4)]
    assert numbers(*many) == [[1, 2, 3]]
    assert numbers(*many[:2]) == []


@pytest.mark.parametrize("message", ["assert False", "AssertionError", "CHECK( ok ) is false: false", "assert 1 == 2"])
def test_what_was_asserted_at_another_line_is_another_matter(message: str) -> None:
    apart = [red(number, message, f"gpu.py:{number}") for number in range(1, 8)]
    assert numbers(*apart) == []
    assert numbers(*(red(number, message) for number in (1, 2))) == [[1, 2]]


def test_a_line_that_compares_the_results_of_many_cases_is_one_only_with_the_same_values() -> None:
    compared = [red(number, f"CHECK( out == ref ) is false: {number} == 0", "compare.cpp:5") for number in range(1, 8)]
    assert numbers(*compared) == []
    device = "CHECK( status == 0 ) is false: 700 == 0"
    assert numbers(*(red(number, device, "launch.cpp:5") for number in range(1, 4))) == [[1, 2, 3]]


def test_what_is_thrown_is_one_whatever_was_checked() -> None:
    thrown = [red(number, f"CHECK( run({number}) ) threw CUDA error", f"gpu.cpp:{number}") for number in range(1, 5)]
    assert numbers(*thrown, red(6, "exception: CUDA error", None)) == [[1, 2, 3, 4, 6]]


def test_without_a_message_the_place_says_all_and_without_either_nothing() -> None:
    assert numbers(red(1, None), red(2, None), red(3, None, "gpu.py:6")) == [[1, 2]]
    assert numbers(*(red(number, None, None) for number in range(1, 8))) == []
    assert numbers(*(red(number, CUDA, CUDA) for number in range(1, 3))) == []  # a message that stands for a place


def test_another_ending_or_a_red_in_no_case_follows_nothing() -> None:
    aborts = red(2, CUDA, signal="SIGABRT")
    nowhere = Signature(kind=SignatureKind.FAILURE, place=RedPlace(text="gpu.py:5"), message=CUDA)
    assert numbers(red(1), aborts, nowhere) == []
