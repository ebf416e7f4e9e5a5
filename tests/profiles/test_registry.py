"""The packaged profiles, and which one a target is taken for."""

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import pooldiag.profiles
from pooldiag.census.layouts import LAYOUTS
from pooldiag.model.arm_properties import FLOATS_WITH_NAN, NOWHERE, PROPERTIES
from pooldiag.model.arms import SWITCHED_ROLES, AllocatorProfile, CounterRule, Isolation, Role
from pooldiag.model.runs import Environment
from pooldiag.profiles import NO_PROFILE, PROFILES, PackagedProfiles, arms_of, inherited_changes, markers, recognise

OF_EVERY_TARGET = (Role.ISOLATE, Role.FRESH_STATE, Role.USED_STATE, Role.PLACEBO)
FOLDER = Path(pooldiag.profiles.__file__).parent


def profile(name: str, *marks: str) -> AllocatorProfile:
    return AllocatorProfile(name=name, title=name, source="a test", markers=marks, variables=marks)


def test_every_profile_file_is_in_the_registry_and_has_a_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml") if not path.stem.startswith("_")} == set(PROFILES)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_packaged_profile_passes_the_loader_and_can_be_recognised_alone(name: str) -> None:
    loaded = PROFILES[name]
    assert loaded.name == name
    assert bool(loaded.arms) is (loaded.no_switch is None)
    for marker in (*loaded.markers, *loaded.symbols):
        assert recognise(frozenset({marker.encode()})) is loaded


@pytest.mark.parametrize("name", ["glibc", "python", "tcmalloc-debug", "jax", "numpy"])
def test_what_is_in_every_program_or_in_none_is_taken_only_when_asked_for(name: str) -> None:
    assert not (*PROFILES[name].markers, *PROFILES[name].symbols)


def test_an_instrumented_program_is_asked_about_its_own_pool_first() -> None:
    assert recognise(frozenset({b"__asan_init"})) is PROFILES["asan"]
    assert recognise(frozenset({b"__asan_init", b"VT_POOL_EXACT"})) is PROFILES["vt"]


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_arm_says_where_it_was_read_and_off_means_unset(name: str) -> None:
    explicit = {"dali", "quda", "omp-offload", "level-zero", "tinygrad", "tcmalloc-debug", "paddle", "vt"}
    for arm in PROFILES[name].arms:
        assert arm.source
        assert arm.confidence is not None
        assert name in explicit or all(value != "0" for _, value in arm.environment.set)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_the_variables_of_a_profile_never_reach_the_baseline(name: str) -> None:
    loaded = PROFILES[name]
    environ = dict.fromkeys(loaded.variables, "1")
    assert {removed for removed, _ in inherited_changes(environ, loaded)} == set(loaded.variables)


@pytest.mark.parametrize("name", sorted(set(PROFILES) - {"vt"}))
def test_the_variables_of_known_allocators_are_removed_whatever_the_profile(name: str) -> None:
    """What only prints stays, and so does what a target may not start without."""
    printing = {variable for variable, _ in PROFILES[name].stats.set}
    kept = {"ASAN_OPTIONS", "LD_PRELOAD", "LRU", "DALI_USE_VMM", "NEOReadDebugKeys"}
    environ = dict.fromkeys(set(PROFILES[name].variables) - printing - kept, "1")
    assert {removed for removed, _ in inherited_changes(environ, NO_PROFILE)} == set(environ)


@pytest.mark.parametrize("name", ["glibc", "tcmalloc-debug", "asan", "python"])
def test_every_arm_of_a_profile_that_is_tested_here_has_a_canary(name: str) -> None:
    loaded = PROFILES[name]
    assert loaded.canary is not None
    assert {rule.role for rule in loaded.canary.rules} == {arm.role for arm in loaded.arms}


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_no_packaged_profile_mentions_a_place_on_some_machine(name: str) -> None:
    text = (files(pooldiag.profiles) / f"{name}.toml").read_text(encoding="utf-8")
    assert not re.search(r"/(home|work|tmp|root)/", text)


def test_a_profile_is_read_once_and_only_when_asked_for() -> None:
    lazy = PackagedProfiles(("vt", "absent"))
    assert "absent" in lazy  # its file does not exist: asking for the name must not read it
    assert list(lazy) == ["vt", "absent"]
    assert len(lazy) == 2
    assert lazy["vt"] is lazy["vt"]
    assert "jemalloc" not in lazy
    with pytest.raises(KeyError):
        lazy["_inherited"]


def test_vt_plays_every_role_that_needs_a_switch_with_the_switches_of_the_pool() -> None:
    switches = {arm.role: dict(arm.environment.set) for arm in PROFILES["vt"].arms}
    assert switches == {
        Role.BYPASS: {"VT_POOL_BYPASS": "1"},
        Role.EXACT: {"VT_POOL_EXACT": "1"},
        Role.PER_CASE: {"VT_POOL_PER_CASE": "1"},
        Role.POISON_N: {"VT_POOL_BYPASS": "1", "VT_POOL_POISON": "255"},
        Role.POISON_0: {"VT_POOL_POISON": "0"},
        Role.SERIAL: {"VT_POOL_SERIAL": "1"},
        Role.QUARANTINE: {"VT_POOL_QUARANTINE": "1"},
        Role.GUARD: {"VT_POOL_GUARD": "1"},
        Role.PAD: {"VT_POOL_PAD": "1"},
    }
    assert set(switches) == set(SWITCHED_ROLES)


def test_vt_proves_that_the_free_list_is_gone_where_it_has_to_be_gone() -> None:
    proofs = {arm.role: arm.proof for arm in PROFILES["vt"].arms if arm.proof is not None}
    assert proofs == {
        Role.BYPASS: CounterRule(counter="hits", equals=0),
        Role.POISON_N: CounterRule(counter="hits", equals=0, sufficient=False),
        Role.QUARANTINE: CounterRule(counter="hits", equals=0),
    }


@pytest.mark.parametrize(
    ("line", "hits", "misses"),
    [
        ("[devicepool] hits=3 misses=14 classes=2", "3", "14"),
        ("[DevicePool backend=0x55d0] hits=12 misses(cudaMalloc)=7 hit-rate=63.16% distinct-classes=4", "12", "7"),
        ("hits=0", "0", None),
        ("cache_hits=5 page-misses=2 hit-rate=0.5", None, None),
        ("hits=none", None, None),
    ],
)
def test_vt_counters_read_what_the_pools_print(line: str, hits: str | None, misses: str | None) -> None:
    found = {counter.name: re.search(counter.pattern, line) for counter in PROFILES["vt"].counters}
    assert {name: match and match[1] for name, match in found.items()} == {"hits": hits, "misses": misses}


def test_arms_come_in_the_order_of_the_table_and_all_print_the_counters() -> None:
    arms = arms_of(PROFILES["vt"])
    assert [arm.role for arm in arms] == [
        Role.BASELINE,
        Role.BYPASS,
        Role.EXACT,
        Role.PER_CASE,
        Role.POISON_N,
        Role.POISON_0,
        Role.SERIAL,
        Role.QUARANTINE,
        Role.GUARD,
        Role.PAD,
        *OF_EVERY_TARGET,
    ]
    assert all(dict(arm.environment.set)["VT_POOL_STATS"] == "1" for arm in arms)
    assert all(arm.shared == ("VT_POOL_STATS",) for arm in arms)
    assert dict(arms[1].environment.set) == {"VT_POOL_STATS": "1", "VT_POOL_BYPASS": "1"}


def test_what_every_run_sets_is_under_every_arm_and_an_arm_can_set_it_anew() -> None:
    asan = {arm.role: dict(arm.environment.set)["ASAN_OPTIONS"] for arm in arms_of(PROFILES["asan"])}
    assert asan[Role.BASELINE] == asan[Role.ISOLATE]
    assert "quarantine_size_mb=0:" in asan[Role.BASELINE]
    assert "quarantine_size_mb=256:" in asan[Role.BYPASS]
    assert all(arm.shared == () for arm in arms_of(PROFILES["asan"]))


def test_only_the_isolating_arm_runs_cases_alone() -> None:
    assert [arm.role for arm in arms_of(PROFILES["vt"]) if arm.isolation is Isolation.ALONE] == [Role.ISOLATE]


def test_a_target_without_a_known_allocator_has_the_arms_of_every_target() -> None:
    arms = arms_of(NO_PROFILE)
    assert [arm.role for arm in arms] == [Role.BASELINE, *OF_EVERY_TARGET]
    assert {arm.environment for arm in arms[:2]} == {Environment()}


def test_markers_of_all_profiles_are_looked_for_as_bytes() -> None:
    assert markers({"a": profile("a", "A_ONE"), "b": profile("b", "B_ONE", "A_ONE")}) == {b"A_ONE", b"B_ONE"}


def test_the_profile_with_the_most_markers_found_is_taken() -> None:
    known = {"a": profile("a", "SHARED", "A_ONLY"), "b": profile("b", "SHARED", "B_ONE", "B_TWO")}
    assert recognise(frozenset({b"SHARED", b"B_TWO"}), known) is known["b"]
    assert recognise(frozenset({b"SHARED"}), known) is known["a"]  # the first of equals


def test_a_symbol_is_looked_for_and_counts_where_no_marker_was_found() -> None:
    by_symbol = replace(profile("a"), symbols=("a_init",))
    known = {"a": by_symbol, "b": profile("b", "B_ONE")}
    assert markers(known) == {b"a_init", b"B_ONE"}
    assert recognise(frozenset({b"a_init"}), known) is by_symbol
    assert recognise(frozenset({b"a_init", b"B_ONE"}), known) is known["b"]


def test_nothing_found_is_no_profile() -> None:
    assert recognise(frozenset()) is None
    assert recognise(frozenset({b"SOMETHING_ELSE"})) is None
    assert recognise(frozenset({b"X"}), {}) is None


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_property_of_a_packaged_arm_has_a_source_and_a_value_that_its_role_takes(name: str) -> None:
    for arm in PROFILES[name].arms:
        rules = {rule.name: rule for rule in PROPERTIES.get(arm.role, ())}
        assert len({one.name for one in arm.properties}) == len(arm.properties)
        for one in arm.properties:
            assert one.source
            assert rules[one.name].read(one.value) == one.value, one


def test_the_types_that_a_fill_can_be_a_nan_of_are_those_that_have_one() -> None:
    assert {layout.name for layout in LAYOUTS.values() if getattr(layout, "nan_patterns", 0)} == set(FLOATS_WITH_NAN)


FILLED_WITH = {"vt": 0xFF, "asan": 0xFF, "paddle": 0xFF, "glibc": 0x7F, "tcmalloc-debug": 0xAB, "python": 0xCD}


def test_a_fill_is_a_nan_of_the_types_that_its_bytes_are_one_of() -> None:
    filling = {name for name, one in PROFILES.items() if any(arm.role is Role.POISON_N for arm in one.arms)}
    assert filling == set(FILLED_WITH)
    for name, byte in FILLED_WITH.items():
        (arm,) = (arm for arm in PROFILES[name].arms if arm.role is Role.POISON_N)
        layouts = [LAYOUTS[one] for one in FLOATS_WITH_NAN]
        nan_in = [one.name for one in layouts if one.is_nan(int.from_bytes(bytes([byte] * one.item_bytes), "little"))]
        assert arm.property("nan_in") == (",".join(nan_in) or NOWHERE), name


def test_each_profile_knows_of_its_arms_what_its_sources_say() -> None:
    known = {
        f"{name} {arm.role} {one.name}": one.value
        for name, profile in PROFILES.items()
        for arm in profile.arms
        for one in arm.properties
    }
    assert known["glibc bypass addresses"] == "returned"
    assert known["glibc poison-0 fills_on"] == "both"
    assert known["asan bypass addresses"] == "apart"
    assert known["vt exact rounds_to"] == "1"
    assert known["pytorch bypass waits"] == "yes"
    assert known["pytorch serial covers"] == "launches"
    assert known["pytorch-rocm serial covers"] == "launches,copies"
    assert "pytorch bypass addresses" not in known  # nobody knows
