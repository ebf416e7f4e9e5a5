"""Files of other programs, read without them."""

import struct

import pytest

from pooldiag.census.files.format import Declared
from pooldiag.census.layouts import LAYOUTS, CensusError
from tests.census.files.reading import contents, listed, sample

F32 = bytes.fromhex("0000803f 00000040 0000c07f 00000080 0000807f c2160100")
BF16 = bytes.fromhex("803f 0040 ffff 0080 807f 0100")  # torch makes 0xffff of a NaN
F16 = bytes.fromhex("003c 0040 007e 0080 007c 0000")


@pytest.mark.parametrize("file", ["f32.npy", "f32-v3.npy"])
def test_npy_of_each_version(file: str) -> None:
    (tensor,) = listed("npy", sample(file)).values()
    assert (tensor.name, tensor.dtype, tensor.shape, tensor.byte_order) == (None, "f32", (2, 3), "little")
    assert (tensor.notes, tensor.obstacle) == ((), None)
    assert contents("npy", sample(file)) == {None: F32}


def test_npy_of_version_2_has_a_longer_length() -> None:
    data = sample("f32-v3.npy").replace(b"NUMPY\3", b"NUMPY\2")
    assert contents("npy", data) == {None: F32}


def test_fortran_order_and_byte_order_are_told() -> None:
    (tensor,) = listed("npy", sample("f64-big-fortran.npy")).values()
    assert (tensor.dtype, tensor.shape, tensor.byte_order) == ("f64", (3, 2), "big")
    assert tensor.notes == ("in Fortran order: the (2, 3) elements are counted in the order of memory",)
    read = struct.unpack(">6d", contents("npy", sample("f64-big-fortran.npy"))[None])
    assert (read[0], read[2]) == (1, 2)


def test_a_complex_number_is_two_elements() -> None:
    (tensor,) = listed("npy", sample("complex.npy")).values()
    assert (tensor.dtype, tensor.shape, tensor.count) == ("f32", (2, 3, 2), 12)
    assert tensor.notes == ("each element is 2 of f32",)


def test_a_type_that_numpy_lost_is_asked_for_and_taken() -> None:
    with pytest.raises(CensusError, match="has elements of 2 bytes, and the file does not say of what type") as error:
        contents("npy", sample("bf16.npy"))
    assert error.value.hint == "NumPy saves bf16 and fp8 so; name the type: --dtype bf16"
    told = Declared(layout=LAYOUTS["bf16"])
    (tensor,) = listed("npy", sample("bf16.npy"), told).values()
    assert (tensor.dtype, tensor.shape) == ("bf16", (2, 3))
    assert contents("npy", sample("bf16.npy"), told)[None][:4] == BF16[:4]


def test_a_declared_type_of_another_size_is_refused() -> None:
    with pytest.raises(CensusError, match="has elements of 2 bytes, f32 of 32 bits"):
        contents("npy", sample("bf16.npy"), Declared(layout=LAYOUTS["f32"]))


def test_pickled_objects_are_never_read() -> None:
    with pytest.raises(CensusError, match="holds pickled Python objects, which are never read"):
        contents("npy", sample("objects.npy"))


def test_npz_has_a_tensor_a_member() -> None:
    tensors = listed("npz", sample("stored.npz"))
    assert {name: (each.dtype, each.shape) for name, each in tensors.items()} == {
        "a": ("f32", (2, 3)),
        "b": ("e5m2", (2, 3)),
        "c/d": ("i32", (5,)),
    }
    read = contents("npz", sample("stored.npz"))
    assert read["a"] == F32
    assert read["c/d"] == struct.pack("<5i", *range(5))


def test_compressed_members_are_unpacked() -> None:
    assert contents("npz", sample("deflated.npz")) == {"a": F32, "zeros": bytes(10_000)}
    assert listed("npz", sample("empty.npz")) == {}


def test_safetensors_of_each_type() -> None:
    tensors = listed("safetensors", sample("all.safetensors"))
    assert {name: (each.dtype, each.shape) for name, each in tensors.items()} == {
        "i64": ("i64", (3,)),
        "c64": ("f32", (2, 3, 2)),
        "empty": ("f32", (0, 3)),
        "f32": ("f32", (2, 3)),
        "bf16": ("bf16", (2, 3)),
        "e5m2fnuz": ("e5m2fnuz", (2, 3)),
        "e8m0": ("e8m0", (2,)),
        "e4m3": ("e4m3fn", (2, 3)),
        "fp4": ("e2m1", (4,)),
        "flag": ("bool", (2,)),
    }
    read = contents("safetensors", sample("all.safetensors"))
    assert (read["f32"], read["bf16"], read["fp4"], read["empty"]) == (F32, BF16, b"\x21\x43", b"")


def test_gguf_of_plain_types() -> None:
    tensors = listed("gguf", sample("all.gguf"))
    assert {name: (tensors[name].dtype, tensors[name].shape) for name in ("f32", "f16", "bf16", "i32")} == {
        "f32": ("f32", (2, 3)),
        "f16": ("f16", (2, 3)),
        "bf16": ("bf16", (2, 3)),
        "i32": ("i32", (3,)),
    }
    read = contents("gguf", sample("all.gguf"))
    assert (read["f32"], read["f16"], read["bf16"], read["i32"]) == (F32, F16, BF16, struct.pack("<3i", 0, 1, 2))


# How many scales a block has. In the sample, those of the first of two blocks are finite, those of the second NaN.
SCALES = {
    **dict.fromkeys(("Q4_0", "Q5_0", "Q8_0", "Q1_0", "Q3_K", "Q6_K", "IQ4_NL", "TQ1_0", "TQ2_0"), ("f16", 1)),
    **dict.fromkeys(("IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S", "IQ1_M", "IQ4_XS"), ("f16", 1)),
    **dict.fromkeys(("Q4_1", "Q5_1", "Q2_K", "Q4_K", "Q5_K"), ("f16", 2)),
    "Q8_K": ("f32", 1),
    "MXFP4": ("e8m0", 1),
    "NVFP4": ("e4m3fn", 4),
}
PATTERNS = {"f16": ("003c", "007e"), "f32": ("0000803f", "0000c07f"), "e8m0": ("7f", "ff"), "e4m3fn": ("38", "7f")}


@pytest.mark.parametrize("name", SCALES)
def test_a_quantized_tensor_is_counted_by_its_scales(name: str) -> None:
    dtype, scales = SCALES[name]
    tensor = listed("gguf", sample("all.gguf"))[name]
    assert (tensor.dtype, tensor.shape) == (dtype, (1, 2 * scales))
    assert tensor.notes[0].startswith(f"the scales of 2 {name} blocks of ")
    finite, nan = PATTERNS[dtype]
    assert contents("gguf", sample("all.gguf"))[name].hex() == finite * scales + nan * scales


def test_gguf_of_the_other_byte_order() -> None:
    tensors = listed("gguf", sample("big.gguf"))
    assert {each.byte_order for each in tensors.values()} == {"big"}
    read = contents("gguf", sample("big.gguf"))
    assert struct.unpack(">6f", read["f32"])[:2] == (1, 2)
    assert struct.unpack(">3i", read["i32"]) == (0, 1, 2)
    assert read["Q4_0"].hex() == "3c007e00"


def test_a_saved_tensor_has_no_name() -> None:
    assert contents("torch", sample("tensor.pt")) == {None: BF16}


def test_tensors_are_found_within_dictionaries_and_lists() -> None:
    tensors = listed("torch", sample("state.pt"))
    assert {name: (each.dtype, each.shape) for name, each in tensors.items()} == {
        "model.weight": ("f32", (2, 2)),
        "model.bias": ("f32", (2,)),
        "parameter": ("f32", (2, 3)),
        "list.0": ("i64", (3,)),
        "list.1.0": ("f32", (3, 4)),
        "list.1.1": ("f32", (3, 4)),
        "list.1.2": ("f32", (2, 4)),
        "list.1.3": ("f32", (12,)),
        "e4m3": ("e4m3fn", (2, 3)),
        "e8m0": ("e8m0", (2,)),
        "fp4": ("e2m1", (2, 2)),
        "complex": ("f32", (2, 3, 2)),
        "u16": ("u16", (2,)),
        "empty": ("f32", (0, 3)),
        "scalar": ("bool", ()),
    }
    read = contents("torch", sample("state.pt"))
    assert read["parameter"] == F32
    assert read["model.weight"] == struct.pack("<4f", 1, 2, 3, 4)


def test_a_view_is_counted_as_it_lies_in_its_storage() -> None:
    tensors = listed("torch", sample("state.pt"))
    whole = struct.pack("<12f", *range(12))
    read = contents("torch", sample("state.pt"))
    assert (read["list.1.0"], read["list.1.1"], read["list.1.2"], read["list.1.3"]) == (whole, whole, whole[16:], whole)
    assert [tensors[f"list.1.{index}"].notes for index in range(4)] == [
        (),
        ("transposed: the (4, 3) elements are counted in the order of memory",),
        (),
        ("a 3x2 view with strides (4, 1): its storage of 12 is counted",),
    ]
    assert [tensors[f"list.1.{index}"].axes for index in range(4)] == [None, (1, 0), None, None]


def test_what_torch_wrote_before_zip_files_is_refused_with_the_way_out() -> None:
    with pytest.raises(CensusError, match=r"a pickle, as torch\.save wrote it before version 1\.6") as error:
        listed("torch", sample("old.pt"))
    assert error.value.hint == "save it again: torch.save(torch.load(…, weights_only=True), …)"


def test_a_class_that_is_no_tensor_is_refused_by_name() -> None:
    with pytest.raises(CensusError, match=r"data\.pkl asks for 'argparse\.Namespace'"):
        listed("torch", sample("namespace.pt"))
