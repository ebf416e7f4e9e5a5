"""The faults of the zoo, run plainly: each shows under each arm what stands beside it."""

import resource
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.examples.plain_runs import ROLES, Suite

SOURCES = Path(__file__).parents[2] / "examples" / "zoo" / "faults"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A fault: its binary, what it shows in the order of ROLES (R, G, N), and the case that is red."""

    binary: str
    shows: str
    victim: str | None
    environment: tuple[tuple[str, str], ...] = ()

    def suite(self, name: str, binaries: Path, folder: Path) -> Suite:
        """Return the cases of this fault, to run in this folder."""
        return Suite(binary=binaries / self.binary, folder=folder, pattern=f"{name}: *")


EVERYWHERE = "R R R R R R R R R"
CARRIED_OUTSIDE = "R R R R R R R G R"
NEVER = "G G G G G G G G G"
ALWAYS = (("FAULT_RATE", "1"),)
STALE = "R G R G R G R G G"
CARRIED = "R G R G G R R G G"

FAULTS = {
    "stale sum": Planted(binary="wrong_reads", shows=STALE, victim="adds up rows"),
    "stale size": Planted(binary="wrong_reads", shows=STALE, victim="unpacks a text"),
    "slack": Planted(binary="wrong_reads", shows=STALE, victim="a short row"),
    "relu": Planted(binary="wrong_reads", shows="R G R G G G R G G", victim="a layer without input"),
    "hidden read": Planted(binary="wrong_reads", shows="G G G G N G G G G", victim="the only one of its size"),
    "heap": Planted(binary="wrong_reads", shows=CARRIED_OUTSIDE, victim="asks a new table"),
    "both": Planted(binary="wrong_reads", shows="R G R G R R R G R", victim="the second to read"),
    "twice": Planted(binary="wrong_owners", shows=CARRIED, victim="needs two blocks"),
    "early": Planted(binary="wrong_owners", shows="R G R R G R R R G", victim="a view ends"),
    "kept pointer": Planted(binary="wrong_owners", shows=CARRIED, victim="finds the table"),
    "counters": Planted(binary="wrong_owners", shows="R G R R G R R R G", victim="no block is served twice"),
    "aligned": Planted(binary="wrong_owners", shows="R G R G G R R G R", victim="a kernel of wide loads"),
    "foreign": Planted(binary="wrong_owners", shows="R G G G G R R G G", victim="on the host"),
    "deferred": Planted(binary="wrong_owners", shows="R G R R G R G R R", victim="one large block after the other"),
    "capture": Planted(binary="wrong_owners", shows="G N G G N G G G N", victim="records a graph"),
    "upload": Planted(binary="wrong_waits", shows="R R R R R R G R R", victim="uses its staging buffer twice"),
    "late writer": Planted(binary="wrong_waits", shows="R G R G G R G G G", victim="fills"),
    "hasty bypass": Planted(binary="wrong_waits", shows="R R R R R R G G G", victim="fills"),
    "threads": Planted(binary="wrong_waits", shows="R R R R R R G R R", victim="sums in the background"),
    "sometimes late": Planted(binary="wrong_waits", shows="R G R G G R G G G", victim="fills", environment=ALWAYS),
    "flake": Planted(binary="wrong_waits", shows=EVERYWHERE, victim="answers in time", environment=ALWAYS),
    "thread": Planted(binary="wrong_surroundings", shows=CARRIED_OUTSIDE, victim="nobody works"),
    "open socket": Planted(binary="wrong_surroundings", shows=CARRIED_OUTSIDE, victim="serves again"),
    "leak": Planted(binary="wrong_surroundings", shows=CARRIED_OUTSIDE, victim="needs memory"),
    "plug-in": Planted(binary="wrong_surroundings", shows=CARRIED_OUTSIDE, victim="a third is a third"),
    "expired": Planted(binary="wrong_surroundings", shows=EVERYWHERE, victim="the certificate is valid"),
    "late fill": Planted(binary="odd_arms", shows="R G R G G R R G G", victim="adds up"),
    "fill on release": Planted(binary="odd_arms", shows="R G R G G G R G G", victim="adds up"),
    "short fill": Planted(binary="odd_arms", shows=CARRIED, victim="reads one line more"),
    "fragile": Planted(binary="odd_arms", shows="R N R G N G R G N", victim="adds up while it captures"),
}
# Those whose tests are below: what they show hangs on files, ports, the environment or chance.
OTHERS = {
    "file": "wrong_surroundings",
    "cache": "wrong_surroundings",
    "settings": "wrong_surroundings",
    "port": "wrong_surroundings",
    "variables": "wrong_surroundings",
    "shifted": "wrong_waits",
}


@pytest.fixture(autouse=True, scope="module")
def _no_core_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


@pytest.fixture
def binaries(examples_build: Path) -> Path:
    return examples_build.absolute() / "zoo"


def other(name: str, binaries: Path, folder: Path) -> Suite:
    return Suite(binary=binaries / OTHERS[name], folder=folder, pattern=f"{name}: *")


def test_every_fault_is_in_a_table(binaries: Path, tmp_path: Path) -> None:
    known = {name: planted.binary for name, planted in FAULTS.items()} | OTHERS
    found = {
        name.partition(": ")[0]: source.stem
        for source in SOURCES.glob("*.cpp")
        for name in Suite(binary=binaries / source.stem, folder=tmp_path).names()
    }
    assert found == known


@pytest.mark.parametrize("binary", sorted(set(OTHERS.values()) | {planted.binary for planted in FAULTS.values()}))
def test_no_profile_knows_the_switches_of_a_fault(binaries: Path, binary: str) -> None:
    contents = (binaries / binary).read_bytes()
    assert b"VT_POOL_" not in contents
    assert b"FIELD_BYPASS" in contents


@pytest.mark.parametrize("name", FAULTS)
def test_arms_show_what_the_table_says(binaries: Path, tmp_path: Path, name: str) -> None:
    suite = FAULTS[name].suite(name, binaries, tmp_path)
    environment = dict(FAULTS[name].environment)
    assert {suite.colours(environment) for _ in range(2)} == {FAULTS[name].shows}


@pytest.mark.parametrize("name", FAULTS)
def test_one_case_is_red_and_each_asserts_something(binaries: Path, tmp_path: Path, name: str) -> None:
    suite = FAULTS[name].suite(name, binaries, tmp_path)
    environment = dict(FAULTS[name].environment)
    red = {case for role in ROLES for case, _ in suite.under(role, environment).reds}
    assert red == {f"{name}: {FAULTS[name].victim}"}
    assert len(suite.names()) == 2


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_uses_its_pool_so_that_arms_act(binaries: Path, tmp_path: Path, name: str) -> None:
    suite = FAULTS[name].suite(name, binaries, tmp_path)
    bypassed = suite.under("bypass", dict(FAULTS[name].environment))
    assert bypassed.hits == 0


@pytest.mark.parametrize("name", ["sometimes late", "flake"])
def test_a_fault_of_chance_is_green_at_rate_0(binaries: Path, tmp_path: Path, name: str) -> None:
    assert FAULTS[name].suite(name, binaries, tmp_path).colours({"FAULT_RATE": "0"}) == NEVER


@pytest.mark.parametrize(("rate", "low", "high"), [("0.3", 0.15, 0.45), ("0.5", 0.35, 0.65), ("0.8", 0.65, 0.95)])
def test_a_seed_says_which_runs_are_red(binaries: Path, tmp_path: Path, rate: str, low: float, high: float) -> None:
    suite = FAULTS["flake"].suite("flake", binaries, tmp_path)

    def reds(counter: str, seed: str, runs: int) -> list[bool]:
        chosen = {"FAULT_RATE": rate, "FAULT_RUNS": str(tmp_path / counter), "FAULT_SEED": seed}
        return [bool(suite.run(chosen).reds) for _ in range(runs)]

    first = reds("first", "7", 60)
    assert low < sum(first) / 60 < high
    assert reds("second", "7", 25) == first[:25]
    assert reds("third", "8", 25) != first[:25]


@pytest.mark.parametrize(
    ("role", "low", "high"), [("baseline", 0.65, 0.95), ("bypass", 0.65, 0.95), ("exact", 0.15, 0.45)]
)
def test_exact_has_a_rate_of_its_own_where_sizes_shift_a_race(
    binaries: Path, tmp_path: Path, role: str, low: float, high: float
) -> None:
    suite = other("shifted", binaries, tmp_path)
    counted = {"FAULT_RUNS": str(tmp_path / "runs"), "FAULT_SEED": "3"}
    assert low < sum(bool(suite.under(role, counted).reds) for _ in range(60)) / 60 < high


@pytest.mark.parametrize("role", ROLES)
def test_a_file_of_the_last_run_makes_all_later_ones_red(binaries: Path, tmp_path: Path, role: str) -> None:
    suite = other("file", binaries, tmp_path)
    assert [bool(suite.under(role).reds) for _ in range(3)] == [False, True, True]


@pytest.mark.parametrize("role", ROLES)
def test_a_warm_cache_is_red_and_a_new_one_is_green_once(binaries: Path, tmp_path: Path, role: str) -> None:
    suite = other("cache", binaries, tmp_path)
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        cached = {"XDG_CACHE_HOME": str(tmp_path / folder)}
        assert [bool(suite.under(role, cached).reds) for _ in range(3)] == [False, True, True]


def test_a_setting_is_red_as_long_as_it_is_there(binaries: Path, tmp_path: Path) -> None:
    suite = other("settings", binaries, tmp_path)
    home = {"HOME": str(tmp_path)}
    assert suite.colours(home) == NEVER
    (tmp_path / ".fieldrc").touch()
    assert suite.colours(home) == EVERYWHERE


def test_a_port_is_taken_or_is_not(binaries: Path, tmp_path: Path) -> None:
    suite = other("port", binaries, tmp_path)
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        taken = {"FAULT_PORT": str(holder.getsockname()[1])}
        assert suite.colours(taken) == EVERYWHERE
    assert suite.colours() == NEVER


def test_any_variable_more_makes_the_one_that_hangs_on_them_green(binaries: Path, tmp_path: Path) -> None:
    suite = other("variables", binaries, tmp_path)
    kept = {"FAULT_SIZE": str(tmp_path / "size")}
    assert suite.colours(kept) == "R G G G G G G R G"
    assert not suite.run(kept | {"NOBODY_READS": "1"}).reds
    assert suite.run(kept).reds
