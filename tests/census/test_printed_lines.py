"""Census lines in a target's output: found, and not found in prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.printed_lines import census_line, parse_census_line
from pooldiag.model.counts import PrintedCensus

VIDEO = PrintedCensus(name="video", n=1024, nan=1024)


@pytest.mark.parametrize(
    "line",
    [
        b"video: n=1024 nan=1024 inf=0 zero=0",
        b"  video: n=1024 nan=1024 inf=0 zero=0\r",
        b"video: n=1024 nan=1024",
        b"video: n=1024, nan=1024, inf=0, zero=0, absmax=0, first=[nan",
        b"video: n=1024 inf=0 nan=1024 zero=0 absmax=nan min=-1.5e3 seconds=0.25",
        b"video: n=1024 nan=1024 inf=0 zero=0 (all of them)",
        b"a.cpp:12: MESSAGE: video: n=1024 nan=1024 inf=0 zero=0",
        b"[12:00:01] census: video: n=1024 nan=1024",
        b"video: n=1024 nan=1024 nan=3",
    ],
)
def test_a_census_line_is_read_whatever_stands_around_it(line: bytes) -> None:
    assert parse_census_line(line) == VIDEO


def test_a_line_that_is_written_is_read_as_the_same() -> None:
    audio = PrintedCensus(name="dumps/x.npz, 6 tensors", n=512, nan=1, inf=2, zero=3)
    assert census_line(audio) == "dumps/x.npz, 6 tensors: n=512 nan=1 inf=2 zero=3"
    assert parse_census_line(census_line(audio).encode()) == audio


def test_all_counts_are_read() -> None:
    line = b"audio: n=512 nan=1 inf=2 zero=3 absmax=7.5"
    assert parse_census_line(line) == PrintedCensus(name="audio", n=512, nan=1, inf=2, zero=3)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"layer 3 [gpu:0]: n=4 nan=0", "layer 3 [gpu:0]"),
        (b"bl\xff\xe9: n=4 nan=0", "bl\\xff\\xe9"),
        ("größe: n=4 nan=0".encode(), "größe"),
        (b"x: n=4 nan=0", "x"),
    ],
)
def test_a_name_may_be_anything_before_the_colon(line: bytes, name: str) -> None:
    found = parse_census_line(line)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nan=3",
        b"n=4 nan=3",
        b": n=4 nan=3",
        b"when n=4 the result has nan=3",
        b"the loop: n=4 iterations gave nan=3",
        b"video: n=4 and nan=3",
        b"video: nan=3 n=4",
        b"video: n=4 inf=0 zero=0",
        b"video: n=many nan=3",
        b"video: n=4 nan=none",
        b"video: n=4 nan=-1",
        b"video: n=4 nan=5",
        b"video: n=4 nan=2 inf=2 zero=1",
        b"video: mean=4 nan=3",
        b"video:n=4 nan=3",
        b"video: n=99999999999999999999 nan=3",
        b"CHECK( census.nan == 0 ): nan=3",
        b"video: n=4 nan=0 " + b"x" * 1000,
    ],
)
def test_prose_and_nonsense_are_no_census(line: bytes) -> None:
    assert parse_census_line(line) is None


@given(st.binary(max_size=80))
def test_any_bytes_are_read_without_an_error(line: bytes) -> None:
    parse_census_line(line)
    found = parse_census_line(b"video: n=4 nan=1 " + line)
    assert found is None or found.n == 4
