"""Rules over a census: what is said, and what is not."""

import pytest

from pooldiag.census.findings import RULES, findings
from pooldiag.model.census import Census, PatternCount


def uniform(dtype: str, bits: str, n: int = 1024) -> Census:
    return Census(path="x", dtype=dtype, sha256="", n=n, nan=n, nan_patterns=(PatternCount(bits=bits, count=n),))


def rules(census: Census) -> list[str]:
    return [finding.rule for finding in findings(census)]


@pytest.mark.parametrize(
    ("dtype", "bits"), [("f32", "0x7fffffff"), ("f32", "0x7fff0000"), ("bf16", "0x7fff"), ("f16", "0x7fff")]
)
def test_one_nan_everywhere_as_nvidia_writes_it_is_said_with_its_limit(dtype: str, bits: str) -> None:
    first, second = findings(uniform(dtype, bits))
    assert (first.rule, second.rule) == ("uniform-nan", "nvidia-nan")
    assert f"all 1024 elements are NaN with one pattern, {bits}" in first.text
    assert "upstream is not excluded" in first.text
    assert "NVIDIA" in second.text
    assert "where the first NaN was born, the pattern does not say" in second.text
    assert "medium for the origin" in second.confidence


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("f32", "0x7fc00000"),
        ("f32", "0xffc00000"),
        ("bf16", "0xffff"),
        ("f64", "0x7fffffffffffffff"),
        ("f16", "0x7e00"),
    ],
)
def test_one_nan_everywhere_of_another_maker_is_not_called_nvidias(dtype: str, bits: str) -> None:
    assert rules(uniform(dtype, bits)) == ["uniform-nan"]


def test_one_finite_element_among_them_and_nothing_is_said() -> None:
    bits = (PatternCount(bits="0x7fff0000", count=1023),)
    assert rules(Census(path="x", dtype="f32", sha256="", n=1024, nan=1023, nan_patterns=bits)) == []


def test_two_patterns_and_nothing_is_said() -> None:
    bits = (PatternCount(bits="0x7fff0000", count=1000), PatternCount(bits="0x7fc00000", count=24))
    assert rules(Census(path="x", dtype="f32", sha256="", n=1024, nan=1024, nan_patterns=bits)) == []


def test_nothing_is_said_about_no_elements() -> None:
    assert rules(Census(path="x", dtype="f32", sha256="", n=0)) == []


def test_every_rule_has_a_name_of_its_own_and_a_confidence() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.confidence for rule in RULES)
