"""What is taken out of the inherited environment, and what is only told."""

import pytest

from pooldiag.model.arms import AllocatorProfile, Role
from pooldiag.profiles import (
    NO_PROFILE,
    PROFILES,
    arms_of,
    custom_profile,
    fills_among,
    inherited_changes,
    inherited_remarks,
    with_inherited,
)
from pooldiag.profiles.inheritance import fill_rules, inherited_rules


@pytest.mark.parametrize(
    "name",
    [
        *("MALLOC_PERTURB_", "MALLOC_CHECK_", "MALLOC_ARENA_MAX", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES"),
        *("MALLOC_CONF", "JE_MALLOC_CONF", "_RJEM_MALLOC_CONF", "PYTHONMALLOC", "TCMALLOC_RECLAIM_MEMORY"),
        *("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING"),
        *("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "TF_GPU_ALLOCATOR", "XLA_PYTHON_CLIENT_ALLOCATOR"),
        *("GTEST_FILTER", "GTEST_TOTAL_SHARDS", "TESTBRIDGE_TEST_ONLY", "TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX"),
        *("TEST_SHARD_STATUS_FILE", "XML_OUTPUT_FILE", "BAZEL_TEST", "BOOST_TEST_RANDOM", "PYTEST_ADDOPTS"),
        *("PYTEST_PLUGINS", "RUST_TEST_THREADS", "CTEST_PARALLEL_LEVEL", "GOFLAGS"),
    ],
)
def test_what_changes_allocators_or_selections_is_removed_from_every_target(name: str) -> None:
    assert inherited_changes({name: "as it was"}, NO_PROFILE) == ((name, "as it was"),)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "CUDA_VISIBLE_DEVICES", "PYTHONPATH"),
        *("XLA_PYTHON_CLIENT_PREALLOCATE", "EXAMPLE_CHECKPOINT", "MY_GTEST_FILTER", "malloc_conf", "VT_POOL_BYPASS"),
    ],
)
def test_what_a_target_may_need_stays(name: str) -> None:
    assert inherited_changes({name: "x"}, NO_PROFILE) == ()


def test_the_switches_of_the_profile_are_removed_with_their_values_sorted() -> None:
    environ = {"VT_POOL_POISON": "0", "PATH": "/bin", "MALLOC_PERTURB_": "17", "VT_POOL_BYPASS": ""}
    assert inherited_changes(environ, PROFILES["vt"]) == (
        ("MALLOC_PERTURB_", "17"),
        ("VT_POOL_BYPASS", ""),
        ("VT_POOL_POISON", "0"),
    )


def test_what_the_user_keeps_stays_and_only_that() -> None:
    environ = {"VT_POOL_BYPASS": "1", "GTEST_FILTER": "a", "GTEST_COLOR": "no"}
    assert inherited_changes(environ, PROFILES["vt"], ("VT_POOL_BYPASS", "GTEST_FILTER")) == (("GTEST_COLOR", "no"),)


def test_what_an_arm_unsets_is_inherited_by_the_baseline() -> None:
    profile = custom_profile(None, ["bypass=-MALLOC_CONF -OWN_CACHE", "exact=OWN_CACHE=exact"], None, [])
    assert inherited_changes({"MALLOC_CONF": "tcache:true", "OWN_CACHE": "1"}, profile) == ()


def test_a_preloaded_library_is_told_with_a_reason() -> None:
    environ = {"PATH": "", "LD_PRELOAD": "libtcmalloc.so", "MALLOC_CONF": "", "ASAN_OPTIONS": ""}
    remarks = inherited_remarks(environ)
    assert [name for name, _ in remarks] == ["ASAN_OPTIONS", "LD_PRELOAD"]
    assert "malloc" in dict(remarks)["LD_PRELOAD"]


def test_the_users_own_options_stay_in_front_of_those_of_every_arm() -> None:
    environ = {"ASAN_OPTIONS": "detect_leaks=0", "PATH": "/bin"}
    profile = with_inherited(PROFILES["asan"], environ)
    for arm in arms_of(profile):
        assert dict(arm.environment.set)["ASAN_OPTIONS"].startswith("detect_leaks=0:quarantine_size_mb=")
    assert Role.BASELINE in {arm.role for arm in arms_of(profile)}
    assert inherited_changes(environ, profile) == ()  # it is not gone, so nothing is told to be


def test_without_options_of_the_user_a_profile_is_as_it_comes() -> None:
    assert with_inherited(PROFILES["asan"], {"ASAN_OPTIONS": "", "PATH": "/bin"}) is PROFILES["asan"]
    assert with_inherited(PROFILES["glibc"], {"GLIBC_TUNABLES": "glibc.malloc.check=3"}) is PROFILES["glibc"]


def test_every_rule_has_names_a_reason_and_a_kind_that_is_known() -> None:
    rules = inherited_rules()
    assert all(rule.names and rule.reason for rule in rules)
    assert all(name != "*" and name == name.strip() for rule in rules for name in rule.names)
    names = [name for rule in rules for name in rule.names]
    assert len(names) == len(set(names))
    assert {rule.kept for rule in rules} == {True, False}


def fills(profile: AllocatorProfile, **variables: str) -> list[tuple[str, str | None]]:
    return [(one.name, one.profile) for one in fills_among(variables.items(), profile)]


@pytest.mark.parametrize(
    ("name", "value", "profile"),
    [
        ("MALLOC_PERTURB_", "85", "glibc"),
        ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.perturb=3", "glibc"),
        ("MALLOC_CHECK_", "3", "glibc"),
        ("MALLOC_CONF", "narenas:1,junk:true", None),
        ("je_MALLOC_CONF", "zero:true", None),
        ("PYTHONMALLOC", "debug", "python"),
        ("PYTHONMALLOC", "malloc_debug", "python"),
        ("G_SLICE", "debug-blocks", None),
    ],
)
def test_what_fills_memory_is_known_with_the_profile_that_does_the_same(
    name: str, value: str, profile: str | None
) -> None:
    assert fills(NO_PROFILE, **{name: value}) == [(name, profile)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MALLOC_PERTURB_", "0"),
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1"),
        ("MALLOC_CONF", "junk:false"),
        ("PYTHONMALLOC", "malloc"),
        ("MALLOC_ARENA_MAX", "1"),
        ("OTHER", "1"),
    ],
)
def test_what_fills_nothing_is_no_fill(name: str, value: str) -> None:
    assert fills(NO_PROFILE, **{name: value}) == []


def test_a_fill_of_the_profile_itself_needs_no_other_profile() -> None:
    assert fills(PROFILES["vt"], VT_POOL_POISON="255", VT_POOL_BYPASS="1") == [("VT_POOL_POISON", None)]
    assert fills(PROFILES["glibc"], MALLOC_PERTURB_="85") == [("MALLOC_PERTURB_", None)]


def test_every_fill_is_removed_and_its_profile_is_there() -> None:
    removed = [rule for rule in inherited_rules() if not rule.kept]
    for rule in fill_rules():
        assert rule.profile is None or rule.profile in PROFILES
        for name in rule.names:
            assert any(one.covers(name) for one in removed), name
