"""What every format promises, tried on all entries of the registry."""

import io
import math
import os
from typing import BinaryIO

import pytest

from pooldiag.census.files import FORMATS, open_tensor, recognise
from pooldiag.census.files.format import HEAD_BYTES, Declared, TensorFile
from pooldiag.census.layouts import LAYOUTS, CensusError
from tests.census.files.reading import GOOD, declared, listed, sample

STREAMED = {"raw", "npy"}  # what can be read from a pipe
EACH_SAMPLE = [(name, file) for name, files in GOOD.items() for file in files]


@pytest.fixture(params=FORMATS)
def tensor_file(request: pytest.FixtureRequest) -> TensorFile:
    return FORMATS[request.param]


def test_names_are_the_keys_and_all_have_samples() -> None:
    assert [tensor_file.name for tensor_file in FORMATS.values()] == list(FORMATS) == list(GOOD)


def test_a_suffix_stands_for_its_format_when_the_content_says_nothing(tensor_file: TensorFile) -> None:
    for suffix in tensor_file.suffixes:
        assert recognise(b"", suffix) is recognise(b"\1\2\3", suffix.upper()) is tensor_file


@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_content_says_the_format_whatever_the_suffix(name: str, file: str) -> None:
    if name != "raw":
        assert recognise(sample(file)[:HEAD_BYTES], ".bin") is FORMATS[name]


def test_what_has_neither_a_known_content_nor_a_known_suffix_is_not_recognised() -> None:
    assert recognise(b"nothing that is known", ".xyz") is None
    assert recognise(b"PK\3\4", "") is None


@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_a_tensor_has_the_elements_of_its_shape_and_all_their_bytes(name: str, file: str) -> None:
    data = sample(file)
    for tensor in listed(name, data).values():
        assert tensor.count is not None
        assert (tensor.shape is None) == (name == "raw")  # nobody said it
        assert tensor.shape is None or math.prod(tensor.shape) == tensor.count
        read = open_tensor(io.BytesIO(data), tensor, path="x").read()
        assert len(read) == LAYOUTS[tensor.dtype].size_bytes(tensor.count)


@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_a_tensor_can_be_read_in_any_pieces_and_again(name: str, file: str) -> None:
    disk = io.BytesIO(sample(file))
    tensors = listed(name, disk.getvalue()).values()
    whole = [open_tensor(disk, each, path="x").read() for each in tensors]
    views = [open_tensor(disk, each, path="x") for each in tensors]
    assert [in_pieces(view, 3) for view in views] == whole
    assert [view.seek(0) for view in views] == [0] * len(whole)
    assert [view.read() for view in views] == whole
    assert [view.seek(-1, io.SEEK_END) for view in views if view.seek(0, io.SEEK_END)]
    assert [view.read() for view in views] == [data[-1:] for data in whole]


def in_pieces(file: BinaryIO, size: int) -> bytes:
    return b"".join(iter(lambda: file.read(size), b""))


@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_tensors_can_be_read_by_turns_and_closed_without_the_file(name: str, file: str) -> None:
    disk = io.BytesIO(sample(file))
    tensors = listed(name, disk.getvalue()).values()
    expected = [open_tensor(disk, each, path="x").read() for each in tensors]
    views = [open_tensor(disk, each, path="x") for each in tensors]
    parts = [[view.read(1) for view in views], [view.read() for view in views]]
    assert [b"".join(each) for each in zip(*parts, strict=True)] == expected
    for view in views:
        view.close()
    assert not disk.closed


@pytest.mark.parametrize("data", [b"", b"\0", b"a text\n", bytes(100), b"\xff" * 100], ids=lambda data: str(data[:8]))
def test_what_is_no_such_file_is_refused_in_a_line(tensor_file: TensorFile, data: bytes) -> None:
    if tensor_file.name != "raw":
        with pytest.raises(CensusError, match=r"^x: [^\n]*$"):
            listed(tensor_file.name, data)


@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_a_pipe_is_read_or_refused_with_the_reason(name: str, file: str) -> None:
    with pipe(sample(file)) as piped:
        if name not in STREAMED:
            with pytest.raises(CensusError, match=r"x: \w+ cannot be read from a pipe") as error:
                FORMATS[name].tensors(piped, declared(name), path="x")
            assert error.value.hint == "save it to a file first"
            return
        (tensor,) = FORMATS[name].tensors(piped, declared(name), path="x")
        (whole,) = listed(name, sample(file)).values()
        read = open_tensor(piped, tensor, path="x").read()
    assert read == open_tensor(io.BytesIO(sample(file)), whole, path="x").read()


def pipe(data: bytes) -> BinaryIO:
    """Return the reading end of a real pipe, which holds less than its buffer."""
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(data)
    return open(reading, "rb")


@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_a_file_that_shrinks_after_it_was_listed_is_said_to_be_too_short(name: str, file: str) -> None:
    tensors = [tensor for tensor in listed(name, sample(file)).values() if tensor.count]
    for tensor in tensors:
        shrunk = io.BytesIO(sample(file)[: tensor.place.offset] if tensor.place.deflated is None else b"")
        with pytest.raises(CensusError, match=r"x: .* bytes early"):
            open_tensor(shrunk, tensor, path="x").read()


def test_only_a_raw_file_can_be_told_where_its_elements_are(tensor_file: TensorFile) -> None:
    (file, *_) = GOOD[tensor_file.name]
    if tensor_file.name == "raw":
        return
    told = Declared(shape=(1,), offset=4, byte_order="big")
    with pytest.raises(CensusError, match=r"--shape and --offset and --byte-order cannot be given for \w+"):
        listed(tensor_file.name, sample(file), told)
