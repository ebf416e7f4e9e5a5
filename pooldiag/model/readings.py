"""How a run reads: green, red or void, and the signatures that tell one red from another."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Reading(StrEnum):
    """The reading of one outcome."""

    GREEN = "green"
    RED = "red"
    VOID = "void"


class SignatureKind(StrEnum):
    """What kind of failure a signature is."""

    CRASH = "crash"
    FAILURE = "failure"
    COUNT = "count"  # fewer cases or outputs than asked for
    NAN = "nan"  # NaN or infinity in an output
    HANG = "hang"


_SOURCE_LINE = re.compile(r".*/([^/]+:\d+)")


def _short(place: str) -> str:
    """Leave the folders of a source line out."""
    line = _SOURCE_LINE.fullmatch(place)
    return place if line is None else line[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Identity of a failure: two reds are the same red only if these are equal.

    `case` is None outside any case; `place` is a source line or a normalised message.
    """

    kind: SignatureKind
    signal: str | None = None
    case: str | None = None
    place: str | None = None

    def __str__(self) -> str:
        """Say the failure in one line, a source line by its file's name alone."""
        what = {
            SignatureKind.CRASH: self.signal or "crash",
            SignatureKind.FAILURE: "failure",
            SignatureKind.COUNT: "incomplete",
            SignatureKind.NAN: "NaN or infinity",
            SignatureKind.HANG: "hang",
        }[self.kind]
        if self.kind is SignatureKind.NAN and self.case is None:
            return f"{what} in {self.place}"
        where = "outside any case" if self.case is None else f"in {self.case}"
        return f"{what} {where}" + (f" ({_short(self.place)})" if self.place else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReading:
    """One outcome, read. A red has at least one signature, a void a reason; notes stand beside any of them."""

    run: str
    reading: Reading
    signatures: tuple[Signature, ...] = ()
    void_reason: str | None = None
    vacuous: tuple[str, ...] = ()  # cases that passed without an assertion
    notes: tuple[str, ...] = ()


class Sight(StrEnum):
    """One run as seen from one signature."""

    SAME_RED = "R"
    GREEN = "G"
    NEW_RED = "N"
    NOTHING = "-"  # void, or the victim was not reached or asserted nothing
