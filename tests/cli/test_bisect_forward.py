"""`bisect` and `orders` on the example runtime: the loud direction, the silent one, the fix."""

import subprocess
from pathlib import Path
from typing import Any

from tests.cli.command import LIMIT_SECONDS, bisect, diagnose, environment, shell, survey

OUTPUTS = ("--outputs=video.bin:f32", "--outputs=audio.bin:f32")
LOUD = "bf16 production forward, one layer (CPU backend)"
PRODUCTION = "BF16 PRODUCTION forward, one layer on CUDA"
RESIDENT = "device-resident forward matches upstream (CPU backend)"
SHIPPED = "SHIPPED 21.00B forward is finite on CUDA"
SEED_7 = ("--order=rand", "--seed=7")
SIGSEGV = 139


def plainly(target: Path, order: str, cases: list[str], *, cwd: Path, **changes: str) -> int:
    """Run some cases without pooldiag, in the way that doctest documents; return the exit code."""
    patterns = ",".join(case.replace(",", "?") for case in cases)
    argv = [str(target), *order.split(), "-cs=1", f"-tc={patterns}"]
    done = subprocess.run(
        argv, cwd=cwd, env=environment(changes), capture_output=True, timeout=LIMIT_SECONDS, check=False
    )
    return done.returncode


def listed(target: Path, order: str, *, cwd: Path) -> list[str]:
    """The cases in an order, from doctest's own list."""
    argv = [str(target), *order.split(), "-ltc"]
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True)
    lines = done.stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("====")) + 1
    return lines[first : next(number for number in range(first, len(lines)) if lines[number].startswith("===="))]


def assert_prefix_holds(report: dict[str, Any], target: Path, order: str, *, cwd: Path, **changes: str) -> None:
    """Both ends of the prefix, run without pooldiag."""
    cases = listed(target, order, cwd=cwd)
    assert cases[report["position"] - 1] == report["victim"]
    red, green = (cases[: report["prefix"] - less] for less in (0, 1))
    assert plainly(target, order, [*red, report["victim"]], cwd=cwd, **changes) != 0
    assert plainly(target, order, [*green, report["victim"]], cwd=cwd, **changes) == 0


def test_seed_7_has_a_prefix_of_three_cases_and_one_polluter(blind: Path, tmp_path: Path) -> None:
    report = bisect(*SEED_7, blind, cwd=tmp_path)
    assert (report["status"], report["victim"], report["position"]) == ("found", LOUD, 4)
    assert (report["prefix"], report["polluters"]) == (3, [PRODUCTION])
    assert (report["signature"]["kind"], report["signature"]["signal"]) == ("crash", "SIGSEGV")
    assert_prefix_holds(report, blind, "-ob=rand -rs=7", cwd=tmp_path)
    assert shell(report["reproducer"], cwd=tmp_path).returncode == SIGSEGV
    assert shell(report["green_command"], cwd=tmp_path).returncode == 0


def test_the_arms_run_on_the_minimal_set_and_the_green_ones_on_the_whole_suite(blind: Path, tmp_path: Path) -> None:
    report = bisect(*SEED_7, blind, cwd=tmp_path)
    arms = report["attribution"]
    assert (arms["status"], arms["answer"], arms["mechanism"]) == ("established", "carried-by-pool", None)
    assert arms["candidates"][0]["mechanism"] == "cross-device-reuse"
    assert {arm["cases"]["selected"] for arm in arms["arms"] if arm["runs"]} == {1, 2}
    confirmed = {entry["role"]: entry for entry in report["confirmations"]}
    assert {"bypass", "per-case"} <= confirmed.keys()
    for entry in confirmed.values():
        run = entry["run"]
        assert (entry["sight"], run["cases"]["passed"], run["cases"]["selected"]) == ("G", 13, 13)
        assert run["assertions"] == {"passed": 552, "failed": 0}


def test_name_order_is_red_with_a_prefix_that_holds(blind: Path, tmp_path: Path) -> None:
    report = bisect("--order=name", "--no-arms", blind, cwd=tmp_path)
    assert (report["status"], report["signature"]["signal"]) == ("found", "SIGSEGV")
    assert_prefix_holds(report, blind, "-ob=name", cwd=tmp_path)
    assert shell(report["reproducer"], cwd=tmp_path).returncode == SIGSEGV


def test_the_silent_direction_has_a_prefix_of_four_cases(blind: Path, checkpoint: str, tmp_path: Path) -> None:
    report = bisect(*OUTPUTS, blind, cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint)
    assert (report["victim"], report["position"], report["prefix"]) == (SHIPPED, 12, 4)
    assert report["polluters"] == [RESIDENT]
    assert_prefix_holds(report, blind, "-ob=file", cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint)
    assert shell(report["reproducer"], cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint).returncode == 1
    assert shell(report["green_command"], cwd=tmp_path, EXAMPLE_CHECKPOINT=checkpoint).returncode == 0
    assert report["attribution"]["answer"] == "carried-by-pool"
    whole = {entry["role"]: entry["run"] for entry in report["confirmations"]}
    assert whole["bypass"]["assertions"] == {"passed": 6176, "failed": 0}
    assert whole["bypass"]["cases"]["passed"] == 13


def test_the_fixed_runtime_is_green(keyed: Path, tmp_path: Path) -> None:
    report = bisect(*SEED_7, keyed, cwd=tmp_path)
    assert (report["status"], report["reproducer"]) == ("green", None)


def test_a_wanted_order_is_found_among_the_seeds(blind: Path, tmp_path: Path) -> None:
    (tmp_path / "order").write_text(f"{PRODUCTION}\n{LOUD}\n")
    report = bisect("--sequence=order", "--no-arms", blind, cwd=tmp_path)
    assert (report["status"], report["victim"], report["polluters"]) == ("found", LOUD, [PRODUCTION])
    assert (report["position"], report["prefix"]) == (2, 1)
    assert shell(report["reproducer"], cwd=tmp_path).returncode == SIGSEGV


def test_a_failing_report_of_attribute_is_bisected_as_it_was_run(blind: Path, tmp_path: Path) -> None:
    failing = diagnose(*SEED_7, "--arms=bypass", blind, cwd=tmp_path)
    report = bisect(Path(failing["evidence"]) / "report.json", cwd=tmp_path)
    assert (report["victim"], report["prefix"], report["polluters"]) == (LOUD, 3, [PRODUCTION])
    assert (report["target"]["order"], report["target"]["seed"]) == ("rand", 7)


def test_orders_tells_red_ones_from_green_ones_and_finds_the_shortest_prefix(blind: Path, tmp_path: Path) -> None:
    report = survey("--orders=file", "--seeds=0..8", blind, cwd=tmp_path)
    by_seed = {entry["seed"]: entry for entry in report["orders"] if entry["order"] == "rand"}
    assert by_seed[7]["reading"] == "red"
    assert by_seed[7]["failing"] == [LOUD]
    assert (by_seed[7]["victim"], by_seed[7]["position"]) == (LOUD, 4)
    assert by_seed[1]["same_as"] == {"order": "rand", "seed": 0}
    (file_order,) = (entry for entry in report["orders"] if entry["order"] == "file")
    assert file_order["reading"] == "green"
    assert report["by_accident"]
    shortest = report["shortest"]
    assert 1 <= shortest["prefix"] <= 3
    order = "-ob=file" if shortest["order"] == "file" else f"-ob=rand -rs={shortest['seed']}"
    cases = listed(blind, order, cwd=tmp_path)[: shortest["prefix"]]
    assert plainly(blind, order, [*cases, shortest["victim"]], cwd=tmp_path) == -11
    assert plainly(blind, order, [*cases[:-1], shortest["victim"]], cwd=tmp_path) == 0
    assert shell(shortest["reproducer"], cwd=tmp_path).returncode == SIGSEGV
    assert report["next"].startswith("pooldiag bisect ")


def test_orders_of_the_fixed_runtime_are_all_green(keyed: Path, tmp_path: Path) -> None:
    report = survey("--seeds=1..5", keyed, cwd=tmp_path)
    assert {entry["reading"] for entry in report["orders"] if entry["same_as"] is None} == {"green"}
    assert (report["shortest"], report["by_accident"]) == (None, False)
