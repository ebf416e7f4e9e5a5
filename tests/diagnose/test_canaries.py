"""Running a canary under arms: for which of them, with what, and what is known without it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pooldiag.diagnose.canaries import canary_findings
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import InterruptedRunError
from pooldiag.frameworks import BLACKBOX
from pooldiag.model.arms import Acted, AllocatorProfile, Arm, ArmProperty, Canary, CanaryRule, Linkage, Role
from pooldiag.model.runs import Completed, Ending, Environment, RunRequest, Stream
from pooldiag.ports import Executor
from tests.builders import completed
from tests.played.suite import PlayedSuite
from tests.played.world import World

LIBC, OTHER, RUNTIME = Path("/lib/libc.so.6"), Path("/lib/libother.so.3"), Path("/lib/libruntime.so.8")
STALE, ZERO = (b"blocks of 200 bytes: handed=%s again=always\n" % content for content in (b"stale", b"0x00"))
RETURNED = ArmProperty(
    name="addresses",
    value="returned",
    source="seen by the canary on this machine: all blocks come back at their address",
)
OFF = Environment(set=(("POOL_OFF", "1"), ("STATS", "1")))
PRELOADED = Environment(set=(("LD_PRELOAD", "mine.so"),))
BYPASS = Arm(role=Role.BYPASS, environment=OFF, shared=("STATS",))
PRINTING = Arm(role=Role.ISOLATE, environment=Environment(set=(("STATS", "1"),)), shared=("STATS",))
ARMS = (Arm(role=Role.BASELINE), BYPASS, Arm(role=Role.SERIAL, environment=OFF), PRINTING)
CANARY = Canary(argv=("canary",), rules=(CanaryRule(role=Role.BYPASS, expects=(("handed", ("0x00",)),)),))
LINKED = Linkage(library="libc.so.6", instead=("libother",), symbols=("other_init",))
PROFILE = AllocatorProfile(name="a", title="a", source="a test", canary=CANARY, linked=LINKED)


@dataclass
class CanaryExecutor:
    """Prints what a canary would under an allocator that POOL_OFF=1 switches off."""

    world: World
    ended: Completed = field(default_factory=completed)
    requests: list[RunRequest] = field(default_factory=list)

    def execute(self, request: RunRequest) -> Completed:
        self.requests.append(request)
        stdout = request.folder / "stdout"
        text = ZERO if ("POOL_OFF", "1") in request.environment.set else STALE
        self.world.content[stdout] = text
        return replace(self.ended, stdout=Stream(path=stdout, size_bytes=len(text)))

    def restore(self) -> None:
        pass


@pytest.fixture
def world() -> World:
    facts = {
        "names": frozenset({"POOL_OFF"}),
        "libraries": (LIBC,),
        "removed": (("MALLOC_PERTURB_", "7"),),
    }
    return World(PlayedSuite(cases=1), framework=BLACKBOX, facts=facts)


@pytest.fixture
def tools(world: World) -> Tools:
    return run_by(world.tools, CanaryExecutor(world))


def knowing(tools: Tools, **facts: Any) -> Tools:  # noqa: ANN401 - fields of TargetFacts
    return replace(tools, facts=replace(tools.facts, **facts))


def run_by(tools: Tools, executor: Executor) -> Tools:
    return replace(tools, ports=replace(tools.ports, executor=executor))


def executed(tools: Tools) -> list[RunRequest]:
    assert isinstance(tools.ports.executor, CanaryExecutor)
    return tools.ports.executor.requests


def states(profile: AllocatorProfile, tools: Tools, arms: Sequence[Arm] = ARMS) -> dict[Role, Acted]:
    return {role: state for role, (state, _) in canary_findings(profile, arms, tools).states.items()}


def test_it_runs_under_the_baseline_and_under_every_arm_that_it_is_asked_about(tools: Tools) -> None:
    assert states(PROFILE, tools) == {Role.BYPASS: Acted.PROVEN}
    baseline, bypass = executed(tools)
    assert baseline.environment == Environment(unset=("MALLOC_PERTURB_",))
    assert bypass.environment == replace(OFF, unset=("MALLOC_PERTURB_",))
    assert bypass.argv == ("canary",)
    assert baseline.folder != bypass.folder


def test_a_switch_that_changes_nothing_is_inert(tools: Tools) -> None:
    misspelt = replace(BYPASS, environment=Environment(set=(("POOL_OF", "1"),)))
    assert states(PROFILE, tools, (ARMS[0], misspelt)) == {Role.BYPASS: Acted.INERT}


def test_without_a_canary_nothing_runs(tools: Tools) -> None:
    assert states(replace(PROFILE, canary=None), tools) == {}
    assert states(PROFILE, tools, (ARMS[0], ARMS[2])) == {}
    assert executed(tools) == []


@pytest.mark.parametrize(
    "ended",
    [completed(1), completed(None, ending=Ending.SIGNALLED, signal=11), completed(None, ending=Ending.TIMED_OUT)],
    ids=["failed", "crashed", "hung"],
)
def test_a_canary_that_does_not_end_well_settles_nothing(world: World, ended: Completed) -> None:
    assert states(PROFILE, run_by(world.tools, CanaryExecutor(world, ended=ended))) == {}


def test_an_interrupt_ends_it(world: World) -> None:
    executor = CanaryExecutor(world, ended=completed(None, ending=Ending.INTERRUPTED))
    with pytest.raises(InterruptedRunError):
        canary_findings(PROFILE, ARMS, run_by(world.tools, executor))
    assert len(executor.requests) == 1


def test_another_allocator_in_its_libraries_makes_every_switched_arm_inert_untried(tools: Tools) -> None:
    verdicts = canary_findings(PROFILE, ARMS, knowing(tools, libraries=(OTHER, LIBC))).states
    assert {role: state for role, (state, _) in verdicts.items()} == dict.fromkeys(
        (Role.BYPASS, Role.SERIAL), Acted.INERT
    )
    assert "libother.so.3" in verdicts[Role.BYPASS][1]
    assert executed(tools) == []


def test_what_every_target_has_does_not_depend_on_its_allocator(tools: Tools) -> None:
    facts = replace(tools.facts, libraries=(LIBC, OTHER))
    arms = (Arm(role=Role.FRESH_STATE, environment=OFF), Arm(role=Role.PLACEBO, environment=OFF))
    assert canary_findings(PROFILE, (ARMS[0], *arms), replace(tools, facts=facts)).states == {}


def test_another_allocator_built_into_it_does_so_too(tools: Tools) -> None:
    built_in = knowing(tools, names=frozenset({"POOL_OFF", "other_init"}))
    assert states(PROFILE, built_in)[Role.BYPASS] is Acted.INERT
    assert "other_init" in canary_findings(PROFILE, ARMS, built_in).states[Role.BYPASS][1]


def test_what_an_arm_preloads_comes_before_another_allocator(tools: Tools) -> None:
    preloading = replace(BYPASS, environment=OFF.merged(PRELOADED))
    found = states(PROFILE, knowing(tools, libraries=(OTHER, LIBC)), (ARMS[0], preloading))
    assert found == {Role.BYPASS: Acted.PROVEN}


def test_nothing_can_be_preloaded_into_a_program_without_libraries(tools: Tools) -> None:
    static = knowing(tools, libraries=())
    preloading = replace(BYPASS, environment=OFF.merged(PRELOADED))
    verdicts = canary_findings(PROFILE, (ARMS[0], preloading), static).states
    assert verdicts[Role.BYPASS] == (
        Acted.INERT,
        "the target does not load libc.so.6: nothing can be preloaded",
    )


def test_a_program_without_libraries_may_have_the_same_allocator_built_in(tools: Tools) -> None:
    assert states(PROFILE, knowing(tools, libraries=())) == {Role.BYPASS: Acted.PROVEN}


def test_it_is_not_known_what_a_script_loads(tools: Tools) -> None:
    preloading = replace(BYPASS, environment=OFF.merged(PRELOADED))
    script = knowing(tools, libraries=(), searchable=False)
    assert states(PROFILE, script, (ARMS[0], preloading)) == {Role.BYPASS: Acted.PROVEN}


def test_the_targets_own_allocator_is_brought_into_the_canary(tools: Tools) -> None:
    brought = replace(PROFILE, canary=replace(CANARY, preload="libruntime"))
    assert states(brought, tools) == {}  # the target has no such library
    assert executed(tools) == []
    assert states(brought, knowing(tools, libraries=(LIBC, RUNTIME))) == {Role.BYPASS: Acted.PROVEN}
    assert all(("LD_PRELOAD", str(RUNTIME)) in request.environment.set for request in executed(tools))


def test_what_it_sees_of_a_bypass_that_acts_takes_the_place_of_the_profiles_word(tools: Tools) -> None:
    found = canary_findings(PROFILE, ARMS, tools)
    assert found.properties == {Role.BYPASS: (RETURNED,)}
    apart = ArmProperty(name="addresses", value="apart", source="its manual")
    waits = ArmProperty(name="waits", value="no", source="its manual")
    assert found.known(replace(BYPASS, properties=(apart, waits))).properties == (RETURNED, waits)
    assert found.known(BYPASS).property("addresses") == "returned"
    assert found.known(ARMS[2]) is ARMS[2]


def test_the_users_word_stands_over_what_it_sees(tools: Tools) -> None:
    told = replace(BYPASS, properties=(ArmProperty(name="addresses", value="apart"),))
    assert canary_findings(PROFILE, ARMS, tools).known(told) == told


def test_nothing_is_seen_of_a_bypass_that_does_not_act(tools: Tools) -> None:
    misspelt = replace(BYPASS, environment=Environment(set=(("POOL_OF", "1"),)))
    assert canary_findings(PROFILE, (ARMS[0], misspelt), tools).properties == {}
