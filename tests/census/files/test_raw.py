"""Files without a header: all that is known is what the user says."""

import io
import os
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.census.files import FORMATS, open_tensor
from pooldiag.census.files.format import Declared
from pooldiag.census.layouts import LAYOUTS, CensusError
from tests.census.files.reading import contents, listed

F32, BF16, E2M1 = LAYOUTS["f32"], LAYOUTS["bf16"], LAYOUTS["e2m1"]


@given(st.binary(max_size=64), st.sampled_from([*LAYOUTS.values()]))
def test_whole_elements_are_counted_and_part_of_one_is_an_error(data: bytes, layout: object) -> None:
    found = LAYOUTS[getattr(layout, "name", "")]
    if len(data) % found.item_bytes:
        with pytest.raises(CensusError, match=r"bytes are no whole number of \w+ elements"):
            listed("raw", data, Declared(layout=found))
        return
    (tensor,) = listed("raw", data, Declared(layout=found)).values()
    assert tensor.count == len(data) // found.item_bytes * found.per_item
    assert contents("raw", data, Declared(layout=found)) == {None: data}


def test_the_error_says_how_many_bytes_there_are() -> None:
    with pytest.raises(CensusError, match=r"^x: 7 bytes are no whole number of f32 elements of 4 bytes, 3 too many$"):
        listed("raw", bytes(7), Declared(layout=F32))


def test_an_empty_file_has_no_elements() -> None:
    assert [tensor.count for tensor in listed("raw", b"", Declared(layout=F32)).values()] == [0]


def test_the_type_is_asked_for() -> None:
    with pytest.raises(CensusError, match="a raw file does not say what type it is of") as error:
        listed("raw", bytes(4), Declared())
    assert error.value.hint == "name it: --dtype f32"


def test_elements_begin_at_the_offset_and_end_with_the_shape() -> None:
    data = b"head" + bytes(range(24)) + b"tail!"
    told = Declared(layout=F32, offset=4, shape=(2, 3), byte_order="big")
    (tensor,) = listed("raw", data, told).values()
    assert (tensor.shape, tensor.count, tensor.byte_order) == ((2, 3), 6, "big")
    assert tensor.notes == ("5 bytes after the elements are not counted",)
    assert contents("raw", data, told) == {None: bytes(range(24))}


def test_half_a_byte_may_be_left() -> None:
    told = Declared(layout=E2M1, shape=(3,))
    (tensor,) = listed("raw", bytes(2), told).values()
    assert (tensor.count, tensor.place.size, tensor.notes) == (3, 2, ())


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (Declared(layout=F32, shape=(2, 3)), "2x3 elements of f32 have 24 bytes, the file has 16 of them"),
        (Declared(layout=F32, shape=(4,), offset=4), "4 elements of f32 have 16 bytes, the file has 12 of them"),
        (Declared(layout=F32, offset=17), "--offset 17 is beyond the end of the file, 16 bytes"),
        (Declared(layout=F32, shape=(2**40, 2**40)), "the tensor has a shape that no tensor has"),
        (Declared(layout=F32, shape=(-1,)), "the tensor has a shape that no tensor has"),
        (Declared(layout=F32, shape=(1,) * 65), "the tensor has 65 axes, more than 64"),
    ],
)
def test_what_cannot_be_in_the_file_is_an_error(told: Declared, problem: str) -> None:
    with pytest.raises(CensusError) as error:
        listed("raw", bytes(16), told)
    assert error.value.problem == f"x: {problem}"


def piped(data: bytes) -> BinaryIO:
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(data)
    return open(reading, "rb", buffering=0)


def test_a_pipe_without_a_shape_is_read_to_its_end() -> None:
    with piped(b"skip" + bytes(range(24))) as file:
        (tensor,) = FORMATS["raw"].tensors(file, Declared(layout=F32, offset=4), path="x")
        assert (tensor.shape, tensor.count, tensor.place.size) == (None, None, None)
        assert open_tensor(file, tensor, path="x").read() == bytes(range(24))


def test_a_pipe_that_ends_before_the_shape_does_is_an_error() -> None:
    with piped(bytes(7)) as file:
        (tensor,) = FORMATS["raw"].tensors(file, Declared(layout=BF16, shape=(4,)), path="x")
        with pytest.raises(CensusError, match="the file ends 1 bytes early"):
            open_tensor(file, tensor, path="x").read()


def test_a_pipe_that_ends_within_the_offset_is_an_error() -> None:
    with piped(bytes(7)) as file, pytest.raises(CensusError, match="the file ends within the 8 bytes of --offset"):
        FORMATS["raw"].tensors(file, Declared(layout=BF16, offset=8), path="x")


def test_a_view_of_a_pipe_cannot_seek() -> None:
    with piped(bytes(8)) as file:
        (tensor,) = FORMATS["raw"].tensors(file, Declared(layout=F32), path="x")
        view = open_tensor(file, tensor, path="x")
        assert not view.seekable()
        with pytest.raises(io.UnsupportedOperation):
            view.seek(0)
