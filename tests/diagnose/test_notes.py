from pooldiag.diagnose.notes import witnesses
from pooldiag.model.attributions import Witness, WitnessKind
from tests.render.attribute_samples import SAMPLES


def test_findings_of_the_baselines_outputs_are_hints_each_told_once_with_its_rule() -> None:
    assert witnesses(SAMPLES["silent"].arms) == (
        Witness(
            id="census",
            kind=WitnessKind.HINT,
            text="video.bin, audio.bin: one pattern everywhere: the bf16 canonical NaN, widened",
            source="census rule widened-bf16-nan, confidence: high",
        ),
    )
    assert witnesses(SAMPLES["silent"].arms[1:]) == ()
    assert witnesses(()) == ()
