"""Damaged files: whatever is done to a file, its tensors are listed and read, or it is refused in one line."""

import tracemalloc
from random import Random

import pytest

from pooldiag.census.files import FORMATS, recognise
from pooldiag.census.files.format import HEAD_BYTES
from pooldiag.census.layouts import CensusError
from tests.census.files.reading import GOOD, contents, listed, sample

SMALL = 1700  # bytes; larger files are cut at some places only, and damaged less often
MEMORY_LIMIT = 2**21
EXTREMES = [
    bytes(4),
    b"\xff" * 4,
    b"\xff" * 8,
    b"\x7f\xff\xff\xff",
    b"\0\0\0\x80",
    b"\0\0\0\0\0\0\0\x10",
    b"[[[[",
    b"\n",
]

EACH_SAMPLE = [(name, file) for name, files in GOOD.items() for file in files]


def survives(format_name: str, data: bytes) -> bool:
    """Read a file to its end, or be refused; say whether it was read."""
    for tensor_file in FORMATS.values():
        tensor_file.recognises(data[:HEAD_BYTES])
    try:
        contents(format_name, data)
    except CensusError as error:
        problem = error.problem
    else:
        return True
    assert problem.startswith("x: ")
    assert problem.isprintable()
    return False


def mutated(data: bytes, random: Random) -> bytes:
    """Change a few bytes, most of them where the structure is: at both ends."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(len(changed))
        if random.random() < 0.5:
            place = random.choice((place % 512, -1 - place % 512)) % len(changed)
        match random.randrange(4):
            case 0:
                changed[place] = random.randrange(256)
            case 1:
                changed[place] ^= 1 << random.randrange(8)
            case 2:
                extreme = random.choice(EXTREMES)
                changed[place : place + len(extreme)] = extreme
            case _:
                part = bytes(changed[place : place + random.randrange(1, 32)])
                changed[place : place + random.randrange(32)] = part * random.randrange(3)
        changed = changed or bytearray(1)
    return bytes(changed)


@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_a_file_that_is_cut_anywhere_is_refused(name: str, file: str) -> None:
    data = sample(file)
    lengths = range(0, len(data), 1 if len(data) <= SMALL else 17)
    read = [length for length in lengths if survives(name, data[:length])]
    if name == "raw":
        assert read == [length for length in lengths if length % 4 == 0]
    else:
        assert read == [length for length in lengths if name == "gguf" and length >= last_byte(data)]  # in the padding


def last_byte(data: bytes) -> int:
    return max(tensor.place.offset + (tensor.place.size or 0) for tensor in listed("gguf", data).values())


@pytest.mark.parametrize("share", [0.1, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "file"), EACH_SAMPLE)
def test_a_damaged_file_is_read_or_refused_within_bounds(name: str, file: str, share: float) -> None:
    data, random = sample(file), Random(f"{name} {file}")
    count = round(share * (1000 if len(data) <= SMALL else 200))
    survives(name, data)  # what is imported or cached once is not counted
    tracemalloc.start()
    try:
        read = sum(survives(name, mutated(data, random)) for _ in range(count))
        assert tracemalloc.get_traced_memory()[1] < MEMORY_LIMIT
    finally:
        tracemalloc.stop()
    assert 0 < read < count  # the damage is neither always fatal nor never


def test_any_head_is_recognised_or_not() -> None:
    random = Random(1)
    heads = [
        random.choice((b"PK\3\4", b"GGUF", b"\x93NUMPY", b"")) + random.randbytes(random.randrange(60))
        for _ in range(999)
    ]
    assert {recognise(head, ".xyz") for head in heads} <= {None, *FORMATS.values()}
