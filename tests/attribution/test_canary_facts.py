"""What a canary saw, against what it must see."""

import pytest

from pooldiag.attribution.canary_facts import CanaryFacts, judge, observed, properties_seen
from pooldiag.model.arms import Acted, CanaryRule, Role

ZEROED = CanaryRule(
    role=Role.BYPASS,
    expects=(("handed", ("0x00",)), ("freed", ("unmapped",))),
    partly="map them all",
    inert="spell it right",
)
FILLED = CanaryRule(role=Role.POISON_N, expects=(("handed", ("fill",)),))


def seen(small: str, large: str | None = None, thread: str | None = None) -> CanaryFacts:
    lines = [f"blocks of 200 bytes: fresh=0x00 {small}", f"blocks of 3000 bytes: fresh=0x00 {large or small}"]
    if thread is not None:
        lines.append(f"blocks of 200 bytes in a second thread: fresh=0x00 {thread}")
    return observed(line.encode() for line in lines)


POOLED = seen("freed=stale handed=stale again=always")


def test_lines_are_read_and_all_else_is_left_alone() -> None:
    lines = (b"ERROR: ld.so: ignored.", b"blocks of 200 bytes: freed=0xff+unmapped again=never", b"\xff: a=b")
    assert observed(lines) == {
        ("blocks of 200 bytes", "freed"): ("0xff", "unmapped"),
        ("blocks of 200 bytes", "again"): ("never",),
    }


def test_all_as_it_must_be_is_proven_in_words() -> None:
    verdict = judge(ZEROED, seen("freed=unmapped handed=0x00 again=always"), POOLED)
    assert verdict == (
        Acted.PROVEN,
        "canary: all blocks come zeroed, all blocks go back to the system when freed",
    )


def test_nothing_as_it_must_be_is_inert_with_what_to_change() -> None:
    assert judge(ZEROED, POOLED, POOLED) == (Acted.INERT, "all blocks keep stale content: spell it right")


def test_a_part_as_it_must_be_is_partly_inert_and_names_the_other_part() -> None:
    half = seen("freed=stale handed=stale again=always", "freed=unmapped handed=0x00 again=always")
    assert judge(ZEROED, half, POOLED) == (
        Acted.INERT,
        "partly inert: blocks of 200 bytes keep stale content: map them all",
    )


def test_what_is_so_without_the_arm_tells_nothing_of_it() -> None:
    large_alike = seen("freed=stale handed=stale again=always", "freed=unmapped handed=0x00 again=always")
    assert judge(ZEROED, large_alike, large_alike) == (
        Acted.INERT,
        "blocks of 200 bytes keep stale content: spell it right",
    )
    bypassed = seen("freed=unmapped handed=0x00 again=always")
    assert judge(ZEROED, bypassed, bypassed) is None


def test_a_canary_that_saw_nothing_settles_nothing() -> None:
    assert judge(ZEROED, {}, POOLED) is None
    assert judge(ZEROED, POOLED, {}) is None


@pytest.mark.parametrize(
    ("content", "state"),
    [
        ("0x7f", Acted.PROVEN),
        ("0xff", Acted.PROVEN),
        ("0x00", Acted.INERT),
        ("stale", Acted.INERT),
        ("mixed", Acted.INERT),
    ],
)
def test_any_byte_but_zero_is_a_fill(content: str, state: Acted) -> None:
    verdict = judge(FILLED, seen(f"freed=stale handed={content} again=always"), POOLED)
    assert verdict is not None
    assert verdict[0] is state


def test_a_content_that_is_right_at_times_is_wrong() -> None:
    verdict = judge(FILLED, seen("freed=stale handed=0x7f+stale again=always"), POOLED)
    assert verdict == (Acted.INERT, "all blocks come filled with 0x7f or keep stale content")


def test_a_second_thread_is_named_where_it_differs() -> None:
    pooled = "freed=stale handed=stale again=always"
    without = seen(pooled, thread=pooled)
    both = judge(ZEROED, seen(pooled, "freed=unmapped handed=0x00", pooled), without)
    alone = judge(ZEROED, seen("freed=unmapped handed=0x00", thread=pooled), without)
    assert both is not None
    assert alone is not None
    assert "blocks of 200 bytes keep stale" in both[1]
    assert "blocks of 200 bytes in a second thread keep stale" in alone[1]


@pytest.mark.parametrize(
    ("small", "large", "places"),
    [
        ("again=always", "again=sometimes", "all blocks"),
        ("again=never", "again=always", "blocks of 3000 bytes"),
        ("again=sometimes", "again=never", "blocks of 200 bytes"),
    ],
)
def test_an_address_that_comes_back_at_times_is_returned_under_the_bypass(small: str, large: str, places: str) -> None:
    (found,) = properties_seen(Role.BYPASS, seen(small, large))
    assert (found.name, found.value) == ("addresses", "returned")
    assert found.source == f"seen by the canary on this machine: {places} come back at their address"
    assert properties_seen(Role.POISON_N, seen(small, large)) == ()


def test_an_address_that_never_came_back_is_not_known_to_stay_away() -> None:
    assert properties_seen(Role.BYPASS, seen("again=never")) == ()
    assert properties_seen(Role.BYPASS, {}) == ()
