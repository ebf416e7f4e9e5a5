import os
import platform
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pooldiag.errors import ExitCode, UsageError
from pooldiag.execute.elf import Kind, cached_libraries, describe, find_markers, is_closed, libraries, opening_calls

Compiler = Callable[..., Path]
MAIN = "int main(void) { return 0; }"


def problem_with(path: Path) -> tuple[str, str]:
    """What is said of a target that cannot be started: the problem after its path, and the hint."""
    with pytest.raises(UsageError) as raised:
        describe(path)
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.hint
    prefix = f"{path} "
    assert raised.value.problem.startswith(prefix)
    assert "\n" not in raised.value.problem
    return raised.value.problem.removeprefix(prefix), raised.value.hint


def executable(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o755)
    return path


# --- what can be started ----------------------------------------------------------------------------------------------


def test_programs_of_every_linkage_are_programs(compile_c: Compiler) -> None:
    for flags in (["-no-pie"], ["-pie", "-fPIE"], ["-static"], ["-static-pie", "-fPIE"]):
        assert describe(compile_c("program", MAIN, *flags)) is Kind.PROGRAM
    assert describe(Path(sys.executable)) is Kind.PROGRAM


def test_a_script_is_a_script(tmp_path: Path) -> None:
    assert describe(executable(tmp_path / "s", b"#!/bin/sh\n")) is Kind.SCRIPT
    assert describe(executable(tmp_path / "t", b"#!")) is Kind.SCRIPT


# --- what cannot ------------------------------------------------------------------------------------------------------


def test_a_missing_file_has_its_nearest_neighbour_as_hint(tmp_path: Path) -> None:
    (tmp_path / "test_forward").touch()
    assert problem_with(tmp_path / "test_forwad") == ("does not exist", f"did you mean {tmp_path / 'test_forward'}?")
    assert problem_with(tmp_path / "zzz") == ("does not exist", f"build it first; {tmp_path} has no name like it")
    assert problem_with(tmp_path / "no" / "x") == ("does not exist", f"there is no folder {tmp_path / 'no'} either")
    assert problem_with(tmp_path / "test_forward" / "x")[0] == "does not exist"


def test_a_link_to_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("none")
    assert problem_with(tmp_path / "link") == ("does not exist", "it is a link to none, which is missing")


def test_a_directory_offers_the_programs_in_it(tmp_path: Path) -> None:
    assert problem_with(tmp_path) == ("is a directory", "name a test binary")
    executable(tmp_path / "test_b", b"")
    executable(tmp_path / "test_a", b"")
    (tmp_path / "data").touch()
    assert problem_with(tmp_path)[1] == f"name a test binary, {tmp_path / 'test_a'} or {tmp_path / 'test_b'}"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert problem_with(tmp_path / "pipe")[0] == "is not a regular file"


def test_a_file_without_an_x_bit_says_chmod(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"#!/bin/sh\n")
    assert problem_with(tmp_path / "x") == ("is not executable", f"chmod +x {tmp_path / 'x'}, or name the test binary")


def test_empty_and_foreign_files_are_told_apart(tmp_path: Path) -> None:
    assert problem_with(executable(tmp_path / "empty", b""))[0] == "is empty"
    text = executable(tmp_path / "text", b"echo hello\n")
    assert problem_with(text)[0] == "is neither an ELF program nor a script with a #! line"


def header(*, wide: bool = True, big: bool = False, machine: int = 62, kind: int = 2) -> bytes:
    """A bare ELF header, which is all that is looked at before a file is refused."""
    ident = b"\x7fELF" + bytes([2 if wide else 1, 2 if big else 1, 1]) + bytes(9)
    return ident + struct.pack(">HH" if big else "<HH", kind, machine) + bytes(44)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names what is foreign to x86-64")
@pytest.mark.parametrize(
    ("head", "name"),
    [
        (header(wide=False, machine=3), "32-bit x86"),
        (header(wide=False, machine=62), "32-bit x86-64"),
        (header(machine=183), "AArch64"),
        (header(machine=22, big=True), "s390x"),
        (header(machine=9999), "machine type 9999"),
    ],
)
def test_a_program_for_another_machine_names_both(tmp_path: Path, head: bytes, name: str) -> None:
    path = executable(tmp_path / "x", head)
    assert problem_with(path)[0] == f"is built for {name}; this machine is x86-64"


def test_a_real_32_bit_program_is_refused(compile_c: Compiler) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("-m32 is for x86-64")
    source = "void _start(void) { for (;;) {} }"
    assert "32-bit x86" in problem_with(compile_c("small", source, "-m32", "-nostdlib", "-static"))[0]


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    whole = Path(sys.executable).read_bytes()
    assert problem_with(executable(tmp_path / "cut", whole[:40]))[0] == "is a damaged ELF file"
    endless = whole[:32] + b"\xff" * 8 + whole[40:64]  # its program headers are nowhere
    assert problem_with(executable(tmp_path / "endless", endless))[0] == "is a damaged ELF file"


def test_libraries_and_object_files_are_not_programs(compile_c: Compiler) -> None:
    library = compile_c("libx.so", "int x;", "-shared", "-fPIC")
    assert problem_with(library)[0] == "is a shared library, not a program"
    unlinked = compile_c("x.o", MAIN, "-c")
    unlinked.chmod(0o755)
    assert problem_with(unlinked)[0] == "is an object file that is not linked yet"


def test_a_program_whose_loader_is_absent_says_so(compile_c: Compiler) -> None:
    program = compile_c("program", MAIN, "-Wl,--dynamic-linker=/lib/ld-elsewhere.so.1")
    assert problem_with(program)[0] == "needs the loader /lib/ld-elsewhere.so.1, which is not there"


# --- libraries --------------------------------------------------------------------------------------------------------


def test_libraries_are_those_that_ldd_names(compile_c: Compiler) -> None:
    program = compile_c(
        "program", "#include <math.h>\nint main(int n, char **a) { (void)a; return (int)cos(n); }", "-lm"
    )
    told = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True).stdout
    expected = {Path(line.split("=>")[1].split()[0]).resolve() for line in told.splitlines() if "=>" in line}
    found = {path.resolve() for path in libraries(program)}
    assert expected
    assert expected <= found
    assert libraries(compile_c("static", MAIN, "-static")) == ()


@pytest.mark.parametrize("flag", ["--enable-new-dtags", "--disable-new-dtags"])
def test_libraries_beside_the_program_are_followed_through_each_other(compile_c: Compiler, flag: str) -> None:
    shared = ["-shared", "-fPIC"]
    two = compile_c("deep/libtwo.so", "int two(void) { return 2; }", *shared, "-Wl,-soname,libtwo.so")
    search = f"-Wl,{flag},-rpath,$ORIGIN"
    source = "int two(void); int one(void) { return two(); }"
    one = compile_c("libone.so", source, *shared, str(two), f"{search}/deep", "-Wl,-soname,libone.so")
    program = compile_c("program", "int one(void); int main(void) { return one(); }", str(one), search)
    assert subprocess.run([str(program)], check=False).returncode == 2
    assert {one, two} <= {library.resolve() for library in libraries(program)}


def test_ld_library_path_is_searched_and_what_is_not_found_left_out(
    compile_c: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = compile_c("lib/libx.so", "int x(void) { return 1; }", "-shared", "-fPIC", "-Wl,-soname,libx.so")
    program = compile_c("program", "int x(void); int main(void) { return x(); }", str(library))
    assert "libx.so" not in {path.name for path in libraries(program)}
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "libx.so").write_bytes(b"not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path / 'wrong'}:{tmp_path / 'lib'}")
    assert library in libraries(program)


def test_the_loaders_own_list_reads_as_ldconfig_prints_it() -> None:
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")
    if ldconfig is None or not Path("/etc/ld.so.cache").exists():
        pytest.skip("this system has no ld.so.cache")
    told = subprocess.run([ldconfig, "-p"], check=True, capture_output=True, text=True).stdout
    pairs = [line.split(" => ") for line in told.splitlines() if " => " in line]
    expected = {(name.split()[0], path) for name, path in pairs}
    assert expected
    assert {(name, path) for name, paths in cached_libraries().items() for path in paths} == expected


def test_what_is_no_elf_file_has_no_libraries(tmp_path: Path) -> None:
    assert libraries(executable(tmp_path / "s", b"#!/bin/sh\n")) == ()
    assert libraries(tmp_path / "none") == ()


# --- markers ----------------------------------------------------------------------------------------------------------


def test_markers_are_found_in_any_of_the_files_also_across_pieces(tmp_path: Path) -> None:
    border = 4 * 2**20
    (tmp_path / "a").write_bytes(bytes(border - 3) + b"VT_POOL_BYPASS" + bytes(100))
    (tmp_path / "b").write_bytes(b"dt-test-case=")
    paths = (tmp_path / "a", tmp_path / "none", tmp_path, tmp_path / "b")
    markers = (b"VT_POOL_BYPASS", b"dt-test-case=", b"VT_POOL_EXACT")
    assert find_markers(paths, markers) == {b"VT_POOL_BYPASS", b"dt-test-case="}
    assert find_markers(paths[:1], markers) == {b"VT_POOL_BYPASS"}
    assert find_markers(paths, ()) == frozenset()


def test_a_marker_in_a_stripped_program_is_found(compile_c: Compiler) -> None:
    if shutil.which("strip") is None:
        pytest.skip("strip is not installed")
    source = '#include <stdlib.h>\nint main(void) { return getenv("VT_POOL_BYPASS") != 0; }'
    program = compile_c("program", source, "-O2")
    subprocess.run(["strip", "-s", str(program)], check=True)
    assert find_markers([program], [b"VT_POOL_BYPASS", b"VT_POOL_EXACT"]) == {b"VT_POOL_BYPASS"}


# --- what a target brings in while it runs ----------------------------------------------------------------------------

CALLS = {
    "dlopen": '#include <dlfcn.h>\nint main(void) { return dlopen("x", 1) != 0; }',
    "execv": "#include <unistd.h>\nint main(int n, char** a) { return execv(a[n], a); }",
    "system": '#include <stdlib.h>\nint main(void) { return system("true"); }',
    "popen": '#include <stdio.h>\nint main(void) { return popen("true", "r") != 0; }',
    "posix_spawn": "#include <spawn.h>\nint main(int n, char** a) { return posix_spawn(0, a[n], 0, 0, a, a); }",
}


def whole(program: Path) -> tuple[Path, ...]:
    return (program, *libraries(program))


def test_a_program_that_loads_nothing_and_starts_nothing_is_closed(compile_c: Compiler) -> None:
    for flags in (["-no-pie"], ["-pie", "-fPIE"], ["-s"]):
        assert is_closed(whole(compile_c("program", MAIN, *flags)))


@pytest.mark.parametrize("call", sorted(CALLS))
def test_one_that_can_load_or_start_others_is_not(compile_c: Compiler, call: str) -> None:
    program = compile_c("program", CALLS[call])
    assert opening_calls(program) == frozenset({call})
    assert not is_closed(whole(program))


def test_nor_is_one_whose_library_can(compile_c: Compiler, tmp_path: Path) -> None:
    loader = CALLS["dlopen"].replace("main", "load")
    compile_c("libloader.so", loader, "-shared", "-fPIC")
    code = "int load(void); int main(void) { return load(); }"
    program = compile_c("program", code, f"-L{tmp_path}", "-lloader", f"-Wl,-rpath,{tmp_path}")
    assert opening_calls(program) == frozenset()
    assert not is_closed(whole(program))


def test_interpreters_are_not(tmp_path: Path) -> None:
    for name in ("sh", "bash", "perl", "env"):
        if found := shutil.which(name):
            assert not is_closed(whole(Path(found).resolve())), name
    assert not is_closed(whole(Path(sys.executable)))
    script = executable(tmp_path / "s", b"#!/bin/sh\n")
    assert (opening_calls(script), is_closed([script])) == (None, False)


def test_nor_is_what_nobody_can_tell_of(compile_c: Compiler, tmp_path: Path) -> None:
    static = compile_c("static", MAIN, "-static")
    assert (opening_calls(static), is_closed(whole(static))) == (None, False)
    program = compile_c("program", MAIN)
    assert not is_closed([program])  # a library that it needs was not found
    bare = executable(tmp_path / "bare", program.read_bytes()[:40] + bytes(8) + program.read_bytes()[48:60] + bytes(4))
    assert opening_calls(bare) is None
    content = program.read_bytes()
    (sections,) = struct.unpack_from("=Q", content, 40)
    kinds = [struct.unpack_from("=I", content, start + 4)[0] for start in range(sections, len(content) - 63, 64)]
    names_of_symbols = sections + 64 * kinds.index(11) + 40
    wrong = content[:names_of_symbols] + b"\xff\xff\0\0" + content[names_of_symbols + 4 :]
    assert opening_calls(executable(tmp_path / "wrong", wrong)) is None
    cut = executable(tmp_path / "cut", content[: len(content) // 2])
    assert not is_closed(whole(cut))
