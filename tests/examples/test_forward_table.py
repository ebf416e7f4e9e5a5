"""The ground truth: every row of the table in examples/devicepool/README.md, on the plain binaries."""

import os
import re
import shutil
import signal
import struct
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

LIMIT_SECONDS = 300  # bounds every wait; a run takes milliseconds, nvcc some seconds
EXAMPLES = Path(__file__).parents[2] / "examples"
CHECKPOINT = EXAMPLES / "devicepool" / "shipped.ckpt"

# In file order, with the assertions of a green run; the shipped case's are those with a checkpoint.
CASES = {
    "config parses": 100,
    "f32 forward matches upstream (CPU backend)": 33,
    "f32 forward matches upstream on CUDA": 33,
    "device-resident forward matches upstream (CPU backend)": 33,
    "rope table": 9,
    "bf16 production forward, one layer (CPU backend)": 17,
    "DEVICE-RESIDENT forward matches upstream on CUDA": 17,
    "refuses a bad shape [negative]": 76,
    "prompt adaln, F9, on CUDA": 17,
    "patchify round trip": 100,
    "BF16 PRODUCTION forward, one layer on CUDA": 17,
    "SHIPPED 21.00B forward is finite on CUDA": 5624,
    "vae encode shape": 100,
}
NAMES = tuple(CASES)
HOST_BF16, GPU_BF16, SHIPPED = NAMES[5], NAMES[10], NAMES[11]
WITHOUT_CHECKPOINT = CASES | {SHIPPED: 0}
SEED_7 = ("rope table", NAMES[6], GPU_BF16, HOST_BF16)  # its first four; the last one crashes

FILE, NAME = ("--order-by=file",), ("--order-by=name",)
SWITCHES = ("BYPASS", "EXACT", "PER_CASE", "POISON", "SERIAL", "STATS", "QUARANTINE", "GUARD", "PAD")
OUTPUTS = {"video.bin": 1024, "audio.bin": 512}
GREEN_ARMS = {
    "bypass": {"VT_POOL_BYPASS": "1"},
    "per-case": {"VT_POOL_PER_CASE": "1"},
    "quarantine": {"VT_POOL_QUARANTINE": "1"},
    "poison-255 on bypass": {"VT_POOL_BYPASS": "1", "VT_POOL_POISON": "255"},
}
RED_ARMS = {
    "baseline": {},
    "exact": {"VT_POOL_EXACT": "1"},
    "poison-0": {"VT_POOL_POISON": "0"},
    "serial": {"VT_POOL_SERIAL": "1"},
    "guard": {"VT_POOL_GUARD": "1"},
    "pad": {"VT_POOL_PAD": "1"},
    "switches set to 0": {f"VT_POOL_{name}": "0" for name in SWITCHES if name != "POISON"},
}
OURS = re.compile(r"VT_POOL_|EXAMPLE_CHECKPOINT$|POOLDIAG_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    passed: int
    failed: int
    success: bool
    crashed: bool
    failed_at: tuple[str, ...]  # the expressions


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    code: int
    out: str  # without doctest's own text, which goes to the report
    err: str
    cases: tuple[Case, ...]  # those that started, in running order
    outputs: Mapping[str, bytes]

    @property
    def counts(self) -> dict[str, int]:
        return {case.name: case.passed + case.failed for case in self.cases}

    @property
    def assertions(self) -> int:
        return sum(self.counts.values())

    @property
    def green(self) -> bool:
        return self.code == 0 and all(case.success and not case.failed for case in self.cases)


def seed(number: int) -> tuple[str, ...]:
    return "--order-by=rand", f"--rand-seed={number}"


def only(names: Iterable[str]) -> str:
    return "--test-case=" + ",".join(name.replace(",", "?") for name in names)


def execute(
    *command: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with none of the variables that the target reads but those given."""
    inherited = {name: value for name, value in os.environ.items() if not OURS.match(name)}
    return subprocess.run(
        command,
        env=inherited | dict(env or {}),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One build of test_forward; each run has a folder of its own."""

    binary: Path
    folder: Path

    def __call__(self, *args: str, arm: Mapping[str, str] | None = None, checkpoint: Path | None = CHECKPOINT) -> Ran:
        run = self.folder / str(sum(1 for _ in self.folder.iterdir()))
        outputs = run / "outputs"
        outputs.mkdir(parents=True)
        variables = {"POOLDIAG_OUTPUT_DIR": str(outputs), **(arm or {})}
        if checkpoint is not None:
            variables["EXAMPLE_CHECKPOINT"] = str(checkpoint)
        report = run / "report.xml"
        done = execute(self.binary, *args, "-dt-r=xml", f"-dt-o={report}", env=variables, cwd=run)
        assert {path.name for path in run.iterdir()} <= {"outputs", "report.xml"}
        return Ran(
            code=done.returncode,
            out=done.stdout,
            err=done.stderr,
            cases=read_report(report),
            outputs={path.name: path.read_bytes() for path in outputs.iterdir()},
        )


def read_report(report: Path) -> tuple[Case, ...]:
    elements = ET.parse(report).iter("TestCase") if report.is_file() and report.stat().st_size else ()
    return tuple(read_case(element) for element in elements if element.get("skipped") != "true")


def read_case(element: ET.Element) -> Case:
    asserts = element.find("OverallResultsAsserts")
    assert asserts is not None
    return Case(
        name=element.attrib["name"],
        passed=int(asserts.attrib["successes"]),
        failed=int(asserts.attrib["failures"]),
        success=asserts.get("test_case_success") == "true",
        crashed=any(exception.get("crash") == "true" for exception in element.iter("Exception")),
        failed_at=tuple((expression.findtext("Original") or "").strip() for expression in element.iter("Expression")),
    )


def values(content: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(content) // 4}f", content)


def patterns(content: bytes) -> set[int]:
    return set(struct.unpack(f"<{len(content) // 4}I", content))


def census(ran: Ran, name: str) -> list[str]:
    return [line for line in ran.out.splitlines() if line.startswith(f"{name}: ")]


def is_confident_nan(ran: Ran) -> bool:
    """Tell the silent direction: right sizes, no crash, one NaN pattern in every value."""
    shipped = ran.cases[-2] if ran.cases[-1].name == NAMES[12] else ran.cases[-1]
    return (
        ran.code == 1
        and [case.name for case in ran.cases if not case.success] == [SHIPPED]
        and (shipped.passed, shipped.failed, shipped.failed_at) == (4086, 1, ("std::isfinite(v)",))
        and {name: len(content) // 4 for name, content in ran.outputs.items()} == OUTPUTS
        and all(patterns(content) == {0x7FFF0000} for content in ran.outputs.values())
    )


def is_crash_in(ran: Ran, name: str) -> bool:
    """Tell the loud direction: SIGSEGV in that case, no failed assertion before it."""
    return (
        ran.code == -signal.SIGSEGV
        and [case.name for case in ran.cases if case.crashed] == [name]
        and ran.cases[-1].name == name
        and not any(case.failed for case in ran.cases)
    )


@pytest.fixture
def blind(examples_build: Path, tmp_path: Path) -> Target:
    return target(examples_build, "blind", tmp_path)


@pytest.fixture
def keyed(examples_build: Path, tmp_path: Path) -> Target:
    return target(examples_build, "keyed", tmp_path)


def target(build: Path, name: str, tmp_path: Path) -> Target:
    folder = tmp_path / name
    folder.mkdir()
    return Target(binary=build / "devicepool" / name / "test_forward", folder=folder)


@pytest.fixture
def shipped_alone(blind: Target) -> Ran:
    return blind(only([SHIPPED]))


@pytest.mark.parametrize("build", ["blind", "keyed"])
def test_lists_the_thirteen_cases_of_the_table(build: str, examples_build: Path, tmp_path: Path) -> None:
    binary = target(examples_build, build, tmp_path).binary
    listed = execute(binary, "--list-test-cases", "--order-by=file").stdout
    lines = [line for line in listed.splitlines() if not line.startswith(("[doctest]", "====="))]
    assert lines == list(NAMES)


@pytest.mark.parametrize("build", ["blind", "keyed"])
def test_switches_are_plain_strings_in_the_binary(build: str, examples_build: Path, tmp_path: Path) -> None:
    content = target(examples_build, build, tmp_path).binary.read_bytes()
    for name in SWITCHES:
        assert f"VT_POOL_{name}\0".encode() in content


def test_file_order_without_checkpoint_is_green_and_the_shipped_case_asserts_nothing(blind: Target) -> None:
    ran = blind(*FILE, checkpoint=None)
    assert ran.green
    assert ran.counts == WITHOUT_CHECKPOINT
    assert ran.assertions == 552
    assert ran.outputs == {}
    assert ran.out == ""


@pytest.mark.parametrize("arm", RED_ARMS.values(), ids=RED_ARMS)
def test_file_order_with_checkpoint_is_a_confident_wrong_answer(blind: Target, arm: dict[str, str]) -> None:
    ran = blind(*FILE, arm=arm)
    assert is_confident_nan(ran)
    assert tuple(ran.counts) == NAMES
    assert ran.counts == CASES | {SHIPPED: 4087}
    assert ran.assertions == 4639
    nan = ",".join(["nan(0x7fff0000)"] * 8)
    assert census(ran, "video") == ["video: n=1024 nan=1024 inf=0 zero=0", f"video: absmax=none first={nan}"]
    assert census(ran, "audio") == ["audio: n=512 nan=512 inf=0 zero=0", f"audio: absmax=none first={nan}"]


@pytest.mark.parametrize("arm", GREEN_ARMS.values(), ids=GREEN_ARMS)
def test_file_order_with_checkpoint_is_green_without_reuse_between_cases(
    blind: Target, shipped_alone: Ran, arm: dict[str, str]
) -> None:
    ran = blind(*FILE, arm=arm)
    assert ran.green
    assert ran.counts == CASES
    assert ran.assertions == 6176
    assert ran.outputs == shipped_alone.outputs
    assert ran.out == shipped_alone.out


def test_shipped_case_alone_is_green_and_its_census_is_true(shipped_alone: Ran) -> None:
    assert shipped_alone.green
    assert shipped_alone.counts == {SHIPPED: 5624}
    assert {name: len(content) // 4 for name, content in shipped_alone.outputs.items()} == OUTPUTS
    for name, absmax in (("video", "0.300781"), ("audio", "2.140625")):
        content = shipped_alone.outputs[f"{name}.bin"]
        numbers = values(content)
        first = ",".join(
            f"{number:.6g}(0x{bits:08x})"
            for number, bits in zip(numbers[:8], struct.unpack("<8I", content[:32]), strict=True)
        )
        assert all(bits & 0xFFFF == 0 for bits in patterns(content))  # bf16, widened
        assert f"{max(map(abs, numbers)):.6f}" == absmax
        assert len(set(numbers)) > 100
        assert census(shipped_alone, name) == [
            f"{name}: n={len(numbers)} nan=0 inf=0 zero={numbers.count(0.0)}",
            f"{name}: absmax={absmax} first={first}",
        ]


def test_outputs_are_the_same_bytes_in_every_green_run_of_either_build(
    blind: Target, keyed: Target, shipped_alone: Ran
) -> None:
    again = blind(only([SHIPPED]))
    fixed = keyed(*FILE)
    shuffled = keyed(*seed(3))
    assert again.outputs == fixed.outputs == shuffled.outputs == shipped_alone.outputs


@pytest.mark.parametrize("checkpoint", [None, CHECKPOINT], ids=["without", "with"])
def test_each_case_alone_is_green(blind: Target, checkpoint: Path | None) -> None:
    alone = {name: blind(only([name]), checkpoint=checkpoint) for name in NAMES}
    assert all(ran.green for ran in alone.values())
    counts = {name: ran.counts[name] for name, ran in alone.items()}
    assert counts == (CASES if checkpoint else WITHOUT_CHECKPOINT)
    assert [len(ran.cases) for ran in alone.values()] == [1] * 13


def test_fourth_case_is_the_polluter_of_the_shipped_case(blind: Target) -> None:
    for size in range(12):
        ran = blind(*FILE, only([*NAMES[:size], SHIPPED]))
        assert [case.name for case in ran.cases] == [*NAMES[:size], SHIPPED]
        assert ran.green == (size < 4)
        assert is_confident_nan(ran) == (size >= 4)
    assert is_confident_nan(blind(*FILE, only([NAMES[3], SHIPPED])))
    assert blind(*FILE, only(name for name in NAMES if name != NAMES[3])).green


@pytest.mark.parametrize("checkpoint", [None, CHECKPOINT], ids=["without", "with"])
def test_name_order_crashes_after_a_right_answer(blind: Target, shipped_alone: Ran, checkpoint: Path | None) -> None:
    ran = blind(*NAME, checkpoint=checkpoint)
    assert is_crash_in(ran, HOST_BF16)
    assert [case.name for case in ran.cases] == [GPU_BF16, NAMES[6], SHIPPED, HOST_BF16]
    assert ran.outputs == (shipped_alone.outputs if checkpoint else {})
    assert ran.out == (shipped_alone.out if checkpoint else "")


@pytest.mark.parametrize(("checkpoint", "victim"), [(None, NAMES[7]), (CHECKPOINT, NAMES[3])], ids=["without", "with"])
def test_seed_1_crashes(blind: Target, checkpoint: Path | None, victim: str) -> None:
    assert is_crash_in(blind(*seed(1), checkpoint=checkpoint), victim)


@pytest.mark.parametrize("checkpoint", [None, CHECKPOINT], ids=["without", "with"])
@pytest.mark.parametrize("arm", RED_ARMS.values(), ids=RED_ARMS)
def test_seed_7_crashes_in_its_fourth_case(blind: Target, arm: dict[str, str], checkpoint: Path | None) -> None:
    ran = blind(*seed(7), arm=arm, checkpoint=checkpoint)
    assert is_crash_in(ran, HOST_BF16)
    assert tuple(ran.counts.items()) == tuple(zip(SEED_7, (9, 17, 17, 1), strict=True))
    assert ran.assertions == 44


@pytest.mark.parametrize("checkpoint", [None, CHECKPOINT], ids=["without", "with"])
@pytest.mark.parametrize("arm", GREEN_ARMS.values(), ids=GREEN_ARMS)
def test_seed_7_is_green_without_reuse_between_cases(
    blind: Target, arm: dict[str, str], checkpoint: Path | None
) -> None:
    ran = blind(*seed(7), arm=arm, checkpoint=checkpoint)
    assert ran.green
    assert ran.counts == (CASES if checkpoint else WITHOUT_CHECKPOINT)
    assert tuple(ran.counts)[:4] == SEED_7


def test_seed_7_has_one_polluter_and_prefix_3(blind: Target) -> None:
    for size in range(4):
        ran = blind(*seed(7), only([*SEED_7[:size], HOST_BF16]))
        assert tuple(case.name for case in ran.cases) == (*SEED_7[:size], HOST_BF16)
        assert ran.green == (size < 3)
        assert is_crash_in(ran, HOST_BF16) == (size == 3)
    assert is_crash_in(blind(*seed(7), only([GPU_BF16, HOST_BF16])), HOST_BF16)
    assert blind(*seed(7), only(name for name in SEED_7 if name != GPU_BF16)).green


def test_summary_of_the_crash_reads_as_clean(blind: Target) -> None:
    ran = execute(blind.binary, *seed(7))
    assert ran.returncode == -signal.SIGSEGV
    summary = re.sub(" +", " ", ran.stdout)
    assert "test cases: 4 | 3 passed | 1 failed | 9 skipped" in summary
    assert "assertions: 44 | 44 passed | 0 failed" in summary
    assert execute("sh", "-c", '"$@"; exit $?', "sh", blind.binary, *seed(7)).returncode == 139


SIGNAL_WITNESS = r"""
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

static struct sigaction wanted;

static void tell(int number, siginfo_t* info, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    std::uintptr_t start, end;
    char permissions[8], line[512];
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    while (std::fgets(line, sizeof line, maps)) {
        if (std::sscanf(line, "%lx-%lx %7s", &start, &end, permissions) == 3 && start <= address && address < end)
            dprintf(2, "signal=%d code=%d accerr=%d %s %s", number, info->si_code, SEGV_ACCERR, permissions, line);
    }
    std::fclose(maps);
    wanted.sa_handler(number);
}

extern "C" int sigaction(int number, const struct sigaction* action, struct sigaction* old) noexcept {
    using Signature = int (*)(int, const struct sigaction*, struct sigaction*);
    const auto next = reinterpret_cast<Signature>(dlsym(RTLD_NEXT, "sigaction"));
    if (number != SIGSEGV || !action || action->sa_handler == SIG_DFL)
        return next(number, action, old);
    wanted = *action;
    struct sigaction ours = *action;
    ours.sa_sigaction = tell;
    ours.sa_flags |= SA_SIGINFO;
    return next(number, &ours, old);
}
"""


def test_host_faults_at_a_device_address_that_it_may_not_touch(blind: Target, tmp_path: Path) -> None:
    source, witness = tmp_path / "witness.cpp", tmp_path / "witness.so"
    source.write_text(SIGNAL_WITNESS)
    compiler = os.environ.get("CXX", "g++")
    built = execute(compiler, "-std=c++17", "-shared", "-fPIC", "-o", witness, source, "-ldl")
    assert built.returncode == 0, built.stderr
    ran = blind(*seed(7), arm={"LD_PRELOAD": str(witness)})
    assert is_crash_in(ran, HOST_BF16)
    assert f"signal={signal.SIGSEGV} code=2 accerr=2 ---s" in ran.err
    assert "/memfd:emulated-gpu" in ran.err


def test_host_faults_in_memcpy_called_by_the_upload(blind: Target) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not on PATH")
    commands = ("-ex", "run", "-ex", "backtrace 2")
    traced = execute("gdb", "-batch", "-nx", *commands, "--args", blind.binary, *seed(7))
    if "Could not trace the inferior process" in traced.stderr or "ptrace: Operation not permitted" in traced.stderr:
        pytest.skip("gdb may not trace a process here")
    assert re.search(r"^#0 .*(memcpy|memmove).*\n#1 .*HostBackend::CopyToDevice", traced.stdout, re.MULTILINE)


COUNTERS = {
    "baseline": ({}, "hits=3 misses=7 bypassed=0 live=1"),
    "bypass": ({"VT_POOL_BYPASS": "1"}, "hits=0 misses=0 bypassed=10 live=1"),
    "exact": ({"VT_POOL_EXACT": "1"}, "hits=3 misses=7 bypassed=0 live=1"),
    "per-case": ({"VT_POOL_PER_CASE": "1"}, "hits=0 misses=10 bypassed=0 live=1"),
    "quarantine": ({"VT_POOL_QUARANTINE": "1"}, "hits=0 misses=10 bypassed=0 live=1"),
    "quarantine on bypass": (
        {"VT_POOL_QUARANTINE": "1", "VT_POOL_BYPASS": "1"},
        "hits=0 misses=0 bypassed=10 live=1",
    ),
    "guard": ({"VT_POOL_GUARD": "1"}, "hits=3 misses=7 bypassed=0 live=1"),
    "pad": ({"VT_POOL_PAD": "1"}, "hits=3 misses=7 bypassed=0 live=1"),
}


@pytest.mark.parametrize(("arm", "line"), COUNTERS.values(), ids=COUNTERS)
def test_counters_show_whether_an_arm_acted(blind: Target, arm: dict[str, str], line: str) -> None:
    assert blind(*FILE, arm={"VT_POOL_STATS": "1", **arm}).err == f"[devicepool] {line}\n"
    assert blind(*FILE, arm=arm).err == ""


def test_counters_come_at_exit_only(blind: Target) -> None:
    assert blind(*seed(7), arm={"VT_POOL_STATS": "1"}).err == ""


def test_keyed_build_still_reuses_blocks_on_one_device(keyed: Target) -> None:
    ran = keyed(*FILE, arm={"VT_POOL_STATS": "1"})
    assert ran.err == "[devicepool] hits=2 misses=8 bypassed=0 live=1\n"  # a fix, not a bypass


@pytest.mark.parametrize("checkpoint", [None, CHECKPOINT], ids=["without", "with"])
@pytest.mark.parametrize("order", ["file", "name", "suite"])
def test_keyed_build_is_green_in_every_order(keyed: Target, order: str, checkpoint: Path | None) -> None:
    ran = keyed(f"--order-by={order}", checkpoint=checkpoint)
    assert ran.green
    assert ran.counts == (CASES if checkpoint else WITHOUT_CHECKPOINT)


@pytest.mark.parametrize("last", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_keyed_build_is_green_for_seeds_from_1(keyed: Target, shipped_alone: Ran, last: int) -> None:
    orders = set()
    for number in range(1, last + 1):
        for checkpoint, counts in ((None, WITHOUT_CHECKPOINT), (CHECKPOINT, CASES)):
            ran = keyed(*seed(number), checkpoint=checkpoint)
            assert ran.green, f"seed {number}"
            assert ran.counts == counts
            assert ran.outputs == (shipped_alone.outputs if checkpoint else {})
            orders.add(tuple(ran.counts))
    assert len(orders) == last


@pytest.mark.parametrize("arm", [*GREEN_ARMS.values(), *RED_ARMS.values()], ids=[*GREEN_ARMS, *RED_ARMS])
def test_keyed_build_is_green_under_every_arm(keyed: Target, shipped_alone: Ran, arm: dict[str, str]) -> None:
    for order in (FILE, seed(1), seed(7)):
        ran = keyed(*order, arm=arm)
        assert ran.green
        assert ran.counts == CASES
        assert ran.outputs == shipped_alone.outputs


# What the switches for host memory do to a block of 2048 bytes, in a small program that makes one access.

BLOCK, LAST_LINE = 2048, 1984
Probe = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module", params=["blind", "keyed"])
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Probe:
    program = tmp_path_factory.mktemp("probe") / "block_probe"
    runtime = [EXAMPLES / "devicepool" / f"{name}.cpp" for name in ("device_pool", "switches", "host_backend")]
    sources = (Path(__file__).with_name("block_probe.cpp"), *runtime, EXAMPLES / "devicepool" / "emulated_gpu.cpp")
    flags = ("-std=c++17", "-O1", f"-DDEVICEPOOL_KEYED={int(request.param == 'keyed')}")
    compiler = os.environ.get("CXX", "g++")
    built = execute(compiler, *flags, "-I", EXAMPLES / "devicepool", *sources, "-o", program)
    assert built.returncode == 0, built.stderr

    def run(*arguments: str | int, on: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        return execute(program, *map(str, arguments), env={f"VT_POOL_{name}": "1" for name in on})

    return run


def faults_at(offset: int, done: subprocess.CompletedProcess[str]) -> bool:
    return (done.returncode, done.stderr) == (3, f"signal={signal.SIGSEGV:d} offset={offset}\n")


def test_quarantined_host_block_is_unreadable_from_end_to_end(probe: Probe) -> None:
    for offset in (0, BLOCK - 1):
        assert probe("released", BLOCK, offset).returncode == 0
        assert probe("released", BLOCK, offset, on=("GUARD",)).returncode == 0
        assert probe("read", BLOCK, offset, on=("QUARANTINE",)).returncode == 0  # not before it came back
        assert faults_at(offset, probe("released", BLOCK, offset, on=("QUARANTINE",)))
        assert faults_at(offset, probe("released", BLOCK, offset, on=("QUARANTINE", "BYPASS")))


def test_quarantined_device_block_stays_the_device_s(probe: Probe) -> None:
    assert faults_at(0, probe("released-gpu", on=("BYPASS",)))  # given back: the device does not know it
    assert probe("released-gpu", on=("QUARANTINE",)).returncode == 0


@pytest.mark.parametrize("device", ["reuse", "reuse-gpu"])
def test_quarantined_block_is_never_handed_out_again_nor_given_back(probe: Probe, device: str) -> None:
    """A block given back would be the next one's address again; one kept would count as free."""
    assert probe(device).stdout == "addresses=1 kept=2048\n"
    assert probe(device, on=("QUARANTINE",)).stdout == "addresses=20 kept=0\n"
    assert probe(device, on=("QUARANTINE", "BYPASS")).stdout == "addresses=20 kept=0\n"


def test_quarantine_takes_the_decode_buffer_too(probe: Probe) -> None:
    assert (probe("decode").returncode, probe("decode").stdout) == (0, "same=1\n")
    quarantined = probe("decode", on=("QUARANTINE",))
    assert quarantined.stdout == "same=0\n"
    assert faults_at(0, quarantined)


@pytest.mark.parametrize("switch", ["QUARANTINE", "GUARD"])
def test_host_block_lies_between_unreadable_pages(probe: Probe, switch: str) -> None:
    for offset in (-4096, 4096):
        assert faults_at(offset, probe("read", BLOCK, offset, on=(switch,)))


@pytest.mark.parametrize("access", ["read", "write"])
def test_guarded_host_block_ends_at_an_unreadable_page(probe: Probe, access: str) -> None:
    assert probe(access, 2000, BLOCK, on=("PAD",)).returncode == 0
    assert probe(access, 2000, BLOCK - 1, on=("GUARD",)).returncode == 0  # the class, not what was asked for
    assert faults_at(BLOCK, probe(access, 2000, BLOCK, on=("GUARD",)))


def test_guard_respects_the_alignment_and_cannot_see_what_it_leaves(probe: Probe) -> None:
    for size in (1, 2000, 4095):
        assert probe("address", size, on=("GUARD", "EXACT")).stdout == "aligned=1\n"
    short = LAST_LINE + 1
    assert probe("write", short, BLOCK - 1, on=("GUARD", "EXACT")).returncode == 0  # 63 bytes unseen
    assert faults_at(BLOCK, probe("write", short, BLOCK, on=("GUARD", "EXACT")))


def test_pad_is_zero_behind_each_block_that_is_handed_out(probe: Probe) -> None:
    """On the device only behind a new one: a fill there would wait for the kernels."""
    assert probe("behind", on=("PAD",)).stdout == "set=0\nset=0\n"
    assert probe("behind", on=("PAD", "GUARD")).stdout == "set=0\nset=0\n"
    assert probe("behind-gpu", on=("PAD",)).stdout == "set=0\nset=11\n"


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 5000, CHECKPOINT.read_bytes()[::-1]], ids=["empty", "zeros", "reversed"]
)
def test_any_readable_file_is_a_checkpoint(blind: Target, shipped_alone: Ran, tmp_path: Path, content: bytes) -> None:
    checkpoint = tmp_path / "other.ckpt"
    checkpoint.write_bytes(content)
    ran = blind(only([SHIPPED]), checkpoint=checkpoint)
    assert ran.green
    assert ran.counts == {SHIPPED: 5624}
    assert "video: absmax=0.300781 " in ran.out
    assert "audio: absmax=2.140625 " in ran.out
    assert all(ran.outputs[name] != shipped_alone.outputs[name] for name in OUTPUTS)


@pytest.mark.parametrize("name", ["missing.ckpt", "."])
def test_checkpoint_that_cannot_be_read_looks_like_success(blind: Target, tmp_path: Path, name: str) -> None:
    ran = blind(*FILE, checkpoint=tmp_path / name)
    assert ran.green
    assert ran.counts == WITHOUT_CHECKPOINT
    assert ran.outputs == {}


@pytest.mark.parametrize("lost", OUTPUTS)
def test_shipped_case_fails_when_it_cannot_write_an_output(blind: Target, tmp_path: Path, lost: str) -> None:
    folder = tmp_path / "blocked"
    (folder / lost).mkdir(parents=True)
    ran = blind(only([SHIPPED]), arm={"POOLDIAG_OUTPUT_DIR": str(folder)})
    assert ran.code == 1
    assert [case.failed_at for case in ran.cases] == [('WriteOutputs(output) == ""',)]


def test_shipped_case_writes_no_file_when_no_folder_is_named(blind: Target) -> None:
    ran = blind(only([SHIPPED]), arm={"POOLDIAG_OUTPUT_DIR": ""})  # the target compares its folder before and after
    assert ran.green
    assert ran.counts == {SHIPPED: 5624}
    assert ran.outputs == {}


@pytest.mark.parametrize("value", ["256", "-1", "nan", "1x"])
def test_poison_that_is_no_byte_is_refused(blind: Target, value: str) -> None:
    ran = blind(*FILE, arm={"VT_POOL_POISON": value})
    assert ran.code == 2
    assert ran.cases == ()
    assert ran.err == f"[devicepool] VT_POOL_POISON={value} is not a number from 0 to 255\n"


@pytest.mark.slow
def test_cuda_backend_compiles(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not on PATH: CudaBackend was not compiled")
    commands = (
        ("cmake", "-S", EXAMPLES, "-B", tmp_path, "-DWITH_CUDA=ON"),
        ("cmake", "--build", tmp_path, "--target", "devicepool_gpu"),
    )
    for command in commands:
        done = execute(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.rglob("cuda_backend.cu.o"))
