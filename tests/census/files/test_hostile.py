"""Files that lie: each is refused in one line, at once, and little memory is taken for it."""

import io
import struct
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pooldiag.census.files import open_tensor
from pooldiag.census.files.format import TENSOR_LIMIT
from pooldiag.census.layouts import CensusError
from tests.census.files.hostile import (
    Call,
    Storage,
    array,
    gguf,
    gguf_name,
    gguf_tensor,
    npy,
    pickle_of,
    pickled,
    rebuilt,
    safetensors,
    tensor_entry,
    torch,
    zipped,
)
from tests.census.files.reading import contents, listed, sample

MEBIBYTE = 2**20


@contextmanager
def memory_bounded(limit: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()


def refusal(format_name: str, data: bytes) -> str:
    """Return the line with which a file is refused, when it is listed or read."""
    with memory_bounded(4 * MEBIBYTE + 2 * len(data)), pytest.raises(CensusError) as error:
        contents(format_name, data)
    assert error.value.problem.startswith("x: ")
    assert error.value.problem.isprintable()
    assert len(error.value.problem) < 300
    return error.value.problem.removeprefix("x: ")


def short(argument: object) -> str:
    """Name a case by the problem, without the file."""
    return argument if isinstance(argument, str) else ""


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (npy(""), "the header is no dictionary"),
        (npy("", length=100), "the file ends within the header: 0 of 100 bytes"),
        (npy("", length=2**32 - 1, version=3), "a header of 4294967295 bytes: this is no array of numbers"),
        (npy("", version=7), "no .npy: it begins with"),
        (npy("{" * 9000), "the header is no dictionary"),
        (npy("-" * 9999 + "1"), "the header is no dictionary"),
        (npy("1+" * 4999 + "1"), "the header is no dictionary"),
        (npy("9" * 9999), "the header is no dictionary"),
        (npy("__import__('os').system('exit 1')"), "the header is no dictionary"),
        (npy(b"\xff\xfe"), "the header is no dictionary"),
        (npy("'\\d'"), "the header does not describe an array"),
        (npy("[1]"), "the header does not describe an array"),
        (npy("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}"), "the header does not describe an array"),
        (npy(array("'<f4'", "(True,)")), "the header does not describe an array"),
        (npy(array("'<f4'", "(-1,)")), "the tensor has a shape that no tensor has"),
        (npy(array("'<f4'", "(2**9,)")), "the header is no dictionary"),
        (npy(array("'<f4'", f"({2**62},)")), f"the tensor lacks {2**64} of {2**64} bytes"),
        (npy(array("'<f4'", f"({'1,' * 100})")), "the tensor has 100 axes, more than 64"),
        (npy(array("'<f999999999'", "(0,)")), "the tensor is of type '<f999999999', which cannot be counted"),
        (npy(array("'<M8[ns]'"), bytes(24)), "the tensor is of type '<M8[ns]', which cannot be counted"),
        (npy(array("'|O'"), bytes(24)), "the tensor holds pickled Python objects, which are never read"),
        (npy(array("[('a', '<f4'), ('b', '<i4')]"), bytes(24)), "the tensor is no array of numbers, but of"),
        (npy(array("0x" + "f" * 9000), bytes(24)), "the tensor is no array of numbers, but of structures"),
        (npy(array("'\\x1b[2J'"), bytes(24)), "the tensor is no array of numbers, but of '\\x1b[2J'"),
    ],
    ids=short,
)
def test_npy(data: bytes, problem: str) -> None:
    assert refusal("npy", data).startswith(problem)


def test_an_array_without_elements_may_have_any_axes() -> None:
    assert contents("npy", npy(array("'<f4'", f"({2**40}, {2**40}, 0)"))) == {None: b""}


def test_a_hint_in_a_header_for_pythons_parser_is_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    refusal("npy", npy("'\\d' if 1is 1 else 2"))
    assert not recwarn.list


NUMBERS = npy(array("'<f4'"), bytes(12))


def damaged(data: bytes, begin: int, patch: bytes) -> bytes:
    at = begin if begin >= 0 else len(data) + begin
    return data[:at] + patch + data[at + len(patch) :]


def table_of(data: bytes) -> int:
    """Return where the table of contents begins."""
    return data.index(b"PK\1\2")


def patched(data: bytes, offset: int, form: str, value: int) -> bytes:
    """Change a field of the first entry of the table of contents."""
    return damaged(data, table_of(data) + offset, struct.pack(form, value))


ONE = zipped({"a.npy": NUMBERS})
PACKED = zipped({"a.npy": npy(array("'<f4'", "(1000,)"), bytes(4000))}, deflated=True)
METHOD, CHECKSUM, PACKED_SIZE, SIZE, FLAGS, LOCAL = 10, 16, 20, 24, 8, 42


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (ONE[:-1], "the table of contents of this zip file is damaged"),
        (ONE[: table_of(ONE)], "the table of contents of this zip file is damaged"),
        (patched(ONE, METHOD, "<H", 12), "'a.npy' is neither stored nor deflated, but packed by method 12"),
        (patched(ONE, METHOD, "<H", 14), "'a.npy' is neither stored nor deflated, but packed by method 14"),
        (patched(ONE, FLAGS, "<H", 1), "'a.npy' is encrypted"),
        (patched(ONE, SIZE, "<I", 2**31), "'a.npy' is said to unpack from"),
        (patched(PACKED, SIZE, "<I", 2**31), "'a.npy' is said to unpack from "),
        (patched(PACKED, PACKED_SIZE, "<I", 2**31), "'a.npy' ends at byte"),
        (patched(ONE, LOCAL, "<I", 2**31), "'a.npy' is said to be outside the file"),
        (patched(ONE, LOCAL, "<I", 5), "'a.npy' is not where the table of contents says"),
        (patched(ONE, SIZE, "<I", 40), "'a.npy' is said to unpack from"),
        (zipped({"a.npy": NUMBERS[:-8]}), "'a' lacks 8 of 12 bytes"),
        (zipped({"a.npy": NUMBERS[:40]}), "'a': the file ends within the header"),
        (patched(PACKED, CHECKSUM, "<I", 1), "compressed data are damaged (the checksum is another)"),
        (patched(PACKED, SIZE, "<I", 5000), "compressed data end"),
        (zipped({"a.npy": b""}), "'a': the file ends within the magic of .npy: 0 of 8 bytes"),
        (zipped({"a.npy": b"PK"}), "'a': the file ends within the magic of .npy: 2 of 8 bytes"),
        (zipped({"\x1b[2J\n.npy": b""}), "'\\x1b[2J\\n': the file ends within"),
    ],
    ids=short,
)
def test_npz(data: bytes, problem: str) -> None:
    assert refusal("npz", data).startswith(problem)


def test_two_members_of_one_name_are_refused() -> None:
    data = zipped({"a.npy": NUMBERS, "b.npy": NUMBERS}).replace(b"b.npy", b"a.npy")
    assert refusal("npz", data) == "2 tensors have the name 'a.npy'"


def test_members_that_share_their_bytes_are_refused() -> None:
    data = zipped({"a.npy": NUMBERS, "b.npy": NUMBERS})
    second = data.rindex(b"PK\1\2")
    assert refusal("npz", damaged(data, second + LOCAL, bytes(4))) == "'b.npy' begins at byte 35, within 'a.npy'"


def test_a_member_that_is_no_deflate_stream_is_refused() -> None:
    data = damaged(PACKED, len("a.npy") + 30, b"\xff" * 20)
    assert refusal("npz", data).startswith("compressed data are damaged (Error -3")


def test_what_unpacks_to_a_thousand_times_its_size_is_unpacked_piece_by_piece() -> None:
    data = zipped({"a.npy": npy(array("'<f4'", f"({2**23},)"), bytes(2**25))}, deflated=True)
    assert len(data) < 2**16
    with memory_bounded(MEBIBYTE):
        (tensor,) = listed("npz", data).values()
        view = open_tensor(io.BytesIO(data), tensor, path="x")
        assert sum(map(len, iter(lambda: view.read(2**16), b""))) == 2**25


def test_a_table_of_contents_of_any_length_is_not_read() -> None:
    table = 2**24
    data = ONE[: table_of(ONE)] + bytes(table) + damaged(ONE[-22:], 12, struct.pack("<II", table, table_of(ONE)))
    assert refusal("npz", data) == f"a table of contents of {table} bytes: this is no file of tensors"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (safetensors(b"", length=2**60), f"a header of {2**60} bytes, larger than is read"),
        (safetensors(b"{}", length=200), "the file ends within the header: 2 of 200 bytes"),
        (safetensors(b""), "the header is no JSON object of tensors, from byte 0 on"),
        (safetensors(b"[]"), "the header is no JSON object of tensors, from byte 0 on"),
        (safetensors(b"{" * MEBIBYTE), "the header is no JSON object of tensors, from byte 1 on"),
        (safetensors(b'{"a":' + b"[" * MEBIBYTE), "the header is no JSON object of tensors, from byte 1 on"),
        (safetensors(b'{"a":{"b":' + b"[" * 9999 + b"}}"), "not JSON: "),
        (safetensors(b'{"a":{"b":' + b"[]" + b",[]" * 9999 + b"}}"), "the header says "),
        (safetensors(b'{"a":{}}'), "'a' is not described as a tensor: '{}'"),
        (safetensors(b'{"__metadata__":{},}'), "the header is no JSON object of tensors, from byte 19 on"),
        (safetensors(b'{"\xff":{}}'), "not JSON: "),
        (safetensors(b'{"__metadata__":{}} {}'), "the header goes on after its JSON object, at byte 19"),
        (safetensors({"a\n\x1b[2J": {}}), "'a\\n\\x1b[2J' is not described as a tensor"),
        (safetensors({"a": tensor_entry(0, 8)}, bytes(8)), "'a' has 8 bytes, and F32 [1] needs 4"),
        (safetensors({"a": tensor_entry()}, bytes(3)), "'a' ends at byte"),
        (safetensors({"a": tensor_entry(4, 0)}), "'a' is not described as a tensor"),
        (safetensors({"a": tensor_entry(-4, 0)}), "'a' is not described as a tensor"),
        (safetensors({"a": tensor_entry(2**70, 2**70 + 4)}), "'a' is not described as a tensor"),
        (safetensors({"a": tensor_entry(2**62, 2**62 + 4)}), "'a' ends at byte"),
        (
            safetensors(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,%b]}}' % (b"9" * 4300)),
            "'a' is not described",
        ),
        (safetensors({"a": tensor_entry(shape=[-1])}), "'a' has a shape that no tensor has"),
        (safetensors({"a": tensor_entry(shape=[True])}), "'a' is not described as a tensor"),
        (safetensors({"a": tensor_entry(shape=[2**40, 2**40])}), "'a' has a shape that no tensor has"),
        (safetensors({"a": tensor_entry(shape=[1] * 99)}), "'a' has 99 axes, more than 64"),
        (safetensors({"a": tensor_entry(dtype="F128")}, bytes(4)), "'a' is of type 'F128', which cannot be counted"),
        (safetensors({"a": tensor_entry(0, 3, dtype="F6_E2M3", shape=[4])}, bytes(3)), "'a' is of type 'F6_E2M3'"),
        (safetensors({"a": tensor_entry(), "b": tensor_entry(2, 6)}, bytes(8)), "'b' begins at byte"),
    ],
    ids=short,
)
def test_safetensors(data: bytes, problem: str) -> None:
    assert refusal("safetensors", data).startswith(problem)


def test_two_entries_of_one_name_are_refused() -> None:
    entry = b'{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
    header = b'{"a":' + entry + b',"\\u0061":' + entry.replace(b"[0,4]", b"[4,8]") + b"}"
    assert refusal("safetensors", safetensors(header, bytes(8))) == "2 tensors have the name 'a'"


def test_what_can_be_counted_is_listed_beside_what_cannot() -> None:
    header = {"a": tensor_entry(0, 3, dtype="F6_E3M2", shape=[4]), "b": tensor_entry(4, 8)}
    tensors = listed("safetensors", safetensors(header, bytes(8)))
    assert [(each.dtype, each.obstacle is None) for each in tensors.values()] == [("F6_E3M2", False), ("f32", True)]


def test_metadata_are_passed_by_whatever_they_hold() -> None:
    header = b' {"__metadata__" : {"{": "}\\"}", "x": "\xff' + b"y" * MEBIBYTE + b'"} }  '
    assert listed("safetensors", safetensors(header)) == {}


def value(kind: int, data: bytes, name: bytes = b"k") -> bytes:
    return gguf_name(name) + struct.pack("<I", kind) + data


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (gguf(version=1), "GGUF version 1; versions 2 and 3 can be read"),
        (gguf(version=2**24), "GGUF version 1; versions 2 and 3 can be read"),
        (gguf()[:12], "the file ends within the header: 4 of 8 bytes"),
        (gguf(tensors=2**60), "the file ends within the header"),
        (gguf(values=2**60), "the file ends within the header"),
        (gguf(values=1, rest=struct.pack("<Q", 2**60)), f"a name of {2**60} bytes"),
        (gguf(values=1, rest=value(8, struct.pack("<Q", 2**60))), "a header of more than 33554432 bytes"),
        (gguf(values=1, rest=value(9, struct.pack("<IQ", 8, 2**60))), "the file ends within the header"),
        (gguf(values=1, rest=value(9, struct.pack("<IQ", 10, 2**60))), "a header of more than 33554432 bytes"),
        (gguf(values=1, rest=value(9, struct.pack("<IQ", 9, 2**60))), "metadata of arrays of type 9"),
        (gguf(values=1, rest=value(13, b"")), "metadata of type 13, which GGUF does not have"),
        (
            gguf(values=1, rest=value(4, struct.pack("<I", 0), b"general.alignment")),
            "general.alignment is 0, no power of two",
        ),
        (gguf(tensors=1, rest=gguf_tensor(shape=(1,) * 5)), "'a' has 5 axes, more than 4"),
        (gguf(tensors=1, rest=gguf_tensor(shape=(2**40, 2**40))), "'a' has a shape that no tensor has"),
        (
            gguf(tensors=1, rest=gguf_tensor(shape=(33,), kind=2)),
            "'a' has rows that are no whole number of Q4_0 blocks",
        ),
        (gguf(tensors=1, rest=gguf_tensor(offset=2**63)), "'a' ends at byte"),
        (gguf(tensors=1, rest=gguf_tensor() + bytes(10)), "'a' ends at byte"),
        (
            gguf(tensors=1, rest=gguf_tensor(kind=31)),
            "'a' is of type 31 of GGUF, little-endian, which cannot be counted",
        ),
        (gguf(tensors=1, rest=gguf_tensor(b"\xff\n", kind=99)), "'\\udcff\\n' is of type 99 of GGUF"),
        (gguf(tensors=2, rest=gguf_tensor() * 2 + bytes(99)), "2 tensors have the name 'a'"),
        (
            gguf(tensors=2, rest=gguf_tensor(shape=(8,)) + gguf_tensor(b"b", offset=16) + bytes(99)),
            "'b' begins at byte 112, within 'a'",
        ),
    ],
    ids=short,
)
def test_gguf(data: bytes, problem: str) -> None:
    assert refusal("gguf", data).startswith(problem)


VIEW = rebuilt(Storage())
SUBCLASS = b"ctorch._tensor\n_rebuild_from_type_v2\n"
NESTED = SUBCLASS + (SUBCLASS + b"N") * 5000 + b")" + b"\x87" * 5000 + b"R"  # a subclass of a subclass of ...
SHARED = b"\x80\x02]q\0(" + b"h\0" * 99 + b"e."  # a list of itself


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            torch(pickle_of(Call("os.system", "exit 1"))),
            "data.pkl asks for 'os.system', which no dense tensor is made of",
        ),
        (torch(b"\x80\x04\x8c\2os\x8c\6system\x93."), "data.pkl asks for 'os.system'"),
        (torch(b"\x80\x02cbuiltins\neval\n."), "data.pkl asks for 'builtins.eval'"),
        (torch(pickle_of(Call("torch._utils._rebuild_qtensor"))), "data.pkl asks for 'torch._utils._rebuild_qtensor'"),
        (torch(b"\x80\x02(ios\nsystem\n."), "data.pkl has an opcode that tensors are not made of: b'i'"),
        (torch(b"\x80\x02)\x81."), "data.pkl has an opcode that tensors are not made of: b'\\x81'"),
        (torch(b""), "data.pkl is damaged at byte 0"),
        (torch(b"."), "data.pkl is damaged at byte 1"),
        (torch(b"\x80\x02X\xff\xff\xff\x7fa."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02\x8e" + b"\xff" * 8 + b"."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02X\1\0\0\0\xff."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02h\7."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02Nu."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02NNa."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02N\x86."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02NQ."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02}(Nu."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02}" + b")" + b"\x85" * 50_000 + b"Ns."), "data.pkl is damaged at byte"),
        (torch(b"\x80\x02" + NESTED + b"."), "data.pkl is damaged at byte"),
        (torch(SHARED), "objects within objects, deeper than any model"),
        (torch(pickle_of([VIEW, rebuilt(Storage("1"))])), "'1' has no data: the member '1' is not there"),
        (torch(pickle_of(rebuilt(Storage(7)))), "data.pkl is damaged at byte"),
        (torch(pickle_of(rebuilt("storage"))), "data.pkl is damaged at byte"),
        (torch(pickle_of(rebuilt(Storage(), shape=(4, 4)))), "data.pkl is damaged at byte"),
        (torch(pickle_of(rebuilt(Storage(), strides=(-1,)))), "data.pkl is damaged at byte"),
        (torch(pickle_of(rebuilt(Storage(), shape=[4]))), "data.pkl is damaged at byte"),
        (torch(pickle_of(rebuilt(Storage(), offset="0"))), "data.pkl is damaged at byte"),
        (torch(pickle_of(rebuilt(Storage(), function="_rebuild_tensor_v3"))), "data.pkl is damaged at byte"),
        (
            torch(pickle_of(rebuilt(Storage(), shape=(5,)))),
            "the tensor reaches beyond its storage, which has 4 elements",
        ),
        (torch(pickle_of(rebuilt(Storage(), 2**70))), "the tensor reaches beyond its storage"),
        (
            torch(pickle_of(rebuilt(Storage(), shape=(2**62, 4), strides=(0, 0)))),
            "the tensor has a shape that no tensor",
        ),
        (torch(pickle_of({"a.b": VIEW, "a": {"b": VIEW}})), "2 tensors have the name 'a.b'"),
        (torch(pickle_of({"\x1b\n": rebuilt(Storage("1"))})), "'\\x1b\\n' has no data"),
        (torch(pickle_of({"a" * 2000: VIEW})), "objects within objects, deeper than any model"),
        (zipped({"a/data.pkl": b"", "b/data.pkl": b""}), "2 members are called data.pkl"),
        (zipped({"a/word.xml": b""}), "0 members are called data.pkl"),
        (zipped({"a/data.pkl": pickle_of(VIEW), "a/byteorder": b"middle"}), "the byte order is"),
        (zipped({"a/data.pkl": pickle_of(VIEW), "a/byteorder": bytes(17)}), "'a/byteorder' has 17 bytes, more than 16"),
        (
            zipped({"a/data.pkl": bytes(2**24 + 1)}, deflated=True),
            "'a/data.pkl' has 16777217 bytes, more than 16777216",
        ),
    ],
    ids=short,
)
def test_torch(data: bytes, problem: str) -> None:
    assert refusal("torch", data).startswith(problem)


def test_nothing_that_a_pickle_names_is_imported() -> None:
    before = set(sys.modules)
    refusal("torch", torch(pickle_of(Call("antigravity.fly"))))
    refusal("torch", torch(sample("objects.npy")))
    assert set(sys.modules) == before


def test_a_memo_of_two_billion_places_takes_none() -> None:
    with memory_bounded(MEBIBYTE):
        assert listed("torch", torch(b"\x80\x02]r\xff\xff\xff\x7f.")) == {}


@pytest.mark.slow  # two million steps; the bounds of objects and of tensors are tried every time
def test_a_pickle_that_only_makes_objects_is_stopped() -> None:
    with pytest.raises(CensusError, match=r"data\.pkl goes on after 2000000 steps"):
        listed("torch", torch(b"\x80\x02" + b"}" * 2**21))


def test_objects_that_refer_to_one_another_are_not_followed_for_ever() -> None:
    twice = b"".join(b"](h%bh%beq%b" % (bytes([n]), bytes([n]), bytes([n + 1])) for n in range(30))
    with pytest.raises(CensusError, match="objects within objects, more than 200000 of them"):
        listed("torch", torch(b"\x80\x02]q\0" + twice + b"."))


def test_more_tensors_than_any_file_has_are_refused() -> None:
    head, tail = pickle_of(VIEW)[:-1], b"h\0" * (TENSOR_LIMIT + 1)
    with pytest.raises(CensusError, match="more than 100000 tensors"):
        listed("torch", torch(head + b"q\x000](" + tail + b"e."))


def test_a_view_may_overlap_itself_without_end() -> None:
    view = rebuilt(Storage(), 0, (10**9, 4), (0, 1))
    (tensor,) = listed("torch", torch(pickle_of(view))).values()
    assert (tensor.count, tensor.notes) == (
        4,
        ("a 1000000000x4 view with strides (0, 1): its storage of 4 is counted",),
    )


def test_a_subclass_is_read_as_the_tensor_that_it_is() -> None:
    arguments = pickled((Storage(), 0, (4,), (1,), False, {}))
    call = (
        b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\nctorch\nTensor\n%b}tR" % arguments
    )
    assert contents("torch", torch(b"\x80\x02%b." % call)) == {None: bytes(16)}
