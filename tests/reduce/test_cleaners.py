"""Cleaners and state-setters: found in log2 runs, and run both ways."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.readings import Reading
from pooldiag.reduce.polluters import cleaners_of
from pooldiag.reduce.probe import Bench
from tests.reduce.suites import Suite


def cleaned(length: int, polluter: int, cleaner: int) -> tuple[Suite, Bench]:
    target = Suite(length, (frozenset({polluter}),), cleaners=frozenset({cleaner}))
    return target, Bench(probe=target, length=length, memory={})


@given(st.integers(2, 200), st.data())
def test_any_cleaner_is_found(length: int, data: st.DataObject) -> None:
    polluter = data.draw(st.integers(0, length - 2))
    cleaner = data.draw(st.integers(polluter + 1, length - 1))
    _, bench = cleaned(length, polluter, cleaner)
    assert cleaners_of(bench, (polluter,), bench.everything) == (cleaner,)
    assert bench.counts((polluter, cleaner)).green == 1
    assert bench.counts((polluter,)).red == 1


@pytest.mark.parametrize("cases", [13, 100, 1000])
def test_a_cleaner_takes_1_and_log2_runs_and_a_few_to_prove_it(cases: int) -> None:
    length = cases - 1
    for cleaner in range(1, length, max(1, length // 50)):
        target, bench = cleaned(length, 0, cleaner)
        assert cleaners_of(bench, (0,), bench.everything) == (cleaner,)
        # one check, one confirmation, and the polluter alone, which a reduction has run before
        assert len(target.ran) <= 1 + math.ceil(math.log2(length - 1)) + 3


def test_without_a_cleaner_one_run_says_so() -> None:
    target = Suite(50, (frozenset({7}),))
    bench = Bench(probe=target, length=50, memory={})
    assert cleaners_of(bench, (7,), bench.everything) == ()
    assert len(target.ran) == 1


@given(st.integers(1, 100), st.data())
def test_any_setters_are_found(length: int, data: st.DataObject) -> None:
    setters = data.draw(st.frozensets(st.integers(0, length - 1), min_size=1, max_size=3))
    target = Suite(length, setters=setters)
    bench = Bench(probe=target, length=length, memory={})
    found = cleaners_of(bench, (), bench.everything)
    assert set(found) == setters
    assert bench.read(found) is Reading.GREEN
    assert all(bench.counts(tuple(other for other in found if other != one)).red for one in found)


def test_a_setter_takes_1_and_log2_runs_and_two_to_prove_it() -> None:
    random = Random(2)
    for _ in range(30):
        target = Suite(99, setters=frozenset({random.randrange(99)}))
        bench = Bench(probe=target, length=99, memory={(): (Reading.RED,)})
        cleaners_of(bench, (), bench.everything)
        assert len(target.ran) <= 1 + 7 + 2
