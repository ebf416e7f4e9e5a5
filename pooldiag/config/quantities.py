"""Sizes, durations, commands, roles, seeds and outputs as people write them: flags and the file share the parsers."""

import re
import shlex
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from pooldiag.errors import UsageError
from pooldiag.model.words import nearest
from pooldiag.toml_tables import shown

if TYPE_CHECKING:  # `--help` has no use for what is imported where it is read
    from pooldiag.model.arms import Role
    from pooldiag.model.settings import OutputSpec

LAST_SEED = 2**31 - 1
MOST_SEEDS = 10_000
OWN_TYPE = "auto"  # of an output: as its file says

_UNITS_OF_BYTES = {"": 1, "b": 1} | {
    f"{prefix}{unit}": base**power
    for unit, base in (("b", 1000), ("ib", 1024), ("i", 1024))
    for power, prefix in enumerate("kmgtp", start=1)
}
_UNITS_OF_SECONDS = {
    name: seconds
    for names, seconds in (
        (("ms",), Decimal("0.001")),
        (("s", "sec", "secs", "second", "seconds"), Decimal(1)),
        (("m", "min", "mins", "minute", "minutes"), Decimal(60)),
        (("h", "hour", "hours"), Decimal(3600)),
        (("d", "day", "days"), Decimal(86400)),
    )
    for name in names
}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_LONGEST_TEXT = 40  # of a number with its unit; longer ones are not slips, and slow to compute with
MOST_BYTES = 2**63 - 1
_MOST_SECONDS = 366 * 86400  # the system's timers overflow somewhere beyond
_SEEDS = re.compile(r"\s*([0-9]{1,10})(?:\s*\.\.\s*([0-9]{1,10}))?\s*")
_SHELL_OPERATORS = frozenset({"&&", "||", "|", "&", ">", ">>", "<", "2>&1"})


def parse_size(text: str, what: str = "size") -> int:
    """Return bytes: `34GB` is decimal, `1GiB` binary, a bare number bytes. `34G` could be either, and is refused."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    number, unit = match.groups() if match else ("", "?")
    factor = _UNITS_OF_BYTES.get(unit.lower())
    if factor is None and f"{unit.lower()}b" in _UNITS_OF_BYTES:
        raise UsageError(f"{what}: {text!r} has two readings", hint=f"write {number}{unit}B or {number}{unit}iB")
    if factor is None:
        raise UsageError(f"{what}: {text!r} is no size", hint="for instance 34GB, 1GiB, 512 MiB")
    size = int(Decimal(number) * factor)
    if size > MOST_BYTES:
        raise UsageError(f"{what}: {text!r} is larger than any disk", hint="for instance 34GB, 1GiB, 512 MiB")
    return size


def parse_duration(text: str, what: str = "duration") -> float:
    """Return seconds: `90`, `30m`, `45 min`, `1h30m`; a bare number is seconds."""
    seconds = _seconds(text) if len(text) <= _LONGEST_TEXT else None
    if seconds is None:
        raise UsageError(f"{what}: {text!r} is no duration", hint="for instance 90, 30m, 45 min, 2h, 1h30m")
    if seconds > _MOST_SECONDS:
        raise UsageError(f"{what}: {text!r} is longer than a year", hint="for instance 90, 30m, 45 min, 2h, 1h30m")
    return float(seconds)


def _seconds(text: str) -> Decimal | None:
    parts: list[tuple[str, str]] = []
    position = 0
    while position < len(text) and (match := _QUANTITY.match(text, position)):
        parts.append((match[1], match[2].lower()))
        position = match.end()
    if not parts or position < len(text):
        return None
    if len(parts) == 1 and not parts[0][1]:
        return Decimal(parts[0][0])
    if any(unit not in _UNITS_OF_SECONDS for _, unit in parts):
        return None
    return sum((Decimal(number) * _UNITS_OF_SECONDS[unit] for number, unit in parts), Decimal(0))


def parse_words(text: str, what: str) -> tuple[str, ...]:
    """Split a command as a shell does. What only a shell could do is refused, for no shell will see it."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{what}: {text!r} cannot be split into words: {error}", hint="close the quote") from error
    operator = next((word for word in words if word in _SHELL_OPERATORS or word.endswith(";")), None)
    if operator is not None:
        raise UsageError(f"{what}: no shell reads {operator!r}", hint=f"write sh -c {shlex.quote(text)}")
    return check_words(words, what=what)


def check_words(words: tuple[str, ...], *, what: str) -> tuple[str, ...]:
    """Return words that can be a command: a program first, and nothing that no program can be given."""
    if not words or not words[0]:
        raise UsageError(f"{what}: no program named", hint="the first word is the program")
    if any("\0" in word for word in words):
        raise UsageError(f"{what}: a word holds a NUL character", hint="no program can be given it")
    return words


def parse_roles(text: str, what: str = "roles") -> "tuple[Role, ...]":
    """Read roles with commas between; isolation is one, the baseline need not be named."""
    from pooldiag.model.arms import Role  # noqa: PLC0415 - as said above

    names = [name.strip() for name in text.split(",") if name.strip()]
    known = {str(role): role for role in Role}
    for name in names:
        if name not in known:
            raise UsageError(f"{what}: no arm plays the role {name!r}", hint=f"nearest: {nearest(name, known)}")
    return tuple(known[name] for name in names)


def parse_seeds(text: str, what: str = "seeds") -> tuple[int, ...]:
    """Read `1..20,31`: numbers and ranges, both ends included, each seed once."""
    ranges = [_seeds(part, what) for part in text.split(",")]
    if sum(map(len, ranges)) > MOST_SEEDS:
        raise UsageError(f"{what}: {shown(text)} are more than {MOST_SEEDS}", hint="for instance 1..20")
    return tuple(dict.fromkeys(seed for seeds in ranges for seed in seeds))


def _seeds(text: str, what: str) -> range:
    found = _SEEDS.fullmatch(text)
    if found is None:
        raise UsageError(f"{what}: {shown(text)} is no seed and no range", hint="for instance 1..20, or 3,7,11..15")
    first, last = int(found[1]), int(found[2] or found[1])
    if last > LAST_SEED:
        raise UsageError(f"{what}: {last} is beyond the last seed, {LAST_SEED}", hint="for instance 1..20")
    if last < first:
        raise UsageError(f"{what}: {shown(text)} ends before it begins", hint=f"write {last}..{first}")
    return range(first, last + 1)


def parse_output(text: str, what: str = "output") -> "OutputSpec":
    """Read `GLOB:DTYPE`, or `GLOB` alone for files that say their type; the glob is relative to the folder of the run.

    Whether the type is known is asked elsewhere.
    """
    from pooldiag.model.settings import OutputSpec  # noqa: PLC0415 - as said above

    glob, separator, dtype = text.rpartition(":") if ":" in text else (text, ":", OWN_TYPE)
    if not (separator and glob.strip() and dtype.strip()):
        raise UsageError(f"{what}: {text!r} is not GLOB:DTYPE", hint="for instance '*.bin:f32', or '*.npy'")
    if Path(glob).is_absolute() or ".." in Path(glob).parts:
        raise UsageError(
            f"{what}: {glob!r} leads out of the run's folder",
            hint="the target finds that folder in POOLDIAG_OUTPUT_DIR",
        )
    dtype = dtype.strip().lower()
    return OutputSpec(glob=glob, dtype=None if dtype == OWN_TYPE else dtype)
