"""Rules over a census: what is said, with its limit, and what is not."""

import io
import random
import re
import struct
from dataclasses import replace

import numpy as np
import pytest

from pooldiag.census.file_counts import take_census
from pooldiag.census.findings import RULES, findings
from pooldiag.census.layouts import LAYOUTS
from pooldiag.model.counts import Census, Finding, PatternCount

GENERATOR = np.random.default_rng(11)
NORMAL = GENERATOR.standard_normal(2**17)
RANDOM = GENERATOR.bytes(2**19)


def of(data: bytes, dtype: str) -> Census:
    return take_census(io.BytesIO(data), path="x", layout=LAYOUTS[dtype])


def of_bits(bits: int, dtype: str, n: int = 1024) -> Census:
    return of(np.full(n, bits, f"<u{LAYOUTS[dtype].item_bytes}").tobytes(), dtype)


def rules(census: Census) -> list[str]:
    return [finding.rule for finding in census.findings]


def finding(rule: str, census: Census) -> Finding:
    (found,) = [each for each in census.findings if each.rule == rule]
    return found


@pytest.mark.parametrize(
    ("dtype", "bits"), [("f32", 0x7FFFFFFF), ("f32", 0x7FFF0000), ("bf16", 0x7FFF), ("f16", 0x7FFF)]
)
def test_one_nan_everywhere_as_nvidia_writes_it_is_said_with_its_limit(dtype: str, bits: int) -> None:
    first, second = of_bits(bits, dtype).findings[:2]
    assert (first.rule, second.rule) == ("uniform-nan", "nvidia-nan")
    assert f"all 1024 elements are NaN with one pattern, {bits:#x}" in first.text
    assert "upstream is not excluded" in first.text
    assert "Count the inputs of this tensor next" in first.text
    assert "NVIDIA" in second.text
    assert "where the first NaN was born, the pattern does not say" in second.text
    assert "medium for the origin" in second.confidence


def test_the_story_video_read_as_its_type_and_as_narrower_ones() -> None:
    video = struct.pack("<I", 0x7FFF0000) * 1024
    assert rules(of(video, "f32")) == ["uniform-nan", "nvidia-nan"]
    as_bf16 = of(video, "bf16")
    assert rules(as_bf16) == ["strided-nan"]
    assert "every element whose index modulo 2 is 1 is NaN, and no other" in as_bf16.findings[0].text
    assert "Try f32 or i32" in as_bf16.findings[0].text
    assert "Interleaved data" in as_bf16.findings[0].text
    assert "Try f32" in finding("strided-nan", of(video, "e4m3fn")).text


@pytest.mark.parametrize(
    ("dtype", "bits", "rule"),
    [
        ("f32", 0xFFC00000, "x86-nan"),
        ("f16", 0xFE00, "x86-nan"),
        ("bf16", 0xFFC0, "x86-nan"),
        ("f64", 0xFFF8000000000000, "x86-or-cuda-nan"),
        ("f32", 0x7FC00000, "plain-nan"),
        ("f64", 0x7FF8000000000000, "plain-nan"),
        ("f16", 0x7E00, "plain-nan"),
        ("bf16", 0x7FC0, "plain-nan"),
        ("bf16", 0xFFFF, "all-ones-nan"),
        ("f32", 0xFFFF0000, "all-ones-nan"),
    ],
)
def test_one_nan_everywhere_of_another_maker_is_told_by_its_rule(dtype: str, bits: int, rule: str) -> None:
    assert rules(of_bits(bits, dtype)) == ["uniform-nan", rule]
    beside = np.ones(1000, "<f4").astype("<f8" if dtype == "f64" else "<f2" if dtype == "f16" else "<f4")
    if dtype != "bf16":
        patterns = beside.view(f"<u{beside.itemsize}")
        patterns[[3, 500]] = bits
        assert rules(of(patterns.tobytes(), dtype)) == [rule]


@pytest.mark.parametrize(("dtype", "bits"), [("f64", 0x7FFFFFFFFFFFFFFF), ("f32", 0x7FC00001), ("e5m2", 0x7F)])
def test_a_nan_that_no_maker_is_known_for_is_not_given_one(dtype: str, bits: int) -> None:
    assert rules(of_bits(bits, dtype)) == ["uniform-nan"]


def test_one_finite_element_or_another_pattern_among_them_and_nothing_is_said() -> None:
    patterns = np.full(1024, 0x7FFF0000, "<u4")
    patterns[7] = 0x3F800000
    assert rules(of(patterns.tobytes(), "f32")) == []
    patterns[7] = 0x7FFF0001
    assert rules(of(patterns.tobytes(), "f32")) == []


def test_nothing_is_said_about_no_elements() -> None:
    assert {rule for name in LAYOUTS for rule in rules(of(b"", name))} == set()


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_random_bytes_are_raw_bytes(dtype: str) -> None:
    found = of(RANDOM, dtype)
    assert rules(found) == ["raw-bytes", *(["signalling-nan"] if dtype != "f64" else [])]
    assert re.search(rf"NaN, of \d+ patterns: random bytes read as {dtype} have", found.findings[0].text)


@pytest.mark.parametrize("dtype", ["e4m3fn", "e5m2"])
def test_random_bytes_of_a_type_with_few_nan_patterns_are_raw_bytes_with_less_certainty(dtype: str) -> None:
    found = of(RANDOM, dtype)
    assert rules(found) == ["raw-bytes-small-type"]
    assert found.findings[0].confidence.startswith("medium")


@pytest.mark.parametrize("dtype", ["e4m3fnuz", "e5m2fnuz", "e8m0", "e2m1", "i8", "u16", "i32", "u64", "bool"])
def test_random_bytes_of_a_type_with_one_nan_pattern_or_none_say_nothing(dtype: str) -> None:
    assert rules(of(RANDOM, dtype)) == []


WIDER = {
    "f64": NORMAL.astype("<f8"),
    "f64 of f32 values": NORMAL.astype("<f4").astype("<f8"),
    "f32": NORMAL.astype("<f4"),
    "f16": NORMAL.astype("<f2"),
    "bf16": (NORMAL.astype("<f4").view("<u4") >> 16).astype("<u2"),
    "i32": GENERATOR.integers(0, 50_000, 2**17).astype("<i4"),
}


@pytest.mark.parametrize(
    ("data", "dtype", "wider"),
    [
        ("f32", "bf16", "f32"),
        ("f32", "f16", "f32"),
        ("f64", "f32", "f64"),
        ("f64", "bf16", "f64"),
        ("f64", "f16", "f64"),
        ("f64 of f32 values", "bf16", "f64"),
        ("f64 of f32 values", "f16", "f64"),
        ("i32", "bf16", "f32 or i32"),
    ],
)
def test_a_wider_type_read_as_a_narrower_one_is_suspected_and_named(data: str, dtype: str, wider: str) -> None:
    found = finding("wider-type", of(WIDER[data].tobytes(), dtype))
    assert f"Try {wider}" in found.text
    assert found.confidence == "very high"


@pytest.mark.parametrize(
    ("data", "dtype", "wider"),
    [
        ("f32", "e4m3fn", "f32"),
        ("f32", "e5m2", "f32"),
        ("f64", "e4m3fn", "f64"),
        ("bf16", "e4m3fn", "bf16, f16 or i16"),
        ("bf16", "e5m2fnuz", "bf16, f16 or i16"),
        ("f16", "e5m2", "bf16, f16 or i16"),
    ],
)
def test_a_wider_type_is_less_sure_where_few_patterns_are_nan(data: str, dtype: str, wider: str) -> None:
    found = finding("wider-small-type", of(WIDER[data].tobytes(), dtype))
    assert f"Try {wider}" in found.text
    assert found.confidence.startswith("medium")


@pytest.mark.parametrize("bits", [0x7FC00000, 0x7FFF0000, 0xFFC00000])
def test_a_column_of_nan_is_no_wider_type(bits: int) -> None:
    patterns = NORMAL.astype("<f4").view("<u4").reshape(-1, 512).copy()
    patterns[:, 0] = bits
    assert "wider-type" not in rules(of(patterns.tobytes(), "f32"))


def test_a_column_of_many_quiet_nan_is_no_wider_type() -> None:
    patterns = NORMAL.astype("<f4").view("<u4").reshape(-1, 512).copy()
    patterns[:, 0] = 0x7FC00000 + np.arange(len(patterns))
    assert "wider-type" not in rules(of(patterns.tobytes(), "f32"))


def test_a_file_that_states_its_type_is_not_told_to_be_read_as_another() -> None:
    found = replace(of(WIDER["f32"].tobytes(), "f16"), format="npy")
    (said,) = [each for each in findings(found) if each.rule == "wider-type"]
    assert "But npy says itself of what type it is" in said.text
    assert "Try" not in said.text


def test_a_wider_type_in_big_endian_order_is_suspected_too() -> None:
    data = WIDER["f32"].astype(">f4").tobytes()
    found = take_census(io.BytesIO(data), path="x", layout=LAYOUTS["bf16"], byte_order="big")
    assert "indices modulo 2 are 1 only" in finding("wider-type", found).text


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_numbers_read_as_what_they_are_say_nothing(dtype: str) -> None:
    assert rules(of(WIDER[dtype].tobytes(), dtype)) == []


def test_few_nan_do_not_make_a_wider_type() -> None:
    assert "wider-type" not in rules(of(WIDER["f32"][:10_000].tobytes(), "bf16"))


def test_few_nan_do_not_make_a_type_eight_times_as_wide() -> None:
    found = of(WIDER["f64"][:1200].tobytes(), "e4m3fn")
    assert 50 < found.nan < 100
    assert "wider-type" not in rules(found)


def test_many_patterns_that_are_all_quiet_are_no_raw_bytes() -> None:
    patterns = WIDER["bf16"].copy()
    patterns[::250] = 0x7FC0 + np.arange(patterns[::250].size) % 64
    assert "raw-bytes" not in rules(of(patterns.tobytes(), "bf16"))


def test_random_bytes_with_nan_at_both_parities_are_no_wider_type() -> None:
    for seed in range(50):
        assert "wider-type" not in rules(of(random.Random(seed).randbytes(40_000), "bf16"))


def test_signalling_nan_are_no_arithmetic() -> None:
    patterns = NORMAL.astype("<f4").view("<u4").copy()
    patterns[[1, 5]] = [0x7F800001, 0x7FC00000]
    found = finding("signalling-nan", of(patterns.tobytes(), "f32"))
    assert "1 of 2 NaN are signalling" in found.text
    assert "pass an existing one through" in found.text


def rows_with_nan(*rows: int, columns: int = 96) -> bytes:
    values = NORMAL[: 100 * columns].astype("<f4").reshape(100, columns)
    values[list(rows)] = np.nan
    return values.tobytes()


def test_rows_of_nan_are_unwritten_or_overwritten() -> None:
    found = finding("aligned-nan", of(rows_with_nan(3, 4, 50), "f32"))
    assert "NaN of 1 pattern in 2 runs, the longest of 192 elements" in found.text
    assert "multiples of 96" in found.text


def test_runs_of_nan_at_odd_places_are_no_rows() -> None:
    values = NORMAL[:9600].astype("<f4")
    values[101:300] = np.nan
    assert "aligned-nan" not in rules(of(values.tobytes(), "f32"))


@pytest.mark.parametrize("place", [slice(0, 192), slice(6400, None)])
def test_one_run_that_touches_an_end_is_aligned_only_where_rows_are_known(place: slice) -> None:
    values = NORMAL[:9600].astype("<f4")
    values[place] = np.nan
    found = of(values.tobytes(), "f32")
    assert "aligned-nan" not in rules(found)
    assert "aligned-nan" in [each.rule for each in findings(replace(found, shape=(150, 64)))]
    assert "aligned-nan" not in [each.rule for each in findings(replace(found, shape=(32, 300)))]


def test_one_run_within_is_aligned_by_both_its_ends() -> None:
    values = NORMAL[:9600].astype("<f4")
    values[640:1280] = np.nan
    assert "aligned-nan" in rules(of(values.tobytes(), "f32"))


def test_scattered_nan_beside_infinities_and_huge_values_are_an_overflow() -> None:
    values = NORMAL[:9600].astype("<f2")
    values[[5, 700, 7001]] = np.nan
    values[[6, 9]] = [60_000, np.inf]
    found = finding("overflow", of(values.tobytes(), "f16"))
    assert "3 scattered NaN of one pattern beside 1 infinity and finite values up to 6e+04" in found.text
    values[6] = 1
    assert "overflow" not in rules(of(values.tobytes(), "f16"))


@pytest.mark.parametrize(
    ("dtype", "bits", "maker"),
    [
        ("f32", 0xCDCDCDCD, "CPython's debug allocator or the MSVC debug CRT"),
        ("f64", 0xBEBEBEBEBEBEBEBE, "AddressSanitizer"),
        ("f32", 0xDEADBEEF, "0xdeadbeef"),
        ("f64", 0xBAADF00DBAADF00D, "Windows' debug heap"),
        ("f32", 0xFEEEFEEE, "Windows' debug heap"),
        ("f32", 0xFFFFFFFF, "memset(-1)"),
        ("f16", 0x7F7F, "memset(0x7f)"),
        ("f32", 0x21212121, "glibc's MALLOC_PERTURB_"),
    ],
)
def test_a_fill_is_told_with_who_writes_it(dtype: str, bits: int, maker: str) -> None:
    values = NORMAL.astype({"f64": "<f8", "f32": "<f4"}.get(dtype, "<f2")).view(f"<u{LAYOUTS[dtype].item_bytes}")
    patterns = values[:60_000].copy()
    patterns[16_384:40_000] = bits
    found = finding("fill", of(patterns.tobytes(), dtype))
    assert maker in found.text
    assert f"23616 of 60000 elements are {LAYOUTS[dtype].text(bits)}" in found.text
    assert found.confidence == "high"
    assert "so memory that was never written, or freed" in found.text


def test_the_same_pattern_all_over_the_place_is_no_fill() -> None:
    patterns = NORMAL[:60_000].astype("<f4").view("<u4")
    patterns[::3] = 0xCDCDCDCD
    assert rules(of(patterns.tobytes(), "f32")) == []


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("i64", 2**64 - 1),
        ("u8", 0xFF),
        ("i32", 0x7FFFFFFF),
        ("e4m3fn", 0xCD),
        ("i16", 0xABAB),
        ("bf16", 0x4040),
        ("bf16", 0xA5A5),
        ("f16", 0x4242),
    ],
)
def test_a_fill_that_may_be_a_value_is_told_with_little_certainty(dtype: str, bits: int) -> None:
    (found,) = of_bits(bits, dtype, n=10_000).findings
    assert (found.rule, found.confidence.partition(":")[0]) == ("fill-or-value", "low")
    assert "or a value like any other" in found.text
    assert "never written" not in found.text


@pytest.mark.parametrize(("dtype", "bits"), [("f32", 0xCDCDCDCD), ("f32", 0xFFFFFFFF), ("f64", 0x4141414141414141)])
def test_a_short_fill_is_told_with_little_certainty(dtype: str, bits: int) -> None:
    found = of_bits(bits, dtype, n=512).findings
    assert [(each.rule, each.confidence) for each in found] == [("short-fill", "low: it is 4 KiB or less")]
    assert "never written" not in found[0].text
    assert rules(of_bits(bits, dtype, n=1025)) == ["fill"]


@pytest.mark.parametrize("dtype", ["f64", "f32", "bf16", "i32", "u8"])
@pytest.mark.parametrize("n", [1, 2, 15])
def test_a_few_elements_are_no_fill_and_not_uniform(dtype: str, n: int) -> None:
    for pattern in (0xFF, 0x7F, 0xCD, 0x40):
        said = rules(of(bytes([pattern]) * (n * LAYOUTS[dtype].item_bytes), dtype))
        assert not {"uniform-nan", "fill", "short-fill", "fill-or-value"} & set(said)


def test_a_few_elements_as_nvidia_writes_them_are_told_as_such() -> None:
    assert rules(of_bits(0x7FFF0000, "f32", n=1)) == ["nvidia-nan"]


def test_an_ordinary_constant_is_no_fill() -> None:
    assert [rules(of_bits(bits, "f32")) for bits in (0x3F800000, 0xBF800000, 0x01020304)] == [[], [], []]


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i32", "e2m1"])
def test_nothing_but_zeros_may_be_unwritten(dtype: str) -> None:
    assert rules(of(bytes(4096), dtype)) == ["zeros"]
    assert rules(of(b"\x01" + bytes(4095), dtype)) == []


def test_many_negative_zeros_in_bf16_may_be_laundered_nan() -> None:
    patterns = WIDER["bf16"].copy()
    patterns[::90] = 0x8000
    assert rules(of(patterns.tobytes(), "bf16")) == ["laundered-nan"]
    patterns = WIDER["bf16"].copy()
    patterns[::200] = 0x8000
    assert rules(of(patterns.tobytes(), "bf16")) == []


def test_every_rule_says_what_it_is_called_how_sure_it_is_where_it_is_from_and_what_it_does_not_say() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.confidence and rule.provenance and rule.limits for rule in RULES)


def test_a_type_without_a_layout_has_findings_without_one() -> None:
    bits = (PatternCount(bits="0x7e00", count=16),)
    assert [
        finding.rule for finding in findings(Census(path="x", dtype="q4_0", sha256="", n=16, nan=16, nan_patterns=bits))
    ] == ["uniform-nan"]
