from dataclasses import replace

from pooldiag.diagnose.notes import witnesses
from pooldiag.model.arms import Arm, Role
from pooldiag.model.attributions import Witness, WitnessKind
from pooldiag.model.counts import Finding
from pooldiag.model.outcomes import OutputFile
from pooldiag.model.readings import Reading, RunReading, Sight
from pooldiag.model.reports import ArmResult, Run
from tests.builders import census, green

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
