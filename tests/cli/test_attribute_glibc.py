"""Real bugs of real heaps, and switches that do nothing: the allocators of this machine, by profile."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import arm, attribute, candidates, diagnose, shell

STALE_READ = """
#include <stdlib.h>
static int *volatile kept;  /* the compiler must not reason about what is in the block */
int main(void) {
    kept = malloc(800);
    for (int i = 0; i < 200; ++i) kept[i] = 0;
    free(kept);
    kept = malloc(800);
    return kept[100] != 0;  /* never written: right by accident */
}
"""
LIMIT_SECONDS = 60


def program(folder: Path, *options: str, source: str = STALE_READ) -> Path:
    """Build a C program that reads a block before it writes it, with these options of the compiler."""
    path = folder / "program"
    (folder / "program.c").write_text(source)
    subprocess.run(
        ["gcc", "-O0", folder / "program.c", "-o", path, *options], check=True, timeout=LIMIT_SECONDS, cwd=folder
    )
    return path


def states(report: dict[str, Any]) -> dict[str, str | None]:
    return {entry["role"]: entry["acted"] for entry in report["arms"]}


def reds(report: dict[str, Any]) -> set[str]:
    """The roles with a red run, be it the one in question or another."""
    return {entry["role"] for entry in report["arms"] if entry["red"] + entry["new_red"]}


@pytest.mark.parametrize(
    ("profile", "target", "found"),
    [
        ("glibc", "heap_stale_read", ("hidden-unwritten-read", "stale-read")),
        ("tcmalloc-debug", "heap_stale_read", (None, "stale-read")),  # its fill is on release, too
        ("glibc", "heap_use_after_free", (None, "use-after-release")),
        ("tcmalloc-debug", "heap_use_after_free", (None, "use-after-release")),
    ],
)
def test_a_bug_that_the_heap_hides_is_shown_by_its_arms_and_its_line_shows_it(
    zoo: Path, tmp_path: Path, profile: str, target: str, found: tuple[str | None, str]
) -> None:
    answer, mechanism = found
    report = diagnose(f"--profile={profile}", zoo / target, cwd=tmp_path)
    assert (report["status"], report["answer"]) == ("unresolved" if answer is None else "established", answer)
    assert candidates(report)[0] == mechanism
    assert (states(report)["bypass"], states(report)["poison-n"]) == ("proven", "proven")
    assert arm(report, "poison-n")["red"] + arm(report, "poison-n")["new_red"] >= 1
    assert "baseline" not in reds(report)
    assert ("bypass" in reds(report)) is (mechanism == "use-after-release")
    assert shell(report["reproducer"], cwd=tmp_path).returncode != 0


def test_it_says_green_as_it_is_and_never_advises_the_bypass_as_a_cure(zoo: Path, tmp_path: Path) -> None:
    said = attribute("--profile=glibc", "-q", zoo / "heap_use_after_free", cwd=tmp_path, COLUMNS="200")
    assert said.code == 3
    assert re.match("Green as it is, red under bypass.*poison-n.*, not settled", said.out)
    assert "use after release" in said.out.partition("Target ")[0]
    assert "the pool's absence is not a cure" in said.out
    assert "Next (green" not in said.out


@pytest.mark.parametrize(
    ("role", "words", "why"),
    [
        ("bypass", "GLIBC_TUNABLES=glibc.malloc.mmap_treshold=1", "a misspelt tunable is ignored"),
        ("poison-n", "MALLOC_PERTURB_=256", "partly inert: all blocks come zeroed"),
        ("poison-0", "MALLOC_PERTURB_=256", "keep stale content: set glibc.malloc.perturb=255 (1 .. 255)"),
        (
            "poison-0",
            "GLIBC_TUNABLES=glibc.malloc.perturb=255",
            "partly inert: blocks of 200 bytes keep stale content: add glibc.malloc.tcache_count=0",
        ),
    ],
)
def test_a_switch_that_does_nothing_is_inert_with_what_would_do_it(
    zoo: Path, tmp_path: Path, role: str, words: str, why: str
) -> None:
    said = attribute(
        "--profile=glibc", f"--arm={role}={words}", "-q", zoo / "heap_stale_read", cwd=tmp_path, COLUMNS="400"
    )
    (line,) = (line for line in said.out.splitlines() if line.strip().startswith(f"- {role}: inert, "))
    assert why in line


def test_an_inert_fill_makes_no_verdict(zoo: Path, tmp_path: Path) -> None:
    words = ("--profile=glibc", "--arm=poison-n=MALLOC_PERTURB_=256")
    report = diagnose(*words, zoo / "heap_stale_read", cwd=tmp_path)
    assert (report["status"], report["mechanism"]) == ("green", None)
    assert states(report)["poison-n"] == "inert"


def test_a_target_with_another_malloc_is_not_reached(tmp_path: Path) -> None:
    target = program(tmp_path, "-Wl,--no-as-needed", "-l:libtcmalloc_minimal.so.4")
    said = attribute("--profile=glibc", "-q", target, cwd=tmp_path, COLUMNS="200")
    assert "bypass: inert, the target has another allocator: libtcmalloc_minimal.so.4" in said.out
    assert "proven" not in said.out


def test_a_malloc_that_is_built_into_the_target_is_told_as_well(tmp_path: Path) -> None:
    target = program(tmp_path, "-fsanitize=address", "-static-libasan")
    said = attribute("--profile=glibc", "-q", target, cwd=tmp_path, COLUMNS="200")
    assert "bypass: inert, the target has another allocator: __asan_init" in said.out


def test_without_the_sanitizers_library_there_is_no_canary_and_the_name_makes_it_plausible(tmp_path: Path) -> None:
    found = states(diagnose(program(tmp_path, "-fsanitize=address", "-static-libasan"), cwd=tmp_path))
    assert (found["bypass"], found["poison-n"]) == ("plausible", "plausible")


def test_a_preload_reaches_a_target_with_another_malloc_and_no_static_one(tmp_path: Path) -> None:
    other = program(tmp_path, "-Wl,--no-as-needed", "-l:libtcmalloc_minimal.so.4")
    found = states(diagnose("--profile=tcmalloc-debug", other, cwd=tmp_path))
    assert (found["bypass"], found["poison-n"]) == ("inert", "proven")
    static = program(tmp_path, "-static")
    found = states(diagnose("--profile=tcmalloc-debug", static, cwd=tmp_path))
    assert (found["bypass"], found["poison-n"]) == ("proven", "inert")


def test_what_a_script_starts_is_not_known(tmp_path: Path) -> None:
    script = tmp_path / "target.sh"
    script.write_text(f"#!/bin/sh\nexec {program(tmp_path)}\n")
    script.chmod(0o755)
    report = diagnose("--profile=glibc", script, cwd=tmp_path)
    assert {states(report)[role] for role in ("bypass", "poison-n", "poison-0")} == {"unproven"}


def test_a_program_built_with_the_address_sanitizer_is_found_and_the_users_options_stay(tmp_path: Path) -> None:
    target = program(tmp_path, "-fsanitize=address")
    report = diagnose(target, cwd=tmp_path, ASAN_OPTIONS="detect_leaks=0")
    assert (report["status"], report["answer"]) == ("established", "hidden-unwritten-read")
    assert (states(report)["bypass"], states(report)["poison-n"]) == ("proven", "proven")
    for entry in report["arms"]:
        assert entry["env"]["set"]["ASAN_OPTIONS"].startswith("detect_leaks=0:quarantine_size_mb=")
    assert any("every run sets ASAN_OPTIONS=" in note for note in report["notes"])
    assert shell(report["reproducer"], cwd=tmp_path).returncode == 1


def test_the_pool_of_an_instrumented_program_comes_first(tmp_path: Path) -> None:
    target = program(tmp_path, "-fsanitize=address", source=STALE_READ + 'char *name = "VT_POOL_EXACT";\n')
    assert "profile    vt:" in attribute("--dry-run", target, cwd=tmp_path).out


def test_a_python_program_is_asked_about_its_objects_and_told_what_stays(tmp_path: Path) -> None:
    script = tmp_path / "test_it.py"
    script.write_text("print(1)\n")
    report = diagnose("--profile=python", sys.executable, script, cwd=tmp_path)
    assert (states(report)["bypass"], states(report)["poison-n"]) == ("proven", "proven")
    assert any("partially bypassed: " in note and "NumPy's own cache" in note for note in report["notes"])


def test_a_fill_of_tiny_numbers_is_no_evidence_when_it_is_green(tmp_path: Path) -> None:
    """The target is red unless it is preloaded into: a green that rules out no mechanism."""
    source = '#include <stdlib.h>\nint main(void) { return getenv("LD_PRELOAD") == NULL; }\n'
    report = diagnose("--profile=tcmalloc-debug", "--repeat=2", program(tmp_path, source=source), cwd=tmp_path)
    assert arm(report, "poison-n")["acted"] == "proven"
    assert arm(report, "poison-n")["red"] == 0
    assert "poison-n" not in {entry["arm"] for entry in report["ruled_out"]}
    assert any("a green under it is no evidence" in note for note in report["notes"])


@pytest.mark.parametrize("name", ["cupy", "rmm", "onnxruntime", "ggml", "tensorrt", "numpy"])
def test_an_allocator_without_a_switch_is_refused_with_the_line_that_does_it(
    refused: Callable[..., str], name: str
) -> None:
    problem, hint = refused(f"--profile={name}", "/bin/true").splitlines()
    assert problem.startswith(f"pooldiag: --profile {name}: no variable switches ")
    assert hint.startswith("  code does it: ")
    assert "(" in hint or "=" in hint
