"""The canary under the real allocators of this machine: what every arm of the tested profiles does, what does not."""

import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache

import pytest

from pooldiag.attribution.canary_facts import CanaryFacts, judge, observed, properties_seen
from pooldiag.model.arms import Acted, Canary, Role
from pooldiag.profiles import PROFILES, arms_of

TUNABLES = "GLIBC_TUNABLES"
MALLOC = "glibc.malloc."
LIMIT_SECONDS = 60
TESTED = ("glibc", "tcmalloc-debug", "asan", "python")


def canary_of(name: str) -> Canary:
    canary = PROFILES[name].canary
    assert canary is not None
    return canary


@cache
def asan_runtime() -> str:
    """The library that a program built with -fsanitize=address loads."""
    asked = ["gcc", "-print-file-name=libasan.so"]
    return os.path.realpath(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())


def observe(name: str, changes: Mapping[str, str]) -> CanaryFacts:
    brought = {"LD_PRELOAD": asan_runtime()} if canary_of(name).preload else {}
    done = subprocess.run(
        canary_of(name).argv,
        env={"PATH": os.environ["PATH"], **brought, **changes},
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return observed(done.stdout.splitlines())


@cache
def baseline(name: str) -> CanaryFacts:
    return observe(name, dict(arms_of(PROFILES[name])[0].environment.set))


def verdict(name: str, role: Role, changes: Mapping[str, str]) -> tuple[Acted, str]:
    (rule,) = (rule for rule in canary_of(name).rules if rule.role is role)
    found = judge(rule, observe(name, changes), baseline(name))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "role"), [(name, arm.role) for name in TESTED for arm in PROFILES[name].arms], ids=str
)
def test_every_arm_of_a_tested_profile_acts_on_this_machine(name: str, role: Role) -> None:
    (arm,) = (arm for arm in arms_of(PROFILES[name]) if arm.role is role)
    state, why = verdict(name, role, dict(arm.environment.set))
    assert state is Acted.PROVEN, why


def test_the_baseline_of_every_tested_profile_reuses_blocks_and_fills_none() -> None:
    for name in TESTED:
        assert baseline(name)["blocks of 200 bytes", "handed"] == ("stale",), name
        assert baseline(name)["blocks of 200 bytes in a second thread", "handed"] == ("stale",), name


BYPASS = f"{MALLOC}mmap_threshold=1:{MALLOC}mmap_max=1000000"


@pytest.mark.parametrize(
    ("role", "changes", "why"),
    [
        (Role.BYPASS, {TUNABLES: f"{MALLOC}mmap_treshold=1"}, r"^blocks of .* when freed: .* misspelt"),
        (Role.BYPASS, {TUNABLES: BYPASS}, r"^partly inert: blocks of 200 bytes in a second thread .*arena_max=1"),
        (Role.BYPASS, {TUNABLES: f"{MALLOC}tcache_count=0"}, "^blocks of .* keep their content when freed"),
        (Role.BYPASS, {"MALLOC_ARENA_MAX": "1"}, "^blocks of .* keep their content when freed"),
        (Role.POISON_N, {"MALLOC_PERTURB_": "256"}, "^blocks of .* keep stale content.*1 .. 255"),
        (Role.POISON_N, {TUNABLES: f"{MALLOC}pertrub=85"}, "^blocks of .* keep stale content.*misspelt"),
        (Role.POISON_N, {TUNABLES: f"{MALLOC}perturb=85"}, "^partly inert: blocks of 200 bytes keep stale content"),
        (
            Role.POISON_N,
            {TUNABLES: f"{BYPASS}:{MALLOC}arena_max=1", "MALLOC_PERTURB_": "256"},
            "^partly inert: all blocks come zeroed.*1 .. 255",
        ),
        (
            Role.POISON_0,
            {TUNABLES: f"{MALLOC}perturb=255"},
            "^partly inert: blocks of 200 bytes keep stale content: add glibc.malloc.tcache_count=0$",
        ),
        (Role.POISON_0, {"MALLOC_PERTURB_": "256"}, "^blocks of .* keep stale content.*1 .. 255"),
    ],
)
def test_what_does_nothing_on_glibc_is_told_and_what_would_do_it(
    role: Role, changes: Mapping[str, str], why: str
) -> None:
    state, words = verdict("glibc", role, changes)
    assert state is Acted.INERT
    assert re.search(why, words), words


def test_a_library_that_is_not_installed_makes_the_fill_inert() -> None:
    state, why = verdict("tcmalloc-debug", Role.POISON_N, {"LD_PRELOAD": "libtcmalloc_of_nobody.so.4"})
    assert state is Acted.INERT
    assert "Debian: libtcmalloc-minimal4" in why


def test_a_fill_of_the_first_page_only_is_partly_inert_on_asan() -> None:
    options = "quarantine_size_mb=256:malloc_fill_byte=255:max_malloc_fill_size=4096"
    state, why = verdict("asan", Role.POISON_N, {"ASAN_OPTIONS": options})
    assert state is Acted.INERT
    assert why.startswith("partly inert: blocks of 3000000 bytes come zeroed")


def test_python_without_its_own_pool_still_has_that_of_malloc() -> None:
    state, why = verdict("python", Role.BYPASS, {"PYTHONMALLOC": "malloc"})
    assert state is Acted.INERT
    assert "keep their content when freed" in why


@pytest.mark.parametrize(("name", "addresses"), [("glibc", "returned"), ("python", "returned"), ("asan", None)])
def test_the_canary_sees_whether_a_released_address_comes_back_under_the_bypass(
    name: str, addresses: str | None
) -> None:
    (arm,) = (arm for arm in arms_of(PROFILES[name]) if arm.role is Role.BYPASS)
    seen = properties_seen(Role.BYPASS, observe(name, dict(arm.environment.set)))
    assert [one.value for one in seen] == ([] if addresses is None else [addresses])
    assert addresses in {None, arm.property("addresses")}
