"""A running order that the user wrote down, one case a line, also as `pytest --collect-only -q` prints it."""

import re
from collections.abc import Iterator

from pooldiag.diagnose.lister import hint_of, named_case, named_exactly
from pooldiag.errors import UsageError
from pooldiag.model.cases import Case, Listing

# `3 tests collected in 0.02s`, `3/5 tests collected (2 deselected) in 0.01s`, `no tests collected, 1 error in 0.1s`
_SUMMARY = re.compile(
    r"=*\s*(no tests|\d+(/\d+)? tests?) collected(, \d+ errors?)?( \(\d+ deselected\))?"
    r" in [\d.]+s( \([\d:]+\))?\s*=*"
)
_WARNINGS = re.compile(r"=+ warnings summary( \(.*\))? =+|-- Docs: \S+")  # the first and the last line of them


def names_in(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that do not look like what pytest prints behind the cases: all names, as far as lines tell."""
    return tuple(line for line, is_summary in _marked(lines) if not is_summary)


def sequence_of(listing: Listing, lines: tuple[str, ...], victim: str | None) -> tuple[tuple[Case, ...], int]:
    """Return the cases that these lines name up to the victim, the last one without a `victim`, and how many follow it.

    UsageError for a line that names no case, unless it looks like what pytest prints behind them, and for a victim
    that is not there.
    """
    names = [line for line, is_summary in _marked(lines) if not is_summary or named_exactly(listing.runnable, line)]
    cases = tuple(named_case(listing, name) for name in names)
    if not cases:
        raise UsageError("--sequence names no case", hint="names of cases, one a line")
    if victim is None:
        return cases, 0
    found = named_exactly(cases, victim)
    if not found:
        raise UsageError(f"--victim {victim!r} is not in --sequence", hint=hint_of(victim, cases))
    place = cases.index(found[0])
    return cases[: place + 1], len(cases) - place - 1


def _marked(lines: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is blank, looks like the end of a collection, or stands among its warnings."""
    # From the one end of the warnings to the other: who turns an order round by `tac` turns them round, too.
    ends = [place for place, line in enumerate(lines) if _WARNINGS.fullmatch(line)]
    among = range(ends[0], ends[-1] + 1) if ends else ()
    for place, line in enumerate(lines):
        yield line, place in among or not line.strip() or _SUMMARY.fullmatch(line) is not None
