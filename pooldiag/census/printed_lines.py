"""A census in one line, as a target prints it and as a watch does: `video: n=1024 nan=1024 inf=0 zero=0`."""

import re

from pooldiag.model.counts import PrintedCensus

_LINE_LIMIT = 1000
# The name stands between the last `: ` before it (a log prefix) and its own colon; then come `key=value` pairs alone.
_LINE = re.compile(r"(?:.*:\s+)?(?P<name>\S(?:.{0,118}\S)?):\s+(?P<pairs>n=[0-9]+(?:[\s,;]+\w+=[^\s,;]+)*)")
_PAIR = re.compile(r"(\w+)=([^\s,;]+)")
_NUMBER = re.compile(r"[0-9]{1,18}")


def parse_census_line(line: bytes) -> PrintedCensus | None:
    """Read a line that counts a tensor: a name, `n=` first and `nan=` among the pairs after it; None for any other."""
    if b"nan=" not in line or len(line) > _LINE_LIMIT:
        return None
    found = _LINE.match(line.decode(errors="backslashreplace").strip())
    if found is None:
        return None
    pairs = dict(reversed(_PAIR.findall(found["pairs"])))  # of two equal keys the first one counts
    n, nan, inf, zero = (_number(pairs.get(key)) for key in ("n", "nan", "inf", "zero"))
    if n is None or nan is None or nan + (inf or 0) + (zero or 0) > n:
        return None
    return PrintedCensus(name=found["name"], n=n, nan=nan, inf=inf or 0, zero=zero or 0)


def census_line(census: PrintedCensus) -> str:
    """Write such a line."""
    return f"{census.name}: n={census.n} nan={census.nan} inf={census.inf} zero={census.zero}"


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None
