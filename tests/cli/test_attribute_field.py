"""`attribute` on the field cases: each right answer, none that is false of its fault, and the true one in sight."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.command import diagnose, diagnose_in_words
from tests.cli.field_pool import ALL, FILLS, GREEN, OPEN, arms, check, fills, named_in, properties

BYPASS_AND_SERIAL = arms("bypass", "serial")
WITH_QUARANTINE = (*ALL, "--arm", "quarantine=FIELD_BYPASS=1")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCase:
    """A binary, how it is asked, what may be answered, and what must be among the candidates."""

    target: str
    options: tuple[str, ...] = ALL
    environment: tuple[tuple[str, str], ...] = ()
    right: tuple[str | None, ...]
    named: tuple[str, ...] = ()
    true: tuple[str, ...] = ()  # mechanisms beside the named that would be true, too


CASES = {
    "over-read": FieldCase(target="over_read", right=("carried-by-pool",), named=("access-past-end",)),
    "out of memory": FieldCase(target="out_of_memory", right=("carried-by-pool",), named=("memory-kept",)),
    "pool counters": FieldCase(target="pool_counters", right=("carried-by-pool",), named=("pool-state",)),
    "stale read in a case": FieldCase(
        target="in_case_stale_read", right=("unwritten-read",), named=("stale-read-in-case",)
    ),
    "stale read in a case, fills unknown": FieldCase(
        target="in_case_stale_read",
        options=arms("bypass", "exact", "per-case", "poison-n", "poison-0", "serial"),
        right=(OPEN,),
        named=("stale-read-in-case",),
    ),
    "stale read in a case, bypass and serial": FieldCase(
        target="in_case_stale_read", options=BYPASS_AND_SERIAL, right=(OPEN,), named=("stale-read-in-case",)
    ),
    "bypass that unmaps": FieldCase(target="bypass_unmaps", right=("no-arm",), true=("use-after-release",)),
    "bypass that leaks, as a quarantine": FieldCase(
        target="bypass_leaks", options=WITH_QUARANTINE, right=("reused-in-case",), named=("use-after-release",)
    ),
    "bypass that leaks, of unknown properties": FieldCase(
        target="bypass_leaks", right=(OPEN, "reused-in-case"), named=("use-after-release",)
    ),
    "bypass that protects": FieldCase(target="bypass_protects", right=(OPEN, "no-arm"), named=("use-after-release",)),
    "race in half of the runs": FieldCase(
        target="flaky_race",
        options=(*ALL, "--repeat", "25"),
        environment=(("ZOO_RATE", "0.5"),),
        right=("race", OPEN),
        true=("stream-race",),
    ),
    "race in 30 %": FieldCase(
        target="flaky_race", environment=(("ZOO_RATE", "0.3"),), right=("race", OPEN, GREEN), true=("stream-race",)
    ),
    **{
        f"frightening words, {word}": FieldCase(
            target="frightening_words", options=(), environment=(("FIELD_WORDS", word),), right=(GREEN,)
        )
        for word in "dfrnt"
    },
    "finite under glibc's fill": FieldCase(
        target="isfinite_under_poison", options=("--profile", "glibc"), right=(GREEN,)
    ),
}


@pytest.fixture
def zoo(examples_build: Path) -> Path:
    return examples_build.absolute() / "zoo"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_field_case_gets_its_right_answer(zoo: Path, tmp_path: Path, case: FieldCase) -> None:
    report = diagnose(*case.options, zoo / case.target, cwd=tmp_path, **dict(case.environment))
    check(report, case.right, (*case.named, *case.true))
    assert set(case.named) <= named_in(report)


def test_no_profile_is_taken_for_a_field_case(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(*ALL, zoo / "over_read", cwd=tmp_path)
    assert report["target"]["profile"] == "custom"


@pytest.mark.parametrize("target", ["out_of_memory", "bypass_protects"])
def test_what_a_hint_says_comes_first(zoo: Path, tmp_path: Path, target: str) -> None:
    first = {"out_of_memory": "memory-kept", "bypass_protects": "use-after-release"}[target]
    report = diagnose(*ALL, zoo / target, cwd=tmp_path)
    assert report["candidates"][0]["mechanism"] == first
    assert any(entry["kind"] == "hint" and first in entry["for"] for entry in report["witnesses"])


def test_no_handed_out_block_speaks_against_what_needs_one(zoo: Path, tmp_path: Path) -> None:
    report = diagnose(*ALL, zoo / "out_of_memory", cwd=tmp_path)
    against = {name for entry in report["witnesses"] if entry["kind"] == "fact" for name in entry["against"]}
    assert {"cross-device-reuse", "two-owners"} <= against
    assert "memory-kept" not in against


def test_a_use_after_release_is_not_excluded_by_a_bypass_that_unmaps(zoo: Path, tmp_path: Path) -> None:
    report, said = diagnose_in_words(*ALL, zoo / "bypass_unmaps", cwd=tmp_path)
    check(report, ("no-arm",), ())
    assert "after its release" in said.out or "after release" in said.out


def test_a_bypass_that_is_apart_is_said_to_be(zoo: Path, tmp_path: Path) -> None:
    known = (*arms("bypass", "poison-n", "poison-0", "serial"), *fills(), *properties("bypass", addresses="apart"))
    report = diagnose(*known, zoo / "bypass_leaks", cwd=tmp_path)
    check(report, ("reused-in-case",), ("use-after-release",))


@pytest.mark.parametrize("place", ["elsewhere/kernels.bin", "kernels.bin"])
def test_a_kernel_cache_is_not_told_as_chance(zoo: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    file = (folder if place == "kernels.bin" else tmp_path) / place
    report, said = diagnose_in_words(*ALL, zoo / "state_on_disk", cwd=folder, FIELD_KERNELS=str(file))
    check(report, (OPEN, "outside-state"), ())
    words = " ".join(said.out.split())
    assert "flakes" not in words
    if place == "kernels.bin":
        assert "kernels.bin" in words


def test_the_green_under_a_fill_that_is_finite_in_f32_says_so(zoo: Path, tmp_path: Path) -> None:
    report, said = diagnose_in_words("--profile", "glibc", zoo / "isfinite_under_poison", cwd=tmp_path)
    assert report["status"] == "green"
    assert "f32" in said.out


def test_a_green_says_what_it_excludes(zoo: Path, tmp_path: Path) -> None:
    report, said = diagnose_in_words(zoo / "frightening_words", cwd=tmp_path, FIELD_WORDS="dfr")
    assert report["status"] == "green"
    assert "is excluded (95 %)" in " ".join(said.out.split())


def test_the_fills_are_declared_as_a_user_would() -> None:
    assert fills()[:4] == ("--property", "poison-n.fills_on=hand-out", "--property", "poison-n.ordered=yes")
    assert FILLS == {"fills_on": "hand-out", "ordered": "yes"}
