"""`attribute` on the faults of the zoo: no answer that is false of its fault, and the one that must come does come.

`must` is what follows plainly where the fault is steady, every arm acts and its properties are declared. `answers` are
those whose words are true of the fault, beside an open one, which always is; `mechanisms` those that may be named.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import diagnose, diagnose_in_words
from tests.cli.field_pool import ALL, GREEN, OPEN, answer_of, arms, check, fills, properties
from tests.examples.plain_runs import Suite
from tests.examples.test_zoo_faults import FAULTS, OTHERS

WITH_QUARANTINE = (*ALL, *arms("quarantine"))
FEW = arms("bypass", "exact", "per-case")
NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """How a fault is asked, and what is true of it."""

    fault: str
    why: str
    answers: tuple[str, ...] = ()
    without_serial: tuple[str, ...] = ()  # true where no arm makes launches wait
    mechanisms: tuple[str, ...] = ()
    must: str | None = NOT_ASKED
    options: tuple[str, ...] = ALL
    environment: tuple[tuple[str, str], ...] = ()
    at_most_runs: int = 64
    slow: bool = False  # one more variant of what another one shows

    @property
    def allowed(self) -> set[str | None]:
        """Return the answers that are not false."""
        return {OPEN, *self.answers} if self.must == NOT_ASKED else {self.must}


STEADY = (
    Truth(
        fault="stale sum",
        why="bytes that an earlier case left are added to",
        must="unwritten-read",
        mechanisms=("stale-read",),
    ),
    Truth(
        fault="stale size",
        why="a length that nobody wrote runs out of memory, which is no memory that the pool keeps",
        answers=("unwritten-read",),
        mechanisms=("stale-read",),
    ),
    Truth(
        fault="slack",
        why="the rest of the size class is read, and without rounding sizes are still multiples of 256",
        must="unwritten-read",
        mechanisms=("class-slack", "access-past-end"),
        options=(*ALL, *properties("exact", rounds_to="256")),
        slow=True,
    ),
    Truth(
        fault="relu",
        why="what nobody wrote is read through a maximum, in which the fill cannot show",
        must="carried-by-pool",
        mechanisms=("stale-read",),
    ),
    Truth(
        fault="hidden read",
        why="what nobody wrote is read, and it is zero by luck",
        must="hidden-unwritten-read",
        mechanisms=("stale-read", "stale-read-in-case"),
    ),
    Truth(
        fault="heap",
        why="what nobody wrote is read in memory of another pool, malloc's",
        must="carried-outside",
        mechanisms=("case-state",),
        options=WITH_QUARANTINE,
        slow=True,
    ),
    Truth(
        fault="both",
        why="a stale read and a missing wait in one case",
        answers=("unwritten-read",),
        mechanisms=("stale-read", "timing-race"),
        slow=True,
    ),
    Truth(
        fault="twice",
        why="two owners get one block, which an earlier case gave back twice",
        must="carried-by-pool",
        mechanisms=("two-owners",),
    ),
    Truth(
        fault="early",
        why="a block is given back while one of its two views still reads",
        must="reused-in-case",
        mechanisms=("use-after-release", "two-owners"),
    ),
    Truth(
        fault="early",
        why="the same, its bypass declared as the quarantine that it is",
        must="reused-in-case",
        mechanisms=("use-after-release", "two-owners"),
        options=WITH_QUARANTINE,
        slow=True,
    ),
    Truth(
        fault="early",
        why="the same, and nothing but a bypass and a pool a case are there",
        must=OPEN,
        options=arms("bypass", "per-case"),
        slow=True,
    ),
    Truth(
        fault="kept pointer",
        why="a pointer outlives its block, over the end of the case",
        must="carried-by-pool",
        mechanisms=("use-after-release",),
        slow=True,
    ),
    Truth(
        fault="counters",
        why="a test of the pool's own counters, within one case",
        must="reused-in-case",
        mechanisms=("pool-state",),
        slow=True,
    ),
    Truth(
        fault="aligned",
        why="where a block begins hangs on what was cut from the slab before",
        must="carried-by-pool",
        mechanisms=("pool-state",),
        slow=True,
    ),
    Truth(
        fault="foreign",
        why="a block of the other device, with every arm but a quarantine",
        must="carried-by-pool",
        mechanisms=("cross-device-reuse",),
        slow=True,
    ),
    Truth(
        fault="foreign",
        why="the same, of sizes that meet by rounding only, in a pool without a fill and without a serial switch",
        must=OPEN,
        mechanisms=("cross-device-reuse",),
        options=FEW,
        at_most_runs=12,
    ),
    Truth(
        fault="deferred",
        why="memory is held until the device gets there: waits make room, and it is no race that is red",
        must=OPEN,
        mechanisms=("memory-kept",),
    ),
    Truth(
        fault="capture",
        why="green, and the target does not stand the bypass",
        must=OPEN,
        options=WITH_QUARANTINE,
    ),
    Truth(
        fault="upload",
        why="a staging buffer is written again before it was read",
        must="race",
        without_serial=("no-arm",),
        mechanisms=("timing-race",),
        slow=True,
    ),
    Truth(
        fault="late writer",
        why="the device still clears a block that the next case has",
        must="race",
        mechanisms=("stream-race",),
    ),
    Truth(
        fault="late writer",
        why="the same without a serial switch: the waits of the bypass heal it",
        must=OPEN,
        mechanisms=("stream-race",),
        options=FEW,
        slow=True,
    ),
    Truth(
        fault="late writer",
        why="the same with fills, and still without a serial switch",
        must=OPEN,
        mechanisms=("stream-race",),
        options=(*arms("bypass", "exact", "per-case", "poison-n", "poison-0"), *fills()),
        slow=True,
    ),
    Truth(
        fault="hasty bypass",
        why="the same, with a bypass that does not wait and whose addresses come back",
        must="race",
        mechanisms=("stream-race",),
        options=(*ALL, *properties("bypass", waits="no", addresses="returned")),
        slow=True,
    ),
    Truth(
        fault="threads",
        why="a thread of the host is not joined, and serial lines it up",
        must="race",
        without_serial=("no-arm",),
        mechanisms=("timing-race",),
    ),
    Truth(
        fault="thread",
        why="a thread of an earlier case still runs",
        must="carried-outside",
        mechanisms=("case-state",),
        options=WITH_QUARANTINE,
    ),
    Truth(
        fault="open socket",
        why="an earlier case of the process still listens",
        must="carried-outside",
        mechanisms=("case-state",),
        options=WITH_QUARANTINE,
        slow=True,
    ),
    Truth(
        fault="leak",
        why="an earlier case took the memory, and not through the pool",
        answers=("carried-outside",),
        mechanisms=("case-state",),
        options=WITH_QUARANTINE,
    ),
    Truth(
        fault="plug-in",
        why="another case loads what changes the process; alone, less is loaded",
        must="carried-outside",
        mechanisms=("case-state",),
        options=WITH_QUARANTINE,
        slow=True,
    ),
    Truth(fault="expired", why="a plain bug in its data", must="no-arm", mechanisms=("independent",)),
    Truth(
        fault="late fill",
        why="a stale read, and a fill that comes after it",
        must=OPEN,
        mechanisms=("stale-read",),
        options=(*arms("bypass", "exact", "per-case", "poison-n", "poison-0", "serial"), *fills(ordered="no")),
    ),
    Truth(
        fault="late fill",
        why="the same, and nobody knows what the fill does",
        must=OPEN,
        mechanisms=("stale-read",),
        options=arms("bypass", "exact", "per-case", "poison-n", "poison-0", "serial"),
        slow=True,
    ),
    Truth(
        fault="fill on release",
        why="a stale read, and fresh blocks are never filled",
        must=OPEN,
        mechanisms=("stale-read",),
        options=(*arms("bypass", "exact", "per-case", "poison-n", "poison-0", "serial"), *fills(fills_on="release")),
    ),
    Truth(
        fault="short fill",
        why="bytes behind the block are read, where the fill does not reach",
        must="carried-by-pool",
        mechanisms=("access-past-end",),
        slow=True,
    ),
    Truth(
        fault="fragile",
        why="a stale read in a case that does not stand the bypass",
        answers=("unwritten-read",),
        mechanisms=("stale-read",),
        slow=True,
    ),
)
CHANCES = (
    Truth(
        fault="sometimes late",
        why="the late writer, in some runs",
        answers=("race", GREEN),
        mechanisms=("stream-race",),
    ),
    Truth(
        fault="flake",
        why="red by chance, whatever else there is",
        answers=("no-arm", GREEN),
        mechanisms=("independent",),
    ),
)
SHIFTED = Truth(
    fault="shifted",
    why="red by chance, with another rate where sizes are exact: an arm does change it",
    answers=(GREEN,),
    environment=(("FAULT_SEED", "1"),),
)
BY_CHANCE = [
    replace(truth, environment=(("FAULT_RATE", rate), ("FAULT_SEED", seed)))
    for truth in CHANCES
    for rate in ("0.3", "0.5", "0.8")
    for seed in ("1", "2")
]


@pytest.fixture
def zoo(examples_build: Path) -> Path:
    return examples_build.absolute() / "zoo"


def binary_of(fault: str) -> str:
    return FAULTS[fault].binary if fault in FAULTS else OTHERS[fault]


def ask(zoo: Path, folder: Path, fault: str, *options: str, **changes: str) -> dict[str, Any]:
    """Diagnose the cases of one fault."""
    return diagnose("--case", f"{fault}: *", *options, zoo / binary_of(fault), cwd=folder, **changes)


def name_of(truth: Truth) -> str:
    values = " ".join(value for _, value in truth.environment)
    return f"{truth.fault} {values}".strip()


@pytest.mark.parametrize(
    "truth",
    [
        pytest.param(truth, id=f"{truth.fault}, {truth.why}", marks=[pytest.mark.slow] if truth.slow else [])
        for truth in STEADY
    ],
)
def test_a_steady_fault_gets_an_answer_that_is_true_of_it(zoo: Path, tmp_path: Path, truth: Truth) -> None:
    report = ask(zoo, tmp_path, truth.fault, *truth.options)
    check(report, truth.allowed, truth.mechanisms)
    assert len(report["runs"]) <= truth.at_most_runs


@pytest.mark.slow
@pytest.mark.parametrize("truth", [*BY_CHANCE, SHIFTED], ids=name_of)
def test_a_fault_of_chance_gets_no_answer_that_is_false_of_it(zoo: Path, tmp_path: Path, truth: Truth) -> None:
    counted = {**dict(truth.environment), "FAULT_RUNS": str(tmp_path / "runs")}
    report = ask(zoo, tmp_path, truth.fault, *truth.options, **counted)
    check(report, truth.allowed, truth.mechanisms)


@pytest.mark.slow
@pytest.mark.parametrize("left_out", ["bypass", "exact", "per-case", "poison-n", "poison-0", "serial"])
@pytest.mark.parametrize("truth", [one for one in STEADY if one.options == ALL], ids=name_of)
def test_a_pool_that_lacks_a_switch_gets_no_answer_that_is_false(
    zoo: Path, tmp_path: Path, truth: Truth, left_out: str
) -> None:
    gone = {left_out, "poison-n"} if left_out == "bypass" else {left_out}
    kept = [role for role in ("bypass", "exact", "per-case", "poison-n", "poison-0", "serial") if role not in gone]
    declared = [properties(role, fills_on="hand-out", ordered="yes") for role in kept if role.startswith("poison")]
    options = (*arms(*kept), *(word for words in declared for word in words))
    report = ask(zoo, tmp_path, truth.fault, *options)
    asked = {truth.must} - {NOT_ASKED, OPEN} if left_out != "serial" or truth.must != "race" else set()
    unseen = truth.without_serial if left_out == "serial" else ()
    hidden = (GREEN,) if truth.fault == "hidden read" else ()
    check(report, {OPEN, *truth.answers, *asked, *unseen, *hidden}, truth.mechanisms)


def test_sizes_that_meet_only_by_rounding_are_not_settled_and_what_is_known_leads(zoo: Path, tmp_path: Path) -> None:
    target = zoo / binary_of("foreign")
    report, said = diagnose_in_words("--case", "foreign: *", *FEW, target, cwd=tmp_path)
    assert said.code == 3
    assert {(one["role"], one["shows"]) for one in report["seen"]} >= {
        (role, "gone") for role in ("bypass", "exact", "per-case", "isolate")
    }
    first, _, _ = said.out.partition("Target ")
    assert "not settled" in first
    assert {"poison-n", "serial"} <= set(report["separators"])
    assert "bisect" in report["next"]


def test_memory_that_a_stale_size_asks_for_is_not_kept_by_the_pool(zoo: Path, tmp_path: Path) -> None:
    report = ask(zoo, tmp_path, "stale size", *ALL)
    assert report["mechanism"] != "memory-kept"
    assert answer_of(report) != "carried-by-pool"


def test_a_file_that_the_last_run_left_is_never_a_fault_of_the_pool(zoo: Path, tmp_path: Path) -> None:
    report = ask(zoo, tmp_path, "file", *WITH_QUARANTINE)
    check(report, {OPEN, "outside-state", "no-arm"}, ("independent",))


def test_a_cache_that_is_wrong_when_it_is_warm_is_state_outside(zoo: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    home = {"XDG_CACHE_HOME": str(cache)}
    warmed = Suite(binary=zoo / binary_of("cache"), folder=tmp_path, pattern="cache: *").run(home)
    assert not warmed.reds
    check(ask(zoo, tmp_path, "cache", *ALL, **home), {"outside-state"}, ())


def test_a_setting_of_the_user_is_not_blamed_on_the_pool_or_the_code(zoo: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".fieldrc").touch()
    report = ask(zoo, tmp_path, "settings", *ALL, HOME=str(home))
    check(report, {OPEN, "outside-state"}, ())


@contextmanager
def held_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield int(holder.getsockname()[1])


def test_a_port_that_somebody_else_has_is_changed_by_no_arm(zoo: Path, tmp_path: Path) -> None:
    with held_port() as port:
        report = ask(zoo, tmp_path, "port", *WITH_QUARANTINE, FAULT_PORT=str(port))
    check(report, {"no-arm"}, ("independent",))


@pytest.mark.parametrize(
    "options",
    [ALL, *(pytest.param(some, marks=pytest.mark.slow) for some in (WITH_QUARANTINE, FEW, arms("serial")))],
    ids=["all", "with a quarantine", "few", "serial"],
)
def test_a_red_that_any_variable_moves_gets_no_answer(zoo: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    report = ask(zoo, tmp_path, "variables", *options, FAULT_SIZE=str(tmp_path / "size"))
    check(report, {OPEN}, ())


def test_every_fault_is_asked() -> None:
    by_hand = {"file", "cache", "settings", "port", "variables"}
    assert {truth.fault for truth in (*STEADY, *BY_CHANCE, SHIFTED)} | by_hand == {*FAULTS, *OTHERS}
