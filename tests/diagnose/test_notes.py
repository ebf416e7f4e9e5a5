from dataclasses import replace

import pytest

from pooldiag.diagnose.notes import notes, witnesses
from pooldiag.model.arms import Arm, ArmProperty, Role
from pooldiag.model.attributions import Witness, WitnessKind
from pooldiag.model.counts import Finding
from pooldiag.model.outcomes import OutputFile
from pooldiag.model.readings import Reading, RunReading, Sight
from pooldiag.model.reports import ArmResult, Run
from tests.builders import census, green
from tests.played.commands import settings_of
from tests.played.suite import PlayedSuite
from tests.played.world import World

ONE_PATTERN = Finding(rule="canonical-nan", text="one pattern everywhere", confidence="high")


def result(role: Role, *paths: str) -> ArmResult:
    """An arm with one run, in whose outputs the rule sees its pattern."""
    outputs = tuple(OutputFile(path=path, census=replace(census(path), findings=(ONE_PATTERN,))) for path in paths)
    read = RunReading(run="01", reading=Reading.RED)
    absent = OutputFile(path="lost.bin", problem="absent")
    run = Run(id="01", arm=Arm(role=role), outcome=green(outputs=(*outputs, absent)), reading=read, seconds=0.1)
    return ArmResult(arm=run.arm, acted=None, why="a test", runs=(run,), sights=(Sight.SAME_RED,), shown=run)


def test_findings_of_the_baselines_outputs_are_hints_each_told_once_with_its_rule() -> None:
    assert witnesses((result(Role.BASELINE, "video.bin", "audio.bin"), result(Role.BYPASS, "image.bin"))) == (
        Witness(
            id="census",
            kind=WitnessKind.HINT,
            text="video.bin, audio.bin: one pattern everywhere",
            source="census rule canonical-nan, confidence: high",
        ),
    )
    assert witnesses((result(Role.BASELINE), result(Role.BYPASS, "image.bin"))) == ()
    assert witnesses(()) == ()


@pytest.mark.parametrize(
    ("nan_in", "sights", "told"),
    [
        (
            "f16,e4m3fn",
            (Sight.GREEN,),
            ["poison-n: its fill is a NaN in f16,e4m3fn; its green is not a proof for f64, f32, bf16"],
        ),
        (
            "none",
            (Sight.GREEN,),
            ["poison-n: its fill is a NaN in none; its green is not a proof for f64, f32, bf16, f16"],
        ),
        ("f64,f32,f16,bf16", (Sight.GREEN,), []),
        ("f16", (Sight.SAME_RED,), []),
        (None, (Sight.GREEN,), []),
    ],
)
def test_a_green_under_a_fill_that_is_a_number_in_some_types_is_no_proof_for_these(
    nan_in: str | None, sights: tuple[Sight, ...], told: list[str]
) -> None:
    known = () if nan_in is None else (ArmProperty(name="nan_in", value=nan_in),)
    shown = replace(result(Role.POISON_N), arm=Arm(role=Role.POISON_N, properties=known), sights=sights)
    world = World(PlayedSuite())
    said = notes((result(Role.BASELINE), shown), settings_of(world), world.framework)
    assert [note for note in said if "its fill" in note] == told
