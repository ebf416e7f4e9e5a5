"""Marked elements, as lists, flags and bits, against what NumPy finds slowly; runs stitched from chunk to chunk."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.bits import bits_of, count_bits, has_run, highest, lowest, moved_down, moved_up, places_of
from pooldiag.census.marks import Flags, few_places, flagged, listed, marks_of
from pooldiag.census.places import RunTally
from pooldiag.model.counts import NanRuns
from tests.census.oracle import runs

SIZES = [1, 7, 8, 9, 63, 64, 65, 1000, 4096, 70_003, 2**20 + 3]
SHARES = [0, 0.001, 0.02, 0.3, 0.9, 1]
flag_lists = st.lists(st.booleans(), min_size=1, max_size=300)


def random_flags(size: int, share: float) -> Flags:
    return np.random.default_rng(size).random(size) < share


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("size", SIZES)
def test_marks_are_counted_however_many(size: int, share: float) -> None:
    flags = random_flags(size, share)
    places = np.flatnonzero(flags)
    assert np.array_equal(flagged(flags), places)
    found = marks_of(flags)
    if found is None:
        assert places.size == 0
        return
    assert found.count == places.size
    assert np.array_equal(found.all_places(), places)
    assert found.residues().tolist() == [np.count_nonzero(places % 8 == residue) for residue in range(8)]
    for stretches in (1, 3, 500):
        borders = np.unique(np.linspace(0, size, stretches + 1).astype(np.intp))
        expected = [np.count_nonzero(flags[begin:end]) for begin, end in pairwise(borders.tolist())]
        assert found.between(borders).tolist() == expected


def test_few_marks_are_listed_and_many_are_not() -> None:
    few, many = random_flags(4096, 0.01), random_flags(4096, 0.5)
    places = few_places(few)
    assert places is not None
    assert np.array_equal(places, np.flatnonzero(few))
    assert few_places(many) is None
    marks = [marks_of(flags) for flags in (few, many)]
    assert [mark is not None and mark.flags is None for mark in marks] == [True, False]


def test_of_listed_places_some_are_taken() -> None:
    places = np.array([3, 5, 900])
    found = listed(places, np.array([True, False, True]))
    assert found is not None
    assert (found.count, found.all_places().tolist()) == (2, [3, 900])
    assert listed(places, np.zeros(3, np.bool_)) is None


@given(flag_lists)
def test_bits_are_the_flags(which: list[bool]) -> None:
    flags = np.array([*[False] * 99, *which, *[False] * 150])
    bits = bits_of(flags)
    places = np.flatnonzero(flags)
    assert np.array_equal(places_of(bits), places)
    assert count_bits(bits) == places.size
    if places.size:
        assert (lowest(bits), highest(bits)) == (places[0], places[-1])


@given(flag_lists, st.integers(1, 200))
def test_bits_are_moved_over_the_borders_of_words(which: list[bool], by: int) -> None:
    bits = bits_of(np.array(which))
    places = np.flatnonzero(which)
    room = bits.size * 64
    assert places_of(moved_up(bits)).tolist() == [place + 1 for place in places if place + 1 < room]
    if by < room:
        assert places_of(moved_down(bits, by)).tolist() == [place - by for place in places if place >= by]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 150)), min_size=1, max_size=8))
def test_a_run_is_seen_at_its_length_and_not_beyond(stretches: list[tuple[bool, int]]) -> None:
    flags = np.array([marked for marked, length in stretches for _ in range(length)])
    longest = runs([math.nan if each else 0.0 for each in flags]).longest
    bits = bits_of(flags)
    assert not has_run(bits, longest + 1)
    assert longest == 0 or has_run(bits, longest)


def in_chunks(chunks: list[list[bool]]) -> NanRuns:
    tally, offset = RunTally(), 0
    for chunk in chunks:
        tally.add(marks_of(np.array(chunk)), offset=offset, size=len(chunk))
        offset += len(chunk)
    return tally.result()


def some_chunks(chance: random.Random) -> list[list[bool]]:
    """Make chunks of dense runs, most of them alike, so that they are skimmed, and some that are not."""
    on, off = chance.choice([(1, 1), (2, 2), (4, 4), (1, 3), (3, 1), (3, 3), (8, 8), (2, 6), (16, 16), (1, 15)])
    kinds = [*chance.choice([["in step"] * 9, ["by itself"] * 9]), "in step", "by itself", "all", "none", "any"]
    chunks: list[list[bool]] = []
    for _ in range(12):
        size = chance.choice([on + off, 32, 64, 128, 129, 192, chance.randrange(1, 200)])
        start = sum(map(len, chunks))
        match chance.choice(kinds):
            case "in step":
                chunk = [(start + place) % (on + off) < on for place in range(size)]
            case "by itself":
                phase = chance.choice([0, 0, on, chance.randrange(on + off)])
                chunk = [(phase + place) % (on + off) < on for place in range(size)]
            case "any":
                chunk = [chance.random() < 0.5 for _ in range(size)]
            case kind:
                chunk = [kind == "all"] * size
        if chance.random() < 0.2:  # what began in the chunk before ends with it
            first = [*chunk, False].index(False)
            chunk[:first] = [False] * first
        chunks.append(chunk)
    return chunks


def test_runs_are_the_same_in_any_chunks() -> None:
    chance = random.Random(4)
    for _ in range(1500):
        chunks = some_chunks(chance)
        assert in_chunks(chunks) == runs([math.nan if marked else 0.0 for chunk in chunks for marked in chunk])


def test_runs_as_long_as_before_go_on_over_a_border() -> None:
    """Let runs of 2 meet at a border: the one that they make is the longest."""
    chunk = [True, True, False, False] * 20
    chunks = [chunk, chunk, chunk[::-1], chunk, chunk]
    assert in_chunks(chunks) == NanRuns(count=99, longest=4, first=0, alignment=2)


def test_chunks_of_one_run_go_on_with_the_run_before_them() -> None:
    """Let a run that many short chunks share become the longest, though it is not in any of them."""
    chunks = [[True] * 200 + [False] * 8, [False, True] * 8, *[[True] * 8] * 30, [True] * 4 + [False] * 4]
    assert in_chunks(chunks) == NanRuns(count=9, longest=245, first=0, alignment=1)


def test_an_alignment_that_is_no_power_of_two_is_not_read_from_words() -> None:
    """Let runs begin at multiples of 3, counted from the start of a word that is not at one."""
    period = [True, True, True, False, False, False]
    chunks = [period * 16, [*(period * 11)[:63], False, *(period * 11)[:64]]]
    assert in_chunks(chunks) == NanRuns(count=38, longest=3, first=0, alignment=1)
