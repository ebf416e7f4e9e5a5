"""What the text of a run tells."""

from pooldiag.diagnose.observations import TextFacts, scan
from pooldiag.model.arms import PoolCounter
from pooldiag.model.counts import PrintedCensus

HITS = PoolCounter(name="hits", pattern=r"hits=(\d+)")


def facts(*lines: bytes) -> TextFacts:
    found = TextFacts()
    scan(lines, (HITS,), found)
    return found


def test_counters_of_several_pools_are_summed() -> None:
    assert facts(b"[pool 0] hits=3 misses=1", b"noise", b"[pool 1] hits=4").counters == {"hits": 7}
    assert facts(b"hits=none").counters == {}


def test_banners_are_seen_in_any_line_and_only_those_asked_for() -> None:
    found = TextFacts()
    scan((b"[12:00] Using no pool for GPU(0)", b"Creating"), (), found, banners=(r"no pool for (GPU|CPU)", "never"))
    assert found.banners == {r"no pool for (GPU|CPU)"}
    assert facts(b"Using no pool for GPU(0)").banners == set()


def test_the_last_of_two_census_lines_of_a_name_counts() -> None:
    printed = facts(b"video: n=4 nan=4 inf=0 zero=0", b"video: n=4 nan=0 inf=0 zero=1").printed
    assert printed == {"video": PrintedCensus(name="video", n=4, nan=0, inf=0, zero=1)}


def test_a_full_disk_is_told_with_its_line() -> None:
    assert facts(b"  write /x: No space left on device ").no_space == "write /x: No space left on device"
    assert facts(b"plenty of space").no_space is None


def test_marks_of_an_ending_are_the_same_in_every_run() -> None:
    one = facts(b"==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x1").marks
    two = facts(b"==99==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000999 at pc 0x2").marks
    assert list(one) == list(two)
    assert "heap-use-after-free" in next(iter(one))


def test_what_allocators_and_the_runtime_print_before_they_abort_is_a_mark() -> None:
    for line in (
        b"malloc(): corrupted top size",
        b"free(): invalid pointer",
        b"double free or corruption (!prev)",
        b"*** stack smashing detected ***: terminated",
        b"terminate called after throwing an instance of 'std::runtime_error'",
        b"a.out: x.cpp:3: int main(): Assertion `x' failed.",
    ):
        assert facts(line).marks, line
    assert not facts(b"the malloc arena is fine").marks


def test_bytes_that_are_not_utf_8_do_not_stop_the_reading() -> None:
    assert facts(b"\xff\xfe", b"hits=1").counters == {"hits": 1}


def test_what_is_no_number_or_no_counter_of_this_world_is_not_counted() -> None:
    found = TextFacts()
    scan((b"hits=ab", b"hits=" + b"9" * 5000), (PoolCounter(name="hits", pattern=r"hits=(\w+)"),), found)
    assert found.counters == {}
