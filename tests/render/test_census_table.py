import re
from dataclasses import replace

from pooldiag.model.censuses import CensusReport
from pooldiag.model.comparisons import Sameness
from pooldiag.render import Page, render
from tests.render.census_samples import NORMAL, REPORTS, compared, counted, told, video
from tests.render.samples import plain


def shown(report: CensusReport, width: int = 80) -> str:
    return render(report, form="table", page=Page(width=width))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_each_finding_has_its_confidence_its_limits_and_its_source() -> None:
    text = in_one_line(plain("census-video", 80))
    assert (
        "- nvidia-nan (high for the pattern, medium for the origin): 0x7fff0000 is bf16 0x7fff widened to f32" in text
    )
    assert "GPUs erase payloads: where the first NaN was born, the pattern does not say. Source: CUDA C++" in text
    assert "Garbage read upstream is not excluded" in text


def test_an_integer_type_has_no_counts_of_nan() -> None:
    (integers,) = (one for one in REPORTS["census-several"].files if one.census.dtype == "i32")
    text = shown(CensusReport(files=(integers,)))
    assert not re.search(r"\n(NaN|Infinity|Subnormal) ", text)
    assert "\nRange    -4 at 0 to 59 at 63; absmax 59 at 63\n" in text


def test_only_tensors_of_which_there_is_something_to_tell_are_told_whole() -> None:
    text = plain("census-several", 140)
    assert "\nmodel.npz::layers.1.weight\n  Type " in text
    assert "\nvideo.bin\n  Type " in text
    assert "\nmodel.npz::layers.0.weight\n" not in text
    assert "\nids.bin\n" not in text


def test_no_more_tensors_are_told_whole_than_can_be_read() -> None:
    report = CensusReport(files=tuple(told(replace(video(), path=f"{number}.bin")) for number in range(11)))
    text = shown(report)
    assert text.count("What it shows") == 8
    assert "\n3 more of which there is something to tell: name one, or --json tells them all.\n" in text


def test_a_share_is_neither_rounded_to_all_nor_to_nothing() -> None:
    census = replace(video(), n=10**7, nan=10**7 - 1, blocks=None)
    assert "NaN        9999999/10000000 (99.9 %)" in shown(CensusReport(files=(told(census),)))
    census = replace(video(), n=10**7, nan=1, blocks=None)
    assert "NaN        1/10000000 (1e-05 %)" in shown(CensusReport(files=(told(census),)))


def test_many_patterns_are_counted() -> None:
    values = NORMAL[:64].copy()
    values.view("<u4")[:20] = range(0x7F800001, 0x7F800015)
    report = CensusReport(files=(told(counted(values.tobytes(), "f32", path="x")),))
    assert "12 more\n" in shown(report)
    cut = replace(report.files[0].census, nan_patterns_complete=False)
    assert "more than 12 others" in in_one_line(shown(CensusReport(files=(told(cut),))))


def test_where_they_are_is_drawn_in_the_place_of_the_rows() -> None:
    lines = plain("census-tile", 80).splitlines()
    (fourth,) = (line for line in lines if line.startswith("   [3, 0] "))
    assert fourth == "   [3, 0] " + "·" * 32 + "▓" * 16 + "·" * 16
    (infinite,) = (line for line in lines if "∞·" in line)
    assert infinite.startswith("  [6, 12] ·····∞")
    assert "░ to ▓ some NaN, · none, ∞ infinity, no NaN; a cell is 12 rows x 1 column" in plain("census-tile", 80)


def test_without_unicode_a_picture_is_ascii() -> None:
    text = render(REPORTS["census-tile"], form="table", page=Page(width=80, unicode=False))
    assert text.isascii()
    assert "   [3, 0] " + "." * 32 + "*" * 16 + "." * 16 in text


def test_other_bits_of_the_same_value_are_told_and_are_no_difference() -> None:
    nan, other = NORMAL.copy(), NORMAL.copy()
    nan.view("<u4")[3], other.view("<u4")[3] = 0x7FC00000, 0x7FFFFFFF
    one = compared(nan, other, path="a", ref="b")
    assert one.comparison is not None
    assert one.comparison.sameness is Sameness.NAN_BITS
    assert not one.differs
    text = in_one_line(shown(CensusReport(files=(one,), reference="b")))
    assert "Equal but for the bits of NaN, 12288 elements against b." in text
    assert "Bits 1/12288 (0.0081 %) differ, 1 within NaN, 0 signs of zero" in text


def test_a_reference_of_another_size_is_a_difference() -> None:
    one = compared(NORMAL[:8], NORMAL[:9], path="a", ref="b")
    assert one.differs
    assert shown(CensusReport(files=(one,), reference="b")).startswith("Different: a is not as b")


def test_the_next_command_can_be_copied() -> None:
    lines = plain("census-suspected", 80).splitlines()
    assert lines[lines.index("Next (to see which type fits):") + 1] == "pooldiag census --guess video.bin"


def test_guesses_are_told_best_first_with_what_speaks_against_them() -> None:
    text = plain("census-guess", 140)
    best = text.index("  f32 little ")
    assert best < text.index("  u8 ") < text.index("  bf16 little ")
    assert "NaN of 40 patterns; 10387/24576 unusual" in text
    assert "That the file was written as such does not follow." in in_one_line(text)
