"""The zoo's traps, run plainly: what each binary really does, before anything of ours reads it."""

import io
import os
import re
import resource
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

LIMIT_SECONDS = 60  # bounds every wait; nothing here takes a second
SOURCES = Path(__file__).parents[2] / "examples" / "zoo" / "traps"
SUCCESS = "[doctest] Status: SUCCESS!"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    code: int
    raw: bytes  # stdout
    err: str
    report: str  # what was left of the file that -dt-o named

    @property
    def out(self) -> str:
        return self.raw.decode(errors="replace")

    @property
    def cases(self) -> tuple[int, ...]:
        """Number the cases as the summary does: run, passed, failed, skipped."""
        return _numbers(r"test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed \| +(\d+) skipped", self.out)

    @property
    def assertions(self) -> tuple[int, ...]:
        """Number the assertions as the summary does: all, passed, failed."""
        return _numbers(r"assertions: +(\d+) \| +(\d+) passed \| +(\d+) failed", self.out)

    @property
    def indices(self) -> list[int]:
        return [int(index) for index in re.findall(r"ran#(\d+)", self.err)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    finished: bool
    assertions: int
    success: bool
    crash: str


@dataclass(slots=True, kw_only=True)
class Started:
    """A binary that runs in a session of its own; stderr is a pipe, stdout and the report are files."""

    process: subprocess.Popen[bytes]
    report: Path
    said: bytes = b""

    def announced(self, what: str) -> int:
        """Wait until `<what>#<pid>` is on stderr, and return the pid."""
        assert self.process.stderr is not None
        while (found := re.search(rf"\b{what}#(\d+)\n".encode(), self.said)) is None:
            assert select.select([self.process.stderr], [], [], LIMIT_SECONDS)[0], f"no {what}# on stderr"
            more = os.read(self.process.stderr.fileno(), 4096)
            assert more, f"ended before {what}#: {self.said!r}"
            self.said += more
        return int(found[1])

    def ends(self) -> int:
        return self.process.wait(LIMIT_SECONDS)


class Zoo:
    def __init__(self, binaries: Path, folder: Path, cleanup: ExitStack) -> None:
        self.binaries = binaries
        self.folder = folder
        self._cleanup = cleanup

    def run(self, name: str, *arguments: str, **switches: str) -> Ran:
        """Run a binary with nothing in its environment but `switches`."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        done = subprocess.run(
            [self.binaries / name, *arguments],
            capture_output=True,
            check=False,
            cwd=self.folder,
            env=switches,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_SECONDS,
        )
        text = report.read_text() if report.exists() else ""
        return Ran(code=done.returncode, raw=done.stdout, err=done.stderr.decode(errors="replace"), report=text)

    def xml(self, name: str, *arguments: str, **switches: str) -> Ran:
        return self.run(name, "-dt-r=xml", f"-dt-o={self.folder / 'report.xml'}", *arguments, **switches)

    def listed(self, name: str, **switches: str) -> list[str]:
        listing = ET.fromstring(self.xml(name, "-dt-ltc", "-dt-ns=1", **switches).report)
        return [case.get("name", "") for case in listing.iter("TestCase")]

    def start(self, name: str, *, out: int | None = None, **switches: str) -> Started:
        report = self.folder / "report.xml"
        with (self.folder / "stdout").open("wb") as file:
            process = subprocess.Popen(
                [self.binaries / name, "-dt-r=xml", f"-dt-o={report}"],
                cwd=self.folder,
                env={"ZOO_CHILD_SECONDS": str(2 * LIMIT_SECONDS), **switches},  # bounds a child that was never named
                start_new_session=True,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                stdout=file if out is None else out,
            )
        self._cleanup.enter_context(process)
        self._cleanup.callback(process.kill)
        return Started(process=process, report=report)

    def guard(self, pid: int) -> int:
        """Return a descriptor of a process that is no child of ours: readable once it ended, killed with the test."""
        descriptor = os.pidfd_open(pid)
        self._cleanup.callback(os.close, descriptor)
        self._cleanup.callback(_kill, descriptor)
        return descriptor


@pytest.fixture
def zoo(examples_build: Path, tmp_path: Path) -> Iterator[Zoo]:
    with ExitStack() as cleanup:
        yield Zoo(examples_build.absolute() / "zoo", tmp_path, cleanup)


@pytest.fixture(autouse=True, scope="module")
def _no_core_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


def _kill(descriptor: int) -> None:
    if not _ended(descriptor):
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)


def _ended(descriptor: int, *, within_seconds: int = 0) -> bool:
    return bool(select.select([descriptor], [], [], within_seconds)[0])


def _numbers(pattern: str, text: str) -> tuple[int, ...]:
    found = re.findall(pattern, text)
    assert len(found) == 1, text
    return tuple(int(number) for number in found[0])


def _has(pid: int, mask: str, number: signal.Signals) -> bool:
    """Tell whether a signal is in a mask of a process: SigIgn, SigCgt."""
    found = re.search(rf"^{mask}:\s+([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return bool(int(found[1], 16) >> (number - 1) & 1)


def read(report: str) -> tuple[list[Case], bool]:
    """Read the cases that a report, which may be cut, says were started, and whether it is complete."""
    started: list[ET.Element] = []
    finished: list[ET.Element] = []
    complete = False
    with suppress(ET.ParseError):  # it comes at the end of a cut report, after all that is there
        for event, element in ET.iterparse(io.StringIO(report), ("start", "end")):
            if element.tag == "TestCase" and element.get("skipped") != "true":
                (started if event == "start" else finished).append(element)
            complete = complete or (event == "end" and element.tag == "doctest")
    return [_case(element, finished=element in finished) for element in started], complete


def _case(element: ET.Element, *, finished: bool) -> Case:
    counts = element.find("OverallResultsAsserts")
    crash = element.find("Exception[@crash='true']")
    return Case(
        name=element.get("name", ""),
        finished=finished,
        assertions=0 if counts is None else int(counts.get("successes", "")) + int(counts.get("failures", "")),
        success=counts is not None and counts.get("test_case_success") == "true",
        crash="" if crash is None else (crash.text or "").strip(),
    )


def test_every_trap_is_built(zoo: Zoo) -> None:
    traps = {source.stem for source in SOURCES.glob("*.cpp")}
    assert traps
    assert traps <= {binary.name for binary in zoo.binaries.iterdir() if os.access(binary, os.X_OK)}


# Green summaries


def test_absent_fixture_is_a_pass_without_assertions(zoo: Zoo) -> None:
    ran = zoo.run("needs_fixture", ZOO_FIXTURE=str(zoo.folder / "absent"))
    assert (ran.code, ran.cases, ran.assertions) == (0, (5, 5, 0, 0), (4, 4, 0))
    assert SUCCESS in ran.out
    assert "MESSAGE: fixture absent" in ran.out
    cases, complete = read(zoo.xml("needs_fixture").report)
    assert complete
    assert [case.name for case in cases if case.success and not case.assertions] == ["reads the fixture"]


def test_what_the_first_run_left_makes_every_later_one_red(zoo: Zoo) -> None:
    home, other = zoo.folder / "home", zoo.folder / "other"
    codes = [zoo.run("kernel_cache", HOME=str(home)).code for _ in range(4)]
    assert codes == [0, 1, 1, 1]
    kept = home / ".cache" / "zoo_kernels" / "scale.bin"
    assert [zoo.run("kernel_cache", HOME=str(home), XDG_CACHE_HOME=str(other)).code for _ in range(2)] == [0, 1]
    kept.unlink()
    assert zoo.run("kernel_cache", HOME=str(home)).code == 0


@pytest.mark.parametrize(("content", "code", "failed"), [("text\n", 0, 0), ("no newline", 1, 1)])
def test_fixture_is_checked_when_it_is_there(zoo: Zoo, content: str, code: int, failed: int) -> None:
    fixture = zoo.folder / "fixture"
    fixture.write_text(content)
    ran = zoo.run("needs_fixture", ZOO_FIXTURE=str(fixture))
    assert (ran.code, ran.assertions) == (code, (7, 7 - failed, failed))


def test_all_skipped_says_success_though_nothing_ran(zoo: Zoo) -> None:
    ran = zoo.run("all_skipped")
    assert (ran.code, ran.cases, ran.assertions) == (0, (0, 0, 0, 3), (0, 0, 0))
    assert SUCCESS in ran.out
    assert zoo.run("all_skipped", "-dt-ns=1").code == -signal.SIGSEGV


def test_vacuous_cases_pass_with_zero_assertions(zoo: Zoo) -> None:
    ran = zoo.run("vacuous")
    assert (ran.code, ran.cases, ran.assertions) == (0, (7, 7, 0, 0), (3, 3, 0))
    cases, complete = read(zoo.xml("vacuous").report)
    assert complete
    assert all(case.success for case in cases)
    assert [case.name for case in cases if case.assertions] == ["asserts", "asserts twice"]


# Processes that end otherwise than they say


@pytest.mark.parametrize(("name", "started", "listed"), [("exit_in_middle", 3, 5), ("exit_in_last", 4, 4)])
def test_exit_in_a_case_is_silent_and_cuts_the_report(zoo: Zoo, name: str, started: int, listed: int) -> None:
    ran = zoo.run(name)
    assert (ran.code, ran.raw, ran.err) == (0, b"", "")
    reported = zoo.xml(name)
    cases, complete = read(reported.report)
    assert (reported.code, complete, len(cases), len(zoo.listed(name))) == (0, False, started, listed)
    assert [case.name for case in cases if not case.finished] == ["leaves"]


def test_crash_beside_44_passed_and_0_failed(zoo: Zoo) -> None:
    ran = zoo.run("crash_zero_failed")
    assert (ran.code, ran.cases, ran.assertions) == (-signal.SIGSEGV, (4, 3, 1, 9), (44, 44, 0))
    cases, complete = read(zoo.xml("crash_zero_failed").report)
    assert complete
    assert len(zoo.listed("crash_zero_failed")) == 13
    assert [(case.assertions, bool(case.crash)) for case in cases] == [(9, False), (17, False), (17, False), (1, True)]


def test_crash_after_a_green_summary(zoo: Zoo) -> None:
    ran = zoo.run("crash_after_summary")
    assert (ran.code, ran.cases) == (-signal.SIGSEGV, (3, 3, 0, 0))
    assert SUCCESS in ran.out
    cases, complete = read(zoo.xml("crash_after_summary").report)
    assert complete
    assert all(case.success and not case.crash for case in cases)


@pytest.mark.parametrize("arguments", [(), ("-dt-ltc",), ("-dt-v",)])
def test_crash_before_main_leaves_nothing(zoo: Zoo, arguments: tuple[str, ...]) -> None:
    ran = zoo.xml("crash_before_main", *arguments)
    assert (ran.code, ran.raw, ran.err, ran.report) == (-signal.SIGSEGV, b"", "", "")
    assert zoo.run("crash_before_main", ZOO_START="1").cases == (2, 2, 0, 0)


@pytest.mark.parametrize(
    ("case", "number", "reported"),
    [
        ("segv", signal.SIGSEGV, True),
        ("abort", signal.SIGABRT, True),
        ("fpe", signal.SIGFPE, True),
        ("ill", signal.SIGILL, True),
        ("bus", signal.SIGBUS, False),
        ("stack overflow", signal.SIGSEGV, True),
        ("segv in a thread", signal.SIGSEGV, True),
        ("exception in a thread", signal.SIGABRT, True),
        ("kill", signal.SIGKILL, False),
    ],
)
def test_signal_ends_the_process(zoo: Zoo, case: str, number: signal.Signals, reported: bool) -> None:
    ran = zoo.run("signals", f"-dt-tc={case}")
    assert ran.code == -number
    if reported:
        assert f"CRASHED: {number.name}" in ran.out
        assert ran.assertions == (1, 1, 0)
    else:
        assert ran.raw == b""
    [victim], complete = read(zoo.xml("signals", f"-dt-tc={case}").report)
    assert (victim.name, victim.finished, complete) == (case, reported, reported)
    assert victim.crash.startswith(number.name) is reported


def test_plain_failures_are_counted_by_case_and_by_assertion(zoo: Zoo) -> None:
    ran = zoo.run("fails")
    assert (ran.code, ran.cases, ran.assertions) == (1, (12, 5, 7, 0), (20, 11, 9))
    cases, complete = read(zoo.xml("fails").report)
    assert complete
    assert {case.name: case.assertions for case in cases if not case.success} == {
        "check fails and goes on": 3,
        "require fails and stops": 2,
        "throws an exception": 1,
        "throws an int": 1,
        "a subcase fails": 5,
        "should fail, and does not": 1,
        "two failures expected, one came": 1,
    }
    assert not any(case.crash for case in cases)


# Hangs and children


def test_hang_is_reported_as_a_crash_by_sigterm(zoo: Zoo) -> None:
    started = zoo.start("hangs")
    pid = started.announced("hangs")
    assert pid == started.process.pid
    assert _has(pid, "SigCgt", signal.SIGTERM)
    before, complete = read(started.report.read_text())
    assert (len(before), before[2].finished, complete) == (3, False, False)
    os.killpg(pid, signal.SIGTERM)
    assert started.ends() == -signal.SIGTERM
    cases, complete = read(started.report.read_text())
    assert complete
    assert [case.crash for case in cases] == ["", "", "SIGTERM - Termination request signal"]


def test_hard_hang_needs_sigkill_and_leaves_a_child_in_its_own_session(zoo: Zoo) -> None:
    started = zoo.start("hangs_hard")
    pid = started.announced("hangs")
    child = started.announced("child")
    guard = zoo.guard(child)
    assert os.getsid(child) == child != os.getsid(pid)
    assert all(_has(process, "SigIgn", signal.SIGTERM) for process in (pid, child))
    os.killpg(pid, signal.SIGTERM)
    assert not _ended(guard)
    os.killpg(pid, signal.SIGKILL)
    assert started.ends() == -signal.SIGKILL
    assert not _ended(guard)
    cases, complete = read(started.report.read_text())
    assert (complete, cases[-1].name, cases[-1].finished) == (False, "never ends, whatever is asked", False)
    os.kill(child, signal.SIGKILL)
    assert _ended(guard, within_seconds=LIMIT_SECONDS)


@pytest.mark.parametrize("setsid", [False, True])
def test_orphan_outlives_a_green_run_and_holds_its_output(zoo: Zoo, setsid: bool) -> None:
    started = zoo.start("orphan_child", ZOO_SETSID="1" if setsid else "0")
    child = started.announced("child")
    guard = zoo.guard(child)
    assert started.ends() == 0
    green = started.report.read_text()
    cases, complete = read(green)
    assert complete
    assert all(case.success for case in cases)
    assert not _ended(guard)
    assert (os.getsid(child) == child) is setsid
    held = {os.path.realpath(descriptor) for descriptor in Path(f"/proc/{child}/fd").iterdir()}
    assert {str(zoo.folder / "stdout"), str(started.report)} <= held
    os.kill(child, signal.SIGTERM)
    assert _ended(guard, within_seconds=LIMIT_SECONDS)
    assert started.report.read_text() == green


def test_pipe_of_a_green_run_stays_open_while_its_orphan_lives(zoo: Zoo) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        try:
            started = zoo.start("orphan_child", out=writer)
        finally:
            os.close(writer)
        guard = zoo.guard(started.announced("child"))
        assert started.ends() == 0
        os.set_blocking(reader, False)
        assert pipe.read(4096) is None  # not b"", which would be its end
        signal.pidfd_send_signal(guard, signal.SIGKILL)
        os.set_blocking(reader, True)
        assert pipe.read(4096) == b""


def test_orphan_with_inherited_handlers_reports_a_crash_of_the_green_run(zoo: Zoo) -> None:
    started = zoo.start("orphan_child", ZOO_KEEP_HANDLERS="1")
    child = started.announced("child")
    guard = zoo.guard(child)
    assert started.ends() == 0
    green = started.report.read_text()
    assert read(green)[1]
    os.kill(child, signal.SIGTERM)
    assert _ended(guard, within_seconds=LIMIT_SECONDS)
    report = started.report.read_text()
    assert report.startswith(green)
    assert 'crash="true"' in report.removeprefix(green)
    with pytest.raises(ET.ParseError):
        ET.fromstring(report)


# Output and disk


@pytest.mark.parametrize(("switches", "megabytes"), [({}, 8), ({"ZOO_FLOOD_MB": "1"}, 1)])
def test_flood_is_as_long_as_asked_and_green(zoo: Zoo, switches: dict[str, str], megabytes: int) -> None:
    ran = zoo.run("floods_output", **switches)
    assert (ran.code, ran.cases) == (0, (3, 3, 0, 0))
    lines = [line for line in ran.raw.splitlines(keepends=True) if line.startswith(b"flood ")]
    assert sum(map(len, lines)) == megabytes << 20
    assert lines[-1].startswith(f"flood {megabytes * 1024} of".encode())
    assert SUCCESS in ran.out


def test_endless_flood_ends_when_its_reader_does(zoo: Zoo) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as pipe:
        try:
            started = zoo.start("floods_output", out=writer, ZOO_FLOOD_MB="0")
        finally:
            os.close(writer)
        assert len(pipe.read(10 << 20)) == 10 << 20
    assert started.ends() == -signal.SIGPIPE


@pytest.mark.parametrize(("switches", "code"), [({}, 1), ({"ZOO_FILL_KEEP_GREEN": "1"}, 0)])
@pytest.mark.parametrize("variable", ["ZOO_FILL_DIR", "POOLDIAG_OUTPUT_DIR"])
def test_full_disk_is_named_by_the_target(zoo: Zoo, variable: str, switches: dict[str, str], code: int) -> None:
    (zoo.folder / "fill.bin").symlink_to("/dev/full")
    ran = zoo.run("fills_disk", **{variable: str(zoo.folder)}, **switches)
    assert (ran.code, ran.cases) == (code, (3, 3 - code, code, 0))
    assert "fill.bin: No space left on device\n" in ran.out


def test_full_disk_keeps_the_file(zoo: Zoo) -> None:
    """On a real file system, in a mount namespace that goes with its shell."""
    script = 'mount -t tmpfs -o size=2m none "$1" || exit 77; "$2" || echo "code $?"; stat -c "%n %s" "$1"/*'
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", zoo.folder, zoo.binaries / "fills_disk"],
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "ZOO_FILL_DIR": str(zoo.folder)},
        text=True,
        timeout=LIMIT_SECONDS,
    )
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip("no right to mount a tmpfs")
    assert "fill.bin: No space left on device\n" in done.stdout
    assert done.stdout.endswith(f"code 1\n{zoo.folder / 'fill.bin'} {2 << 20}\n")


def test_filling_is_limited_and_needs_a_folder(zoo: Zoo) -> None:
    ran = zoo.run("fills_disk", ZOO_FILL_DIR=str(zoo.folder), ZOO_FILL_LIMIT_MB="1")
    assert (ran.code, (zoo.folder / "fill.bin").stat().st_size) == (1, 1 << 20)
    assert "fill.bin: limit reached" in ran.out
    assert "neither ZOO_FILL_DIR nor POOLDIAG_OUTPUT_DIR is set" in zoo.run("fills_disk").out


# Names

HOSTILE = [*range(1, 35), 34, *range(35, 46), 47, 48, 49, 50]  # 34 twice, and no 46
REACHED = len(HOSTILE)


def test_hostile_names_all_run_but_the_one_that_doctest_drops(zoo: Zoo) -> None:
    ran = zoo.run("hostile_names")
    assert (ran.code, ran.cases, ran.indices) == (0, (REACHED, REACHED, 0, 0), HOSTILE)


def test_hostile_names_are_listed_as_xml_writes_them(zoo: Zoo) -> None:
    names = dict(zip(HOSTILE, zoo.listed("hostile_names"), strict=True))
    assert names[3] == "[red]x[/red] [link=http://example.invalid]y[/link] [/]"
    assert names[9] == "trailing backslash\\"
    assert names[18] == names[35] == "\\x1B[31mred\\x1B[0m"  # one is an escape sequence, one is spelled so
    assert names[20] == "FAILED green"
    assert names[21] == "invalid \\xFF\\xFE utf-8 \\xC3("
    assert names[23] == "line one line two"
    assert names[27] == names[28] == names[29] == "duplicate"
    assert names[30] == ""
    assert names[31] == "template<int>"
    assert len(names[40]) == 300
    assert b"title\x1b]0;another title\x07 set\n" in zoo.run("hostile_names", "-dt-ltc").raw


@pytest.mark.parametrize(
    ("filters", "indices"),
    [
        (["-dt-tc=any * thing"], [11, 12]),
        (["-dt-tc=what? now"], [13, 14]),
        (["-dt-tc=letter case"], [15, 16, 17]),
        (["-dt-tc=letter case", "-dt-cs=1"], [16]),
        (["-dt-tc=commas, all,over,"], []),
        (["-dt-tc=commas? all?over?"], [7]),
        (["-dt-tc=duplicate"], [27, 28, 29]),
        (["-dt-tc=duplicate", "-dt-ts=other suite"], [29]),
        (["-dt-tc=twin<int>"], [34, 34]),
        (["-dt-tc=lost twin"], [45]),
        (["-dt-tc=[tag] (round) {curly} <angle>"], [2]),
        (["-dt-tc="], HOSTILE),
        (["-dt-tc", "plain"], HOSTILE),
    ],
)
def test_filter_takes_a_hostile_name_for_a_pattern(zoo: Zoo, filters: list[str], indices: list[int]) -> None:
    ran = zoo.run("hostile_names", *filters)
    assert (ran.code, ran.indices) == (0, indices)
    assert SUCCESS in ran.out


def test_every_position_runs_one_hostile_case_which_can_be_made_red(zoo: Zoo) -> None:
    for position, index in enumerate(HOSTILE, start=1):
        ran = zoo.run("hostile_names", f"-dt-first={position}", f"-dt-last={position}", ZOO_FAIL=str(index))
        assert (ran.code, ran.indices) == (1, [index])
    assert zoo.run("hostile_names", ZOO_FAIL="46").cases == (REACHED, REACHED, 0, 0)
    assert zoo.run("hostile_names", ZOO_FAIL="50").cases == (REACHED, REACHED - 1, 1, 0)


# Chance, outputs, state, and what a target is given


def test_flake_follows_its_rate(zoo: Zoo) -> None:
    assert zoo.run("flaky", ZOO_RATE="0").code == 0
    assert zoo.run("flaky", ZOO_RATE="1").code == 1


def test_flake_follows_its_script_and_listing_is_no_run(zoo: Zoo) -> None:
    script = {"ZOO_COUNTER": str(zoo.folder / "counter"), "ZOO_RED_RUNS": "2,3,12"}
    codes = []
    for _ in range(12):
        assert len(zoo.listed("flaky", **script)) == 3
        codes.append(zoo.run("flaky", **script).code)
    assert [run for run, code in enumerate(codes, start=1) if code == 1] == [2, 3, 12]


def _encoded(values: list[float], code: str) -> bytes:
    if code == "bf16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{code}", *values)


QUIET_NAN = {
    "out.bin": ("f", "0000c07f"),
    "f64.bin": ("d", "000000000000f87f"),
    "f16.bin": ("e", "007e"),
    "bf16.bin": ("bf16", "c07f"),
}


@pytest.mark.skipif(sys.byteorder == "big", reason="the files are in the byte order of the machine")
@pytest.mark.parametrize(
    ("switches", "nan", "length"),
    [({}, 0, 1024), ({"ZOO_NAN": "3"}, 3, 1024), ({"ZOO_NAN": "5000"}, 1024, 1024), ({"ZOO_SHORT": "1"}, 0, 512)],
)
def test_nan_is_written_by_a_green_run(zoo: Zoo, switches: dict[str, str], nan: int, length: int) -> None:
    ran = zoo.run("nan_output", POOLDIAG_OUTPUT_DIR=str(zoo.folder), **switches)
    assert (ran.code, ran.cases) == (0, (3, 3, 0, 0))
    values = [index / 1024 for index in range(length)]
    for name, (code, pattern) in QUIET_NAN.items():
        assert (zoo.folder / name).read_bytes() == bytes.fromhex(pattern) * nan + _encoded(values[nan:], code)


@pytest.mark.parametrize("named", [False, True])
def test_no_output_is_green_too(zoo: Zoo, named: bool) -> None:
    switches = {"POOLDIAG_OUTPUT_DIR": str(zoo.folder), "ZOO_NO_OUTPUT": "1"} if named else {}
    assert zoo.run("nan_output", **switches).cases == (3, 3, 0, 0)
    assert not list(zoo.folder.glob("*.bin"))


def test_state_in_the_working_directory_turns_later_runs_red(zoo: Zoo) -> None:
    assert [zoo.run("self_writes").code for _ in range(3)] == [0, 1, 1]
    (zoo.folder / "zoo_state.txt").unlink()
    assert zoo.run("self_writes").code == 0


def test_mirror_shows_what_a_target_is_given(zoo: Zoo) -> None:
    ran = zoo.run("prints_env", "-dt-s=0", "new\nline", ODD="a\\b\x1bc", PLAIN="x é")
    lines = ran.out.splitlines()
    given = dict(line.split(": ", 1) for line in lines if re.match(r"(pid|ppid|pgid|sid|rlimit_core): ", line))
    assert ran.code == 0
    assert [line for line in lines if line.startswith(("argv: ", "env: "))] == [
        f"argv: {zoo.binaries / 'prints_env'}",
        "argv: -dt-s=0",
        r"argv: new\x0Aline",
        r"env: ODD=a\x5Cb\x1Bc",
        r"env: PLAIN=x \xC3\xA9",
    ]
    assert f"cwd: {zoo.folder}" in lines
    assert [line.split(" -> ")[0] for line in lines if line.startswith("fd: ")] == ["fd: 0", "fd: 1", "fd: 2"]
    assert "fd: 0 -> /dev/null" in lines
    assert (int(given["ppid"]), int(given["pgid"]), int(given["sid"])) == (os.getpid(), os.getpgid(0), os.getsid(0))
    assert given["rlimit_core"].startswith("0 ")
    assert any(line.startswith("SigIgn:") for line in lines)


# A main() of one's own


def test_product_runs_its_tests_only_when_asked_with_the_prefix(zoo: Zoo) -> None:
    for arguments in ((), ("-tc=nothing",), ("--test-case=nothing",)):
        plain = zoo.run("own_main", *arguments)
        assert (plain.code, plain.out) == (0, "product 1.0 <ready> device 0: [emulated]\nproduct: area 42\n")
    tested = zoo.run("own_main", "-dt-exit=1", "-tc=nothing")
    assert (tested.code, tested.cases) == (1, (3, 2, 1, 0))
    assert tested.out.startswith("product 1.0 <ready>")
    assert "product: area" not in tested.out
    assert zoo.run("own_main", "-dt-no-skip=1").out.endswith("product: area 42\n")
    assert zoo.run("own_main", "-dt-exit=1", ZOO_GREEN="1").code == 0
    assert len(zoo.listed("own_main")) == 3


def test_deaf_main_runs_everything_whatever_is_asked(zoo: Zoo) -> None:
    for arguments in (("-dt-ltc",), ("-dt-v",), ("-dt-tc=second",)):
        ran = zoo.xml("deaf_main", *arguments)
        assert (ran.code, ran.indices, ran.cases, ran.report) == (0, [1, 2, 3], (3, 3, 0, 0), "")
    assert zoo.run("deaf_main", ZOO_FAIL="2").code == 1
