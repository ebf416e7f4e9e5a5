"""The field cases, run plainly: each binary shows under each arm what its row of the table says."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.plain_runs import ROLES, SWITCHES, Suite

SOURCES = Path(__file__).parents[2] / "examples" / "zoo" / "field"
ALWAYS = {"ZOO_RATE": "1"}

# In the order of ROLES: R the baseline's red, G green, N a new red.
TABLE = {
    "over_read": "R G R G G R R G G",
    "out_of_memory": "R G R G G R R G R",
    "pool_counters": "R G R G G R R G G",
    "in_case_stale_read": "R G R R R G R R G",
    "bypass_unmaps": "R R R R R R R R G",
    "bypass_leaks": "R G R R G R R R G",
    "bypass_protects": "R N R R N R R R G",
    "flaky_race": "R G R G G R G G G",
}
VICTIMS = {
    "over_read": "multiplies the tile at the edge",
    "out_of_memory": "convolves a large picture",
    "pool_counters": "memory pool: the first allocation is a miss",
    "in_case_stale_read": "generates twelve words",
    "bypass_unmaps": "runs a model twice",
    "bypass_leaks": "runs a model twice",
    "bypass_protects": "runs a model twice",
    "flaky_race": "computes in place",
}
OTHERS = ("state_on_disk", "frightening_words", "isfinite_under_poison")


@pytest.fixture(autouse=True, scope="module")
def _no_core_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


@pytest.fixture
def binaries(examples_build: Path) -> Path:
    return examples_build.absolute() / "zoo"


def test_every_case_is_built_and_in_a_table(binaries: Path) -> None:
    cases = {source.stem for source in SOURCES.glob("*.cpp")}
    assert cases == {*TABLE, *OTHERS}
    assert cases <= {binary.name for binary in binaries.iterdir()}


@pytest.mark.parametrize("name", [*TABLE, *OTHERS])
def test_no_profile_knows_the_switches_of_a_field_case(binaries: Path, name: str) -> None:
    contents = (binaries / name).read_bytes()
    assert b"VT_POOL_" not in contents
    assert (b"FIELD_BYPASS" in contents) == (name not in {"frightening_words", "isfinite_under_poison"})


@pytest.mark.parametrize("name", TABLE)
def test_arms_show_what_the_table_says(binaries: Path, tmp_path: Path, name: str) -> None:
    suite = Suite(binary=binaries / name, folder=tmp_path)
    assert {suite.colours(ALWAYS) for _ in range(2)} == {TABLE[name]}


@pytest.mark.parametrize("name", TABLE)
def test_red_is_one_symptom_in_one_case(binaries: Path, tmp_path: Path, name: str) -> None:
    suite = Suite(binary=binaries / name, folder=tmp_path)
    for role in ROLES:
        assert {case for case, _ in suite.under(role, ALWAYS).reds} <= {VICTIMS[name]}
    assert len(suite.under("baseline", ALWAYS).reds) == 1


def test_out_of_memory_says_so_and_no_block_was_handed_out_twice(binaries: Path, tmp_path: Path) -> None:
    red = Suite(binary=binaries / "out_of_memory", folder=tmp_path).under("baseline")
    ((_, text),) = red.reds
    assert text.strip('"') == "out of memory: tried to allocate N bytes"
    assert red.hits == 0


def test_a_bypass_hands_no_block_out_twice(binaries: Path, tmp_path: Path) -> None:
    for name in sorted(TABLE.keys() - {"bypass_protects"}):
        suite = Suite(binary=binaries / name, folder=tmp_path)
        assert suite.under("bypass", ALWAYS).hits == 0
        assert (suite.under("baseline", ALWAYS).hits == 0) == (name == "out_of_memory")


def test_the_released_block_is_a_segfault_where_a_bypass_protects_it(binaries: Path, tmp_path: Path) -> None:
    red = Suite(binary=binaries / "bypass_protects", folder=tmp_path).under("bypass")
    ((_, what),) = red.reds
    assert what.startswith("SIGSEGV")


def test_a_race_is_green_at_rate_0(binaries: Path, tmp_path: Path) -> None:
    suite = Suite(binary=binaries / "flaky_race", folder=tmp_path)
    assert suite.colours({"ZOO_RATE": "0"}) == " ".join("G" for _ in ROLES)


@pytest.mark.parametrize("role", ROLES)
def test_state_on_disk_is_green_once(binaries: Path, tmp_path: Path, role: str) -> None:
    suite = Suite(binary=binaries / "state_on_disk", folder=tmp_path)
    runs = [suite.under(role, {"FIELD_KERNELS": str(tmp_path / "kernels")}) for _ in range(3)]
    assert [bool(run.reds) for run in runs] == [False, True, True]
    assert {case for run in runs for case, _ in run.reds} == {"compiles a kernel once"}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("d", "No space left on device"),
        ("f", "free(): 8192"),
        ("r", "runtime error: bad shape [1, negative]"),
        ("n", "nan=2048"),
        ("t", "nan=6"),
    ],
)
def test_frightening_words_are_printed_by_a_green_suite(binaries: Path, tmp_path: Path, word: str, text: str) -> None:
    suite = Suite(binary=binaries / "frightening_words", folder=tmp_path)
    run = suite.run({"FIELD_WORDS": word})
    assert (run.code, len(run.ran)) == (0, 4)
    assert text in run.err
    assert not suite.run({}).err


@pytest.mark.parametrize("perturb", ["0", "128", "255"])
def test_a_fill_of_glibc_leaves_the_bias_finite(binaries: Path, tmp_path: Path, perturb: str) -> None:
    suite = Suite(binary=binaries / "isfinite_under_poison", folder=tmp_path)
    tunables = {"GLIBC_TUNABLES": f"glibc.malloc.mmap_threshold=1:glibc.malloc.perturb={perturb}"}
    assert suite.colours(tunables) == " ".join("G" for _ in SWITCHES)
