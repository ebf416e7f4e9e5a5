"""`bisect` on suites of a known fault, in memory: the right cases, in few runs, whatever the victim does."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil, log2
from random import Random
from typing import Any

import pytest

from pooldiag.errors import UsageError
from pooldiag.model.arms import Role
from pooldiag.model.attributions import Status
from pooldiag.model.bisections import BisectReport, BisectStatus, NamedBy, Phase
from pooldiag.model.readings import SignatureKind
from pooldiag.model.runs import Ending
from pooldiag.model.settings import CommandLine, OutputSpec
from pooldiag.rates import excluded_by, greens_until
from tests.played.commands import BASELINE, ISOLATE, OUTPUTS, bisect_in, settings_of, switch
from tests.played.suite import PlayedSuite, every_second, in_runs, name, names
from tests.played.world import World

FOUND, GREEN, UNRESOLVED = BisectStatus.FOUND, BisectStatus.GREEN, BisectStatus.UNRESOLVED
PLACES = (0.05, 0.31, 0.50, 0.77, 0.95)


def searched(suite: PlayedSuite, **changes: Any) -> BisectReport:  # noqa: ANN401 - fields of the settings
    return bisect_in(World(suite), **changes)


@pytest.mark.parametrize(
    ("cases", "place"), [(n, place) for n in (13, 100) for place in PLACES] + [(1000, 0.31), (1000, 0.95)]
)
def test_one_polluter_is_found_within_the_bounds_of_runs_and_cases(cases: int, place: float) -> None:
    before = cases - 1
    polluter = max(1, ceil(place * before))
    report = searched(PlayedSuite(cases=cases, polluters=str(polluter)))
    found = report.found
    assert report.status is FOUND
    assert (found.victim, found.position) == (name(cases), cases)
    assert (found.prefix, found.polluters) == (polluter, names(polluter))
    proof = [one for one in report.probed if one.phase is Phase.PREFIX]
    assert report.runs <= ceil(log2(before)) + 4 + 2 + 2 + (cases > 100)
    assert len(proof) <= 2
    again = 2 * 3  # cases of both ends, run twice more to tell it from a flake
    assert report.cases_run - sum(one.cases for one in proof) <= 2 * cases + log2(before) + 5 + again


def test_two_polluters_that_act_together_are_found() -> None:
    found = searched(PlayedSuite(cases=100, polluters="17,63")).found
    assert (found.polluters, found.prefix) == (names(17, 63), 63)
    assert found.set_proof is not None
    assert found.set_proof.red.cases == names(17, 63)
    assert sorted(one.cases for one in found.set_proof.green) == [names(17), names(63)]
    assert all(one.green and not one.red for one in found.set_proof.green)


def test_three_polluters_that_act_together_are_found() -> None:
    found = searched(PlayedSuite(cases=100, polluters="5,50,90")).found
    assert (found.polluters, found.prefix) == (names(5, 50, 90), 90)


def test_every_independent_set_is_found_when_all_are_asked_for() -> None:
    report = searched(PlayedSuite(cases=30, polluters="3,7;20"), every_set=True)
    assert sorted(report.found.sets) == [names(3, 7), names(20)]


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("fail", SignatureKind.FAILURE),
        ("crash", SignatureKind.CRASH),
        ("hang", SignatureKind.HANG),
        ("quit", SignatureKind.COUNT),
        ("exit", SignatureKind.FAILURE),
        ("output", SignatureKind.NAN),
        ("kill", SignatureKind.CRASH),
    ],
)
def test_the_victim_is_found_whatever_it_does(how: str, kind: SignatureKind) -> None:
    report = searched(
        PlayedSuite(cases=10, polluters="6", victim=9, how=how), outputs=OUTPUTS if how == "output" else ()
    )
    found = report.found
    assert found.signature is not None
    assert (report.status, found.signature.kind) == (FOUND, kind)
    assert (found.victim, found.polluters, found.prefix) == (name(9), names(6), 6)
    assert found.named_by is (NamedBy.SEARCH if how in {"exit", "output"} else NamedBy.STREAM)


def test_a_case_that_kills_its_parent_is_the_victim_and_stops_nothing() -> None:
    world = World(PlayedSuite(polluters="5", victim=9, how="kill"))
    found = bisect_in(world).found
    assert found.signature is not None
    assert (found.victim, found.polluters, found.prefix) == (name(9), names(5), 5)
    assert (found.signature.kind, str(found.signature.place)) == (SignatureKind.CRASH, "killed its parent process")
    assert world.restored > 1


def test_a_victim_that_an_earlier_crash_keeps_from_running_is_red_for_that() -> None:
    found = searched(PlayedSuite(cases=20, polluters="6", victim=15, how="crash"), victim=name(18)).found
    assert found.signature is not None
    assert (found.victim, str(found.signature.place)) == (name(18), "not reached")
    assert (found.polluters, found.prefix) == (names(6, 15), 15)


@pytest.mark.parametrize("always", ["2", "9", "12", "2,9"])
def test_a_case_that_is_always_red_is_not_taken_for_the_victim(always: str) -> None:
    report = searched(PlayedSuite(polluters="5", always=always))
    assert (report.found.victim, report.found.polluters, report.found.prefix) == (name(13), names(5), 5)
    assert [other.case for other in report.others] == [*names(*map(int, always.split(",")))]
    assert report.others_red_alone == report.others
    assert report.next is None


def test_a_red_that_needs_no_other_case_has_prefix_0() -> None:
    report = searched(PlayedSuite(always="9"))
    assert (report.status, report.found.victim, report.found.prefix) == (FOUND, name(9), 0)
    assert (report.found.polluters, report.found.red_alone) == ((), True)


def test_a_cleaner_is_named_and_no_smallest_prefix_is_claimed() -> None:
    suite = PlayedSuite(cases=12, polluters="3", cleaners="6")
    report = searched(suite, sequence=names(1, 3, 12), victim=name(12))
    assert (report.status, report.found.polluters, report.found.smallest) == (FOUND, names(3), True)
    report = searched(PlayedSuite(cases=40, polluters="5;30", cleaners="20"), every_set=True)
    assert (report.status, report.found.polluters, report.found.prefix) == (FOUND, names(30), 30)


def test_an_order_that_only_a_seed_has_is_found_for_a_sequence() -> None:
    world = World(PlayedSuite(cases=6, polluters="5", victim=2))
    report = bisect_in(world, sequence=names(5, 1, 2), victim=name(2))
    assert (report.status, report.found.polluters, report.found.position) == (FOUND, names(5), 3)
    assert str(report.session.target.order).startswith("rand order, seed ")
    assert any("orders were listed" in note for note in report.session.notes)
    with pytest.raises(UsageError, match="is no case that runs"):
        bisect_in(world, sequence=("nobody",))


def test_a_sequence_is_searched_up_to_the_victim_that_is_named() -> None:
    world = World(PlayedSuite(cases=12, polluters="3", victim=9, always="11"))
    lines = (*names(*range(1, 13)), "", "12 tests collected in 0.02s")
    report = bisect_in(world, sequence=lines, victim=name(9))
    assert (report.status, report.found.polluters, report.found.position) == (FOUND, names(3), 9)
    assert "3 cases of the sequence behind the victim: left out" in report.session.notes
    assert not any(set(ran) & set(names(10, 11, 12)) for ran in world.ran)
    last = bisect_in(World(PlayedSuite(cases=12, polluters="3", victim=12)), sequence=lines)
    assert (last.status, last.found.victim, last.found.polluters) == (FOUND, name(12), names(3))
    assert not any("behind the victim" in note for note in last.session.notes)


def test_the_next_red_of_a_sequence_is_one_of_the_same_sequence() -> None:
    typed = CommandLine(command="bisect", options=("--sequence=lines", "--victim=x"), target=("./suite",))
    world = World(PlayedSuite(cases=12, polluters="3", victim=9, always="5"))
    report = bisect_in(world, sequence=names(*range(1, 13)), victim=name(9), invocation=typed)
    assert report.next is not None
    assert report.next.line == f"pooldiag bisect --sequence=lines '--victim={name(5)}' ./suite"


def test_a_brittle_case_is_found_with_what_sets_it_up() -> None:
    world = World(PlayedSuite(cases=40, setters="11"))
    report = bisect_in(world, victim=name(40))
    assert (report.status, report.found.red_alone, report.found.prefix) == (FOUND, True, 0)
    assert report.found.setters == names(11)
    assert report.green_command is not None
    assert report.green_command.ended == "exit code 0"


def test_nothing_red_is_green_and_leads_to_other_orders() -> None:
    report = searched(PlayedSuite())
    assert (report.status, report.found.victim, report.found.prefix) == (GREEN, None, None)
    assert report.next is not None
    assert report.next.line.startswith("pooldiag orders ")


def test_a_green_order_says_what_it_excludes() -> None:
    assert searched(PlayedSuite()).excluded == excluded_by(2)
    assert searched(PlayedSuite(), repeat=9).excluded == excluded_by(9)
    assert searched(PlayedSuite(polluters="5")).excluded is None


def test_an_order_that_asserts_nothing_is_not_green() -> None:
    report = searched(PlayedSuite(cases=3, vacuous="1,2,3"))
    assert (report.status, report.excluded) == (BisectStatus.BLOCKED, None)
    assert report.session.blocked is not None
    assert report.session.blocked.problem == "nothing was asserted"
    assert searched(PlayedSuite(cases=3, vacuous="1,2")).status is GREEN


def noted(unlucky: Callable[[int], bool], drawn: list[bool]) -> Callable[[int], bool]:
    """Be unlucky when that says so, and write it down."""

    def draw(number: int) -> bool:
        drawn.append(unlucky(number))
        return drawn[-1]

    return draw


def test_one_green_of_the_whole_order_is_too_few_where_the_red_comes_and_goes() -> None:
    arms, known = (BASELINE, switch(Role.BYPASS, "POOL_OFF")), {"names": frozenset({"POOL_OFF"})}
    suite = PlayedSuite(cases=8, polluters="3", cures=frozenset({"POOL_OFF"}))
    (sure,) = bisect_in(World(suite, facts=known), arms=arms).confirmations
    assert sure.greens_needed == 0
    as_often = set()
    for seed in range(20):
        drawn: list[bool] = []
        flaky = replace(suite, unlucky=noted(every_second(seed), drawn))
        world = World(flaky, facts=known)
        report = bisect_in(world, arms=arms)
        if not report.confirmations or report.reproducer is None or report.attribution is None:
            continue
        assert not any(request.argv[0] == "sh" for request in world.requests)
        (confirmation,), rate = report.confirmations, report.attribution.arms[0].rate
        assert rate is not None
        red, runs = rate.red, rate.runs
        if report.found.noisy:
            red, runs = sum(drawn), len(drawn)
            as_often.add(rate.red == rate.runs)
        assert confirmation.greens_needed == (greens_until(red / runs, 0.01) - 1 if red else 0)
        assert confirmation.greens_needed > 0 or red == runs
    assert as_often == {True, False}  # in some the minimal set was red in each of its few runs


def seldom(rate: float, seed: int) -> Callable[[int], bool]:
    """Be unlucky at this rate, drawn once and for all."""
    drawn = Random(seed)
    return in_runs(*(number for number in range(1, 800) if drawn.random() < rate))


@pytest.mark.parametrize(("cases", "seed"), [(5, 85), (13, 50)])
def test_the_runs_of_a_minimal_set_that_is_seldom_red_go_along_to_its_arms(cases: int, seed: int) -> None:
    arms, known = (BASELINE, switch(Role.BYPASS, "POOL_OFF")), {"names": frozenset({"POOL_OFF"})}
    suite = PlayedSuite(cases=cases, polluters="2", cures=frozenset({"POOL_OFF"}), unlucky=seldom(0.1, seed))

    def diagnosed(most_runs: int = 64, **changes: float) -> BisectReport:
        world = World(replace(suite), facts=known)
        common = replace(settings_of(world, arms=arms, **changes), max_runs=most_runs)
        return bisect_in(world, arms=arms, repeat=60, common=common)

    report = diagnosed()
    assert (report.status, report.found.polluters, report.found.noisy) == (FOUND, names(2), True)
    assert report.found.set_proof is not None
    assert report.attribution is not None
    counts, (baseline, bypass) = report.found.set_proof.red, report.attribution.arms
    assert counts.red == 1
    assert counts.green >= 30
    assert baseline.rate is not None
    assert (baseline.rate.red, baseline.rate.runs) == (counts.red, counts.red + counts.green)  # nothing anew
    assert {run.id for run in baseline.runs} <= {one.run for one in report.probed}
    assert report.attribution.attribution.status is Status.UNRESOLVED
    assert report.attribution.attribution.signature == report.found.signature
    assert len(bypass.runs) == 64  # the runs that are handed on are none of those that the arms may make
    few = diagnosed(most_runs=7).attribution
    assert few is not None
    assert len(few.arms[1].runs) == 7

    alone = bisect_in(World(replace(suite), facts=known), repeat=60).session.seconds
    late = diagnosed(budget_seconds=alone + 0.1).attribution  # less than what the runs that are handed on took
    assert late is not None
    assert 8 <= len(late.arms[1].runs) <= 12


def test_cases_after_the_victim_run_once_and_never_again() -> None:
    world = World(PlayedSuite(cases=40, polluters="4", victim=30))
    bisect_in(world)
    whole, *others = world.ran
    assert whole == names(*range(1, 41))
    assert others
    assert all(run[-1] == name(30) for run in others)
    (_, first), *rest = world.memo.finished_runs
    assert first.completed.ending is Ending.EXITED
    # To the verdict; those of a few cases to their end, as the lines that run them do.
    sizes = [(outcome.completed.ending, outcome.selected or 0) for _, outcome in rest]
    assert max(size for ending, size in sizes if ending is Ending.EXITED) <= 8
    assert min(size for ending, size in sizes if ending is Ending.ENOUGH) > 8


def test_the_report_after_each_run_of_the_whole_order_has_that_run() -> None:
    kept: list[BisectReport] = []
    bisect_in(World(PlayedSuite(cases=5, polluters="2")), keep=kept.append)
    first = kept[0]
    assert (first.session.partial, first.runs) == (True, 1)
    assert first.whole is not None
    assert first.whole.id == first.probed[0].run
    assert first.found.signature is not None
    assert (first.found.signature.case, first.others) == (name(5), ())


def test_a_red_beside_a_named_victim_is_not_followed_after_the_first_run_either() -> None:
    kept: list[BisectReport] = []
    bisect_in(World(PlayedSuite(always="4")), victim=name(9), keep=kept.append)
    assert (kept[0].found.signature, [other.case for other in kept[0].others]) == (None, [*names(4)])


def test_a_budget_of_runs_ends_with_the_best_so_far() -> None:
    report = searched(PlayedSuite(cases=100, polluters="31"), max_runs=5)
    assert (report.status, report.found.victim, report.found.prefix) == (UNRESOLVED, name(100), None)
    assert report.runs <= 5
    assert report.next is not None
    assert "--resume" in report.next.line
    assert report.reproducer is not None
    assert report.reproducer.ended == "exit code 1"


def test_the_same_answer_comes_with_several_runs_at_a_time() -> None:
    suite = {"cases": 100, "polluters": "17,63"}
    one, three = (searched(PlayedSuite(**suite), jobs=jobs) for jobs in (1, 3))  # type: ignore[arg-type] # the fields above
    assert (three.status, three.found) == (one.status, one.found)
    assert (three.reproducer, three.green_command) == (one.reproducer, one.green_command)


def test_a_red_that_every_case_shows_is_in_none_of_them() -> None:
    report = searched(PlayedSuite(cases=3, crashes_at_end=True))
    assert (report.status, report.found.victim, report.found.prefix) == (FOUND, None, 0)
    assert "none of them" in (report.reason or "")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_flaky_red_is_found_with_its_counts_and_its_confidence(seed: int) -> None:
    report = searched(PlayedSuite(polluters="5", unlucky=every_second(seed)), repeat=20)
    assert (report.status, report.found.polluters, report.found.prefix) == (FOUND, names(5), 5)
    assert report.found.noisy
    assert 0.8 <= (report.found.confidence or 0) <= 1


def test_a_flake_without_a_polluter_is_seldom_taken_for_one() -> None:
    reports = [searched(PlayedSuite(setters="99", unlucky=every_second(seed))) for seed in range(8)]
    assert sum(report.status is FOUND and bool(report.found.polluters) for report in reports) <= 1


def test_a_victim_that_is_green_among_others_that_are_red_is_not_told_as_green() -> None:
    report = searched(PlayedSuite(always="4"), victim=name(9))
    assert (report.status, [one.case for one in report.others]) == (UNRESOLVED, [*names(4)])
    assert "passes in this order, and alone" in (report.reason or "")


def test_an_output_that_is_not_written_is_told_to_need_a_name() -> None:
    report = searched(PlayedSuite(cases=5), outputs=(OutputSpec(glob="missing.bin", dtype="f32"),))
    assert report.status is UNRESOLVED
    assert "--victim" in (report.reason or "")
    assert report.runs <= 3


def test_the_time_that_is_allowed_bounds_what_follows_the_search_too() -> None:
    arms = (BASELINE, ISOLATE, switch(Role.BYPASS, "POOL_OFF"))
    report = searched(PlayedSuite(polluters="5"), budget_seconds=0.001, arms=arms)
    assert (report.status, report.attribution, report.reproducer) == (UNRESOLVED, None, None)
    assert any("time is spent" in note for note in report.session.notes)


def test_a_victim_that_is_named_is_followed_where_the_red_is_in_no_case() -> None:
    report = searched(PlayedSuite(cases=9, polluters="4", victim=7, how="exit"), victim=name(7))
    assert (report.status, report.found.victim, report.found.polluters) == (FOUND, name(7), names(4))


def test_a_victim_that_is_red_in_another_way_with_fewer_cases_is_not_taken_for_green() -> None:
    report = searched(PlayedSuite(cases=20, polluters="3,9", how="two-ways"))
    assert (report.status, report.found.polluters) == (FOUND, names(3, 9))
    (other,) = report.found.otherwise
    assert (other.cases, other.other_red and other.other_red.kind) == (names(3), SignatureKind.FAILURE)
    assert report.found.set_proof is not None
    assert [(end.cases, end.red, end.green, end.other > 0) for end in report.found.set_proof.green] == [
        (names(9), 0, 0, True),
        (names(3), 0, 0, True),
    ]


def test_reds_that_come_no_more_are_no_steady_answer_and_few_are_none() -> None:
    """The first runs agree that case 5 does it; then it shows no more."""
    steady = PlayedSuite(polluters="5")
    searched(steady)
    for reds in range(1, steady.chances):
        report = searched(PlayedSuite(polluters="5", unlucky=in_runs(*range(1, reds + 1))))
        assert (report.status is not FOUND) if reds <= 3 else (report.found.noisy or report.status is not FOUND)
        assert report.status is not FOUND or report.found.polluters == names(5)


def test_one_run_that_does_not_agree_makes_the_search_believe_in_no_single_one() -> None:
    steady = PlayedSuite(polluters="5")
    searched(steady)
    last = steady.chances
    report = searched(PlayedSuite(polluters="5", unlucky=lambda number: number != last))
    assert (report.status, report.found.polluters, report.found.noisy) == (FOUND, names(5), True)


def test_a_line_of_more_cases_than_a_search_runs_to_their_end_is_typed() -> None:
    together = ",".join(map(str, range(1, 31, 3)))  # ten
    world = World(PlayedSuite(cases=40, polluters=together))
    report = bisect_in(world)
    typed = [request.argv[2] for request in world.requests if request.argv[0] == "sh"]
    assert (report.status, len(report.found.polluters)) == (FOUND, 10)
    assert report.reproducer is not None
    assert typed == [f'{report.reproducer.line} "$@"']
    assert report.reproducer.ended == "exit code 1"


def test_the_arms_run_on_the_minimal_set_and_the_green_ones_on_the_whole_order() -> None:
    world = World(PlayedSuite(cases=40, polluters="17", cures=frozenset({"POOL_OFF"})))
    report = bisect_in(world, arms=(BASELINE, switch(Role.BYPASS, "POOL_OFF"), switch(Role.EXACT, "EXACT"), ISOLATE))
    assert (report.status, report.found.polluters) == (FOUND, names(17))
    assert report.attribution is not None
    sizes = {run.outcome.selected for result in report.attribution.arms for run in result.runs}
    assert sizes == {1, 2}
    assert [(one.arm.role, one.run.outcome.passed, one.sight) for one in report.confirmations] == [
        (Role.BYPASS, 40, "G")
    ]


def test_a_set_up_that_is_run_before_stands_in_the_printed_lines() -> None:
    world = World(PlayedSuite(cases=9, polluters="4"), commands={"touch": ""})
    report = bisect_in(world, before=("touch", "ready"))
    assert report.reproducer is not None
    assert report.reproducer.line.startswith("touch ready && ")
    assert sum(request.argv == ("touch", "ready") for request in world.requests) == len(world.ran)
