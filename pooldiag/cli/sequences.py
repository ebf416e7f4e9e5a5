"""A running order that the user wrote down: names of cases, one a line."""

import re
import sys
from pathlib import Path
from typing import BinaryIO

from pooldiag.errors import UsageError

MOST_BYTES = 16 * 2**20

_STANDARD_INPUT = Path("-")
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_HINT = "names of cases, one a line, the victim last"


def read_sequence(path: Path) -> tuple[str, ...]:
    """Return the lines of a file that are not empty, each as it is; `-` is standard input.

    What is not UTF-8 becomes what frameworks make of it in the name of a case.
    """
    try:
        data = _read(sys.stdin.buffer) if path == _STANDARD_INPUT else _read_file(path)
    except OSError as error:
        raise UsageError(f"--sequence {path}: {error.strerror}", hint=_HINT) from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"--sequence {path}: more than {MOST_BYTES} bytes", hint=_HINT)
    lines = (line.removesuffix("\r") for line in _text(data).split("\n"))
    names = tuple(line for line in lines if line)
    if not names:
        raise UsageError(f"--sequence {path}: no name in it", hint=_HINT)
    return names


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return _read(file)


def _read(file: BinaryIO) -> bytes:
    return file.read(MOST_BYTES + 1)  # a device has no end


def _text(data: bytes) -> str:
    text = data.decode("utf-8-sig", "surrogateescape")
    return _RAW_BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:02X}", text)
