"""`attribute` on a played pool, in memory: what its runs show, what blocks it, and when it stops."""

from collections.abc import Mapping
from typing import Any

import pytest

from pooldiag.errors import UsageError
from pooldiag.model.arms import Acted, AllocatorProfile, Arm, CounterRule, PoolCounter, Role
from pooldiag.model.attributions import Status
from pooldiag.model.cases import Order, OrderKind
from pooldiag.model.readings import Reading, Sight, SignatureKind
from pooldiag.model.reports import ArmResult, AttributeReport
from pooldiag.model.settings import OutputSpec
from pooldiag.rates import excluded_by
from tests.played.commands import BASELINE, ISOLATE, OUTPUTS, attribute_in, switch
from tests.played.framework import PlayedFramework
from tests.played.suite import PlayedSuite, in_runs, name, names
from tests.played.world import HOME, Hook, World

BYPASS, EXACT, SERIAL = switch(Role.BYPASS, "POOL_OFF"), switch(Role.EXACT, "EXACT"), switch(Role.SERIAL, "SERIAL")
SWITCHES = frozenset({"POOL_OFF", "EXACT", "SERIAL"})
ARMS = (BASELINE, BYPASS, EXACT, SERIAL, ISOLATE)
KNOWN = {"names": SWITCHES}


def pool(**facts: object) -> PlayedSuite:
    """A suite whose fault is gone without the pool."""
    return PlayedSuite(**{"cases": 6, "polluters": "2", "cures": frozenset({"POOL_OFF"}), **facts})  # type: ignore[arg-type] # its fields


def diagnosed(
    suite: PlayedSuite,
    *,
    hooks: Mapping[int, Hook] | None = None,
    **changes: Any,  # noqa: ANN401 - fields of the settings
) -> AttributeReport:
    world = World(suite, hooks=hooks or {}, facts=KNOWN)
    return attribute_in(world, **{"arms": ARMS, **changes})


def result(report: AttributeReport, role: Role) -> ArmResult:
    return next(one for one in report.arms if one.arm.role is role)


def readings(report: AttributeReport, role: Role) -> set[Reading]:
    return {run.reading.reading for run in result(report, role).runs}


def test_what_the_arms_show_is_read_against_the_baseline() -> None:
    report = diagnosed(pool())
    assert report.attribution.signature is not None
    assert report.attribution.signature.case == name(6)
    shown = {role: readings(report, role) for role in (Role.BASELINE, Role.BYPASS, Role.EXACT, Role.ISOLATE)}
    assert shown == {
        Role.BASELINE: {Reading.RED},
        Role.BYPASS: {Reading.GREEN},
        Role.EXACT: {Reading.RED},
        Role.ISOLATE: {Reading.GREEN},
    }
    assert result(report, Role.ISOLATE).runs[0].outcome.selected == 1
    assert report.reproducer == "./suite '--order=file 0'"
    assert report.next is not None
    assert report.next.line == "env POOL_OFF=1 ./suite '--order=file 0'"


def test_a_red_that_no_arm_moves_is_no_arms() -> None:
    report = diagnosed(PlayedSuite(cases=6, always="4"))
    assert (report.attribution.status, report.attribution.answer) == (Status.ESTABLISHED, "no-arm")
    assert report.attribution.mechanism is None
    assert "independent" in [candidate.mechanism for candidate in report.attribution.candidates]


def test_nothing_red_is_green_and_leads_to_another_order() -> None:
    report = diagnosed(PlayedSuite(cases=3))
    assert (report.attribution.status, report.attribution.signature) == (Status.GREEN, None)
    assert report.next is not None
    assert "--order=rand --seed=1" in report.next.line


def test_a_green_says_what_it_excludes_by_as_many_baselines_as_cost_nothing() -> None:
    quick = diagnosed(PlayedSuite(cases=3, seconds=0.001))
    assert (len(result(quick, Role.BASELINE).runs), quick.excluded) == (30, excluded_by(30))
    slow = diagnosed(PlayedSuite(cases=3, seconds=5))
    assert (len(result(slow, Role.BASELINE).runs), slow.excluded) == (2, excluded_by(2))
    asked = diagnosed(PlayedSuite(cases=3), repeat=3)
    assert (len(result(asked, Role.BASELINE).runs), asked.excluded) == (3, excluded_by(3))
    assert diagnosed(pool()).excluded is None
    assert diagnosed(PlayedSuite(cases=3, breaks=frozenset({"POOL_OFF"}))).excluded is None


def test_what_is_run_before_a_run_is_part_of_what_a_baseline_costs() -> None:
    suite = PlayedSuite(cases=1, seconds=0.06)  # a run takes 0.12 s, and what is run before it half of that
    cheap = attribute_in(World(suite), arms=(BASELINE,))
    dear = attribute_in(World(suite, commands={"touch": ""}), arms=(BASELINE,), before=("touch", "ready"))
    assert len(result(cheap, Role.BASELINE).runs) > len(result(dear, Role.BASELINE).runs) > 2


def test_a_flake_that_two_baselines_missed_is_found_by_more_of_them() -> None:
    report = diagnosed(PlayedSuite(cases=3, setters="99", unlucky=in_runs(9)))
    assert report.attribution.signature is not None
    assert report.excluded is None


def test_a_green_without_another_order_leads_to_more_runs_until_they_exclude_enough() -> None:
    slow = diagnosed(PlayedSuite(cases=1, seconds=5))
    assert slow.next is not None
    assert "--repeat=30" in slow.next.line
    assert diagnosed(PlayedSuite(cases=1, seconds=0.001)).next is None


def test_a_line_is_said_to_be_green_under_an_arm_only_after_as_many_greens_as_the_rate_asks_for() -> None:
    flaky = diagnosed(pool(unlucky=in_runs(1)), arms=(BASELINE, BYPASS), repeat=3)
    bypass = result(flaky, Role.BYPASS)
    assert set(bypass.sights) == {Sight.GREEN}
    assert bypass.greens_needed
    assert flaky.next is None
    steady = diagnosed(pool())
    assert steady.next is not None
    assert steady.next.purpose == "green under bypass"


def test_a_green_baseline_says_how_many_greens_it_lacks_beside_a_red_arm() -> None:
    few = diagnosed(PlayedSuite(cases=3, seconds=5, breaks=frozenset({"POOL_OFF"}), unlucky=in_runs(1)), max_runs=3)
    assert result(few, Role.BASELINE).greens_needed
    many = diagnosed(PlayedSuite(cases=3, breaks=frozenset({"POOL_OFF"})))
    assert result(many, Role.BASELINE).greens_needed == 0


def test_nothing_is_green_where_nothing_was_asserted() -> None:
    report = diagnosed(PlayedSuite(cases=3, vacuous="1,2,3"))
    assert report.attribution.status is Status.BLOCKED
    assert blocked_by(report) == "nothing was asserted"
    assert diagnosed(PlayedSuite(cases=3, vacuous="1,3")).attribution.status is Status.GREEN
    world = World(PlayedSuite(cases=3, vacuous="1,2,3"), framework=Uncounted())
    assert attribute_in(world, arms=(BASELINE,)).attribution.status is Status.GREEN


def test_cases_without_an_assertion_that_an_arm_turns_red_are_red() -> None:
    report = diagnosed(PlayedSuite(cases=3, vacuous="1,2,3", how="crash", breaks=frozenset({"POOL_OFF"})))
    assert report.attribution.status is not Status.BLOCKED
    assert report.attribution.signature is not None


@pytest.mark.parametrize(("seed", "other"), [(None, 2), (0, 2), (1, 2), (7, 8)])
def test_the_next_seed_is_one_of_another_order(seed: int | None, other: int) -> None:
    report = diagnosed(PlayedSuite(cases=3), order=Order(kind=OrderKind.RAND, seed=seed))
    assert report.next is not None
    assert f"--order=rand --seed={other}" in report.next.line


def test_a_bug_that_only_an_arm_shows_makes_no_green() -> None:
    report = diagnosed(PlayedSuite(cases=3, breaks=frozenset({"POOL_OFF"})))
    assert report.attribution.signature is not None
    assert (readings(report, Role.BASELINE), readings(report, Role.BYPASS)) == ({Reading.GREEN}, {Reading.RED})


def test_a_flaky_case_has_its_rate_and_more_runs_are_suggested_when_they_ran_out() -> None:
    report = diagnosed(PlayedSuite(cases=4, setters="99", unlucky=in_runs(2, 3, 6)), max_runs=5)
    baseline = result(report, Role.BASELINE)
    assert (report.attribution.status, report.attribution.mechanism) == (Status.UNRESOLVED, None)
    assert report.attribution.rule == "5 runs are spent"
    assert baseline.rate is not None
    assert 0 < baseline.rate.low < baseline.rate.red / baseline.rate.runs < baseline.rate.high < 1
    assert report.next is not None
    assert "--max-runs=15" in report.next.line


def test_a_flake_whatever_the_arm_is_no_arms_with_its_rate() -> None:
    red = [number for number in range(1, 400) if number * 13 % 30 < 13]  # 13 of 30, evenly
    report = diagnosed(PlayedSuite(cases=6, setters="99", unlucky=in_runs(*red)))
    assert (report.attribution.status, report.attribution.answer) == (Status.ESTABLISHED, "no-arm")
    assert report.attribution.rate is not None
    assert report.attribution.rate.low <= 13 / 30 <= report.attribution.rate.high


def test_a_flake_that_is_red_twice_is_not_made_a_verdict_about_the_pool() -> None:
    suite = PlayedSuite(cases=4, setters="99", unlucky=in_runs(1, 2))
    assert diagnosed(suite, arms=(BASELINE, BYPASS, EXACT)).attribution.status is Status.UNRESOLVED


def test_what_may_be_spent_bounds_a_fixed_number_of_runs_too() -> None:
    for bound, runs in (({"max_runs": 4}, 4), ({"budget_seconds": 0.001}, 1)):
        report = diagnosed(pool(), repeat=3, **bound)
        assert sum(len(one.runs) for one in report.arms) == runs


def test_a_budget_of_runs_ends_it_undecided_and_says_so() -> None:
    report = diagnosed(pool(), max_runs=3)
    attribution = report.attribution
    assert (attribution.status, attribution.mechanism, attribution.rule) == (
        Status.UNRESOLVED,
        None,
        "3 runs are spent",
    )
    assert sum(len(one.runs) for one in report.arms) == 3
    assert attribution.answer is None
    assert all(one.posterior is not None and 0 <= one.posterior <= 1 for one in attribution.candidates)


def test_a_green_that_was_cut_short_is_not_green() -> None:
    report = diagnosed(PlayedSuite(cases=3), max_runs=2)
    assert report.attribution.status is Status.UNRESOLVED
    assert report.attribution.not_established == ("green: bypass was not asked",)


def test_a_higher_confidence_takes_more_runs() -> None:
    def runs(confidence: float) -> int:
        report = diagnosed(PlayedSuite(cases=6, always="4"), confidence=confidence)
        assert report.attribution.answer == "no-arm"
        assert (report.attribution.confidence or 0) >= confidence
        return sum(len(one.runs) for one in report.arms)

    assert runs(0.9) < runs(0.9999)


def test_repeat_runs_every_arm_so_often() -> None:
    report = diagnosed(pool(), repeat=2)
    assert {len(one.runs) for one in report.arms} == {2}


def test_arms_that_were_left_out_are_the_next_command() -> None:
    report = diagnosed(pool(), arms=(BASELINE, BYPASS, ISOLATE), left_out=(Role.EXACT, Role.SERIAL))
    assert report.next is not None
    assert report.next.purpose == "the arms that tell these apart"
    assert "--arms=bypass,isolate," in report.next.line


def test_an_arm_whose_counter_contradicts_it_carries_no_verdict() -> None:
    profile = AllocatorProfile(
        name="played", title="a pool", source="a test", counters=(PoolCounter(name="hits", pattern=r"hits=(\d+)"),)
    )
    bypass = Arm(role=Role.BYPASS, environment=BYPASS.environment, proof=CounterRule(counter="hits", equals=0))
    world = World(pool(), facts=KNOWN, text="hits=7\n")
    report = attribute_in(world, arms=(BASELINE, bypass, ISOLATE), profile=profile)
    inert = result(report, Role.BYPASS)
    assert inert.acted is Acted.INERT
    assert "not 0: the pool went on as before" in inert.why
    assert Role.BYPASS not in {one.arm for one in report.attribution.ruled_out}


def test_cases_that_passed_with_zero_assertions_are_named() -> None:
    report = diagnosed(PlayedSuite(cases=4, vacuous="2,3"), arms=(BASELINE,))
    vacuous = [note for note in report.session.notes if note.startswith("passed without one assertion")]
    assert [note.partition(" (")[0].removeprefix("passed without one assertion: ") for note in vacuous] == [
        *names(2, 3)
    ]


@pytest.mark.parametrize(
    ("how", "kind", "signal", "case"),
    [
        ("crash", SignatureKind.CRASH, "SIGSEGV", name(6)),
        ("quit", SignatureKind.COUNT, None, name(6)),
        ("hang", SignatureKind.HANG, None, name(6)),
        ("exit", SignatureKind.FAILURE, None, None),
        ("kill", SignatureKind.CRASH, None, name(6)),
    ],
)
def test_however_it_ends_it_is_red_in_its_case(
    how: str, kind: SignatureKind, signal: str | None, case: str | None
) -> None:
    report = diagnosed(pool(how=how), timeout_seconds=1.0)
    found = report.attribution.signature
    assert found is not None
    assert (found.kind, found.signal, found.case) == (kind, signal, case)


def test_the_user_can_say_which_red_the_verdict_is_about() -> None:
    report = diagnosed(PlayedSuite(cases=6, always="2,4"), victim=name(4))
    assert report.attribution.signature is not None
    assert report.attribution.signature.case == name(4)
    assert [other.signature.case for other in report.others if other.signature] == [name(2)]
    with pytest.raises(UsageError, match="'nobody' is no selected case"):
        diagnosed(PlayedSuite(), victim="nobody")


def test_nan_in_an_output_is_red_although_every_case_passes() -> None:
    report = diagnosed(pool(how="output"), outputs=OUTPUTS)
    assert report.attribution.signature is not None
    assert (report.attribution.signature.kind, str(report.attribution.signature.place)) == (
        SignatureKind.NAN,
        "out.bin",
    )
    clean = diagnosed(PlayedSuite(cases=3, how="output"), outputs=OUTPUTS, arms=(BASELINE,))
    assert clean.attribution.status is Status.GREEN
    assert result(clean, Role.BASELINE).runs[0].outcome.outputs[0].census is not None


def test_an_output_that_is_absent_is_red() -> None:
    report = diagnosed(PlayedSuite(cases=3), outputs=(OutputSpec(glob="out.bin", dtype="f32"),))
    assert report.attribution.signature is not None
    assert (report.attribution.signature.kind, str(report.attribution.signature.place)) == (
        SignatureKind.COUNT,
        "output out.bin: absent",
    )


def test_only_the_cases_that_are_named_run() -> None:
    world = World(PlayedSuite(cases=20))
    attribute_in(world, arms=(BASELINE,), case_patterns=("case 001?", name(3)))
    assert world.ran[0] == names(3, *range(10, 20))
    with pytest.raises(UsageError, match="names no case that runs"):
        attribute_in(world, arms=(BASELINE,), case_patterns=("nobody",))


# --- targets without a list -------------------------------------------------------------------------------------------


class Deaf(PlayedFramework):
    """What lists nothing to rely on."""

    def list_arguments(self, *_: object) -> tuple[str, ...]:
        return ("--order=file 0",)

    def run_arguments(self, *_: object) -> tuple[str, ...]:
        return ("--order=file 0",)


class Uncounted(PlayedFramework):
    """A framework that does not say how many assertions a case made."""

    counts_assertions = False


class Holding(PlayedFramework):
    """A framework of a script with other runners inside."""

    holds_runners = True


def test_a_runner_inside_the_target_that_ran_no_test_makes_the_run_void_with_its_words() -> None:
    said = "Test project /home\nNo tests were found!!!\n"
    report = attribute_in(World(PlayedSuite(cases=3), framework=Holding(), text=said))
    assert blocked_by(report) == "no test ran: ctest says «No tests were found!!!»"
    own = attribute_in(World(PlayedSuite(cases=3), text=said))
    assert own.attribution.status is Status.GREEN
    both = World(PlayedSuite(cases=3), framework=Holding(), text=f"{said}running 3 tests\n")
    assert attribute_in(both).attribution.status is Status.GREEN


def test_a_crash_is_red_whatever_a_runner_said_before_it() -> None:
    suite = PlayedSuite(cases=3, crashes_at_end=True)
    report = attribute_in(World(suite, framework=Holding(), text="No tests were found!!!\n"))
    assert report.attribution.signature is not None


def test_a_printed_nan_is_red_says_who_printed_it_and_can_be_left_out() -> None:
    text = "info: reference: n=4 nan=4 inf=0 zero=0\n"
    report = attribute_in(World(PlayedSuite(cases=3), text=text))
    assert report.attribution.signature is not None
    assert report.attribution.signature.kind is SignatureKind.NAN
    (note,) = (note for note in report.session.notes if "printed by the target" in note)
    assert note.startswith("NaN or infinity in reference: printed by the target; --no-printed-census")
    without = attribute_in(World(PlayedSuite(cases=3), text=text), printed_census=False)
    assert without.attribution.status is Status.GREEN
    assert not any("printed" in note for note in without.session.notes)


def test_a_target_that_does_not_list_is_a_black_box_and_cases_cannot_be_chosen() -> None:
    report = attribute_in(World(PlayedSuite(cases=3), framework=Deaf()), arms=ARMS)
    assert any("no list of cases" in note for note in report.session.notes)
    assert Role.ISOLATE not in {one.arm.role for one in report.arms}
    with pytest.raises(UsageError, match="no case can be chosen"):
        attribute_in(World(PlayedSuite(cases=3), framework=Deaf()), case_patterns=("x",))


def test_everything_skipped_is_void() -> None:
    report = diagnosed(PlayedSuite(cases=3, skipped="1,2,3"))
    assert report.attribution.status is Status.BLOCKED
    assert report.session.blocked is not None
    assert report.session.blocked.problem == "nothing to run: all 3 cases are skipped"


def test_very_many_cases_do_not_each_run_alone_for_a_red_that_is_in_none() -> None:
    report = diagnosed(PlayedSuite(cases=201, crashes_at_end=True))
    assert any(note.startswith("isolate is left out: ") for note in report.session.notes)
    assert Role.ISOLATE not in {one.arm.role for one in report.arms}


# --- what blocks it ---------------------------------------------------------------------------------------------------


def blocked_by(report: AttributeReport) -> str:
    assert report.attribution.status is Status.BLOCKED
    assert report.session.blocked is not None
    assert report.next is None
    return report.session.blocked.problem


def test_a_fixture_that_cannot_be_read_blocks_before_the_first_run() -> None:
    world = World(PlayedSuite(), missing="fixture.bin: no such file")
    report = attribute_in(world, requires=(HOME / "fixture.bin",))
    assert blocked_by(report) == "fixture.bin: no such file"
    assert [len(one.runs) for one in report.arms] == [0, 0]
    assert world.ran == []
    assert attribute_in(World(PlayedSuite(), missing="x")).attribution.status is Status.GREEN


def test_a_fixture_that_goes_away_during_the_runs_blocks() -> None:
    def remove(world: World) -> None:
        world.missing = "fixture.bin: no such file"

    world = World(PlayedSuite(cases=3), hooks={2: remove})
    report = attribute_in(world, requires=(HOME / "fixture.bin",))
    assert "fixture.bin" in blocked_by(report)
    assert [run.reading.reading for run in result(report, Role.BASELINE).runs] == [Reading.GREEN, Reading.VOID]


def test_a_changed_binary_voids_the_run() -> None:
    def rebuild(world: World) -> None:
        world.built = "2"

    report = diagnosed(PlayedSuite(cases=3), hooks={2: rebuild})
    assert "changed between two runs" in blocked_by(report)
    report = diagnosed(pool(), hooks={4: rebuild})  # under an arm, too
    assert "changed between two runs" in blocked_by(report)


def test_a_disk_that_fills_blocks_and_gives_the_outputs_back() -> None:
    def fill(world: World) -> None:
        world.short_of = "/tmp is full: No space left on device"

    world = World(PlayedSuite(cases=3), hooks={2: fill})
    assert "No space left" in blocked_by(attribute_in(world))
    assert world.dropped == ["02-baseline"]
    assert [outcome.run for _, outcome in world.memo.finished_runs] == ["01-baseline"]
    started = World(PlayedSuite(), short_of="free memory is 1 MiB")
    assert blocked_by(attribute_in(started)) == "free memory is 1 MiB"
    assert started.memo.began == []


@pytest.mark.parametrize(
    ("suite", "disk"),
    [
        (PlayedSuite(cases=3, always="2"), {}),
        (PlayedSuite(cases=3, crashes_at_end=True), {}),
        (PlayedSuite(cases=3), {"full_of": "/tmp is full"}),
    ],
)
def test_text_about_a_full_disk_voids_a_red_run_and_one_on_a_full_disk(
    suite: PlayedSuite, disk: dict[str, str]
) -> None:
    world = World(suite, text="write: No space left on device\n", **disk)  # type: ignore[arg-type] # its fields
    assert blocked_by(attribute_in(world)) == "the disk was full: write: No space left on device"


def test_a_green_run_that_says_so_on_a_disk_that_is_full_is_void() -> None:
    def fill(world: World) -> None:
        world.full_of = "/scratch is full"

    world = World(PlayedSuite(cases=3), text="write: No space left on device\n", hooks={2: fill})
    assert "No space left" in blocked_by(attribute_in(world))
    assert [outcome.run for _, outcome in world.memo.finished_runs] == ["01-baseline"]


def test_a_green_run_in_which_a_passing_test_prints_the_words_is_green() -> None:
    report = attribute_in(World(PlayedSuite(cases=3), text="write: No space left on device\n"))
    assert report.attribution.status is Status.GREEN


def test_a_full_disk_without_the_words_voids_what_ends_with_a_sigbus_alone() -> None:
    report = attribute_in(World(PlayedSuite(cases=3, crashes_at_end=True), full_of="/tmp is full"))
    assert report.attribution.status is not Status.BLOCKED


def test_a_build_that_is_not_fresh_blocks() -> None:
    def checked(commands: dict[str, str]) -> AttributeReport:
        return attribute_in(World(PlayedSuite(cases=3), commands=commands), fresh_check=("ninja", "-n"))

    assert blocked_by(checked({"ninja": "[1/2] building\n"})) == "--fresh-check ninja finds something to build"
    assert blocked_by(checked({})) == "--fresh-check ninja ended with exit code 1"
    assert checked({"ninja": "ninja: no work to do.\n"}).attribution.status is Status.GREEN


def test_a_set_up_that_fails_blocks() -> None:
    report = attribute_in(World(PlayedSuite()), before=("reset",))
    assert blocked_by(report) == "--before reset ended with exit code 1"


def test_an_arm_that_is_slower_than_the_limit_that_grew_from_green_runs_says_nothing() -> None:
    suite = PlayedSuite(cases=3, breaks=frozenset({"POOL_OFF"}), how="hang")
    report = diagnosed(suite, arms=(BASELINE, BYPASS))
    (run, *_) = result(report, Role.BYPASS).runs
    assert run.reading.reading is Reading.VOID
    assert run.reading.void_reason == (
        "not done after 60 s, 10 x the longest green run or more: give --timeout if it is slow"
    )
    sure = diagnosed(suite, arms=(BASELINE, BYPASS), timeout_seconds=1.0)
    assert readings(sure, Role.BYPASS) == {Reading.RED}


def test_a_run_that_changes_its_working_directory_is_told() -> None:
    def change(world: World) -> None:
        world.changed = ["cache.tmp"]

    report = diagnosed(PlayedSuite(cases=3), hooks={1: change})
    assert "changed in the working directory: cache.tmp (01-baseline)" in report.session.notes


def test_an_arm_that_is_inert_for_sure_is_never_run() -> None:
    for suite in (pool(), PlayedSuite(cases=6)):
        world = World(suite, facts={"names": SWITCHES - {"POOL_OFF"}})
        report = attribute_in(world, arms=ARMS, repeat=1)
        inert = result(report, Role.BYPASS)
        assert (inert.acted, inert.runs) == (Acted.INERT, ())
        assert "name POOL_OFF" in inert.why
        assert report.attribution.status is not Status.BLOCKED
        assert result(report, Role.BASELINE).runs


def test_an_arm_that_another_library_could_read_runs_and_is_unproven() -> None:
    world = World(pool(), facts={"names": SWITCHES - {"POOL_OFF"}, "closed": False})
    unproven = result(attribute_in(world, arms=ARMS), Role.BYPASS)
    assert unproven.acted is Acted.UNPROVEN
    assert len(unproven.runs) == 1


def test_a_green_with_an_inert_bypass_is_green() -> None:
    world = World(PlayedSuite(cases=6), facts={"names": SWITCHES - {"POOL_OFF"}})
    assert attribute_in(world, arms=ARMS).attribution.status is Status.GREEN
