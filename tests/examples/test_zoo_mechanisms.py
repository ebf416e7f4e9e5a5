"""The zoo's mechanisms, run plainly: each binary shows under each arm what the table of mechanisms says."""

import os
import platform
import re
import resource
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

LIMIT_SECONDS = 60  # bounds every wait; a run takes milliseconds
SOURCES = Path(__file__).parents[2] / "examples" / "zoo" / "mechanisms"
POOL = re.compile(r"^\[zoo pool\] hits=(\d+) misses=(\d+) bypassed=(\d+)$", re.MULTILINE)

BYPASS = {"VT_POOL_BYPASS": "1"}
ARMS = {
    "baseline": {},
    "bypass": BYPASS,
    "exact": {"VT_POOL_EXACT": "1"},
    "per-case": {"VT_POOL_PER_CASE": "1"},
    "poison-n": BYPASS | {"VT_POOL_POISON": "255"},
    "poison-0": {"VT_POOL_POISON": "0"},
    "serial": {"VT_POOL_SERIAL": "1"},
    "isolate": {},  # each case alone
    "quarantine": {"VT_POOL_QUARANTINE": "1"},
    "guard": {"VT_POOL_GUARD": "1"},
    "pad": {"VT_POOL_PAD": "1"},
}
ROLES = tuple(ARMS)

# What a mechanism predicts, in the order of ROLES: R the baseline's red, G green, N a new red, o anything.
TABLE = {
    "cross_device_reuse": "R G R G G R R G G R R",
    "stale_read": "R G R G R G R G G R R",
    "stream_race": "R G R o G R G o G R R",
    "class_slack": "R G G G R G R G G R R",
    "access_past_end": "R G R G G R R G o N G",
    "in_case_reuse": "R G R R G R R R G R R",
    "case_state": "R R R R R R R G R R R",
    "timing_race": "R o o R o o G o R R R",
    "independent": "R R R R R R R R R R R",
    "hidden_use_after_free": "G N G G N G G G N G G",
    "hidden_stale_read": "G G G G N G G G G G G",
}
# What a suite shows where its mechanism predicts anything.
CHOSEN = {
    ("stream_race", "per-case"): "G",
    ("stream_race", "isolate"): "G",
    ("access_past_end", "quarantine"): "G",
    ("timing_race", "bypass"): "R",
    ("timing_race", "exact"): "R",
    ("timing_race", "poison-n"): "R",
    ("timing_race", "poison-0"): "R",
    ("timing_race", "isolate"): "R",
}
VICTIMS = {
    "cross_device_reuse": "smooths a long signal",
    "stale_read": "sums of columns",
    "stream_race": "scales a long signal on the GPU",
    "class_slack": "sums a long vector",
    "access_past_end": "sums a full block in steps",
    "in_case_reuse": "follows a chain",
    "case_state": "rounds to two digits by default",
    "timing_race": "squares in the background",
    "independent": "median of an even number",
    "hidden_use_after_free": "largest of a signal",
    "hidden_stale_read": "counts distinct values",
}
PAST_END_FIRST = "closes a full ring"  # the first of the cases that leave their block, so the guard stops there
CRASHING = {"cross_device_reuse", "in_case_reuse", "hidden_use_after_free"}

# Cross-device reuse whose bypass does nothing, or not for long.
INERT = "R R R G R R R G G R R"
SPECIAL = {
    "inert_bypass": INERT,
    "unread_switch": INERT,
    "undone_arm": INERT,
    "two_sizes": "R G G G G R R G R R R",  # it knows bypass, exact and per-case
    "flaky_reuse": TABLE["cross_device_reuse"],  # in a run that is to be red
}
SPECIAL_VICTIM = "scales a long signal on the GPU"
HEAP = {"heap_stale_read": "counts distinct values", "heap_use_after_free": "largest of a vector"}
OTHERS = ("flaky_independent", "varying_assertions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    assertions: int
    failed_at: tuple[str, ...]  # source places of its failed assertions
    crash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    code: int
    cases: tuple[Case, ...]  # those that started, in running order
    hits: int | None  # None: the pool was not destroyed, so it printed nothing

    @property
    def reds(self) -> frozenset[tuple[str, str]]:
        """What went wrong: cases with their signal or the places of their failed assertions."""
        places = {(case.name, place) for case in self.cases for place in case.failed_at}
        return frozenset(places | {(case.name, case.crash) for case in self.cases if case.crash})

    def is_complete(self, names: tuple[str, ...]) -> bool:
        """Tell whether the run ended well and every case asserted something."""
        asserted = all(case.assertions for case in self.cases)
        return self.code == 0 and not self.reds and asserted and {case.name for case in self.cases} == set(names)


class Zoo:
    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries = binaries
        self.report = folder / "report.xml"
        self._names: dict[str, tuple[str, ...]] = {}
        self._thrice: dict[tuple[str, str], list[Ran]] = {}
        self._red_seeds: list[int] = []

    def run(self, name: str, *arguments: str, **environment: str) -> Ran:
        """Run a binary with nothing in its environment but `environment`, and the pool's counters."""
        self.report.unlink(missing_ok=True)
        done = subprocess.run(
            [self.binaries / name, "-dt-r=xml", f"-dt-o={self.report}", *arguments],
            capture_output=True,
            check=False,
            cwd=self.report.parent,
            env={"VT_POOL_STATS": "1", **environment},
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        counted = POOL.findall(done.stderr)
        assert len(counted) <= 1, done.stderr
        return Ran(code=done.returncode, cases=_cases(self.report), hits=int(counted[0][0]) if counted else None)

    def names(self, name: str) -> tuple[str, ...]:
        if name not in self._names:
            self.run(name, "-dt-ltc")
            self._names[name] = tuple(case.get("name", "") for case in ET.parse(self.report).iter("TestCase"))
        return self._names[name]

    def alone(self, name: str, *arguments: str, **environment: str) -> Ran:
        """Run every case in a process of its own, as one run."""
        runs = [self.run(name, *arguments, f"-dt-tc={case}", **environment) for case in self.names(name)]
        return Ran(
            code=next((run.code for run in runs if run.code), 0),
            cases=tuple(case for run in runs for case in run.cases),
            hits=None,
        )

    def under(self, role: str, name: str, *arguments: str, **environment: str) -> Ran:
        run = self.alone if role == "isolate" else self.run
        return run(name, *arguments, **ARMS[role], **environment)

    def thrice(self, role: str, name: str) -> list[Ran]:
        """Run a mechanism three times under a role, once for all tests: at a red seed when file order is green."""
        arguments = _seeded(self.red_seeds()[0]) if name == "case_state" else ()
        key = (role, name)
        if key not in self._thrice:
            self._thrice[key] = [self.under(role, name, *arguments) for _ in range(3)]
        return self._thrice[key]

    def red_seeds(self) -> list[int]:
        """Return those of the seeds from 1 to 20 at which the state between cases shows."""
        if not self._red_seeds:
            self._red_seeds = [seed for seed in range(1, 21) if self.run("case_state", *_seeded(seed)).code]
        return self._red_seeds

    def colour(self, name: str, ran: Ran, baseline: Ran) -> str:
        """Return R, G or N; a baseline is compared with itself."""
        if ran.is_complete(self.names(name)):
            return "G"
        assert ran.code, ran  # it ends badly, too
        assert ran.reds, ran
        return "R" if ran.reds == baseline.reds else "N"


def _cases(report: Path) -> tuple[Case, ...]:
    root = ET.parse(report).getroot()
    return tuple(_case(case) for case in root.iter("TestCase") if case.get("skipped") != "true")


def _case(case: ET.Element) -> Case:
    counts = case.find("OverallResultsAsserts")
    crash = case.find("Exception[@crash='true']")
    failed = case.findall(".//Expression[@success='false']")
    return Case(
        name=case.get("name", ""),
        assertions=0 if counts is None else int(counts.get("successes", "")) + int(counts.get("failures", "")),
        failed_at=tuple(f"{Path(place.get('filename', '')).name}:{place.get('line')}" for place in failed),
        crash="" if crash is None else (crash.text or "").strip().split(" ")[0],
    )


@pytest.fixture(scope="module")
def zoo(examples_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return Zoo(examples_build.absolute() / "zoo", tmp_path_factory.mktemp("mechanisms"))


@pytest.fixture(autouse=True, scope="module")
def _no_core_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


def _seeded(seed: int) -> tuple[str, ...]:
    return "-dt-ob=rand", f"-dt-rs={seed}"


def _cells(table: dict[str, str]) -> list[tuple[str, str, str]]:
    return [
        (name, role, CHOSEN.get((name, role), shown))
        for name, row in table.items()
        for role, shown in zip(ROLES, row.split(), strict=True)
    ]


def _is_stopped_by_the_guard(name: str, role: str) -> bool:
    return role == "guard" and name == "access_past_end"


def test_every_mechanism_is_built_and_in_a_table(zoo: Zoo) -> None:
    mechanisms = {source.stem for source in SOURCES.glob("*.cpp")}
    assert mechanisms == {*TABLE, *SPECIAL, *HEAP, *OTHERS}
    assert mechanisms <= {binary.name for binary in zoo.binaries.iterdir() if os.access(binary, os.X_OK)}


@pytest.mark.parametrize("name", [*TABLE, *SPECIAL, *HEAP, *OTHERS])
def test_suite_is_a_handful_of_cases_with_names_that_doctest_selects_exactly(zoo: Zoo, name: str) -> None:
    names = zoo.names(name)
    assert 6 <= len(set(names)) == len(names) <= 10
    assert [case.name for case in zoo.alone(name).cases] == list(names)


# The table


@pytest.mark.parametrize(("name", "role", "shown"), _cells(TABLE))
def test_arm_shows_what_the_mechanism_predicts(zoo: Zoo, name: str, role: str, shown: str) -> None:
    assert zoo.colour(name, zoo.thrice(role, name)[0], zoo.thrice("baseline", name)[0]) == shown


@pytest.mark.parametrize(("name", "role", "shown"), _cells(TABLE))
def test_red_is_one_symptom_in_one_case(zoo: Zoo, name: str, role: str, shown: str) -> None:
    ran = zoo.thrice(role, name)[0]
    if shown == "G":
        assert not ran.reds
        return
    [(case, place)] = ran.reds
    assert case == (PAST_END_FIRST if _is_stopped_by_the_guard(name, role) else VICTIMS[name])
    if name in CRASHING or _is_stopped_by_the_guard(name, role):
        assert (ran.code, place) == (-signal.SIGSEGV, "SIGSEGV")
    else:
        assert ran.code == 1
        assert re.fullmatch(rf"{name}\.cpp:\d+", place)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", TABLE)
def test_three_runs_are_alike(zoo: Zoo, name: str, role: str) -> None:
    runs = zoo.thrice(role, name)
    assert runs == runs[:1] * 3


@pytest.mark.parametrize(("name", "role", "shown"), [cell for cell in _cells(TABLE) if cell[1] != "isolate"])
def test_counters_tell_whether_the_bypass_acts(zoo: Zoo, name: str, role: str, shown: str) -> None:
    hits = zoo.thrice(role, name)[0].hits
    if shown != "G" and (name in CRASHING or _is_stopped_by_the_guard(name, role)):
        assert hits is None
    elif role in {"bypass", "poison-n", "quarantine"}:
        assert hits == 0
    elif role != "per-case":
        assert hits


def test_state_between_cases_is_green_in_file_order_and_red_at_some_seeds(zoo: Zoo) -> None:
    assert zoo.run("case_state").is_complete(zoo.names("case_state"))
    assert 0 < len(zoo.red_seeds()) < 20


def test_guard_stops_each_case_that_leaves_its_block(zoo: Zoo) -> None:
    ran = zoo.alone("access_past_end", **ARMS["guard"])
    assert ran.reds == {(PAST_END_FIRST, "SIGSEGV"), (VICTIMS["access_past_end"], "SIGSEGV")}


def test_quarantine_and_bypass_together_let_no_released_block_be_read(zoo: Zoo) -> None:
    ran = zoo.run("hidden_use_after_free", **ARMS["quarantine"], **BYPASS)
    assert ran.reds == {(VICTIMS["hidden_use_after_free"], "SIGSEGV")}


def test_switches_are_off_unless_they_are_1(zoo: Zoo) -> None:
    off = {name: "0" for arm in ARMS.values() for name in arm if name != "VT_POOL_POISON"}
    assert zoo.run("stale_read", **off) == zoo.run("stale_read")
    assert zoo.run("stale_read", VT_POOL_STATS="0").hits is None


def test_poison_that_is_no_byte_is_refused(zoo: Zoo) -> None:
    done = subprocess.run(
        [zoo.binaries / "stale_read"], capture_output=True, check=False, env={"VT_POOL_POISON": "256"}, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "VT_POOL_POISON=256 is not a number from 0 to 255" in done.stderr


# Bypasses that do nothing, or not for long


@pytest.mark.parametrize(("name", "role", "shown"), _cells(SPECIAL))
def test_special_suite_shows_cross_device_reuse_in_one_place(zoo: Zoo, name: str, role: str, shown: str) -> None:
    baseline, ran = (zoo.under(arm, name, ZOO_RATE="1") for arm in ("baseline", role))
    assert zoo.colour(name, ran, baseline) == shown
    assert [case for case, _ in ran.reds] == ([] if shown == "G" else [SPECIAL_VICTIM])


@pytest.mark.parametrize("role", ["baseline", "bypass", "poison-n"])
@pytest.mark.parametrize("name", ["inert_bypass", "unread_switch", "undone_arm"])
def test_counters_show_that_the_bypass_did_not_act(zoo: Zoo, name: str, role: str) -> None:
    assert zoo.under(role, name).hits


@pytest.mark.parametrize(("name", "stands"), [("inert_bypass", True), ("unread_switch", False), ("undone_arm", True)])
def test_name_of_the_switch_in_the_binary(zoo: Zoo, name: str, stands: bool) -> None:
    text = (zoo.binaries / name).read_bytes()
    assert (b"VT_POOL_BYPASS" in text) is stands
    assert b"VT_POOL_STATS" in text


def test_pool_with_few_switches_names_no_other(zoo: Zoo) -> None:
    names = {name.decode() for name in re.findall(rb"VT_POOL_[A-Z_]*", (zoo.binaries / "two_sizes").read_bytes())}
    assert names == {"VT_POOL_BYPASS", "VT_POOL_EXACT", "VT_POOL_PER_CASE", "VT_POOL_STATS"}


def test_two_sizes_meet_only_by_rounding_and_on_two_devices(zoo: Zoo) -> None:
    pair = "-dt-tc=smooths a long signal,scales a long signal*"
    assert [zoo.run("two_sizes", pair).hits, zoo.run("two_sizes", pair, **ARMS["exact"]).hits] == [1, 0]
    assert [case for case, _ in zoo.run("two_sizes", pair).reds] == [SPECIAL_VICTIM]
    assert zoo.run("two_sizes", "-dt-tce=smooths a long signal").code == 0
    assert zoo.run("two_sizes", VT_POOL_POISON="256").reds == zoo.run("two_sizes").reds  # nobody reads it


@pytest.mark.parametrize(("name", "switch"), [("inert_bypass", "VT_POOL_BYPAS"), ("unread_switch", "VT_POOL_NO_CACHE")])
def test_bypass_acts_under_the_name_that_is_read(zoo: Zoo, name: str, switch: str) -> None:
    ran = zoo.run(name, **{switch: "1"})
    assert ran.is_complete(zoo.names(name))
    assert ran.hits == 0


def test_arm_acts_until_a_case_undoes_it(zoo: Zoo) -> None:
    before, after = "-dt-tc=prefix sums*", "-dt-tc=prefix sums*,starts from*,smooths*,scales*"
    assert zoo.run("undone_arm", before).hits
    assert zoo.run("undone_arm", before, **BYPASS).hits == 0
    assert zoo.run("undone_arm", after, **BYPASS).hits
    without = zoo.run("undone_arm", "-dt-tce=starts from*", **BYPASS)
    assert (without.code, without.hits) == (0, 0)


# Chance


def _codes(zoo: Zoo, name: str, role: str, runs: int, **switches: str) -> list[int]:
    return [zoo.under(role, name, **switches).code for _ in range(runs)]


@pytest.mark.parametrize("role", ROLES)
def test_independent_flake_is_red_in_the_runs_it_is_told(zoo: Zoo, tmp_path: Path, role: str) -> None:
    script = {"ZOO_COUNTER": str(tmp_path / "runs"), "ZOO_RED_RUNS": "2,3,5"}
    assert _codes(zoo, "flaky_independent", role, 6, **script) == [0, 1, 1, 0, 1, 0]


def test_independent_flake_is_red_in_13_of_30_runs(zoo: Zoo, tmp_path: Path) -> None:
    red = [2, 3, 5, 7, 11, 12, 13, 17, 19, 23, 24, 28, 29]
    script = {"ZOO_COUNTER": str(tmp_path / "runs"), "ZOO_RED_RUNS": ",".join(map(str, red))}
    codes = [zoo.under(ROLES[run % len(ROLES)], "flaky_independent", **script).code for run in range(30)]
    assert [run for run, code in enumerate(codes, start=1) if code] == red


@pytest.mark.parametrize("role", ROLES)
def test_flaky_reuse_is_red_in_the_runs_it_is_told_if_the_arm_lets_it(zoo: Zoo, tmp_path: Path, role: str) -> None:
    script = {"ZOO_COUNTER": str(tmp_path / "runs"), "ZOO_RED_RUNS": "2,3,5"}
    shown = dict(zip(ROLES, SPECIAL["flaky_reuse"].split(), strict=True))[role]
    assert _codes(zoo, "flaky_reuse", role, 6, **script) == ([0, 1, 1, 0, 1, 0] if shown == "R" else [0] * 6)


@pytest.mark.parametrize("name", ["flaky_independent", "flaky_reuse"])
def test_flakes_are_as_red_as_their_rate(zoo: Zoo, name: str) -> None:
    assert _codes(zoo, name, "baseline", 5, ZOO_RATE="0") == [0] * 5
    assert _codes(zoo, name, "baseline", 5, ZOO_RATE="1") == [1] * 5
    codes = _codes(zoo, name, "baseline", 60)
    assert 5 < sum(codes) < 55  # missed once in 10^11 if the rate is 0.5
    assert set(codes) == {0, 1}


@pytest.mark.parametrize("role", ["bypass", "poison-n"])
@pytest.mark.parametrize("name", ["flaky_independent", "flaky_reuse", "varying_assertions"])
def test_bypass_acts_on_suites_that_chance_rules(zoo: Zoo, name: str, role: str) -> None:
    assert zoo.under("baseline", name).hits
    assert zoo.under(role, name).hits == 0


@pytest.mark.parametrize("role", ROLES)
def test_green_suite_asserts_another_number_of_times_in_each_run(zoo: Zoo, tmp_path: Path, role: str) -> None:
    script = {"ZOO_COUNTER": str(tmp_path / "runs")}
    names = zoo.names("varying_assertions")
    runs = [zoo.under(role, "varying_assertions", **script) for _ in range(3)]
    assert all(run.is_complete(names) for run in runs)
    counts = [sum(case.assertions for case in run.cases) for run in runs]
    assert counts == [counts[0], counts[0] + 1, counts[0] + 2]
    free = {sum(case.assertions for case in zoo.under(role, "varying_assertions").cases) for _ in range(5)}
    assert len(free) > 1  # five equal counts once in 10^13


# The C library's heap


def _tunables(**values: int) -> dict[str, str]:
    return {"GLIBC_TUNABLES": ":".join(f"glibc.malloc.{name}={value}" for name, value in values.items())}


FILLED, FREED_FILLED = _tunables(perturb=1, tcache_count=0), _tunables(perturb=255, tcache_count=0)
UNMAPPED = _tunables(mmap_threshold=1, mmap_max=1_000_000)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the tunables are glibc's")
@pytest.mark.parametrize(
    ("name", "environment", "shown"),
    [
        ("heap_stale_read", {}, "green"),
        ("heap_stale_read", FILLED, "failure"),
        ("heap_stale_read", _tunables(perturb=1), "green"),
        ("heap_stale_read", FREED_FILLED, "green"),  # new blocks are filled with 255 ^ 0xff
        ("heap_stale_read", UNMAPPED, "green"),
        ("heap_stale_read", _tunables(mmap_threshold=1, mmap_max=1_000_000, perturb=1), "failure"),
        ("heap_stale_read", {"MALLOC_PERTURB_": "256"}, "green"),
        ("heap_use_after_free", {}, "green"),
        ("heap_use_after_free", FILLED, "failure"),
        ("heap_use_after_free", _tunables(perturb=255), "green"),
        ("heap_use_after_free", _tunables(tcache_count=0), "green"),
        ("heap_use_after_free", FREED_FILLED, "failure"),
        ("heap_use_after_free", UNMAPPED, "crash"),
        ("heap_use_after_free", {"MALLOC_PERTURB_": "256"}, "green"),
    ],
)
def test_heap_bug_shows_only_when_the_allocator_stops_hiding_it(
    zoo: Zoo, name: str, environment: dict[str, str], shown: str
) -> None:
    runs = [zoo.run(name, **environment) for _ in range(3)]
    assert runs == runs[:1] * 3
    assert zoo.alone(name, **environment).reds == runs[0].reds
    if shown == "green":
        assert runs[0].is_complete(zoo.names(name))
        return
    [(case, place)] = runs[0].reds
    assert case == HEAP[name]
    assert (place == "SIGSEGV") is (shown == "crash")


@pytest.mark.parametrize("name", HEAP)
def test_heap_suites_are_green_in_every_order_and_know_no_pool(zoo: Zoo, name: str) -> None:
    assert all(zoo.run(name, *_seeded(seed)).is_complete(zoo.names(name)) for seed in range(1, 11))
    assert b"VT_POOL_" not in (zoo.binaries / name).read_bytes()
