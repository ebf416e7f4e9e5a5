"""Types told from bytes alone: which are found, which are left open, and which are never claimed."""

import io

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from pooldiag.census.files import FORMATS
from pooldiag.census.files.format import Declared
from pooldiag.census.layouts import CensusError
from pooldiag.census.type_guesses import PIECES, SAMPLE_BYTES, guess_file, guess_types, sample_of
from pooldiag.model.censuses import TypeGuesses

GENERATOR = np.random.default_rng(1)
N = 50_000
NORMAL = GENERATOR.standard_normal(N)
WEIGHTS = NORMAL * 0.02
RELU = np.maximum(NORMAL, 0)
BF16 = ml_dtypes.bfloat16

ALONE: dict[str, tuple[str, NDArray[np.generic]]] = {
    "f64": ("f64", NORMAL.astype("<f8")),
    "f32": ("f32", NORMAL.astype("<f4")),
    "f16": ("f16", NORMAL.astype("<f2")),
    "bf16": ("bf16", NORMAL.astype(BF16)),
    "small f32": ("f32", WEIGHTS.astype("<f4")),
    "small f16": ("f16", WEIGHTS.astype("<f2")),
    "small bf16": ("bf16", WEIGHTS.astype(BF16)),
    "half zero f32": ("f32", RELU.astype("<f4")),
    "half zero f16": ("f16", RELU.astype("<f2")),
    "half zero bf16": ("bf16", RELU.astype(BF16)),
    "uniform f32": ("f32", GENERATOR.random(N).astype("<f4")),
    "f32 with NaN": ("f32", np.where(GENERATOR.random(N) < 0.01, np.nan, NORMAL).astype("<f4")),
    "bf16 widened": ("f32", NORMAL.astype(BF16).astype("<f4")),
    "tokens i64": ("i64", GENERATOR.integers(0, 32_000, N).astype("<i8")),
    "tokens i32": ("i32", GENERATOR.integers(0, 32_000, N).astype("<i4")),
    "i16": ("i16", GENERATOR.integers(-300, 300, N).astype("<i2")),
    "one NaN of an NVIDIA GPU": ("f32", np.full(1024, 0x7FFF0000, "<u4")),
}


def guessed(values: NDArray[np.generic]) -> TypeGuesses:
    return guess_types(values.tobytes()[:SAMPLE_BYTES], path="x")


def fitting(found: TypeGuesses) -> set[str]:
    return {guess.dtype for guess in found.fitting}


@pytest.mark.parametrize(("dtype", "values"), ALONE.values(), ids=ALONE)
def test_a_type_that_fits_alone_is_found(dtype: str, values: NDArray[np.generic]) -> None:
    found = guessed(values)
    assert [(guess.dtype, guess.byte_order) for guess in found.fitting] == [(dtype, "little")]
    assert found.tried[0] == found.fitting[0]
    assert "does not follow" in found.why


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_the_byte_order_is_found(dtype: str) -> None:
    (guess,) = guessed(NORMAL.astype(f">{dtype}")).fitting
    assert (guess.dtype, guess.byte_order) == (f"f{8 * int(dtype[1])}", "big")


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_small_floats_are_not_told_apart(dtype: type) -> None:
    found = guessed(NORMAL.astype(dtype))
    assert fitting(found) >= {"e4m3fn", "e5m2"}
    assert "cannot be told apart" in found.why


def test_zeros_may_be_of_any_type() -> None:
    found = guessed(np.zeros(1024))
    assert fitting(found) >= {"f64", "f32", "bf16", "f16", "i64", "u8"}
    assert {guess.byte_order for guess in found.fitting} == {"little", None}  # the usual order, where both fit alike


def test_random_bytes_are_of_no_type() -> None:
    found = guess_types(GENERATOR.bytes(200_000), path="x")
    assert found.fitting == ()
    assert "look random" in found.why


@pytest.mark.parametrize("dtype", ["<f4", BF16])
def test_few_elements_are_not_enough(dtype: type) -> None:
    found = guessed(NORMAL[:40].astype(dtype))
    assert len(found.fitting) != 1


def test_what_is_suspected_to_be_of_another_type_never_fits() -> None:
    found = guessed(NORMAL.astype("<f4"))
    (narrow,) = (guess for guess in found.tried if guess.dtype == "bf16" and guess.byte_order == "little")
    assert "wider-type" in narrow.doubts
    (wide,) = (guess for guess in found.tried if guess.dtype == "f64" and guess.byte_order == "little")
    assert any("unusual" in doubt for doubt in wide.doubts)


def test_a_sample_is_taken_from_all_over_and_keeps_elements_whole() -> None:
    size = 10 * SAMPLE_BYTES + 5
    data = np.arange(size // 8 + 1, dtype="<u8").tobytes()[:size]
    sample = sample_of(io.BytesIO(data), size)
    assert len(sample) == SAMPLE_BYTES
    numbers = np.frombuffer(sample, "<u8")
    assert (np.diff(numbers.astype(np.int64)) != 1).sum() == PIECES - 1
    assert numbers[0] == 0
    assert numbers[-1] > 0.99 * size / 8


def test_an_offset_far_into_a_stream_is_refused() -> None:
    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(CensusError, match="too far into a stream"):
        guess_file(Stream(bytes(100)), Declared(offset=2**30), path="x", wanted=FORMATS["raw"])


@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_types_of_one_size_at_close_scores_are_not_told_apart(dtype: type) -> None:
    softmax = np.exp(np.random.default_rng(5).standard_normal(200_000) * 3) / 200_000
    found = guessed(softmax.astype(dtype))
    assert np.dtype(dtype).name.replace("bfloat", "bf").replace("float", "f") in fitting(found)
    assert len(found.fitting) > 1
    assert "cannot be told apart" in found.why


def test_numbers_of_one_value_in_big_endian_order_may_be_integers_in_the_other() -> None:
    found = guessed(np.ones(4096, ">f4"))
    assert {(guess.dtype, guess.byte_order) for guess in found.fitting} >= {("i32", "little"), ("f32", "big")}


def test_the_byte_order_that_was_preferred_is_told() -> None:
    found = guessed(np.full(1024, 0x7FFF0000, "<u4"))
    assert "So do i32 big-endian: the little-endian reading is preferred" in found.why
    assert "those of the next, i32 big-endian" not in found.why
    assert "preferred" not in guessed(NORMAL.astype("<f4")).why
