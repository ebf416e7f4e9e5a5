"""What the text of a run tells: counters, census lines, the marks of an ending, a full disk."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from pooldiag.census.printed_lines import parse_census_line
from pooldiag.model.arms import PoolCounter
from pooldiag.model.counts import PrintedCensus

NO_SPACE = b"No space left on device"

_ENDING_MARKS = re.compile(
    rb"ERROR: (?:Address|Leak|Memory|Thread|HWAddress)Sanitizer: [^\n]{1,120}"
    rb"|WARNING: (?:Memory|Thread)Sanitizer: [^\n]{1,120}"
    rb"|SUMMARY: \w+Sanitizer: [^\n]{1,160}"
    rb"|runtime error: [^\n]{1,160}"
    rb"|(?:malloc|free|realloc|munmap_chunk|corrupted)[^\n]{0,40}\(\): [^\n]{1,80}"
    rb"|double free or corruption[^\n]{0,40}"
    rb"|\*\*\* stack smashing detected \*\*\*"
    rb"|terminate called [^\n]{1,120}"
    rb"|Assertion `[^\n]{1,160}' failed"
)
"""What glibc (malloc.c), libstdc++, assert(3) and the sanitizers print before they end a process."""

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\bpid \d+|==\d+==|\bT\d+\b")
_NUMBER = re.compile(rb"[0-9]{1,18}")  # more digits are not a counter
_MARKS_KEPT = 8


@dataclass(slots=True)
class TextFacts:
    """What was found so far; grows line by line."""

    counters: dict[str, int] = field(default_factory=dict)
    printed: dict[str, PrintedCensus] = field(default_factory=dict)
    marks: dict[str, None] = field(default_factory=dict)
    no_space: str | None = None
    banners: set[str] = field(default_factory=set)


def scan(
    lines: Iterable[bytes], counters: tuple[PoolCounter, ...], facts: TextFacts, *, banners: Iterable[str] = ()
) -> None:
    """Read the lines of one stream into `facts`.

    A counter printed more than once (by each of several pools) is summed; of two census lines of one name
    the last counts.
    """
    patterns = [(counter.name, re.compile(counter.pattern.encode())) for counter in counters]
    awaited = [(banner, re.compile(banner.encode())) for banner in banners]
    for line in lines:
        facts.banners.update(banner for banner, pattern in awaited if pattern.search(line) is not None)
        for name, pattern in patterns:
            if (match := pattern.search(line)) is not None and _NUMBER.fullmatch(match[1] or b""):
                facts.counters[name] = facts.counters.get(name, 0) + int(match[1])
        if b"n=" in line and (census := parse_census_line(line)) is not None:
            facts.printed[census.name] = census
        if len(facts.marks) < _MARKS_KEPT and (mark := _ENDING_MARKS.search(line)) is not None:
            facts.marks[_normalised(mark[0])] = None
        if facts.no_space is None and NO_SPACE in line:
            facts.no_space = line.decode(errors="backslashreplace").strip()


def _normalised(mark: bytes) -> str:
    """Take out what differs from run to run, so that two equal crashes have one signature."""
    return _VARYING.sub("…", mark.decode(errors="backslashreplace").strip())
