"""The configuration file: found, read, checked; and the sizes, durations and commands that flags share with it."""

import shlex
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.config.file import (
    Config,
    TargetConfig,
    find_config,
    parse_config,
    parse_pyproject,
    read_config,
    resolve_target,
)
from pooldiag.config.options import Options
from pooldiag.config.quantities import parse_duration, parse_output, parse_seeds, parse_size, parse_words
from pooldiag.errors import UsageError
from pooldiag.model.arms import ArmProperty
from pooldiag.model.cases import OrderKind
from pooldiag.model.settings import OutputSpec
from pooldiag.profiles import custom_profile

FILE = Path("/project/pooldiag.toml")


def config_of(text: str) -> Config:
    return parse_config(text, path=FILE)


def nothing_exists(_: Path) -> bool:
    return False


# Sizes and durations


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("34GB", 34 * 10**9),
        ("1GiB", 2**30),
        ("512 MiB", 512 * 2**20),
        ("1.5KiB", 1536),
        ("1.5 kb", 1500),
        ("7", 7),
        ("7B", 7),
        (" 2Ti ", 2**41),
        ("0", 0),
        ("8388607TiB", 8388607 * 2**40),
        ("0.3KiB", 307),
    ],
)
def test_sizes_tell_decimal_units_from_binary_ones(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["34G", "1k", "2 m", "5t"])
def test_a_size_that_could_be_decimal_or_binary_is_refused_with_both_readings(text: str) -> None:
    number, unit = text[:-1].strip(), text[-1]
    with pytest.raises(UsageError, match="two readings") as raised:
        parse_size(text, what="--need")
    assert raised.value.hint == f"write {number}{unit}B or {number}{unit}iB"
    assert raised.value.problem.startswith("--need: ")


@pytest.mark.parametrize(
    "text", ["", " ", "GB", "-1GB", "1,5GB", "1e3", "0x10", "1 G B", "1GBs", ".5GB", "5.GB", "٣GB", "1GB\n2", "9" * 41]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        parse_size(text)


def test_a_size_beyond_any_disk_is_refused() -> None:
    with pytest.raises(UsageError, match="larger than any disk"):
        parse_size("9000000PB")


@given(st.integers(0, 2**40), st.sampled_from(["B", "KB", "MB", "KiB", "mib"]), st.sampled_from(["", " "]))
def test_a_size_with_any_unit_is_the_number_times_the_unit(number: int, unit: str, gap: str) -> None:
    factor = {"b": 1, "kb": 10**3, "mb": 10**6, "kib": 2**10, "mib": 2**20}[unit.lower()]
    assert parse_size(f"{number}{gap}{unit}") == number * factor


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("30m", 1800),
        ("45 min", 2700),
        ("2h", 7200),
        ("1.5 h", 5400),
        ("1h30m", 5400),
        ("1 hour 30 minutes 5 s", 5405),
        ("250ms", 0.25),
        ("0.1", 0.1),
        ("0", 0),
        ("7 Days", 604800),
    ],
)
def test_durations_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", " ", "m", "-5", "5 parsecs", "1h30", "30 1h", "1:30", "inf", "nan", "1e3", "5m!", "1h,5m", "1" * 41]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--timeout: .* is no duration"):
        parse_duration(text, what="--timeout")


def test_a_duration_beyond_the_timers_of_a_system_is_refused() -> None:
    with pytest.raises(UsageError, match="longer than a year"):
        parse_duration("9000h")


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 999))
def test_the_parts_of_a_duration_add_up(hours: int, minutes: int, tenths: int) -> None:
    seconds = Decimal(tenths) / 10
    assert parse_duration(f"{hours}h {minutes}min {seconds}s") == float(hours * 3600 + minutes * 60 + seconds)


@given(st.text(max_size=50))
def test_any_text_is_a_size_or_a_usage_error_and_so_for_durations(text: str) -> None:
    for parse in (parse_size, parse_duration):
        try:
            value: float | UsageError = parse(text)
        except UsageError as error:
            value = error
        if isinstance(value, UsageError):
            assert "\n" not in value.problem
            assert value.hint
        else:
            assert value >= 0


@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 20)), min_size=1, max_size=20))
def test_seeds_are_the_numbers_of_all_ranges_each_once_where_it_stands_first(parts: list[tuple[int, int]]) -> None:
    ranges = [(first, min(first + more, 2**31 - 1)) for first, more in parts]
    text = ", ".join(f"{first}..{last}" if first != last else f"{first}" for first, last in ranges)
    every = [seed for first, last in ranges for seed in range(first, last + 1)]
    assert parse_seeds(text) == tuple(sorted(set(every), key=every.index))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no seed and no range"),
        ("1..", "is no seed and no range"),
        ("1-3", "is no seed and no range"),
        ("-1", "is no seed and no range"),
        ("1,,2", "is no seed and no range"),
        ("٣", "is no seed and no range"),
        ("9" * 5000, "is no seed and no range"),
        ("3..1", "ends before it begins"),
        ("2147483648", "beyond the last seed"),
        ("1..10001", "more than 10000"),
        ("1..5000,1..5001", "more than 10000"),
    ],
)
def test_what_are_no_seeds_or_too_many_is_refused_in_few_words(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=rf"^--seeds: .*{problem}") as raised:
        parse_seeds(text, what="--seeds")
    assert len(raised.value.problem) < 200


# Commands and outputs


@given(st.lists(st.text(st.characters(exclude_characters="\0;&|<>", exclude_categories=["Cs"])), min_size=1))
def test_a_command_is_split_as_a_shell_does(words: list[str]) -> None:
    if words[0]:
        assert parse_words(shlex.join(words), what="command") == tuple(words)


@pytest.mark.parametrize("text", ["make && ./t", "make; ./t", "./t | tee log", "./t > log", "./t &", "./t 2>&1"])
def test_what_only_a_shell_can_do_is_refused_with_the_shell_to_call(text: str) -> None:
    with pytest.raises(UsageError, match="no shell reads") as raised:
        parse_words(text, what="--before")
    hint = raised.value.hint or ""
    assert parse_words(hint.removeprefix("write "), what="--before") == ("sh", "-c", text)


@pytest.mark.parametrize("text", ["", "  ", "'' a", "a 'b", "a\0b"])
def test_a_command_without_a_program_or_with_an_open_quote_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--before: "):
        parse_words(text, what="--before")


@pytest.mark.parametrize(
    ("text", "glob", "dtype"),
    [
        ("video.bin:BF16", "video.bin", "bf16"),
        ("a:b/*.bin: f32", "a:b/*.bin", "f32"),
        ("out/*.npy", "out/*.npy", None),
        ("a:b.npz:auto", "a:b.npz", None),
    ],
)
def test_an_output_is_a_glob_and_a_type_or_as_its_file_says(text: str, glob: str, dtype: str | None) -> None:
    assert parse_output(text) == OutputSpec(glob=glob, dtype=dtype)


@pytest.mark.parametrize("text", ["", ":f32", "video.bin:", " : ", "/tmp/x.bin:f32", "../x.bin:f32", "/tmp/x.npy"])
def test_an_output_with_half_a_type_or_outside_the_runs_folder_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--outputs: "):
        parse_output(text, what="--outputs")


# The file

WHOLE = r"""
[target.forward]
command = "build/test_forward --flag 'two words'"
cwd = "work"
framework = "doctest"
profile = "vt"
order = "rand"
seed = 7
cases = ["SHIPPED*", "bf16"]
victim = "SHIPPED"
outputs = ["*.bin:f32", "x:bf16"]
requires = ["data/weights.bin", "/abs"]
before = ["rm", "-f", "a b"]
fresh_check = "ninja -n"
timeout = "30m"
grace = 5
keep_env = "MALLOC_CONF"
stats = "VT_POOL_STATS=1"
counter = 'hits=(\d+)'
[target.forward.arms]
bypass = "VT_POOL_BYPASS=1 OTHER=2"
exact = ["A=two words", "-B"]
[target.forward.properties]
bypass.addresses = "apart"
exact = { rounds_to = 32 }

[target.plain]
command = ["test_plain"]

[lock]
paths = ["gpu.lock", "/var/lock/other"]
wait = "45 min"
[disk]
floor = "2GiB"
need = 34_000_000_000
[memory]
floor = "512 MiB"
[run]
repeat = 3
budget = 7200
confidence = 0.99
max_runs = 2
jobs = 4
"""


def test_every_key_is_read_and_relative_paths_start_at_the_file() -> None:
    assert config_of(WHOLE) == Config(
        folder=Path("/project"),
        files=(FILE,),
        targets=(
            TargetConfig(
                name="forward",
                command=("/project/build/test_forward", "--flag", "two words"),
                said=Options(
                    cwd=Path("/project/work"),
                    framework="doctest",
                    profile="vt",
                    order=OrderKind.RAND,
                    seed=7,
                    case=("SHIPPED*", "bf16"),
                    victim="SHIPPED",
                    outputs=(OutputSpec(glob="*.bin", dtype="f32"), OutputSpec(glob="x", dtype="bf16")),
                    requires=(Path("/project/data/weights.bin"), Path("/abs")),
                    before=("rm", "-f", "a b"),
                    fresh_check=("ninja", "-n"),
                    timeout=1800,
                    grace=5,
                    keep_env=("MALLOC_CONF",),
                    arm=("bypass=VT_POOL_BYPASS=1 OTHER=2", "exact='A=two words' -B"),
                    property=("bypass.addresses=apart", "exact.rounds_to=32"),
                    stats="VT_POOL_STATS=1",
                    counter=(r"hits=(\d+)",),
                ),
            ),
            TargetConfig(name="plain", command=("test_plain",), said=Options(cwd=Path("/project"))),
        ),
        said=Options(
            lock=(Path("/project/gpu.lock"), Path("/var/lock/other")),
            lock_wait=2700,
            disk_floor=2**31,
            need=34 * 10**9,
            memory_floor=2**29,
            repeat=3,
            budget=7200,
            confidence=0.99,
            max_runs=2,
            jobs=4,
        ),
    )


def test_arms_of_the_file_mean_what_the_flags_mean() -> None:
    target = config_of(WHOLE).targets[0]
    said = target.said
    profile = custom_profile(None, said.arm, said.stats, said.counter, said.property)
    assert [dict(arm.environment.set) for arm in profile.arms] == [
        {"VT_POOL_BYPASS": "1", "OTHER": "2"},
        {"A": "two words"},
    ]
    assert profile.arms[1].environment.unset == ("B",)
    assert [arm.properties for arm in profile.arms] == [
        (ArmProperty(name="addresses", value="apart"),),
        (ArmProperty(name="rounds_to", value="32"),),
    ]


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    config = config_of('[lock]\npaths = "~/gpu.lock"\n[target.a]\ncommand = "~/bin/t"\ncwd = "~"\n')
    assert config.said.lock == (Path("/home/someone/gpu.lock"),)
    assert config.targets[0].command == ("/home/someone/bin/t",)
    assert config.targets[0].said.cwd == Path("/home/someone")


def test_no_lock_paths_and_no_word_about_them_are_told_apart() -> None:
    assert config_of("[lock]\npaths = []").said.lock == ()
    assert config_of("").said.lock is None


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("[targets.a]", "targets: unknown key", "nearest: target"),
        ("[target.a]\ncomand = 'x'", "target.a.comand: unknown key", "nearest: command"),
        ("[target.a]\ncommand = 'x'\ntimeuot = 3", "target.a.timeuot: unknown key", "nearest: timeout"),
        ("[lock]\npath = 'x'", "lock.path: unknown key", "nearest: paths"),
        ("[disk]\nfloors = 1", "disk.floors: unknown key", "nearest: floor"),
        ("[memory]\nneed = 1", "memory.need: unknown key", "nearest: floor"),
        ("[run]\nrepeats = 1", "run.repeats: unknown key", "nearest: repeat"),
        ("[target.a]\ncommand = 'x'\narms = {bypas = 'A=1'}", "no switch plays the role 'bypas'", "nearest: bypass"),
        ("[target.a]\ncommand = 'x'\narms = {swap = 'A=1'}", "no switch plays the role 'swap'", "nearest: "),
        ("[target.a]\ncwd = 'x'", "target.a.command is missing", "command = "),
        ("[target.a]\ncommand = 3", "target.a.command = 3", "a string, or an array of strings"),
        ("[target.a]\ncommand = ['x', 3]", "target.a.command = ['x', 3]", "a string, or an array of strings"),
        ("[target.a]\ncommand = []", "target.a.command: command: no program", "first word"),
        ("[target.a]\ncommand = 'x && y'", "target.a.command: command: no shell reads '&&'", "sh -c"),
        ("[target.a]\ncommand = 'x'\ncwd = ''", "target.a.cwd = ''", "not empty"),
        ("[target.a]\ncommand = 'x'\ncwd = '~no-such-user-here/x'", "target.a.cwd", "no such user"),
        ('[target.a]\ncommand = "x"\ncwd = "a\\u0000"', "target.a.cwd", "NUL"),
        ('[target.a]\ncommand = ["x", "\\u0000"]', "target.a.command", "no program can"),
        ("[target.a]\ncommand = 'x'\nseed = true", "target.a.seed = true", "a whole number"),
        ("[target.a]\ncommand = 'x'\nseed = -1", "target.a.seed = -1", "0 or more"),
        (
            "[target.a]\ncommand = 'x'\norder = 'random'",
            "target.a.order = 'random'",
            "name, suite, reverse, rand",
        ),
        (
            "[target.a]\ncommand = 'x'\norder = ['file']",
            "target.a.order = ['file']",
            "name, suite, reverse, rand",
        ),
        ("[target.a]\ncommand = 'x'\nprinted_census = 'no'", "target.a.printed_census = 'no'", "true or false"),
        ("[target.a]\ncommand = 'x'\noutputs = 'x:'", "target.a.outputs: output: 'x:' is not GLOB:DTYPE", "f32"),
        ("[target.a]\ncommand = 'x'\ntimeout = 0", "target.a.timeout = 0", "above 0"),
        ("[target.a]\ncommand = 'x'\ntimeout = '5 parsecs'", "target.a.timeout: duration: '5 parsecs'", "45 min"),
        ("[target.a]\ncommand = 'x'\narms = ['A=1']", "target.a.arms = ['A=1']", "a table"),
        ("[target.a]\ncommand = 'x'\nproperties = 'a'", "target.a.properties = 'a'", "a table"),
        ("[target.a]\ncommand = 'x'\nproperties = {bypass = 'apart'}", "target.a.properties = ", "a table"),
        ("[target.a]\ncommand = 'x'\nproperties = {bypass.waits = true}", "target.a.properties = ", "a string, or a"),
        ("[target.'a/b']\ncommand = 'x'", "'a/b' cannot be the name of a target", "no slash"),
        ("[target.-a]\ncommand = 'x'", "'-a' cannot be the name of a target", "leading -"),
        ("[target.'']\ncommand = 'x'", "'' cannot be the name of a target", "no slash"),
        ("target = 3", "target = 3", "a table"),
        ("[target]\na = 3", "target.a = 3", "a table"),
        ("[lock]\nwait = true", "lock.wait = true", "a duration"),
        ("[lock]\nwait = -1", "lock.wait: duration: '-1'", "45 min"),
        ("[lock]\nwait = inf", "lock.wait: duration: 'inf'", "45 min"),
        ("[lock]\nwait = [1]", "lock.wait = [1]", "a duration"),
        ("[disk]\nfloor = 1.5", "disk.floor = 1.5", "a size"),
        ("[disk]\nfloor = '34G'", "disk.floor: size: '34G' has two readings", "34GB or 34GiB"),
        ("[disk]\nneed = 0x" + "f" * 5000, "disk.need = ", "a size"),
        ("[run]\nmax_runs = [0x" + "f" * 5000 + "]", "run.max_runs = ", "a whole number"),
        ("[run]\nrepeat = 0", "run.repeat = 0", "1 or more"),
        ("[run]\nrepeat = 2.0", "run.repeat = 2.0", "a whole number"),
        ("[run]\njobs = 0", "run.jobs = 0", "1 or more"),
        ("[run]\nconfidence = 1", "run.confidence = 1", "between 0 and 1"),
        ("[run]\nconfidence = 99.0", "run.confidence = 99.0", "between 0 and 1"),
        ("[run]\nbudget = 1979-05-27", "run.budget = ", "a duration"),
    ],
)
def test_what_is_wrong_is_named_with_file_key_value_and_what_would_be_right(text: str, problem: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        config_of(text)
    assert problem in raised.value.problem
    assert raised.value.problem.startswith(str(FILE))
    assert hint in (raised.value.hint or "")
    assert "\n" not in raised.value.problem
    assert len(raised.value.problem) < 200


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[run]\nrepeat = = 3\n", 2),
        ("[run]\n\nrepeat = 1\nrepeat = 2\n", 4),
        ("[run]\n# a comment\nbefore = [1,\n", 3),
        ("[run", 1),
        ("", None),
    ],
)
def test_a_slip_in_the_syntax_is_told_with_file_and_line(text: str, line: int | None) -> None:
    if line is None:
        assert config_of(text) == Config(folder=FILE.parent, files=(FILE,))
        return
    with pytest.raises(UsageError, match=rf"^{FILE}:{line}: not TOML: "):
        config_of(text)


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "9" * 5000])
def test_toml_that_the_reader_gives_up_on_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="not TOML"):
        config_of(text)


# Finding it


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a folder below it, and no configuration."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src/deep").mkdir(parents=True)
    return tmp_path


def test_the_nearest_file_up_to_the_repository_is_read(project: Path) -> None:
    (project / "pooldiag.toml").write_text("[run]\nmax_runs = 1\n")
    found = find_config(project / "src/deep")
    assert (found.folder, found.files, found.said.max_runs) == (project, (project / "pooldiag.toml",), 1)
    (project / "src/pooldiag.toml").write_text("[run]\nmax_runs = 2\n")
    assert find_config(project / "src/deep").said.max_runs == 2


def test_nothing_above_the_repository_is_read(project: Path) -> None:
    (project / "pooldiag.toml").write_text("[run]\nmax_runs = 1\n")
    (project / "src/.git").write_text("gitdir: elsewhere")  # a worktree has a file of this name
    assert find_config(project / "src/deep") == Config()


def test_outside_any_repository_the_search_ends_at_the_root() -> None:
    assert find_config(Path("/no-such-folder/below")) == Config()


def test_pyproject_is_read_when_it_has_our_table_and_passed_by_when_not(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.pooldiag.run]\nmax_runs = 3\n")
    (project / "src/pyproject.toml").write_text("[project]\nname = 'pooldiag-user'\n")
    assert find_config(project / "src/deep").said.max_runs == 3


def test_a_broken_pyproject_that_does_not_mention_us_is_none_of_our_business(project: Path) -> None:
    (project / "pyproject.toml").write_text("[[[")
    assert find_config(project) == Config()


def test_where_both_files_say_the_same_pooldiag_toml_is_right(project: Path) -> None:
    (project / "pooldiag.toml").write_text("[run]\nmax_runs = 1\n[target.a]\ncommand = 'own'\n[disk]\nfloor = 1\n")
    (project / "pyproject.toml").write_text(
        "[tool.pooldiag.run]\nmax_runs = 2\nrepeat = 5\n"
        "[tool.pooldiag.lock]\nwait = 3\n[tool.pooldiag.disk]\nfloor = 2\n"
        "[tool.pooldiag.target.a]\ncommand = 'shared'\nseed = 7\n[tool.pooldiag.target.b]\ncommand = 'b'\n"
    )
    found = find_config(project)
    assert found.said == Options(max_runs=1, repeat=5, lock_wait=3, disk_floor=1)
    assert [(target.name, target.command, target.said.seed) for target in found.targets] == [
        ("a", ("own",), None),
        ("b", ("b",), None),
    ]
    assert found.files == (project / "pooldiag.toml", project / "pyproject.toml")
    assert set(found.shadowed) == {"target.a", "run.max_runs", "disk.floor"}


def test_errors_in_pyproject_name_the_table_that_it_has_there() -> None:
    path = Path("/project/pyproject.toml")
    with pytest.raises(UsageError, match=r"^/project/pyproject.toml: tool\.pooldiag\.run\.job: unknown key"):
        parse_pyproject("[tool.pooldiag.run]\njob = 1", path=path)
    with pytest.raises(UsageError, match=r"tool\.pooldiag = 3"):
        parse_pyproject("[tool]\npooldiag = 3", path=path)
    assert parse_pyproject("tool = 3", path=path) is None


def test_bytes_that_are_no_utf8_are_told_with_their_line(project: Path) -> None:
    path = project / "pooldiag.toml"
    path.write_bytes(b"# fine\n# caf\xe9\n")
    with pytest.raises(UsageError, match=r"pooldiag\.toml:2: byte 0xe9 is not UTF-8"):
        find_config(project)
    path.write_bytes("[run]\r\nmax_runs = 1\r\n".encode("utf-8-sig"))  # what an editor on another system may save
    assert find_config(project).said.max_runs == 1


def test_a_file_that_cannot_be_read_is_a_usage_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "pooldiag.toml").write_text("")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root reads files of any mode
    with pytest.raises(UsageError, match=r"pooldiag\.toml: cannot be read: Permission denied"):
        find_config(project)


def test_a_file_named_by_the_user_must_be_there_and_say_something(project: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_config(project / "other.toml")
    (project / "other.toml").write_text("[run]\nmax_runs = 4\n")
    assert read_config(project / "other.toml").said.max_runs == 4
    (project / "pyproject.toml").write_text("[tool.black]\n")
    with pytest.raises(UsageError, match=r"no table \[tool\.pooldiag\]"):
        read_config(project / "pyproject.toml")
    (project / "pyproject.toml").write_text("[tool.pooldiag.run]\nmax_runs = 5\n")
    assert read_config(project / "pyproject.toml").said.max_runs == 5


# TARGET


def test_a_name_of_the_file_wins_over_a_file_of_that_name_unless_it_has_a_slash() -> None:
    config = config_of("[target.test_x]\ncommand = 'build/test_x'")
    assert resolve_target("test_x", config, lambda _: True) == config.targets[0]
    assert resolve_target("./test_x", config, lambda _: True) == Path("./test_x")
    assert resolve_target("test_y", config, lambda path: path == Path("test_y")) == Path("test_y")


def test_a_program_without_a_slash_is_taken_from_beside_the_file_if_it_is_there() -> None:
    config = config_of("[target.a]\ncommand = 'python3 t.py'")
    there = resolve_target("a", config, lambda path: path == Path("/project/python3"))
    assert isinstance(there, TargetConfig)
    assert there.command == ("/project/python3", "t.py")
    assert resolve_target("a", config, nothing_exists) == config.targets[0]


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("forwrad", "forwrad: no such file and no target in pooldiag.toml", "nearest target: forward"),
        ("build/plian", "build/plian: no such file", "nearest target: plain"),
        ("", "an empty TARGET: no such file and no target in pooldiag.toml", "nearest target: "),
    ],
)
def test_an_unknown_target_is_told_with_the_nearest_name(text: str, problem: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve_target(text, config_of(WHOLE), nothing_exists)
    assert raised.value.problem == problem
    assert hint in (raised.value.hint or "")


def test_without_a_configuration_an_unknown_target_is_a_missing_file() -> None:
    with pytest.raises(UsageError) as raised:
        resolve_target("test_x", Config(), nothing_exists)
    assert raised.value.problem == "test_x: no such file"
    assert raised.value.hint == "give the path of a test binary"
